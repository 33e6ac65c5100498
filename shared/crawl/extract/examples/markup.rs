//! Prints the structured data of saved pages, one JSON object a line, for `bench/quality` to
//! compare with the results of other readers.
//!
//! `cargo run --release --package dragline-extract --features extractors --example markup -- URL
//! FILE...`

use std::error::Error;
use std::io::{self, Write};
use std::{env, fs};

use dragline_extract::items::{items, markup};
use dragline_formats::charset;
use dragline_ports::system::cpu_time;
use url::Url;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let url = Url::parse(&arguments.next().ok_or("usage: markup URL FILE...")?)?;
    let mut out = io::stdout().lock();
    for file in arguments {
        let body = fs::read(&file)?;
        let began = cpu_time();
        let html = charset::decode(&body, None).text;
        let found = items(&html, &url);
        let ms = (cpu_time() - began).as_secs_f64() * 1_000.0;
        let markup = markup(&html, &url);
        let line = match found {
            Some(found) => {
                serde_json::json!({"file": file, "ms": ms, "markup": markup, "items": found.items, "is_cut": found.is_cut})
            }
            None => serde_json::json!({"file": file, "ms": ms}),
        };
        writeln!(out, "{line}")?;
    }
    Ok(())
}
