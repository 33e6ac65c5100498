//! The command line as it is written.

mod crawl;
mod explain;
mod export;
mod key;
mod of;
#[cfg(feature = "stack")]
mod stack;
mod status;
mod values;

use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, Parser, Subcommand};
use dragline_domain::address::AddressPolicy;
use dragline_domain::definition::{Draft, Key, UserAgent};
use dragline_http::CertificatePolicy;
use dragline_local::Allowance;

pub(crate) use crawl::CrawlArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use export::{ExportArgs, Format, What};
pub(crate) use of::OfArgs;
#[cfg(feature = "stack")]
pub(crate) use stack::{ChangeArgs, PutArgs, StackArgs, StackName, StackNameError, StartArgs};
pub(crate) use status::StatusArgs;

use crate::exit::Exit;
use crate::logging::Logging;
use crate::terminal::{Form, Verbosity};

const EXAMPLES: &str = "\
Examples:
  dragline crawl https://example.org       crawl a site into ./dragline-data
  dragline crawl                           go on with it, or crawl it again
  dragline status                          how far it is, and how it went
  dragline export --what pages --format csv > pages.csv
  dragline explain https://example.org/a   would this URL be crawled?
  dragline explain --outcome 173           what does this outcome mean?";

const STREAMS: &str = "Data goes to standard output, everything else to standard error. NO_COLOR is obeyed.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "dragline",
    version,
    about = "A polite crawler and web archive",
    long_about = "A polite crawler and web archive.\n\n\
                  Crawls web sites within robots.txt and at their pace, keeps the bodies as WARC and everything else in one SQLite file. \
                  Interrupt it whenever you like: the same command goes on where it was.",
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{}\n\n{STREAMS}", Exit::HELP),
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print a line for each URL that is crawled, on standard error; twice: log what the engine does, too. `RUST_LOG` chooses more finely
    #[arg(long, short, global = true, action = ArgAction::Count)]
    verbose: u8,
}

/// What to do. Each command is described where its arguments are.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Crawl(Box<CrawlArgs>),
    Status(StatusArgs),
    Export(ExportArgs),
    Explain(Box<ExplainArgs>),
    #[cfg(feature = "stack")]
    Start(StartArgs),
    #[cfg(feature = "stack")]
    Put(PutArgs),
    /// Make a crawl of a deployed stack ask for nothing more for now
    #[cfg(feature = "stack")]
    Pause(ChangeArgs),
    /// Let a paused crawl of a deployed stack go on
    #[cfg(feature = "stack")]
    Resume(ChangeArgs),
    /// End what runs of a crawl of a deployed stack with what is done
    #[cfg(feature = "stack")]
    Stop(ChangeArgs),
    /// Switch a crawl of a deployed stack off, and stop what runs of it. What was crawled stays
    #[cfg(feature = "stack")]
    Remove(ChangeArgs),
}

const DATA: &str = "dragline-data";

/// The command that goes on with the crawl in a data directory, for hints.
pub(crate) fn command_to_go_on(data: &Path) -> String {
    format!("dragline crawl{}", data_flag(data))
}

/// How the data directory is named to another command, with a space before it; nothing for the default.
pub(crate) fn data_flag(data: &Path) -> String {
    if data == Path::new(DATA) { String::new() } else { format!(" --data {}", shell_word(data)) }
}

/// A path as one word to a shell.
pub(crate) fn shell_word(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    if !path.is_empty() && path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// Where the data is.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// The directory that a crawl is kept in
    #[arg(long, value_name = "DIR", default_value = DATA)]
    pub(crate) data: PathBuf,
}

/// Whom requests are sent to, and as whom.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct NetworkArgs {
    #[arg(long, value_name = "UA", value_parser = values::user_agent, help = key::help(Key::UserAgent))]
    user_agent: Option<UserAgent>,
    /// Trust the certificates in this PEM file as well: of authorities, or of servers themselves
    #[arg(long, value_name = "PEM")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Console to private addresses too, such as 127.0.0.1 and 10.0.0.0/8. No definition can allow it
    #[arg(long)]
    allow_private: bool,
    /// Check no certificate: anybody on the way may answer in a site's name. No definition can allow it
    #[arg(long)]
    insecure: bool,
}

impl NetworkArgs {
    /// The draft with what is given here in place of its own.
    pub(crate) fn change(&self, draft: Draft) -> Draft {
        let user_agent = self.user_agent.clone().unwrap_or(draft.user_agent);
        Draft { user_agent, ..draft }
    }

    /// The flags that no definition keeps, with a space before each: without them a crawl would not go on as it began.
    fn flags(&self) -> String {
        let ca_file =
            self.ca_file.as_deref().map_or_else(String::new, |path| format!(" --ca-file {}", shell_word(path)));
        let allowances = self.allowances().map(|allowance| format!(" {}", allowance_flag(allowance)));
        format!("{ca_file}{}", allowances.collect::<String>())
    }

    /// What is allowed here.
    pub(crate) fn allowances(&self) -> impl Iterator<Item = Allowance> {
        Allowance::ALL.into_iter().filter(|allowance| match allowance {
            Allowance::PrivateAddresses => self.allow_private,
            Allowance::UncheckedCertificates => self.insecure,
        })
    }

    /// Whether certificates are checked.
    pub(crate) const fn certificate_policy(&self) -> CertificatePolicy {
        if self.insecure { CertificatePolicy::AcceptAny } else { CertificatePolicy::Check }
    }

    /// Which addresses may be talked to.
    pub(crate) const fn address_policy(&self) -> AddressPolicy {
        if self.allow_private { AddressPolicy::AllowPrivate } else { AddressPolicy::PublicOnly }
    }
}

/// The flag that allows it.
pub(crate) const fn allowance_flag(allowance: Allowance) -> &'static str {
    match allowance {
        Allowance::PrivateAddresses => "--allow-private",
        Allowance::UncheckedCertificates => "--insecure",
    }
}

/// In which form the answer is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Text for people.
    Text,
    /// One JSON object on one line.
    Json,
}

impl Answer {
    const fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

impl Cli {
    /// How much is said on standard error.
    pub(crate) const fn verbosity(&self) -> Verbosity {
        match &self.command {
            Command::Crawl(args) => args.verbosity(self.verbose),
            _ => Verbosity::Normal,
        }
    }

    /// In which form things are said there.
    pub(crate) const fn form(&self) -> Form {
        match &self.command {
            Command::Crawl(args) => args.form(),
            _ => Form::Text,
        }
    }

    /// Whether what is done is logged.
    pub(crate) const fn logging(&self) -> Logging {
        if self.verbose > 1 { Logging::Engine } else { Logging::Off }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn a_hint_can_be_pasted_into_a_shell() {
        for (data, expected) in [
            ("dragline-data", "dragline crawl"),
            ("/srv/crawls/a_b.c", "dragline crawl --data /srv/crawls/a_b.c"),
            ("my data", "dragline crawl --data 'my data'"),
            ("it's", r"dragline crawl --data 'it'\''s'"),
        ] {
            assert_eq!(command_to_go_on(Path::new(data)), expected);
        }
    }

    #[test]
    fn the_arguments_contradict_themselves_nowhere() {
        Cli::command().debug_assert();
    }
}
