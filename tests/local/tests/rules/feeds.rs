//! Feeds as lists of pages: which are read, what counts for their entries, and how little a news
//! site is asked for.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dragline_domain::definition::{Definition, Draft, Feeds};
use dragline_domain::outcome::Outcome;
use dragline_testkit::whole_crawls::{Crawled, Network, crawl_in, definition};

use super::ahead::open_ahead;
use super::clocks::until_free;
use super::scripted::{Act, Asked, ScriptedSite, answer, page};

const HOUR: Duration = Duration::from_hours(1);

/// A page that names four feeds in as many formats, one of them under a wrong type, one in eight
/// parts, and one of another site.
fn site_with_feeds(asked: &Asked) -> Act {
    let part = asked.target.strip_prefix("/atom?part=").map_or(1, |part| part.parse::<u32>().unwrap());
    match asked.target.as_str() {
        "/" => page(
            "<link rel=alternate type=application/rss+xml href=/rss><link rel=alternate type=application/rss+xml href=/rdf>
             <link rel=alternate type=application/atom+xml href=/atom><link rel=alternate type=application/feed+json href=/json>
             <link rel=alternate type=application/rss+xml href=/none>
             <link rel=alternate type=application/rss+xml href=https://elsewhere.example/rss>",
        ),
        "/rss" => answer(
            200,
            &["content-type: text/html"],
            "<rss version='2.0'><channel><item><link>/story/rss</link></item><item><link>/about</link></item></channel></rss>",
        ),
        "/rdf" => answer(
            200,
            &["content-type: application/rdf+xml"],
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>
             <item rdf:about='/story/rdf'><link>/story/rdf</link></item></rdf:RDF>",
        ),
        "/json" => answer(
            200,
            &["content-type: application/feed+json", "x-robots-tag: noindex"],
            r#"{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "/story/json"}]}"#,
        ),
        "/robots.txt" => answer(404, &[], ""),
        "/none" => page("no feed <a href=/story/none>at all</a>"),
        target if target.starts_with("/atom") => answer(
            200,
            &["content-type: application/atom+xml"],
            format!(
                "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='next' href='/atom?part={}'/>
                 <entry><link href='/story/atom{part}'/></entry></feed>",
                part + 1
            ),
        ),
        _ => page("<a href=/story/linked>a story</a>"),
    }
}

fn follow(draft: &mut Draft) {
    draft.feeds = Feeds::Follow;
    draft.scope.max_depth = Some(0);
    draft.scope.include = vec!["^[^/]*//[^/]*/$".parse().unwrap(), "/story/".parse().unwrap()];
}

#[tokio::test]
async fn the_entries_of_feeds_count_like_seeds() {
    let site = ScriptedSite::start(site_with_feeds).await;
    let crawled = Crawled::once(&definition(&[site.url("/")], follow)).await;
    let (page, file) = (Outcome::FileIngested, Outcome::StoredNotRead);
    crawled.assert_outcomes(&[
        ("/", page, "the seed"),
        ("/rss", file, "a feed, which need not be included, and whatever its type"),
        ("/rdf", file, "RSS 1.0"),
        ("/atom", file, "the first part"),
        ("/atom?part=2", file, "the second one"),
        ("/atom?part=3", file, "the next"),
        ("/atom?part=4", file, "the next"),
        ("/atom?part=5", file, "the next"),
        ("/atom?part=6", file, "the last: five further parts are read"),
        ("/json", Outcome::BlockedAtRequestOfRemote, "a feed that is no result is followed all the same"),
        ("/none", page, "it is named as a feed, and is a page"),
        ("/story/rss", page, "an entry, of depth 0"),
        ("/story/rdf", page, "an entry"),
        ("/story/json", page, "an entry"),
        ("/story/atom1", page, "an entry"),
        ("/story/atom2", page, "an entry of the second part"),
        ("/story/atom3", page, "an entry"),
        ("/story/atom4", page, "an entry"),
        ("/story/atom5", page, "an entry"),
        ("/story/atom6", page, "an entry"),
    ]);
    assert_eq!(crawled.row("/story/atom6").depth, 0);
    assert_eq!(
        crawled.links_of("/rss"),
        [("/story/rss", "feed_entry", "follow"), ("/about", "feed_entry", "out_of_scope")],
        "entries have to be included"
    );
    assert_eq!(crawled.links_of("/story/rss"), [("/story/linked", "a", "too_deep")], "and their links are deeper");
    assert_eq!(
        crawled.links_of("/atom?part=6"),
        [("/atom?part=7", "feed", "too_deep"), ("/story/atom6", "feed_entry", "follow")]
    );
    assert!(crawled.links_of("/").contains(&("https://elsewhere.example/rss", "feed", "out_of_scope")));
}

