//! `dragline search`, `similar` and `words`: queries to the word index.

use std::num::NonZeroU32;

use clap::{Args, ValueEnum};
use dragline_search::{PER_PAGE_MAX, Part, Request, Typos};

use super::graph::ListArgs;
use super::visits::VisitedArgs;

/// Search the pages of a crawl
#[derive(Debug, Args)]
#[command(
    long_about = "Search the pages of a site as it is now (docs/reference/search.md). A page has to have all the words, in any of their forms.\n\n\
                  \"a phrase\"        words that follow one another\n\
                  -word             not this word; also before phrases, fields and parentheses\n\
                  one OR other      either; (parentheses) group\n\
                  begin*            words that begin like this\n\
                  title: heading: text: around: anchor: url:\n\
                  \u{20}                 in this part of a page alone; `anchor` is what links to it say, `around` what is around its main part\n\
                  site:example.org  on this host, or one in this domain\n\
                  lang:en           in this language\n\
                  type:Product      with items of this type\n\
                  after:2026-05     of this day, month or year, or a later one; before: an earlier one\n\n\
                  A word that no page has is replaced by one that differs in one letter, which is said. The first search after a crawl brings the \
                  word index up to date, which takes a while for a large site.",
    after_help = "\
Examples:
  dragline search 'install windows'
  dragline search '\"garbage collector\" title:gc -java site:docs.example.org'
  dragline search 'release notes after:2026' --page 2
  dragline search 'price type:Product' --json | jq -r '.results[].url'
  dragline search -- -draft"
)]
pub(crate) struct SearchArgs {
    /// What to search for; several arguments are searched for together
    #[arg(required = true)]
    query: Vec<String>,
    #[command(flatten)]
    pub(crate) of: VisitedArgs,
    /// Which page of the results to show
    #[arg(long, value_name = "N", default_value_t = NonZeroU32::MIN)]
    page: NonZeroU32,
    /// How many results a page has
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=i64::from(PER_PAGE_MAX)))]
    per_page: u32,
    /// Search for the words as they are written, even if no page has them
    #[arg(long)]
    exact: bool,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show pages that are like another one
#[derive(Debug, Args)]
#[command(
    long_about = "Show pages that are like another one: that have the words which are frequent in it and rare elsewhere. Copies and near copies of a page \
                  are shown by `dragline duplicates`.",
    after_help = "\
Examples:
  dragline similar https://example.org/news/
  dragline similar https://example.org/news/ --count 3 --json | jq -r '.results[].url'"
)]
pub(crate) struct SimilarArgs {
    /// The URL of the page
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) of: VisitedArgs,
    /// How many pages to show
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=i64::from(PER_PAGE_MAX)))]
    pub(crate) count: u32,
    /// Print them as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show the words of a crawl's pages, and where they are
#[derive(Debug, Args)]
#[command(
    long_about = "Show the lexicon of a crawl: each word with the number of pages that have it and of its occurrences. Stop words are left out, and the forms \
                  of a word are one.\n\n\
                  Given a word, show the pages that have it: with their day, how many pages link to them, and where the word is, counted in words from 0.",
    after_help = "\
Examples:
  dragline words                                  the words that most pages have
  dragline words install                          the pages that have it
  dragline words --in title --format csv > words.csv
  dragline words --beginning inst --all"
)]
pub(crate) struct WordsArgs {
    /// The word; all words without one
    pub(crate) word: Option<String>,
    #[command(flatten)]
    pub(crate) of: VisitedArgs,
    /// The part of the pages whose words are shown
    #[arg(long = "in", value_name = "PART", default_value = "text")]
    part: PartName,
    /// Show words that begin like this alone
    #[arg(long, value_name = "TEXT", conflicts_with = "word")]
    pub(crate) beginning: Option<String>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// A part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PartName {
    /// The title
    Title,
    /// The headings
    Heading,
    /// The text
    Text,
    /// The text around the main part of a page
    Around,
    /// What links to it say
    Anchor,
    /// The URL
    Url,
}

impl SearchArgs {
    /// Returns what to search for.
    pub(crate) fn request(&self) -> Request {
        Request {
            query: self.query.join(" "),
            page: self.page,
            per_page: self.per_page,
            typos: if self.exact { Typos::Keep } else { Typos::Correct },
        }
    }
}

impl WordsArgs {
    /// Returns the part of pages whose words to show.
    pub(crate) const fn part(&self) -> Part {
        match self.part {
            PartName::Title => Part::Title,
            PartName::Heading => Part::Heading,
            PartName::Text => Part::Text,
            PartName::Around => Part::Around,
            PartName::Anchor => Part::Anchor,
            PartName::Url => Part::Url,
        }
    }
}
