//! `dragline reparse`.

use std::path::PathBuf;

use clap::Args;
use dragline_domain::definition::Condition;
use dragline_domain::frontier::Selection;
use dragline_domain::ids::CrawlId;
use dragline_engine::begin::Abandon;

use super::crawl::{DiskArgs, OutputArgs, Overrides};
use super::{NetworkArgs, NotifyArgs, OverruleArgs, RunArgs, SinkArgs, data_directory, values};
#[cfg(feature = "stack")]
use super::{StackArgs, StackName};
use crate::definition_source::Source;
use crate::error::Failure;

/// Extract documents again from stored bodies, offline
#[derive(Debug, Args)]
#[command(
    long_about = "Extract documents again from stored bodies, offline: after an update of Dragline that reads pages better, or after a change \
                  of the definition, such as of `items`, `main`, `content` or `strip_query_parameters`.\n\n\
                  Each page that is shown gets its title, text, items and links anew, from the body of its last visit. With --all, so do the documents of all \
                  iterations that are kept, and what changed in each is decided again: a field that is added today has its history from the first crawl on. \
                  What is found and was not followed before is followed by the next crawl. The same command again gives the same documents. It may be \
                  interrupted; then the same command goes on. On a stack, a message begins it; with --all, this command does the work.",
    after_help = "\
Examples:
  dragline reparse
  dragline reparse crawl.yaml               by a changed definition, which is stored first
  dragline reparse crawl.yaml --all         the past, too
  dragline reparse --where 'path: {prefix: /docs/}'"
)]
pub(crate) struct ReparseArgs {
    #[cfg_attr(feature = "stack", arg(value_name = "crawl.yaml|CRAWL", help = TARGET_OR_CRAWL))]
    #[cfg_attr(not(feature = "stack"), arg(value_name = "crawl.yaml", help = TARGET))]
    target: Option<String>,
    /// A changed definition of the crawl, which is stored first
    #[arg(long, short = 'f', value_name = "crawl.yaml", conflicts_with = "target")]
    definition: Option<PathBuf>,
    /// Make those of all kept iterations again, and what changed in each
    #[arg(long)]
    all: bool,
    /// Only for URLs for which this condition holds, written as under `when` in a definition
    /// (docs/reference/definition.md)
    #[arg(long = "where", value_name = "CONDITION", value_parser = values::condition)]
    condition: Option<Condition>,
    /// The directory where crawls are stored [default: `$DRAGLINE_DATA`, or dragline-data]
    #[arg(long, value_name = "DIR")]
    #[cfg_attr(feature = "stack", arg(conflicts_with = "stack"))]
    data: Option<PathBuf>,
    /// The crawl, if there are several; with a crawl.yaml, the name of its crawl
    #[arg(long, value_name = "NAME")]
    crawl: Option<CrawlId>,
    #[cfg(feature = "stack")]
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    disk: DiskArgs,
}

#[cfg(not(feature = "stack"))]
const TARGET: &str = "A changed definition of the crawl, which is stored first [default: the stored one]";

#[cfg(feature = "stack")]
const TARGET_OR_CRAWL: &str = "A changed definition of the crawl, which is stored first; or the name of a deployed crawl [default: the crawl in the \
                               data directory, as it is stored]";

/// The crawl whose documents to rebuild.
#[derive(Debug)]
pub(crate) enum ReparseTarget<'a> {
    /// A crawl in a data directory.
    Directory(RunArgs<'a>),
    /// The current documents of a crawl of a deployed stack.
    #[cfg(feature = "stack")]
    Stack {
        /// The crawl's name.
        crawl: CrawlId,
        /// The stack.
        stack: StackName,
    },
    /// The documents of all iterations of a crawl of a deployed stack.
    #[cfg(feature = "stack")]
    PastOfStack {
        /// The crawl, unless its definition names it, and what to print.
        run: RunArgs<'a>,
        /// The stack.
        stack: StackName,
    },
}

/// The iterations whose documents to rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReparseScope {
    /// The iterations with current documents.
    Now,
    /// All kept iterations.
    All,
}

impl ReparseArgs {
    /// Returns which documents to rebuild.
    pub(crate) fn selection(&self) -> Selection {
        Selection::from_condition(self.condition.clone())
    }

    /// Returns which iterations to cover.
    pub(crate) const fn reach(&self) -> ReparseScope {
        if self.all { ReparseScope::All } else { ReparseScope::Now }
    }

    /// Returns the crawl whose documents to rebuild.
    ///
    /// # Errors
    /// The argument is neither a definition nor, with a stack, the name of a crawl; or the flags do
    /// not fit it.
    pub(crate) fn which(&self) -> Result<ReparseTarget<'_>, Failure> {
        let source = match Source::from_args(self.definition.as_deref(), self.target.as_slice())? {
            Source::Urls(names) => return self.target_by_name(names.first().map_or("", String::as_str)),
            source => source,
        };
        #[cfg(feature = "stack")]
        if let Some(stack) = self.stack.stack_name() {
            return match (source, &self.crawl) {
                (source @ Source::File(_), crawl) if self.all => {
                    Ok(ReparseTarget::PastOfStack { run: self.run(source, crawl.clone()), stack: stack.clone() })
                }
                (Source::File(_), _) => Err(stack.put_first_error()),
                (_, Some(crawl)) => Ok(self.target_in_stack(crawl.clone(), stack.clone())),
                (_, None) => Err(stack.which_crawl_error()),
            };
        }
        Ok(ReparseTarget::Directory(self.run(source, self.crawl.clone())))
    }

    #[cfg(feature = "stack")]
    fn target_by_name(&self, name: &str) -> Result<ReparseTarget<'_>, Failure> {
        if self.data.is_some() || self.crawl.is_some() {
            return Err(not_a_definition(name));
        }
        Ok(self.target_in_stack(name.parse()?, self.stack.name()?))
    }

    #[cfg(feature = "stack")]
    fn target_in_stack(&self, crawl: CrawlId, stack: StackName) -> ReparseTarget<'_> {
        match self.reach() {
            ReparseScope::Now => ReparseTarget::Stack { crawl, stack },
            ReparseScope::All => ReparseTarget::PastOfStack { run: self.run(Source::Stored, Some(crawl)), stack },
        }
    }

    #[cfg(not(feature = "stack"))]
    #[expect(clippy::unused_self, reason = "with a stack, the name may be one of its crawls")]
    fn target_by_name(&self, name: &str) -> Result<ReparseTarget<'_>, Failure> {
        Err(not_a_definition(name))
    }

    /// Returns the arguments of the run.
    fn run<'a>(&'a self, source: Source<'a>, crawl: Option<CrawlId>) -> RunArgs<'a> {
        RunArgs {
            source,
            data: data_directory(self.data.as_deref()),
            crawl,
            abandon: Abandon::Nothing,
            overrides: Overrides::default(),
            network: NetworkArgs::default(),
            overrule: OverruleArgs::default(),
            output: &self.output,
            disk: self.disk,
            notify: NotifyArgs::default(),
            sink: SinkArgs::default(),
        }
    }
}

fn not_a_definition(name: &str) -> Failure {
    Failure::new(format!("`{name}` is not the file of a definition"))
        .with_hint("give a crawl.yaml, or nothing for the stored definition")
}
