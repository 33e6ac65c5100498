//! What sites say about the use of their pages: obeyed for the purpose of a crawl, and recorded
//! without one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dragline_domain::command::Command;
use dragline_domain::definition::Definition;
use dragline_domain::document::Document;
use dragline_domain::frontier::Selection;
use dragline_domain::outcome::Outcome;
use dragline_domain::use_preferences::Purpose;
use dragline_local::LocalStore;
use dragline_ports::reader::{Cursor, Filter, Reader};
use dragline_testkit::whole_crawls::{Crawled, definition, every_row, store};
use rusqlite::Connection;

use super::replies::links;
use super::scripted::{Act, Asked, ScriptedSite, answer, page};

const PAGE: Outcome = Outcome::FileIngested;
const RESERVED: Outcome = Outcome::UseReserved;
const TDM_PATH: &str = "/.well-known/tdmrep.json";
const ROBOTS: &str = "User-agent: *\nContent-Usage: /robots/ train-ai=n\nContent-Usage: /robots/open train-ai=y\n\
    Content-Signal: /signal ai-train=no, search=yes\n";
const TDM: &str = r#"[{"location": "/tdm/", "tdm-reservation": 1}, {"location": "/tdm/open", "tdm-reservation": 0}]"#;
const HTML: &str = "content-type: text/html";

/// Path, whether training is reserved before it is requested or by its answer, why.
type Case = (&'static str, Reserved, &'static str);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reserved {
    Before,
    ByAnswer,
    No,
}

use Reserved::{Before, ByAnswer, No};

const CASES: &[Case] = &[
    ("/", No, "nothing is said"),
    ("/robots/a", Before, "a preference of robots.txt"),
    ("/robots/open", No, "a longer path allows it"),
    ("/signal", Before, "a signal of robots.txt"),
    ("/tdm/a", Before, "the well-known file"),
    ("/tdm/open", No, "a longer location"),
    ("/usage", ByAnswer, "a preference in the header"),
    ("/field-signal", ByAnswer, "a signal in the header"),
    ("/tdm-field", ByAnswer, "a reservation in the header"),
    ("/noai-field", ByAnswer, "noai in the header"),
    ("/noai-theirs", No, "noai for another crawler"),
    ("/noai", ByAnswer, "noai in the page"),
    ("/noai-ours", ByAnswer, "noai in the page, for us"),
    ("/tdm-page", ByAnswer, "a reservation in the page"),
    ("/noimageai", No, "it speaks of pictures"),
    ("/noarchive", No, "it speaks of copies"),
    ("/file.pdf", ByAnswer, "a file that is no page"),
];

fn fields_of(target: &str) -> Vec<&'static str> {
    match target {
        "/usage" => vec![HTML, "content-usage: search=y, train-ai=n"],
        "/field-signal" => vec![HTML, "content-signal: ai-train=no"],
        "/tdm-field" => vec![HTML, "tdm-reservation: 1"],
        "/noai-field" => vec![HTML, "x-robots-tag: noai"],
        "/noai-theirs" => vec![HTML, "x-robots-tag: otherbot: noai"],
        "/noarchive" => vec![HTML, "x-robots-tag: noarchive"],
        "/file.pdf" => vec!["content-type: application/pdf", "tdm-reservation: 1"],
        _ => vec![HTML],
    }
}

fn head_of(target: &str) -> &'static str {
    match target {
        "/noai" => "<meta name=robots content='noai, noimageai'>",
        "/noai-ours" => "<meta name=dragline content=noai>",
        "/tdm-page" => "<meta name=tdm-reservation content=1>",
        "/noimageai" => "<meta name=robots content=noimageai>",
        _ => "",
    }
}

