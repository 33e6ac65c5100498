//! The commands for a deployed stack, and the choice of the stack.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{env, fmt};

use clap::Args;
use dragline_domain::ids::{CrawlId, CrawlIdError};
use serde::Serialize;

use super::DemandArgs;
use crate::error::Failure;

/// The variable that names the stack.
const VARIABLE: &str = "DRAGLINE_STACK";

/// Begin an iteration in a deployed stack
#[derive(Debug, Args)]
#[command(
    long_about = "Begin an iteration in a deployed stack: of one of its crawls, a URL, or a definition; or visit URLs on demand.\n\n\
                  The crawl of a URL is named after its host and port. It is created if it does not exist.",
    after_help = "\
Examples:
  dragline start docs
  dragline start https://example.org/
  dragline start https://example.org/news/ --pattern /news/ --force
  dragline start docs -i urls.txt --depth 0
  dragline start --definition crawl.yaml --stack staging"
)]
pub(crate) struct StartArgs {
    /// The name of a crawl in the stack, or a URL
    #[arg(value_name = "CRAWL|URL", required_unless_present_any = ["definition", "input"])]
    pub(crate) target: Option<String>,
    /// Store this definition, and begin an iteration of its crawl
    #[arg(long, short = 'f', value_name = "crawl.yaml", conflicts_with = "target")]
    pub(crate) definition: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) demand: DemandArgs,
    #[command(flatten)]
    pub(crate) stack: StackArgs,
}

/// Store a definition in a deployed stack, which runs it on its schedule
#[derive(Debug, Args)]
#[command(
    long_about = "Store a definition in a deployed stack, which runs it on its schedule.\n\n\
                  The definition is checked before it is sent. With `schedule: {cron: \"0 8 * * *\"}`, an iteration begins every day.",
    after_help = "\
Examples:
  dragline put crawl.yaml
  dragline put crawl.yaml --stack staging"
)]
pub(crate) struct PutArgs {
    /// The definition to store
    #[arg(value_name = "crawl.yaml", required_unless_present = "definition")]
    file: Option<PathBuf>,
    /// The same
    #[arg(long, short = 'f', value_name = "crawl.yaml", conflicts_with = "file")]
    definition: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) stack: StackArgs,
}

impl PutArgs {
    /// Returns the file of the definition.
    pub(crate) fn definition(&self) -> &Path {
        self.file.as_deref().or(self.definition.as_deref()).expect("the command line needs one of them")
    }
}

/// The crawl of a deployed stack that a command changes.
#[derive(Debug, Args)]
pub(crate) struct ChangeArgs {
    /// The name of the crawl
    #[arg(value_name = "CRAWL")]
    pub(crate) crawl: CrawlId,
    #[command(flatten)]
    pub(crate) stack: StackArgs,
}

/// The choice of a deployed stack. Region and credentials come from the environment, as for every
/// AWS client.
#[derive(Debug, Args)]
pub(crate) struct StackArgs {
    /// The name of the deployed stack [default: the value of `DRAGLINE_STACK`, or `dragline`]
    #[arg(long, value_name = "NAME", help_heading = "Deployed stack")]
    stack: Option<StackName>,
}

impl StackArgs {
    /// Returns the name given on the command line, if any.
    pub(crate) const fn stack_name(&self) -> Option<&StackName> {
        self.stack.as_ref()
    }

    /// Returns the stack's name from the command line, the environment, or the default, in this
    /// order.
    ///
    /// # Errors
    /// The environment variable is not a valid name.
    pub(crate) fn name(&self) -> Result<StackName, Failure> {
        let Some(given) = &self.stack else {
            return match env::var(VARIABLE) {
                Ok(text) if !text.is_empty() => StackName::from_variable(&text),
                _ => Ok(StackName::default()),
            };
        };
        Ok(given.clone())
    }
}

/// The name of a stack, as `CloudFormation` accepts it: letters, digits and hyphens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct StackName(String);

impl From<CrawlIdError> for Failure {
    fn from(error: CrawlIdError) -> Self {
        Self::from_error(&error)
    }
}

/// The error of a text that is not a stack name.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a valid stack name: use up to 128 letters, digits and hyphens, starting with a letter")]
pub(crate) struct StackNameError(String);

impl StackName {
    /// The maximum length of a name, in characters.
    const LEN_MAX: usize = 128;

    /// Reads the value of the environment variable.
    ///
    /// # Errors
    /// It is not a stack name.
    pub(crate) fn from_variable(text: &str) -> Result<Self, Failure> {
        text.parse().map_err(|error: StackNameError| Failure::new(format!("{VARIABLE}: {error}")))
    }

    /// Returns the name as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the flag that names the stack in a suggested command, with a leading space; empty
    /// for the default.
    pub(crate) fn flag(&self) -> String {
        if *self == Self::default() { String::new() } else { format!(" --stack {self}") }
    }

    /// Returns the error for a command that names the stack, but none of its crawls.
    pub(crate) fn which_crawl_error(&self) -> Failure {
        Failure::new(format!("no crawl of the stack `{self}` is named"))
            .with_hint(format!("name the crawl, as in `--crawl docs --stack {self}`"))
    }

    /// Returns the error for a definition in a file that the stack has to have.
    pub(crate) fn put_first_error(&self) -> Failure {
        let flag = self.flag();
        Failure::new(format!("the definition is not stored in the stack `{self}`"))
            .with_hint(format!("store it: `dragline put crawl.yaml{flag}`, then `dragline reparse CRAWL{flag}`"))
    }
}

impl Default for StackName {
    fn default() -> Self {
        Self("dragline".to_owned())
    }
}

impl fmt::Display for StackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for StackName {
    type Err = StackNameError;

    fn from_str(text: &str) -> Result<Self, StackNameError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_name = text.len() <= Self::LEN_MAX
            && text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(is_plain);
        if is_name { Ok(Self(text.to_owned())) } else { Err(StackNameError(text.to_owned())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack_names_follow_the_rules_of_cloudformation() {
        for (text, is_name, why) in [
            ("dragline", true, "the default"),
            ("Dragline-2", true, "letters, digits, hyphens"),
            ("", false, "empty"),
            ("2nd", false, "begins with a digit"),
            ("a_b", false, "an underscore"),
            ("a b", false, "two words"),
        ] {
            assert_eq!(text.parse::<StackName>().is_ok(), is_name, "{text}: {why}");
        }
        assert_eq!("a".repeat(129).parse::<StackName>().ok(), None, "too long");
        assert_eq!("staging".parse::<StackName>().unwrap().flag(), " --stack staging");
        assert_eq!(StackName::default().flag(), "", "the default needs no flag");
    }
}
