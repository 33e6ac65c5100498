//! Hosts: who asks them, who waits for them.

use dragline_domain::frontier::{HostAsk, HostBusy, HostRow};
use dragline_domain::url::HostKey;
use dragline_pipeline::ports::frontier::GiveBackHost;
use jiff::Timestamp;

use super::{DynamoFrontier, ROUNDS_MAX};
use crate::dynamo::Write;
use crate::errors::StoreError;
use crate::rows::host::Stored;
use crate::rows::{host, keys};

impl DynamoFrontier {
    pub(super) async fn host(&self, key: &HostKey) -> Result<Option<Stored>, StoreError> {
        self.db.get(&keys::host(key)).await?.as_ref().map(host::read).transpose()
    }

    pub(super) async fn ask_host(
        &self,
        key: &HostKey,
        ask: &HostAsk,
    ) -> Result<Result<HostRow, Timestamp>, StoreError> {
        for _ in 0..ROUNDS_MAX {
            let before = self.host(key).await?;
            match HostRow::take(before.as_ref().map(|before| &before.row), ask, None) {
                Err(busy) => {
                    let line = line(key, before.as_ref(), &busy)?;
                    let is_written = match line {
                        Some(line) => self.db.write(&line).await?.is_ok(),
                        None => true,
                    };
                    if is_written {
                        return Ok(Err(busy.until));
                    }
                }
                Ok(after) => {
                    if self.db.write(&host::replace(key, before.as_ref(), &after)?).await?.is_ok() {
                        return Ok(Ok(after));
                    }
                }
            }
        }
        Err(StoreError::Contended(ROUNDS_MAX))
    }

    pub(super) async fn return_host(&self, back: &GiveBackHost) -> Result<(), StoreError> {
        let GiveBackHost { host: key, token, free_from, pace, now } = back;
        for _ in 0..ROUNDS_MAX {
            let before = self.host(key).await?;
            let Some(after) = before.as_ref().and_then(|before| before.row.give_back(token, *free_from, *pace, *now))
            else {
                return Ok(());
            };
            if self.db.write(&host::replace(key, before.as_ref(), &after)?).await?.is_ok() {
                return Ok(());
            }
        }
        Err(StoreError::Contended(ROUNDS_MAX))
    }
}

/// The row with who waits; `None` if that is there already.
pub(super) fn line(key: &HostKey, before: Option<&Stored>, busy: &HostBusy) -> Result<Option<Write>, StoreError> {
    if before.is_some_and(|before| before.row == busy.row) {
        return Ok(None);
    }
    host::replace(key, before, &busy.row).map(Some)
}
