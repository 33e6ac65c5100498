//! A limit on the memory for a segment's links, so that a parse fits into its process whatever its
//! 50 pages contain.

use std::mem::size_of;

use dragline_domain::document::{Document, Link};
use dragline_domain::frontier::ReadAs;
use dragline_domain::shown::plural;

/// The number of links that every document keeps. The links that stand for its page are among them,
/// as they come first.
const LINKS_MIN: usize = 8;

/// The memory left for links while the documents of a segment are made.
#[derive(Debug)]
pub(crate) struct LinkRoom {
    bytes_max: u32,
    bytes_left: usize,
}

impl LinkRoom {
    /// Returns the room for links that take this many bytes together.
    pub(crate) const fn new(bytes_max: u32) -> Self {
        Self { bytes_max, bytes_left: bytes_max as usize }
    }

    /// Returns a document without the links that there is no room for; the document says so. A URL
    /// named as a sitemap keeps all: the crawler limits sitemaps per segment.
    pub(crate) fn keep(&mut self, mut document: Document, read_as: ReadAs) -> Document {
        if read_as.is_sitemap() {
            return document;
        }
        let mut kept = 0;
        for link in &document.links {
            match self.bytes_left.checked_sub(link_bytes(link)) {
                Some(left) => self.bytes_left = left,
                None if kept < LINKS_MIN => {}
                None => break,
            }
            kept += 1;
        }
        let left_out = document.links.len() - kept;
        if left_out == 0 {
            return document;
        }
        document.links.truncate(kept);
        document.links.shrink_to_fit();
        let which = plural(left_out as u64, "link");
        let said =
            format!("left out {which}: with those of other pages they take more than {} MiB", self.bytes_max >> 20);
        document.detail = Some(match document.detail.take() {
            Some(detail) => format!("{detail}; {said}"),
            None => said,
        });
        if let Some(page) = &mut document.page {
            page.cut = page.cut.and_links();
        }
        document
    }
}

/// Returns the memory of a link, in bytes.
fn link_bytes(link: &Link) -> usize {
    size_of::<Link>() + link.target.as_str().len() + link.anchor.as_ref().map_or(0, String::len)
}

#[cfg(test)]
mod tests {
    use dragline_domain::document::{Disposition, LinkKind, Page, PageCut, Rel};
    use dragline_domain::outcome::Outcome;
    use dragline_domain::url::{CrawlUrl, Spelling};

    use super::*;

    const BYTES_MAX: u32 = 32 << 20;

    fn document(n: u32, links: usize, url_bytes: usize) -> Document {
        let url = |path: String| CrawlUrl::try_from(format!("https://a.example/{path}")).unwrap();
        let links = (0..links).map(|link| Link {
            kind: LinkKind::A,
            target: url(format!("{n}-{link}-{}", "x".repeat(url_bytes))),
            disposition: Disposition::Follow,
            spelling: Spelling::Whole,
            rel: Rel::Follow,
            anchor: None,
        });
        Document {
            links: links.collect(),
            page: Some(Page::default()),
            ..Document::bare(n, url(n.to_string()), Outcome::FileIngested)
        }
    }

    #[test]
    fn links_of_all_pages_together_have_a_limit_and_what_is_left_out_is_said() {
        let mut room = LinkRoom::new(BYTES_MAX);
        let mut all = 0;
        for n in 0..50 {
            let document = room.keep(document(n, 1_000, 1_500), ReadAs::Typed);
            all += document.links.iter().map(link_bytes).sum::<usize>();
            assert!(document.links.len() >= LINKS_MIN, "the first are kept, which stand for the page");
            let page = document.page.unwrap();
            let left_out = 1_000 - document.links.len();
            assert_eq!(page.cut == PageCut::Links, left_out > 0, "page {n}");
            let said = document.detail.unwrap_or_default();
            assert_eq!(said.contains(&plural(left_out as u64, "link")), left_out > 0, "page {n}: {said}");
        }
        assert!(all <= BYTES_MAX as usize + 50 * LINKS_MIN * 2_048, "{all} bytes");
        assert!(all > BYTES_MAX as usize / 10 * 9, "what fits is kept");
    }

    #[test]
    fn fifty_usual_pages_and_sitemaps_lose_nothing() {
        let mut room = LinkRoom::new(BYTES_MAX);
        for n in 0..50 {
            let page = document(n, 1_000, 80);
            assert_eq!(room.keep(page.clone(), ReadAs::Typed), page);
        }
        let sitemap = document(50, 20_000, 1_900);
        assert_eq!(room.keep(sitemap.clone(), ReadAs::Sitemap), sitemap);
    }
}
