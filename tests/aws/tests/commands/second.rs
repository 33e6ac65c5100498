//! The second crawl, and those after it, on both engines: what they reach, and what the command
//! exports of them.

use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use dragline_aws_tests::{EmulatedStack, Ran, dragline};
use dragline_domain::command::Command;
use dragline_domain::definition::{Definition, Draft, Schedule};
use dragline_domain::frontier::{Demand, Selection, Visits};
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_testkit::site::{Content, Page, PathContent, Site};
use dragline_testkit::whole_crawls::{crawl, definition};
use serde_json::Value;

/// Pages of which each edition of the site has others.
struct Editions(Arc<AtomicU32>);

/// How many pages `/list` leads to.
const LISTED: u32 = 12;

impl Editions {
    fn page(path: &str, edition: u32) -> Option<String> {
        let links =
            |paths: &[String]| paths.iter().map(|path| format!("<a href={path}>{path}</a> ")).collect::<String>();
        let to = |paths: &[&str]| links(&paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>());
        let body = match path {
            "/" => to(&["/deep/1", "/news", "/goes", "/list"]),
            "/deep/1" => to(&["/deep/2"]),
            "/deep/2" => to(&["/deep/3"]),
            "/deep/3" => "the end".to_owned(),
            "/list" => links(&(1..=LISTED).map(|n| format!("/item/{n}")).collect::<Vec<_>>()),
            "/news" => format!("edition {edition} {}", to(&[&format!("/story/{edition}")])),
            "/goes" if edition != 2 => "here".to_owned(),
            path if path.starts_with("/item/") || path.starts_with("/story/") => format!("text of {path}"),
            _ => return None,
        };
        Some(format!("<title>Title of {path}</title>{body}"))
    }
}

impl Content for Editions {
    fn find(&self, path: &str) -> io::Result<PathContent> {
        let edition = self.0.load(Ordering::SeqCst);
        let Some(body) = Self::page(path, edition) else { return Ok(PathContent::Missing) };
        let tag = if path == "/news" { edition.to_string() } else { "1".to_owned() };
        let body = body.into();
        Ok(PathContent::Page(Page {
            media_type: "text/html",
            modified: SystemTime::UNIX_EPOCH,
            tag,
            body,
            zipped: None,
        }))
    }
}

/// One site, crawled by both engines.
struct Both {
    site: Site,
    edition: Arc<AtomicU32>,
    stack: EmulatedStack,
    data: tempfile::TempDir,
}

impl Both {
    async fn new() -> Self {
        let edition = Arc::new(AtomicU32::new(1));
        let site = Site::builder().content(Editions(Arc::clone(&edition))).start().await.unwrap();
        Self { site, edition, stack: EmulatedStack::new().await, data: tempfile::tempdir().unwrap() }
    }

    fn definition(&self, change: impl FnOnce(&mut Draft)) -> Definition {
        definition(&[self.site.url()], |draft| {
            draft.name = "docs".parse().unwrap();
            draft.politeness.delay = Duration::ZERO;
            draft.politeness.concurrency = 1;
            change(draft);
        })
    }

    async fn crawl(&self, definition: &Definition) {
        self.stack.crawl(definition).await;
        crawl(&self.data.path().join("data"), definition).await;
    }

    /// Carries out a command on both engines, and runs what it begins.
    async fn command(&self, command: &Command) {
        self.stack.command(command).await;
        dragline_testkit::whole_crawls::command(&self.data.path().join("data"), command).await;
    }

    fn ask(&self, arguments: &[&str]) -> [Ran; 2] {
        let of_stack = [arguments, &["--crawl", "docs", "--stack", self.stack.name()]].concat();
        let of_data = [arguments, &["--data", "data"]].concat();
        [of_stack, of_data].map(|arguments| dragline(self.data.path(), &arguments))
    }

    /// The rows of an export, which are the same on both engines, each as the text of these fields.
    fn export(&self, what: &str, fields: &[&str]) -> BTreeSet<String> {
        let base = self.site.url();
        let [stack, data] = self.ask(&["export", "--what", what]).map(|ran| {
            let row = |row: Value| {
                let field = |name: &&str| match &row[*name] {
                    Value::String(text) => text.replacen(base.trim_end_matches('/'), "", 1),
                    other => other.to_string(),
                };
                fields.iter().map(field).collect::<Vec<_>>().join(" ")
            };
            ran.rows().into_iter().map(row).collect::<BTreeSet<String>>()
        });
        assert_eq!(stack, data, "{what}: the same on both engines");
        data
    }

    fn pages(&self) -> BTreeSet<String> {
        self.export("pages", &["url"])
    }
}

