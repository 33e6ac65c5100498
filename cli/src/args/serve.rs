//! `dragline serve`, and the tokens of those who may call it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use dragline_service::Role;

use super::crawl::DiskArgs;
use super::mcp::AgentArgs;
use super::{NetworkArgs, NotifyArgs, SinkArgs, data_directory};
use crate::terminal::Form;

/// Run crawls by their schedules, with a page and an API
#[derive(Debug, Args)]
#[command(
    long_about = "Run crawls by their schedules, with a page and an API, until it is stopped.\n\n\
                  The page shows what runs and what is due. The API adds, starts and stops crawls, and returns what they stored: /openapi.json describes \
                  it. Agents have tools at /mcp (docs/reference/mcp.md). Killed at any moment, it goes on when it is started again; schedules that came due meanwhile start once.\n\n\
                  Everybody on this machine may call it, unless there are tokens (`dragline token`). On other addresses it listens only with tokens.",
    after_help = "\
Examples:
  dragline serve
  dragline serve --data /srv/crawls --listen 127.0.0.1:8080
  dragline serve --listen 0.0.0.0:7878 --host crawls.example.org
  dragline serve --listen 0.0.0.0:443 --tls-certificate site.pem --tls-key key.pem
  dragline serve --webhook https://example.org/hooks --webhook-secret env:HOOK_SECRET
  dragline serve --sink env:DATABASE_URL"
)]
pub(crate) struct ServeArgs {
    /// The directory where crawls are stored [default: `$DRAGLINE_DATA`, or dragline-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    pub(crate) listen: SocketAddr,
    /// A name by which the server is called, besides localhost and addresses
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// Speak HTTPS, with the certificates in this PEM file, the server's own first
    #[arg(long, value_name = "PEM", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The key of the certificate
    #[arg(long, value_name = "PEM", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// The form of what it says on standard error
    #[arg(long, value_name = "FORM", default_value = "text")]
    log: LogForm,
    #[command(flatten)]
    pub(crate) notify: NotifyArgs,
    #[command(flatten)]
    pub(crate) sink: SinkArgs,
    #[command(flatten)]
    pub(crate) disk: DiskArgs,
    #[command(flatten)]
    pub(crate) agents: AgentArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
}

impl ServeArgs {
    /// Returns the data directory.
    pub(crate) fn data(&self) -> &Path {
        data_directory(self.data.as_deref())
    }

    /// Returns the form of the output on standard error.
    pub(crate) const fn form(&self) -> Form {
        match self.log {
            LogForm::Text => Form::Text,
            LogForm::Json => Form::Json,
        }
    }
}

/// The form of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogForm {
    /// Lines for people
    Text,
    /// One JSON object a line, each with its time
    Json,
}

/// Add, list and remove the tokens of a server
#[derive(Debug, Args)]
#[command(
    long_about = "Add, list and remove the tokens with which people and programs call a server.\n\n\
                  A token is printed once, and only its hash is kept, in the data directory. A server that runs takes changes when it is started again.",
    after_help = "\
Examples:
  dragline token add ada --role editor
  dragline token list
  dragline token remove ben"
)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) action: TokenAction,
    /// The directory where crawls are stored [default: `$DRAGLINE_DATA`, or dragline-data]
    #[arg(long, value_name = "DIR", global = true)]
    data: Option<PathBuf>,
}

impl TokenArgs {
    /// Returns the data directory.
    pub(crate) fn data(&self) -> &Path {
        data_directory(self.data.as_deref())
    }
}

/// What is done with tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenAction {
    /// Make a token, and print it
    Add {
        /// Whose it is
        user: String,
        /// What its holder may do
        #[arg(long, value_enum, default_value = "reader")]
        role: RoleName,
    },
    /// List whose tokens there are, and their roles
    List,
    /// Remove the token of a user
    Remove {
        /// Whose it is
        user: String,
    },
}

/// A role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleName {
    /// Search
    Searcher,
    /// Read everything
    Reader,
    /// Add, change, start and stop crawls
    Editor,
    /// Remove crawls, too
    Owner,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Searcher => Self::Searcher,
            RoleName::Reader => Self::Reader,
            RoleName::Editor => Self::Editor,
            RoleName::Owner => Self::Owner,
        }
    }
}
