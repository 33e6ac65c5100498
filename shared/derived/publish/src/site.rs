//! Publishes the word index of a crawl as objects, and the report on an iteration.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use dragline_domain::document::Document;
use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::CrawlId;
use dragline_graph::{BuildResult, Graph, GraphError};
use dragline_ports::archive::PutResult;
use dragline_ports::editions::{Editions, StoredEdition};
use dragline_ports::error::PortError;
use dragline_ports::publications::{Publications, ReportPlace, ReportTexts, SitePlace};
use dragline_ports::reader::Reader;
use dragline_report::site::{
    Report, ReportError, ReportExtent, ReportStamp, ReportTotals, html, markdown, report, report_from_totals,
};
use dragline_search::{Changes, Edition, Index, IndexFile, Parts, SearchError, UpdateResult};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};

use crate::draft::{Draft, GraphFile, Stage, forget_graphs, graph_path, remove};

/// The number of simultaneous copies.
const COPIES: usize = 4;

/// How long a file without an edition is left alone: longer than a publisher works, which puts the
/// edition last.
const UNNAMED_KEPT: SignedDuration = SignedDuration::from_hours(1);

/// The subject and the settings of a publication.
#[derive(Clone, Debug)]
pub struct SitePublication {
    /// The reported iteration.
    pub iteration: IterationRow,
    /// A folder for the link graph and the index, possibly with those of an earlier publication of
    /// the same crawl.
    pub folder: PathBuf,
    /// The author and time of the report.
    pub making: ReportStamp,
    /// The sizes of work units.
    pub limits: SiteLimits,
}

/// The sizes of work units. The published data depends on them, but not on where a publication
/// stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteLimits {
    /// The maximum number of pages of an index that is updated at once. The index of a larger site
    /// is rebuilt in parts.
    pub pages_at_once: u64,
    /// The number of documents per part.
    pub part_documents: u64,
}

/// Both fit into the time and disk of one invocation of a function.
impl Default for SiteLimits {
    fn default() -> Self {
        Self { pages_at_once: 60_000, part_documents: 40_000 }
    }
}

/// The result of a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteResult {
    /// The changes to the index; `None` if it was up to date.
    pub index: Option<Changes>,
    /// The report; `None` if it existed and the crawl has not progressed.
    pub report: Option<PublishedReport>,
}

/// A published report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedReport {
    /// Its location.
    pub place: ReportPlace,
    /// The number of its findings by kind, without kinds that have none.
    pub findings: BTreeMap<String, u64>,
}

/// Why a site could not be published.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The crawl could not be read, or an object could not be read or put.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The link graph could not be built.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The index could not be built.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The report could not be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// An edition or a draft could not be written as JSON.
    #[error("the edition of the word index: {0}")]
    Edition(#[from] serde_json::Error),
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] io::Error),
    /// The index was published or withdrawn, or URLs were forgotten, since this publication began.
    #[error("the word index has a newer edition than the one that this publication began with, or URLs were forgotten")]
    Superseded,
}

/// The end of a call that may stop a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteEnd {
    /// Everything is published.
    Published(SiteResult),
    /// The publication stopped; any process can continue from here.
    Stopped(SitePlace),
}

/// Publishes a site without stopping: [`publish_site_from`].
///
/// # Errors
/// See there.
pub async fn publish_site(
    reader: &impl Reader,
    editions: &impl Editions,
    publications: &impl Publications,
    publication: SitePublication,
) -> Result<SiteResult, SiteError> {
    let mut from = None;
    loop {
        let rest = || ControlFlow::Continue(());
        match publish_site_from(reader, editions, publications, (publication.clone(), from), rest).await? {
            SiteEnd::Published(published) => return Ok(published),
            SiteEnd::Stopped(place) => from = Some(place),
        }
    }
}

