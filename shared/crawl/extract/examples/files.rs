//! Prints the text of files other than pages, one JSON object a line, for `bench/quality` to
//! compare with the output of another program.
//!
//! `cargo run --release --package dragline-extract --features extractors --example files --
//! MEDIA_TYPE FILE...`

use std::error::Error;
use std::io::{self, Write};
use std::{env, fs};

use dragline_domain::content::ContentLevel;
use dragline_domain::definition::Noindex;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_extract::typed::Types;
use dragline_extract::{MainRules, Settings, Source, extract};
use dragline_formats::http_fields::Headers;
use dragline_ports::system::cpu_time;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let media_type = arguments.next().ok_or("usage: files MEDIA_TYPE FILE...")?;
    let url_rules = UrlRules::default();
    let url = CrawlUrl::parse("https://example.org/", &url_rules)?;
    let headers = Headers::from_iter([("content-type", media_type.as_str())]);
    let settings = Settings {
        product_token: "",
        url_rules: &url_rules,
        decoded_bytes_max: u64::MAX,
        noindex: Noindex::Obey,
        content: ContentLevel::Full,
        types: Types::NONE,
        main: MainRules::NONE,
    };
    let mut out = io::stdout().lock();
    for file in arguments {
        let body = fs::read(&file)?;
        let began = cpu_time();
        let read = extract(&Source { url: &url, headers: &headers, body: &body }, &settings);
        let ms = (cpu_time() - began).as_secs_f64() * 1_000.0;
        let content = read.map_or_else(|unread| unread.content, |page| page.content);
        let content = content.unwrap_or_default();
        let text = content.main.as_ref().map(|main| main.text.as_str());
        writeln!(out, "{}", serde_json::json!({"file": file, "ms": ms, "text": text, "gaps": content.gaps}))?;
    }
    Ok(())
}
