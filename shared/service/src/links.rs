//! Crawls whose definition is a file elsewhere: what was asked for is kept, and read again.

use dragline_domain::command::Command;
use dragline_domain::definition::Definition;
use dragline_domain::ids::CrawlId;

use crate::backend::{Backend, ScheduleState};
use crate::bodies::AddCrawl;
use crate::problem::Problem;

/// Where a version of a crawl's definition came from.
#[derive(Clone, Debug)]
pub struct Link {
    /// The version. What is known of a later one is not replaced.
    pub version: u32,
    /// The call that gave the crawl a file elsewhere as its definition; `None` if it was given
    /// itself.
    pub call: Option<AddCrawl>,
}

impl Link {
    /// Returns the URL of the file; `None` if the definition was given itself.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.call.as_ref()?.definition_url.as_deref()
    }
}

/// What became of a definition that was read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// The definition has changed, and the crawl has it now.
    Changed,
    /// It is as it was.
    Unchanged,
    /// The crawl has no link, or was removed.
    Unlinked,
}

/// Reads the file of a crawl's definition again, and gives the crawl what has changed in it. A
/// crawl that is paused stays so.
///
/// # Errors
/// The file cannot be read, or is not valid: the crawl keeps the definition that it has.
pub async fn refresh_definition(backend: &dyn Backend, crawl: &CrawlId) -> Result<LinkState, Problem> {
    let Some(call) = backend.link(crawl).await? else { return Ok(LinkState::Unlinked) };
    let Some(standing) = backend.standing(crawl).await? else { return Ok(LinkState::Unlinked) };
    if standing.state == ScheduleState::Off {
        return Ok(LinkState::Unlinked);
    }
    let definition = read_definition(backend, call).await?;
    if definition.name != *crawl {
        return Err(Problem::bad_request(format!("the file names the crawl `{}` now", definition.name)));
    }
    if Some(dragline_definition::write(&definition)) == backend.definition(crawl).await? {
        return Ok(LinkState::Unchanged);
    }
    if standing.state == ScheduleState::Paused {
        backend.put_paused(&definition).await?;
    } else {
        backend.command(&Command::PutCrawl(Box::new(definition)), &backend.fresh_trigger()).await?;
    }
    Ok(LinkState::Changed)
}

/// Returns the definition that a call asks for. If that is a file, it is read.
///
/// # Errors
/// The file cannot be read, or the definition is not valid.
pub(crate) async fn read_definition(backend: &dyn Backend, call: AddCrawl) -> Result<Definition, Problem> {
    match &call.definition_url {
        None => call.definition(backend.runs()),
        Some(_) if call.definition.is_some() => {
            Err(Problem::bad_request("`definition` and `definition_url` are two definitions: give one of them"))
        }
        Some(url) => {
            let text = backend.read_link(url).await?;
            AddCrawl { definition: Some(text.into()), definition_url: None, ..call }.definition(backend.runs())
        }
    }
}
