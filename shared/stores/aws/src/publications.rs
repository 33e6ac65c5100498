//! The [`Publications`] over S3: items as gzipped lines of JSON below
//! `items/CRAWL/ITERATION/TYPE/`, and reports as `reports/CRAWL/ITERATION.html`,
//! `.md` and `.json`.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Read as _;
use std::sync::Arc;

use bytes::Bytes;
use dragline_domain::frontier::ObjectKey;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::CrawlUrl;
use dragline_formats::deflated::{CompressionGoal, gzip};
use dragline_ports::clock::Rng;
use dragline_ports::error::PortResult;
use dragline_ports::publications::{ItemsPart, Publications, ReportForm, ReportPlace, ReportTexts};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;

use crate::AwsClients;
use crate::documents::S3Documents;
use crate::errors::StoreError;
use crate::kinds::{ITEMS, Kind, REPORT};
use crate::objects::{Bucket, KEYS_MAX};

/// The maximum inflated size of items. Parts are far smaller: `dragline-publish` defines their
/// size.
const LINES_BYTES_MAX: u64 = 512 << 20;

/// Publishes into a bucket.
#[derive(Clone, Debug)]
pub struct S3Publications {
    bucket: Bucket,
}

impl S3Publications {
    /// Returns the publications in this bucket. `rng` gives the random waits of a put after a
    /// conflict with another.
    #[must_use]
    pub fn new(clients: &AwsClients, bucket: &str, rng: Arc<dyn Rng>) -> Self {
        Self { bucket: Bucket::new(clients.s3.clone(), bucket, rng) }
    }

    /// Returns the publications in the same bucket as these documents.
    #[must_use]
    pub fn beside(documents: &S3Documents) -> Self {
        Self { bucket: documents.bucket().clone() }
    }

    /// Deletes the items of these URLs from an iteration's items.
    ///
    /// # Errors
    /// Fails if S3 does, or an object is not ours.
    pub(crate) async fn forget(
        &self,
        crawl: &CrawlId,
        iteration: Iteration,
        urls: &BTreeSet<&CrawlUrl>,
    ) -> PortResult<()> {
        let forgotten = async {
            let mut after = None;
            loop {
                let keys = self.list(crawl, iteration, after.as_ref()).await?;
                for key in &keys {
                    let Some(object) = self.bucket.get(key, ITEMS).await? else { continue };
                    let lines = inflate(&object.bytes)?;
                    let left = without(&lines, urls)?;
                    if left.len() < lines.len() {
                        self.bucket.replace(key, ITEMS, gzip(&left, CompressionGoal::Time)).await?;
                    }
                }
                match keys.last() {
                    Some(last) => after = Some(last.clone()),
                    None => return Ok(()),
                }
            }
        };
        forgotten.await.map_err(|e: StoreError| e.at("forget items", IterationName(crawl, iteration)))
    }

    /// Returns the report on an iteration in this form; `None` if there is none.
    ///
    /// # Errors
    /// Fails if S3 does.
    pub async fn report(&self, crawl: &CrawlId, iteration: Iteration, form: ReportForm) -> PortResult<Option<Bytes>> {
        let key = ObjectKey::for_report(crawl, iteration, form.extension());
        let object = self.bucket.get(&key, kind(form)).await.map_err(|e| e.at("read a report", &key))?;
        Ok(object.map(|object| object.bytes))
    }

    /// Deletes the reports on all iterations, as they may contain forgotten URLs.
    ///
    /// # Errors
    /// Fails if S3 does.
    pub(crate) async fn withdraw_reports(&self, crawl: &CrawlId) -> PortResult<()> {
        let withdrawn = self.bucket.delete_all(&ObjectKey::reports_prefix(crawl)).await;
        withdrawn.map_err(|e| e.at("withdraw reports", crawl))
    }

    async fn list(
        &self,
        crawl: &CrawlId,
        iteration: Iteration,
        after: Option<&ObjectKey>,
    ) -> Result<Vec<ObjectKey>, StoreError> {
        self.bucket.list(&ObjectKey::items_prefix(crawl, iteration), after, KEYS_MAX).await
    }
}

impl Publications for S3Publications {
    async fn clear_items(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<()> {
        let cleared = self.bucket.delete_all(&ObjectKey::items_prefix(crawl, iteration)).await;
        cleared.map_err(|e| e.at("clear items", IterationName(crawl, iteration)))
    }

    async fn put_items(&self, part: &ItemsPart, lines: Vec<u8>) -> PortResult<()> {
        let key = ObjectKey::for_items(&part.crawl, part.iteration, &part.table, part.number);
        let put = self.bucket.put(&key, ITEMS, gzip(&lines, CompressionGoal::Time)).await;
        put.map_err(|e| e.at("put items", &key))
    }

    async fn put_report(&self, crawl: &CrawlId, iteration: Iteration, texts: ReportTexts) -> PortResult<ReportPlace> {
        let ReportTexts { html, markdown, json } = texts;
        // The page comes last: where it is, the others are.
        for (form, text) in [(ReportForm::Json, json), (ReportForm::Markdown, markdown), (ReportForm::Html, html)] {
            let key = ObjectKey::for_report(crawl, iteration, form.extension());
            let put = self.bucket.put(&key, kind(form), text.into_bytes()).await;
            put.map_err(|e| e.at("put a report", &key))?;
        }
        let key = ObjectKey::for_report(crawl, iteration, ReportForm::Html.extension());
        Ok(ReportPlace { uri: self.bucket.uri(&key), link: self.bucket.console_link(&key) })
    }

    async fn has_report(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<bool> {
        let key = ObjectKey::for_report(crawl, iteration, ReportForm::Html.extension());
        self.bucket.holds(&key).await.map_err(|e| e.at("look for a report", &key))
    }
}

/// Returns the kind of the objects of a form.
const fn kind(form: ReportForm) -> Kind {
    let media_type = match form {
        ReportForm::Html => REPORT.media_type,
        ReportForm::Markdown => "text/markdown; charset=utf-8",
        ReportForm::Json => "application/json",
    };
    Kind { media_type, ..REPORT }
}

/// The name of a publication in messages.
struct IterationName<'c>(&'c CrawlId, Iteration);

impl fmt::Display for IterationName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "iteration {} of {}", self.1, self.0)
    }
}

fn inflate(bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
    let mut lines = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(LINES_BYTES_MAX + 1).read_to_end(&mut lines);
    read.map_err(|error| StoreError::Damaged(format!("items cannot be inflated: {error}")))?;
    StoreError::check_size("the items' bytes", lines.len(), LINES_BYTES_MAX)?;
    Ok(lines)
}

/// Returns the lines of other URLs.
fn without(lines: &[u8], urls: &BTreeSet<&CrawlUrl>) -> Result<Vec<u8>, StoreError> {
    #[derive(Deserialize)]
    struct Line {
        url: String,
    }
    let mut left = Vec::with_capacity(lines.len());
    for line in lines.split_inclusive(|&byte| byte == b'\n') {
        let Line { url } = serde_json::from_slice(line)?;
        if !urls.iter().any(|forgotten| forgotten.as_str() == url) {
            left.extend_from_slice(line);
        }
    }
    Ok(left)
}
