//! A second opinion on the URLs that a crawl of a site must visit.
//!
//! It walks the files themselves, with html5ever's tree and the `url` crate, and uses neither the
//! crawler's link extractor nor its frontier. It shares only the mapping from paths to files with
//! the server.

use std::collections::{BTreeMap, VecDeque};

use dragline_testkit::site::{Content, Directory, Page, PathContent};
use scraper::{ElementRef, Html};
use url::Url;

/// What a crawler will find at a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A page of HTML.
    Page,
    /// Something other than a page: an image, a text.
    File,
    /// A directory named without its slash.
    Redirect,
    /// Nothing, although some page links to it.
    Missing,
}

/// Link types (HTML, section 4.6.7, and the older ones still in use) of a `<link>` that leads to a
/// page.
const PAGES_BESIDE: [&str; 18] = [
    "alternate",
    "canonical",
    "next",
    "prev",
    "previous",
    "first",
    "last",
    "start",
    "begin",
    "end",
    "up",
    "top",
    "contents",
    "toc",
    "index",
    "chapter",
    "section",
    "subsection",
];

/// What is walked beside pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Nothing.
    Nothing,
    /// What pages need to be shown: pictures, styles, scripts.
    Requisites,
}

/// Every URL of a site that can be reached from its first page, and what is there.
///
/// # Panics
/// If a file of the site cannot be read, or `start` is not a URL.
#[must_use]
pub fn walk(site: &Directory, start: &str, beside: Beside) -> BTreeMap<String, Expected> {
    let start = Url::parse(start).expect("a site's address is a URL");
    let mut visited = BTreeMap::new();
    let mut todo = VecDeque::from([start.clone()]);
    if beside == Beside::Requisites {
        // Browsers ask for it, whatever pages say.
        todo.extend(start.join("/favicon.ico"));
    }
    while let Some(url) = todo.pop_front() {
        if visited.contains_key(url.as_str()) {
            continue;
        }
        let found = site.find(url.path()).unwrap_or_else(|error| panic!("{url}: {error}"));
        let (expected, links) = match found {
            PathContent::Page(page) if page.media_type.contains("html") => (Expected::Page, links(&page, &url, beside)),
            PathContent::Page(page) if page.media_type.contains("css") && beside == Beside::Requisites => {
                let styles = String::from_utf8_lossy(&page.body).into_owned();
                (Expected::File, of_styles(&styles).iter().filter_map(|link| url.join(link).ok()).collect())
            }
            PathContent::Page(_) => (Expected::File, Vec::new()),
            PathContent::Directory => (Expected::Redirect, Url::parse(&slashed(&url)).into_iter().collect()),
            PathContent::Missing => (Expected::Missing, Vec::new()),
        };
        visited.insert(url.into(), expected);
        todo.extend(links.into_iter().filter(|link| link.origin() == start.origin()).map(normalised));
    }
    visited
}

fn slashed(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    format!("{url}/")
}

/// Normalises a URL: drops the fragment and an empty query.
fn normalised(mut url: Url) -> Url {
    url.set_fragment(None);
    if url.query() == Some("") {
        url.set_query(None);
    }
    url
}

/// The links of a page that a crawler follows.
fn links(page: &Page, url: &Url, beside: Beside) -> Vec<Url> {
    let document = Html::parse_document(&String::from_utf8_lossy(&page.body));
    let elements = || document.tree.nodes().filter_map(ElementRef::wrap);
    let of = |element: &ElementRef<'_>, name: &str| element.value().attr(name).map(ToOwned::to_owned);

    let base = elements().filter(|element| element.value().name() == "base").find_map(|element| of(&element, "href"));
    let base = base.and_then(|href| url.join(&href).ok()).unwrap_or_else(|| url.clone());
    let nofollow = elements().any(|element| {
        let says =
            |name: &str, word: &str| of(&element, name).is_some_and(|text| text.to_ascii_lowercase().contains(word));
        element.value().name() == "meta"
            && says("name", "robots")
            && (says("content", "nofollow") || says("content", "none"))
    });
    let mut addresses: Vec<String> = match beside {
        Beside::Nothing => Vec::new(),
        Beside::Requisites => elements().flat_map(requisites).collect(),
    };
    let address = |element: ElementRef<'_>| match element.value().name() {
        "a" | "area" if !has_rel(element, &["nofollow"]) => of(&element, "href"),
        "link" if has_rel(element, &PAGES_BESIDE) && !has_rel(element, &["stylesheet", "nofollow"]) => {
            of(&element, "href")
        }
        "iframe" | "frame" => of(&element, "src"),
        "meta" => of(&element, "content").filter(|_| is_refresh(element)).and_then(|content| refresh_target(&content)),
        _ => None,
    };
    if !nofollow {
        addresses.extend(elements().filter_map(address));
    }
    addresses.iter().filter_map(|address| base.join(address).ok()).collect()
}