fn set(urls: &[&str]) -> BTreeSet<String> {
    urls.iter().map(|url| (*url).to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wider_definition_reaches_more_and_a_narrower_one_less() {
    let both = Both::new().await;
    let to_depth = |depth| both.definition(|draft| draft.scope.max_depth = Some(depth));
    let excluding = both.definition(|draft| draft.scope.exclude.push("/(deep|item)/".parse().unwrap()));
    both.crawl(&to_depth(0)).await;
    assert_eq!(both.pages(), set(&["/"]));
    both.crawl(&to_depth(2)).await;
    assert!(both.pages().is_superset(&set(&["/", "/deep/1", "/deep/2", "/news", "/item/1"])), "{:?}", both.pages());
    assert!(!both.pages().contains("/deep/3"), "too deep");
    both.crawl(&both.definition(|_| {})).await;
    let all = both.pages();
    assert_eq!(all.len(), 8 + LISTED as usize, "{all:?}");
    both.crawl(&excluding).await;
    assert_eq!(both.pages(), set(&["/", "/goes", "/list", "/news", "/story/1"]), "what is excluded goes");
    both.crawl(&both.definition(|_| {})).await;
    assert_eq!(both.pages(), all, "and comes back");
    let links = both.export("links", &["from_url", "to_url", "disposition"]);
    assert!(links.contains("/deep/1 /deep/2 follow"), "{links:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_with_a_budget_reach_everything_once_before_anything_twice() {
    let both = Both::new().await;
    let five = both.definition(|draft| draft.budget.pages = Some(5));
    let mut reached = 0;
    for run in 1..=5 {
        both.crawl(&five).await;
        let pages = both.pages().len();
        let expected = (1 + 4 * run).min(8 + LISTED as usize);
        assert_eq!(pages, expected, "run {run}: the seed, and four that were never visited; {reached} before");
        reached = pages;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_site_keeps_its_pages_and_what_changes_is_told() {
    let both = Both::new().await;
    let definition = both.definition(|_| {});
    both.crawl(&definition).await;
    let first = both.export("pages", &["url", "outcome_name", "title", "text"]);
    let links = both.export("links", &["from_url", "to_url", "kind"]);
    both.crawl(&definition).await;
    assert_eq!(both.export("pages", &["url", "outcome_name", "title", "text"]), first, "nothing changed");
    assert_eq!(both.export("links", &["from_url", "to_url", "kind"]), links, "nor any link");
    both.edition.store(2, Ordering::SeqCst);
    both.crawl(&definition).await;
    let changes = both.export("log", &["url", "change", "changed_parts"]);
    for expected in ["/ unchanged null", "/news changed text,links", "/story/2 new null", "/goes gone null"] {
        assert!(changes.contains(expected), "{expected}: {changes:#?}");
    }
    assert!(!both.pages().contains("/goes"), "it is gone");
    both.edition.store(3, Ordering::SeqCst);
    both.crawl(&definition).await;
    let changes = both.export("log", &["url", "change", "changed_parts"]);
    assert!(changes.contains("/goes back null"), "{changes:#?}");
    assert!(both.pages().contains("/goes"), "it is back");
    let now = both.export("pages", &["url", "title"]);
    assert!(now.contains("/deep/3 Title of /deep/3"), "{now:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_on_demand_and_documents_made_again_give_the_same_on_both_engines() {
    let both = Both::new().await;
    let monthly = both.definition(|draft| draft.recrawl.interval = Some(Duration::from_hours(30 * 24)));
    let crawl = monthly.name.clone();
    both.crawl(&monthly).await;
    let all = both.export("pages", &["url", "outcome_name", "title", "text", "iteration"]);
    let links = both.export("links", &["from_url", "to_url", "kind", "disposition", "iteration"]);
    let reparse = Command::Reparse { crawl: crawl.clone(), selection: Selection::All };
    for _ in 0..2 {
        both.command(&reparse).await;
        assert_eq!(both.export("pages", &["url", "outcome_name", "title", "text", "iteration"]), all);
        assert_eq!(both.export("links", &["from_url", "to_url", "kind", "disposition", "iteration"]), links);
    }
    both.edition.store(2, Ordering::SeqCst);
    let urls =
        ["news", "goes"].map(|path| CrawlUrl::parse(&format!("{}{path}", both.site.url()), &UrlRules::keep_all()));
    let urls: Vec<CrawlUrl> = urls.into_iter().map(Result::unwrap).collect();
    let pattern = Some("/story/".parse().unwrap());
    let due = Demand { pattern, ..Demand::default() };
    let demand = |demand: &Demand| Command::Demand { crawl: crawl.clone(), urls: urls.clone(), demand: demand.clone() };
    both.command(&demand(&due)).await;
    assert_eq!(both.export("log", &["url"]), set(&[]), "nothing is due");
    both.command(&demand(&Demand { visits: Visits::All, ..due })).await;
    let seen = both.export("log", &["url", "outcome_name", "change"]);
    let expected = ["/news file_ingested changed", "/story/2 file_ingested new", "/goes file_not_found gone"];
    assert_eq!(seen, set(&expected), "what was demanded, and the link that matches");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_is_gone_from_both_engines_and_the_rest_stays() {
    let both = Both::new().await;
    let definition = both.definition(|_| {});
    both.crawl(&definition).await;
    both.edition.store(2, Ordering::SeqCst);
    both.crawl(&definition).await;
    let pages = |both: &Both| both.export("pages", &["url", "title", "text", "depth"]);
    let log = |both: &Both| both.export("log", &["url", "outcome_name", "via"]);
    let (before, logged) = (pages(&both), log(&both));
    let [news, deep] = ["news", "deep/2"].map(|path| format!("{}{path}", both.site.url()));
    for ran in both.ask(&["forget", &news, &deep, "--json"]) {
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let counts = ["urls", "visits", "documents"].map(|name| report[name].as_u64());
        assert_eq!(counts, [Some(2), Some(4), Some(4)], "{report}");
    }
    let left = |rows: &BTreeSet<String>| {
        let of = |row: &&String| !row.starts_with("/news ") && !row.starts_with("/deep/2 ");
        rows.iter().filter(of).cloned().collect::<BTreeSet<String>>()
    };
    assert_eq!(pages(&both), left(&before));
    let found_elsewhere = |row: String| row.replace(" /news", " null").replace(" /deep/2", " null");
    let expected = left(&logged).into_iter().map(found_elsewhere).collect::<BTreeSet<String>>();
    assert_eq!(log(&both), expected, "nobody knows where others were found");
    let known = both.export("candidates", &["url", "via"]);
    assert!(known.iter().all(|row| !row.contains("/news") && !row.contains("/deep/2")), "{known:?}");
    for ran in both.ask(&["forget", "--where", "path: {prefix: /item/}"]) {
        assert!(ran.stdout.contains("12 URLs forgotten"), "{}{}", ran.stdout, ran.stderr);
    }
    assert!(pages(&both).iter().all(|row| !row.starts_with("/item/")));
    let kept = pages(&both);
    both.crawl(&definition).await;
    assert_eq!(pages(&both), kept, "pages that did not change lead to nothing new");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_forgets_hears_when_the_schedule_crawls_again() {
    let both = Both::new().await;
    let daily = both.definition(|draft| draft.schedule = Some(Schedule::new("0 3 * * *", "UTC").unwrap()));
    both.stack.command(&Command::Define(Box::new(daily))).await;
    let [ran, _] = both.ask(&["forget", &both.site.url()]);
    assert!(ran.stdout.contains("1 URL forgotten"), "{}{}", ran.stdout, ran.stderr);
    let told = "the schedule of `docs` begins its next crawl at ";
    let at = ran.stderr.split_once(told).unwrap_or_else(|| panic!("{}", ran.stderr)).1;
    assert!(at.contains("T03:00:00Z"), "{at}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stack_that_was_pruned_reads_the_same_and_crawls_on() {
    let both = Both::new().await;
    let definition = both.definition(|_| {});
    for edition in [1, 2, 3, 4] {
        both.edition.store(edition, Ordering::SeqCst);
        both.crawl(&definition).await;
    }
    let exports = || {
        let latest = [both.export("log", &["url", "outcome_name", "change"])];
        let now = ["pages", "links", "candidates"].map(|what| both.ask(&["export", "--what", what])[0].stdout.clone());
        let compared = [&["diff", "--from", "3"][..], &["diff", "--from", "3", "--what", "links"]];
        let compared = compared.map(|arguments| both.ask(arguments)[0].stdout.clone());
        (latest.map(|log| log.len()), now, compared)
    };
    let bodies = || {
        both.pages()
            .into_iter()
            .map(|path| {
                let ran = both.ask(&["get", &format!("{}{path}", both.site.url().trim_end_matches('/'))]);
                assert_eq!(ran[0].code, Some(0), "{path}: {}", ran[0].stderr);
                ran[0].stdout.clone()
            })
            .collect::<Vec<String>>()
    };
    let (before, bodies_before) = (exports(), bodies());
    let pruned = both.stack.prune(&definition.name, NonZeroU32::new(2).unwrap()).await;
    assert!(pruned.objects >= 1 && pruned.kept > 10, "{pruned:?}");
    assert_eq!(exports(), before, "what is kept");
    assert_eq!(bodies(), bodies_before, "the bodies of all pages");
    let again = both.stack.prune(&definition.name, NonZeroU32::new(2).unwrap()).await;
    assert_eq!((again.objects, again.kept), (0, pruned.kept), "nothing is left to delete");
    let [of_stack, _] = both.ask(&["status", "--iteration", "2", "--json"]);
    assert!(of_stack.stderr.contains("iteration 2 was pruned on "), "{}", of_stack.stderr);
    both.edition.store(5, Ordering::SeqCst);
    both.crawl(&definition).await;
    both.export("log", &["url", "outcome_name", "change", "changed_parts"]);
    both.export("pages", &["url", "outcome_name", "title", "text"]);
}
