//! The results of a crawl, by URL.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use dragline_domain::command::Command;
use dragline_domain::definition::Definition;
use dragline_domain::outcome::Outcome;
use dragline_formats::warc::{ReadLimits, RecordType, StoredRecord, WarcReader, read_record};
use dragline_local::LocalStore;
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::{Fetcher, Fetchers};
use dragline_ports::frontier::Progress;
use dragline_ports::reader::{
    Batch, CandidateRow, Cursor, Filter, LinkRow, LogRow, PageRow, Reader, RecordPlace, SeenPageRow, each_row,
};
use tempfile::TempDir;

use super::run::{Network, command, crawl, crawl_by, crawl_over, crawl_with, store};

/// The results of the newest iteration of a crawl. URLs of the first seed's origin are given by
/// their path.
#[derive(Debug)]
pub struct Crawled {
    data: TempDir,
    base: String,
    /// The iteration's progress.
    pub progress: Progress,
    /// Every visit.
    pub log: Vec<LogRow>,
    /// Every URL that ended with an answer.
    pub pages: Vec<SeenPageRow>,
    /// Every link of a document that was put.
    pub links: Vec<LinkRow>,
    /// The site as it is now.
    pub now: Vec<PageRow>,
    /// The links of the site as it is now.
    pub links_now: Vec<LinkRow>,
    /// Every known URL.
    pub candidates: Vec<CandidateRow>,
}

/// Reads all rows of a stream, of which `read` returns the batch after a cursor.
///
/// # Panics
/// If it cannot be read.
pub async fn every_row<T, F: Future<Output = PortResult<Batch<T>>>>(read: impl Fn(Option<Cursor>) -> F) -> Vec<T> {
    let mut rows = Vec::new();
    let push = |row| {
        rows.push(row);
        ControlFlow::Continue(())
    };
    each_row(read, push).await.unwrap();
    rows
}

/// Few enough that a test's crawl takes several batches.
const BATCH_ROWS: usize = 7;

impl Crawled {
    /// Crawls into a new data directory.
    ///
    /// # Panics
    /// As [`crawl`] does.
    pub async fn once(definition: &Definition) -> Self {
        Self::in_directory(tempfile::tempdir().unwrap(), definition).await
    }

    /// Runs another iteration into the same data directory.
    ///
    /// # Panics
    /// As [`crawl`] does.
    pub async fn again(self, definition: &Definition) -> Self {
        Self::in_directory(self.data, definition).await
    }

    /// Stores the definition in a new data directory, and runs what the command begins.
    ///
    /// # Panics
    /// As [`command`](super::command) does.
    pub async fn first(definition: &Definition, asked: &Command) -> Self {
        let data = tempfile::tempdir().unwrap();
        store(data.path(), definition).await;
        let progress = command(data.path(), asked).await;
        Self::read(data, definition, progress).await
    }

    /// Carries out a command in the same data directory, for a crawl with this definition, and runs
    /// what it begins.
    ///
    /// # Panics
    /// As [`command`](super::command) does.
    pub async fn then(self, definition: &Definition, asked: &Command) -> Self {
        let progress = command(self.data.path(), asked).await;
        Self::read(self.data, definition, progress).await
    }

    /// Crawls into a new data directory, over the test's own network.
    ///
    /// # Panics
    /// As [`crawl_over`] does.
    pub async fn over(network: Network, definition: &Definition) -> Self {
        let data = tempfile::tempdir().unwrap();
        let progress = crawl_over(network, data.path(), definition).await;
        Self::read(data, definition, progress).await
    }

    /// Crawls into a new data directory, with the test's own fetcher.
    ///
    /// # Panics
    /// As [`crawl_by`] does.
    pub async fn by(fetcher: impl Fetcher + 'static, definition: &Definition) -> Self {
        let data = tempfile::tempdir().unwrap();
        let progress = Box::pin(crawl_by(fetcher, data.path(), definition)).await;
        Self::read(data, definition, progress).await
    }

    /// Crawls into a new data directory, with the test's own fetchers.
    ///
    /// # Panics
    /// As [`crawl_with`] does.
    pub async fn with(fetchers: impl Fetchers, definition: &Definition) -> Self {
        let data = tempfile::tempdir().unwrap();
        let progress = Box::pin(crawl_with(fetchers, data.path(), definition)).await;
        Self::read(data, definition, progress).await
    }

