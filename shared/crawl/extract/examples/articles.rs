//! Prints the main part of saved pages, one JSON object a line, for `bench/quality` to compare with
//! reference texts.
//!
//! `cargo run --release --package dragline-extract --features extractors --example articles -- URL
//! FILE...`

use std::error::Error;
use std::io::{self, Write};
use std::{env, fs};

use dragline_domain::content::ContentLevel;
use dragline_domain::definition::Noindex;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_extract::typed::Types;
use dragline_extract::{Extent, MainRules, Settings, Source, article};
use dragline_formats::http_fields::Headers;
use dragline_ports::system::cpu_time;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let url_rules = UrlRules::default();
    let url = CrawlUrl::parse(&arguments.next().ok_or("usage: articles URL FILE...")?, &url_rules)?;
    let headers = Headers::from_iter([("content-type", "text/html")]);
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
        let found = article(&Source { url: &url, headers: &headers, body: &body }, &settings, Extent::Main);
        let ms = (cpu_time() - began).as_secs_f64() * 1_000.0;
        let line = match found {
            Ok(article) => serde_json::json!({"file": file, "ms": ms, "article": article}),
            Err(why) => serde_json::json!({"file": file, "ms": ms, "why": why.to_string()}),
        };
        writeln!(out, "{line}")?;
    }
    Ok(())
}
