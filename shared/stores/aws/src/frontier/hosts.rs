//! Hosts and the places of their domains: who sends them requests, and who waits.

use std::collections::HashMap;

use dragline_domain::frontier::{
    DomainRow, HostRefused, HostRequest, HostRow, HostRows, HostTaken, take_host as decide,
};
use dragline_domain::url::{DomainKey, HostKey};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{GiveBackHost, Hosts};
use jiff::Timestamp;

use super::DynamoFrontier;
use crate::dynamo::{Item, Key, Write};
use crate::errors::{StoreError, at};
use crate::meter::capacity::ReadKind;
use crate::rows::host::{StoredRow, read, replace, replace_domain};
use crate::rows::keys;

/// The keys of the rows that decide whether a host may get requests.
pub(super) struct HostKeys {
    host: HostKey,
    domain: Option<DomainKey>,
}

/// These rows as read.
pub(super) struct HostItems<'k> {
    keys: &'k HostKeys,
    host: Option<StoredRow<HostRow>>,
    domain: Option<StoredRow<DomainRow>>,
}

impl Hosts for DynamoFrontier {
    async fn load_host(&self, key: &HostKey) -> PortResult<Option<HostRow>> {
        at("load host", key, async {
            let item = self.db.get(&keys::host(key)).await?;
            Ok(item.as_ref().map(read).transpose()?.map(|stored| stored.row))
        })
        .await
    }

    async fn load_domain(&self, key: &DomainKey) -> PortResult<Option<DomainRow>> {
        at("load domain", key, async {
            let item = self.db.get(&keys::domain(key)).await?;
            Ok(item.as_ref().map(read).transpose()?.map(|stored| stored.row))
        })
        .await
    }

    async fn take_host(&self, key: &HostKey, ask: &HostRequest) -> PortResult<Result<HostRow, Timestamp>> {
        at("take host", key, async {
            let keys = HostKeys::new(key.clone());
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let seen = self.see_host(&keys).await?;
                let (writes, answer) = match decide(seen.rows(), ask, None) {
                    Err(refused) => (seen.line(&refused)?.into_iter().collect(), Err(refused.until())),
                    Ok(taken) => (seen.take_writes(&taken)?, Ok(taken.host)),
                };
                if self.try_write(&writes).await? {
                    return Ok(answer);
                }
            }
        })
        .await
    }

    async fn give_back_host(&self, back: &GiveBackHost) -> PortResult<()> {
        at("give back host", &back.host, async {
            let keys = HostKeys::new(back.host.clone());
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let writes = self.see_host(&keys).await?.release_writes(back)?;
                if self.try_write(&writes).await? {
                    return Ok(());
                }
            }
        })
        .await
    }
}

impl HostKeys {
    pub(super) fn new(host: HostKey) -> Self {
        let domain = host.domain();
        Self { host, domain }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Key> {
        [keys::host(&self.host)].into_iter().chain(self.domain.as_ref().map(keys::domain))
    }

    /// Returns these rows from a read's results.
    pub(super) fn rows_in(&self, found: &HashMap<Key, Item>) -> Result<HostItems<'_>, StoreError> {
        let host = found.get(&keys::host(&self.host)).map(read).transpose()?;
        let domain = self.domain.as_ref().and_then(|domain| found.get(&keys::domain(domain)));
        Ok(HostItems { keys: self, host, domain: domain.map(read).transpose()? })
    }
}

impl HostItems<'_> {
    pub(super) fn rows(&self) -> HostRows<'_> {
        HostRows {
            host: self.host.as_ref().map(|stored| &stored.row),
            domain: self.domain.as_ref().map(|stored| &stored.row),
        }
    }

    /// Returns the writes for a host that was taken.
    pub(super) fn take_writes(&self, taken: &HostTaken) -> Result<Vec<Write>, StoreError> {
        let domain = taken.domain.as_ref().map(|row| self.put_domain(row)).transpose()?.flatten();
        Ok(self.put_host(&taken.host)?.into_iter().chain(domain).collect())
    }

    /// Returns the write for the waiting line; `None` if it is unchanged.
    pub(super) fn line(&self, refused: &HostRefused) -> Result<Option<Write>, StoreError> {
        match refused {
            HostRefused::Host(busy) => self.put_host(&busy.row),
            HostRefused::Domain(busy) => self.put_domain(&busy.row),
        }
    }

    /// Returns the writes for a host that was given back, except for rows that the token no longer
    /// holds.
    pub(super) fn release_writes(&self, back: &GiveBackHost) -> Result<Vec<Write>, StoreError> {
        let GiveBackHost { token, free_from, pace, now, .. } = back;
        let HostRows { host, domain } = self.rows();
        let host = host.and_then(|row| row.give_back(token, *free_from, *pace, *now));
        let domain = domain.and_then(|row| row.give_back(token, *now));
        let host = host.map(|row| self.put_host(&row)).transpose()?.flatten();
        let domain = domain.map(|row| self.put_domain(&row)).transpose()?.flatten();
        Ok(host.into_iter().chain(domain).collect())
    }

    fn put_host(&self, row: &HostRow) -> Result<Option<Write>, StoreError> {
        let is_changed = self.rows().host != Some(row);
        is_changed.then(|| replace(&self.keys.host, self.host.as_ref(), row)).transpose()
    }

    fn put_domain(&self, row: &DomainRow) -> Result<Option<Write>, StoreError> {
        let is_changed = self.rows().domain != Some(row);
        let key = self.keys.domain.as_ref().filter(|_| is_changed);
        key.map(|key| replace_domain(key, self.domain.as_ref(), row)).transpose()
    }
}

impl DynamoFrontier {
    pub(super) async fn see_host<'k>(&self, keys: &'k HostKeys) -> Result<HostItems<'k>, StoreError> {
        keys.rows_in(&self.db.get_all(keys.rows().collect(), ReadKind::Consistent).await?)
    }

    /// Writes all rows or none. Returns whether they were written.
    async fn try_write(&self, writes: &[Write]) -> Result<bool, StoreError> {
        match writes {
            [] => Ok(true),
            [write] => Ok(self.db.write(write).await?.is_ok()),
            several => Ok(self.db.transact(several).await?.is_ok()),
        }
    }
}
