//! The arguments that `crawl` and `reparse` have in common.

use std::path::Path;

use dragline_domain::content::ContentLevel;
use dragline_domain::definition::{Definition, Draft};
use dragline_domain::ids::CrawlId;
use dragline_engine::begin::Abandon;

use super::crawl::{DiskArgs, OutputArgs, Overrides};
use super::{NetworkArgs, NotifyArgs, OverruleArgs, SinkArgs};
use crate::definition_source::Source;
use crate::error::Failure;

/// The arguments of a run, whatever it is asked to do. A reparse overrides no keys, and makes no
/// requests.
#[derive(Debug)]
pub(crate) struct RunArgs<'a> {
    pub(crate) source: Source<'a>,
    /// The data directory.
    pub(crate) data: &'a Path,
    /// The crawl's name; `None` if it was not given.
    pub(crate) crawl: Option<CrawlId>,
    /// How to treat an unfinished iteration.
    pub(crate) abandon: Abandon,
    pub(super) overrides: Overrides,
    pub(crate) network: NetworkArgs,
    pub(crate) overrule: OverruleArgs,
    pub(crate) output: &'a OutputArgs,
    pub(crate) disk: DiskArgs,
    pub(crate) notify: NotifyArgs,
    pub(crate) sink: SinkArgs,
}

impl RunArgs<'_> {
    /// Returns the definition that the arguments describe; `None` to use a stored one.
    ///
    /// # Errors
    /// A file cannot be read, or it, a URL, or the definition is not valid.
    pub(crate) fn definition(&self) -> Result<Option<Definition>, Failure> {
        let definition = |draft| Definition::new(self.change(draft));
        Ok(self.source.draft()?.map(definition).transpose()?)
    }

    /// Returns the draft, overridden by the command line.
    pub(crate) fn change(&self, draft: Draft) -> Draft {
        let name = self.crawl.clone().unwrap_or(draft.name);
        // Without the main parts of pages there would be little to write.
        let content = if self.output.markdown.is_some() { ContentLevel::Full } else { draft.content };
        self.overrule.change(self.network.change(self.overrides.apply(Draft { name, content, ..draft })))
    }
}
