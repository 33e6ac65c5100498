//! A site over four iterations, and the differences between any two of them.

use std::ops::ControlFlow;

use dragline_domain::change::{ChangeKind, Difference, PageLink, Part, VisitChange};
use dragline_domain::document::{Disposition, Document, Link, LinkKind, Page, Rel};
use dragline_domain::frontier::{IterationRow, IterationStatus, VisitPlace};
use dragline_domain::ids::{Iteration, Turn};
use dragline_domain::outcome::Outcome;
use dragline_domain::url::{CrawlUrl, Spelling};
use dragline_ports::reader::{DocumentRow, LogRow};

use super::{LinkChange, PageChange, Span, Which, each_page_change, links, pages};
use crate::samples::{ScriptedReader, iteration, visit};

const SITE: &str = "https://a.example";

fn number(number: u32) -> Iteration {
    Iteration::new(number).unwrap()
}

fn url(path: &str) -> CrawlUrl {
    CrawlUrl::try_from(format!("{SITE}{path}")).unwrap()
}

/// The results of iterations, in order.
#[derive(Default)]
struct Site(ScriptedReader);

impl Site {
    /// Adds a logged visit with a change such as `changed text,links`, or without one.
    fn visit(mut self, iteration: u32, path: &str, outcome: Outcome, change: &str) -> Self {
        let (kind, parts) = change.split_once(' ').unwrap_or((change, ""));
        let parts = parts.split(',').filter_map(Part::from_name).collect();
        let change = ChangeKind::from_name(kind).map(|kind| VisitChange { kind, parts });
        self.0.log.push(LogRow { iteration, change, ..visit(url(path).as_str(), outcome) });
        self
    }

    /// Adds a document with these links, and with its differences from the previous one, if given.
    fn document(mut self, iteration: u32, path: &str, to: &[&str], differs: Option<[&[&str]; 2]>) -> Self {
        let place = VisitPlace { iteration: Iteration::FIRST, turn: Turn(1), segment: 0, n: 0 };
        let links_to =
            |paths: &[&str]| paths.iter().map(|path| PageLink { kind: LinkKind::A, target: url(path) }).collect();
        let difference = differs.map(|[added, removed]| Difference {
            since: place,
            parts: vec![Part::Links],
            links_added: links_to(added),
            links_removed: links_to(removed),
        });
        let link = |path: &&str| Link {
            kind: LinkKind::A,
            target: url(path),
            disposition: Disposition::Follow,
            spelling: Spelling::Whole,
            rel: Rel::Follow,
            anchor: None,
        };
        let document = Document {
            page: Some(Page::default()),
            links: to.iter().map(link).collect(),
            difference,
            ..Document::bare(0, url(path), Outcome::FileIngested)
        };
        self.0.documents.push(DocumentRow { iteration: number(iteration), document });
        self
    }

    /// Adds a document that only records an outcome.
    fn bare(mut self, iteration: u32, path: &str, outcome: Outcome) -> Self {
        let document = Document::bare(0, url(path), outcome);
        self.0.documents.push(DocumentRow { iteration: number(iteration), document });
        self
    }

