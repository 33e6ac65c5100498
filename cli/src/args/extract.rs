//! `dragline extract`.

use std::path::PathBuf;

use clap::Args;
use dragline_domain::definition::{Key, RenderWhen};

use super::{Answer, NetworkArgs, key, values};

/// Show what a crawl makes of one page, and where each field comes from
#[derive(Debug, Args)]
#[command(
    long_about = "Show what a crawl makes of one page: its items, and each field of the definition's own types with the place where it was found, or the \
                  reason why it was not.\n\n\
                  Use it to write `items` of a definition (docs/reference/definition.md). A URL is requested once, if robots.txt allows it; a file is read as it is. Nothing is stored.",
    after_help = "\
Examples:
  dragline extract https://example.org/product/chair -f crawl.yaml
  dragline extract page.html -f crawl.yaml --url https://example.org/product/chair
  dragline extract https://example.org/product/chair --render auto  what scripts change, if it needs them
  dragline get https://example.org/product/chair > page.html       the page as a crawl stored it
  dragline extract page.html --json | jq .structured"
)]
pub(crate) struct ExtractArgs {
    /// The page: a URL, or a file with its body
    #[arg(value_name = "URL|FILE")]
    pub(crate) target: String,
    /// The definition whose types are wanted [default: none]
    #[arg(long, short = 'f', value_name = "crawl.yaml")]
    pub(crate) definition: Option<PathBuf>,
    /// The URL that the file came from: its links are relative to it, and conditions look at it
    /// [default: the definition's first seed]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    #[arg(long, value_name = "WORD", value_parser = values::render(), help = key::help(Key::RenderWhen))]
    pub(crate) render: Option<RenderWhen>,
    /// Print everything as one JSON object: title, text, content, fields, and the structured data
    /// as the page says it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
}

impl ExtractArgs {
    /// Returns the form of the answer.
    pub(crate) const fn answer(&self) -> Answer {
        Answer::from_flag(self.json)
    }
}