fn all_forms(asked: &Asked) -> Act {
    let text = |body| answer(200, &["content-type: text/plain"], body);
    match asked.target.as_str() {
        "/robots.txt" => text(ROBOTS),
        TDM_PATH => answer(200, &["content-type: application/json"], TDM),
        target => {
            let body = format!("{}<title>t</title><p>text</p>{}", head_of(target), links(["/robots/a"]));
            answer(200, &fields_of(target), body)
        }
    }
}

fn crawl_for(site: &ScriptedSite, paths: &[&str], purpose: Option<Purpose>) -> Definition {
    let seeds: Vec<String> = paths.iter().map(|path| site.url(path)).collect();
    definition(&seeds, |draft| draft.purpose = purpose)
}

/// The documents of a crawl by path, the last of each.
async fn documents(crawled: &Crawled, definition: &Definition) -> BTreeMap<String, Document> {
    let reader = &LocalStore::open_read_only(crawled.data()).unwrap().into_reader(definition.name.clone());
    let filter = &Filter::default();
    let rows = every_row(|after: Option<Cursor>| async move { reader.documents(filter, after.as_ref(), 100).await });
    let rows = rows.await.into_iter().map(|row| row.document);
    rows.map(|document| (document.url.path_and_query().to_owned(), document)).collect()
}

fn asked_for(site: &ScriptedSite, path: &str) -> usize {
    site.targets().iter().filter(|target| *target == path).count()
}

fn paths() -> Vec<&'static str> {
    CASES.iter().map(|case| case.0).collect()
}

#[tokio::test]
async fn what_is_reserved_for_the_purpose_is_neither_requested_nor_kept() {
    let site = ScriptedSite::start(all_forms).await;
    let definition = crawl_for(&site, &paths(), Some(Purpose::AiTrain));
    let crawled = Crawled::once(&definition).await;
    let documents = documents(&crawled, &definition).await;
    for (path, reserved, why) in CASES {
        let row = crawled.row(path);
        let expected = if *reserved == No { PAGE } else { RESERVED };
        assert_eq!(row.outcome, expected, "{path}: {why}: {:?}", row.detail);
        assert_eq!(asked_for(&site, path), usize::from(*reserved != Before), "{path}: {why}");
        assert_eq!(row.record.is_some(), *reserved != Before, "{path}: the answer is in the archive, as proof");
        let document = &documents[*path];
        let text = document.page.as_ref().map_or("", |page| page.text.as_str());
        assert_eq!(text.contains("text"), *reserved == No, "{path}: {why}");
        let title = document.page.as_ref().and_then(|page| page.title.as_deref());
        assert_eq!(title.is_some(), *reserved == No, "{path}: {why}");
        if *reserved != No {
            assert!(row.detail.is_some(), "{path}: the statement is named");
        }
        let is_by_answer = document.reserved_by().is_some();
        assert_eq!(is_by_answer, *reserved == ByAnswer, "{path}: {why}");
    }
    assert_eq!(crawled.row("/noai").detail.as_deref(), Some("page: <meta name=robots content=\"noai, noimageai\">"));
    let by_robots = "robots.txt: line 2: Content-Usage: /robots/ train-ai=n";
    assert_eq!(crawled.row("/robots/a").detail.as_deref(), Some(by_robots));
    assert_eq!(asked_for(&site, TDM_PATH), 1, "once");
    assert_eq!(site.targets()[0], TDM_PATH, "before any page");
    assert_eq!(crawled.requests_told().get(&site.url(TDM_PATH)), Some(&1), "its answer is in the archive");
    assert!(crawled.log.iter().all(|row| row.url != TDM_PATH), "it is not a page of the site");
    let _again = crawled.again(&definition).await;
    assert_eq!(asked_for(&site, TDM_PATH), 2, "once an iteration");
}

