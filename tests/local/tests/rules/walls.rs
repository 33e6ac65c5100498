//! Answers in the place of a page: challenges, forms to log in, questions for consent. They are no
//! content, and nothing is lost to them.

use dragline_domain::command::Command;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::Selection;
use dragline_domain::outcome::Outcome;
use dragline_graph::Graph;
use dragline_local::LocalStore;
use dragline_ports::reader::Reader as _;
use dragline_report::site::{Cell, ReportExtent, ReportStamp, report};
use dragline_testkit::whole_crawls::{Crawled, definition};
use jiff::Timestamp;
use rusqlite::Connection;

use super::scripted::{Act, Asked, ScriptedSite, answer, page};

const LOGIN: &str = "<title>Log in</title><form method=post><input name=u><input type=password name=p><button>Log in</button></form><a href=/from-a-wall>Help</a>";
const CONSENT: &str =
    "<h1>Before you continue</h1><form action=https://consent.youtube.com/save><button>Accept all</button></form>";
const IMPERVA: &str =
    "<html><iframe id=main-iframe src='/_Incapsula_Resource?SWUDNSAI=31'>Request unsuccessful.</iframe></html>";

/// The path of a wall, what the server does there, the outcome, and what the detail says.
type Wall = (&'static str, fn() -> Act, Outcome, &'static str);

/// Walls: the path of each, its answer, its outcome, and the rule. There is one challenge, as
/// several slow a crawl down.
const WALLS: [Wall; 5] = [
    ("/form", || page(LOGIN), Outcome::BlockedByLogin, "login_form"),
    ("/to-form", || answer(302, &["location: /login?next=/to-form"], ""), Outcome::BlockedByLogin, "login_redirect"),
    ("/consent", || page(CONSENT), Outcome::BlockedByConsent, "consent_form"),
    (
        "/to-consent",
        || answer(302, &["location: https://consent.youtube.com/m?continue=x"], ""),
        Outcome::BlockedByConsent,
        "consent_redirect",
    ),
    ("/imperva", || page(IMPERVA), Outcome::BlockedByChallenge, "imperva_frame"),
];

/// Pages, in whose places walls stand when they are asked for the second time.
fn site(asked: &Asked) -> Act {
    let wall = WALLS.iter().find(|(path, ..)| *path == asked.target);
    match wall {
        _ if asked.target == "/robots.txt" => answer(404, &[], ""),
        Some((_, wall, ..)) if asked.earlier == 1 => wall(),
        None if asked.target == "/" => {
            page(&WALLS.iter().map(|(path, ..)| format!("<a href={path}>x</a>")).collect::<String>())
        }
        _ if asked.field("if-none-match") == Some("\"1\"") => answer(304, &["etag: \"1\""], ""),
        _ => answer(
            200,
            &["content-type: text/html", "etag: \"1\""],
            format!("<title>{}</title>What the page says.", asked.target),
        ),
    }
}

#[tokio::test]
async fn a_wall_is_no_content_and_what_was_there_stays() {
    let site = ScriptedSite::start(site).await;
    let definition = definition(&[site.url("/")], |draft| draft.fetch.retries = 2);
    let first = Crawled::once(&definition).await;
    let shown = first.now.clone();
    assert_eq!(shown.len(), 1 + WALLS.len());
    let second = first.again(&definition).await;
    for (path, _, outcome, rule) in WALLS {
        let row = second.row(path);
        assert_eq!((row.outcome, row.tries), (outcome, 1), "{path}: not tried again");
        let detail = row.detail.as_deref().unwrap_or_default();
        assert!(detail.contains(&format!("`{rule}`")), "{path}: {detail}");
        assert_eq!(row.change, None, "{path}: nothing is known of the page");
        let (before, now) = (shown.iter().find(|page| page.url == path).unwrap(), second.shown(path).unwrap());
        let same = |page: &dragline_ports::reader::PageRow| {
            (page.title.clone(), page.text.clone(), page.record.clone(), page.last_changed)
        };
        assert_eq!(same(now), same(before), "{path}: as it was");
        assert!(second.links_of(path).is_empty(), "{path}: nothing of a wall is followed");
    }
    let third = second.again(&definition).await;
    for (path, ..) in WALLS {
        let asked = "compared with what was before the wall";
        assert_eq!(third.row(path).outcome, Outcome::FileDidNotChange, "{path}: {asked}");
    }
    assert_eq!(third.shown_urls().len(), 1 + WALLS.len());
}

