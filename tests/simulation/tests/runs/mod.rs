//! Runs of the simulation: with random faults, with a crash at every operation, with a defect, and
//! replayed.

mod crashes;
mod mutations;
mod random;
mod replay;
mod waiting;
