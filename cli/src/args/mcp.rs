//! `dragline mcp`, and what agents may do.

use std::path::{Path, PathBuf};

use clap::Args;
use dragline_service::{AllowedHost, CrawlAllowance, Crawling};

use super::{NetworkArgs, data_directory};

/// Give agents tools over standard input and output (MCP)
#[derive(Debug, Args)]
#[command(
    long_about = "Give agents tools to read crawls by the Model Context Protocol, over standard input and output (docs/reference/mcp.md). \
                  A program with a language model starts it; it ends with its input.\n\n\
                  The tools list crawls, search and read pages, find passages, links and items, compare iterations, and say why a URL is or is not crawled. \
                  They call the server that runs over the data directory, or read the directory if none does. They only read, unless --allow-host \
                  names hosts that agents may crawl.\n\n\
                  `dragline serve` has the same tools at /mcp.",
    after_help = "\
Examples:
  dragline mcp
  dragline mcp --data /srv/crawls
  dragline mcp --allow-host example.org --allow-host www.example.org --pages-max 200
  claude mcp add dragline -- dragline mcp --data /srv/crawls"
)]
pub(crate) struct McpArgs {
    /// The directory where crawls are stored [default: `$DRAGLINE_DATA`, or dragline-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) agents: AgentArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
}

impl McpArgs {
    /// Returns the data directory.
    pub(crate) fn data(&self) -> &Path {
        data_directory(self.data.as_deref())
    }
}

/// Which crawls agents may begin.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Agents")]
pub(crate) struct AgentArgs {
    /// Let agents crawl this host, but not hosts below it; may be repeated [default: agents only
    /// read]
    #[arg(long = "allow-host", value_name = "HOST")]
    allowed_hosts: Vec<AllowedHost>,
    /// The most pages that an iteration may have for agents to begin it
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 100,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000_000),
        requires = "allowed_hosts"
    )]
    pages_max: u64,
}

impl AgentArgs {
    /// Returns which crawls agents may begin.
    pub(crate) fn crawling(&self) -> Crawling {
        if self.allowed_hosts.is_empty() {
            return Crawling::Refused;
        }
        Crawling::Allowed(CrawlAllowance { hosts: self.allowed_hosts.clone(), pages_max: self.pages_max })
    }
}
