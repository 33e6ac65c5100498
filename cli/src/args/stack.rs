//! The commands for a deployed stack, and which one is meant.

use std::path::PathBuf;
use std::str::FromStr;
use std::{env, fmt};

use clap::Args;
use dragline_domain::ids::CrawlId;
use serde::Serialize;

use crate::stack::DeployedError;

/// The variable that names the stack.
const VARIABLE: &str = "DRAGLINE_STACK";

/// Begin an iteration in a deployed stack
#[derive(Debug, Args)]
#[command(
    long_about = "Begin an iteration in a deployed stack: of a crawl that it knows, of a URL, or of a definition.\n\n\
                  A URL is crawled in the crawl named after its host and port, which is made if there is none.",
    after_help = "\
Examples:
  dragline start docs
  dragline start https://example.org/
  dragline start --definition crawl.yaml --stack staging"
)]
pub(crate) struct StartArgs {
    /// A crawl of the stack by its name, or a URL
    #[arg(value_name = "CRAWL|URL", required_unless_present = "definition")]
    pub(crate) target: Option<String>,
    /// Store this definition, and begin an iteration of it
    #[arg(long, short = 'f', value_name = "crawl.yaml", conflicts_with = "target")]
    pub(crate) definition: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) stack: StackArgs,
}

/// Store a definition in a deployed stack, which keeps its schedule
#[derive(Debug, Args)]
#[command(
    long_about = "Store a definition in a deployed stack, which keeps its schedule.\n\n\
                  It is checked before it is sent. With `schedule: {cron: \"0 8 * * *\"}` its crawl is one for each day.",
    after_help = "\
Examples:
  dragline put crawl.yaml
  dragline put crawl.yaml --stack staging"
)]
pub(crate) struct PutArgs {
    /// The definition
    #[arg(value_name = "crawl.yaml")]
    pub(crate) definition: PathBuf,
    #[command(flatten)]
    pub(crate) stack: StackArgs,
}

/// A crawl of a deployed stack that something is done to.
#[derive(Debug, Args)]
pub(crate) struct ChangeArgs {
    /// The crawl, by its name
    #[arg(value_name = "CRAWL")]
    pub(crate) crawl: CrawlId,
    #[command(flatten)]
    pub(crate) stack: StackArgs,
}

/// Which deployed stack. Region and credentials are those of the environment, as for every program that asks AWS.
#[derive(Debug, Args)]
pub(crate) struct StackArgs {
    /// The name of the deployed stack [default: `DRAGLINE_STACK`, or else `dragline`]
    #[arg(long, value_name = "NAME", help_heading = "Deployed stack")]
    stack: Option<StackName>,
}

impl StackArgs {
    /// The name, where the command line gives one.
    pub(crate) const fn given(&self) -> Option<&StackName> {
        self.stack.as_ref()
    }

    /// The stack's name: as given, as the environment says, or the default.
    ///
    /// # Errors
    /// The environment says something else.
    pub(crate) fn name(&self) -> Result<StackName, DeployedError> {
        let Some(given) = &self.stack else {
            return match env::var(VARIABLE) {
                Ok(text) if !text.is_empty() => text.parse().map_err(DeployedError::Variable),
                _ => Ok(StackName::default()),
            };
        };
        Ok(given.clone())
    }
}

/// The name of a stack, as `CloudFormation` takes it: letters, digits and hyphens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct StackName(String);

/// A text that names no stack.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a valid stack name: one has at most 128 letters, digits and hyphens, and begins with a letter")]
pub(crate) struct StackNameError(String);

impl StackName {
    /// The most characters of a name.
    const LEN_MAX: usize = 128;

    /// The name as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// How the stack is named to another command, with a space before it; nothing for the default.
    pub(crate) fn flag(&self) -> String {
        if *self == Self::default() { String::new() } else { format!(" --stack {self}") }
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
    fn a_stack_is_named_as_cloudformation_does() {
        for (text, is_name, why) in [
            ("dragline", true, "the default"),
            ("Dragline-2", true, "letters, digits, hyphens"),
            ("", false, "nothing"),
            ("2nd", false, "begins with a digit"),
            ("a_b", false, "an underscore"),
            ("a b", false, "two words"),
        ] {
            assert_eq!(text.parse::<StackName>().is_ok(), is_name, "{text}: {why}");
        }
        assert_eq!("a".repeat(129).parse::<StackName>().ok(), None, "too long");
        assert_eq!("staging".parse::<StackName>().unwrap().flag(), " --stack staging");
        assert_eq!(StackName::default().flag(), "", "the default goes without saying");
    }
}
