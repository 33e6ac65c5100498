//! Sites of any size generated from a seed: for benchmarks, and for tests that must know every
//! page.

use std::fmt::Write;
use std::io;
use std::time::{Duration, UNIX_EPOCH};

use super::content::{Content, Page, PathContent};
use super::media_type::media_type;

/// A site in which every page can be reached from `/`. The same values always give the same bytes.
///
/// Page 0 is `/`, page `n` is `/page/n.html`. The first half of a page's links spans a tree over
/// all pages, so the site is shallow; the others lead anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratedSite {
    /// How many pages there are; with 0 even `/` is missing.
    pub pages: u32,
    /// Links on each page; with 0 only `/` can be reached.
    pub links_per_page: u32,
    /// Length of a page, unless its links need more.
    pub bytes_per_page: usize,
    /// The seed: sites of different seeds differ.
    pub seed: u64,
}

impl GeneratedSite {
    /// The site that crawlers are benchmarked on: pages of 20 KB with 50 links each.
    #[must_use]
    pub const fn benchmark(pages: u32) -> Self {
        Self { pages, links_per_page: 50, bytes_per_page: 20_000, seed: 1 }
    }

    /// The path of every page.
    pub fn paths(&self) -> impl Iterator<Item = String> + use<> {
        (0..self.pages).map(path_of)
    }

    /// Its pages as content, for those who wrap it; a site of them alone is
    /// [`super::SiteBuilder::generated`].
    #[must_use]
    pub fn content(self) -> impl Content {
        GeneratedPages::new(self)
    }

    /// The pages that a page links to, in order; some may occur twice.
    fn links(&self, page: u32) -> impl Iterator<Item = u32> + use<> {
        let Self { pages, links_per_page, seed, .. } = *self;
        let branches = u64::from(links_per_page.div_ceil(2));
        (0..u64::from(links_per_page)).map(move |nth| {
            let child = u64::from(page) * branches + nth + 1;
            let anywhere = mix(seed ^ mix(u64::from(page) << 32 | nth)) % u64::from(pages);
            let target = if nth < branches && child < u64::from(pages) { child } else { anywhere };
            u32::try_from(target).expect("both are less than `pages`, which is a u32")
        })
    }
}

/// A generated site and the text that its pages share.
#[derive(Debug)]
pub(super) struct GeneratedPages {
    site: GeneratedSite,
    /// ASCII prose, twice the length of a page, of which each page shows another part.
    prose: String,
}

impl GeneratedPages {
    pub(super) fn new(site: GeneratedSite) -> Self {
        Self { site, prose: prose(site.bytes_per_page * 2, site.seed) }
    }

    fn body(&self, page: u32) -> String {
        let GeneratedSite { bytes_per_page, seed, .. } = self.site;
        let mut body = String::with_capacity(bytes_per_page);
        let write = "writing to a string cannot fail";
        write!(body, "<!doctype html>\n<html lang=en><title>Page {page}</title>\n<h1>Page {page}</h1>\n<ul>\n")
            .expect(write);
        for target in self.site.links(page) {
            writeln!(body, "<li><a href=\"{}\">Page {target}</a>", path_of(target)).expect(write);
        }
        body.push_str("</ul>\n<p>");
        let wanted = bytes_per_page.saturating_sub(body.len());
        let start =
            usize::try_from(mix(seed.wrapping_add(u64::from(page)))).unwrap_or_default() % bytes_per_page.max(1);
        body.push_str(&self.prose[start..start + wanted]);
        body
    }
}

impl Content for GeneratedPages {
    fn find(&self, path: &str) -> io::Result<PathContent> {
        let Some(page) = page_of(path).filter(|&page| page < self.site.pages) else { return Ok(PathContent::Missing) };
        Ok(PathContent::Page(Page {
            media_type: media_type("page.html".as_ref()),
            modified: UNIX_EPOCH + Duration::from_hours(24 * 365 * 50),
            tag: format!("{:x}-{page:x}", self.site.seed),
            body: self.body(page).into(),
            zipped: None,
        }))
    }
}

