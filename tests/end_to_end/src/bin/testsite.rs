//! Serves a site on loopback, for trying the crawler by hand or measuring it.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser};
use dragline_testkit::site::{GeneratedSite, Site};

/// Serves a site on 127.0.0.1 until Ctrl-C
#[derive(Debug, Parser)]
struct Arguments {
    #[command(flatten)]
    content: Content,
    /// The port to listen on; 0 for any free port
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// How long to wait before each answer, in milliseconds
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// Compress text for clients that accept gzip
    #[arg(long)]
    gzip: bool,
    /// A file to serve as robots.txt
    #[arg(long)]
    robots: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Content {
    /// Serve the files of this directory
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Generate a site of this many pages of 20 KB with 50 links each
    #[arg(long, value_name = "PAGES", value_parser = clap::value_parser!(u32).range(1..))]
    generate: Option<u32>,
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let Arguments { content, port, delay_ms, gzip, robots } = Arguments::parse();
    let mut site =
        Site::builder().address((Ipv4Addr::LOCALHOST, port)).delay(Duration::from_millis(delay_ms)).without_log();
    if let Some(directory) = content.dir {
        site = site.directory(directory);
    }
    if let Some(pages) = content.generate {
        site = site.generated(GeneratedSite::benchmark(pages));
    }
    if let Some(file) = robots {
        site = site.robots(std::fs::read(file)?);
    }
    if gzip {
        site = site.gzip();
    }
    let site = site.start().await?;
    writeln!(io::stdout(), "{}", site.url())?;
    tokio::signal::ctrl_c().await
}
