//! The command line: arguments and help texts.

mod access;
mod archive;
mod cdx;
mod crawl;
mod database;
mod definition;
mod demand;
mod diff;
mod explain;
mod extract;
mod forget;
mod graph;
mod help;
mod identity;
mod import;
mod init;
mod key;
mod manual;
mod mcp;
mod notify;
mod overrule;
mod prune;
mod read;
mod reparse;
mod report;
mod run;
mod schedule;
mod schema;
mod search;
mod serve;
mod sink;
#[cfg(feature = "stack")]
mod stack;
mod values;
mod visits;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::{ArgAction, Args, Parser, Subcommand};
use dragline_domain::address::AddressPolicy;
use dragline_domain::definition::{Draft, Key, UserAgent};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::CrawlUrl;
use dragline_http::CertificatePolicy;
use dragline_local::Allowance;

pub(crate) use access::AccessArgs;
pub(crate) use archive::ArchiveArgs;
pub(crate) use cdx::CdxArgs;
pub(crate) use crawl::{CrawlArgs, OutputArgs};
pub(crate) use database::DatabaseArgs;
pub(crate) use definition::DefinitionArgs;
pub(crate) use demand::DemandArgs;
pub(crate) use diff::{DiffArgs, DiffSubject, ExitRule, ListForm};
pub(crate) use explain::ExplainArgs;
pub(crate) use extract::ExtractArgs;
pub(crate) use forget::ForgetArgs;
pub(crate) use graph::{BrokenArgs, ChainsArgs, DuplicatesArgs, LinkDirections, LinksArgs, ListArgs, OrphansArgs};
pub(crate) use help::{GUIDE, command};
pub(crate) use identity::{IdentityAction, IdentityArgs};
pub(crate) use import::ImportArgs;
pub(crate) use init::InitArgs;
pub(crate) use manual::{CompletionsArgs, ManualArgs};
pub(crate) use mcp::McpArgs;
pub(crate) use notify::NotifyArgs;
pub(crate) use overrule::OverruleArgs;
pub(crate) use prune::PruneArgs;
pub(crate) use read::{CrawlSource, ExportArgs, ExportFormat, Format, RowKind, StatusArgs};
pub(crate) use reparse::{ReparseArgs, ReparseScope, ReparseTarget};
pub(crate) use report::{ReportArgs, ReportFormat};
pub(crate) use run::RunArgs;
pub(crate) use schedule::{AddArgs, ScheduleAction, ScheduleArgs};
pub(crate) use schema::{SchemaArgs, SchemaForm};
pub(crate) use search::{SearchArgs, SimilarArgs, WordsArgs};
pub(crate) use serve::{ServeArgs, TokenAction, TokenArgs};
pub(crate) use sink::SinkArgs;
#[cfg(feature = "stack")]
pub(crate) use stack::{ChangeArgs, PutArgs, StackArgs, StackName, StartArgs};
pub(crate) use visits::{ArticleForm, GetArgs, HistoryArgs, Parts};

use crate::exit::Exit;
use crate::logging::Logging;
use crate::terminal::{Form, Verbosity};

const EXAMPLES: &str = "\
Examples:
  dragline crawl https://example.org       crawl a site into ./dragline-data
  dragline init https://example.org        write a definition for it, to crawl by
  dragline crawl                           resume it, or crawl it again
  dragline crawl -i urls.txt               visit these URLs now
  dragline status                          show how far it is and how it went
  dragline diff                            what changed since the iteration before
  dragline export --what pages --format csv > pages.csv
  dragline schema                          which items its pages have
  dragline search 'words title:other'      search what was crawled
  dragline broken                          links that lead nowhere, and the pages that have them
  dragline report -o report.html           what an owner should know of the site
  dragline archive -o site.wacz            all of it, to replay in a browser
  dragline import site.warc.gz             make a crawl of an archive
  dragline history https://example.org/    every visit of a URL
  dragline get https://example.org/        its body, as stored
  dragline explain https://example.org/a   would this URL be crawled?
  dragline explain --outcome 173           what does this outcome mean?
  dragline prune --keep 5                  delete what older iterations left";