#[tokio::test]
async fn without_a_purpose_nothing_is_refused_and_everything_is_recorded() {
    let site = ScriptedSite::start(all_forms).await;
    let definition = crawl_for(&site, &paths(), None);
    let crawled = Crawled::once(&definition).await;
    let documents = documents(&crawled, &definition).await;
    for (path, reserved, why) in CASES {
        let expected = if *path == "/file.pdf" { Outcome::StoredNotRead } else { PAGE };
        assert_eq!(crawled.row(path).outcome, expected, "{path}: {why}");
        let document = &documents[*path];
        let is_reserved =
            document.uses().iter().any(|said| said.says.ai_train.is_some_and(|stand| stand.name() == "reserved"));
        let is_said = *reserved != No && !path.starts_with("/tdm/");
        assert_eq!(is_reserved, is_said, "{path}: {why}: {:?}", document.uses());
        assert_eq!(document.reserved_by(), None, "{path}: {why}");
    }
    assert_eq!(asked_for(&site, TDM_PATH), 0, "nobody needs to know");
    let said = &documents["/signal"].uses()[0];
    let stored = r#"{"source":"robots","text":"line 4: Content-Signal: /signal ai-train=no, search=yes","search":"allowed","ai-train":"reserved"}"#;
    assert_eq!(serde_json::to_string(said).unwrap(), stored);
}

#[tokio::test]
async fn each_purpose_is_decided_by_what_is_said_of_it() {
    for (purpose, reserved, asks) in [
        (Purpose::Search, vec![], 0),
        (Purpose::Archive, vec!["/noarchive"], 0),
        (
            Purpose::AiInput,
            vec!["/file.pdf", "/noai", "/noai-field", "/noai-ours", "/tdm-field", "/tdm-page", "/tdm/a"],
            1,
        ),
    ] {
        let site = ScriptedSite::start(all_forms).await;
        let crawled = Crawled::once(&crawl_for(&site, &paths(), Some(purpose))).await;
        let mut found: Vec<_> =
            crawled.log.iter().filter(|row| row.outcome == RESERVED).map(|row| row.url.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, reserved, "{purpose}");
        assert_eq!(asked_for(&site, TDM_PATH), asks, "{purpose}: the file is read where it may reserve it");
    }
}

/// A robots.txt; the status, fields and body of the file; the outcome of a page; how often the file
/// is requested; why.
type FileCase<'c> = (&'static str, u16, &'static [&'static str], &'c str, Outcome, usize, &'static str);

#[tokio::test]
async fn a_file_that_cannot_be_read_is_no_permission() {
    let rules = "User-agent: *\nDisallow: /.well-known/\n";
    let huge = format!("[{}]", " ".repeat(70_000));
    let files: [FileCase<'_>; 9] = [
        ("", 404, &[], "", PAGE, 1, "there is none"),
        ("", 403, &[], "", PAGE, 1, "as for robots.txt, there is none"),
        ("", 200, &[HTML], "<title>Home</title>", PAGE, 1, "a page in its place"),
        ("", 302, &["location: /home"], "", PAGE, 1, "a redirect to a page"),
        ("", 200, &[], "[]", PAGE, 1, "it says nothing"),
        ("", 500, &[], "", RESERVED, 3, "an error, three times"),
        ("", 200, &[], "[{", RESERVED, 3, "half a file"),
        ("", 200, &[], &huge, RESERVED, 3, "too large"),
        (rules, 200, &[], "[]", RESERVED, 0, "it may not be requested"),
    ];
    for (robots, status, fields, body, outcome, asks, why) in files {
        let body = body.to_owned();
        let site = ScriptedSite::start(move |asked| match asked.target.as_str() {
            "/robots.txt" => answer(200, &["content-type: text/plain"], robots),
            TDM_PATH => answer(status, fields, &body),
            _ => page("<title>t</title>text"),
        })
        .await;
        let crawled = Crawled::once(&crawl_for(&site, &["/"], Some(Purpose::AiTrain))).await;
        assert_eq!(crawled.row("/").outcome, outcome, "{why}: {:?}", crawled.row("/").detail);
        assert_eq!(asked_for(&site, TDM_PATH), asks, "{why}");
    }
}

