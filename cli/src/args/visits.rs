//! `dragline history` and `dragline get`: the stored visits of one URL.

use clap::{Args, ValueEnum};
use dragline_domain::ids::Iteration;
use dragline_extract::Extent;
use dragline_service::stored::{Coding, DECODED_BYTES_MAX};

#[cfg(feature = "stack")]
use super::StackName;
use super::read::{CrawlSource, Format, StoredArgs};
use super::{NetworkArgs, values};
use crate::error::Failure;

/// Show every visit of a URL, over all iterations
#[derive(Debug, Args)]
#[command(
    long_about = "Show every visit of a URL, over all iterations, the oldest first. This works while a crawl is running.\n\n\
                  Each has its iteration, time, outcome, status, body size and detail, whether the outcome was final for the iteration, and where \
                  the WARC record with the answer is: the object, the offset in it and the length, in bytes. A URL that was found, but not requested, \
                  is listed with the reason.",
    after_help = "\
Examples:
  dragline history https://example.org/news/
  dragline history https://example.org/news/ --crawl docs
  dragline history https://example.org/news/ --format csv > visits.csv"
)]
pub(crate) struct HistoryArgs {
    /// The URL, as the crawl knows it
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) of: VisitedArgs,
    /// The format of the visits [default: a table]
    #[arg(long)]
    format: Option<Format>,
    /// The same as `--format jsonl`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl HistoryArgs {
    /// Returns the format of the visits; `None` for a table.
    pub(crate) fn format(&self) -> Option<Format> {
        if self.json { Some(Format::Jsonl) } else { self.format }
    }
}

/// The crawl that visited a URL: one in a data directory or, if a stack is named, one of that.
#[derive(Debug, Args)]
pub(crate) struct VisitedArgs {
    #[command(flatten)]
    stored: StoredArgs,
    /// A crawl of this deployed stack, which `--crawl` names
    #[cfg(feature = "stack")]
    #[arg(long, value_name = "NAME", help_heading = "Deployed stack")]
    stack: Option<StackName>,
}

impl VisitedArgs {
    /// Returns whether an option names the crawl or where it is.
    const fn is_named(&self) -> bool {
        #[cfg(feature = "stack")]
        if self.stack.is_some() {
            return true;
        }
        self.stored.is_named()
    }

    /// Returns the crawl to read.
    ///
    /// # Errors
    /// A stack is named without a crawl.
    #[cfg_attr(not(feature = "stack"), expect(clippy::unnecessary_wraps, reason = "only a stack may lack a crawl"))]
    pub(crate) fn which(&self) -> Result<CrawlSource<'_>, Failure> {
        #[cfg(feature = "stack")]
        if let Some(stack) = &self.stack {
            return self.stored.crawl_in_stack(stack);
        }
        Ok(self.stored.crawl_in_directory())
    }
}

/// Print a page: as it is stored or, where no crawl has it, as the site answers now
#[derive(Debug, Args)]
#[command(
    long_about = "Print the body of a URL as it is stored: that of the newest visit that was answered, or of the newest in an iteration. \
                  This works while a crawl is running.\n\n\
                  Where no data directory knows the URL, or with --live, the site is asked for it, politely and if its robots.txt allows that, and \
                  nothing is kept.\n\n\
                  The content coding, such as gzip, is undone, as browsers do. If the visit found the body unchanged, the earlier answer with the \
                  same body is printed. The WARC record is checked against its digests; a damaged one is refused. On a terminal, control characters \
                  are escaped, and a body that is not text is not printed.",
    after_help = "\
Examples:
  dragline get https://example.org/news/
  dragline get https://example.org/news/ --iteration 1 > old.html
  dragline get https://example.org/news/ --headers
  dragline get https://example.org/logo.svg > logo.svg
  dragline get https://example.org/news/ --as markdown
  dragline get https://example.org/news/ --as markdown --live       as it is now
  dragline get https://example.org/ https://example.org/news/ --as json > pages.jsonl"
)]
pub(crate) struct GetArgs {
    /// The URL; several are printed as JSON, one object a line
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,
    #[command(flatten)]
    pub(crate) of: VisitedArgs,
    /// Ask the site now, whatever is stored, and keep nothing
    #[arg(long, conflicts_with_all = ["iteration", "name"])]
    #[cfg_attr(feature = "stack", arg(conflicts_with = "stack"))]
    pub(crate) live: bool,
    /// The iteration whose body to print, counted from 1 [default: the latest with an answer]
    #[arg(long, value_name = "N", value_parser = values::iteration())]
    pub(crate) iteration: Option<Iteration>,
    #[command(flatten)]
    received: ReceivedArgs,
    /// Write the picture of a page that was rendered (`render.screenshot`), as PNG
    #[arg(long, conflicts_with_all = ["headers", "raw", "served", "form", "live"])]
    pub(crate) screenshot: bool,
    /// Print the main part of a page, without navigation and the like, or the text of a file, such
    /// as a PDF: as text, as Markdown, or as JSON with what the page says about itself; or the
    /// whole page as HTML
    #[arg(long = "as", value_name = "FORM", value_enum, conflicts_with_all = ["headers", "raw"])]
    pub(crate) form: Option<ArticleForm>,
    /// With `--as`: print all of the page, with navigation and the like
    #[arg(long, requires = "form")]
    whole: bool,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
}

/// How an answer is printed as it was received.
#[derive(Debug, Args)]
struct ReceivedArgs {
    /// Print the status line and the header fields of the answer first, then an empty line
    #[arg(long)]
    headers: bool,
    /// Print the body as it was received, in its content coding
    #[arg(long)]
    raw: bool,
    /// Print what the server sent of a page that was rendered, instead of what scripts made of it
    #[arg(long)]
    served: bool,
}

/// In which form the main part of a page, or the text of a file, is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArticleForm {
    /// Its text alone.
    Text,
    /// With headings, lists, tables, links and pictures.
    Markdown,
    /// The whole page as it is written, in UTF-8.
    Html,
    /// One object with both, title, author, dates and the like.
    Json,
}

/// Which parts of an answer are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    /// The body alone.
    Body,
    /// The status line, the header fields, an empty line, and the body.
    All,
}

impl GetArgs {
    /// Returns whether a stored page is wanted, even if there is none: an option names it.
    pub(crate) const fn is_stored(&self) -> bool {
        self.iteration.is_some() || self.of.is_named()
    }

    /// Returns whether what the server sent is wanted, of a page that was rendered, too.
    pub(crate) const fn is_as_served(&self) -> bool {
        let ReceivedArgs { headers, raw, served } = self.received;
        headers || raw || served
    }

    /// Returns which parts to print.
    pub(crate) const fn parts(&self) -> Parts {
        if self.received.headers { Parts::All } else { Parts::Body }
    }

    /// Returns how much of a page to print.
    pub(crate) const fn extent(&self) -> Extent {
        if self.whole { Extent::Whole } else { Extent::Main }
    }

    /// Returns whether to undo the body's content coding.
    pub(crate) const fn coding(&self) -> Coding {
        // The search for the main part undoes the coding itself.
        if self.received.raw || matches!(self.form, Some(ArticleForm::Text | ArticleForm::Markdown | ArticleForm::Json))
        {
            Coding::Kept
        } else {
            Coding::Undone(DECODED_BYTES_MAX)
        }
    }
}
