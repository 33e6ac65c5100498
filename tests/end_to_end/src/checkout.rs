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

/// The directory of what `scripts/setup` provides, set up when first asked for.
///
/// The script costs little when all is there, and locks: each test asks, in whatever process it runs.
///
/// # Panics
/// The set-up failed. A test that cannot have what it needs must not pass.
#[must_use]
pub fn provided() -> PathBuf {
    static PROVIDED: OnceLock<PathBuf> = OnceLock::new();
    PROVIDED.get_or_init(|| made_by("scripts/setup").join(".cache")).clone()
}

/// The directory of what `scripts/fetch-judges` provides: tests that others wrote. As [`provided`] otherwise.
///
/// # Panics
/// The set-up failed.
#[must_use]
pub fn judges() -> PathBuf {
    static JUDGES: OnceLock<PathBuf> = OnceLock::new();
    JUDGES.get_or_init(|| made_by("scripts/fetch-judges").join(".cache/judges")).clone()
}

/// The checkout, once a script has run in it.
fn made_by(script: &str) -> PathBuf {
    succeed(Command::new(root().join(script)), &format!("{script}, which this test needs,"));
    root()
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