const LICENCE: &str = "/licence.xml";
const TERMS: &str = r#"<rsl xmlns="https://rslstandard.org/rsl">
    <content url="/"><license><permits type="usage">search ai-input</permits></license></content>
    <content url="/open/"><license><permits type="usage">all</permits></license></content>
    <content url="/sold/"><license><payment type="crawl"/></license></content></rsl>"#;

fn licensed(asked: &Asked) -> Act {
    match asked.target.as_str() {
        "/robots.txt" => answer(200, &["content-type: text/plain"], format!("License: {LICENCE}\n")),
        LICENCE => answer(200, &["content-type: application/rsl+xml"], TERMS),
        TDM_PATH => answer(404, &[], ""),
        _ => page("<title>t</title>text"),
    }
}

#[tokio::test]
async fn a_licence_is_read_and_obeyed() {
    let paths = ["/", "/open/a", "/sold/a"];
    for (purpose, reserved, asks, why) in [
        (Some(Purpose::Search), vec!["/sold/a"], 1, "only a price reserves it"),
        (Some(Purpose::AiInput), vec!["/sold/a"], 1, "it is permitted"),
        (Some(Purpose::AiTrain), vec!["/", "/sold/a"], 1, "it is not permitted"),
        (Some(Purpose::Archive), vec![], 0, "no licence speaks of archives"),
        (None, vec![], 0, "nobody needs to know"),
    ] {
        let site = ScriptedSite::start(licensed).await;
        let definition = crawl_for(&site, &paths, purpose);
        let crawled = Crawled::once(&definition).await;
        let mut found: Vec<_> =
            crawled.log.iter().filter(|row| row.outcome == RESERVED).map(|row| row.url.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, reserved, "{purpose:?}: {why}");
        assert_eq!(asked_for(&site, LICENCE), asks, "{purpose:?}: {why}");
        for path in &reserved {
            assert_eq!(asked_for(&site, path), 0, "{path}: it is not requested");
        }
        let stored = documents(&crawled, &definition).await;
        if asks == 0 {
            let said = stored["/"].uses()[0].to_string();
            assert_eq!(said, "robots.txt: line 1: License: /licence.xml", "what stands in robots.txt");
            continue;
        }
        assert_eq!(crawled.row("/sold/a").detail.as_deref(), Some("RSL file: content /sold/"));
        let said = serde_json::to_string(stored["/open/a"].uses()).unwrap();
        let expected = r#"[{"source":"rsl","text":"content /open/","search":"allowed","ai-input":"allowed","ai-train":"allowed"}]"#;
        assert_eq!(said, expected, "the file is stored with the page, in the place of the line");
        assert_eq!(crawled.requests_told().get(&site.url(LICENCE)), Some(&1), "its answer is in the archive");
        assert!(crawled.log.iter().all(|row| row.url != LICENCE), "it is not a page of the site");
        let _again = crawled.again(&definition).await;
        assert_eq!(asked_for(&site, LICENCE), 2, "once an iteration");
    }
}

/// A robots.txt; the status, fields and body of the licence; the outcomes of a page for search and
/// for training; how often the licence is requested; why.
type LicenceCase<'c> = (&'static str, u16, &'static [&'static str], &'c str, [Outcome; 2], usize, &'static str);

