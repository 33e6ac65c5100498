//! Effects in the wrong order: each is reported as done but happens after another one, or never if
//! its worker dies in between.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use dragline_ports::error::PortResult;

/// An effect that comes too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateEffect {
    /// A segment's object is stored after its rows.
    ObjectAfterCommit,
    /// A segment's documents are stored after the links in them are claimed.
    DocumentsAfterClaims,
    /// A segment's log is stored after its parse is committed.
    LogAfterCommit,
}

impl LateEffect {
    /// The operation that is deferred, and the one that it follows.
    const fn operations(self) -> (&'static str, &'static str) {
        match self {
            Self::ObjectAfterCommit => ("archive.put_new", "frontier.commit_segment"),
            Self::DocumentsAfterClaims => ("documents.put_new", "frontier.claim"),
            Self::LogAfterCommit => ("frontier.put_log", "frontier.commit_parse"),
        }
    }
}

type Effect = Pin<Box<dyn Future<Output = PortResult<()>> + Send>>;

/// The operations that one worker has deferred. They die with it.
#[derive(Clone, Default)]
pub(crate) struct PutOff {
    which: Option<LateEffect>,
    waiting: Arc<Mutex<Vec<Effect>>>,
}

impl PutOff {
    pub(crate) fn new(which: Option<LateEffect>) -> Self {
        Self { which, waiting: Arc::default() }
    }

    /// Whether an operation must be deferred.
    pub(crate) fn holds(&self, operation: &str) -> bool {
        self.which.is_some_and(|late| late.operations().0 == operation)
    }

    pub(crate) fn put_off(&self, effect: impl Future<Output = PortResult<()>> + Send + 'static) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(Box::pin(effect));
    }

    /// Does what was deferred until this operation, which is done now.
    pub(crate) async fn done(&self, operation: &str) -> PortResult<()> {
        if self.which.is_none_or(|late| late.operations().1 != operation) {
            return Ok(());
        }
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        for effect in waiting {
            effect.await?;
        }
        Ok(())
    }
}