    fn told() -> Self {
        use Outcome::{FileDidNotChange, FileIngested, FileNotFound, PermanentRedirect, RequestTimeout};
        let site = Self::default()
            .visit(1, "/", FileIngested, "new")
            .document(1, "/", &["/short", "/old"], None)
            .visit(1, "/old", FileIngested, "new")
            .document(1, "/old", &["/x", "/x", "/y"], None)
            .visit(1, "/comes-back", FileIngested, "new")
            .document(1, "/comes-back", &["/z"], None);
        let site = site
            .visit(2, "/", FileIngested, "changed links")
            .document(2, "/", &["/short", "/old", "/flash", "/stays"], Some([&["/flash", "/stays"], &[]]))
            .visit(2, "/short", FileIngested, "new")
            .document(2, "/short", &["/"], None)
            .visit(2, "/old", FileDidNotChange, "unchanged")
            .bare(2, "/old", FileDidNotChange)
            .visit(2, "/comes-back", FileNotFound, "gone")
            .bare(2, "/comes-back", FileNotFound);
        let site = site
            .visit(3, "/", FileIngested, "changed text,links")
            .document(3, "/", &["/short", "/stays"], Some([&[], &["/flash", "/old"]]))
            .visit(3, "/short", FileNotFound, "gone")
            .bare(3, "/short", FileNotFound)
            .visit(3, "/old", RequestTimeout, "")
            .visit(3, "/comes-back", FileDidNotChange, "back")
            .bare(3, "/comes-back", FileDidNotChange);
        let mut site = site
            .visit(4, "/", FileDidNotChange, "unchanged")
            .visit(4, "/old", FileNotFound, "gone")
            .bare(4, "/old", FileNotFound)
            .visit(4, "/comes-back", PermanentRedirect, "moved status,links");
        site.0.log.iter_mut().for_each(|row| {
            row.redirects_to =
                Some(format!("{SITE}{}", if row.outcome == PermanentRedirect { "/there" } else { "/canonical" }));
        });
        site
    }
}

fn span(from: u32, to: u32) -> Span {
    let latest = IterationRow { number: number(4), ..iteration(IterationStatus::Closed) };
    Span::choose(Some(number(from)), Some(number(to)), &latest).unwrap()
}

/// Shows a change in one line.
fn shown(change: &PageChange) -> String {
    let PageChange { url, change, changed_parts, redirects_to, iteration, .. } = change;
    let path = url.strip_prefix(SITE).unwrap();
    let parts = [change.to_string(), changed_parts.to_string()].join(" ");
    let to = redirects_to.as_ref().map_or_else(String::new, |to| format!(" -> {to}"));
    format!("{path} {}{to} in {iteration}", parts.trim_end())
}

async fn page_changes(from: u32, to: u32, which: Which, remembered_max: usize) -> Vec<String> {
    let mut told = Vec::new();
    pages::each_within(&Site::told().0, span(from, to), which, remembered_max, async |change| {
        told.push(shown(&change));
        Ok(ControlFlow::Continue(()))
    })
    .await
    .unwrap();
    told.sort_unstable();
    told
}

#[tokio::test]
async fn reverted_changes_are_not_differences() {
    use Outcome::{FileIngested, RequestTimeout};
    let site = Site::default()
        .visit(1, "/flips", FileIngested, "new")
        .document(1, "/flips", &["/a"], None)
        .visit(2, "/flips", FileIngested, "changed links")
        .document(2, "/flips", &["/b"], Some([&["/b"], &["/a"]]))
        .visit(3, "/flips", FileIngested, "changed links")
        .document(3, "/flips", &["/a"], Some([&["/a"], &["/b"]]))
        .visit(4, "/flips", RequestTimeout, "")
        .bare(4, "/flips", RequestTimeout)
        .0;
    for (from, to, which, expected, why) in [
        (1, 3, Which::Changed, None, "there and back"),
        (1, 3, Which::Visited, Some("/flips unchanged in 3"), "it was visited"),
        (1, 4, Which::Changed, None, "a failure says nothing"),
        (2, 4, Which::Changed, Some("/flips changed links in 3"), "once is no way back"),
    ] {
        let mut told = None;
        let tell = |change: PageChange| {
            told = Some(shown(&change));
            ControlFlow::Continue(())
        };
        each_page_change(&site, span(from, to), which, tell).await.unwrap();
        assert_eq!(told.as_deref(), expected, "{from} to {to}: {why}");
    }
}

