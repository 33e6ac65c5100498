//! Politeness between processes: the crawls of several data directories on one machine share the
//! slots of a host.
//!
//! Within a data directory the host's row ensures that only one origin of a host is visited at a
//! time, but another directory has rows of its own. So each request also takes a slot of its host:
//! the lock of a file in a folder of the user's. A definition that allows one request at a time
//! uses only the first slot, as all such crawls do, so they take turns, request by request, and
//! each keeps its delay after the others' requests too. The system releases a lock when its process
//! dies.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use dragline_domain::definition::Draft;
use dragline_domain::url::HostKey;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::{FetchFailureKind, FetchOutcome, FetchRequest, Fetcher, Fetchers};
use jiff::Timestamp;

/// How often to check for a free slot.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The longest wait for a slot, whose holder makes one request with its time limits. Then the
/// request fails, and is tried again later: a hanging process costs others no more than a hanging
/// site.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// The number of files that hosts share, so that a crawl of many hosts leaves few. Two hosts with
/// one file take turns with their requests, but each has a stamp of its own.
const FILES_MAX: u64 = 4_096;

/// The most stamps in a file, the latest ones: more than the hosts that share one, unless thousands
/// are visited at once.
const STAMPS_MAX: usize = 16;

/// The most slots, for definitions with concurrent requests.
const SLOTS_MAX: u16 = 64;

/// The number of the file that is locked while waiting for a slot.
const TURNSTILE: u16 = SLOTS_MAX;

/// The longest stamp, with the end of its line.
const STAMP_BYTES_MAX: u64 = 120;

/// The folder with the slots of hosts, for all processes of this user.
#[derive(Clone, Debug)]
pub struct HostSlots {
    folder: PathBuf,
    /// The slot to check next.
    next: Arc<AtomicU16>,
}

impl HostSlots {
    /// Opens the folder of this user: in `XDG_RUNTIME_DIR`, or else in the directory for temporary
    /// files.
    ///
    /// # Errors
    /// Fails if it cannot be created, or another user created it.
    #[cfg(unix)]
    pub fn open_for_user() -> io::Result<Self> {
        let given = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
        let user = rustix::process::geteuid().as_raw();
        let folder = match given.filter(|path| path.is_dir()) {
            Some(folder) => folder.join("dragline"),
            None => std::env::temp_dir().join(format!("dragline-{user}")),
        };
        Self::open(&folder, user)
    }

    /// Opens the folder of this user.
    ///
    /// # Errors
    /// Always fails: only Unix tells who owns a folder.
    #[cfg(not(unix))]
    pub fn open_for_user() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[cfg(unix)]
    fn open(folder: &Path, user: u32) -> io::Result<Self> {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let found = fs::symlink_metadata(folder)?;
        if !found.is_dir() || found.uid() != user {
            return Err(io::Error::other(format!("{} belongs to somebody else", folder.display())));
        }
        Ok(Self { folder: folder.to_owned(), next: Arc::default() })
    }

    fn file(&self, host: u64, slot: u16) -> io::Result<File> {
        let path = self.folder.join(format!("host-{}-{slot}", host % FILES_MAX));
        OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)
    }

    /// Waits for one of the first slots of a host.
    async fn take(&self, host: &HostKey, slots: u16, clock: &impl Clock) -> SlotResult {
        let mut hasher = DefaultHasher::new();
        host.hash(&mut hasher);
        let host = hasher.finish();
        // A waiter holds the turnstile, so that the process that just released a slot cannot take
        // it again first.
        let Ok(turnstile) = self.file(host, TURNSTILE) else { return SlotResult::NoLocks };
        let (since, mut is_next) = (clock.monotonic(), false);
        while clock.monotonic().saturating_sub(since) < WAIT_MAX {
            if !is_next {
                match turnstile.try_lock() {
                    Ok(()) => is_next = true,
                    Err(TryLockError::WouldBlock) => {}
                    Err(TryLockError::Error(_)) => return SlotResult::NoLocks,
                }
            }
            if is_next {
                match self.lock_free(host, slots) {
                    Ok(Some(slot)) => return SlotResult::Slot(slot),
                    Ok(None) => {}
                    Err(_) => return SlotResult::NoLocks,
                }
            }
            clock.sleep(LOOK_EVERY).await;
        }
        SlotResult::TooLong
    }

    /// Locks a free slot; `None` if there is none. Begins after the last slot taken, so that few
    /// files are opened if most slots are free or their requests take equally long.
    fn lock_free(&self, host: u64, slots: u16) -> io::Result<Option<Slot>> {
        let first = self.next.fetch_add(1, Ordering::Relaxed) % slots;
        for slot in (first..slots).chain(0..first) {
            let file = self.file(host, slot)?;
            if file.try_lock().is_ok() {
                self.next.store(slot.wrapping_add(1), Ordering::Relaxed);
                return Ok(Some(Slot { file, host, others: Vec::new() }));
            }
        }
        Ok(None)
    }
}

