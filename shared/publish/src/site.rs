//! The word index of a crawl as objects, and the report on an iteration.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::CrawlId;
use dragline_graph::{Graph, GraphError};
use dragline_ports::archive::Put;
use dragline_ports::editions::{Editions, StoredEdition};
use dragline_ports::error::PortError;
use dragline_ports::publications::{Publications, ReportPlace};
use dragline_ports::reader::Reader;
use dragline_search::{Changes, Edition, Index, IndexFile, SearchError, Updated};
use dragline_site_report::{Making, ReportError, html, report};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};

/// How many files are copied at the same time.
const COPIES: usize = 4;

/// How long a file that no edition names is left alone: longer than a publisher works, who puts the edition last.
const UNNAMED_KEPT: SignedDuration = SignedDuration::from_hours(1);

/// What to publish, and with what.
#[derive(Clone, Debug)]
pub struct SitePublication {
    /// The iteration that is reported on.
    pub iteration: IterationRow,
    /// A folder for the link graph and the index, which may have those of an earlier publication of the same crawl.
    pub folder: PathBuf,
    /// Who makes the report, and when.
    pub making: Making,
}

/// What was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SitePublished {
    /// What became of the index; `None` if it was up to date.
    pub index: Option<Changes>,
    /// The report; `None` if it was there and the crawl has not gone on.
    pub report: Option<ReportPublished>,
}

/// A report that was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportPublished {
    /// Where it is.
    pub place: ReportPlace,
    /// How many of what an owner may want to change it names, by kind, without kinds of which there are none.
    pub findings: BTreeMap<String, u64>,
}

/// A site could not be published.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The crawl could not be read, or an object not be read or put.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The link graph could not be made.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The index could not be made.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The report could not be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// An edition cannot be written as JSON.
    #[error("the edition of the word index: {0}")]
    Edition(#[from] serde_json::Error),
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] io::Error),
    /// Somebody published the index, or withdrew it, since this publication began.
    #[error("the word index has a newer edition than the one that this publication began with")]
    Superseded,
}

/// Brings the published word index of a crawl up to date with the crawl as it is now, and publishes the report on an iteration.
///
/// Effects in order: the report is put; the files that the index has and no earlier edition had are put; then the edition is, unless there is a newer
/// one than the publication began with, for which these files are deleted again; then what is superseded is deleted. A repeated publication of a crawl that has not gone on does nothing.
///
/// # Errors
/// The crawl cannot be read, the folder or an object not be written, or there is a newer edition ([`SiteError::Superseded`]): whoever calls tries it
/// again.
pub async fn publish_site(
    reader: &impl Reader,
    editions: &impl Editions,
    publications: &impl Publications,
    publication: SitePublication,
) -> Result<SitePublished, SiteError> {
    let SitePublication { iteration, folder, making } = publication;
    let (crawl, number, now) = (iteration.crawl.clone(), iteration.number, making.at);
    let published = editions.newest_edition(&crawl).await?;
    let before = published.as_ref().map_or_else(Edition::none, edition_of);

    let index_folder = folder.join("index");
    tokio::fs::create_dir_all(&folder).await?;
    let missing = before.restore(&index_folder)?;
    each_file(missing, async |file| editions.get_index_file(&crawl, &file.name, &index_folder.join(&file.name)).await)
        .await?;
    let graph = Graph::up_to_date(reader, &folder.join("graph.db"), || ()).await?;
    let (index, updated) = Index::up_to_date(reader, &graph, &index_folder, || ()).await?;
    let changes = match updated {
        Updated::Changed(changes) => Some(changes),
        Updated::Already | Updated::ByAnother => None,
    };
    if changes.is_none() && publications.has_report(&crawl, number).await? {
        return Ok(SitePublished { index: None, report: None });
    }

    let report = report(reader, &graph, iteration, making).await?;
    let found = report.findings.iter().filter(|finding| finding.count > 0);
    let findings = found.map(|finding| (finding.id.to_owned(), finding.count)).collect();
    let place = publications.put_report(&crawl, number, html(&report)).await?;
    if changes.is_some() {
        let edition = index.edition()?;
        let fresh: Vec<&IndexFile> =
            edition.all_files().filter(|file| !before.all_files().any(|old| old == *file)).collect();
        each_file(fresh.clone(), async |file| editions.put_index_file(&crawl, &file.name, &index.path_of(file)).await)
            .await?;
        let stored = StoredEdition {
            number: published.map_or(1, |published| published.number + 1),
            text: edition.to_json()?.into(),
        };
        let newest = stored.number;
        match editions.put_edition(&crawl, stored).await? {
            Put::Stored => {}
            Put::Exists => {
                withdraw(editions, &crawl, fresh).await?;
                return Err(SiteError::Superseded);
            }
        }
        // Who reads the edition before may do so for a moment.
        let kept: Vec<&str> = edition.all_files().chain(before.all_files()).map(|file| file.name.as_str()).collect();
        editions.delete_superseded(&crawl, newest, &kept, before_that(now)).await?;
    }
    Ok(SitePublished { index: changes, report: Some(ReportPublished { place, findings }) })
}

/// Deletes what was put for an edition that did not come about: its texts may be the reason. A file of the one that did stays.
async fn withdraw(editions: &impl Editions, crawl: &CrawlId, fresh: Vec<&IndexFile>) -> Result<(), PortError> {
    let newest = editions.newest_edition(crawl).await?.as_ref().map_or_else(Edition::none, edition_of);
    let left = fresh.into_iter().filter(|file| !newest.all_files().any(|kept| kept == *file)).collect();
    each_file(left, async |file| editions.delete_index_file(crawl, &file.name).await).await
}

/// Reads an edition; one that this program cannot read counts as none, so that the index is made anew.
fn edition_of(stored: &StoredEdition) -> Edition {
    Edition::from_json(&stored.text).unwrap_or_else(Edition::none)
}

async fn each_file<'f>(
    files: Vec<&'f IndexFile>,
    copy: impl AsyncFn(&'f IndexFile) -> Result<(), PortError>,
) -> Result<(), PortError> {
    let copies = stream::iter(files).map(Ok).try_for_each_concurrent(COPIES, |file| copy(file));
    copies.await
}

fn before_that(now: Timestamp) -> Timestamp {
    now.saturating_sub(UNNAMED_KEPT).unwrap_or(Timestamp::MIN)
}