fn path_of(page: u32) -> String {
    if page == 0 { "/".to_owned() } else { format!("/page/{page}.html") }
}

fn page_of(path: &str) -> Option<u32> {
    if path == "/" {
        return Some(0);
    }
    let page = path.strip_prefix("/page/")?.strip_suffix(".html")?.parse().ok()?;
    // `+1` and `01` parse too, but each page has only one path.
    (page != 0 && path_of(page) == path).then_some(page)
}

/// Words in sentences, at least this many bytes of ASCII.
fn prose(bytes_min: usize, seed: u64) -> String {
    const WORDS: [&str; 32] = [
        "the", "spider", "pays", "out", "a", "thread", "behind", "itself", "and", "returns", "along", "it", "when",
        "wind", "moves", "between", "branches", "of", "an", "old", "tree", "where", "morning", "light", "finds",
        "each", "drop", "that", "hangs", "from", "its", "web",
    ];
    let mut text = String::with_capacity(bytes_min + 16);
    let mut state = seed;
    while text.len() < bytes_min {
        state = mix(state);
        let word = usize::try_from(state % 32).expect("less than 32");
        text.push_str(WORDS[word]);
        text.push_str(if state >> 60 == 0 { ". " } else { " " });
    }
    text
}

/// Spreads the bits of a number, by the output function of splitmix64 (Steele, Lea and Flood,
/// 2014).
const fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn body(site: GeneratedSite, path: &str) -> Option<Vec<u8>> {
        match GeneratedPages::new(site).find(path).unwrap() {
            PathContent::Page(page) => Some(page.body.to_vec()),
            PathContent::Directory | PathContent::Missing => None,
        }
    }

    proptest! {
        #[test]
        fn every_page_can_be_reached(pages in 1..300u32, links_per_page in 1..60u32, seed: u64) {
            let site = GeneratedSite { pages, links_per_page, bytes_per_page: 0, seed };
            let mut found = BTreeSet::from([0]);
            let mut todo = vec![0];
            while let Some(page) = todo.pop() {
                todo.extend(site.links(page).filter(|&target| found.insert(target)));
            }
            prop_assert_eq!(found.len(), pages as usize);
        }

        #[test]
        fn a_page_has_its_length_and_is_always_the_same(page in 0..50u32, bytes_per_page in 1_000..30_000usize, seed: u64) {
            let site = GeneratedSite { pages: 50, links_per_page: 10, bytes_per_page, seed };
            let path = path_of(page);
            let first = body(site, &path).unwrap();
            prop_assert_eq!(first.len(), bytes_per_page);
            prop_assert_eq!(Some(first), body(site, &path));
        }
    }

    #[test]
    fn a_page_has_one_path() {
        let site = GeneratedSite { pages: 3, links_per_page: 2, bytes_per_page: 0, seed: 7 };
        for (path, there, why) in [
            ("/", true, "page 0"),
            ("/page/1.html", true, "page 1"),
            ("/page/2.html", true, "the last"),
            ("/page/3.html", false, "past the last"),
            ("/page/0.html", false, "page 0 is /"),
            ("/page/01.html", false, "a leading zero"),
            ("/page/+1.html", false, "a sign"),
            ("/page/1", false, "no extension"),
            ("/page/99999999999.html", false, "the number is too large"),
        ] {
            assert_eq!(body(site, path).is_some(), there, "{path}: {why}");
        }
        assert_eq!(site.paths().collect::<Vec<_>>(), ["/", "/page/1.html", "/page/2.html"]);
        assert!(body(GeneratedSite { pages: 0, ..site }, "/").is_none(), "no pages, no /");
    }

    #[test]
    fn pages_and_seeds_differ() {
        let site = GeneratedSite::benchmark(100);
        assert_ne!(body(site, "/page/1.html"), body(site, "/page/2.html"));
        assert_ne!(body(site, "/"), body(GeneratedSite { seed: 2, ..site }, "/"));
    }
}
