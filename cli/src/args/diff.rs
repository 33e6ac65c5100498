//! `dragline diff`: compares two iterations.

use clap::{Args, ValueEnum};
use dragline_domain::ids::Iteration;
use dragline_report::diff::Which;

use super::read::{CrawlSourceArgs, Format};
use super::values;

/// Show what differs between two iterations of a crawl
#[derive(Debug, Args)]
#[command(
    long_about = "Show what differs between two iterations of a crawl: pages that are new, changed, moved, gone or back, their items, or their links.\n\n\
                  Each URL is listed once, however many iterations are between the two: what came and went again is left out. If the later iteration is not over, this shows what it found so far.",
    after_help = "\
Examples:
  dragline diff
  dragline diff --from 3
  dragline diff --from 1 --to 3 --format csv > changes.csv
  dragline diff --what items
  dragline diff --what links --format jsonl | jq -r 'select(.change == \"added\") | .to_url'
  dragline diff --exit-code > changes.txt || mail -s 'the site changed' me@example.org < changes.txt"
)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) of: CrawlSourceArgs,
    /// The earlier iteration, counted from 1 [default: the one before the later]
    #[arg(long, value_name = "N", value_parser = values::iteration())]
    pub(crate) from: Option<Iteration>,
    /// The later iteration [default: the latest that is over]
    #[arg(long, value_name = "M", value_parser = values::iteration())]
    pub(crate) to: Option<Iteration>,
    /// What to compare
    #[arg(long, default_value = "pages")]
    pub(crate) what: DiffSubject,
    /// The format of the list
    #[arg(long, default_value = "text")]
    format: ListFormat,
    /// The same as `--format jsonl`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Also list pages that were visited and did not change
    #[arg(long)]
    all: bool,
    /// Exit with code 5 if something differs
    #[arg(long)]
    exit_code: bool,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffSubject {
    /// Pages, and other URLs that are shown
    Pages,
    /// Items, field by field, with what each said and says
    Items,
    /// Links: of a new page all are added, of one that is gone all are removed
    Links,
}

/// The format of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    /// Lines for people, with the totals at the end
    Text,
    /// One JSON object per line
    Jsonl,
    /// Comma-separated values with a header line (RFC 4180)
    Csv,
    /// An RSS feed of pages, for readers of news
    Rss,
}

/// The form of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListForm {
    /// Lines for people.
    Text,
    /// Rows for programs.
    Rows(Format),
    /// A feed.
    Rss,
}

/// Whether the exit code depends on differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitRule {
    /// Whether something differs.
    WhetherDifferent,
    /// Only whether the command did its work.
    WhetherDone,
}

impl DiffArgs {
    /// Returns the form of the list.
    pub(crate) const fn form(&self) -> ListForm {
        match self.format {
            ListFormat::Text if self.json => ListForm::Rows(Format::Jsonl),
            ListFormat::Text => ListForm::Text,
            ListFormat::Jsonl => ListForm::Rows(Format::Jsonl),
            ListFormat::Csv => ListForm::Rows(Format::Csv),
            ListFormat::Rss => ListForm::Rss,
        }
    }

    /// Returns which pages to list.
    pub(crate) const fn which(&self) -> Which {
        if self.all { Which::Visited } else { Which::Changed }
    }

    /// Returns whether the exit code depends on differences.
    pub(crate) const fn exit_says(&self) -> ExitRule {
        if self.exit_code { ExitRule::WhetherDifferent } else { ExitRule::WhetherDone }
    }
}