/// The result of waiting for a slot.
enum SlotResult {
    /// A slot is held.
    Slot(Slot),
    /// The file system does not support locks.
    NoLocks,
    /// All slots stayed taken.
    TooLong,
}

/// A held slot. Its file has a stamp for each host that used it: the last process to make a
/// request, and when that began and ended.
struct Slot {
    file: File,
    host: u64,
    /// The stamps of other hosts, latest last.
    others: Vec<String>,
}

impl Slot {
    /// Returns how long to wait for this delay: since the end of another process's last request, or
    /// the beginning of one's own. The own request began later than its pace planned if it waited
    /// for the slot, so the next one would follow too soon.
    fn wait(&mut self, delay: Duration, now: Timestamp) -> Duration {
        let mut text = String::new();
        let read = self.file.seek(SeekFrom::Start(0)).and_then(|_| {
            let mut file = &self.file;
            Read::by_ref(&mut file).take(STAMP_BYTES_MAX * STAMPS_MAX as u64).read_to_string(&mut text)
        });
        if read.is_err() {
            return Duration::ZERO;
        }
        let name = format!("{:x} ", self.host);
        let (own, others): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with(&name));
        self.others = others.into_iter().map(str::to_owned).collect();
        own.first().and_then(|stamp| remaining_delay(delay, &stamp[name.len()..], now)).unwrap_or_default()
    }

    /// Records when a request began and ended, and releases the slot by closing its file.
    fn release(mut self, began: Timestamp, ended: Timestamp) {
        let mut stamps = self.others.split_off(self.others.len().saturating_sub(STAMPS_MAX - 1));
        stamps.push(format!("{:x} {} {began} {ended}\n", self.host, std::process::id()));
        let written = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        // A stamp that cannot be written is simply missing.
        let _ = written.and_then(|_| self.file.write_all(stamps.join("\n").as_bytes()));
    }
}

/// Returns the rest of a delay by a stamp, without its host; `None` if it is damaged.
fn remaining_delay(delay: Duration, stamp: &str, now: Timestamp) -> Option<Duration> {
    let mut fields = stamp.split_whitespace();
    let process: u32 = fields.next()?.parse().ok()?;
    let (began, ended): (Timestamp, Timestamp) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let at = if process == std::process::id() { began } else { ended };
    // A stamp from the future was written before the clock was set back.
    let since = now.duration_since(at).try_into().unwrap_or(delay);
    Some(delay.saturating_sub(since))
}

/// Fetchers whose requests each take a slot of their host.
pub struct SlottedFetchers<S, C> {
    fetchers: S,
    slots: Option<HostSlots>,
    clock: C,
}

impl<S, C> SlottedFetchers<S, C> {
    /// Returns these fetchers with these slots; without slots, requests are made at once.
    #[must_use]
    pub const fn new(fetchers: S, slots: Option<HostSlots>, clock: C) -> Self {
        Self { fetchers, slots, clock }
    }
}

impl<S: Fetchers, C: Clock + Clone + 'static> Fetchers for SlottedFetchers<S, C> {
    type Fetcher = SlottedFetcher<S::Fetcher, C>;
    type Renderer = S::Renderer;

    async fn fetcher_for(&self, definition: &Draft) -> PortResult<Arc<Self::Fetcher>> {
        Ok(Arc::new(SlottedFetcher {
            fetcher: self.fetchers.fetcher_for(definition).await?,
            slots: self.slots.clone(),
            slots_max: definition.politeness.concurrency.clamp(1, SLOTS_MAX),
            delay: definition.politeness.delay,
            clock: self.clock.clone(),
        }))
    }

    fn renderer(&self) -> Arc<S::Renderer> {
        self.fetchers.renderer()
    }
}