#[tokio::test]
async fn feeds_that_are_not_followed_are_files() {
    let site = ScriptedSite::start(site_with_feeds).await;
    let crawled = Crawled::once(&definition(&[site.url("/")], |_| {})).await;
    assert_eq!((crawled.row("/rss").depth, crawled.links_of("/rss")), (1, vec![]), "visited, and that is all");
    assert!(crawled.links_of("/").contains(&("/rss", "feed", "follow")));
    assert!(!site.targets().contains(&"/story/rss".to_owned()));
    let limited = Crawled::once(&definition(&[site.url("/")], |draft| draft.scope.max_depth = Some(0))).await;
    assert!(limited.links_of("/").contains(&("/rss", "feed", "too_deep")), "they count as links of the page");
}

#[tokio::test]
async fn entries_of_a_feed_that_a_page_merely_links_to_are_one_link_deeper() {
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/" => page("<a href=/rss>our feed</a>"),
        _ => site_with_feeds(asked),
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.url("/")], |draft| draft.feeds = Feeds::Follow)).await;
    assert_eq!((crawled.row("/rss").depth, crawled.row("/story/rss").depth), (1, 2));
}

/// Crawls as if this much time had passed, and returns what was requested, sorted.
async fn requested(directory: &Path, site: &ScriptedSite, definition: &Definition, ahead: Duration) -> Vec<String> {
    let before = site.log().len();
    until_free(directory).await;
    let world = open_ahead(directory, ahead, 1);
    let messages = world.queue.clone();
    Box::pin(crawl_in(world, messages, Network::default().fetcher(), definition)).await;
    let mut targets: Vec<_> = site.log().split_off(before).into_iter().map(|asked| asked.target).collect();
    targets.sort();
    targets
}

#[tokio::test]
async fn a_news_site_is_asked_for_its_feed_and_for_what_is_new_in_it() {
    let stories = Arc::new(AtomicUsize::new(2));
    let written = Arc::clone(&stories);
    let site = ScriptedSite::start(move |asked| {
        let count = written.load(Ordering::Relaxed);
        let tag = format!("\"{count}\"");
        match asked.target.as_str() {
            "/feed.xml" if asked.field("if-none-match") == Some(&tag) => answer(304, &[&format!("etag: {tag}")], ""),
            "/feed.xml" => {
                let items: String = (1..=count).map(|n| format!("<item><link>/story/{n}</link></item>")).collect();
                let fields = ["content-type: application/rss+xml", &format!("etag: {tag}")];
                answer(200, &fields, format!("<rss version='2.0'><channel>{items}</channel></rss>"))
            }
            "/robots.txt" => answer(404, &[], ""),
            _ => page("<a href=/>front page</a>"),
        }
    })
    .await;
    let definition = definition(&[site.url("/feed.xml")], |draft| {
        draft.feeds = Feeds::Follow;
        draft.scope.max_depth = Some(0);
        draft.recrawl.interval = Some(30 * 24 * HOUR);
        draft.politeness.robots_max_age = 24 * HOUR;
    });
    let directory = tempfile::tempdir().unwrap();
    for (hours, count, expected, why) in [
        (0, 2, vec!["/feed.xml", "/robots.txt", "/story/1", "/story/2"], "everything is new"),
        (1, 2, vec!["/feed.xml"], "nothing is"),
        (2, 3, vec!["/feed.xml", "/story/3"], "one story is"),
        (3, 3, vec!["/feed.xml"], "nothing is"),
    ] {
        stories.store(count, Ordering::Relaxed);
        let asked = requested(directory.path(), &site, &definition, hours * HOUR).await;
        assert_eq!(asked, expected, "after {hours} hours {why}");
    }
    let asked = requested(directory.path(), &site, &definition, 31 * 24 * HOUR).await;
    assert_eq!(asked, ["/feed.xml", "/robots.txt", "/story/1", "/story/2", "/story/3"], "a month later all are due");
}
