//! A crawl in memory, which tests change as they like.

use std::collections::BTreeMap;

use dragline_domain::capture::CrawlType;
use dragline_domain::change::{ChangeKind, VisitChange};
use dragline_domain::content::Content;
use dragline_domain::document::{Disposition, Document, LinkKind};
use dragline_domain::frontier::{IterationRow, IterationStatus, ObjectKey, Reserve};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use dragline_domain::item::Item;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Progress;
use dragline_ports::reader::{
    Batch, CandidateRow, Cursor, DocumentRow, Filter, LeftoverRow, LinkRow, LogRow, PageRow, Reader, RecordPlace, Rest,
    SeenPageRow, StoredSegment,
};
use jiff::Timestamp;

/// A crawl: what its streams return.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) crawl: CrawlId,
    pub(crate) pages: Vec<PageRow>,
    pub(crate) links: Vec<LinkRow>,
    pub(crate) log: Vec<LogRow>,
    pub(crate) documents: Vec<DocumentRow>,
    pub(crate) iterations: BTreeMap<u32, IterationRow>,
    pub(crate) forgotten: u64,
}

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_795_000_000 + second).unwrap()
}

pub(crate) fn url(path: &str) -> String {
    format!("https://a.example{path}")
}

impl Stored {
    /// A crawl with these numbers of pages in its first iteration, each with three links, a visit
    /// and an item.
    pub(crate) fn with_pages(pages: u32) -> Self {
        let crawl: CrawlId = "docs".parse().unwrap();
        let mut stored = Self {
            crawl,
            pages: Vec::new(),
            links: Vec::new(),
            log: Vec::new(),
            documents: Vec::new(),
            iterations: BTreeMap::new(),
            forgotten: 0,
        };
        stored.begin(1);
        for n in 0..pages {
            stored.put_page(1, &format!("/{n}"), &format!("Page {n}"));
        }
        stored
    }

    /// Begins an iteration, and closes it at once.
    pub(crate) fn begin(&mut self, number: u32) {
        let (crawl, trigger) = (self.crawl.clone(), TriggerId(format!("t{number}")));
        let number_of = Iteration::new(number).unwrap();
        let begun = at(i64::from(number) * 1_000);
        let mut row = IterationRow::begin(crawl, number_of, trigger, Reserve::default(), begun, None, begun);
        (row.status, row.closed_at, row.open) = (IterationStatus::Closed, Some(at(i64::from(number) * 1_000 + 900)), 0);
        self.iterations.insert(number, row);
    }

