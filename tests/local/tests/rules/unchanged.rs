//! Known bodies: how they are read the next time, and what stays the same.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_local::LocalStore;
use dragline_ports::reader::{Cursor, Filter, Reader};
use dragline_testkit::whole_crawls::{Crawled, definition, every_row};

use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// The answers to one URL, iteration by iteration: fields and, if any, a body. The last one
/// repeats.
type Answers = &'static [(u16, &'static [&'static str])];

/// A URL's outcome in each iteration, and the text that is shown.
type Ends = &'static [(Outcome, &'static str)];

const HTML: &str = "content-type: text/html";
const BINARY: &str = "content-type: application/octet-stream";
const TAG: &str = "etag: \"1\"";
const NOINDEX: &str = "x-robots-tag: noindex";

const BODY: &str = "<p>text</p>";
const NOINDEX_BODY: &str = "<meta name=robots content=noindex><p>text</p>";
const LATIN: &[u8] = b"<p>caf\xe9</p>";

fn body_of(target: &str) -> &'static [u8] {
    match target {
        "/meta" | "/meta-304" => NOINDEX_BODY.as_bytes(),
        "/charset" => LATIN,
        _ => BODY.as_bytes(),
    }
}

use Outcome::{
    BlockedAtRequestOfRemote as Hidden, FileDidNotChange as Same, FileIngested as Page, StoredNotRead as Unknown,
};

const CASES: &[(&str, Answers, Ends, &str)] = &[
    ("/same", &[(200, &[HTML])], &[(Page, "text"), (Same, "text"), (Same, "text")], "nothing changes"),
    (
        "/typed",
        &[(200, &[BINARY]), (200, &[HTML])],
        &[(Unknown, ""), (Page, "text"), (Same, "text")],
        "the type is corrected, and the body is a page",
    ),
    (
        "/untyped",
        &[(200, &[HTML]), (200, &[BINARY])],
        &[(Page, "text"), (Unknown, ""), (Same, "")],
        "the type becomes wrong, and the body is not a page",
    ),
    (
        "/binary",
        &[(200, &[BINARY]), (200, &["content-type: image/png"])],
        &[(Unknown, ""), (Same, "")],
        "none before or after",
    ),
    (
        "/no-type",
        &[(200, &[BINARY]), (200, &[])],
        &[(Unknown, ""), (Page, "text"), (Same, "text")],
        "it looks like a page",
    ),
    (
        "/charset",
        &[(200, &["content-type: text/html; charset=utf-8"]), (200, &["content-type: text/html; charset=latin1"])],
        &[(Page, "caf\u{fffd}"), (Page, "caf\u{e9}"), (Same, "caf\u{e9}")],
        "the character set is corrected",
    ),
    ("/meta", &[(200, &[HTML])], &[(Hidden, ""), (Hidden, ""), (Hidden, "")], "noindex stays, with the same body"),
    (
        "/meta-304",
        &[(200, &[HTML, TAG]), (304, &[TAG])],
        &[(Hidden, ""), (Hidden, ""), (Hidden, "")],
        "noindex stays, with a 304",
    ),
    (
        "/field",
        &[(200, &[HTML, NOINDEX])],
        &[(Hidden, ""), (Hidden, ""), (Hidden, "")],
        "noindex in the header stays, with the same body",
    ),
    (
        "/field-304",
        &[(200, &[HTML, NOINDEX, TAG]), (304, &[TAG])],
        &[(Hidden, ""), (Hidden, ""), (Hidden, "")],
        "a 304 need not repeat it",
    ),
    (
        "/hides",
        &[(200, &[HTML]), (200, &[HTML, NOINDEX]), (200, &[HTML])],
        &[(Page, "text"), (Hidden, ""), (Page, "text"), (Same, "text")],
        "noindex comes and goes over the same body",
    ),
    (
        "/hides-304",
        &[(200, &[HTML, TAG]), (304, &[TAG, NOINDEX]), (200, &[HTML, TAG])],
        &[(Page, "text"), (Hidden, ""), (Page, "text"), (Same, "text")],
        "noindex comes with a 304, and goes",
    ),
];

fn answers(asked: &Asked) -> Act {
    let Some((path, answers, ..)) = CASES.iter().find(|case| case.0 == asked.target) else {
        return match asked.target.as_str() {
            "/" => page(&CASES.iter().map(|case| format!("<a href={0}>{0}</a>", case.0)).collect::<String>()),
            _ => answer(404, &[], ""),
        };
    };
    let (status, fields) = answers[asked.earlier.min(answers.len() - 1)];
    assert!(status != 304 || asked.field("if-none-match").is_some(), "{path}: a 304 without a conditional request");
    answer(status, fields, if status == 304 { b"" } else { body_of(path) })
}

