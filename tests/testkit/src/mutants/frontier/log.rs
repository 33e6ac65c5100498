//! Defects of the crawl log.

use std::sync::Arc;

use dragline_domain::capture::SegmentLog;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::{CrawlLog, Frontier};

use super::super::FrontierMutation as M;
use super::MutantFrontier;

impl<F: Frontier> CrawlLog for MutantFrontier<F> {
    async fn put_log(&self, log: &Arc<SegmentLog>) -> PortResult<()> {
        let mut log = SegmentLog::clone(log);
        match self.mutation {
            Some(M::EmptyLogNotPut) if log.entries.is_empty() => return Ok(()),
            Some(M::RepeatedLogRefused) if self.fresh() > 0 => {
                return Err(PortError::new(PortErrorKind::Other, "put log", &log.segment, "it already exists"));
            }
            Some(M::LogCut) => log.entries.truncate(100),
            _ => {}
        }
        self.inner.put_log(&Arc::new(log)).await
    }
}
