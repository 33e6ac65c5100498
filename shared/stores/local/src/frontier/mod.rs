//! The [`Frontier`] over SQLite: each operation is one transaction, which reads rows, asks the
//! domain for the new rows, and writes them.

mod candidates;
mod crawls;
mod endings;
mod hosts;
mod iterations;
mod log;
mod notices;
mod origins;
mod overdue;
mod parses;
pub(crate) mod progress;
mod robots;
mod turns;

pub(crate) use self::log::put_redirect;

use std::sync::Arc;

use dragline_ports::error::PortResult;

use crate::db::writer::Writer;
use crate::db::{Db, StoreError};

/// The frontier of a data directory.
#[derive(Clone)]
pub struct SqliteFrontier {
    writer: Arc<Writer>,
}

impl SqliteFrontier {
    pub(crate) fn new(writer: Arc<Writer>) -> Self {
        Self { writer }
    }

    async fn run<T: Send + 'static>(
        &self,
        operation: &'static str,
        subject: &impl ToString,
        work: impl FnOnce(&Db) -> Result<T, StoreError> + Send + 'static,
    ) -> PortResult<T> {
        self.writer.run(operation, subject.to_string(), work).await
    }
}