/// Updates the published word index of a crawl, and publishes the report on an iteration, until
/// `rest` breaks: then it stores its state, and returns the place where any process can continue.
/// `rest` is called between batches of the link graph and of the log, and between the parts of a
/// large site's index; each call completes at least one of them. The index of a site that fits into
/// a part is updated at once.
///
/// Effects in order: the report is put; the index files that no earlier edition has are put, those
/// of parts as they are built; then the edition is put, unless there is a newer one than at the
/// start, in which case these files are deleted again; then superseded files are deleted. A
/// repeated publication of a crawl that has not progressed does nothing.
///
/// Forgotten URLs are not published: forgetting first increments a counter, then deletes reports
/// and withdraws the index. A publication that puts a report later sees the new count, and the next
/// try puts the report again without those URLs.
///
/// # Errors
/// The crawl cannot be read, the folder or an object cannot be written, or there is a newer edition
/// or URLs were forgotten ([`SiteError::Superseded`]): then the caller tries again from the
/// beginning.
pub async fn publish_site_from(
    reader: &impl Reader,
    editions: &impl Editions,
    publications: &impl Publications,
    (publication, from): (SitePublication, Option<SitePlace>),
    rest: impl Fn() -> ControlFlow<()>,
) -> Result<SiteEnd, SiteError> {
    let SitePublication { iteration, folder, .. } = &publication;
    let crawl = &iteration.crawl;
    tokio::fs::create_dir_all(folder).await?;
    let forgotten = reader.times_forgotten().await?;
    let stored = editions.newest_edition(crawl).await?;
    let site = Site {
        before: stored.as_ref().map_or_else(Edition::none, parse_edition),
        edition_before: stored.map_or(0, |stored| stored.number),
        forgotten,
        reader,
        editions,
        publications,
        publication: &publication,
        rest,
    };
    let draft = match &from {
        Some(place) => Draft::load(editions, (crawl, iteration.number), place, folder).await?,
        None => None,
    };
    match draft.filter(|draft| (draft.forgotten, draft.edition_before) == (forgotten, site.edition_before)) {
        Some(draft) => Box::pin(site.go_on(draft)).await,
        None => Box::pin(site.begin()).await,
    }
}

/// A publication in progress.
struct Site<'s, R, E, P, F> {
    reader: &'s R,
    editions: &'s E,
    publications: &'s P,
    publication: &'s SitePublication,
    /// The newest edition.
    before: Edition,
    /// Its number; 0 if there is none.
    edition_before: u32,
    forgotten: u64,
    rest: F,
}

