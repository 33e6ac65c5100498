//! Pages that need their scripts: what is rendered, what its requests obey, and what is stored.

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::command::Command;
use dragline_domain::definition::{
    Condition, Definition, DoNotCrawl, Draft, OtherHosts, RenderWhen, Screenshot, TextTest,
};
use dragline_domain::frontier::Selection;
use dragline_domain::outcome::Outcome;
use dragline_domain::rendering::{PageMethod, PageRefusal, PageRequestEnd};
use dragline_formats::warc::{RecordType, TargetUri};
use dragline_ports::fetcher::Fetchers;
use dragline_testkit::renderer::ScriptedRenderer;
use dragline_testkit::whole_crawls::{Crawled, Network, definition};

use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// A shell as frameworks send it, with what its scripts would request.
fn shell(asks: &str) -> Act {
    page(&format!("<title>App</title><div id=root></div><script src=/app.js></script>{asks}"))
}

fn site(asked: &Asked) -> Act {
    let (host, port) = (asked.field("host").unwrap().split(':').next().unwrap(), asked.port());
    let data = |body: &str| answer(200, &["content-type: application/json"], body);
    match (host, &*asked.target) {
        (_, "/robots.txt") => {
            let delay = if host == "api.app.example" { "Crawl-delay: 0.3" } else { "" };
            let rules = format!("User-agent: *\n{delay}\nDisallow: /private\nDisallow: /api/secret");
            answer(200, &["content-type: text/plain"], &rules)
        }
        ("app.example", "/") => shell(&format!(
            "<!--ask script GET /app.js--><!--ask data GET /api/list--><!--ask data GET /api/secret-->
             <!--ask data GET /api/excluded--><!--ask data POST /graphql--><!--ask data POST /delete-->
             <!--ask data GET http://api.app.example:{port}/more--><!--ask data GET http://api.app.example:{port}/private-->
             <!--ask data GET http://api.app.example:{port}/yet-more-->
             <!--ask data GET http://other.example:{port}/tracker--><!--to /elsewhere-->"
        )),
        ("app.example", "/list") => shell("<!--ask script GET /app.js--><!--ask data GET /api/list-->"),
        ("app.example", "/hidden") => {
            shell("<meta name=robots content=noindex><!--ask data GET /api/hidden-->")
        }
        ("app.example", "/crashes") => shell("<!--ask data GET /api/crash--><!--crash-->"),
        ("app.example", "/elsewhere" | "/whole") => {
            page(&format!("<h1>Whole</h1><p>{}</p><!--ask data GET /api/unneeded-->", "A page with words. ".repeat(20)))
        }
        ("app.example", "/api/list") => data("<a href=/list>The list</a> <a href=/whole>Whole</a> <a href=/hidden>h</a> <a href=/crashes>c</a>"),
        ("app.example", "/graphql") => data("graph"),
        ("app.example", "/app.js") => answer(200, &["content-type: text/javascript"], "code"),
        ("api.app.example", "/more" | "/yet-more") => data("more of it"),
        ("other.example", _)
        | ("api.app.example", "/private")
        | (_, "/api/excluded" | "/api/hidden" | "/api/unneeded" | "/delete" | "/api/secret") => data("not to be asked"),
        _ => answer(404, &[], ""),
    }
}

fn of_site(site: &ScriptedSite, change: impl FnOnce(&mut Draft)) -> Definition {
    definition(&[site.named("app.example", "/")], |draft| {
        draft.render.when = RenderWhen::Auto;
        draft.render.post = vec!["/graphql$".parse().unwrap()];
        let when = Condition::Path(TextTest::Prefix("/api/excluded".to_owned()));
        draft.do_not_crawl = vec![DoNotCrawl { when, reason: "not ours".to_owned() }];
        change(draft);
    })
}

async fn crawl(definition: &Definition) -> Crawled {
    let fetchers = Arc::new(Network::default().fetcher()).rendering_by(Arc::new(ScriptedRenderer));
    Crawled::with(fetchers, definition).await
}

async fn crawl_again(crawled: Crawled, definition: &Definition) -> Crawled {
    let fetchers = Arc::new(Network::default().fetcher()).rendering_by(Arc::new(ScriptedRenderer));
    crawled.again_with(fetchers, definition).await
}

