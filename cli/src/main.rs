//! The `dragline` command.
fn main() {}
