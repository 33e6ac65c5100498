//! `dragline links`, `broken`, `chains`, `orphans` and `duplicates`: queries to the link graph.

use clap::{Args, ValueEnum};
use dragline_graph::Unchecked;

use super::read::{CrawlSourceArgs, Format};
use super::visits::VisitedArgs;
use crate::exit::Exit;

/// Show what links to a URL, and what it links to
#[derive(Debug, Args)]
#[command(
    long_about = "Show what links to a URL of the site as it is now, and what it links to (docs/reference/links.md).\n\n\
                  Links to what redirects to the URL are among those that link to it. The first of these commands after a crawl makes the link graph, \
                  which takes a while for a large site; later ones read it.",
    after_help = "\
Examples:
  dragline links https://example.org/news/
  dragline links https://example.org/news/ --ways in --format csv > backlinks.csv
  dragline links https://example.org/news/ --crawl docs --all"
)]
pub(crate) struct LinksArgs {
    /// The URL; it need not be one that was crawled
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) of: VisitedArgs,
    /// Which links to show
    #[arg(long, default_value = "both")]
    pub(crate) ways: LinkDirections,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// Which links of a URL are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinkDirections {
    /// Those that lead to it
    In,
    /// Those that it has
    Out,
    /// All
    Both,
}

/// How a list is shown.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Show all rows, however many there are [default: the first of each kind]
    #[arg(long)]
    pub(crate) all: bool,
    /// The format of the rows, of which there are all [default: text for people]
    #[arg(long)]
    format: Option<Format>,
    /// The same as `--format jsonl`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl ListArgs {
    /// Returns the format of the rows; `None` for text.
    pub(crate) fn format(&self) -> Option<Format> {
        if self.json { Some(Format::Jsonl) } else { self.format }
    }
}

/// How a list of what should not be is shown, and what the exit code says.
#[derive(Debug, Args)]
pub(crate) struct FindingsArgs {
    #[command(flatten)]
    pub(crate) list: ListArgs,
    /// Exit with code 5 if there are any, and with 1 if there are none yet and the crawl is not
    /// over
    #[arg(long)]
    exit_code: bool,
}

impl FindingsArgs {
    /// Returns the exit code for an answer that has entries or not, and does not cover `unchecked`.
    pub(crate) const fn exit(&self, any: bool, unchecked: &Unchecked) -> Exit {
        if any && self.exit_code {
            Exit::Findings
        } else if unchecked.may_change() && self.exit_code {
            Exit::NotAllWell
        } else {
            Exit::Done
        }
    }
}

/// Show broken links, and the pages that have them
#[derive(Debug, Args)]
#[command(
    long_about = "Show URLs that are linked to and give whoever follows the link nothing: they are missing, fail, or redirect to what does; \
                  with the pages that link to them. URLs out of scope were not visited, so nothing is known of them. Pictures, styles and scripts \
                  are checked only if the crawl fetches them (`--requisites fetch`), and a crawl that is not over may find more: both are said.",
    after_help = "\
Examples:
  dragline broken
  dragline broken --all
  dragline broken --format csv > broken.csv
  dragline broken --exit-code > broken.txt || mail -s 'broken links' me@example.org < broken.txt"
)]
pub(crate) struct BrokenArgs {
    #[command(flatten)]
    pub(crate) of: CrawlSourceArgs,
    #[command(flatten)]
    pub(crate) findings: FindingsArgs,
}

/// Show redirects that follow one another, and loops
#[derive(Debug, Args)]
#[command(
    long_about = "Show redirects that lead to other redirects, in loops, or to what is broken, step by step, with how many pages link to the first.",
    after_help = "\
Examples:
  dragline chains
  dragline chains --hops 1        also single redirects, with how many pages link to them
  dragline chains --format jsonl | jq -r 'select(.ends == \"loops\") | .url'"
)]
pub(crate) struct ChainsArgs {
    #[command(flatten)]
    pub(crate) of: CrawlSourceArgs,
    /// The fewest redirects in a row; loops are always shown
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) hops: u32,
    #[command(flatten)]
    pub(crate) findings: FindingsArgs,
}

/// Show pages that no other page links to
#[derive(Debug, Args)]
#[command(
    long_about = "Show pages that no other page of the crawl links to, and that no crawl starts from: they were linked to earlier, or were asked for by name.",
    after_help = "\
Examples:
  dragline orphans
  dragline orphans --format csv > orphans.csv"
)]
pub(crate) struct OrphansArgs {
    #[command(flatten)]
    pub(crate) of: CrawlSourceArgs,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// Show URLs with the same contents
#[derive(Debug, Args)]
#[command(
    long_about = "Show URLs with the same body, pages with the same text, and pages whose texts are nearly the same: groups of them, each with the first by \
                  URL and what the others call canonical.\n\n\
                  Texts are nearly the same if their fingerprints (simhash, 64 bits) differ in up to three bits. Texts of fewer than 20 words are not \
                  compared that way.",
    after_help = "\
Examples:
  dragline duplicates
  dragline duplicates --format jsonl | jq -r 'select(.of_what == \"near\") | .url'"
)]
pub(crate) struct DuplicatesArgs {
    #[command(flatten)]
    pub(crate) of: CrawlSourceArgs,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}