    /// Runs another iteration into the same data directory, with the test's own fetchers.
    ///
    /// # Panics
    /// As [`crawl_with`] does.
    pub async fn again_with(self, fetchers: impl Fetchers, definition: &Definition) -> Self {
        let progress = Box::pin(crawl_with(fetchers, self.data.path(), definition)).await;
        Self::read(self.data, definition, progress).await
    }

    /// Runs another iteration into the same data directory, with the test's own fetcher.
    ///
    /// # Panics
    /// As [`crawl_by`] does.
    pub async fn again_by(self, fetcher: impl Fetcher + 'static, definition: &Definition) -> Self {
        let progress = Box::pin(crawl_by(fetcher, self.data.path(), definition)).await;
        Self::read(self.data, definition, progress).await
    }

    /// Crawls into a data directory, or goes on with an unfinished iteration there.
    ///
    /// # Panics
    /// As [`crawl`] does.
    pub async fn in_directory(data: TempDir, definition: &Definition) -> Self {
        let progress = crawl(data.path(), definition).await;
        Self::read(data, definition, progress).await
    }

    async fn read(data: TempDir, definition: &Definition, progress: Progress) -> Self {
        let reader = &LocalStore::open_read_only(data.path()).unwrap().into_reader(definition.name.clone());
        let latest = reader.latest_iteration().await.unwrap().unwrap();
        let (filter, of_all) = (&Filter::by_iteration(latest.number), &Filter::default());
        let mut crawled = Self {
            data,
            base: definition.seeds[0].origin_str().to_owned(),
            progress,
            log: every_row(|after: Option<Cursor>| async move { reader.log(filter, after.as_ref(), BATCH_ROWS).await })
                .await,
            pages: every_row(|after: Option<Cursor>| async move {
                reader.seen_pages(filter, after.as_ref(), BATCH_ROWS).await
            })
            .await,
            now: every_row(
                |after: Option<Cursor>| async move { reader.pages(of_all, after.as_ref(), BATCH_ROWS).await },
            )
            .await,
            links: every_row(|after: Option<Cursor>| async move {
                reader.seen_links(filter, after.as_ref(), BATCH_ROWS).await
            })
            .await,
            links_now: every_row(|after: Option<Cursor>| async move {
                reader.links(of_all, after.as_ref(), BATCH_ROWS).await
            })
            .await,
            candidates: every_row(|after: Option<Cursor>| async move {
                reader.candidates(of_all, after.as_ref(), BATCH_ROWS).await
            })
            .await,
        };
        crawled.shorten_urls();
        crawled
    }

    fn shorten_urls(&mut self) {
        let base = &self.base;
        let shorten = |url: &mut String| {
            if let Some(path) = url.strip_prefix(base.as_str()).filter(|path| path.starts_with('/')) {
                *url = path.to_owned();
            }
        };
        for row in &mut self.log {
            shorten(&mut row.url);
            row.via.iter_mut().chain(&mut row.redirects_to).for_each(shorten);
        }
        for row in &mut self.pages {
            shorten(&mut row.url);
            row.canonical.iter_mut().for_each(shorten);
        }
        for row in &mut self.now {
            shorten(&mut row.url);
            row.canonical.iter_mut().for_each(shorten);
        }
        for row in self.links.iter_mut().chain(&mut self.links_now) {
            shorten(&mut row.from_url);
            shorten(&mut row.to_url);
        }
        self.candidates.iter_mut().for_each(|row| shorten(&mut row.url));
    }

    /// Checks that exactly these URLs ended, each once, with these outcomes.
    ///
    /// # Panics
    /// If they did not.
    #[track_caller]
    pub fn assert_outcomes(&self, expected: &[(&str, Outcome, &str)]) {
        let mut outcomes: BTreeMap<&str, Vec<Outcome>> = BTreeMap::new();
        for row in self.log.iter().filter(|row| row.r#final) {
            outcomes.entry(&row.url).or_default().push(row.outcome);
        }
        for (url, outcome, why) in expected {
            assert_eq!(outcomes.remove(url), Some(vec![*outcome]), "{url}: {why}");
        }
        assert!(outcomes.is_empty(), "unexpected: {outcomes:?}");
    }

