//! Names that exist only in a test.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};

use dragline_http::NameLookup;
use futures_util::future::BoxFuture;

/// Knows the names it is given, and every one under `.test` as 127.0.0.1; counts what it is asked.
pub(crate) struct Names {
    known: HashMap<String, Vec<IpAddr>>,
    asked: AtomicUsize,
}

impl Names {
    pub(crate) fn loopback() -> Self {
        Self::of(&[])
    }

    pub(crate) fn of(known: &[(&str, &[&str])]) -> Self {
        let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let known = known.iter().map(|(name, addresses)| ((*name).to_owned(), parse(addresses))).collect();
        Self { known, asked: AtomicUsize::new(0) }
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl NameLookup for Names {
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let found = match self.known.get(host) {
            Some(addresses) => Ok(addresses.clone()),
            None if host.ends_with(".test") => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
            None => Err(io::Error::other("no such name")),
        };
        Box::pin(async { found })
    }
}
