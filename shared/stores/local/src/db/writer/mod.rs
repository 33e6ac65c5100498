//! The one thread that owns the connection. Operations that are waiting are committed together.
//!
//! Each runs under its own savepoint unless it is alone, so that a failing one affects no other,
//! and is answered only after the commit.

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use tokio::sync::oneshot;

use super::{Db, StoreError};

#[cfg(test)]
mod tests;

/// The most operations in one transaction, so that none waits long for its answer.
const BATCH_MAX: usize = 64;

/// Runs operations in the order in which they arrive.
pub(crate) struct Writer {
    jobs: Option<Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread. It keeps the directory's lock until the database is closed, which is last
    /// written to by `end`.
    pub(crate) fn start(db: Db, lock: File, end: impl FnOnce(&Db) + Send + 'static) -> io::Result<Self> {
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new().name("dragline-db".to_owned()).spawn(move || {
            serve(&db, &receiver);
            end(&db);
            drop(db);
            drop(lock);
        })?;
        Ok(Self { jobs: Some(sender), thread: Some(thread) })
    }

    /// Runs one operation and answers once it is committed.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        operation: &'static str,
        subject: String,
        work: impl FnOnce(&Db) -> Result<T, StoreError> + Send + 'static,
    ) -> PortResult<T> {
        let (reply, answer) = oneshot::channel();
        let gone = |subject: String| PortError::new(PortErrorKind::Other, operation, subject, "the database is closed");
        let Some(jobs) = &self.jobs else { return Err(gone(subject)) };
        let task = Task { work: Some(work), result: None, reply, operation, subject: subject.clone() };
        if jobs.send(Box::new(task)).is_err() {
            return Err(gone(subject));
        }
        answer.await.unwrap_or_else(|_| Err(gone(subject)))
    }
}

impl Drop for Writer {
    /// Waits for what is under way, so that whoever opens the directory next finds it free.
    fn drop(&mut self) {
        self.jobs = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the database's thread panicked");
        }
    }
}

/// A waiting operation, whatever the type of its answer.
trait Job: Send {
    /// Does its work. The error stays inside for the answer; its kind is returned.
    fn run(&mut self, db: &Db) -> Result<(), PortErrorKind>;

    /// Answers: with its own result if the transaction was committed.
    fn answer(self: Box<Self>, committed: Result<(), &StoreError>);
}

struct Task<T, F> {
    work: Option<F>,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<PortResult<T>>,
    operation: &'static str,
    subject: String,
}

impl<T: Send, F: FnOnce(&Db) -> Result<T, StoreError> + Send> Job for Task<T, F> {
    fn run(&mut self, db: &Db) -> Result<(), PortErrorKind> {
        let Some(work) = self.work.take() else { return Ok(()) };
        let result = work(db);
        let kind = result.as_ref().map(|_| ()).map_err(StoreError::kind);
        self.result = Some(result);
        kind
    }

    fn answer(self: Box<Self>, committed: Result<(), &StoreError>) {
        let error = match (self.result, committed) {
            (Some(Ok(value)), Ok(())) => {
                // The caller may be gone by now.
                let _ = self.reply.send(Ok(value));
                return;
            }
            (Some(Err(own)), _) => own,
            (_, Err(failure)) => StoreError::NotCommitted { kind: failure.kind(), cause: failure.to_string() },
            (None, Ok(())) => StoreError::Missing("result"),
        };
        let _ = self.reply.send(Err(PortError::new(error.kind(), self.operation, self.subject, error)));
    }
}

fn serve(db: &Db, jobs: &Receiver<Box<dyn Job>>) {
    while let Ok(first) = jobs.recv() {
        let mut batch: Vec<_> = std::iter::once(first).chain(jobs.try_iter()).take(BATCH_MAX).collect();
        let committed = commit_together(db, &mut batch);
        for job in batch {
            job.answer(committed.as_ref().copied());
        }
    }
}

fn commit_together(db: &Db, batch: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    db.execute("BEGIN IMMEDIATE", [])?;
    let committed = run_all(db, batch).and_then(|()| db.execute("COMMIT", []).map(|_| ()));
    if committed.is_err() && !db.connection.is_autocommit() {
        db.execute("ROLLBACK", [])?;
    }
    committed
}

fn run_all(db: &Db, batch: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    if let [only] = batch {
        // Its own error is its answer.
        return only.run(db).map_err(|kind| StoreError::NotCommitted { kind, cause: "it failed".to_owned() });
    }
    for job in batch {
        db.execute("SAVEPOINT operation", [])?;
        if let Err(kind) = job.run(db) {
            // A full disk makes SQLite roll back the whole transaction by itself.
            if db.connection.is_autocommit() {
                let cause = "another operation of the same transaction failed".to_owned();
                return Err(StoreError::NotCommitted { kind, cause });
            }
            db.execute("ROLLBACK TO operation", [])?;
        }
        db.execute("RELEASE operation", [])?;
    }
    Ok(())
}
