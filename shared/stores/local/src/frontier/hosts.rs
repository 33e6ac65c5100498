//! Hosts, and the places of their domains.

use dragline_domain::frontier::{
    DomainRow, HostRefused, HostRequest, HostRow, HostRows, HostTaken, take_host as decide,
};
use dragline_domain::url::{DomainKey, HostKey};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{GiveBackHost, Hosts};
use jiff::Timestamp;

use super::SqliteFrontier;
use crate::db::{Db, StoreError};

/// The rows that decide whether a host may get requests, with their keys.
pub(super) struct StoredHostRows<'k> {
    key: &'k HostKey,
    domain_key: Option<DomainKey>,
    host: Option<HostRow>,
    domain: Option<DomainRow>,
}

impl Hosts for SqliteFrontier {
    async fn load_host(&self, host: &HostKey) -> PortResult<Option<HostRow>> {
        let key = host.clone();
        self.run("load host", host, move |db| db.host(&key)).await
    }

    async fn load_domain(&self, domain: &DomainKey) -> PortResult<Option<DomainRow>> {
        let key = domain.clone();
        self.run("load domain", domain, move |db| db.domain(&key)).await
    }

    async fn take_host(&self, host: &HostKey, ask: &HostRequest) -> PortResult<Result<HostRow, Timestamp>> {
        let (key, ask) = (host.clone(), ask.clone());
        self.run("take host", host, move |db| take_host(db, &key, &ask)).await
    }

    async fn give_back_host(&self, back: &GiveBackHost) -> PortResult<()> {
        let request = back.clone();
        self.run("give back host", &back.host, move |db| give_back_host(db, &request)).await
    }
}

impl<'k> StoredHostRows<'k> {
    pub(super) fn load(db: &Db, key: &'k HostKey) -> Result<Self, StoreError> {
        let domain_key = key.domain();
        let domain = domain_key.as_ref().map(|domain| db.domain(domain)).transpose()?.flatten();
        Ok(Self { key, domain_key, host: db.host(key)?, domain })
    }

    pub(super) const fn rows(&self) -> HostRows<'_> {
        HostRows { host: self.host.as_ref(), domain: self.domain.as_ref() }
    }

    pub(super) fn put(&self, db: &Db, taken: &HostTaken) -> Result<(), StoreError> {
        self.put_host(db, &taken.host)?;
        taken.domain.as_ref().map_or(Ok(()), |row| self.put_domain(db, row))
    }

    /// Writes the waiting line.
    pub(super) fn put_line(&self, db: &Db, refused: &HostRefused) -> Result<(), StoreError> {
        match refused {
            HostRefused::Host(busy) => self.put_host(db, &busy.row),
            HostRefused::Domain(busy) => self.put_domain(db, &busy.row),
        }
    }

    fn put_host(&self, db: &Db, row: &HostRow) -> Result<(), StoreError> {
        if self.host.as_ref() == Some(row) { Ok(()) } else { db.put_host(self.key, row) }
    }

    fn put_domain(&self, db: &Db, row: &DomainRow) -> Result<(), StoreError> {
        match &self.domain_key {
            Some(key) if self.domain.as_ref() != Some(row) => db.put_domain(key, row),
            _ => Ok(()),
        }
    }
}

fn take_host(db: &Db, host: &HostKey, ask: &HostRequest) -> Result<Result<HostRow, Timestamp>, StoreError> {
    let stored = StoredHostRows::load(db, host)?;
    match decide(stored.rows(), ask, None) {
        Ok(taken) => {
            stored.put(db, &taken)?;
            Ok(Ok(taken.host))
        }
        Err(refused) => {
            stored.put_line(db, &refused)?;
            Ok(Err(refused.until()))
        }
    }
}

pub(super) fn give_back_host(db: &Db, back: &GiveBackHost) -> Result<(), StoreError> {
    let GiveBackHost { host, token, free_from, pace, now } = back;
    let stored = StoredHostRows::load(db, host)?;
    if let Some(row) = stored.host.as_ref().and_then(|row| row.give_back(token, *free_from, *pace, *now)) {
        stored.put_host(db, &row)?;
    }
    if let Some(row) = stored.domain.as_ref().and_then(|row| row.give_back(token, *now)) {
        stored.put_domain(db, &row)?;
    }
    Ok(())
}
