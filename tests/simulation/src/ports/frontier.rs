//! The frontier behind the conductor.

use std::fmt::Display;
use std::sync::Arc;

use dragline_domain::capture::SegmentLog;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::CrawlLog;
use dragline_testkit::before::{Before, Behind};

use super::Gate;
use crate::mutations::mutated_log;

pub(crate) type GatedFrontier<F> = Behind<Gate, F>;

impl Before for Gate {
    async fn pass<T: Send>(
        &self,
        operation: &'static str,
        subject: impl Display + Send,
        instead: Option<T>,
        call: impl Future<Output = PortResult<T>> + Send,
    ) -> PortResult<T> {
        let call = self.seen(operation, call);
        match instead {
            Some(instead) => self.pass_or(operation, subject, instead, call).await,
            None => Self::pass(self, operation, subject, call).await,
        }
    }

    async fn put_log<F: CrawlLog + 'static>(&self, inner: &Arc<F>, log: &Arc<SegmentLog>) -> PortResult<()> {
        let log = Arc::new(mutated_log(self.mutation, SegmentLog::clone(log)));
        if self.put_off.holds("frontier.put_log") {
            let (gate, inner) = (self.without_delay(), Arc::clone(inner));
            let put = async move { Self::pass(&gate, "frontier.put_log", &log.segment, inner.put_log(&log)).await };
            self.put_off.put_off(put);
            return Ok(());
        }
        Self::pass(self, "frontier.put_log", &log.segment, inner.put_log(&log)).await
    }
}