#[tokio::test]
async fn a_body_that_is_known_is_read_anew_only_where_it_says_something_else() {
    let site = ScriptedSite::start(answers).await;
    let definition = definition(&[site.url("/")], |_| {});
    let mut crawled = Crawled::once(&definition).await;
    for iteration in 0..4 {
        if iteration > 0 {
            crawled = crawled.again(&definition).await;
        }
        for (path, _, ends, why) in CASES {
            let (outcome, text) = ends[iteration.min(ends.len() - 1)];
            let number = iteration + 1;
            assert_eq!(crawled.row(path).outcome, outcome, "iteration {number}, {path}: {why}");
            assert_eq!(crawled.text(path), text, "iteration {number}, {path}: {why}");
            let candidate = crawled.candidates.iter().find(|candidate| candidate.url == *path).unwrap();
            assert_eq!(candidate.last_outcome, Some(outcome), "iteration {number}, {path}: {why}");
        }
        assert_eq!(crawled.row("/same").outcome == Outcome::FileDidNotChange, iteration > 0);
    }
}

/// The title and the link of a page in an iteration. `/news` changes in the second, `/later` in the
/// third.
fn of_iteration(path: &str, iteration: usize) -> (String, String) {
    let edition = match path {
        "/news" => iteration.min(2),
        "/later" => iteration.saturating_sub(1).max(1),
        _ => 1,
    };
    (format!("{path} in edition {edition}"), format!("{path}/{edition}"))
}

/// What tells that a page did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToldBy {
    /// A 304, by its tag.
    Tag,
    /// The same body.
    Body,
}

/// Pages that lead to each other, and to what each has by its edition.
fn editions(told_by: ToldBy, asked: &Asked, iteration: usize) -> Act {
    let (title, link) = match asked.target.as_str() {
        "/robots.txt" => return answer(404, &[], ""),
        "/" => ("home".to_owned(), "/same".to_owned()),
        path if PAGES.contains(&path) => of_iteration(path, iteration),
        path => return page(&format!("<title>{path}</title>an edition")),
    };
    let tag = format!("\"{title}\"");
    if told_by == ToldBy::Tag && asked.field("if-none-match") == Some(&tag) {
        return answer(304, &[&format!("etag: {tag}")], "");
    }
    let etag = format!("etag: {tag}");
    let fields = match told_by {
        ToldBy::Tag => &[HTML, &etag][..],
        ToldBy::Body => &[HTML],
    };
    answer(
        200,
        fields,
        format!("<title>{title}</title>says <a href={link}>more</a><a href=/news>n</a><a href=/later>l</a>"),
    )
}

const PAGES: [&str; 3] = ["/same", "/news", "/later"];

#[tokio::test]
async fn an_iteration_shows_what_did_not_change_as_it_was_then() {
    for told_by in [ToldBy::Tag, ToldBy::Body] {
        let iteration = Arc::new(AtomicUsize::new(1));
        let now = Arc::clone(&iteration);
        let site = ScriptedSite::start(move |asked| editions(told_by, asked, now.load(Ordering::SeqCst))).await;
        let definition = definition(&[site.url("/")], |_| {});
        let mut crawled = Crawled::once(&definition).await;
        for number in 2..=3 {
            iteration.store(number, Ordering::SeqCst);
            crawled = crawled.again(&definition).await;
        }
        let data = crawled.data();
        let reader = &LocalStore::open_read_only(data).unwrap().into_reader(definition.name.clone());
        for number in 1..=3 {
            let filter = &Filter::by_iteration(Iteration::new(number).unwrap());
            let seen =
                every_row(|after: Option<Cursor>| async move { reader.seen_pages(filter, after.as_ref(), 2).await });
            let seen = seen.await;
            assert!(
                seen.iter().all(|page| page.title.is_some() && page.text.is_some()),
                "iteration {number}: {seen:#?}"
            );
            let links =
                every_row(|after: Option<Cursor>| async move { reader.seen_links(filter, after.as_ref(), 2).await });
            let links = links.await;
            for path in PAGES {
                let (title, link) = of_iteration(path, number.try_into().unwrap());
                let pages: Vec<_> = seen.iter().filter(|page| page.url == site.url(path)).collect();
                assert_eq!(pages.len(), 1, "iteration {number}, {path}");
                assert_eq!(pages[0].title.as_deref(), Some(title.as_str()), "iteration {number}");
                assert!(
                    pages[0].text.as_deref().is_some_and(|text| text.contains("says")),
                    "iteration {number}, {path}"
                );
                let targets: Vec<_> =
                    links.iter().filter(|of| of.from_url == site.url(path)).map(|of| of.to_url.clone()).collect();
                assert_eq!(
                    targets,
                    [link.as_str(), "/news", "/later"].map(|path| site.url(path)),
                    "iteration {number}, {path}"
                );
            }
        }
        let unchanged = crawled.log.iter().filter(|visit| visit.outcome == Same);
        let statuses: BTreeSet<_> = unchanged.map(|visit| visit.status).collect();
        assert_eq!(statuses.contains(&Some(304)), told_by == ToldBy::Tag, "{statuses:?}");
    }
}