#[tokio::test]
async fn what_a_page_requests_is_a_request_like_any_other() {
    let site = ScriptedSite::start(site).await;
    let crawled = crawl(&of_site(&site, |_| {})).await;
    let asked = |host: &str, target: &str| {
        let asked = site.log();
        asked.iter().filter(|asked| asked.field("host").unwrap().starts_with(host) && asked.target == target).count()
    };
    for (host, target, expected, why) in [
        ("app.example", "/app.js", 1, "pages share a script"),
        ("app.example", "/api/list", 2, "and each has its own data"),
        ("app.example", "/api/secret", 0, "robots.txt forbids it"),
        ("app.example", "/api/excluded", 0, "a rule forbids it"),
        ("app.example", "/graphql", 1, "a POST that the definition names"),
        ("app.example", "/delete", 0, "a POST that it does not name"),
        ("api.app.example", "/more", 1, "a host of the same domain"),
        ("api.app.example", "/private", 0, "whose own robots.txt forbids this"),
        ("api.app.example", "/robots.txt", 1, "which was read once"),
        ("other.example", "/tracker", 0, "a host of another domain"),
        ("app.example", "/api/hidden", 0, "the page asks for noindex, and is not rendered"),
        ("app.example", "/api/unneeded", 0, "the page is whole as it was sent"),
    ] {
        assert_eq!(asked(host, target), expected, "{host}{target}: {why}");
    }
    let text = crawled.text("/");
    assert!(text.contains("The list") && text.contains("graph") && text.contains("more of it"), "{text}");
    assert_eq!(text.matches("refused").count(), 5, "{text}");
    assert!(!text.contains("not to be asked"), "{text}");
    crawled.assert_outcomes(&[
        ("/", Outcome::FileIngested, "rendered"),
        ("/list", Outcome::FileIngested, "a link that only the rendered page has"),
        ("/whole", Outcome::FileIngested, "another one"),
        ("/elsewhere", Outcome::FileIngested, "where a script tried to send the browser"),
        ("/hidden", Outcome::BlockedAtRequestOfRemote, "it asks for noindex"),
        ("/crashes", Outcome::NeedsScript, "it breaks the browser"),
    ]);
    let posted = site.log().into_iter().find(|asked| asked.target == "/graphql").unwrap();
    assert_eq!(
        (posted.method(), posted.field("referer")),
        ("POST", Some(&*site.named("app.example", "/"))),
        "what the page says"
    );
}

#[tokio::test]
async fn the_log_says_what_became_of_each_request_of_a_page() {
    use PageMethod::{Get, Post};
    let site = ScriptedSite::start(site).await;
    let crawled = crawl(&of_site(&site, |draft| draft.render.requests_max = 6)).await;
    let requests = &crawled.row("/").page_requests.as_ref().unwrap().0;
    let answered: &[_] = &[("/app.js", Get), ("/api/list", Get), ("/graphql", Post)];
    for (target, method) in answered {
        let request = requests.iter().find(|request| request.url.path_and_query() == *target).unwrap();
        assert_eq!(request.method, *method);
        assert!(matches!(request.end, PageRequestEnd::Answered { status: 200, body_bytes: 4.., .. }), "{request:?}");
    }
    for (target, refused) in [
        ("/api/secret", PageRefusal::RobotsTxt),
        ("/api/excluded", PageRefusal::Definition),
        ("/delete", PageRefusal::Definition),
    ] {
        let request = requests.iter().find(|request| request.url.path_and_query() == target).unwrap();
        assert_eq!(request.end, PageRequestEnd::Refused { refused }, "{request:?}");
    }
    assert_eq!(requests.len(), 6, "those beyond the limit are not asked: {requests:#?}");
    assert_eq!(crawled.row("/whole").page_requests, None, "it was not rendered");
}

