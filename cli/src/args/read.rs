//! `dragline status` and `dragline export`, and the choice of the crawl to read.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dragline_domain::ids::{CrawlId, Iteration};

use super::{Answer, DatabaseArgs, data_directory, values};
#[cfg(feature = "stack")]
use super::{StackArgs, StackName};
use crate::error::Failure;
use crate::export::Formulas;
use crate::location::DataDirectory;

/// Show a crawl's progress and results
#[derive(Debug, Args)]
#[command(
    long_about = "Show a crawl's progress and results. This works while the crawl is running.\n\n\
                  If the data directory holds several crawls, this lists them; --crawl shows one of them.",
    after_help = "\
Examples:
  dragline status
  dragline status --crawl docs
  dragline status --iteration 1
  dragline status --data example-data --json"
)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) of: CrawlSourceArgs,
    /// The iteration to show, counted from 1 [default: the latest]
    #[arg(long, value_name = "N", value_parser = values::iteration())]
    pub(crate) iteration: Option<Iteration>,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

impl StatusArgs {
    /// Returns the form of the answer.
    pub(crate) const fn answer(&self) -> Answer {
        Answer::from_flag(self.json)
    }
}

/// Write pages, links, items, feeds, the log or the known URLs to standard output
#[derive(Debug, Args)]
#[command(
    long_about = "Write pages, links, items, feeds, the log or the known URLs to standard output, row by row. This works while a crawl is running.\n\n\
                  In CSV, text that a spreadsheet would run as a formula is prefixed with `'`: `-P` becomes `'-P`. Programs that read CSV want --raw, \
                  which leaves it out. JSON lines are not changed. \
                  On a terminal, control characters are escaped; in files and pipes they are kept.\n\n\
                  With --to, everything is written to tables of a PostgreSQL database, or to Parquet files in a directory, instead. Run it again to write \
                  what is new: it goes on where it stopped, and removes what is gone.",
    after_help = "\
Examples:
  dragline export --what pages > pages.jsonl
  dragline export --what pages --format csv --columns url,title > titles.csv
  dragline export --what log --format parquet > log.parquet
  dragline export --what links --format csv --iteration 2 > links.csv
  dragline export --what links --format graphml > links.graphml
  dragline export --what items --type Product --format csv > products.csv
  dragline export --what feeds --format parquet > feeds.parquet
  dragline export --what log | jq -r 'select(.outcome_name == \"file_not_found\") | .url'
  dragline export --to postgres://me@localhost/results
  dragline export --to env:DATABASE_URL --schema shop --reader analyst
  dragline export --to /srv/lake"
)]
pub(crate) struct ExportArgs {
    /// Which rows to write
    #[arg(long, required_unless_present = "to")]
    pub(crate) what: Option<RowKind>,
    /// The type of the items, such as Product [default: all]
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) item_type: Option<String>,
    /// The format of the rows
    #[arg(long, default_value = "jsonl")]
    pub(crate) format: ExportFormat,
    /// In CSV, write texts as they are: spreadsheets run those that begin with `=`, `+`, `-` or `@`
    /// as formulas
    #[arg(long)]
    raw: bool,
    /// The columns to write, in this order, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) of: CrawlSourceArgs,
    /// The iteration to read, counted from 1 [default: pages and links as they are now, the log of
    /// the latest]
    #[arg(long, value_name = "N", value_parser = values::iteration())]
    pub(crate) iteration: Option<Iteration>,
}

impl ExportArgs {
    /// Returns how to treat formulas in CSV.
    pub(crate) const fn formulas(&self) -> Formulas {
        if self.raw { Formulas::Kept } else { Formulas::Disarmed }
    }
}

/// The rows to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowKind {
    /// One row per page of the site as it is now: title, text, when it was checked and changed, and
    /// where its body is stored; with `--iteration`, one row per answer that the iteration got,
    /// with the title and text of that time
    Pages,
    /// One row per link of those pages
    Links,
    /// One row per visit, and per URL that was not visited, with the outcome
    Log,
    /// One row per known URL, with its state for the next crawl; covers all iterations
    Candidates,
    /// One row per item of those pages: a product, an article, or a type of the definition;
    /// `--type` names one
    Items,
    /// One row per passage of the main parts of those pages, cut along their headings, for programs
    /// that search by meaning or ask language models
    Chunks,
    /// One row per feed of the site, RSS or Atom, and one per entry of it
    Feeds,
    /// One JSON object per document of those pages, with all that was made of it
    /// (docs/reference/documents.md)
    Documents,
}

impl RowKind {
    /// Returns the name of a row, as file contents use it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pages => "page",
            Self::Links => "link",
            Self::Log => "visit",
            Self::Candidates => "candidate",
            Self::Items => "item",
            Self::Chunks => "chunk",
            Self::Feeds => "feed",
            Self::Documents => "document",
        }
    }
}

