//! Third-party tests as judges of our readers.

#![expect(clippy::unwrap_used, reason = "a third-party test in an unexpected form fails the test")]

mod charset;
mod robots;
mod url;