/// A fetcher whose requests each take a slot of their host.
pub struct SlottedFetcher<F, C> {
    fetcher: Arc<F>,
    slots: Option<HostSlots>,
    slots_max: u16,
    delay: Duration,
    clock: C,
}

impl<F: Fetcher, C: Clock> Fetcher for SlottedFetcher<F, C> {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let Some(slots) = &self.slots else { return self.fetcher.fetch(request).await };
        let host = HostKey::from_origin(&request.url.origin());
        let mut slot = match slots.take(&host, self.slots_max, &self.clock).await {
            SlotResult::Slot(slot) => slot,
            SlotResult::NoLocks => return self.fetcher.fetch(request).await,
            SlotResult::TooLong => {
                let why = "another crawl on this machine is visiting the host";
                return FetchOutcome::failed(FetchFailureKind::Timeout, why, WAIT_MAX);
            }
        };
        let wait = slot.wait(self.delay, self.clock.now());
        if !wait.is_zero() {
            self.clock.sleep(wait).await;
        }
        let began = self.clock.now();
        let fetched = self.fetcher.fetch(request).await;
        slot.release(began, self.clock.now());
        fetched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_kept_only_after_another_processs_request() {
        let folder = tempfile::tempdir().unwrap();
        let at = |ms: i64| Timestamp::from_millisecond(1_795_000_000_000 + ms).unwrap();
        let (own, other) = (std::process::id(), std::process::id() + 1);
        let second = Duration::from_secs(1);
        for (stamp, now, expected, why) in [
            (String::new(), at(0), 0, "nobody asked before"),
            (format!("7 {own} {} {}\n", at(0), at(90)), at(100), 900, "its own, from beginning to beginning"),
            (format!("7 {own} {} {}\n", at(0), at(1_500)), at(1_500), 0, "its own took longer than the delay"),
            (format!("7 {other} {} {}\n", at(0), at(90)), at(100), 990, "the rest of the delay"),
            (format!("7 {other} {} {}\n", at(0), at(0)), at(1_100), 0, "long ago"),
            (format!("7 {other} {} {}\n", at(60_000), at(60_000)), at(0), 0, "the clock was set back"),
            (format!("7 {other} {}\n", at(0)), at(100), 0, "cut off"),
            (format!("8 {other} {0} {0}\n", at(0)), at(100), 0, "of a host that shares the file"),
            (format!("8 {other} {0} {0}\n7 {other} {1} {1}\n", at(0), at(50)), at(100), 950, "beside that of another"),
            ("7 nonsense".to_owned(), at(0), 0, "damaged"),
        ] {
            let path = folder.path().join("slot");
            fs::write(&path, stamp).unwrap();
            let mut slot = slot(&path, 7);
            assert_eq!(slot.wait(second, now), Duration::from_millis(expected), "{why}");
        }
    }

    fn slot(path: &Path, host: u64) -> Slot {
        let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path).unwrap();
        Slot { file, host, others: Vec::new() }
    }

    #[test]
    fn hosts_that_share_a_file_each_keep_their_own_delay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("slot");
        let at = |s: i64| Timestamp::from_second(1_795_000_000 + s).unwrap();
        let hour = Duration::from_secs(3_600);
        for host in 1..=40 {
            let mut slot = slot(&path, host);
            assert_eq!(slot.wait(hour, at(100)), Duration::ZERO, "host {host} was not asked before");
            slot.release(at(host.cast_signed()), at(host.cast_signed()));
        }
        for (host, expected) in [(24, 0), (25, 3_525), (40, 3_540)] {
            assert_eq!(slot(&path, host).wait(hour, at(100)).as_secs(), expected, "host {host}");
        }
        assert!(fs::metadata(&path).unwrap().len() <= STAMP_BYTES_MAX * STAMPS_MAX as u64);
    }

    #[test]
    fn another_users_folder_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let user = rustix::process::geteuid().as_raw();
        assert!(HostSlots::open(&place.path().join("new"), user).is_ok());
        assert!(HostSlots::open(&place.path().join("new"), user).is_ok(), "it is there by now");
        assert!(HostSlots::open(&place.path().join("new"), user + 1).is_err(), "another user made it");
        std::os::unix::fs::symlink(place.path().join("new"), place.path().join("link")).unwrap();
        assert!(HostSlots::open(&place.path().join("link"), user).is_err(), "a link may lead anywhere");
    }
}
