//! A reproducible rng.

use rand::SeedableRng;
use rand::rngs::StdRng;

/// The variable that sets the seed.
const VARIABLE: &str = "DRAGLINE_RUN";

/// Makes a generator and prints its seed, so that a failure can be repeated with `DRAGLINE_RUN` set
/// to it.
///
/// # Panics
/// If `DRAGLINE_RUN` is set to something other than a number.
#[must_use]
pub fn seeded() -> StdRng {
    let seed = match std::env::var(VARIABLE) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{VARIABLE} must be a whole number, not {text:?}")),
        Err(_) => fresh(),
    };
    announce(seed);
    StdRng::seed_from_u64(seed)
}

#[expect(clippy::disallowed_methods, reason = "every run should try other moments; the seed is printed")]
fn fresh() -> u64 {
    rand::random()
}

#[expect(clippy::print_stderr, reason = "the test runner shows it when the test fails")]
fn announce(seed: u64) {
    eprintln!("rng: run again with {VARIABLE}={seed}");
}
