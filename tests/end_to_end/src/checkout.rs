//! The checkout that the tests were built in, and what its scripts provide.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The root of the checkout.
#[must_use]
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).expect("this package lies two directories deep in the workspace").to_owned()
}

/// The locations of what `scripts/setup` provides.
#[derive(Debug)]
pub struct Provided {
    /// The directory of the WARC readers' commands.
    pub readers: PathBuf,
    /// The directory of the real sites.
    pub sites: PathBuf,
}

/// What `scripts/setup` provides, set up on first use.
///
/// The script is cheap when everything is there, and takes a lock, so every test may call this in
/// any process.
///
/// # Panics
/// If the set-up failed, as a test without what it needs must not pass.
#[must_use]
pub fn provided() -> &'static Provided {
    static PROVIDED: OnceLock<Provided> = OnceLock::new();
    PROVIDED.get_or_init(|| {
        let said = said_by("scripts/setup");
        let place = |name: &str| {
            let found = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            PathBuf::from(found.unwrap_or_else(|| panic!("scripts/setup does not say where the {name} are: {said}")))
        };
        Provided { readers: place("readers"), sites: place("sites") }
    })
}

/// The directory of what `scripts/fetch-judges` provides: third-party tests. Otherwise like
/// [`provided`].
///
/// # Panics
/// If the set-up failed.
#[must_use]
pub fn judges() -> &'static Path {
    static JUDGES: OnceLock<PathBuf> = OnceLock::new();
    JUDGES.get_or_init(|| PathBuf::from(said_by("scripts/fetch-judges").trim_end()))
}

/// Runs a script of the checkout and returns what it prints.
fn said_by(script: &str) -> String {
    let output = succeed(Command::new(root().join(script)), &format!("{script}, which this test needs,"));
    String::from_utf8(output.stdout).unwrap_or_else(|error| panic!("{script} does not print UTF-8: {error}"))
}

/// Runs a command that must succeed.
///
/// # Panics
/// If it fails, with all that it printed.
pub fn succeed(mut command: Command, what: &str) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{what} could not be started: {error}"));
    assert!(
        output.status.success(),
        "{what} failed with {}:\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
