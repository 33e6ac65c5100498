//! What differs between iterations of a real crawl.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use dragline_domain::ids::Iteration;
use dragline_engine::local_world;
use dragline_local::{LocalStore, SqliteReader, SystemClock};
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::notifier::{Notice, Notifier};
use dragline_ports::reader::Reader;
use dragline_report::diff::{Span, Which, each_link_change, each_page_change};
use dragline_testkit::whole_crawls::{Crawled, Network, crawl_in, definition};

use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// What each visit of a page gets. The last answer is repeated; an empty text is a 404, and one
/// that begins with `/` a redirect there.
const PAGES: &[(&str, &[&str])] = &[
    ("/", &["<a href=/text>1</a><a href=/gone>2</a><a href=/moves>3</a><a href=/flickers>4</a><a href=/hub>5</a>"]),
    ("/text", &["one", "two", "three"]),
    ("/gone", &["<a href=/text>1</a><img src=/gone.png>", ""]),
    ("/moves", &["<a href=/text>1</a>here", "/there"]),
    ("/there", &["there"]),
    ("/flickers", &["<a href=/text>1</a>", "", "<a href=/text>1</a>"]),
    (
        "/hub",
        &["<a href=/text>1</a>", "<a href=/text>1</a><a href=/late>2</a>", "<a href=/late>1</a><a href=/gone>2</a>"],
    ),
    ("/late", &["late", "late", ""]),
];

fn site(asked: &Asked) -> Act {
    let Some((_, visits)) = PAGES.iter().find(|(path, _)| *path == asked.target) else { return answer(404, &[], "") };
    match visits[asked.earlier.min(visits.len() - 1)] {
        "" => answer(404, &[], ""),
        to if to.starts_with('/') => answer(301, &[&format!("location: {to}")], ""),
        text => page(text),
    }
}

async fn span(reader: &impl Reader, from: u32, to: u32) -> Span {
    let latest = reader.latest_iteration().await.unwrap().unwrap();
    Span::choose(Iteration::new(from), Iteration::new(to), &latest).unwrap()
}

/// The pages that differ: by path, how, and in which parts or where they lead.
async fn pages(reader: &SqliteReader, site: &ScriptedSite, span: Span, which: Which) -> BTreeMap<String, String> {
    let base = site.url("");
    let mut found = BTreeMap::new();
    each_page_change(reader, span, which, |change| {
        let to = change.redirects_to.map_or_else(String::new, |to| format!(" -> {}", to.replace(&base, "")));
        let parts = [change.change.to_string(), change.changed_parts.to_string()].join(" ");
        let earlier = found.insert(change.url.replace(&base, ""), format!("{}{to}", parts.trim_end()));
        assert_eq!(earlier, None, "each URL once");
        ControlFlow::Continue(())
    })
    .await
    .unwrap();
    found
}

/// The links that differ, each in a line.
async fn links(reader: &SqliteReader, site: &ScriptedSite, span: Span) -> Vec<String> {
    let base = site.url("");
    let mut found = Vec::new();
    each_link_change(reader, span, |change| {
        let (from, to) = (change.from_url.replace(&base, ""), change.to_url.replace(&base, ""));
        found.push(format!("{from} {} {} {to}", change.change.name(), change.kind));
        ControlFlow::Continue(())
    })
    .await
    .unwrap();
    found.sort_unstable();
    found
}

fn expected<const N: usize>(pages: [(&str, &str); N]) -> BTreeMap<String, String> {
    pages.into_iter().map(|(path, change)| (path.to_owned(), change.to_owned())).collect()
}

#[tokio::test]
async fn iterations_differ_in_what_the_site_changed() {
    let site = ScriptedSite::start(site).await;
    let definition = definition(&[site.url("/")], |_| {});
    let mut crawled = Crawled::once(&definition).await;
    for _iteration in 2..=3 {
        crawled = crawled.again(&definition).await;
    }
    let reader = &LocalStore::open_read_only(crawled.data()).unwrap().into_reader(definition.name.clone());
    let (first, second, both) = (span(reader, 1, 2).await, span(reader, 2, 3).await, span(reader, 1, 3).await);

    let moved = "moved status,text,links,metadata -> /there";
    let of_first = pages(reader, &site, first, Which::Changed).await;
    assert_eq!(
        of_first,
        expected([
            ("/flickers", "gone"),
            ("/gone", "gone"),
            ("/hub", "changed text,links"),
            ("/late", "new"),
            ("/moves", moved),
            ("/text", "changed text"),
            ("/there", "new"),
        ])
    );
    let of_second = pages(reader, &site, second, Which::Changed).await;
    assert_eq!(of_second, expected([("/flickers", "back"), ("/hub", "changed links"), ("/text", "changed text")]));
    let of_both = pages(reader, &site, both, Which::Visited).await;
    assert_eq!(
        of_both,
        expected([
            ("/", "unchanged"),
            ("/flickers", "unchanged"),
            ("/gone", "gone"),
            ("/hub", "changed text,links"),
            ("/late", "new"),
            ("/moves", moved),
            ("/text", "changed text"),
            ("/there", "new"),
        ]),
        "the steps are put together"
    );

    assert_eq!(
        links(reader, &site, first).await,
        [
            "/flickers removed a /text",
            "/gone removed a /text",
            "/gone removed img /gone.png",
            "/hub added a /late",
            "/moves added redirect /there",
            "/moves removed a /text",
        ]
    );
    assert_eq!(
        links(reader, &site, second).await,
        ["/flickers added a /text", "/hub added a /gone", "/hub removed a /text"],
        "what is back has all of its links"
    );
    assert_eq!(
        links(reader, &site, both).await,
        [
            "/gone removed a /text",
            "/gone removed img /gone.png",
            "/hub added a /gone",
            "/hub added a /late",
            "/hub removed a /text",
            "/moves added redirect /there",
            "/moves removed a /text",
        ]
    );
}

/// Keeps what it is told about iterations that are over; or fails.
#[derive(Clone, Default)]
struct Told {
    words: Arc<Mutex<Vec<String>>>,
    is_away: bool,
}

impl Notifier for Told {
    async fn notify(&self, notice: Notice, _since: jiff::Timestamp) -> PortResult<()> {
        if self.is_away {
            return Err(PortError::new(PortErrorKind::Unavailable, "notify", notice.kind(), "nobody is there"));
        }
        if matches!(notice, Notice::IterationClosed(_)) {
            self.words.lock().unwrap().push(notice.words());
        }
        Ok(())
    }
}

#[tokio::test]
async fn whoever_is_told_of_the_end_is_told_what_changed() {
    let site = ScriptedSite::start(site).await;
    let (definition, data, told) =
        (definition(&[site.url("/")], |_| {}), tempfile::tempdir().unwrap(), Told::default());
    for is_away in [false, true, false] {
        let store = LocalStore::open(data.path(), SystemClock::new().now()).unwrap();
        let world = local_world(&store, Told { is_away, ..told.clone() });
        let messages = world.queue.clone();
        crawl_in(world, messages, Network::default().fetcher(), &definition).await;
    }
    let mut words = told.words.lock().unwrap().clone();
    words.sort_unstable();
    let expected = [
        "iteration 1 is over: 6 new",
        // Nobody could be told before the next iteration began, which counts anew.
        "iteration 2 is over",
        "iteration 3 is over: 2 changed, 1 back",
    ];
    assert_eq!(words, expected);
}
