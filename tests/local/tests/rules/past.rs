//! Documents of all iterations made again: what is defined today has its history from the first
//! crawl on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use dragline_domain::command::Command;
use dragline_domain::definition::{Condition, Definition, TextTest};
use dragline_domain::frontier::{OriginKey, SegmentId, SegmentRow, Selection};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::remake::{RemakeJob, RemakeTotals};
use dragline_domain::url::CrawlUrl;
use dragline_engine::local_world;
use dragline_local::{DATABASE, LocalStore, SqliteReader, SystemClock};
use dragline_pipeline::World;
use dragline_pipeline::parse::past::{RemakeEnd, remake};
use dragline_pipeline::retention::forget;
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::reader::Reader;
use dragline_ports::remaking::{RemakeBegun, Remaking, ReplaceResult, Replacement};
use dragline_ports::retention::PruneMode;
use dragline_report::diff::{Span, Which, each_page_change};
use dragline_testkit::whole_crawls::{Silent, command, crawl, store};
use rusqlite::Connection;
use tempfile::TempDir;

use super::retention::{Days, assert_same, assert_sound, copy, definition_of, dump, prune_in};
use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// As many chairs as fill more than a segment.
const CHAIRS: usize = 60;

/// A shop whose prices change daily, in an attribute that is no part of any text. One chair is sold
/// out on the second day, another is withheld on the third, and a third never changes.
fn shop(asked: &Asked) -> Act {
    let day = asked.earlier + 1;
    let chair = asked.target.strip_prefix("/chair/");
    match (asked.target.as_str(), chair) {
        ("/robots.txt", _) => answer(404, &[], ""),
        ("/", _) => {
            let links: String = (1..=CHAIRS).fold(String::new(), |mut links, n| {
                let _ = write!(links, "<a href=/chair/{n}>{n}</a>");
                links
            });
            page(&format!("<title>Shop</title>{links}<a href=/moved>m</a><a href=/data.bin>d</a>"))
        }
        ("/moved", _) => answer(301, &["location: /chair/1"], ""),
        ("/data.bin", _) => answer(200, &["content-type: application/octet-stream"], format!("\0{day}")),
        (_, Some("2")) if day == 2 => answer(404, &[], ""),
        (_, Some("3")) if asked.field("if-none-match").is_some() => {
            let noindex = if day == 3 { "x-robots-tag: noindex" } else { "x-day: 2" };
            answer(304, &["etag: \"3\"", noindex], "")
        }
        (_, Some("3")) => answer(200, &["content-type: text/html", "etag: \"3\""], chair_of("3", 1)),
        (_, Some("4")) => page(&chair_of("4", 1)),
        (_, Some(n)) => page(&chair_of(n, day)),
        _ => answer(404, &[], ""),
    }
}

fn chair_of(n: &str, day: usize) -> String {
    format!(
        "<title>Chair {n}</title><h1>Chair {n}</h1><p>Sit down.</p><b data-price='{day}{n}.50'></b><a href=/>all</a>"
    )
}

const NAME: &str = "name: { css: h1, required: true }";
const BROKEN: &str = "name: { css: h9, required: true }";
const PRICE: &str = "name: { css: h1, required: true }\n      price: { css: b, attribute: data-price, kind: number }";

fn definition(site: &ScriptedSite, fields: &str) -> Definition {
    let yaml = format!(
        "name: shop\nseeds: ['{}']\npoliteness: {{ delay: 0s, concurrency: 8 }}\nitems:\n  - type: Chair\n    when: {{ path: {{ prefix: /chair/ }} }}\n    fields:\n      {fields}\n",
        site.url("/")
    );
    dragline_definition::parse(&yaml, "crawl.yaml").unwrap()
}

/// Three days: names are read on the first and the third; on the second, the selector is broken.
async fn three_days() -> (ScriptedSite, TempDir) {
    let (site, data) = (ScriptedSite::start(shop).await, tempfile::tempdir().unwrap());
    for fields in [NAME, BROKEN, NAME] {
        crawl(data.path(), &definition(&site, fields)).await;
    }
    (site, data)
}

