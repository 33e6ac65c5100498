//! Adapters with one deliberate defect each, which test the conformance suites themselves.
//!
//! A mutant wraps an adapter and spoils one of its answers or conditions, using only the port's own
//! operations: to disable a condition it reads a row again and puts what the condition compares
//! into the request. Each defect is one that a small mistake in an adapter could cause: a
//! condition, a field or a case that is missing. Some behaviour must reject each mutant, and each
//! behaviour must reject some mutant: `tests/local/tests/conformance/mutants.txt` says which
//! rejects which, and the test beside it holds it to that. The suite of time and rng has no
//! mutants.

mod archive;
mod documents;
mod fetcher;
mod frontier;
mod queue;
mod reader;
mod remaking;
mod retention;

use std::sync::atomic::{AtomicU64, Ordering};

pub use archive::ArchiveMutation;
pub use documents::DocumentsMutation;
pub use fetcher::FetcherMutation;
pub use frontier::{FrontierMutation, MutantFrontier};
pub use queue::QueueMutation;
pub use reader::ReaderMutation;
pub use remaking::RemakingMutation;
pub use retention::RetentionMutation;

/// An adapter with one defect, or with none.
#[derive(Debug)]
pub struct Mutant<A, M> {
    inner: A,
    mutation: Option<M>,
    calls: AtomicU64,
}

impl<A, M> Mutant<A, M> {
    /// Wraps an adapter with this defect, or with none.
    #[must_use]
    pub fn new(inner: A, mutation: impl Into<Option<M>>) -> Self {
        Self { inner, mutation: mutation.into(), calls: AtomicU64::new(0) }
    }

    /// Returns a number that was not returned before.
    fn fresh(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }
}

/// Returns a request or an answer as a defect leaves it.
fn spoil<T>(mut value: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut value);
    value
}

/// Like [`spoil`], for each of several.
fn spoil_each<T: Clone>(values: &[T], mut change: impl FnMut(&mut T)) -> Vec<T> {
    spoil(values.to_vec(), |values| values.iter_mut().for_each(&mut change))
}

/// An enumeration of defects, with what is wrong.
macro_rules! mutations {
    ($(#[doc = $about:literal])* $name:ident { $($variant:ident: $defect:literal;)* }) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $(#[doc = $defect] $variant,)*
        }

        impl $name {
            /// All defects.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];
        }
    };
}

/// The mutants of an adapter: all operations of its ports and, below each, the defects that it may
/// have. A defect is described once, and named with `also` at other operations.
///
/// - `- Defect: "…" { let request = …; };` changes what the adapter is asked for, or returns,
/// - `- Defect: "…" but |answer| …;` changes what it answers,
/// - `- Defect: "…" => …;` does something else.
macro_rules! mutants {
    (
        $(#[doc = $about:literal])* $name:ident $(+ { $($other:ident: $other_defect:literal;)* })?,
        for $adapter:ty, |$this:ident| $inner:expr;
        $($port:ident<$($parameter:ident: $bound:path),+> { $(
            fn $operation:ident $arguments:tt -> $answer:ty;
                $(also $again:ident $({ $($prior:tt)* })? $(but |$seen:ident| $alter:expr)? $(=> $doing:expr)?;)*
                $(- $mutant:ident: $defect:literal
                    $({ $($before:tt)* })? $(but |$spoilt:ident| $change:expr)? $(=> $instead:expr)?;)*
        )* $(.. { $($more:tt)* })? })*
    ) => {
        $crate::mutants::mutations! {
            $(#[doc = $about])*
            $name {
                $($($other: $other_defect;)*)?
                $($($($mutant: $defect;)*)*)*
            }
        }

        $(impl<$($parameter: $bound),+> $port for $crate::mutants::Mutant<$adapter, $name> {
            $($crate::mutants::mutants! {
                @operation $name |$this| $inner; $operation $arguments $arguments -> $answer;
                $($again $({ $($prior)* })? $(but |$seen| $alter)? $(=> $doing)?;)*
                $($mutant $({ $($before)* })? $(but |$spoilt| $change)? $(=> $instead)?;)*
            })*
            $($($more)*)?
        })*
    };
    (
        @operation $name:ident |$this:ident| $inner:expr;
        $operation:ident($($argument:ident: $kind:ty),*) $arguments:tt -> $answer:ty;
        $($mutant:ident $({ $($before:tt)* })? $(but |$spoilt:ident| $change:expr)? $(=> $instead:expr)?;)*
    ) => {
        async fn $operation(&self, $($argument: $kind),*) -> PortResult<$answer> {
            let $this = self;
            match $this.mutation {
                $(Some($name::$mutant) => {
                    $($($before)*)?
                    $crate::mutants::mutants!(@call [$($instead)?] $inner, $operation $arguments)
                        $(.map(|mut $spoilt| { $change; $spoilt }))?
                })*
                _ => $inner.$operation($($argument),*).await,
            }
        }
    };
    (@call [] $inner:expr, $operation:ident($($argument:ident: $kind:ty),*)) => {
        $inner.$operation($($argument),*).await
    };
    (@call [$instead:expr] $($call:tt)*) => { $instead };
}

use {mutants, mutations};

/// Runs one behaviour, given `(name, future)` with a future as in
/// [`behaviours!`](crate::behaviours), and returns whether it fails; `None` where the suite has no
/// behaviour of this name.
#[doc(hidden)]
#[macro_export]
macro_rules! rejection {
    ($suite:ident, $make:expr; $($behaviour:ident)*) => {{
        let (name, make) = $make;
        match name {
            $(stringify!($behaviour) => {
                let (subject, _guard) = make.await;
                let behaviour = async move { $crate::conformance::$suite::$behaviour(&subject).await };
                let local = tokio::task::LocalSet::new();
                let verdict = local.spawn_local(behaviour);
                Some(local.run_until(verdict).await.is_err())
            })*
            _ => None,
        }
    }};
}

/// The names of the behaviours.
#[doc(hidden)]
#[macro_export]
macro_rules! names {
    ($suite:ident, $make:expr; $($behaviour:ident)*) => { [$(stringify!($behaviour)),*] };
}
