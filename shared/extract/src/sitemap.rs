//! Sitemaps (sitemaps.org, protocol 0.9): the URLs that a sitemap lists, the sitemaps of an index of them, and those that robots.txt names.

use std::borrow::Cow;

use dragline_domain::document::LinkKind;
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::robots::ROBOTS_PATH;
use quick_xml::events::BytesStart;

use crate::body::{Body, FoundLink};
use crate::fields::MediaType;
use crate::files::xml::{Visitor, walk};

/// The most URLs of one sitemap (a limit of the protocol).
const ENTRIES_MAX: usize = 50_000;

/// The longest URL that is read (a limit of the protocol is 2,048).
const URL_BYTES_MAX: usize = 8 << 10;

/// How much of a body is looked at before all of it is read.
const LOOK_BYTES: u64 = 4 << 10;

const GZIP_MARK: &[u8] = b"\x1f\x8b";

/// Returns the links of a body that is a sitemap or robots.txt; none if it is neither.
pub(crate) fn links(body: &Body<'_>) -> Vec<FoundLink> {
    let urls = match body.media {
        MediaType::Plain | MediaType::Unknown if body.source.url.path_and_query() == ROBOTS_PATH => {
            let bytes = body.beginning(body.settings.decoded_bytes_max);
            of_robots(&body.text(&bytes).text)
        }
        MediaType::Xml | MediaType::Plain | MediaType::Unknown | MediaType::Binary | MediaType::Other => of_xml(body),
        MediaType::Html | MediaType::Xhtml | MediaType::Json | MediaType::Pdf | MediaType::Office | MediaType::Css => {
            return Vec::new();
        }
    };
    body.links(urls.into_iter().map(|url| (LinkKind::Sitemap, url)))
}

/// Returns the sitemaps that robots.txt names. They belong to no group (RFC 9309 section 2.2.4).
fn of_robots(text: &str) -> Vec<String> {
    let lines = text.split(['\n', '\r']).filter_map(|line| line.split_once(':'));
    let named = lines.filter(|(name, _)| name.trim().trim_start_matches('\u{feff}').eq_ignore_ascii_case("sitemap"));
    named.map(|(_, value)| value.trim().to_owned()).filter(|url| !url.is_empty()).take(ENTRIES_MAX).collect()
}

fn of_xml(body: &Body<'_>) -> Vec<String> {
    let bytes_max = body.settings.decoded_bytes_max;
    // A file that is compressed, not a body that is for the way.
    let gzip = body.beginning(GZIP_MARK.len() as u64).starts_with(GZIP_MARK);
    let gzip = gzip.then(|| ContentCodings::parse([&b"gzip"[..]]).ok()).flatten();
    let read = |up_to: u64| match &gzip {
        None => body.beginning(up_to),
        Some(gzip) => Cow::Owned(decode_all(gzip, &body.beginning(bytes_max), up_to).bytes.into_owned()),
    };
    // Most files of these types are something else, and not read any further.
    if !looks_like_one(&read(LOOK_BYTES)) {
        return Vec::new();
    }
    let mut entries = Entries::default();
    walk(&body.text(&read(bytes_max)).text, &mut entries);
    entries.urls
}

/// Whether this may be the beginning of a sitemap, in any encoding of which letters are bytes.
fn looks_like_one(beginning: &[u8]) -> bool {
    [&b"urlset"[..], b"sitemapindex"].iter().any(|root| beginning.windows(root.len()).any(|window| window == *root))
}

#[derive(Debug, Default)]
struct Entries {
    /// Whether the root is one of a sitemap; `None` before it.
    is_sitemap: Option<bool>,
    /// The names of the open elements below the root, as far as a URL may stand.
    open: Vec<String>,
    /// How many elements are open.
    depth: usize,
    url: String,
    urls: Vec<String>,
}

/// The depth of `loc`: below the root and an entry.
const LOC_DEPTH: usize = 3;

impl Entries {
    fn is_in_loc(&self) -> bool {
        self.depth == LOC_DEPTH
            && matches!(self.open.as_slice(), [entry, loc] if loc == "loc" && (entry == "url" || entry == "sitemap"))
    }
}

impl Visitor for Entries {
    fn start(&mut self, name: &str, _: &BytesStart<'_>) {
        if self.depth == 0 {
            self.is_sitemap = Some(matches!(name, "urlset" | "sitemapindex"));
        } else if self.depth < LOC_DEPTH {
            self.open.push(name.to_owned());
        }
        self.depth += 1;
        self.url.clear();
    }

    fn end(&mut self, _: &str) {
        if self.is_in_loc() && !self.url.trim().is_empty() && self.url.len() <= URL_BYTES_MAX {
            self.urls.push(self.url.trim().to_owned());
        }
        self.depth = self.depth.saturating_sub(1);
        self.open.truncate(self.depth.saturating_sub(1));
        self.url.clear();
    }

