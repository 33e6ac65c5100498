//! Documents made again of what is stored: the same as before, unless the program, the rules or the
//! archive differ.

use std::fs;

use dragline_domain::change::ChangeKind;
use dragline_domain::command::Command;
use dragline_domain::definition::{Condition, Definition, TextTest};
use dragline_domain::frontier::Selection;
use dragline_ports::reader::{LinkRow, PageRow};
use dragline_testkit::whole_crawls::{Crawled, definition};
use rusqlite::Connection;

use super::heard::Heard;
use super::scripted::{Act, Asked, ScriptedSite, answer};

/// Pages, a redirect, a file of another type, a page that asks for noindex, one that a later 304
/// asks not to index, and one that is gone later.
fn site(asked: &Asked) -> Act {
    let is_again = asked.field("if-none-match").is_some();
    let page = |body: &str| {
        if is_again {
            return answer(304, &["etag: \"1\""], "");
        }
        answer(200, &["content-type: text/html", "etag: \"1\""], format!("<title>{}</title>{body}", asked.target))
    };
    match asked.target.as_str() {
        "/robots.txt" => answer(404, &[], ""),
        "/" => page(
            "<a href=/a?sid=1>a</a> <a href=/moved>m</a> <a href=/data.bin>d</a> <a href=/hidden>h</a> <a href=/later>l</a> <a href=/goes>g</a>",
        ),
        "/moved" => answer(301, &["location: /a"], ""),
        "/data.bin" => answer(200, &["content-type: application/octet-stream"], "\0\u{1}"),
        "/hidden" => page("<meta name=robots content=noindex>secret"),
        "/later" if is_again => answer(304, &["etag: \"1\"", "x-robots-tag: noindex"], ""),
        "/later" if asked.earlier > 0 => answer(200, &["content-type: text/html", "x-robots-tag: noindex"], "text"),
        "/goes" if asked.earlier > 0 => answer(404, &[], ""),
        _ => page("text <a href=/a>self</a>"),
    }
}

fn reparse(definition: &Definition, selection: Selection) -> Command {
    Command::Reparse { crawl: definition.name.clone(), selection }
}

fn sorted(crawled: &Crawled) -> (Vec<PageRow>, Vec<LinkRow>) {
    let (mut pages, mut links) = (crawled.now.clone(), crawled.links_now.clone());
    pages.sort_by(|a, b| a.url.cmp(&b.url));
    links.sort_by(|a, b| (&a.from_url, &a.to_url, a.kind).cmp(&(&b.from_url, &b.to_url, b.kind)));
    (pages, links)
}

#[tokio::test]
async fn the_same_program_makes_the_same_documents_without_a_request() {
    let site = ScriptedSite::start(site).await;
    let definition = definition(&[site.url("/")], |_| {});
    let crawled = Crawled::once(&definition).await.again(&definition).await;
    let (before, requests) = (sorted(&crawled), site.targets().len());
    assert_eq!(before.0.len(), 7, "{:?}", crawled.shown_urls());
    let all = reparse(&definition, Selection::All);
    let once = crawled.then(&definition, &all).await;
    assert_eq!(sorted(&once), before, "as it was");
    assert_eq!(once.progress.parser.reparsed, 7, "{:?}", once.log);
    let (pages, links) = (once.now.clone(), once.links_now.clone());
    let twice = once.then(&definition, &all).await;
    assert_eq!((&twice.now, &twice.links_now), (&pages, &links), "and again, in the same order");
    assert_eq!(site.targets().len(), requests, "nothing was requested");
    let after = twice.again(&definition).await;
    let changes = after.log.iter().filter_map(|row| Some((row.url.as_str(), row.change.as_ref()?.kind)));
    let changes: Vec<_> = changes.collect();
    let is_change = |(url, kind): &&(&str, ChangeKind)| *url != "/later" && *kind != ChangeKind::Unchanged;
    assert_eq!(changes.iter().filter(is_change).count(), 0, "the next crawl finds the site as it was: {changes:?}");
    assert_eq!(sorted(&after).0.len(), before.0.len());
}

#[tokio::test]
async fn a_newer_program_mends_what_an_older_one_made() {
    let site = ScriptedSite::start(site).await;
    let definition = definition(&[site.url("/")], |_| {});
    let crawled = Crawled::once(&definition).await;
    let good = sorted(&crawled);
    let spoil = || {
        let database = Connection::open(crawled.data().join("dragline.db")).unwrap();
        database
            .execute_batch("UPDATE document SET title = 'spoiled'; UPDATE document_text SET text = '', links = '[]';")
            .unwrap();
    };
    spoil();
    let some = Selection::from_condition(Some(Condition::Path(TextTest::Prefix("/a".to_owned()))));
    let partly = crawled.then(&definition, &reparse(&definition, some)).await;
    assert_eq!(partly.shown("/a?sid=1").unwrap().title.as_deref(), Some("/a?sid=1"), "selected");
    assert_eq!(partly.shown("/").unwrap().title.as_deref(), Some("spoiled"), "not selected");
    let whole = partly.then(&definition, &reparse(&definition, Selection::All)).await;
    assert_eq!(sorted(&whole).0, good.0);
    assert_eq!(whole.links_of("/").len(), 6);
    assert!(whole.links_of("/").iter().all(|(_, _, disposition)| *disposition == "later"), "left to the next crawl");
    let next = whole.again(&definition).await;
    let still = good.1.iter().filter(|link| link.from_url != "/goes").count();
    assert_eq!(next.links_now.len(), still, "all links are there, except those of what is gone");
}