#[tokio::test]
async fn a_wall_that_an_older_program_stored_as_a_page_becomes_one_when_it_is_read_again() {
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => answer(404, &[], ""),
        "/" => page("<a href=/wall>x</a><a href=/page>y</a>"),
        _ if asked.field("if-none-match").is_some() => answer(304, &["etag: \"1\""], ""),
        "/wall" => answer(200, &["content-type: text/html", "etag: \"1\""], LOGIN),
        _ => page("<title>A page</title>What it says."),
    })
    .await;
    let definition = definition(&[site.url("/")], |_| {});
    let crawled = Crawled::once(&definition).await;
    assert_eq!(crawled.shown_urls(), ["/", "/page"], "this program knows it");
    let database = Connection::open(crawled.data().join("dragline.db")).unwrap();
    // As a program without the rule left it.
    let sql = "UPDATE document SET outcome = 20, detail = NULL, title = 'Log in', cut = 'whole', noindex = 0, nofollow = 0, body_id = id
                   WHERE url LIKE '%/wall';
               INSERT INTO document_text (id, text) SELECT id, 'Log in' FROM document WHERE url LIKE '%/wall';
               UPDATE visit SET outcome = 20, detail = NULL WHERE url LIKE '%/wall';
               UPDATE known_url SET document_id = (SELECT id FROM document WHERE url LIKE '%/wall'), document_outcome = 20, standing = 'shown',
                   links_by = 0, links_depth = 1, last_outcome = 20, last_contentful_outcome = 20, capture_outcome = 20, captured_at = last_at,
                   last_contentful_at = last_at, etag = '\"1\"', payload_sha1 = zeroblob(20), decoded_sha1 = zeroblob(20),
                   checked_at = last_at, changed_at = last_at WHERE path_query = '/wall';";
    database.execute_batch(sql).unwrap();
    drop(database);
    let requests = site.targets().len();
    let reparse = Command::Reparse { crawl: definition.name.clone(), selection: Selection::All };
    let again = crawled.then(&definition, &reparse).await;
    assert_eq!(site.targets().len(), requests, "nothing is requested");
    assert_eq!(again.shown_urls(), ["/", "/page"], "the wall is shown no more");
    let walled = again.log.iter().find(|row| row.url == "/wall").unwrap();
    assert_eq!(walled.outcome, Outcome::BlockedByLogin);
    let next = again.again(&definition).await;
    assert_eq!(next.row("/wall").outcome, Outcome::BlockedByLogin, "asked for without conditions");
    assert_eq!(next.shown_urls(), ["/", "/page"], "it does not come back");
}

#[tokio::test]
async fn a_host_that_challenges_is_asked_more_slowly() {
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => answer(404, &[], ""),
        "/" => page("<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a>"),
        _ => page(IMPERVA),
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.url("/")], |draft| draft.politeness.concurrency = 1)).await;
    assert_eq!(crawled.log.iter().filter(|row| row.outcome == Outcome::BlockedByChallenge).count(), 3);
    let asked = site.log();
    let [second, third] = [asked[3].at, asked[4].at];
    // The first challenge may be the URL's own affair.
    assert!(
        third.duration_since(second).as_millis() >= 1_900,
        "2 s after the second: {:?}",
        third.duration_since(second)
    );
}

