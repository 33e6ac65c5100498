//! What can go wrong with a deployed stack, and what to do about it.

use std::path::PathBuf;

use dragline_aws::StackError;
use dragline_definition::DefinitionErrors;
use dragline_domain::ids::{CrawlId, CrawlIdError, Iteration};
use dragline_ports::error::{PortError, PortErrorKind};

use crate::args::{StackName, StackNameError};

/// Why a stack cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeployedError {
    /// The environment names no stack.
    #[error("DRAGLINE_STACK: {0}")]
    Variable(StackNameError),
    /// The stack was not found.
    #[error("{0}")]
    Stack(#[from] StackError),
    /// An argument is neither a crawl nor a URL.
    #[error("{0}")]
    Name(#[from] CrawlIdError),
    /// A stack is named where the crawl in a data directory is meant.
    #[error("which crawl of the stack `{0}`?")]
    WhichCrawl(StackName),
    /// The stack does not know the crawl.
    #[error("the stack `{stack}` has no crawl `{crawl}`")]
    NoCrawl {
        /// The crawl.
        crawl: CrawlId,
        /// The stack.
        stack: StackName,
    },
    /// Nothing was crawled yet that could be shown.
    #[error("the crawl `{crawl}` did not begin yet")]
    NotBegun {
        /// The crawl.
        crawl: CrawlId,
        /// The stack.
        stack: StackName,
    },
    /// An iteration was asked for that there was not.
    #[error("the crawl `{crawl}` has no iteration {wanted}; the latest is {latest}")]
    NoIteration {
        /// The crawl.
        crawl: CrawlId,
        /// What was asked for.
        wanted: Iteration,
        /// What there is.
        latest: Iteration,
    },
    /// A definition cannot be sent.
    #[error("the definition cannot be sent: {0}")]
    Message(DefinitionErrors),
    /// A definition has a value that would be understood as another one.
    #[error("{} cannot be sent: as JSON, one of its values would be another", .0.display())]
    Ambiguous(PathBuf),
    /// AWS did not answer, or refused.
    #[error("{0}")]
    Port(#[from] PortError),
}

impl DeployedError {
    /// What to do about it; absent where the message says it all.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Stack(StackError::Port(error)) | Self::Port(error) => of_port(error.kind).map(str::to_owned),
            Self::Stack(error) => error.hint().map(str::to_owned),
            Self::WhichCrawl(stack) => Some(format!("name it, such as `dragline status docs --stack {stack}`")),
            Self::NoCrawl { stack, .. } => {
                Some(format!("define it: `dragline put crawl.yaml{}`, or name another stack", stack.flag()))
            }
            Self::NotBegun { crawl, stack } => Some(format!("begin it: `dragline start {crawl}{}`", stack.flag())),
            Self::Ambiguous(_) => Some("put quotation marks around texts that look like numbers".to_owned()),
            Self::Variable(_) | Self::Name(_) | Self::NoIteration { .. } | Self::Message(_) => None,
        }
    }
}

const fn of_port(kind: PortErrorKind) -> Option<&'static str> {
    match kind {
        PortErrorKind::Unavailable => Some("look at the network, AWS_REGION and AWS_ENDPOINT_URL, and try again"),
        PortErrorKind::Other => Some("docs/commands.md says which permissions the commands need"),
        PortErrorKind::Full | PortErrorKind::Corrupt | PortErrorKind::TooLarge => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_is_told_with_what_to_do() {
        let crawl = || "docs".parse::<CrawlId>().unwrap();
        let stack = || "staging".parse::<StackName>().unwrap();
        let number = |number| Iteration::new(number).unwrap();
        let port = |kind| PortError::new(kind, "load crawl", "docs", "GetItem: no answer");
        let errors = [
            DeployedError::Variable("a b".parse::<StackName>().unwrap_err()),
            StackError::NoRegion.into(),
            StackError::NoCredentials("no providers in chain provided credentials".to_owned()).into(),
            StackError::NoStack { name: "staging".to_owned(), region: "eu-central-1".to_owned() }.into(),
            StackError::Untagged { name: "staging".to_owned(), what: "bucket", tag: "dragline:archive" }.into(),
            "Docs".parse::<CrawlId>().unwrap_err().into(),
            DeployedError::WhichCrawl(stack()),
            DeployedError::NoCrawl { crawl: crawl(), stack: stack() },
            DeployedError::NotBegun { crawl: crawl(), stack: stack() },
            DeployedError::NoIteration { crawl: crawl(), wanted: number(9), latest: number(2) },
            DeployedError::Ambiguous("crawl.yaml".into()),
            port(PortErrorKind::Unavailable).into(),
            port(PortErrorKind::Other).into(),
        ];
        let shown = errors.map(|error| match error.hint() {
            Some(hint) => format!("error: {error}\nhint: {hint}"),
            None => format!("error: {error}"),
        });
        insta::assert_snapshot!(shown.join("\n\n"));
    }
}
