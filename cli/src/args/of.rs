//! Which crawl a reading command is about.

use clap::Args;
#[cfg(feature = "stack")]
use dragline_domain::ids::CrawlId;

use super::DataArgs;
#[cfg(feature = "stack")]
use super::StackArgs;
#[cfg(feature = "stack")]
use crate::stack::DeployedError;

/// Which crawl is meant: the one in a data directory, or where a name is given, one of a deployed stack.
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
    /// The crawl of a deployed stack that is meant, and which stack's; absent if it is the one in the data directory.
    ///
    /// # Errors
    /// A stack is named, and no crawl.
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
    /// A crawl of a deployed stack, by its name. Left out: the one in the data directory
    #[arg(value_name = "CRAWL", conflicts_with = "data")]
    crawl: Option<CrawlId>,
    #[command(flatten)]
    stack: StackArgs,
}