#[tokio::test]
async fn a_page_that_scripts_make_is_no_content_and_told() {
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => answer(404, &[], ""),
        _ => page("<title>App</title><noscript>This app needs JavaScript.</noscript><div id=root></div><script src=a.js></script>"),
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.url("/")], |_| {})).await;
    assert_eq!(crawled.row("/").outcome, Outcome::NeedsScript);
    let detail = crawled.row("/").detail.clone().unwrap_or_default();
    assert_eq!(dragline_domain::scripted::element_from_detail(&detail), Some("root"));
}

#[tokio::test]
async fn pages_that_need_javascript_are_listed_in_the_report() {
    const TEXT: &str = "A page that the server made, with all that it says in it, so that nothing has to be filled.";
    let rows: [(&str, String, Option<&str>, &str); 6] = [
        ("/react", "<div id=root></div><script src=a.js></script>".to_owned(), Some("root"), "React's"),
        ("/angular", "<app-root></app-root><script src=a.js></script>".to_owned(), Some("app-root"), "Angular's"),
        ("/vue", "<div id=app>Loading</div><script src=a.js></script>".to_owned(), Some("app"), "something is loading"),
        ("/made", format!("<div id=root><p>{TEXT}</div><script src=a.js></script>"), None, "the server made it"),
        ("/plain", "<p>A short page.</p><script src=a.js></script>".to_owned(), None, "short, and whole"),
        ("/form", LOGIN.to_owned(), None, "a wall is no page"),
    ];
    let pages = rows.clone();
    let site = ScriptedSite::start(move |asked| match asked.target.as_str() {
        "/robots.txt" => answer(404, &[], ""),
        // Later, the server makes what scripts made before.
        "/vue" if asked.earlier > 0 => page(TEXT),
        target => match pages.iter().find(|(path, ..)| *path == target) {
            Some((_, body, ..)) => page(body),
            None => page(&pages.iter().map(|(path, ..)| format!("<a href={path}>x</a>")).collect::<String>()),
        },
    })
    .await;
    let definition = definition(&[site.url("/")], |_| {});
    let expected = |iteration: u32| -> Vec<(String, String)> {
        let is_listed = |path: &str| iteration == 1 || path != "/vue";
        let listed = rows.iter().filter(|(path, ..)| is_listed(path));
        let mut listed: Vec<_> =
            listed.filter_map(|(path, _, element, _)| Some((site.url(path), (*element)?.to_owned()))).collect();
        listed.sort();
        listed
    };
    let first = Crawled::once(&definition).await;
    assert_eq!(listed_as_scripted(&first, &definition).await, expected(1));
    let second = first.again(&definition).await;
    assert_eq!(listed_as_scripted(&second, &definition).await, expected(2), "as the site is now");
}

/// The rows of the report's table of pages that need JavaScript, sorted.
async fn listed_as_scripted(crawled: &Crawled, definition: &Definition) -> Vec<(String, String)> {
    let reader = LocalStore::open_read_only(crawled.data()).unwrap().into_reader(definition.name.clone());
    let iteration = reader.latest_iteration().await.unwrap().unwrap();
    let file = crawled.data().join("graph/test.db");
    let graph = Graph::up_to_date(&reader, &file, || ()).await.unwrap();
    let making = ReportStamp { program: "test".to_owned(), at: Timestamp::UNIX_EPOCH };
    let report = report(&reader, &graph, iteration, (making, &ReportExtent::default())).await.unwrap();
    let table = &report.tables.iter().find(|table| table.id == "scripted").unwrap().table;
    assert_eq!(table.rows_all, table.rows.len() as u64);
    let text = |cell: &Cell| match cell {
        Cell::Text(text) => text.clone(),
        other => panic!("not a text: {other:?}"),
    };
    let mut rows: Vec<_> = table.rows.iter().map(|row| (text(&row[0]), text(&row[1]))).collect();
    rows.sort();
    rows
}
