//! Errors of a deployed stack, with hints about what to do.

use std::path::PathBuf;

use dragline_aws::StackError;
use dragline_definition::DefinitionErrors;
use dragline_domain::ids::{CrawlId, CrawlIdError, Iteration};
use dragline_ports::error::{PortError, PortErrorKind};
use dragline_publish::SiteError;

use crate::args::{StackName, StackNameError};

/// Why a request to a stack failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeployedError {
    /// The environment variable is not a valid stack name.
    #[error("DRAGLINE_STACK: {0}")]
    Variable(StackNameError),
    /// The stack was not found.
    #[error("{0}")]
    Stack(#[from] StackError),
    /// An argument is neither a crawl nor a URL.
    #[error("{0}")]
    Name(#[from] CrawlIdError),
    /// URLs on demand were requested without any URL.
    #[error("no URL is named")]
    NoUrls,
    /// A stack is named without a crawl.
    #[error("no crawl of the stack `{0}` is named")]
    WhichCrawl(StackName),
    /// A definition is given that the stack does not have.
    #[error("the definition is not stored in the stack `{0}`")]
    PutFirst(StackName),
    /// The stack has no such crawl.
    #[error("there is no crawl `{crawl}` in the stack `{stack}`")]
    NoCrawl { crawl: CrawlId, stack: StackName },
    /// The crawl's derived data cannot be published.
    #[error("publishing again: {0}")]
    Publishing(#[from] SiteError),
    /// The crawl has not begun, so there is nothing to show.
    #[error("the crawl `{crawl}` has not begun yet")]
    NotBegun { crawl: CrawlId, stack: StackName },
    /// The iteration does not exist.
    #[error("the crawl `{crawl}` has no iteration {wanted}; the latest is {latest}")]
    NoIteration {
        crawl: CrawlId,
        /// The requested iteration.
        wanted: Iteration,
        latest: Iteration,
    },
    /// A definition cannot be sent.
    #[error("the definition cannot be sent: {0}")]
    Message(DefinitionErrors),
    /// A definition has a value that changes when it is converted to JSON.
    #[error("{} cannot be sent: one of its values would change when converted to JSON", .0.display())]
    Ambiguous(PathBuf),
    /// AWS did not answer, or refused.
    #[error("{0}")]
    Port(#[from] PortError),
}

impl DeployedError {
    /// Returns a hint on how to fix it; `None` if the message is enough.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Stack(StackError::Port(error)) | Self::Publishing(SiteError::Port(error)) | Self::Port(error) => {
                port_hint(error.kind).map(str::to_owned)
            }
            Self::Stack(error) => error.hint().map(str::to_owned),
            Self::PutFirst(stack) => {
                Some(format!("store it: `dragline put crawl.yaml{0}`, then `dragline reparse CRAWL{0}`", stack.flag()))
            }
            Self::NoUrls => Some("name one, or a file of them with `--input`".to_owned()),
            Self::WhichCrawl(stack) => Some(format!("name the crawl, as in `--crawl docs --stack {stack}`")),
            Self::NoCrawl { stack, .. } => {
                Some(format!("store its definition: `dragline put crawl.yaml{}`, or name another stack", stack.flag()))
            }
            Self::NotBegun { crawl, stack } => Some(format!("start it: `dragline start {crawl}{}`", stack.flag())),
            Self::Ambiguous(_) => Some("put quotation marks around text that looks like a number".to_owned()),
            Self::Publishing(_) => Some("the documents are made; the same command publishes them".to_owned()),
            Self::Variable(_) | Self::Name(_) | Self::NoIteration { .. } | Self::Message(_) => None,
        }
    }
}

const fn port_hint(kind: PortErrorKind) -> Option<&'static str> {
    match kind {
        PortErrorKind::Unavailable => Some("check the network, AWS_REGION and AWS_ENDPOINT_URL, and try again"),
        PortErrorKind::Refused => Some("check the permissions that docs/commands.md lists"),
        PortErrorKind::Full | PortErrorKind::Corrupt | PortErrorKind::TooLarge | PortErrorKind::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_is_reported_with_a_hint() {
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
            DeployedError::PutFirst(stack()),
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