    /// Adds a page that an iteration saw, with links, a visit and an item; replaces an older one.
    pub(crate) fn put_page(&mut self, iteration: u32, path: &str, title: &str) {
        let (crawl, url) = (self.crawl.to_string(), url(path));
        let is_known = self.pages.iter().any(|page| page.url == url);
        self.remove_page(path);
        let place = RecordPlace { object: object(), offset: 100, length: 900 };
        self.pages.push(PageRow {
            crawl: crawl.clone(),
            iteration,
            url: url.clone(),
            outcome: Outcome::FileIngested,
            depth: 1,
            status: Some(200),
            content_type: Some("text/html".to_owned()),
            body_bytes: Some(1_234),
            at: at(i64::from(iteration)),
            title: Some(title.to_owned()),
            description: None,
            language: Some("en".to_owned()),
            charset: Some("UTF-8".to_owned()),
            canonical: None,
            text: Some(format!("Text of {title}")),
            record: place.clone(),
            first_seen: at(0),
            last_checked: Some(at(5)),
            last_changed: None,
            last_outcome: Some(Outcome::FileIngested),
            uses: None,
            markup: None,
        });
        for to in ["/a", "/b", "/a"] {
            self.links.push(LinkRow {
                crawl: crawl.clone(),
                iteration,
                from_url: url.clone(),
                to_url: self::url(to),
                kind: LinkKind::A,
                disposition: Disposition::Blocked("rule 1".into()),
                anchor: Some(format!("to {to}")),
            });
        }
        let kind = if is_known { ChangeKind::Changed } else { ChangeKind::New };
        self.log.push(LogRow {
            crawl,
            iteration,
            url: url.clone(),
            depth: 1,
            via: None,
            crawl_type: CrawlType::Queued,
            outcome: Outcome::FileIngested,
            r#final: true,
            tries: 1,
            resends: Some(0),
            at: at(i64::from(iteration)),
            status: Some(200),
            duration_ms: Some(12),
            first_byte_ms: Some(7),
            remote: Some("192.0.2.1:443".to_owned()),
            detail: None,
            content_type: Some("text/html".to_owned()),
            body_bytes: Some(1_234),
            truncated: None,
            redirects_to: None,
            record: Some(place),
            agent: "dragline/test".to_owned(),
            change: Some(VisitChange { kind, parts: Vec::new() }),
            page_requests: None,
        });
        self.put_items(
            iteration,
            path,
            &format!(r#"[{{"types":["Product"],"fields":{{"name":{{"values":["{title}"],"from":["json_ld"]}}}}}}]"#),
        );
    }

    /// Sets the items of a page, as JSON.
    pub(crate) fn put_items(&mut self, iteration: u32, path: &str, items: &str) {
        let items: Vec<Item> = serde_json::from_str(items).unwrap();
        let url = CrawlUrl::try_from(url(path)).unwrap();
        self.documents.retain(|row| row.document.url != url);
        let content = Some(Box::new(Content { items, ..Content::default() }));
        let document = Document { content, ..Document::bare(0, url, Outcome::FileIngested) };
        self.documents.push(DocumentRow { iteration: Iteration::new(iteration).unwrap(), document });
    }

    /// Removes a page from the site as it is now. Its visits stay in the log.
    pub(crate) fn remove_page(&mut self, path: &str) {
        let url = url(path);
        self.pages.retain(|page| page.url != url);
        self.links.retain(|link| link.from_url != url);
        self.documents.retain(|row| row.document.url.as_str() != url);
    }

    /// Forgets a URL: everything about it.
    pub(crate) fn forget(&mut self, path: &str) {
        self.remove_page(path);
        self.log.retain(|visit| visit.url != url(path));
        self.forgotten += 1;
    }
}

fn object() -> ObjectKey {
    let key = "raw/docs/1/https_a.example/1-0-7.warc.gz".to_owned();
    ObjectKey::try_from(key).unwrap()
}

/// Returns the rows after a cursor, which is a number of rows.
fn batch<'r, T: Clone + 'r>(
    rows: impl Iterator<Item = &'r T>,
    after: Option<&Cursor>,
    limit: usize,
) -> PortResult<Batch<T>> {
    let before: usize = after.map_or(0, |cursor| cursor.as_str().parse().unwrap());
    let mut rows: Vec<T> = rows.skip(before).take(limit + 1).cloned().collect();
    let rest = if rows.len() > limit { Rest::More } else { Rest::Nothing };
    rows.truncate(limit);
    let cursor = Some(before + rows.len()).filter(|place| *place > 0).map(|place| Cursor::new(place.to_string()));
    Ok(Batch { rows, cursor, rest })
}

/// Returns a stream without rows.
fn nothing<T>() -> PortResult<Batch<T>> {
    Ok(Batch { rows: Vec::new(), cursor: None, rest: Rest::Nothing })
}

impl Reader for Stored {
    async fn latest_iteration(&self) -> PortResult<Option<IterationRow>> {
        Ok(self.iterations.values().next_back().cloned())
    }

    async fn load_iteration(&self, number: Iteration) -> PortResult<Option<IterationRow>> {
        Ok(self.iterations.get(&number.number()).cloned())
    }

    async fn progress(&self, number: Iteration) -> PortResult<Progress> {
        let visits = self.log.iter().filter(|visit| visit.iteration == number.number()).count() as u64;
        Ok(Progress { segments: visits, parsed: visits, ..Progress::default() })
    }

    async fn times_forgotten(&self) -> PortResult<u64> {
        Ok(self.forgotten)
    }

    async fn unvisited(&self) -> PortResult<u64> {
        Ok(0)
    }

    async fn pages(&self, _: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<PageRow>> {
        batch(self.pages.iter(), after, limit)
    }

    async fn links(&self, _: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<LinkRow>> {
        batch(self.links.iter(), after, limit)
    }

    async fn seen_pages(&self, _: &Filter, _: Option<&Cursor>, _: usize) -> PortResult<Batch<SeenPageRow>> {
        nothing()
    }

    async fn seen_links(&self, _: &Filter, _: Option<&Cursor>, _: usize) -> PortResult<Batch<LinkRow>> {
        nothing()
    }

    async fn log(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<LogRow>> {
        let number = filter.iteration.map(Iteration::number);
        let is_of_iteration = |visit: &&LogRow| number.is_none_or(|number| visit.iteration == number);
        batch(self.log.iter().filter(is_of_iteration), after, limit)
    }

    async fn candidates(&self, _: &Filter, _: Option<&Cursor>, _: usize) -> PortResult<Batch<CandidateRow>> {
        nothing()
    }

    async fn documents(&self, _: &Filter, _: Option<&Cursor>, _: usize) -> PortResult<Batch<DocumentRow>> {
        nothing()
    }

    async fn shown_documents(
        &self,
        _: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<DocumentRow>> {
        batch(self.documents.iter(), after, limit)
    }

    async fn leftovers(&self, _: &Filter, _: Option<&Cursor>, _: usize) -> PortResult<Batch<LeftoverRow>> {
        nothing()
    }

    async fn segments(&self, _: &Filter, _: Option<&Cursor>, _: usize) -> PortResult<Batch<StoredSegment>> {
        nothing()
    }
}