/// What an element loads.
fn requisites(element: ElementRef<'_>) -> Vec<String> {
    let of =
        |name: &str| element.value().attr(name).filter(|address| !address.trim().is_empty()).map(ToOwned::to_owned);
    let mut loaded = match element.value().name() {
        "img" | "script" | "video" | "audio" | "source" | "embed" => vec![of("src"), of("poster")],
        "link" if has_rel(element, &["stylesheet", "icon", "manifest"]) => vec![of("href")],
        "meta" if is_preview(element) => vec![of("content")],
        "object" => vec![of("data")],
        "style" => element.text().flat_map(of_styles).map(Some).collect(),
        _ => Vec::new(),
    };
    if matches!(element.value().name(), "img" | "source") {
        loaded.push(["data-src", "data-lazy-src", "data-original"].into_iter().find_map(of));
    }
    let sets = ["srcset", "data-srcset", "data-lazy-srcset"]
        .into_iter()
        .filter_map(of)
        .flat_map(|set| set.split(',').map(str::trim).map(ToOwned::to_owned).collect::<Vec<_>>());
    loaded.extend(sets.map(|one| one.split_whitespace().next().map(ToOwned::to_owned)));
    loaded.extend(of("style").iter().flat_map(|style| of_styles(style)).map(Some));
    loaded.into_iter().flatten().collect()
}

/// Whether a `<meta>` has the picture of previews.
fn is_preview(element: ElementRef<'_>) -> bool {
    let name = element.value().attr("property").or_else(|| element.value().attr("name")).unwrap_or_default();
    let name = name.to_ascii_lowercase();
    matches!(&*name, "og:image" | "og:image:url" | "og:image:secure_url" | "twitter:image" | "twitter:image:src")
}

/// What styles load, as far as they are written plainly.
fn of_styles(styles: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = styles;
    while let Some((before, comment)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let unquoted = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    let urls = plain.split("url(").skip(1).filter_map(|url| url.split_once(')')).map(|(url, _)| unquoted(url));
    let imports = plain.split("@import").skip(1).filter(|import| import.trim_start().starts_with(['"', '\'']));
    let imports = imports.filter_map(|import| import.split_once(';')).map(|(import, _)| unquoted(import));
    urls.chain(imports).filter(|url| !url.is_empty() && !url.starts_with('#') && !url.starts_with("data:")).collect()
}

fn has_rel(element: ElementRef<'_>, kinds: &[&str]) -> bool {
    let rel = element.value().attr("rel").unwrap_or_default();
    rel.split_ascii_whitespace().any(|word| kinds.iter().any(|kind| word.eq_ignore_ascii_case(kind)))
}

fn is_refresh(element: ElementRef<'_>) -> bool {
    element.value().attr("http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("refresh"))
}

/// The URL in `3; url=next.html`; `None` for a page that only reloads itself.
fn refresh_target(content: &str) -> Option<String> {
    let (_seconds, rest) = content.split_once([';', ','])?;
    let (name, target) = rest.split_once('=')?;
    name.trim().eq_ignore_ascii_case("url").then(|| target.trim().trim_matches(['"', '\'']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_finds_what_is_linked_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = root.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write(
            "index.html",
            "<base href=sub/><base href=/nowhere/><link rel='up next' href=beside.html><link rel=stylesheet href=a.css>
             <a href='a.html#part'>one</a><a href='a.html?'>again</a><a rel='NoFollow' href=secret.html>no</a>
             <a href=/dir>dir</a><a href='/a%20b.txt'>text</a><a href=http://other.example/>out</a><a href=mailto:x@y>mail</a>
             <iframe src=frame.html></iframe><img src=x.png><form action=/act></form><!-- <a href=commented.html> -->
             <script>'<a href=scripted.html>'</script><meta http-equiv=refresh content='9; URL=\"later.html\"'>",
        );
        write("sub/a.html", "<a href='b.html?x=1&amp;y=2'>b</a>");
        write("sub/b.html", "<meta name=robots content='noindex, nofollow'><a href=unseen.html>x</a>");
        write("dir/index.html", "");
        write("a b.txt", "<a href=not-a-page.html>");
        write("island.html", "");

        write("nowhere/unused.css", "");
        write("sub/a.css", "/* url(no.png) */ @import 'b.css'; p { background: url( \"x.png\" ) }");

        let short = |beside| -> Vec<(String, Expected)> {
            let visited = walk(&Directory::new(root.path()), "http://127.0.0.1:1/", beside);
            visited.into_iter().map(|(url, expected)| (url.replace("http://127.0.0.1:1", ""), expected)).collect()
        };
        let beside: Vec<_> =
            short(Beside::Requisites).into_iter().filter(|url| !short(Beside::Nothing).contains(url)).collect();
        let parts = [
            ("/favicon.ico", Expected::Missing),
            ("/sub/a.css", Expected::File),
            ("/sub/b.css", Expected::Missing),
            ("/sub/x.png", Expected::Missing),
        ];
        assert_eq!(beside, parts.map(|(url, expected)| (url.to_owned(), expected)));
        assert_eq!(
            short(Beside::Nothing).iter().map(|(url, expected)| (url.as_str(), *expected)).collect::<Vec<_>>(),
            [
                ("/", Expected::Page),
                ("/a%20b.txt", Expected::File),
                ("/dir", Expected::Redirect),
                ("/dir/", Expected::Page),
                ("/sub/a.html", Expected::Page),
                ("/sub/b.html?x=1&y=2", Expected::Page),
                ("/sub/beside.html", Expected::Missing),
                ("/sub/frame.html", Expected::Missing),
                ("/sub/later.html", Expected::Missing),
            ]
        );
    }
}
