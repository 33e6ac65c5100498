//! Errors of a deployed stack, with hints about what to do.

use std::path::PathBuf;

use dragline_aws::StackError;
use dragline_definition::DefinitionErrors;
use dragline_domain::ids::CrawlId;
use dragline_ports::error::PortError;
use dragline_publish::SiteError;

use crate::args::StackName;
use crate::crawl_handle::aws_hint;
use crate::error::Failure;

/// Why a request to a stack failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum DeployedError {
    /// The stack was not found.
    #[error("{0}")]
    Stack(#[from] StackError),
    /// The stack has no such crawl.
    #[error("there is no crawl `{crawl}` in the stack `{stack}`")]
    NoCrawl { crawl: CrawlId, stack: StackName },
    /// The crawl's derived data cannot be published.
    #[error("publishing again: {0}")]
    Publishing(#[from] SiteError),
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

impl From<DeployedError> for Failure {
    fn from(error: DeployedError) -> Self {
        use DeployedError::{Ambiguous, Message, NoCrawl, Port, Publishing, Stack};
        let failure = Self::from_error(&error);
        match &error {
            Stack(StackError::Port(error)) | Publishing(SiteError::Port(error)) | Port(error) => {
                failure.with_hints(aws_hint(error.kind))
            }
            Stack(error) => failure.with_hints(error.hint()),
            NoCrawl { stack, .. } => failure.with_hint(format!(
                "store its definition: `dragline put crawl.yaml{}`, or name another stack",
                stack.flag()
            )),
            Ambiguous(_) => failure.with_hint("put quotation marks around text that looks like a number"),
            Publishing(_) => failure.with_hint("the documents are made; the same command publishes them"),
            Message(_) => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::ids::Iteration;
    use dragline_ports::error::PortErrorKind;

    use super::*;
    use crate::crawl_handle::no_iteration_error;
    use crate::location::CrawlLocation;

    #[test]
    fn every_mistake_is_reported_with_a_hint() {
        let crawl = || "docs".parse::<CrawlId>().unwrap();
        let stack = || "staging".parse::<StackName>().unwrap();
        let number = |number| Iteration::new(number).unwrap();
        let port = |kind| PortError::new(kind, "load crawl", "docs", "GetItem: no answer");
        let place = CrawlLocation::Stack(stack());
        let failures: [Failure; 14] = [
            StackName::from_variable("a b").unwrap_err(),
            DeployedError::from(StackError::NoRegion).into(),
            DeployedError::from(StackError::NoCredentials("no providers in chain provided credentials".to_owned()))
                .into(),
            DeployedError::from(StackError::NoStack { name: "staging".to_owned(), region: "eu-central-1".to_owned() })
                .into(),
            DeployedError::from(StackError::Untagged {
                name: "staging".to_owned(),
                what: "bucket",
                tag: "dragline:archive",
            })
            .into(),
            "Docs".parse::<CrawlId>().unwrap_err().into(),
            stack().which_crawl_error(),
            stack().put_first_error(),
            DeployedError::NoCrawl { crawl: crawl(), stack: stack() }.into(),
            place.not_begun_error(&crawl()),
            no_iteration_error(&crawl(), number(9), number(2)),
            DeployedError::Ambiguous("crawl.yaml".into()).into(),
            DeployedError::from(port(PortErrorKind::Unavailable)).into(),
            DeployedError::from(port(PortErrorKind::Other)).into(),
        ];
        insta::assert_snapshot!(failures.map(|failure| failure.shown()).join("\n\n"));
    }
}
