//! The commands that print something of a crawl, each run as a process of its own: what they read
//! and hold does not slow the crawls of the server, and ends with the request.

use std::ffi::OsString;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::StatusCode;
use dragline_definition::TEXT_BYTES_MAX;
use dragline_domain::ids::CrawlId;
use dragline_service::{ArchiveQuery, BodyQuery, DiffQuery, DiffWhich, Output, Printout, Problem, ReportQuery};
use futures_util::{StreamExt as _, stream};
use tempfile::TempDir;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::exit::Exit;

/// The most commands at the same time.
const COMMANDS_MAX: usize = 4;

/// How long a request waits for others to end.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// The size of a read, in bytes.
const READ_BYTES: usize = 64 << 10;

/// The limit on what is kept of a command's messages, in bytes.
const MESSAGES_BYTES_MAX: u64 = 64 << 10;

/// The prefix of the folders in the data directory where archives are written.
const ARCHIVE_PREFIX: &str = ".archive-";

/// Runs commands over a data directory.
pub(super) struct Printer {
    data: PathBuf,
    /// The flags of the server for the network.
    network: Vec<OsString>,
    room: Arc<Semaphore>,
}

impl Printer {
    /// Returns a printer over a data directory. Explanations have these flags for the network.
    pub(super) fn new(data: &Path, network: Vec<OsString>) -> Self {
        Self { data: data.to_owned(), network, room: Arc::new(Semaphore::new(COMMANDS_MAX)) }
    }