impl<R: Reader, E: Editions, P: Publications, F: Fn() -> ControlFlow<()>> Site<'_, R, E, P, F> {
    async fn begin(&self) -> Result<SiteEnd, SiteError> {
        let SitePublication { iteration, folder, .. } = self.publication;
        let now = Graph::current_source_state(self.reader).await?;
        let is_published = self.before.source_state().as_ref() == Some(&now);
        if is_published && self.publications.has_report(&iteration.crawl, iteration.number).await? {
            return Ok(SiteEnd::Published(SiteResult { index: None, report: None }));
        }
        let path = graph_path(folder);
        if Graph::file_source_state(&path).as_ref() != Some(&now) {
            remove(&path)?;
        }
        forget_graphs(folder)?;
        self.go_on(Draft::new(iteration.number, self.edition_before, self.forgotten)).await
    }

    async fn go_on(&self, draft: Draft) -> Result<SiteEnd, SiteError> {
        let path = graph_path(&self.publication.folder);
        let made = match Graph::make_on(self.reader, &path, &self.rest).await {
            Ok(BuildResult::Unfinished) => return self.stop(draft, GraphFile::Changed).await,
            Ok(BuildResult::Whole(graph)) => graph,
            Err(error) if error.is_too_large() => {
                tracing::warn!(%error, "the site is published without its links");
                remove(&path)?;
                Graph::create_empty(self.reader, &path).await?
            }
            Err(error) => return Err(error.into()),
        };
        let (next, is_made_now) = match draft.next {
            Stage::Graph if made.pages()? <= self.publication.limits.pages_at_once => (Stage::Index, true),
            Stage::Graph => (self.first_part(&made), true),
            next => (next, false),
        };
        let draft = Draft { next, ..draft };
        if is_made_now && (self.rest)().is_break() {
            drop(made);
            return self.stop(draft, GraphFile::Changed).await;
        }
        match draft.next {
            Stage::Graph | Stage::Index => self.at_once(&made).await.map(SiteEnd::Published),
            Stage::Part { .. } | Stage::Log { .. } => {
                // Before the first part, the graph has not been put.
                let graph = if is_made_now { GraphFile::Changed } else { GraphFile::AsBefore };
                match self.in_parts(&made, draft).await? {
                    Ok(published) => Ok(SiteEnd::Published(published)),
                    Err(draft) => {
                        drop(made);
                        self.stop(draft, graph).await
                    }
                }
            }
        }
    }

    fn first_part(&self, graph: &Graph) -> Stage {
        let mut gathered = ReportTotals::new(self.publication.iteration.started_at);
        if graph.is_empty() {
            gathered
                .note("links, redirects and what is alike: the site has more URLs than a link graph holds".to_owned());
        }
        Stage::Part { after: None, parts: Parts::default(), gathered: Box::new(gathered) }
    }

    async fn stop(&self, draft: Draft, graph: GraphFile) -> Result<SiteEnd, SiteError> {
        let SitePublication { iteration, folder, making, .. } = self.publication;
        let place = draft.put(self.editions, (&iteration.crawl, making.at), folder, graph).await?;
        Ok(SiteEnd::Stopped(place))
    }

    /// Updates the index at once, and reports.
    async fn at_once(&self, graph: &Graph) -> Result<SiteResult, SiteError> {
        let SitePublication { iteration, folder, making, .. } = self.publication;
        let index_folder = folder.join("index");
        let missing = self.before.restore(&index_folder)?;
        each_file(missing, async |file| {
            self.editions.get_index_file(&iteration.crawl, &file.name, &index_folder.join(&file.name)).await
        })
        .await?;
        let (index, updated) = Index::up_to_date(self.reader, graph, &index_folder, || ()).await?;
        let changes = match updated {
            UpdateResult::Changed(changes) => Some(changes),
            UpdateResult::Already | UpdateResult::ByAnother => None,
        };
        if changes.is_none() && self.publications.has_report(&iteration.crawl, iteration.number).await? {
            return Ok(SiteResult { index: None, report: None });
        }
        let report = report(self.reader, graph, iteration.clone(), (making.clone(), &ReportExtent::default())).await?;
        let report = self.put_report(&report).await?;
        if changes.is_some() {
            let edition = index.edition()?;
            let fresh = self.fresh(&edition);
            each_file(fresh, async |file| {
                self.editions.put_index_file(&iteration.crawl, &file.name, &index.file_path(file)).await
            })
            .await?;
            self.put_edition(&edition).await?;
        }
        Ok(SiteResult { index: changes, report: Some(report) })
    }

    /// Builds the index in parts, and reports. Returns the draft if it is to stop.
    async fn in_parts(&self, graph: &Graph, draft: Draft) -> Result<Result<SiteResult, Draft>, SiteError> {
        let SitePublication { iteration, folder, making, limits } = self.publication;
        let (parts, mut gathered) = match draft.next {
            Stage::Part { mut after, mut parts, mut gathered } => loop {
                let folder = folder.join("part");
                let visit = |document: &Document| gathered.add_document(document);
                let of = (after, limits.part_documents);
                let (part, next) = Index::make_part(self.reader, graph, &folder, of, visit).await?;
                let files = parts.add(&part)?;
                each_file(files.iter().collect(), async |file| {
                    self.editions.put_index_file(&iteration.crawl, &file.name, &part.file_path(file)).await
                })
                .await?;
                let Some(next) = next else { break (parts, gathered) };
                if (self.rest)().is_break() {
                    let next = Stage::Part { after: Some(next), parts, gathered };
                    return Ok(Err(Draft { next, ..draft }));
                }
                after = Some(next);
            },
            Stage::Log { parts, gathered } => (parts, gathered),
            Stage::Graph | Stage::Index => return Ok(Err(draft)),
        };
        if gathered.add_log(self.reader, iteration, &self.rest).await?.is_break() {
            return Ok(Err(Draft { next: Stage::Log { parts, gathered }, ..draft }));
        }
        let report = report_from_totals(
            self.reader,
            graph,
            iteration.clone(),
            (*gathered, making.clone(), &ReportExtent::default()),
        )
        .await?;
        let report = self.put_report(&report).await?;
        let written = parts.pages();
        tokio::fs::remove_dir_all(folder.join("part")).await.or_else(if_missing)?;
        if let Some(edition) = parts.edition()? {
            self.put_edition(&edition).await?;
        }
        let index = Some(Changes { written, ..Changes::default() });
        Ok(Ok(SiteResult { index, report: Some(report) }))
    }

    async fn put_report(&self, report: &Report) -> Result<PublishedReport, SiteError> {
        let IterationRow { crawl, number, .. } = &self.publication.iteration;
        let found = report.findings.iter().filter(|finding| finding.count > 0);
        let findings = found.map(|finding| (finding.id.to_owned(), finding.count)).collect();
        check_forgotten(self.reader, self.forgotten).await?;
        let texts = ReportTexts { html: html(report), markdown: markdown(report), json: report.to_json() + "\n" };
        let place = self.publications.put_report(crawl, *number, texts).await?;
        check_forgotten(self.reader, self.forgotten).await?;
        Ok(PublishedReport { place, findings })
    }

    /// Returns the files that are not in the previous edition.
    fn fresh<'e>(&self, edition: &'e Edition) -> Vec<&'e IndexFile> {
        edition.all_files().filter(|file| !self.before.all_files().any(|old| old == *file)).collect()
    }

    /// Puts an edition whose files have been put.
    async fn put_edition(&self, edition: &Edition) -> Result<(), SiteError> {
        let SitePublication { iteration: IterationRow { crawl, .. }, making, .. } = self.publication;
        let newest = self.edition_before + 1;
        let stored = StoredEdition { number: newest, text: edition.to_json()?.into() };
        match self.editions.put_edition(crawl, stored).await? {
            PutResult::Stored => {}
            PutResult::Exists => {
                withdraw(self.editions, crawl, self.fresh(edition)).await?;
                return Err(SiteError::Superseded);
            }
        }
        // Readers may use the previous edition for a moment longer.
        let files = edition.all_files().chain(self.before.all_files());
        let kept: Vec<&str> = files.map(|file| file.name.as_str()).collect();
        self.editions.delete_superseded(crawl, newest, &kept, unnamed_cutoff(making.at)).await?;
        Ok(())
    }
}

