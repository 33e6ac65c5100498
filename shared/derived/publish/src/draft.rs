//! The state of an unfinished publication of a site, for another process to continue: a file,
//! beside the files that it names.

use std::path::{Path, PathBuf};

use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::editions::Editions;
use dragline_ports::publications::SitePlace;
use dragline_ports::reader::Cursor;
use dragline_report::site::ReportTotals;
use dragline_search::{IndexFile, Parts};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::site::SiteError;

/// The state of an unfinished publication. The files that it names are put before it, and never
/// change.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Draft {
    /// The reported iteration.
    pub(crate) iteration: Iteration,
    /// The number of the newest edition at the start; 0 if there was none.
    pub(crate) edition_before: u32,
    /// How often URLs had been forgotten at the start.
    pub(crate) forgotten: u64,
    /// The file of the link graph, finished or not.
    pub(crate) graph: Option<IndexFile>,
    /// The previous graph file, with which another delivery of the last message continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) graph_before: Option<IndexFile>,
    /// The next stage.
    pub(crate) next: Stage,
    /// How often the publication stopped.
    pub(crate) stops: u32,
}

/// The stage of a publication.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    /// The link graph, or the rest of it.
    #[default]
    Graph,
    /// The word index of a site with a finished graph.
    Index,
    /// The next part of the word index.
    Part { after: Option<Cursor>, parts: Parts, gathered: Box<ReportTotals> },
    /// The rest of the log, for the report.
    Log { parts: Parts, gathered: Box<ReportTotals> },
}

impl Draft {
    pub(crate) const fn new(iteration: Iteration, edition_before: u32, forgotten: u64) -> Self {
        Self { iteration, edition_before, forgotten, graph: None, graph_before: None, next: Stage::Graph, stops: 0 }
    }

    /// Reads a draft, and moves its graph to [`graph_path`], fetching it if necessary. Returns
    /// `None` if one of them was deleted: then the draft is older than a newer publication, or must
    /// not be kept.
    pub(crate) async fn load(
        editions: &impl Editions,
        (crawl, iteration): (&CrawlId, Iteration),
        place: &SitePlace,
        folder: &Path,
    ) -> Result<Option<Self>, SiteError> {
        let Some(text) = editions.read_index_file(crawl, &place.draft, 0..place.bytes).await? else { return Ok(None) };
        let Ok(draft) = serde_json::from_slice::<Self>(&text) else { return Ok(None) };
        if draft.iteration != iteration {
            return Ok(None);
        }
        if let Some(graph) = &draft.graph {
            if editions.read_index_file(crawl, &graph.name, 0..1).await?.is_none() {
                return Ok(None);
            }
            let (path, kept) = (graph_path(folder), folder.join(&graph.name));
            // A name always has the same content, as the file is renamed before it is continued.
            if !kept.exists() {
                remove(&path)?;
                editions.get_index_file(crawl, &graph.name, &kept).await?;
            }
            std::fs::rename(kept, path)?;
        }
        let next = match draft.next {
            Stage::Part { after, parts, gathered } => {
                Stage::Part { after, parts, gathered: Box::new(gathered.restore()) }
            }
            Stage::Log { parts, gathered } => Stage::Log { parts, gathered: Box::new(gathered.restore()) },
            next @ (Stage::Graph | Stage::Index) => next,
        };
        Ok(Some(Self { next, ..draft }))
    }

    /// Puts the draft, after the graph if that has changed. Returns where to continue.
    pub(crate) async fn put(
        mut self,
        editions: &impl Editions,
        (crawl, now): (&CrawlId, Timestamp),
        folder: &Path,
        graph: GraphFile,
    ) -> Result<SitePlace, SiteError> {
        self.stops += 1;
        let place = format!("{}-{}-{}", self.iteration, self.stops, now.as_millisecond());
        let name = |what: &str| format!("{place}.{what}");
        let (path, mut superseded) = (graph_path(folder), None);
        if graph == GraphFile::Changed {
            let bytes = std::fs::metadata(&path)?.len();
            let file = IndexFile { name: name("graph"), bytes };
            editions.put_index_file(crawl, &file.name, &path).await?;
            superseded = std::mem::replace(&mut self.graph_before, self.graph.replace(file));
        }
        let (draft, text) = (name("draft"), serde_json::to_vec(&self)?);
        let written = folder.join("draft");
        tokio::fs::write(&written, &text).await?;
        editions.put_index_file(crawl, &draft, &written).await?;
        if let Some(graph) = &self.graph {
            // A continuation in this process need not fetch it.
            std::fs::rename(path, folder.join(&graph.name))?;
        }
        if let Some(superseded) = superseded {
            editions.delete_index_file(crawl, &superseded.name).await?;
        }
        Ok(SitePlace { draft, bytes: text.len() as u64, stops: self.stops })
    }
}

/// Whether the graph's file has changed since the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GraphFile {
    Changed,
    AsBefore,
}

/// Returns the path of the graph that is being built.
pub(crate) fn graph_path(folder: &Path) -> PathBuf {
    folder.join("graph.db")
}

/// Deletes graphs of earlier drafts from a folder.
pub(crate) fn forget_graphs(folder: &Path) -> std::io::Result<()> {
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "graph") {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Deletes a file if it exists.
pub(crate) fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