    /// The final log row of a URL.
    ///
    /// # Panics
    /// If it has none.
    #[must_use]
    #[track_caller]
    pub fn row(&self, url: &str) -> &LogRow {
        self.log.iter().find(|row| row.r#final && row.url == url).unwrap_or_else(|| panic!("{url} is not in the log"))
    }

    /// How many requests for a URL the log tells of, those that were sent again included.
    #[must_use]
    pub fn requests_of(&self, url: &str) -> u64 {
        self.log.iter().filter(|row| row.url == url).filter_map(|row| Some(1 + row.resends?)).sum()
    }

    /// How many requests for each URL the log and the archive tell of: those of the log, and the
    /// answers in the archive that are no visits.
    ///
    /// # Panics
    /// As [`Self::every_record`] does.
    #[must_use]
    #[track_caller]
    pub fn requests_told(&self) -> BTreeMap<String, u64> {
        let mut told: BTreeMap<String, u64> = BTreeMap::new();
        let is_answer =
            |record: &&StoredRecord| matches!(record.record_type, RecordType::Response | RecordType::Revisit);
        for record in self.every_record().iter().filter(is_answer) {
            *told.entry(record.target_uri().unwrap_or_default().to_owned()).or_default() += 1;
        }
        for row in self.log.iter().filter(|row| row.resends.is_some() && row.record.is_none()) {
            *told.entry(self.whole_url(&row.url)).or_default() += 1;
        }
        for row in &self.log {
            *told.entry(self.whole_url(&row.url)).or_default() += row.resends.unwrap_or_default();
        }
        told
    }

    fn whole_url(&self, url: &str) -> String {
        if url.starts_with('/') { format!("{}{url}", self.base) } else { url.to_owned() }
    }

    /// The page of a URL.
    ///
    /// # Panics
    /// If it has none.
    #[must_use]
    #[track_caller]
    pub fn page(&self, url: &str) -> &SeenPageRow {
        self.pages.iter().find(|page| page.url == url).unwrap_or_else(|| panic!("{url} is not a page"))
    }

    /// What the site shows at a URL now; `None` if it shows nothing.
    #[must_use]
    pub fn shown(&self, url: &str) -> Option<&PageRow> {
        self.now.iter().find(|page| page.url == url)
    }

    /// The URLs that the site shows now, in order.
    #[must_use]
    pub fn shown_urls(&self) -> Vec<&str> {
        let mut urls: Vec<&str> = self.now.iter().map(|page| page.url.as_str()).collect();
        urls.sort_unstable();
        urls
    }

    /// The stored text of a URL; empty if there is none.
    #[must_use]
    #[track_caller]
    pub fn text(&self, url: &str) -> &str {
        self.page(url).text.as_deref().unwrap_or_default()
    }

    /// The links of a URL: target, kind, disposition.
    #[must_use]
    pub fn links_of(&self, url: &str) -> Vec<(&str, &str, &str)> {
        let links = self.links.iter().filter(|link| link.from_url == url);
        links.map(|link| (link.to_url.as_str(), link.kind.name(), link.disposition.name())).collect()
    }

    /// The numbers of URLs left over, by the name of the reason.
    #[must_use]
    pub fn leftovers(&self) -> Vec<(&'static str, u64)> {
        self.progress.leftovers.iter().map(|(reason, urls)| (reason.name(), *urls)).collect()
    }

    /// The WARC record that a URL's row points to.
    ///
    /// # Panics
    /// If it has no record, or one that cannot be read.
    #[must_use]
    #[track_caller]
    pub fn record(&self, url: &str) -> StoredRecord {
        let RecordPlace { object, offset, length } = self.row(url).record.as_ref().unwrap();
        let object = std::fs::read(self.data.path().join(object.as_str())).unwrap();
        let member = usize::try_from(*offset).unwrap()..usize::try_from(offset + length).unwrap();
        read_record(&object[member], ReadLimits::default()).unwrap()
    }

    /// The data directory.
    #[must_use]
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// Every record of every WARC object, in order.
    ///
    /// # Panics
    /// If one of them is damaged.
    #[must_use]
    #[track_caller]
    pub fn every_record(&self) -> Vec<StoredRecord> {
        let mut records = Vec::new();
        for object in files_below(&self.data.path().join("raw")) {
            let bytes = std::fs::read(&object).unwrap();
            for record in WarcReader::new(&bytes[..], ReadLimits::default()) {
                records.push(record.unwrap_or_else(|error| panic!("{}: {error}", object.display())));
            }
        }
        records
    }
}

/// Returns the files in a directory and those below it, in order.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort_unstable();
    entries.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