#[tokio::test]
async fn a_picture_is_stored_behind_the_document() {
    let site = ScriptedSite::start(site).await;
    let definition = of_site(&site, |draft| draft.render.screenshot = Screenshot::View);
    let crawled = crawl(&definition).await;
    let url = site.named("app.example", "/");
    let records = crawled.every_record();
    let view = TargetUri::for_view(&url);
    let place = records.iter().position(|record| record.target_uri() == Some(view.as_str())).unwrap();
    let (dom, picture) = (&records[place - 1], &records[place]);
    assert_eq!(dom.target_uri().and_then(TargetUri::page_of_dom), Some(&*url));
    assert_eq!(String::from_utf8_lossy(&picture.block), format!("PNG of {url}"));
    let row = crawled.row("/").record.clone().unwrap();
    let begins = records[place - 2].span.offset;
    assert_eq!((row.offset, row.offset + row.length), (begins, picture.span.offset + picture.span.length));
    // The parser's place is the same as the reader's, and the document as without a picture.
    assert!(crawled.text("/").contains("The list"));
    let crawled = crawl_again(crawled, &definition).await;
    assert_eq!(crawled.row("/").outcome, Outcome::FileDidNotChange, "whatever it looks like");
}

#[tokio::test]
async fn other_hosts_are_asked_as_far_as_the_definition_says() {
    for (other_hosts, more, tracker) in [(OtherHosts::None, 0, 0), (OtherHosts::Domain, 1, 0), (OtherHosts::All, 1, 1)]
    {
        let site = ScriptedSite::start(site).await;
        crawl(&of_site(&site, |draft| draft.render.other_hosts = other_hosts)).await;
        let targets = site.targets();
        let count = |target: &str| targets.iter().filter(|asked| *asked == target).count();
        assert_eq!((count("/more"), count("/tracker")), (more, tracker), "{other_hosts}");
    }
}