#[tokio::test]
async fn links_that_other_rules_spell_otherwise_are_followed_by_the_next_crawl() {
    let site = ScriptedSite::start(site).await;
    let plain = definition(&[site.url("/")], |_| {});
    let stripping = definition(&[site.url("/")], |draft| {
        draft.strip_query_parameters = serde_json::from_str(r#"["sid"]"#).unwrap();
    });
    let crawled = Crawled::once(&plain).await;
    assert!(crawled.links_of("/").contains(&("/a?sid=1", "a", "follow")));
    let kept = crawled.again(&stripping).await;
    assert!(kept.links_of("/").contains(&("/a?sid=1", "a", "follow")), "its body did not change");
    let again = kept.then(&stripping, &reparse(&stripping, Selection::All)).await;
    assert!(again.links_now.iter().any(|link| link.from_url == "/" && link.to_url == "/a"), "{:?}", again.links_now);
    assert!(again.links_now.iter().all(|link| link.from_url != "/" || link.to_url != "/a?sid=1"));
}

#[tokio::test]
async fn a_document_stays_where_its_answer_is_lost_or_damaged() {
    let site = ScriptedSite::start(site).await;
    let definition = definition(&[site.url("/")], |_| {});
    let crawled = Crawled::once(&definition).await;
    let before = sorted(&crawled);
    let objects: Vec<_> = before.0.iter().map(|page| page.record.object.clone()).collect();
    let first = crawled.data().join(objects[0].as_str());
    let mut bytes = fs::read(&first).unwrap();
    let [offset, length] =
        [before.0[0].record.offset, before.0[0].record.length].map(|bytes| usize::try_from(bytes).unwrap());
    bytes[offset + length / 2..offset + length].fill(0);
    fs::write(&first, bytes).unwrap();
    let other = objects.iter().find(|object| **object != objects[0]).expect("the seed is a segment of its own");
    fs::remove_file(crawled.data().join(other.as_str())).unwrap();
    let lost = before.0.iter().filter(|page| page.record.object == *other).count() as u64;
    let again = crawled.then(&definition, &reparse(&definition, Selection::All)).await;
    assert_eq!(sorted(&again), before, "nothing is lost");
    assert_eq!(again.progress.parser.stuck, lost + 1, "and people are told");
}

#[tokio::test]
async fn changed_rules_of_main_parts_and_content_apply_to_stored_documents() {
    let site = ScriptedSite::start(|asked: &Asked| match asked.target.as_str() {
        "/" => answer(
            200,
            &["content-type: text/html"],
            "<title>T</title><article><p>The story of the day is told here, in a paragraph of some length.</p></article>\
             <div class=more><p>More of it is told over there, in another paragraph of some length.</p></div>",
        ),
        _ => answer(404, &[], ""),
    })
    .await;
    let (data, heard) = (tempfile::tempdir().unwrap(), Heard::default());
    let by = |rules: &str| {
        let yaml = format!("name: docs\nseeds: ['{}']\npoliteness: {{ delay: 0s }}\n{rules}", site.url("/"));
        dragline_definition::parse(&yaml, "crawl.yaml").unwrap()
    };
    let main = |definition: &Definition| {
        let database = Connection::open(data.path().join("dragline.db")).unwrap();
        let sql = "SELECT (SELECT main_text FROM content e WHERE e.id = k.document_id) FROM known_url k WHERE path_query = '/'";
        let found: Option<String> = database.query_row(sql, [], |row| row.get(0)).unwrap();
        (definition.main.len(), found.map(|text| (text.contains("The story"), text.contains("More of it"))))
    };
    let plain = by("");
    heard.crawl(data.path(), &plain).await;
    assert_eq!(main(&plain), (0, None), "content was not asked for");
    for (rules, expected, why) in [
        ("content: full\nmain: [{ include: [.more] }]", (1, Some((false, true))), "content is, with another main part"),
        ("content: full\nmain: [{ include: [article, .more] }]", (1, Some((true, true))), "both are the main part"),
        (
            "content: full\nmain: [{ include: [article, .more], exclude: [.more] }]",
            (1, Some((true, false))),
            "one is excluded",
        ),
        ("content: items", (0, None), "content is not asked for any more"),
    ] {
        let changed = by(rules);
        heard.reparse(data.path(), &changed).await;
        assert_eq!(main(&changed), expected, "{why}");
    }
    assert_eq!(site.targets(), ["/"], "nothing was requested again");
}
