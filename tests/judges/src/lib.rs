//! Third-party tests of readers, as judges of ours. The tests are in `judges/`; each lists the cases in which we differ on
//! purpose.

pub mod differences;
