//! The crawls of a server whose definitions are files elsewhere, in `links.json` of its data
//! directory.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use dragline_domain::ids::CrawlId;
use dragline_service::{AddCrawl, Backend, LinkState, Problem, refresh_definition};

use super::write_private;
use crate::terminal::Console;

/// The file, below the data directory.
const FILE: &str = "links.json";

/// How often the files are read.
const READ_EVERY: Duration = Duration::from_secs(5 * 60);

type Links = BTreeMap<CrawlId, AddCrawl>;

/// Which crawls have a file as their definition, each with the call that said so.
pub(super) struct DefinitionLinks {
    path: PathBuf,
    /// One change at a time.
    changing: Mutex<()>,
    /// What the file had when it was last changed: a list of crawls asks for each of them.
    known: Mutex<Option<(SystemTime, Links)>>,
}

impl DefinitionLinks {
    pub(super) fn new(data: &Path) -> Self {
        Self { path: data.join(FILE), changing: Mutex::default(), known: Mutex::default() }
    }

    fn read(&self) -> Result<Links, Problem> {
        let failed = |why: String| Problem::internal(why);
        match fs::read(&self.path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| failed(format!("{FILE} is damaged: {error}"))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Links::new()),
            Err(error) => Err(failed(format!("{FILE} cannot be read: {error}"))),
        }
    }

    /// Returns the call that gave a crawl its file; `None` if none did.
    ///
    /// # Errors
    /// The list cannot be read.
    pub(super) fn find(&self, crawl: &CrawlId) -> Result<Option<AddCrawl>, Problem> {
        let Ok(changed_at) = fs::metadata(&self.path).and_then(|file| file.modified()) else {
            return Ok(self.read()?.remove(crawl));
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let links = match &mut *known {
            Some((at, links)) if *at == changed_at => links,
            outdated => &mut outdated.insert((changed_at, self.read()?)).1,
        };
        Ok(links.get(crawl).cloned())
    }

    /// Keeps the call that gave a crawl its file, or that none did.
    ///
    /// # Errors
    /// The list cannot be written.
    pub(super) fn keep(&self, crawl: &CrawlId, call: Option<AddCrawl>) -> Result<(), Problem> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut links = self.read()?;
        let is_changed = match call {
            Some(call) => {
                links.insert(crawl.clone(), call);
                true
            }
            None => links.remove(crawl).is_some(),
        };
        if is_changed {
            let failed = |why: String| Problem::internal(why);
            write_private(&self.path, &links).map_err(|failure| failed(failure.message))?;
        }
        Ok(())
    }
}

/// Reads the files again and again, and says what became of them.
pub(super) async fn refresh_all(backend: Arc<dyn Backend>, data: PathBuf, console: Console) {
    let links = DefinitionLinks::new(&data);
    loop {
        match links.read() {
            Ok(links) => {
                for crawl in links.into_keys() {
                    match refresh_definition(&*backend, &crawl).await {
                        Ok(LinkState::Changed) => console.say(&format!("{crawl}: its definition has changed")),
                        Ok(LinkState::Unchanged | LinkState::Unlinked) => {}
                        Err(problem) => {
                            let why = problem.detail;
                            console.warn(&format!("{crawl}: its definition stays as it is: {why}"));
                        }
                    }
                }
            }
            Err(problem) => console.warn(&problem.detail),
        }
        tokio::time::sleep(READ_EVERY).await;
    }
}