    /// Removes what a killed server left of archives.
    ///
    /// # Errors
    /// The directory cannot be read, or a folder cannot be removed.
    pub(super) fn clean_up(data: &Path) -> io::Result<()> {
        for entry in data.read_dir()? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(ARCHIVE_PREFIX) {
                std::fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    /// Requests a file, as politely as a page, and returns its text.
    ///
    /// # Errors
    /// The server does not answer, or what it answers is no text, or too long.
    pub(super) async fn read_live(&self, url: &str) -> Result<String, Problem> {
        let room = self.wait_for_room().await?;
        let mut command = Command::new(std::env::current_exe().map_err(internal)?);
        command.args(["get", "--live", "--as", "html"]).args(&self.network).arg("--").arg(url);
        let mut output = Running::start(command, room)?.output().await?;
        let mut text = Vec::new();
        while let Some(chunk) = output.next().await {
            text.extend_from_slice(&chunk.map_err(internal)?);
            if text.len() > TEXT_BYTES_MAX {
                let detail = format!("{url} is longer than {TEXT_BYTES_MAX} bytes, which no definition is");
                return Err(Problem::bad_request(detail));
            }
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    async fn wait_for_room(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let busy = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "too much else is being read");
        let waited = timeout(WAIT_MAX, Arc::clone(&self.room).acquire_owned()).await;
        waited.map_err(|_| busy().with_hint("try again later"))?.map_err(|_| busy())
    }

    /// Runs a command, and returns its output as it comes.
    ///
    /// # Errors
    /// Too many others run, or the command failed before it printed anything.
    pub(super) async fn print(&self, crawl: &CrawlId, printout: Printout) -> Result<Output, Problem> {
        let room = self.wait_for_room().await?;
        let mut command = Command::new(std::env::current_exe().map_err(internal)?);
        command.args(flags(&printout)).arg("--data").arg(&self.data).args(["--crawl", crawl.as_str()]);
        match printout {
            Printout::Archive(_) => {
                let folder =
                    tempfile::Builder::new().prefix(ARCHIVE_PREFIX).tempdir_in(&self.data).map_err(internal)?;
                let path = folder.path().join("archive.wacz");
                command.arg("--output").arg(&path);
                Running::start(command, room)?.end().await?;
                let file = File::open(path).await.map_err(internal)?;
                Ok(read_file(file, folder))
            }
            Printout::Explain { url } => {
                command.args(&self.network).arg("--").arg(url);
                Running::start(command, room)?.output().await
            }
            Printout::History { url } | Printout::Backlinks { url } | Printout::Body(BodyQuery { url, .. }) => {
                // What a client sent is never taken for a flag.
                command.arg("--").arg(url);
                Running::start(command, room)?.output().await
            }
            Printout::Diff(_) | Printout::Report(_) => Running::start(command, room)?.output().await,
        }
    }
}

/// Returns the command of a printout and its own flags.
fn flags(printout: &Printout) -> Vec<String> {
    let mut words = Vec::new();
    let mut flag =
        |name: &str, value: Option<&dyn Display>| words.extend(value.map(|value| format!("--{name}={value}")));
    let command = match printout {
        Printout::History { .. } => {
            flag("format", Some(&"jsonl"));
            "history"
        }
        Printout::Backlinks { .. } => {
            flag("format", Some(&"jsonl"));
            flag("ways", Some(&"in"));
            "links"
        }
        Printout::Diff(DiffQuery { from, to, subject, which }) => {
            flag("format", Some(&"jsonl"));
            flag("from", from.as_ref().map(|from| from as _));
            flag("to", to.as_ref().map(|to| to as _));
            flag("what", Some(&subject.name()));
            words.extend((*which == DiffWhich::Visited).then(|| "--all".to_owned()));
            "diff"
        }
        Printout::Body(BodyQuery { iteration, form, .. }) => {
            flag("iteration", iteration.as_ref().map(|number| number as _));
            words.push(form.map_or_else(|| "--headers".to_owned(), |form| format!("--as={}", form.name())));
            "get"
        }
        Printout::Report(ReportQuery { iteration, format }) => {
            flag("iteration", iteration.as_ref().map(|number| number as _));
            flag("format", Some(&format.name()));
            "report"
        }
        Printout::Archive(ArchiveQuery { iteration }) => {
            flag("iteration", iteration.as_ref().map(|number| number as _));
            "archive"
        }
        Printout::Explain { .. } => {
            words.push("--json".to_owned());
            "explain"
        }
    };
    words.insert(0, command.to_owned());
    words
}

/// A command that runs. It is killed when this is dropped.
struct Running {
    child: Child,
    stdout: ChildStdout,
    messages: JoinHandle<String>,
    _room: OwnedSemaphorePermit,
}

impl Running {
    fn start(mut command: Command, room: OwnedSemaphorePermit) -> Result<Self, Problem> {
        // What the server was told of its logs is not for these.
        command.env_remove("RUST_LOG").env("NO_COLOR", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(internal)?;
        let missing = || internal("the command has no pipe");
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let messages = tokio::spawn(async move {
            let (mut kept, mut stderr) = (Vec::new(), stderr.take(MESSAGES_BYTES_MAX));
            let _ = stderr.read_to_end(&mut kept).await;
            // The rest is read so that the command can go on.
            let _ = tokio::io::copy(&mut stderr.into_inner(), &mut tokio::io::sink()).await;
            String::from_utf8_lossy(&kept).into_owned()
        });
        Ok(Self { child, stdout, messages, _room: room })
    }

    /// Returns the output as it comes, once there is some or the command has ended well.
    async fn output(mut self) -> Result<Output, Problem> {
        let first = read(&mut self.stdout).await.map_err(internal)?;
        if first.is_empty() {
            self.end().await?;
            return Ok(Box::pin(stream::empty()));
        }
        let rest = stream::try_unfold(self, |mut running| async move {
            let chunk = read(&mut running.stdout).await?;
            if chunk.is_empty() {
                // The client sees that what it has is not all.
                running.end().await.map_err(|problem| io::Error::other(problem.detail))?;
                return Ok(None);
            }
            Ok(Some((chunk, running)))
        });
        Ok(Box::pin(stream::iter([Ok(first)]).chain(rest)))
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// It failed, for the reason that it gave.
    async fn end(mut self) -> Result<(), Problem> {
        let status = self.child.wait().await.map_err(internal)?;
        let has_answered = [Exit::Done, Exit::NotAllWell, Exit::Findings].map(|exit| Some(i32::from(exit.code())));
        if has_answered.contains(&status.code()) {
            return Ok(());
        }
        Err(problem(&self.messages.await.unwrap_or_default()))
    }
}

/// Returns some bytes; none at the end.
async fn read(stdout: &mut (impl AsyncRead + Unpin)) -> io::Result<Bytes> {
    let mut buffer = vec![0; READ_BYTES];
    let length = stdout.read(&mut buffer).await?;
    buffer.truncate(length);
    Ok(buffer.into())
}

/// Returns a file's bytes as they are read. Its folder is removed afterwards.
fn read_file(file: File, folder: TempDir) -> Output {
    Box::pin(stream::try_unfold((file, folder), |(mut file, folder)| async move {
        let chunk = read(&mut file).await?;
        Ok(if chunk.is_empty() { None } else { Some((chunk, (file, folder))) })
    }))
}

/// Returns why a command failed, by what it printed: what was asked for is not there.
fn problem(messages: &str) -> Problem {
    let line = |prefix: &str| messages.lines().find_map(|line| line.strip_prefix(prefix));
    let Some(error) = line("error: ") else { return internal(messages.trim()) };
    let problem = Problem::not_found(error);
    // A hint for the command line is none for a program that calls.
    match line("hint: ").filter(|hint| !hint.contains("dragline ") && !hint.contains("--")) {
        Some(hint) => problem.with_hint(hint),
        None => problem,
    }
}

fn internal(error: impl Display) -> Problem {
    tracing::error!(%error, "a command failed");
    Problem::internal("it cannot be read; the server's log says why")
}