const STREAMS: &str =
    "Data goes to standard output, everything else to standard error. Set NO_COLOR to turn colours off.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "dragline",
    version,
    about = "A polite crawler and web archive",
    long_about = "A polite crawler and web archive.\n\n\
                  Crawls web sites politely and obeys robots.txt. Stores bodies as WARC and everything else in one SQLite file. \
                  Interrupt it whenever you like: the same command resumes the crawl.",
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{}\n\n{STREAMS}", Exit::help()),
)]
pub(crate) struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print a line for each crawled URL on standard error; given twice, also log what the engine
    /// does. `RUST_LOG` selects log messages more finely
    #[arg(long, short, global = true, action = ArgAction::Count)]
    verbose: u8,
}

/// The commands. Each is described where its arguments are defined.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(Box<InitArgs>),
    Crawl(Box<CrawlArgs>),
    Reparse(ReparseArgs),
    Status(StatusArgs),
    Diff(DiffArgs),
    Export(ExportArgs),
    Schema(SchemaArgs),
    Links(LinksArgs),
    Broken(BrokenArgs),
    Chains(ChainsArgs),
    Orphans(OrphansArgs),
    Duplicates(DuplicatesArgs),
    Search(SearchArgs),
    Similar(SimilarArgs),
    Words(WordsArgs),
    Report(ReportArgs),
    Archive(ArchiveArgs),
    Cdx(CdxArgs),
    Import(ImportArgs),
    History(HistoryArgs),
    Get(GetArgs),
    Definition(DefinitionArgs),
    Explain(Box<ExplainArgs>),
    Extract(Box<ExtractArgs>),
    Prune(PruneArgs),
    Forget(ForgetArgs),
    Serve(Box<ServeArgs>),
    Schedule(ScheduleArgs),
    Token(TokenArgs),
    Identity(IdentityArgs),
    Mcp(McpArgs),
    /// Show the way through the commands
    #[command(after_help = GUIDE)]
    Guide,
    Completions(CompletionsArgs),
    Manual(ManualArgs),
    #[cfg(feature = "stack")]
    Start(StartArgs),
    #[cfg(feature = "stack")]
    Put(PutArgs),
    /// Pause a deployed crawl
    #[cfg(feature = "stack")]
    #[command(after_help = "Examples:\n  dragline pause docs\n  dragline pause docs --stack staging")]
    Pause(ChangeArgs),
    /// Resume a paused deployed crawl
    #[cfg(feature = "stack")]
    #[command(after_help = "Examples:\n  dragline resume docs")]
    Resume(ChangeArgs),
    /// Stop a deployed crawl, and keep what it has crawled
    #[cfg(feature = "stack")]
    #[command(after_help = "Examples:\n  dragline stop docs")]
    Stop(ChangeArgs),
    /// Switch a deployed crawl off and stop it, but keep its definition and data
    #[cfg(feature = "stack")]
    #[command(after_help = "Examples:\n  dragline remove docs")]
    Remove(ChangeArgs),
}

/// The variable that names the data directory.
const DATA_VARIABLE: &str = "DRAGLINE_DATA";

static DEFAULT_DATA: LazyLock<PathBuf> = LazyLock::new(|| {
    let named = env::var_os(DATA_VARIABLE).filter(|value| !value.is_empty());
    named.map_or_else(|| PathBuf::from("dragline-data"), PathBuf::from)
});

/// Returns the data directory: that of `--data`, or else the one that the environment names, or
/// else `dragline-data`.
fn data_directory(given: Option<&Path>) -> &Path {
    given.unwrap_or(&DEFAULT_DATA)
}

/// Returns the flag that names the data directory in a suggested command, with a leading space;
/// empty for the default.
pub(crate) fn data_flag(data: &Path) -> String {
    if data == *DEFAULT_DATA { String::new() } else { format!(" --data {}", shell_word(data)) }
}

/// Returns the flag that names a crawl of a data directory, with a leading space. A name needs no
/// quotes.
pub(crate) fn crawl_flag(crawl: &CrawlId) -> String {
    format!(" --crawl {crawl}")
}

/// Quotes a path as one word for a shell.
pub(crate) fn shell_word(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    if !path.is_empty() && path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// Which servers may be contacted, and how the crawler identifies itself.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct NetworkArgs {
    #[arg(long, value_name = "UA", value_parser = values::user_agent, help = key::help(Key::UserAgent))]
    user_agent: Option<UserAgent>,
    /// Also trust the certificates in this PEM file, of authorities or of single servers
    #[arg(long, value_name = "PEM")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Allow private addresses, such as 127.0.0.1 and 10.0.0.0/8. A definition cannot allow this
    #[arg(long)]
    allow_private: bool,
    /// Do not check certificates: anybody on the network path can impersonate a site. A definition
    /// cannot allow this
    #[arg(long)]
    insecure: bool,
    /// Read all bodies together at no more than this many bytes a second on average, such as
    /// `500KB` or `2MB`
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) max_rate: Option<u64>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

