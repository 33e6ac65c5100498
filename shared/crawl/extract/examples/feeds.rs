//! Prints the contents of saved feeds, one JSON object a line, for `bench/quality` to compare with
//! the results of other readers.
//!
//! `cargo run --release --package dragline-extract --features extractors --example feeds -- URL
//! FILE...`

use std::error::Error;
use std::io::{self, Write};
use std::{env, fs};

use dragline_extract::feed;
use dragline_ports::system::cpu_time;
use url::Url;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let url = Url::parse(&arguments.next().ok_or("usage: feeds URL FILE...")?)?;
    let mut out = io::stdout().lock();
    for file in arguments {
        let body = fs::read(&file)?;
        let began = cpu_time();
        let read = feed::read(&body, None, Some(&url));
        let ms = (cpu_time() - began).as_secs_f64() * 1_000.0;
        writeln!(out, "{}", serde_json::json!({"file": file, "ms": ms, "feed": read.map(|read| read.feed)}))?;
    }
    Ok(())
}
