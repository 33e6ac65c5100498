//! A life: the workers work until everything is done or dies.

use std::future::Future;
use std::sync::Arc;

use tokio::runtime::Builder;
use tokio::task::JoinHandle;

use crate::conductor::{Conductor, Next};
use crate::worker::Worker;

/// How a life ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LifeEnd {
    Over,
    Crashed,
    NeverEnds,
}

/// Why a worker is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    /// Its life begins, or the one before it died in a process that lives on.
    InItsProcess,
    /// The one before it died with its process.
    InANewOne,
}

/// Runs a life of these workers, once `before` is done.
pub(crate) fn live(
    conductor: &Arc<Conductor>,
    before: impl Future<Output = ()>,
    workers: &[Worker],
    mut start: impl FnMut(Worker, Begins) -> JoinHandle<()>,
) -> LifeEnd {
    let hook = Arc::clone(conductor);
    let runtime = Builder::new_current_thread().on_thread_park(move || hook.thread_parks()).build().unwrap();
    let end = runtime.block_on(async {
        before.await;
        let mut tasks: Vec<_> = workers.iter().map(|worker| (*worker, start(*worker, Begins::InItsProcess))).collect();
        loop {
            conductor.quiet().await;
            let (dead, begins) = match conductor.next() {
                Next::GoesOn => continue,
                Next::Over => return LifeEnd::Over,
                Next::Crashed => return LifeEnd::Crashed,
                Next::NeverEnds => return LifeEnd::NeverEnds,
                Next::TaskDied(worker) => (worker, Begins::InItsProcess),
                Next::Died(worker) => (worker, Begins::InANewOne),
            };
            let Some((_, task)) = tasks.iter_mut().find(|(of, _)| *of == dead) else { continue };
            task.abort();
            let _dead = (&mut *task).await;
            *task = start(dead, begins);
        }
    });
    drop(runtime);
    conductor.forget_the_parked();
    end
}