impl NetworkArgs {
    /// Returns the draft, overridden by the command line.
    pub(crate) fn change(&self, draft: Draft) -> Draft {
        let user_agent = self.user_agent.clone().unwrap_or(draft.user_agent);
        self.access.change(Draft { user_agent, ..draft })
    }

    /// Returns the draft for these URLs, overridden by the command line.
    pub(crate) fn change_for(&self, urls: &[CrawlUrl], draft: Draft) -> Draft {
        self.access.change_for(urls, self.change(draft))
    }

    /// Returns the arguments that give another command the same ones.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let ca_file = self.ca_file.iter().flat_map(|path| [OsString::from("--ca-file"), path.clone().into_os_string()]);
        let allowances = self.allowances().map(|allowance| allowance_flag(allowance).into());
        let max_rate = self.max_rate.iter().flat_map(|rate| ["--max-rate".into(), format!("{rate}B").into()]);
        ca_file.chain(allowances).chain(max_rate).chain(self.access.arguments()).collect()
    }

    /// Returns the flags that no definition stores, each with a leading space. A crawl cannot be
    /// resumed unchanged without them.
    pub(crate) fn flags(&self) -> String {
        let ca_file =
            self.ca_file.as_deref().map_or_else(String::new, |path| format!(" --ca-file {}", shell_word(path)));
        let allowances = self.allowances().map(|allowance| format!(" {}", allowance_flag(allowance)));
        format!("{ca_file}{}", allowances.collect::<String>())
    }

    /// Returns what these arguments allow.
    pub(crate) fn allowances(&self) -> impl Iterator<Item = Allowance> {
        Allowance::ALL.into_iter().filter(|allowance| match allowance {
            Allowance::PrivateAddresses => self.allow_private,
            Allowance::UncheckedCertificates => self.insecure,
        })
    }

    /// Returns the same arguments with the crawl's allowances added.
    pub(crate) fn with_allowances(&self, allowed: &[Allowance]) -> Self {
        let is_allowed = |allowance| allowed.contains(&allowance);
        Self {
            allow_private: self.allow_private || is_allowed(Allowance::PrivateAddresses),
            insecure: self.insecure || is_allowed(Allowance::UncheckedCertificates),
            ..self.clone()
        }
    }

    /// Returns whether certificates are checked.
    pub(crate) const fn certificate_policy(&self) -> CertificatePolicy {
        if self.insecure { CertificatePolicy::AcceptAny } else { CertificatePolicy::Check }
    }

    /// Returns which addresses Dragline may connect to.
    pub(crate) const fn address_policy(&self) -> AddressPolicy {
        if self.allow_private { AddressPolicy::AllowPrivate } else { AddressPolicy::PublicOnly }
    }
}

/// Returns the flag of an allowance.
pub(crate) const fn allowance_flag(allowance: Allowance) -> &'static str {
    match allowance {
        Allowance::PrivateAddresses => "--allow-private",
        Allowance::UncheckedCertificates => "--insecure",
    }
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Text for people.
    Text,
    /// One JSON object on one line.
    Json,
}

impl Answer {
    const fn from_flag(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

impl Cli {
    /// Returns how much to print on standard error.
    pub(crate) fn verbosity(&self) -> Verbosity {
        match &self.command {
            Command::Crawl(args) => args.output.verbosity(self.verbose),
            Command::Reparse(args) => args.output.verbosity(self.verbose),
            _ => Verbosity::Normal,
        }
    }

    /// Returns the form of the output on standard error.
    pub(crate) fn form(&self) -> Form {
        match &self.command {
            Command::Crawl(args) => args.output.form(),
            Command::Reparse(args) => args.output.form(),
            Command::Serve(args) => args.form(),
            _ => Form::Text,
        }
    }

    /// Returns whether to log the engine's work.
    pub(crate) const fn logging(&self) -> Logging {
        if self.verbose > 1 { Logging::Engine } else { Logging::Off }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }
}