async fn remake_in(data: &Path, crawl: &CrawlId, selection: Selection) -> RemakeTotals {
    let store = LocalStore::open(data, SystemClock::new().now()).unwrap();
    through(&local_world(&store, Silent), &store.remaking(), crawl, selection).await.unwrap()
}

/// Stores the definition, and makes all documents again by it.
async fn remade(data: &Path, definition: &Definition) -> RemakeTotals {
    store(data, definition).await;
    remake_in(data, &definition.name, Selection::All).await
}

fn rows(data: &Path, sql: &str) -> Vec<String> {
    let database = Connection::open(data.join(DATABASE)).unwrap();
    let mut statement = database.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

async fn reader_of(data: &Path) -> SqliteReader {
    LocalStore::open_read_only(data).unwrap().into_reader("shop".parse().unwrap())
}

/// What differs between two iterations: by path, how, and in which parts.
async fn diff(data: &Path, site: &ScriptedSite, from: u32, to: u32) -> BTreeMap<String, String> {
    let (reader, base) = (reader_of(data).await, site.url(""));
    let latest = reader.latest_iteration().await.unwrap().unwrap();
    let span = Span::choose(Iteration::new(from), Iteration::new(to), &latest).unwrap();
    let mut found = BTreeMap::new();
    each_page_change(&reader, span, Which::Changed, |change| {
        let parts = [change.change.to_string(), change.changed_parts.to_string()].join(" ");
        found.insert(change.url.replace(&base, ""), parts.trim_end().to_owned());
        ControlFlow::Continue(())
    })
    .await
    .unwrap();
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_that_is_added_today_has_its_history_from_the_first_crawl_on() {
    let (site, data) = three_days().await;
    let data = data.path();
    let requests = site.targets().len();
    let prices =
        "SELECT iteration || ' ' || name || ' ' || price FROM item_chair WHERE url LIKE '%/chair/5' ORDER BY at";
    assert_eq!(
        rows(data, "SELECT CAST(count(*) AS TEXT) FROM content WHERE misfits IS NOT NULL"),
        [(CHAIRS - 3).to_string()]
    );
    let before = diff(data, &site, 1, 2).await;
    assert_eq!(before.get("/chair/5").map(String::as_str), Some("changed items"), "the broken selector changed all");

    let done = remade(data, &definition(&site, PRICE)).await;
    assert_eq!((done.kept, done.misfits), (0, 0), "{done:?}");
    assert!(done.different >= 3 * (CHAIRS as u64 - 3), "{done:?}");
    assert_eq!(site.targets().len(), requests, "nothing was requested");
    assert_eq!(rows(data, prices), ["1 Chair 5 15.5", "2 Chair 5 25.5", "3 Chair 5 35.5"]);
    assert_eq!(rows(data, "SELECT CAST(count(*) AS TEXT) FROM content WHERE misfits IS NOT NULL"), ["0"], "repaired");
    assert_eq!(rows(data, "SELECT CAST(count(*) AS TEXT) FROM document WHERE state = 'stuck'"), ["0"], "repaired");
    let history =
        "SELECT change || ' ' || coalesce(changed_parts, '-') FROM log WHERE url LIKE '%/chair/5' ORDER BY iteration";
    assert_eq!(rows(data, history), ["new -", "changed items", "changed items"]);

    let first = diff(data, &site, 1, 2).await;
    let is_priced = |path: &str| path.starts_with("/chair/") && !["/chair/2", "/chair/3", "/chair/4"].contains(&path);
    assert_eq!(first.values().filter(|change| *change == "changed items").count(), CHAIRS - 3);
    assert!(first.iter().all(|(path, change)| is_priced(path) == (change == "changed items")), "{first:?}");
    assert_eq!(first.get("/chair/2").map(String::as_str), Some("gone"));
    assert_eq!(first.get("/chair/4"), None, "its price never changes");
    let second = diff(data, &site, 2, 3).await;
    assert_eq!(second.get("/chair/2").map(String::as_str), Some("back items"), "with the price of that day");
    assert_eq!(
        second.get("/chair/3").map(String::as_str),
        Some("changed status,title,text,items,metadata"),
        "withheld"
    );
    assert_eq!(second.get("/chair/4"), None);
    let changed = "SELECT CAST(count(*) AS TEXT) FROM page p JOIN log l ON l.url = p.url AND l.iteration = 3
                   WHERE p.url LIKE '%/chair/%' AND (p.last_changed = l.at) = (p.url NOT LIKE '%/chair/4')";
    assert_eq!(rows(data, changed), [CHAIRS.to_string()], "the site as it is now says when each page changed");
    assert_sound(data);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_time_changes_nothing() {
    let (site, data) = three_days().await;
    let priced = definition(&site, PRICE);
    let once = remade(data.path(), &priced).await;
    let rows = dump(data.path());
    let twice = remake_in(data.path(), &priced.name, Selection::All).await;
    assert_same(&dump(data.path()), &rows, "the same bytes");
    assert_eq!(twice, RemakeTotals { different: 0, ..once });
}

/// Replaces the documents of so many segments, and then none.
struct Dying<R> {
    inner: R,
    left: AtomicU64,
}

impl<R: Remaking> Remaking for Dying<R> {
    async fn begin_remake(&self, crawl: &CrawlId, job: &RemakeJob) -> PortResult<RemakeBegun> {
        self.inner.begin_remake(crawl, job).await
    }

    async fn list_parsed(
        &self,
        origin: &OriginKey,
        after: Option<&SegmentId>,
        limit: usize,
    ) -> PortResult<Vec<SegmentRow>> {
        self.inner.list_parsed(origin, after, limit).await
    }

    async fn replace(&self, replacement: Replacement<'_>) -> PortResult<ReplaceResult> {
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        let died = |_| PortError::new(PortErrorKind::Other, "replace", &replacement.segment.id, "the process died");
        left.map_err(died)?;
        self.inner.replace(replacement).await
    }

    async fn end_remake(&self, crawl: &CrawlId, job: &RemakeJob) -> PortResult<()> {
        self.inner.end_remake(crawl, job).await
    }
}

async fn die_after(segments: u64, data: &Path, crawl: &CrawlId) -> PortResult<RemakeTotals> {
    let store = LocalStore::open(data, SystemClock::new().now()).unwrap();
    let dying = Dying { inner: store.remaking(), left: AtomicU64::new(segments) };
    through(&local_world(&store, Silent), &dying, crawl, Selection::All).await
}

/// Makes documents again to the end.
async fn through(
    world: &impl World,
    remaking: &impl Remaking,
    crawl: &CrawlId,
    selection: Selection,
) -> PortResult<RemakeTotals> {
    let told = Mutex::new(Vec::new());
    let tell = |done: &RemakeTotals| told.lock().unwrap().push(*done);
    let ended = remake(world, remaking, crawl, selection, "test", tell).await?;
    let RemakeEnd::Through(job, done) = ended else { panic!("{ended:?}") };
    assert_eq!(told.into_inner().unwrap().last(), Some(&done), "whoever watches sees all of it");
    remaking.end_remake(crawl, &job).await?;
    Ok(done)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wherever_it_dies_the_next_run_goes_on_there_and_ends_the_same() {
    let (site, data) = three_days().await;
    let (priced, other) = (definition(&site, PRICE), definition(&site, BROKEN));
    let room = tempfile::tempdir().unwrap();
    let whole = room.path().join("whole");
    copy(data.path(), &whole);
    let done = remade(&whole, &priced).await;
    let expected = dump(&whole);
    let mut died = 0;
    loop {
        let copied = room.path().join(died.to_string());
        copy(data.path(), &copied);
        store(&copied, &priced).await;
        if die_after(died, &copied, &priced.name).await.is_ok() {
            break;
        }
        assert_sound(&copied);
        // It needs no more than what is left.
        let segments = rows(
            &whole,
            "SELECT CAST(count(*) AS TEXT) FROM segment WHERE id IN (SELECT id >> 24 FROM document WHERE cut IS NOT NULL OR body_id IS NOT NULL)",
        );
        let left = segments[0].parse::<u64>().unwrap() - died;
        assert_eq!(die_after(left, &copied, &priced.name).await.unwrap(), done, "after {died} segments");
        assert_same(&dump(&copied), &expected, &format!("after {died} segments"));
        died += 1;
    }
    assert!(died >= 6, "there is something to die at: {died}");

    let mixed = room.path().join("mixed");
    copy(data.path(), &mixed);
    store(&mixed, &other).await;
    die_after(3, &mixed, &other.name).await.unwrap_err();
    store(&mixed, &priced).await;
    let again = remake_in(&mixed, &priced.name, Selection::All).await;
    assert_eq!(again.remade, done.remade, "by another definition it begins anew");
    let items = "SELECT url || ' ' || iteration || ' ' || name || ' ' || price FROM item_chair ORDER BY 1";
    assert_eq!(rows(&mixed, items), rows(&whole, items));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_pruned_or_forgotten_does_not_come_back() {
    let (site, data) = three_days().await;
    let (data, priced) = (data.path(), definition(&site, PRICE));
    prune_in(data, &priced.name, 2, PruneMode::Delete).await;
    let secret: CrawlUrl = site.url("/chair/7").parse::<String>().map(|url| CrawlUrl::try_from(url).unwrap()).unwrap();
    {
        let store = LocalStore::open(data, SystemClock::new().now()).unwrap();
        forget(&store.retained(), &store.archive(), &priced.name, &[secret]).await.unwrap();
    }
    let keys = "SELECT 'd' || id || url FROM document UNION ALL SELECT 'v' || id || url FROM visit UNION ALL SELECT 'x' || id FROM difference
                UNION ALL SELECT 'k' || path_query FROM known_url UNION ALL SELECT 'o' || object FROM segment WHERE is_stored ORDER BY 1";
    let of_first = "SELECT outcome || coalesce(change, '-') || coalesce(changed_parts, '-') FROM visit WHERE iteration = 2 ORDER BY id";
    let (kept, pages) = (rows(data, keys), rows(data, of_first));
    assert!(kept.iter().any(|key| key.ends_with("/chair/2")), "what the kept iterations begin with is there");
    let done = remade(data, &priced).await;
    assert_eq!(done.kept, 0, "{done:?}");
    assert_eq!(rows(data, keys), kept, "the same rows, with other content");
    assert_eq!(rows(data, of_first), pages, "what the first kept iteration was compared with is gone, so that stays");
    let prices = "SELECT iteration || ' ' || price FROM item_chair WHERE url LIKE '%/chair/5' ORDER BY at";
    assert_eq!(rows(data, prices), ["2 25.5", "3 35.5"], "of the kept iterations");
    assert_eq!(rows(data, "SELECT url FROM item_chair WHERE url LIKE '%/chair/7'"), Vec::<String>::new());
    assert_eq!(diff(data, &site, 2, 3).await.get("/chair/5").map(String::as_str), Some("changed items"));
    assert_sound(data);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_is_selected_is_made_again() {
    let (site, data) = three_days().await;
    let priced = definition(&site, PRICE);
    store(data.path(), &priced).await;
    let some = Selection::from_condition(Some(Condition::Path(TextTest::Prefix("/chair/5".to_owned()))));
    let done = remake_in(data.path(), &priced.name, some).await;
    // Chairs 5 and 50 to 59.
    assert_eq!(done.remade, 3 * 11);
    let priced = "SELECT DISTINCT substr(url, instr(url, '/chair/') + 7, 1) FROM item_chair WHERE price IS NOT NULL";
    assert_eq!(rows(data.path(), priced), ["5"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_definition_leaves_every_row_as_it_is() {
    let mut made = 0;
    for seed in 0..12 {
        let (days, data) = (Days::start(seed).await, tempfile::tempdir().unwrap());
        let definition = definition_of(&days, usize::try_from(seed).unwrap());
        for day in 0..6 {
            days.turn_to(day);
            crawl(data.path(), &definition).await;
        }
        let before = dump(data.path());
        let done = remake_in(data.path(), &definition.name, Selection::All).await;
        assert_same(&dump(data.path()), &before, &format!("seed {seed}"));
        assert_eq!((done.different, done.kept), (0, 0), "seed {seed}: {done:?}");
        made += done.remade;
    }
    assert!(made > 200, "{made} documents were made again");
}

/// Pages that call others canonical, refresh, ask for noindex by a header or in a 304, a sitemap,
/// and what a page needs to be shown.
fn puzzling(asked: &Asked) -> Act {
    let is_again = asked.field("if-none-match").is_some();
    let body = |body: &str| {
        answer(200, &["content-type: text/html", "etag: \"1\""], format!("<title>{}</title>{body}", asked.target))
    };
    match asked.target.as_str() {
        "/robots.txt" => answer(200, &["content-type: text/plain"], "Sitemap: /sitemap.xml"),
        "/sitemap.xml" => answer(200, &["content-type: text/xml"], "<urlset><url><loc>/listed</loc></url></urlset>"),
        "/" => page(&format!("<link rel=stylesheet href=/s.css><a href=/copy>c</a><a href=/turns>t</a><a href=/later>l</a><a href=/kept>k</a>
            <a href=/refresh>r</a><a href=/loop>o</a><a href=/deep>d</a><a href=/none>n</a><!-- {} -->", asked.earlier)),
        "/s.css" => answer(200, &["content-type: text/css"], "@import 'more.css'; b { background: url(b.png) }"),
        "/copy" => page(&format!("<link rel=canonical href=/kept>text<!-- {} -->", asked.earlier)),
        "/turns" if asked.earlier % 2 == 1 => page("<link rel=canonical href=/copy>text <a href=/deep>d</a>"),
        "/turns" => page("<meta name=robots content=noindex>text"),
        "/later" if is_again => answer(304, &["etag: \"1\"", "x-robots-tag: noindex"], ""),
        "/kept" if is_again => answer(304, &["etag: \"1\""], ""),
        "/later" | "/kept" | "/listed" | "/deep" => body("text <a href=/ rel=nofollow>home</a>"),
        "/refresh" => page("<meta http-equiv=refresh content='0; url=/kept'>"),
        "/loop" => answer(302, &["location: /loop"], ""),
        _ => answer(404, &["content-type: text/html"], "no"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_definition_leaves_every_row_of_puzzling_pages_as_it_is() {
    let site = ScriptedSite::start(puzzling).await;
    for rules in
        ["", "content: full", "canonical: ignore", "scope: { max_depth: 1 }", "sitemaps: follow\nrequisites: fetch"]
    {
        let data = tempfile::tempdir().unwrap();
        let yaml = format!("name: shop\nseeds: ['{}']\npoliteness: {{ delay: 0s }}\n{rules}", site.url("/"));
        let definition = dragline_definition::parse(&yaml, "crawl.yaml").unwrap();
        let reparse = Command::Reparse { crawl: definition.name.clone(), selection: Selection::All };
        for _day in 1..=2 {
            crawl(data.path(), &definition).await;
            crawl(data.path(), &definition).await;
            command(data.path(), &reparse).await;
        }
        let before = dump(data.path());
        let done = remake_in(data.path(), &definition.name, Selection::All).await;
        assert_same(&dump(data.path()), &before, rules);
        assert_eq!((done.different, done.kept), (0, 0), "{rules}: {done:?}");
        assert!(done.remade > 20, "{rules}: {done:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_stays_where_its_answer_is_lost() {
    let (site, data) = three_days().await;
    let data = data.path();
    let lost = rows(data, "SELECT s.object FROM segment s WHERE s.iteration = 2 ORDER BY s.id DESC LIMIT 1");
    std::fs::remove_file(data.join(&lost[0])).unwrap();
    let sql = format!(
        "SELECT CAST(count(*) AS TEXT) FROM document d JOIN segment s ON s.id = d.id >> 24
         WHERE s.object = '{}' AND (d.cut IS NOT NULL OR d.body_id IS NOT NULL)",
        lost[0]
    );
    let expected: u64 = rows(data, &sql)[0].parse().unwrap();
    let done = remade(data, &definition(&site, PRICE)).await;
    assert_eq!(done.kept, expected);
    assert!(expected > 0 && done.remade > expected, "{done:?}");
}
