//! Errors of the command, with hints about what to do.

mod ending;

use std::io;
use std::path::{Path, PathBuf};

use dragline_definition::DefinitionErrors;
use dragline_domain::definition::{Key, Problems};
use dragline_domain::frontier::DemandTooLong;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::shown::without_credentials;
use dragline_domain::url::{CrawlUrl, UrlError};
use dragline_graph::GraphError;
use dragline_http::HttpConfigError;
use dragline_local::{Allowance, OpenError};
use dragline_ports::error::{PortError, PortErrorKind};
use dragline_report::diff::SpanError;
use dragline_search::SearchError;
use jiff::Timestamp;

use crate::archive::ArchiveCommandError;
use crate::args::{allowance_flag, crawl_flag, data_flag};
use crate::definition_source::key_names;
use crate::export::ExportError;
use crate::extract::ExtractError;
use crate::get::GetError;
use crate::import::ImportCommandError;
use crate::location::{CrawlLocation, Directory};
use crate::schema::SchemaError;
use crate::search::SearchRequestError;
use crate::site_report::ReportCommandError;
#[cfg(feature = "stack")]
use crate::stack::DeployedError;

pub(crate) use ending::WRITING;

/// Why a command failed. [`std::fmt::Display`] gives one line or, for definitions, one line per
/// mistake.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// An argument is not a URL that can be crawled.
    #[error("`{}` cannot be crawled: {source}", without_credentials(text))]
    Url {
        /// Credentials in it are not shown.
        text: String,
        source: UrlError,
    },
    /// A definition was given together with other arguments.
    #[error("`{0}` is a definition, which cannot be combined with other arguments")]
    DefinitionAmongUrls(String),
    /// An argument is not a definition, but has to be.
    #[error("`{0}` is not the file of a definition")]
    NotADefinition(String),
    /// A demand is too long.
    #[error("{0}")]
    Demand(#[from] DemandTooLong),
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// A definition's file has mistakes.
    #[error("{0}")]
    Definition(#[from] DefinitionErrors),
    /// The definition that results from the arguments is not valid.
    #[error("{0}")]
    Problems(#[from] Problems),
    /// The certificates of `--ca-file` cannot be used.
    #[error("{}: {source}", path.display())]
    CaFile { path: PathBuf, source: HttpConfigError },
    /// The HTTP client cannot be set up.
    #[error("{0}")]
    Http(#[from] HttpConfigError),
    /// The data directory cannot be opened.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// There is neither a URL nor a stored crawl to resume.
    #[error("nothing to crawl: no URL was given, and there is no crawl in {}", data.display())]
    NothingToCrawl { data: PathBuf },
    /// A list of URLs has no valid one.
    #[error("nothing to crawl: no line is a URL: {}{}", lines.join("; "), more_lines(*more))]
    NoUrls {
        /// The first lines, with the place and error of each.
        lines: Vec<String>,
        /// The number of further lines.
        more: u64,
    },
    /// The crawl has not begun, so there is nothing to show.
    #[error("the crawl {}in {} has not begun yet", quoted(.0.crawl.as_ref()), .0.path.display())]
    NotBegun(Directory),
    /// The definition never had this version.
    #[error("the definition of `{crawl}` has no version {wanted}; the newest is {newest}")]
    NoVersion {
        crawl: CrawlId,
        /// The requested version.
        wanted: u32,
        newest: u32,
    },
    /// The iteration does not exist.
    #[error("the crawl `{crawl}` has no iteration {wanted}; the latest is {latest}")]
    NoIteration {
        crawl: CrawlId,
        /// The requested iteration.
        wanted: Iteration,
        latest: Iteration,
    },
    /// Documents cannot be rebuilt while a crawl is unfinished, as finishing it makes requests.
    #[error("iteration {iteration} of the crawl `{crawl}` is not finished")]
    UnfinishedCrawl {
        crawl: CrawlId,
        iteration: Iteration,
        /// The command that resumes it.
        go_on: String,
    },
    /// Archives were not imported, or not all of them.
    #[error("{0}")]
    Import(#[from] ImportCommandError),
    /// The iteration was pruned, so a list of it would be incomplete.
    #[error("the crawl `{crawl}`: iteration {iteration} was pruned on {}; what later ones refer to is kept", at.strftime("%Y-%m-%d"))]
    Pruned {
        crawl: CrawlId,
        iteration: Iteration,
        /// When it was pruned.
        at: Timestamp,
    },
    /// An iteration of the crawl is not over, so its URLs cannot be forgotten, nor the documents of
    /// earlier iterations rebuilt.
    #[error("the last iteration of `{crawl}` is not over")]
    NotOver {
        /// Where the crawl is.
        place: CrawlLocation,
        crawl: CrawlId,
    },
    /// An iteration began while URLs were forgotten.
    #[error("an iteration of `{0}` began while its URLs were forgotten, so it may have visited them")]
    BegunMeanwhile(CrawlId),
    /// URLs were forgotten while derived data was built, which may contain them.
    #[error("URLs of `{0}` were forgotten meanwhile, so what was made may have them, and is not kept")]
    ForgottenMeanwhile(CrawlId),
    /// Another process is rebuilding the documents of the crawl.
    #[error("somebody else makes the documents of `{0}` again since, by another definition, condition or program")]
    RemadeElsewhere(CrawlId),
    /// The iterations cannot be compared.
    #[error("the crawl `{crawl}`: {source}")]
    NotCompared { crawl: CrawlId, source: SpanError },
    /// The data directory holds several crawls, and none is named.
    #[error("{} holds several crawls: {}", data.display(), names(crawls))]
    WhichCrawl { data: PathBuf, crawls: Vec<CrawlId> },
    /// The data directory holds crawls, but not this one.
    #[error("there is no crawl `{wanted}` in {}", data.display())]
    NoCrawl {
        data: PathBuf,
        /// The requested crawl.
        wanted: CrawlId,
        crawls: Vec<CrawlId>,
    },
    /// The crawl does not know the URL.
    #[error("the crawl `{crawl}` does not know {url}")]
    NotKnown {
        url: CrawlUrl,
        crawl: CrawlId,
        /// The arguments of `export` that name the crawl.
        arguments: String,
    },
    /// The crawl knows the URL, but there is no visit of it.
    #[error("the crawl `{crawl}` knows {url}, but has not visited it yet")]
    NotVisited { url: CrawlUrl, crawl: CrawlId },
    /// The stored body of a URL cannot be printed.
    #[error("{0}")]
    Get(#[from] GetError),
    /// A page cannot be extracted.
    #[error("{0}")]
    Extract(#[from] ExtractError),
    /// The Markdown directory cannot be written.
    #[error("the Markdown in {} cannot be written: {source}", directory.display())]
    Markdown { directory: PathBuf, source: io::Error },
    /// Rows cannot be exported as requested.
    #[error("{0}")]
    Export(#[from] ExportError),
    /// `dragline schema` cannot answer.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The link graph cannot be built or read.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A feed was requested of links; feeds only list pages.
    #[error("an RSS feed is of pages: leave out `--what links`")]
    FeedOfLinks,
    /// The archive cannot be written.
    #[error("{0}")]
    Archive(#[from] ArchiveCommandError),
    /// The word index cannot be built or searched.
    #[error("{0}")]
    Index(#[from] SearchError),
    /// A query to the word index is not valid.
    #[error("{0}")]
    Search(#[from] SearchRequestError),
    /// The report cannot be written.
    #[error("{0}")]
    Report(#[from] ReportCommandError),
    /// The definition changed in a way that an unfinished iteration cannot adopt.
    #[error("the definition changed ({}), but its last iteration is not finished", key_names(keys))]
    Outgrown {
        /// The keys that changed.
        keys: Vec<Key>,
        /// The command that resumes the iteration.
        go_on: String,
    },
    /// The crawl was allowed something in its last run, and is not allowed it now.
    #[error("the crawl {}in {} was allowed to {} before, but is not now", quoted(directory.crawl.as_ref()), directory.path.display(), what_is_allowed(*allowance))]
    AllowedBefore {
        /// Where the crawl is.
        directory: Directory,
        /// The missing allowance.
        allowance: Allowance,
        /// The command that resumes it, without the flag.
        go_on: String,
    },
    /// The data directory cannot be read.
    #[error("{} cannot be read: cannot read the database: {}", data.display(), source.source)]
    Query { data: PathBuf, source: PortError },
    /// A port failed.
    #[error("{0}")]
    Port(#[from] PortError),
    /// A request to a deployed stack failed.
    #[cfg(feature = "stack")]
    #[error("{0}")]
    Deployed(#[from] DeployedError),
    /// The operating system reported an error.
    #[error("{doing}: {source}")]
    System {
        /// The failed action.
        doing: &'static str,
        source: io::Error,
    },
}

/// Describes the number of lines that are not shown.
fn more_lines(more: u64) -> String {
    if more > 0 { format!("; and {} more", crate::terminal::count(more)) } else { String::new() }
}

impl CliError {
    /// Returns hints on how to fix it, the most likely first. Empty if the message is enough.
    pub(crate) fn hints(&self) -> Vec<String> {
        match self {
            Self::NotADefinition(_) => vec!["give a crawl.yaml, or nothing for the stored definition".to_owned()],
            Self::DefinitionAmongUrls(_) => vec!["add the URLs to its `seeds`, or leave it out".to_owned()],
            Self::Problems(problems) => problems.iter().filter_map(|problem| problem.mistake.hint()).collect(),
            Self::NoUrls { .. } => vec!["write one URL a line, with `https://` or `http://`".to_owned()],
            Self::NothingToCrawl { .. } => {
                vec!["give a URL to start from: `dragline crawl https://example.org`".to_owned()]
            }
            Self::UnfinishedCrawl { go_on, .. } => {
                vec![format!("finish it first: `{go_on}`, with the same network options as before")]
            }
            Self::Import(error) => error.hints(),
            Self::NotOver { place: CrawlLocation::Data(directory), .. } => {
                vec![format!("finish it first: `{}`", directory.command_to_resume())]
            }
            #[cfg(feature = "stack")]
            Self::NotOver { place: CrawlLocation::Stack(stack), crawl } => {
                vec![format!("wait until it is, or stop it: `dragline stop {crawl}{}`", stack.flag())]
            }
            Self::BegunMeanwhile(_) => vec!["run the same command again when that iteration is over".to_owned()],
            Self::ForgottenMeanwhile(_) => vec!["run the same command again".to_owned()],
            Self::RemadeElsewhere(_) => vec!["the same command begins anew, and stops the other".to_owned()],
            Self::NotBegun(directory) => vec![format!("start it: `{}`", directory.command_to_resume())],
            Self::WhichCrawl { data, crawls } => {
                let example = crawls.first().map_or_else(String::new, crawl_flag);
                let status = format!("dragline status{}", data_flag(data));
                vec![format!("name one, as in `{}`; `{status}` lists them", example.trim_start())]
            }
            Self::NotCompared { source: SpanError::NotBefore { .. }, .. } => {
                vec!["give the earlier one as `--from`, and the later one as `--to`".to_owned()]
            }
            Self::Get(error) => error.hint().into_iter().collect(),
            Self::Export(error) => error.hint().into_iter().collect(),
            Self::Extract(error) => error.hint().into_iter().collect(),
            Self::Schema(error) => vec![error.hint()],
            Self::Report(error) => error.hints(),
            Self::Graph(GraphError::File { path, .. }) => {
                vec![format!("you can delete it, and it will be rebuilt; {} must be writable", folder_of(path))]
            }
            Self::Index(SearchError::Index { folder, .. }) => {
                vec![format!("you can delete it, and it will be rebuilt; {} must be writable", folder_of(folder))]
            }
            Self::Index(SearchError::Busy { .. }) => vec!["try again when it is done".to_owned()],
            Self::Search(error) => error.hints(),
            Self::Archive(error) => error.hint().into_iter().collect(),
            Self::NotKnown { arguments, .. } => {
                vec![format!("to list the URLs that it knows: `dragline export --what candidates{arguments}`")]
            }
            Self::NoCrawl { crawls, .. } => vec![format!("it holds {}", names(crawls))],
            Self::Outgrown { go_on, .. } => vec![
                format!("finish it as it was defined: `{go_on}`"),
                "or end it as it stands and begin the next one: add `--abandon`".to_owned(),
            ],
            Self::AllowedBefore { allowance, go_on, .. } => {
                vec![format!("allow it again: `{go_on} {}`", allowance_flag(*allowance))]
            }
            Self::Open(error) => error.hint().map(str::to_owned).into_iter().collect(),
            #[cfg(feature = "stack")]
            Self::Deployed(error) => error.hint().into_iter().collect(),
            Self::Port(error) if error.kind == PortErrorKind::Full => {
                vec![
                    "free some disk space and run the same command again to resume; everything stored so far is safe"
                        .to_owned(),
                ]
            }
            Self::Port(error) if error.kind == PortErrorKind::Unavailable => {
                vec![
                    "close any other program that is writing to the database, and run the same command again to resume"
                        .to_owned(),
                ]
            }
            Self::Port(error) if error.kind == PortErrorKind::Refused => {
                vec![
                    "check the disk and who may write to the data directory, and run the same command again to resume"
                        .to_owned(),
                ]
            }
            _ => Vec::new(),
        }
    }
}

/// Returns the folder of a file, for messages.
fn folder_of(path: &Path) -> String {
    path.parent().unwrap_or(path).display().to_string()
}

/// The maximum number of crawls in a message.
const NAMED_MAX: usize = 10;

/// Lists crawls for a message.
fn names(crawls: &[CrawlId]) -> String {
    let named: Vec<_> = crawls.iter().take(NAMED_MAX).map(|crawl| format!("`{crawl}`")).collect();
    let more = match crawls.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    named.join(", ") + &more
}

/// Returns a crawl's name as a prefix; empty if the crawl need not be named.
fn quoted(crawl: Option<&CrawlId>) -> String {
    crawl.map_or_else(String::new, |crawl| format!("`{crawl}` "))
}

const fn what_is_allowed(allowance: Allowance) -> &'static str {
    match allowance {
        Allowance::PrivateAddresses => "connect to private addresses",
        Allowance::UncheckedCertificates => "connect to servers without checking their certificates",
    }
}

/// Returns a function that turns an I/O error into a [`CliError::System`].
pub(crate) fn while_doing(doing: &'static str) -> impl FnOnce(io::Error) -> CliError {
    move |source| CliError::System { doing, source }
}

#[cfg(test)]
mod tests;
