//! The simulation's runs: with faults by the seed, with a crash at every operation, with a defect, and again.

mod crashes;
mod mutations;
mod random;
mod replay;
mod waiting;
