//! What can go wrong, and what to do about it.

use std::io;
use std::path::PathBuf;

use dragline_definition::DefinitionErrors;
use dragline_domain::definition::{Key, Problems};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::shown::without_credentials;
use dragline_domain::url::UrlError;
use dragline_http::HttpConfigError;
use dragline_local::{Allowance, OpenError};
use dragline_ports::error::{PortError, PortErrorKind};

use crate::args::{allowance_flag, command_to_go_on};
use crate::source::key_names;
#[cfg(feature = "stack")]
use crate::stack::DeployedError;

/// Why a command cannot be done. [`std::fmt::Display`] says it in a line or, for definitions, in as many as there are mistakes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// An argument is not a URL that can be crawled.
    #[error("`{}` cannot be crawled: {source}", without_credentials(text))]
    Url {
        /// The argument. What may be a password in it is not shown.
        text: String,
        /// Why.
        source: UrlError,
    },
    /// A definition stands among other arguments.
    #[error("`{0}` is a definition, and other arguments stand beside it")]
    DefinitionAmongUrls(String),
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A definition's file has mistakes.
    #[error("{0}")]
    Definition(#[from] DefinitionErrors),
    /// The arguments make no sound definition.
    #[error("{0}")]
    Problems(#[from] Problems),
    /// The certificates of `--ca-file` cannot be used.
    #[error("{}: {source}", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: HttpConfigError,
    },
    /// The HTTP client cannot be set up.
    #[error("{0}")]
    Http(#[from] HttpConfigError),
    /// The data directory cannot be opened.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// There is neither a URL nor a crawl that could be gone on with.
    #[error("nothing to crawl: no URL is given, and {} holds no crawl", data.display())]
    NothingToCrawl {
        /// The data directory.
        data: PathBuf,
    },
    /// Nothing was crawled yet that could be shown.
    #[error("{} holds a crawl that did not begin yet", data.display())]
    NotBegun {
        /// The data directory.
        data: PathBuf,
    },
    /// An iteration was asked for that there was not.
    #[error("{} holds no iteration {wanted}; the latest is {}", data.display(), latest.map_or_else(|| "none".to_owned(), |latest| latest.to_string()))]
    NoIteration {
        /// The data directory.
        data: PathBuf,
        /// What was asked for.
        wanted: Iteration,
        /// What there is; absent before the first one began.
        latest: Option<Iteration>,
    },
    /// The data directory is another crawl's.
    #[error("{} holds the crawl `{stored}`, not `{wanted}`", data.display())]
    AnotherCrawl {
        /// The data directory.
        data: PathBuf,
        /// Whose it is.
        stored: CrawlId,
        /// What was asked for.
        wanted: CrawlId,
    },
    /// The definition changed in a way that an unfinished iteration cannot take.
    #[error("the definition changed ({}), but its last iteration is not finished", key_names(keys))]
    Outgrown {
        /// What changed.
        keys: Vec<Key>,
        /// The command that goes on with the iteration.
        go_on: String,
    },
    /// The crawl was allowed something before, and is not now.
    #[error("the crawl in {} was allowed to {}, and is not now", data.display(), what_is_allowed(*allowance))]
    AllowedBefore {
        /// The data directory.
        data: PathBuf,
        /// What.
        allowance: Allowance,
        /// The command that goes on with it, but for the flag.
        go_on: String,
    },
    /// The data could not be read for showing.
    #[error("{} cannot be read: cannot read the database: {}", data.display(), source.source)]
    Query {
        /// The data directory.
        data: PathBuf,
        /// Why.
        source: PortError,
    },
    /// A store did not do its work.
    #[error("{0}")]
    Port(#[from] PortError),
    /// A deployed stack was asked in vain.
    #[cfg(feature = "stack")]
    #[error("{0}")]
    Deployed(#[from] DeployedError),
    /// Something that the system should do was not done.
    #[error("{doing}: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
}

impl CliError {
    /// What to do about it, most likely first. Empty where the message says it all.
    pub(crate) fn hints(&self) -> Vec<String> {
        match self {
            Self::DefinitionAmongUrls(_) => vec!["put the URLs into its `seeds`, or leave it out".to_owned()],
            Self::Problems(problems) => problems.iter().filter_map(|problem| problem.mistake.hint()).collect(),
            Self::NothingToCrawl { .. } => vec!["name where to begin: `dragline crawl https://example.org`".to_owned()],
            Self::NotBegun { data } => vec![format!("begin it: `{}`", command_to_go_on(data))],
            Self::AnotherCrawl { data, .. } => vec![
                "name another directory with `--data DIR`: each crawl has its own".to_owned(),
                format!("to go on with what is there: `{}`", command_to_go_on(data)),
            ],
            Self::Outgrown { go_on, .. } => vec![
                format!("finish it as it was defined: `{go_on}`"),
                "or end it with what is done and begin the next one: add `--abandon`".to_owned(),
            ],
            Self::AllowedBefore { allowance, go_on, .. } => {
                vec![format!("allow it again: `{go_on} {}`", allowance_flag(*allowance))]
            }
            Self::Open(error) => error.hint().map(str::to_owned).into_iter().collect(),
            #[cfg(feature = "stack")]
            Self::Deployed(error) => error.hint().into_iter().collect(),
            Self::Port(error) if error.kind == PortErrorKind::Full => {
                vec!["everything stored so far is safe: make room, and the same command goes on".to_owned()]
            }
            Self::Port(error) if error.kind == PortErrorKind::Unavailable => {
                vec!["another program may be writing to the database: end it, and the same command goes on".to_owned()]
            }
            _ => Vec::new(),
        }
    }
}

const fn what_is_allowed(allowance: Allowance) -> &'static str {
    match allowance {
        Allowance::PrivateAddresses => "talk to private addresses",
        Allowance::UncheckedCertificates => "talk to servers without checking their certificates",
    }
}

/// What is done with a failure of the system.
pub(crate) fn while_doing(doing: &'static str) -> impl FnOnce(io::Error) -> CliError {
    move |source| CliError::System { doing, source }
}

#[cfg(test)]
mod tests;
