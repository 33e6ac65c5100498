//! Publications and editions in memory, for tests of what is published.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::archive::PutResult;
use dragline_ports::editions::{Editions, StoredEdition};
use dragline_ports::error::PortResult;
use dragline_ports::publications::{ItemsPart, Publications, ReportPlace, ReportTexts};
use dragline_search::Ranges;
use jiff::Timestamp;
use serde_json::Value;

/// Where all of it is, of a single crawl.
#[derive(Clone, Default)]
pub(crate) struct Shelf(Arc<Shelves>);

#[derive(Default)]
struct Shelves {
    items: Mutex<BTreeMap<ItemsPart, Vec<u8>>>,
    reports: Mutex<BTreeMap<Iteration, ReportTexts>>,
    editions: Mutex<BTreeMap<u32, Bytes>>,
    files: Mutex<BTreeMap<String, Bytes>>,
}

impl Shelf {
    /// Returns the lines of a type in order.
    pub(crate) fn lines(&self, table: &str) -> Vec<Value> {
        let parts = self.0.items.lock().unwrap();
        let lines =
            parts.iter().filter(|(part, _)| part.table == table).flat_map(|(_, lines)| lines.split(|&b| b == b'\n'));
        lines.filter(|line| !line.is_empty()).map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    pub(crate) fn items(&self) -> BTreeMap<ItemsPart, Vec<u8>> {
        self.0.items.lock().unwrap().clone()
    }

    pub(crate) fn report(&self, iteration: u32) -> Option<ReportTexts> {
        self.0.reports.lock().unwrap().get(&Iteration::new(iteration).unwrap()).cloned()
    }

    /// The numbers of the editions.
    pub(crate) fn editions(&self) -> Vec<u32> {
        self.0.editions.lock().unwrap().keys().copied().collect()
    }

    /// The names of the index's files.
    pub(crate) fn files(&self) -> Vec<String> {
        self.0.files.lock().unwrap().keys().cloned().collect()
    }

    /// Leaves an edition without an index.
    pub(crate) fn withdraw(&self) {
        let number = self.editions().last().map_or(1, |number| number + 1);
        *self.0.editions.lock().unwrap() = BTreeMap::from([(number, Bytes::new())]);
        self.0.files.lock().unwrap().clear();
        self.0.reports.lock().unwrap().clear();
    }
}

impl Publications for Shelf {
    async fn clear_items(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<()> {
        self.0.items.lock().unwrap().retain(|part, _| part.crawl != *crawl || part.iteration != iteration);
        Ok(())
    }

    async fn put_items(&self, part: &ItemsPart, lines: Vec<u8>) -> PortResult<()> {
        self.0.items.lock().unwrap().insert(part.clone(), lines);
        Ok(())
    }

    async fn put_report(&self, crawl: &CrawlId, iteration: Iteration, texts: ReportTexts) -> PortResult<ReportPlace> {
        self.0.reports.lock().unwrap().insert(iteration, texts);
        let uri = format!("shelf:{crawl}/{iteration}");
        Ok(ReportPlace { link: uri.clone(), uri })
    }

    async fn has_report(&self, _crawl: &CrawlId, iteration: Iteration) -> PortResult<bool> {
        Ok(self.0.reports.lock().unwrap().contains_key(&iteration))
    }
}

impl Editions for Shelf {
    async fn newest_edition(&self, _crawl: &CrawlId) -> PortResult<Option<StoredEdition>> {
        let editions = self.0.editions.lock().unwrap();
        Ok(editions.last_key_value().map(|(&number, text)| StoredEdition { number, text: text.clone() }))
    }

    async fn put_edition(&self, _crawl: &CrawlId, edition: StoredEdition) -> PortResult<PutResult> {
        let mut editions = self.0.editions.lock().unwrap();
        if editions.contains_key(&edition.number) {
            return Ok(PutResult::Exists);
        }
        editions.insert(edition.number, edition.text);
        Ok(PutResult::Stored)
    }

    async fn put_index_file(&self, _crawl: &CrawlId, name: &str, from: &Path) -> PortResult<()> {
        let bytes = Bytes::from(fs::read(from).unwrap());
        let there = self.0.files.lock().unwrap().insert(name.to_owned(), bytes.clone());
        assert!(there.is_none_or(|there| there == bytes), "{name} never changes");
        Ok(())
    }

    async fn get_index_file(&self, _crawl: &CrawlId, name: &str, to: &Path) -> PortResult<()> {
        fs::write(to, &self.0.files.lock().unwrap()[name]).unwrap();
        Ok(())
    }

    async fn read_index_file(&self, _crawl: &CrawlId, name: &str, range: Range<u64>) -> PortResult<Option<Bytes>> {
        Ok(self.read(name, range).ok().map(Bytes::from))
    }

    async fn delete_index_file(&self, _crawl: &CrawlId, name: &str) -> PortResult<()> {
        self.0.files.lock().unwrap().remove(name);
        Ok(())
    }

    async fn delete_superseded(
        &self,
        _crawl: &CrawlId,
        newest: u32,
        names_kept: &[&str],
        _put_before: Timestamp,
    ) -> PortResult<()> {
        self.0.editions.lock().unwrap().retain(|number, _| *number >= newest);
        self.0.files.lock().unwrap().retain(|name, _| names_kept.contains(&name.as_str()));
        Ok(())
    }
}

impl Ranges for Shelf {
    fn read(&self, file: &str, range: Range<u64>) -> io::Result<Vec<u8>> {
        let files = self.0.files.lock().unwrap();
        let bytes = files.get(file).ok_or(io::ErrorKind::NotFound)?;
        let [start, end] = [range.start, range.end].map(|place| usize::try_from(place).unwrap().min(bytes.len()));
        Ok(bytes[start..end].to_vec())
    }
}
