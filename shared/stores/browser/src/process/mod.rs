//! The process of a browser: how it starts, and that nothing of it is left.

mod confine;
mod profile;
mod program;

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dragline_domain::shown::one_line;
use dragline_ports::renderer::RenderFailure;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use self::confine::Confinement;
use self::profile::Profile;
pub(crate) use self::program::{check_version, no_browser};
use crate::settings::BrowserSettings;

/// The limit on what is kept of a browser's own messages, in bytes: the first say why it does not
/// start.
const SAID_BYTES_MAX: usize = 4096;

/// How often a browser's files are removed, and how long after each other: its other processes may
/// write for a moment after the first has ended.
const REMOVALS_MAX: u32 = 20;
const REMOVAL_TIME: Duration = Duration::from_millis(50);

/// How long the removal of all files is waited for. What is left is removed by the next process.
const REMOVALS_TIME: Duration = Duration::from_secs(2);

/// How many characters of that are shown.
const SAID_CHARS_MAX: usize = 200;

/// Keeps this process's memory and variables from other processes of the same user, as a browser
/// without a sandbox is one (`PR_SET_DUMPABLE`). May be repeated.
///
/// # Errors
/// The system refuses it, or is not Linux.
pub fn hide_this_process() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?);
    #[cfg(not(target_os = "linux"))]
    return Err(io::ErrorKind::Unsupported.into());
}

/// What browsers are started by here.
#[derive(Clone, Debug)]
pub(crate) struct Starter {
    program: PathBuf,
    confinement: Confinement,
    removals: Removals,
}

/// How many browsers that ended still have files. Clones share it.
#[derive(Clone, Debug)]
struct Removals(Arc<watch::Sender<usize>>);

impl Removals {
    fn begin(&self) -> Removal {
        self.0.send_modify(|running| *running += 1);
        Removal(self.clone())
    }
}

/// The removal of a browser's files, which is over when this is dropped.
struct Removal(Removals);

impl Drop for Removal {
    fn drop(&mut self) {
        self.0.0.send_modify(|running| *running -= 1);
    }
}

impl Starter {
    /// Finds the program, and what confines it.
    ///
    /// # Errors
    /// [`RenderFailure::NoBrowser`].
    pub(crate) async fn find(settings: &BrowserSettings) -> Result<Self, RenderFailure> {
        let program = program::find(settings.program.as_deref())?;
        profile::remove_abandoned();
        let removals = Removals(Arc::new(watch::Sender::new(0)));
        Ok(Self { program, confinement: Confinement::find(settings.namespace).await, removals })
    }

    /// Waits until no files are left of browsers that ended, but not for long.
    pub(crate) async fn await_removals(&self) {
        let mut running = self.removals.0.subscribe();
        drop(timeout(REMOVALS_TIME, running.wait_for(|running| *running == 0)).await);
    }

    /// Starts a browser with an empty profile. Returns it with the pipes over which it obeys.
    ///
    /// # Errors
    /// [`RenderFailure::NoRoom`] if the system has none for another process, or else
    /// [`RenderFailure::NoBrowser`].
    pub(crate) fn start(
        &self,
        settings: &BrowserSettings,
    ) -> Result<(Process, ChildStdin, ChildStdout), RenderFailure> {
        let profile = Profile::create().map_err(|error| refusal(&error))?;
        let mut command = confine::command(&self.program, self.confinement, profile.path(), settings);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Its processes are one group, which is killed as a whole.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = Command::from(command).kill_on_drop(true).spawn().map_err(|error| refusal(&error))?;
        let (Some(input), Some(output), Some(said)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(no_browser("its pipes are missing"));
        };
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let removals = self.removals.clone();
        let process = Process { child: Some(child), group, profile: Some(profile), said: Arc::default(), removals };
        tokio::spawn(listen(said, Arc::clone(&process.said)));
        Ok((process, input, output))
    }

    /// Returns the program's path, for messages.
    pub(crate) fn program(&self) -> String {
        format!("`{}`", self.program.display())
    }
}

/// A browser's processes and its profile. Dropping it ends them, and removes its files.
#[derive(Debug)]
pub(crate) struct Process {
    child: Option<Child>,
    group: Option<Pid>,
    profile: Option<Profile>,
    said: Arc<Mutex<Vec<u8>>>,
    removals: Removals,
}

impl Process {
    /// Returns the first of what it said, on one line; `None` if it said nothing.
    pub(crate) fn said(&self) -> Option<String> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let line = one_line(&String::from_utf8_lossy(&said), SAID_CHARS_MAX);
        (!line.is_empty()).then_some(line)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The number of a group is not used again before our child is awaited, so it is no other's.
        if let Some(group) = self.group.take() {
            // It fails if they have ended by themselves.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let (child, profile) = (self.child.take(), self.profile.take());
        // Its files are removed once nothing writes to them any more. Without a runtime, the drops
        // of both do what can be done.
        if let (Some(mut child), Some(profile), Ok(runtime)) = (child, profile, tokio::runtime::Handle::try_current()) {
            let removal = self.removals.begin();
            runtime.spawn(async move {
                let _removal = removal;
                let _ = child.wait().await;
                for _ in 0..REMOVALS_MAX {
                    if profile.clear().is_ok() {
                        break;
                    }
                    sleep(REMOVAL_TIME).await;
                }
                drop(profile);
            });
        }
    }
}

/// Keeps the first of what a browser says, and reads the rest, which would block it otherwise.
async fn listen(mut from: impl AsyncRead + Unpin, said: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(bytes @ 1..) = from.read(&mut buffer).await {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        let room = SAID_BYTES_MAX.saturating_sub(said.len());
        said.extend_from_slice(&buffer[..bytes.min(room)]);
    }
}

fn refusal(error: &io::Error) -> RenderFailure {
    use io::ErrorKind::{OutOfMemory, QuotaExceeded, StorageFull, WouldBlock};
    // Too many open files: of this process, or of the machine (EMFILE and ENFILE, without a kind).
    let is_full = matches!(error.raw_os_error(), Some(23 | 24));
    match error.kind() {
        OutOfMemory | QuotaExceeded | StorageFull | WouldBlock => RenderFailure::NoRoom,
        _ if is_full => RenderFailure::NoRoom,
        _ => no_browser(format!("it cannot be started: {error}")),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{DumpableBehavior, dumpable_behavior};

    use super::*;

    #[test]
    fn a_hidden_process_shows_others_nothing() {
        hide_this_process().unwrap();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        hide_this_process().unwrap();
    }
}
