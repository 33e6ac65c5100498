//! Hosts: who asks them, who waits for them.

use dragline_domain::frontier::{HostAsk, HostBusy, HostRow};
use dragline_domain::url::HostKey;
use dragline_pipeline::ports::frontier::GiveBackHost;
use jiff::Timestamp;

use super::{DynamoFrontier, ROUNDS_MAX};
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
                    if self.stand_in_line(key, before.as_ref(), &busy).await? {
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

    /// Writes who waits. `false` if the row is another by now.
    pub(super) async fn stand_in_line(
        &self,
        key: &HostKey,
        before: Option<&Stored>,
        busy: &HostBusy,
    ) -> Result<bool, StoreError> {
        if before.is_some_and(|before| before.row == busy.row) {
            return Ok(true);
        }
        Ok(self.db.write(&host::replace(key, before, &busy.row)?).await?.is_ok())
    }

    pub(super) async fn return_host(&self, back: &GiveBackHost) -> Result<(), StoreError> {
        let GiveBackHost { host: key, token, free_from, pace } = back;
        for _ in 0..ROUNDS_MAX {
            let before = self.host(key).await?;
            let Some(after) = before.as_ref().and_then(|before| before.row.give_back(token, *free_from, *pace)) else {
                return Ok(());
            };
            if self.db.write(&host::replace(key, before.as_ref(), &after)?).await?.is_ok() {
                return Ok(());
            }
        }
        Err(StoreError::Contended(ROUNDS_MAX))
    }
}
