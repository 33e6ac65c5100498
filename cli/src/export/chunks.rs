//! Rows of passages.

use dragline_domain::ids::CrawlId;
use dragline_ports::reader::DocumentRow;
use dragline_ports::row;
use dragline_report::{Chunk, ChunkLength, chunks};

/// A passage of a page.
#[derive(Debug)]
pub(super) struct ChunkRow<'d> {
    crawl: &'d str,
    /// The iteration that stored the page.
    iteration: u32,
    url: &'d str,
    title: Option<&'d str>,
    /// Its number on the page, from 1.
    chunk: usize,
    /// Its headings, the outermost first, joined by ` > `.
    headings: String,
    /// Its offset in the page's Markdown, in bytes.
    begins_at: usize,
    words: usize,
    /// SHA-256 of the text, in hexadecimal.
    digest: String,
    text: String,
}

row! { ChunkRow<'d> { crawl, iteration, url, title, chunk, headings, begins_at, words, digest, text } }

/// Splits the main part of a document into passages; none if it has no main part.
pub(super) fn chunk_rows<'d>(crawl: &'d CrawlId, row: &'d DocumentRow) -> impl Iterator<Item = ChunkRow<'d>> + use<'d> {
    let DocumentRow { iteration, document } = row;
    let content = document.content.as_deref();
    let main = content.and_then(|content| content.main.as_ref());
    let about = content.and_then(|content| content.about.as_ref());
    let page = document.page.as_ref();
    let title = about.and_then(|about| about.title.as_deref()).or(page.and_then(|page| page.title.as_deref()));
    let found = main.map(|main| chunks(&main.markdown, ChunkLength::default())).unwrap_or_default();
    found.into_iter().map(move |Chunk { number, headings, begins_at, words, digest, text }| ChunkRow {
        crawl: crawl.as_str(),
        iteration: iteration.number(),
        url: document.url.as_str(),
        title,
        chunk: number,
        headings: headings.join(" > "),
        begins_at,
        words,
        digest,
        text,
    })
}
