//! What can be chosen about the browsers.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// How browsers are started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserSettings {
    /// The browser's program, not a script that starts it; `None`: the first of the usual ones.
    pub program: Option<PathBuf>,
    /// Whether a browser is one process or several.
    pub processes: Processes,
    /// Whether it gets a network namespace.
    pub namespace: Namespace,
    /// How many browsers there are at most, each with one page at a time: further pages wait.
    pub browsers_max: NonZeroUsize,
    /// The limit on the data of each of its processes, in bytes (`ulimit -d`).
    pub process_bytes_max: u64,
    /// How long it may take to start.
    pub start_time: Duration,
    /// Variables of its environment, which is empty otherwise, as where a layer's libraries are.
    pub environment: Vec<(OsString, OsString)>,
}

impl Default for BrowserSettings {
    fn default() -> Self {
        Self {
            program: None,
            processes: Processes::Several,
            namespace: Namespace::WhereAllowed,
            browsers_max: NonZeroUsize::MIN,
            process_bytes_max: 1 << 30,
            start_time: Duration::from_secs(20),
            environment: Vec::new(),
        }
    }
}

/// Whether a browser is one process or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Processes {
    /// Each page has a process of its own, in a sandbox unless root runs it. The browser goes on
    /// with the next page, which sees nothing of those before it.
    Several,
    /// All is one process without a sandbox, for one page alone: nothing else works on AWS Lambda.
    One,
}

/// Whether a browser gets a network namespace, in which it reaches nothing at all. It is the second
/// line: without one, its requests are intercepted as well, and it is told of a proxy that is not
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Namespace {
    /// If the system lets us make one (`unshare`).
    WhereAllowed,
    /// None.
    Unused,
}