/// The format of exported rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One JSON object per line
    Jsonl,
    /// Comma-separated values with a header line (RFC 4180)
    Csv,
}

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object per line
    Jsonl,
    /// Comma-separated values with a header line (RFC 4180)
    Csv,
    /// A Parquet file
    Parquet,
    /// A graph of links in GraphML, for Gephi, igraph or NetworkX
    Graphml,
    /// A graph of links in the language of Graphviz
    Dot,
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jsonl => "JSON lines",
            Self::Csv => "CSV",
            Self::Parquet => "Parquet",
            Self::Graphml => "GraphML",
            Self::Dot => "DOT",
        })
    }
}

/// Which crawl to read.
#[derive(Debug)]
pub(crate) enum CrawlSource<'a> {
    /// One in a data directory.
    Directory {
        /// The directory.
        data: DataDirectory<'a>,
        /// The crawl's name; `None` if it was not given.
        crawl: Option<&'a CrawlId>,
    },
    /// One of a deployed stack.
    #[cfg(feature = "stack")]
    Stack {
        /// The crawl's name.
        crawl: &'a CrawlId,
        /// The stack.
        stack: StackName,
    },
}

/// The crawl to read: one in a data directory or, if a name is given without a flag, one of a
/// deployed stack.
#[derive(Debug, Args)]
pub(crate) struct CrawlSourceArgs {
    #[command(flatten)]
    stored: StoredArgs,
    #[cfg(feature = "stack")]
    #[command(flatten)]
    deployed: DeployedArgs,
}

impl CrawlSourceArgs {
    /// Returns the crawl to read.
    ///
    /// # Errors
    /// A stack is named without a crawl, or the environment variable is not a valid stack name.
    #[cfg_attr(not(feature = "stack"), expect(clippy::unnecessary_wraps, reason = "only a stack may be named wrongly"))]
    pub(crate) fn which(&self) -> Result<CrawlSource<'_>, Failure> {
        #[cfg(feature = "stack")]
        {
            let DeployedArgs { crawl, stack } = &self.deployed;
            match (crawl.as_ref(), stack.stack_name()) {
                (Some(crawl), _) => return Ok(CrawlSource::Stack { crawl, stack: stack.name()? }),
                (None, Some(stack)) => return self.stored.crawl_in_stack(stack),
                (None, None) => {}
            }
        }
        Ok(self.stored.crawl_in_directory())
    }
}

/// A crawl in a data directory.
#[derive(Debug, Args)]
pub(super) struct StoredArgs {
    /// The directory where crawls are stored [default: `$DRAGLINE_DATA`, or dragline-data]
    #[arg(long, value_name = "DIR")]
    #[cfg_attr(feature = "stack", arg(conflicts_with = "stack"))]
    data: Option<PathBuf>,
    /// The crawl, if there are several
    #[arg(long = "crawl", id = "name", value_name = "NAME")]
    crawl: Option<CrawlId>,
    /// Keep link graphs and word indexes in this directory [default: beside the data or, if nothing
    /// can be written there, in `$XDG_CACHE_HOME/dragline`]
    #[arg(long, value_name = "DIR")]
    #[cfg_attr(feature = "stack", arg(conflicts_with = "stack"))]
    cache: Option<PathBuf>,
}

impl StoredArgs {
    /// Returns whether an option names the crawl or its directory.
    pub(super) const fn is_named(&self) -> bool {
        self.data.is_some() || self.crawl.is_some()
    }

    /// Returns the crawl in the directory.
    pub(super) fn crawl_in_directory(&self) -> CrawlSource<'_> {
        let path = data_directory(self.data.as_deref());
        let data = DataDirectory { path, cache: self.cache.as_deref() };
        CrawlSource::Directory { data, crawl: self.crawl.as_ref() }
    }

    /// Returns the crawl of this stack.
    ///
    /// # Errors
    /// No crawl is named.
    #[cfg(feature = "stack")]
    pub(super) fn crawl_in_stack(&self, stack: &StackName) -> Result<CrawlSource<'_>, Failure> {
        match &self.crawl {
            Some(crawl) => Ok(CrawlSource::Stack { crawl, stack: stack.clone() }),
            None => Err(stack.which_crawl_error()),
        }
    }
}

/// A crawl of a deployed stack.
#[cfg(feature = "stack")]
#[derive(Debug, Args)]
#[group(skip)]
struct DeployedArgs {
    /// The name of a deployed crawl [default: the crawl in the data directory]
    #[arg(value_name = "CRAWL", conflicts_with_all = ["data", "name", "cache"])]
    crawl: Option<CrawlId>,
    #[command(flatten)]
    stack: StackArgs,
}
