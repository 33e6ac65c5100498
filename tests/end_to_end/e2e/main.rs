//! The built `dragline` command, end to end, on real sites.

mod debian_sites;
mod files;
mod interrupted;
mod killed;
mod recrawled;
mod whole_sites;
mod witness;
