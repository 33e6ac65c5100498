//! The adapters under the conformance suites, and under faults that no emulator has.

mod editions;
mod faults;
mod faults_elsewhere;
mod listed;
mod messages;
mod pruning;
mod publications;
mod stored_rows;
mod suites;
mod usage;