    fn text(&mut self, text: &str) {
        if self.is_in_loc() && self.url.len() <= URL_BYTES_MAX {
            self.url.push_str(text);
        }
    }

    fn is_done(&self) -> bool {
        self.is_sitemap == Some(false) || self.urls.len() >= ENTRIES_MAX
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::content::ContentLevel;
    use dragline_domain::url::{CrawlUrl, UrlRules};
    use dragline_formats::deflated::{Sparing, gzip};
    use dragline_formats::http_fields::Headers;

    use super::*;
    use crate::typed::Types;
    use crate::{Settings, Source, extract};

    /// The paths of the links of a body, or whole URLs if they are elsewhere.
    fn listed(path: &str, content_type: &str, body: &[u8]) -> Vec<String> {
        let rules = UrlRules::default();
        let url = CrawlUrl::parse(&format!("https://a.example{path}"), &rules).unwrap();
        let headers = Headers::from_iter([("Content-Type", content_type)]);
        let settings = Settings {
            product_token: "Dragline",
            url_rules: &rules,
            decoded_bytes_max: 8 << 20,
            content: ContentLevel::Text,
            types: Types::NONE,
        };
        let Err(unread) = extract(&Source { url: &url, headers: &headers, body }, &settings) else {
            return vec!["a page".to_owned()];
        };
        assert!(unread.links.iter().all(|link| link.kind == LinkKind::Sitemap));
        let targets = unread.links.iter().map(|link| link.target.as_str());
        targets.map(|target| target.strip_prefix("https://a.example").unwrap_or(target).to_owned()).collect()
    }

    #[test]
    fn what_is_listed_for_crawlers_is_found() {
        let set =
            |entries: &str| format!("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{entries}</urlset>");
        let one = set("<url><loc>https://a.example/1</loc></url>");
        let compressed = gzip(one.as_bytes(), Sparing::Time);
        let many = set(&(0..ENTRIES_MAX + 10).map(|n| format!("<url><loc>/{n}</loc></url>")).collect::<String>());
        assert_eq!(listed("/sitemap.xml", "text/xml", many.as_bytes()).len(), ENTRIES_MAX, "as many as there may be");
        for (path, content_type, body, expected, why) in [
            ("/sitemap.xml", "application/xml", one.as_bytes(), &["/1"][..], "a sitemap"),
            ("/sitemap.xml", "text/plain", one.as_bytes(), &["/1"], "under another type"),
            ("/x", "application/octet-stream", one.as_bytes(), &["/1"], "under any name"),
            ("/sitemap.xml.gz", "application/x-gzip", &compressed, &["/1"], "a file that is compressed"),
            ("/sitemap.xml.gz", "application/octet-stream", &compressed, &["/1"], "whatever it is called"),
            ("/sitemap.xml.gz", "application/x-gzip", &compressed[..compressed.len() / 2], &[], "half of it"),
            (
                "/i.xml",
                "text/xml",
                b"<?xml version='1.0'?><s:sitemapindex xmlns:s='x'><s:sitemap><s:loc>/2.xml</s:loc></s:sitemap></s:sitemapindex>",
                &["/2.xml"],
                "an index, with a prefix",
            ),
            (
                "/s.xml",
                "text/xml",
                b"<urlset><url><loc>\n https://a.example/?a=1&amp;b=2 </loc><lastmod>2026</lastmod></url><url><loc>\xc3\xa9</loc></url></urlset>",
                &["/?a=1&b=2", "/%C3%A9"],
                "entities, spaces and other letters",
            ),
            (
                "/s.xml",
                "text/xml",
                b"<urlset><url><loc>/a</loc><image:image><image:loc>/picture.png</image:loc></image:image></url><url><loc>/a</loc></url></urlset>",
                &["/a"],
                "pictures are no pages, and each is named once",
            ),
            (
                "/s.xml",
                "text/xml",
                b"<urlset><url><loc>javascript:alert(1)</loc></url><url><loc>https://b.example/</loc></url><url><loc></loc></url><url><loc>/c</loc>",
                &["https://b.example/", "/c"],
                "what can be crawled, up to where it breaks off",
            ),
            ("/f.xml", "text/xml", b"<feed><entry><loc>/a</loc></entry> urlset </feed>", &[], "another vocabulary"),
            ("/h", "text/html", one.as_bytes(), &["a page"], "a page is one"),
            (
                "/robots.txt",
                "text/plain",
                b"\xef\xbb\xbfSitemap: /1.xml\r\nUser-agent: *\nDisallow: /x\nSITEMAP :https://b.example/2.xml\nsitemap:\n#sitemap: /no",
                &["/1.xml", "https://b.example/2.xml"],
                "robots.txt, in any group",
            ),
            ("/robots.txt?x", "text/plain", b"Sitemap: /1.xml", &[], "not robots.txt"),
            ("/a/robots.txt", "text/plain", b"Sitemap: /1.xml", &[], "nor this"),
        ] {
            assert_eq!(listed(path, content_type, body), expected, "{why}");
        }
    }
}