#[tokio::test]
async fn requests_of_pages_keep_the_pace() {
    let site = ScriptedSite::start(site).await;
    let delay = Duration::from_millis(100);
    crawl(&of_site(&site, |draft| {
        draft.politeness.delay = delay;
        draft.politeness.concurrency = 1;
    }))
    .await;
    for (host, delay, count, why) in [
        ("app.example", delay, 9, "each waits for its turn"),
        ("api.app.example", Duration::from_millis(300), 3, "the Crawl-delay of another host"),
    ] {
        let asked = site.log();
        let of_host = asked.iter().filter(|asked| asked.field("host").unwrap().split(':').next() == Some(host));
        let mut starts: Vec<_> = of_host.map(|asked| asked.at).collect();
        starts.sort();
        assert!(starts.len() >= count, "{host}: {starts:?}");
        let early = starts.windows(2).map(|pair| pair[1] - pair[0]).find(|gap| *gap < delay * 8 / 10);
        assert_eq!(early, None, "{host}: {why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_a_page_begin_in_its_order() {
    let targets: Vec<String> = (0..20).map(|n| format!("/data/{n}")).collect();
    let asks: String = targets.iter().map(|target| format!("<!--ask data GET {target}-->")).collect();
    let site = ScriptedSite::start(move |asked: &Asked| match &*asked.target {
        "/" => shell(&asks),
        "/robots.txt" => answer(404, &[], ""),
        _ => answer(200, &["content-type: application/json"], "data"),
    })
    .await;
    crawl(&of_site(&site, |draft| draft.politeness.concurrency = 1)).await;
    let asked = site.targets().into_iter().filter(|target| target.starts_with("/data/"));
    assert_eq!(asked.collect::<Vec<_>>(), targets, "whichever task runs first");
}

#[tokio::test]
async fn the_archive_has_the_document_behind_its_answer_and_all_that_the_page_got() {
    let site = ScriptedSite::start(site).await;
    let crawled = crawl(&of_site(&site, |_| {})).await;
    let records = crawled.every_record();
    let url = site.named("app.example", "/");
    let place = records
        .iter()
        .position(|record| record.record_type == RecordType::Response && record.target_uri() == Some(&url));
    let (answer, dom) = (&records[place.unwrap()], &records[place.unwrap() + 1]);
    assert_eq!(dom.record_type, RecordType::Resource);
    assert_eq!(dom.target_uri().and_then(TargetUri::page_of_dom), Some(&*url));
    assert!(String::from_utf8_lossy(&dom.block).contains("The list"), "the document in the end");
    assert!(!String::from_utf8_lossy(&answer.block).contains("The list"), "what the server sent");
    for (record_type, target) in [
        (RecordType::Response, site.named("app.example", "/api/list")),
        (RecordType::Request, site.named("app.example", "/graphql")),
        (RecordType::Response, site.named("api.app.example", "/more")),
        (RecordType::Response, site.named("api.app.example", "/robots.txt")),
    ] {
        let has =
            records.iter().any(|record| record.record_type == record_type && record.target_uri() == Some(&target));
        assert!(has, "{record_type:?} {target}");
    }
}

#[tokio::test]
async fn a_page_is_unchanged_if_its_document_is_and_is_made_again_without_a_browser() {
    let site = ScriptedSite::start(site).await;
    let definition = of_site(&site, |_| {});
    let crawled = crawl(&definition).await;
    let before = crawled.now.clone();
    let crawled = crawl_again(crawled, &definition).await;
    for path in ["/", "/list"] {
        assert_eq!(crawled.row(path).outcome, Outcome::FileDidNotChange, "{path}");
    }
    assert_eq!(before.len(), crawled.now.len());
    let requests = site.targets().len();
    let all = Command::Reparse { crawl: definition.name.clone(), selection: Selection::All };
    let again = crawled.then(&definition, &all).await;
    assert_eq!(site.targets().len(), requests, "nothing is requested");
    for row in &before {
        let made = again.shown(&row.url).unwrap_or_else(|| panic!("{}: it is gone", row.url));
        assert_eq!((&made.title, &made.text), (&row.title, &row.text), "{}: from the stored document", row.url);
    }
}

#[tokio::test]
async fn a_page_that_breaks_the_browser_is_what_its_server_sent() {
    let site = ScriptedSite::start(site).await;
    let crawled = crawl(&of_site(&site, |_| {})).await;
    let row = crawled.row("/crashes");
    let detail = row.detail.as_deref().unwrap_or_default();
    assert!(detail.contains("the page crashed in the browser"), "{detail}");
    assert_eq!(row.outcome, Outcome::NeedsScript, "a shell is no content");
    assert!(site.targets().iter().any(|target| target == "/list"), "the others are as before");
}

#[tokio::test]
async fn nothing_is_rendered_unless_the_definition_says_so() {
    let site = ScriptedSite::start(site).await;
    let crawled = crawl(&of_site(&site, |draft| draft.render.when = RenderWhen::Never)).await;
    assert_eq!(site.targets(), ["/"]);
    let row = crawled.row("/");
    assert_eq!(row.outcome, Outcome::NeedsScript);
    assert!(row.detail.as_deref().unwrap_or_default().contains("needs JavaScript"), "{row:?}");
}

#[tokio::test]
async fn what_a_browser_showed_stays_while_the_page_breaks_it_and_shells_are_rendered_once_they_are_to_be() {
    let site = ScriptedSite::start(|asked| match (&*asked.target, asked.earlier) {
        ("/robots.txt", _) => answer(404, &[], ""),
        ("/api/list", _) => answer(200, &["content-type: text/html"], "What there is"),
        ("/", 2) => shell("<!--ask data GET /api/list--><!--crash-->"),
        _ => shell("<!--ask data GET /api/list-->"),
    })
    .await;
    let of_site = |when: RenderWhen| definition(&[site.url("/")], |draft| draft.render.when = when);
    let first = crawl(&of_site(RenderWhen::Never)).await;
    assert_eq!(first.row("/").outcome, Outcome::NeedsScript, "nobody ran it");
    let second = crawl_again(first, &of_site(RenderWhen::Auto)).await;
    assert_eq!(second.row("/").outcome, Outcome::FileIngested, "the same shell, rendered now");
    let third = crawl_again(second, &of_site(RenderWhen::Auto)).await;
    assert_eq!(third.row("/").outcome, Outcome::NeedsScript, "it broke the browser");
    let shown = third.shown("/").and_then(|row| row.text.clone()).unwrap_or_default();
    assert!(shown.contains("What there is"), "what was there is shown: {shown}");
    let fourth = crawl_again(third, &of_site(RenderWhen::Auto)).await;
    let row = fourth.row("/");
    assert!(matches!(row.outcome, Outcome::FileIngested | Outcome::FileDidNotChange), "and again: {row:?}");
}