#[tokio::test]
async fn each_changed_page_is_reported_once() {
    let cases: [(u32, u32, Which, &[&str], &str); 7] = [
        (
            1,
            2,
            Which::Changed,
            &["/ changed links in 2", "/comes-back gone in 2", "/short new in 2"],
            "neighbours: what the later one's log says",
        ),
        (
            1,
            2,
            Which::Visited,
            &["/ changed links in 2", "/comes-back gone in 2", "/old unchanged in 2", "/short new in 2"],
            "what did not change, too",
        ),
        (
            2,
            3,
            Which::Changed,
            &["/ changed text,links in 3", "/comes-back back in 3", "/short gone in 3"],
            "what failed says nothing",
        ),
        (1, 3, Which::Changed, &["/ changed links in 3"], "what came and went, or went and came, does not differ"),
        (
            1,
            3,
            Which::Visited,
            &["/ changed links in 3", "/comes-back unchanged in 3", "/old unchanged in 2"],
            "it was there before and is again",
        ),
        (
            1,
            4,
            Which::Changed,
            &[
                "/ changed links in 3",
                "/comes-back moved status,links -> https://a.example/there in 4",
                "/old gone in 4",
            ],
            "with the iteration that changed it last",
        ),
        (
            2,
            4,
            Which::Visited,
            &[
                "/ changed text,links in 3",
                "/comes-back back status,links -> https://a.example/there in 4",
                "/old gone in 4",
                "/short gone in 3",
            ],
            "it was gone, and is there again",
        ),
    ];
    for (from, to, which, expected, why) in cases {
        for remembered_max in [1, 2, 100] {
            let told = page_changes(from, to, which, remembered_max).await;
            assert_eq!(told, expected, "{from} to {to}, {remembered_max} remembered: {why}");
        }
    }
}

async fn link_changes(from: u32, to: u32, remembered_max: usize) -> Vec<String> {
    let mut told = Vec::new();
    links::each_within(&Site::told().0, span(from, to), remembered_max, |change: LinkChange| {
        let path = |url: &str| url.strip_prefix(SITE).unwrap().to_owned();
        told.push(format!(
            "{} {} {} {}",
            path(&change.from_url),
            change.change.name(),
            change.kind,
            path(&change.to_url)
        ));
        ControlFlow::Continue(())
    })
    .await
    .unwrap();
    told.sort_unstable();
    told
}

#[tokio::test]
async fn each_changed_link_is_reported_once() {
    let cases: [(u32, u32, &[&str], &str); 4] = [
        (
            1,
            2,
            &["/ added a /flash", "/ added a /stays", "/comes-back removed a /z", "/short added a /"],
            "all links of a new page, and of one that is gone",
        ),
        (
            2,
            3,
            &["/ removed a /flash", "/ removed a /old", "/comes-back added a /z", "/short removed a /"],
            "the links of a page that is back as it was are in its old document",
        ),
        (1, 3, &["/ added a /stays", "/ removed a /old"], "a link that came and went does not differ"),
        (
            1,
            4,
            &["/ added a /stays", "/ removed a /old", "/old removed a /x", "/old removed a /y"],
            "each once; its document is the last one that says something",
        ),
    ];
    for (from, to, expected, why) in cases {
        for remembered_max in [1, 2, 100] {
            let told = link_changes(from, to, remembered_max).await;
            assert_eq!(told, expected, "{from} to {to}, {remembered_max} remembered: {why}");
        }
    }
}

#[tokio::test]
async fn a_break_ends_the_callbacks() {
    let site = Site::told().0;
    for (from, to) in [(1, 2), (1, 4)] {
        let (mut page_calls, mut link_calls) = (0, 0);
        let count = |calls: &mut usize| {
            *calls += 1;
            ControlFlow::Break(())
        };
        pages::each_within(&site, span(from, to), Which::Changed, 1, async |_| Ok(count(&mut page_calls)))
            .await
            .unwrap();
        links::each_within(&site, span(from, to), 1, |_| count(&mut link_calls)).await.unwrap();
        assert_eq!((page_calls, link_calls), (1, 1), "{from} to {to}");
    }
}
