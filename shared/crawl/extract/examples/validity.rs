//! Prints the flaws of saved bodies, for checking by hand.
//!
//! `cargo run --release --package dragline-extract --features extractors --example validity --
//! CONTENT-TYPE FILE...`

use std::error::Error;
use std::io::{self, Write};
use std::{env, fs};

use dragline_domain::content::ContentLevel;
use dragline_domain::definition::Noindex;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_extract::typed::Types;
use dragline_extract::{MainRules, Settings, Source, validity};
use dragline_formats::http_fields::Headers;
use dragline_ports::system::cpu_time;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let content_type = arguments.next().ok_or("usage: validity CONTENT-TYPE FILE...")?;
    let url_rules = UrlRules::default();
    let url = CrawlUrl::parse("https://example.org/", &url_rules)?;
    let headers = Headers::from_iter([("content-type", content_type.as_str())]);
    let settings = Settings {
        product_token: "",
        url_rules: &url_rules,
        decoded_bytes_max: u64::MAX,
        noindex: Noindex::Obey,
        content: ContentLevel::Text,
        types: Types::NONE,
        main: MainRules::NONE,
    };
    let mut out = io::stdout().lock();
    for file in arguments {
        let body = fs::read(&file)?;
        let began = cpu_time();
        let found = validity(&Source { url: &url, headers: &headers, body: &body }, &settings);
        let ms = (cpu_time() - began).as_secs_f64() * 1_000.0;
        let Some(found) = found else { continue };
        let (kind, flaws, more, bytes) = (found.kind, found.flaws.len(), found.flaws_more, body.len());
        writeln!(out, "{file}: {kind}, {bytes} bytes, {flaws}+{more} flaws, {ms:.2} ms")?;
        for flaw in found.flaws {
            writeln!(out, "  {flaw}")?;
        }
    }
    Ok(())
}
