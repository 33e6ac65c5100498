//! From documents to what is recorded of them: the log, the candidates and the counts.

pub(crate) mod counters;
pub(crate) mod log;
pub(crate) mod update;
