//! The four steps over the local adapters wrapped in faults, driven from one seed.

pub mod invariants;
pub mod web;