#[tokio::test]
async fn a_licence_that_cannot_be_read_is_no_permission() {
    let names = "License: /licence.xml\n";
    let forbids = "License: /licence.xml\nUser-agent: *\nDisallow: /licence\n";
    let foreign = "License: https://rights.example/licence.xml\n";
    let free = r#"<rsl><content url="/"><license/></content></rsl>"#;
    let huge = format!("<rsl>{}</rsl>", " ".repeat(70_000));
    let files: [LicenceCase<'_>; 11] = [
        (names, 200, &[], free, [PAGE, PAGE], 1, "it allows everything"),
        (names, 302, &["location: /moved.xml"], free, [PAGE, PAGE], 1, "and after a redirect"),
        (names, 404, &[], "", [PAGE, RESERVED], 1, "there is none: the line stands"),
        (names, 403, &[], "", [PAGE, RESERVED], 1, "as for robots.txt, there is none"),
        (names, 200, &[HTML], "<title>Home</title>", [PAGE, RESERVED], 1, "a page in its place"),
        (names, 200, &[], "<rsl/>", [PAGE, PAGE], 1, "it says nothing"),
        (names, 500, &[], "", [RESERVED, RESERVED], 3, "an error, three times"),
        (names, 200, &[], "<rsl><content", [RESERVED, RESERVED], 3, "half a file"),
        (names, 200, &[], &huge, [RESERVED, RESERVED], 3, "too large"),
        (forbids, 200, &[], free, [RESERVED, RESERVED], 0, "it may not be requested"),
        (foreign, 200, &[], free, [PAGE, RESERVED], 0, "somebody else's is not read"),
    ];
    for (robots, status, fields, body, outcomes, asks, why) in files {
        for (purpose, outcome) in [Purpose::Search, Purpose::AiTrain].into_iter().zip(outcomes) {
            let body = body.to_owned();
            let site = ScriptedSite::start(move |asked| match asked.target.as_str() {
                "/robots.txt" => answer(200, &["content-type: text/plain"], robots),
                "/moved.xml" => answer(200, &[], &body),
                LICENCE => answer(status, fields, if status == 302 { "" } else { &body }),
                TDM_PATH => answer(404, &[], ""),
                _ => page("<title>t</title>text"),
            })
            .await;
            let crawled = Crawled::once(&crawl_for(&site, &["/"], Some(purpose))).await;
            assert_eq!(crawled.row("/").outcome, outcome, "{purpose}, {why}: {:?}", crawled.row("/").detail);
            assert_eq!(asked_for(&site, LICENCE), asks, "{purpose}, {why}");
        }
    }
}

#[tokio::test]
async fn the_files_are_requested_at_the_origins_pace() {
    let delay = Duration::from_millis(200);
    let site = ScriptedSite::start(licensed).await;
    let definition = definition(&[site.url("/open/")], |draft| {
        (draft.purpose, draft.politeness.delay) = (Some(Purpose::AiTrain), delay);
    });
    let _crawled = Crawled::once(&definition).await;
    let asked = site.log();
    let targets: Vec<_> = asked.iter().map(|asked| asked.target.as_str()).collect();
    assert_eq!(targets, ["/robots.txt", TDM_PATH, LICENCE, "/open/"]);
    for pair in asked.windows(2) {
        let gap = pair[1].at.duration_since(pair[0].at);
        assert!(gap >= delay - Duration::from_millis(20), "{} after {}: {gap:?}", pair[1].target, pair[0].target);
    }
}

#[tokio::test]
async fn sitemaps_are_read_whatever_they_are_reserved_for() {
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => {
            let port = asked.port();
            let rules = format!(
                "Sitemap: http://127.0.0.1:{port}/map.txt\nUser-agent: *\nContent-Usage: / train-ai=n\nContent-Usage: /open/ train-ai=y\n"
            );
            answer(200, &["content-type: text/plain"], rules)
        }
        "/map.txt" => answer(200, &["content-type: text/plain"], format!("http://127.0.0.1:{}/open/a\n", asked.port())),
        TDM_PATH => answer(404, &[], ""),
        _ => page("<title>t</title>text"),
    })
    .await;
    let definition = definition(&[site.url("/")], |draft| {
        draft.purpose = Some(Purpose::AiTrain);
        draft.sitemaps = dragline_domain::definition::Sitemaps::Follow;
    });
    let crawled = Crawled::once(&definition).await;
    assert_eq!(crawled.row("/").outcome, RESERVED, "all is reserved");
    assert_eq!(crawled.row("/open/a").outcome, PAGE, "but for what the sitemap leads to");
}

