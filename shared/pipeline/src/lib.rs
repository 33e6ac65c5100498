//! The ports of the Dragline crawler and its four steps over them: schedule, crawl, parse, sweep.

pub mod ports;
