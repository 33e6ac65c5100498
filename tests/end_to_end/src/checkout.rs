//! The checkout that the tests were built in, and what scripts put there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The root of the checkout.
#[must_use]
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).expect("this package lies two directories deep in the workspace").to_owned()
}

/// Where the things are that `scripts/setup` provides.
#[derive(Debug)]
pub struct Provided {
    /// The directory of the WARC readers' commands.
    pub readers: PathBuf,
    /// The directory of the real sites.
    pub sites: PathBuf,
}

/// What `scripts/setup` provides, set up when first asked for.
///
/// The script costs little when all is there, and locks: each test asks, in whatever process it runs.
///
/// # Panics
/// The set-up failed. A test that cannot have what it needs must not pass.
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

/// The directory of what `scripts/fetch-judges` provides: tests that others wrote. As [`provided`] otherwise.
///
/// # Panics
/// The set-up failed.
#[must_use]
pub fn judges() -> &'static Path {
    static JUDGES: OnceLock<PathBuf> = OnceLock::new();
    JUDGES.get_or_init(|| PathBuf::from(said_by("scripts/fetch-judges").trim_end()))
}

/// What a script of the checkout prints.
fn said_by(script: &str) -> String {
    let output = succeed(Command::new(root().join(script)), &format!("{script}, which this test needs,"));
    String::from_utf8(output.stdout).unwrap_or_else(|error| panic!("{script} prints no UTF-8: {error}"))
}

/// Runs a command that must succeed.
///
/// # Panics
/// It did not: with all that it printed.
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
