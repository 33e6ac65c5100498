//! The built `dragline` command, end to end, on real sites.

mod addresses;
mod bad_days;
mod debian_sites;
mod files;
mod forgotten;
mod interrupted;
mod killed;
mod memory;
mod pace;
mod recrawled;
mod replayed;
mod shop;
mod whole_sites;
mod witness;
