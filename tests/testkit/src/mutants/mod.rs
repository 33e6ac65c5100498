//! Adapters with one deliberate defect each, which test the conformance suites themselves.
//!
//! A mutant wraps an adapter and spoils one of its answers or conditions, using only the port's own operations: to disable a condition
//! it reads a row again and puts what the condition compares into the request. In a good suite each behaviour rejects some mutant, and
//! each mutant is rejected by some behaviour.

mod archive;
mod documents;
mod frontier;
mod frontier_mutation;
mod queue;
mod reader;
mod remaking;
mod retention;

pub use archive::{ArchiveMutation, MutantArchive};
pub use documents::{DocumentsMutation, MutantDocuments};
pub use frontier::MutantFrontier;
pub use frontier_mutation::FrontierMutation;
pub use queue::{MutantQueue, QueueMutation};
pub use reader::{MutantReader, ReaderMutation};
pub use remaking::{MutantRemaking, RemakingMutation};
pub use retention::{MutantRetained, RetentionMutation};

/// An enumeration of defects: each variant's comment says what is wrong.
macro_rules! mutations {
    ($(#[doc = $about:literal])* $name:ident { $(#[doc = $defect:literal] $variant:ident,)* }) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $(#[doc = $defect] $variant,)*
        }

        impl $name {
            /// All defects.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Says what is wrong.
            #[must_use]
            pub const fn defect(self) -> &'static str {
                match self {
                    $(Self::$variant => $defect.trim_ascii(),)*
                }
            }
        }
    };
}

use mutations;

/// Runs each named behaviour and returns the names of those that fail, given a future as in [`behaviours!`](crate::behaviours).
#[doc(hidden)]
#[macro_export]
macro_rules! rejections {
    ($suite:ident, $make:expr; $($behaviour:ident)*) => {{
        let mut rejected_by: Vec<&'static str> = Vec::new();
        $({
            let (subject, _guard) = $make.await;
            let behaviour = async move { $crate::conformance::$suite::$behaviour(&subject).await };
            let local = tokio::task::LocalSet::new();
            let verdict = local.spawn_local(behaviour);
            if local.run_until(verdict).await.is_err() {
                rejected_by.push(stringify!($behaviour));
            }
        })*
        rejected_by
    }};
}

/// The names of the behaviours.
#[doc(hidden)]
#[macro_export]
macro_rules! names {
    ($suite:ident, $make:expr; $($behaviour:ident)*) => { [$(stringify!($behaviour)),*] };
}
