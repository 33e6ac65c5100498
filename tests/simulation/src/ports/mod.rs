//! The ports, whose operations the conductor schedules.

mod archive;
mod documents;
mod fetcher;
mod frontier;
mod queue;
mod time;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use dragline_ports::error::PortResult;

use crate::conductor::{Conductor, Twist};
use crate::mutations::{Mutation, PutOff};
use crate::parked::Operation;
use crate::schedules::Watch;
use crate::worker::Worker;

pub(crate) use archive::GatedArchive;
pub(crate) use documents::GatedDocuments;
pub(crate) use fetcher::GatedWeb;
pub(crate) use frontier::GatedFrontier;
pub(crate) use queue::{GatedNotifier, GatedQueue};
pub(crate) use time::{START, SimulatedClock, SimulatedRng};

/// One worker's access to the conductor.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) conductor: Arc<Conductor>,
    pub(crate) worker: Worker,
    pub(crate) put_off: PutOff,
    pub(crate) mutation: Option<Mutation>,
    /// Who looks at crawls; `None` where there is nothing to see.
    pub(crate) watch: Option<Arc<Watch>>,
}

impl Gate {
    /// The same access for an effect that was itself deferred.
    fn without_delay(&self) -> Self {
        Self { put_off: PutOff::default(), ..self.clone() }
    }

    /// Does something, and lets it be seen.
    async fn seen<T>(&self, name: &str, work: impl Future<Output = PortResult<T>>) -> PortResult<T> {
        let done = work.await;
        if let Some(watch) = &self.watch {
            watch.look(name, self.worker, self.conductor.now());
        }
        done
    }

    /// Does an operation when its turn comes.
    async fn pass<T>(
        &self,
        name: &'static str,
        subject: impl fmt::Display,
        work: impl Future<Output = PortResult<T>>,
    ) -> PortResult<T> {
        let operation = Operation { name, subject: subject.to_string() };
        let done = self.conductor.operate(self.worker, operation, Twist::None, work).await?;
        self.put_off.done(name).await?;
        Ok(done)
    }

    /// Like [`Gate::pass`], for operations that may be repeated: `again` is the answer to the
    /// second try.
    async fn pass_again<T>(
        &self,
        name: &'static str,
        subject: impl fmt::Display,
        again: fn(T) -> T,
        work: impl Future<Output = PortResult<T>>,
    ) -> PortResult<T> {
        let operation = Operation { name, subject: subject.to_string() };
        let done = self.conductor.operate(self.worker, operation, Twist::Again(again), work).await?;
        self.put_off.done(name).await?;
        Ok(done)
    }

    /// Like [`Gate::pass`], for operations that may also give another answer without doing
    /// anything.
    async fn pass_or<T>(
        &self,
        name: &'static str,
        subject: impl fmt::Display,
        twist: T,
        work: impl Future<Output = PortResult<T>>,
    ) -> PortResult<T> {
        let operation = Operation { name, subject: subject.to_string() };
        self.conductor.operate(self.worker, operation, Twist::Instead(twist), work).await
    }
}