fn if_missing(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// Checks that no URL was forgotten since the count `before` was read.
async fn check_forgotten(reader: &impl Reader, before: u64) -> Result<(), SiteError> {
    if reader.times_forgotten().await? == before { Ok(()) } else { Err(SiteError::Superseded) }
}

/// Deletes the files put for an edition that was superseded, as their texts may be the reason.
/// Files of the newest edition stay.
async fn withdraw(editions: &impl Editions, crawl: &CrawlId, fresh: Vec<&IndexFile>) -> Result<(), PortError> {
    let newest = editions.newest_edition(crawl).await?.as_ref().map_or_else(Edition::none, parse_edition);
    let left = fresh.into_iter().filter(|file| !newest.all_files().any(|kept| kept == *file)).collect();
    each_file(left, async |file| editions.delete_index_file(crawl, &file.name).await).await
}

/// Parses an edition. One that this program cannot read counts as none, so that the index is
/// rebuilt.
fn parse_edition(stored: &StoredEdition) -> Edition {
    Edition::from_json(&stored.text).unwrap_or_else(Edition::none)
}

async fn each_file<'f>(
    files: Vec<&'f IndexFile>,
    copy: impl AsyncFn(&'f IndexFile) -> Result<(), PortError>,
) -> Result<(), PortError> {
    let copies = stream::iter(files).map(Ok).try_for_each_concurrent(COPIES, |file| copy(file));
    copies.await
}

fn unnamed_cutoff(now: Timestamp) -> Timestamp {
    now.saturating_sub(UNNAMED_KEPT).unwrap_or(Timestamp::MIN)
}