/// The site of a page whose use is reserved in the second of three iterations, by a field or by
/// robots.txt.
fn changing(asked: &Asked, iteration: usize) -> Act {
    let is_reserved = iteration == 2;
    match asked.target.as_str() {
        "/robots.txt" if is_reserved => answer(200, &[], "User-agent: *\nContent-Usage: /robots train-ai=n\n"),
        "/robots.txt" | TDM_PATH => answer(404, &[], ""),
        target => {
            let tag = target.starts_with("/tagged").then_some("etag: \"1\"");
            let noai = (is_reserved && target.ends_with("field")).then_some("x-robots-tag: noai");
            let fields: Vec<&str> = [Some(HTML), tag, noai].into_iter().flatten().collect();
            if tag.is_some() && asked.field("if-none-match").is_some() {
                return answer(304, &fields[1..], "");
            }
            answer(200, &fields, "<title>t</title>text")
        }
    }
}

#[tokio::test]
async fn a_reservation_may_come_and_go_while_the_page_stays_the_same() {
    let iteration = Arc::new(AtomicUsize::new(1));
    let now = Arc::clone(&iteration);
    let site = ScriptedSite::start(move |asked| changing(asked, now.load(Ordering::SeqCst))).await;
    let paths = ["/field", "/tagged-field", "/robots", "/same"];
    let definition = crawl_for(&site, &paths, Some(Purpose::AiTrain));
    let mut crawled = Crawled::once(&definition).await;
    for number in 1..=3 {
        if number > 1 {
            iteration.store(number, Ordering::SeqCst);
            // robots.txt is read anew.
            let database = Connection::open(crawled.data().join("dragline.db")).unwrap();
            database.execute("DELETE FROM robots", []).unwrap();
            drop(database);
            crawled = crawled.again(&definition).await;
        }
        for path in ["/field", "/tagged-field", "/robots"] {
            let is_reserved = crawled.row(path).outcome == RESERVED;
            assert_eq!(is_reserved, number == 2, "iteration {number}, {path}: {:?}", crawled.row(path));
            let shown = crawled.shown(path).and_then(|page| page.text.as_deref()).unwrap_or_default();
            assert_eq!(shown.contains("text"), number != 2, "iteration {number}, {path}: {shown:?}");
        }
        let same = if number == 1 { PAGE } else { Outcome::FileDidNotChange };
        assert_eq!(crawled.row("/same").outcome, same, "iteration {number}");
    }
}

#[tokio::test]
async fn a_purpose_applies_to_stored_pages_when_they_are_made_again() {
    let site = ScriptedSite::start(all_forms).await;
    let (any, training) = (crawl_for(&site, &["/noai", "/usage", "/signal", "/"], None), Some(Purpose::AiTrain));
    let crawled = Crawled::once(&any).await;
    let requests = site.targets().len();
    let stricter = crawl_for(&site, &["/noai", "/usage", "/signal", "/"], training);
    let again = Command::Reparse { crawl: any.name.clone(), selection: Selection::All };
    store(crawled.data(), &stricter).await;
    let crawled = crawled.then(&stricter, &again).await;
    for (path, is_kept) in [("/noai", false), ("/usage", false), ("/signal", false), ("/", true)] {
        let text = crawled.shown(path).and_then(|page| page.text.as_deref()).unwrap_or_default();
        assert_eq!(text.contains("text"), is_kept, "{path}");
    }
    store(crawled.data(), &any).await;
    let crawled = crawled.then(&any, &again).await;
    for path in ["/noai", "/usage", "/signal", "/"] {
        assert!(
            crawled.shown(path).is_some_and(|page| page.text.is_some()),
            "{path}: the answer was there all the time"
        );
    }
    assert_eq!(site.targets().len(), requests, "nothing was requested");
}
