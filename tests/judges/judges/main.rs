//! Tests that others wrote, as judges of our readers.

#![expect(clippy::unwrap_used, reason = "what the tests of others do not have as expected fails the test")]

mod charset;
mod robots;
mod url;
