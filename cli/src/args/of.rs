//! The arguments by which `status` and `export` choose a crawl.

use clap::Args;
#[cfg(feature = "stack")]
use dragline_domain::ids::CrawlId;

use super::DataArgs;
#[cfg(feature = "stack")]
use super::StackArgs;
#[cfg(feature = "stack")]
use crate::stack::DeployedError;

/// The crawl to read: the one in a data directory or, if a name is given, one of a deployed stack.
#[derive(Debug, Args)]
pub(crate) struct OfArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[cfg(feature = "stack")]
    #[command(flatten)]
    deployed: DeployedArgs,
}

#[cfg(feature = "stack")]
impl OfArgs {
    /// Returns the deployed crawl to read and its stack; `None` for the crawl in the data directory.
    ///
    /// # Errors
    /// A stack is named, but no crawl.
    pub(crate) fn deployed(&self) -> Result<Option<(&CrawlId, &StackArgs)>, DeployedError> {
        let DeployedArgs { crawl, stack } = &self.deployed;
        match crawl {
            Some(crawl) => Ok(Some((crawl, stack))),
            None => stack.given().map_or(Ok(None), |stack| Err(DeployedError::WhichCrawl(stack.clone()))),
        }
    }
}

/// A crawl of a deployed stack.
#[cfg(feature = "stack")]
#[derive(Debug, Args)]
#[group(skip)]
struct DeployedArgs {
    /// The name of a deployed crawl [default: the crawl in the data directory]
    #[arg(value_name = "CRAWL", conflicts_with = "data")]
    crawl: Option<CrawlId>,
    #[command(flatten)]
    stack: StackArgs,
}
