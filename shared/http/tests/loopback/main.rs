//! The fetcher against real servers on the loopback interface.

mod exchange;
mod guard;
mod limits;
mod support;
mod tls;
