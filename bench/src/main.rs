//! Serves sites on loopback for the benchmark, on one thread, and counts the requests.
//!
//! It prints the URL of each origin on a line of its own. It answers each line of standard input
//! with the counts since the last one, as JSON; it exits at the end of the input, so that it does
//! not outlive its parent.

mod content;
mod counts;

use std::io::{self, BufRead, Write};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Parser};
use dragline_testkit::hostile::{Authority, Flaw, Version};
use dragline_testkit::site::{Content, Directory, GeneratedSite, Site};

use content::{CompressedContent, paths_below};
use counts::{CountedContent, Counts};

/// Serves sites on loopback, and counts the requests
///
/// Prints the URL of each origin. A line on standard input is answered with the counts since the
/// last one; the end of the input ends the server.
#[derive(Debug, Parser)]
struct Arguments {
    /// Serve the files of these directories, each at an origin of its own
    #[arg(long, value_name = "DIR", conflicts_with_all = ["pages", "origins"])]
    dir: Vec<PathBuf>,
    #[command(flatten)]
    generated: Generated,
    /// How many origins there are, each with all pages, on 127.0.0.1, 127.0.0.2 and so on
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=250))]
    origins: u8,
    /// Serve the generated pages at this many addresses from 127.0.0.1 on, which are one server
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["dir", "origins", "tls"], value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    hosts: Option<u32>,
    /// Serve over TLS with a certificate that the server signed itself, by HTTP/2 or HTTP/1.1 as
    /// the client likes
    #[arg(long)]
    tls: bool,
    /// Serve text in gzip to those who accept it, compressed before the first request
    #[arg(long)]
    gzip: bool,
}

/// The shape of generated sites
#[derive(Clone, Copy, Debug, Args)]
struct Generated {
    /// How many pages are generated
    #[arg(long, default_value_t = 10_001, value_parser = clap::value_parser!(u32).range(1..))]
    pages: u32,
    /// The length of a page
    #[arg(long, default_value_t = 20_000)]
    bytes: usize,
    /// How many links a page has
    #[arg(long, default_value_t = 50)]
    links: u32,
    /// The seed: sites of different seeds differ
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Generated {
    /// Returns the site of the origin with this number.
    fn site(self, origin: u8) -> GeneratedSite {
        let Self { pages, bytes, links, seed } = self;
        GeneratedSite { pages, links_per_page: links, bytes_per_page: bytes, seed: seed + u64::from(origin) }
    }
}

/// Returns the content of each origin.
fn contents(arguments: &Arguments) -> io::Result<Vec<Box<dyn Content>>> {
    let mut contents = Vec::new();
    for directory in &arguments.dir {
        contents.push(prepared(Directory::new(directory), arguments, || paths_below(directory))?);
    }
    if contents.is_empty() {
        for origin in 0..arguments.origins {
            let site = arguments.generated.site(origin);
            contents.push(prepared(site.content(), arguments, || Ok(site.paths().collect()))?);
        }
    }
    Ok(contents)
}

fn prepared(
    content: impl Content,
    arguments: &Arguments,
    paths: impl FnOnce() -> io::Result<Vec<String>>,
) -> io::Result<Box<dyn Content>> {
    if arguments.gzip { Ok(Box::new(CompressedContent::new(content, paths()?)?)) } else { Ok(Box::new(content)) }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    let counts = Arc::new(Counts::default());
    let mut sites = Vec::new();
    for (content, n) in contents(&arguments)?.into_iter().zip(1..) {
        let address = if arguments.hosts.is_some() { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::new(127, 0, 0, n) };
        let mut site = Site::builder().address((address, 0)).without_log();
        site = site.content(CountedContent::new(content, n, Arc::clone(&counts)));
        if arguments.gzip {
            site = site.gzip();
        }
        if arguments.tls {
            let authority = Authority::named("bench");
            site = site.tls(authority.acceptor(&address.to_string(), Flaw::SelfSigned, Version::Both));
        }
        sites.push(site.start().await?);
    }
    let mut out = io::stdout();
    for site in &sites {
        match arguments.hosts {
            None => writeln!(out, "{}", site.url())?,
            Some(hosts) => {
                for host in 1..=hosts {
                    let [_, a, b, c] = host.to_be_bytes();
                    writeln!(out, "http://{}:{}/", Ipv4Addr::new(127, a, b, c), site.address().port())?;
                }
            }
        }
    }
    out.flush()?;
    tokio::task::spawn_blocking(move || answer(&counts)).await?
}

/// Answers each line of the input with the counts since the last one, until the end.
fn answer(counts: &Counts) -> io::Result<()> {
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        line?;
        serde_json::to_writer(&mut out, &counts.take())?;
        writeln!(out)?;
        out.flush()?;
    }
    Ok(())
}
