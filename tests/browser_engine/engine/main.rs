//! Pages in a real browser: apps, ways out of it, and pages that misbehave.
#![expect(clippy::unwrap_used, reason = "a test without its page has nothing to say")]

mod apps;
mod counter;
mod escape;
mod hostile;
mod mutants;
mod processes;
mod site;
