//! What pages need to be shown: pictures, styles, scripts and fonts, wherever they are, and no
//! further.

use std::collections::BTreeSet;

use dragline_domain::command::Command;
use dragline_domain::definition::{Condition, Definition, DoNotCrawl, Requisites, TextTest};
use dragline_domain::frontier::Demand;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// A site whose pages need things of their own and of another site, which redirects, forbids some,
/// and has pages.
fn site(asked: &Asked) -> Act {
    let host = asked.field("host").unwrap();
    let cdn = format!("http://cdn.example:{}", asked.port());
    let css = |body: &str| answer(200, &["content-type: text/css"], body.replace("CDN", &cdn));
    match (host.split(':').next().unwrap(), asked.target.as_str()) {
        ("docs.example", "/") => page(
            &"<link rel=stylesheet href=/1.css><style>@import 'CDN/theme.css'; body { background: url(back.png) }</style>
              <p style=\"background: url('CDN/style.png')\"></p><img src=CDN/a.png srcset='CDN/a2.png 2x'><img src=/moved.png>
              <script src=CDN/app.js></script><iframe src=CDN/frame></iframe><img src=/forbidden/x.png><img src=/excluded.png>
              <img src=CDN/private/x.png><img src='#'><img src='data:image/png;base64,AA=='><form action=/form></form>
              <a href=CDN/page>a page elsewhere</a><a href=/deep>deep</a><a href=/both.png>a picture</a><img src=/both.png><object data=/part.html></object>"
                .replace("CDN", &cdn),
        ),
        ("docs.example", "/deep") => page("<meta name=robots content=nofollow><img src=/deep.png><a href=/deeper>deeper</a>"),
        ("docs.example", "/moved.png") => answer(301, &[&format!("location: {cdn}/moved.png")], ""),
        ("docs.example", "/part.html") => page("<img src=part.png>"),
        ("docs.example", chain) if chain.ends_with(".css") => {
            let number: u32 = chain[1..chain.len() - 4].parse().unwrap();
            css(&format!("@import '{}.css'; p {{ background: url({number}.png) }}", number + 1))
        }
        ("cdn.example", "/frame") => page(&format!(
            "<img src=/framed.png><iframe src=/inner></iframe><a href=/page>there</a><a href=http://{}/back>back</a>",
            host.replace("cdn", "docs")
        )),
        ("cdn.example", "/theme.css") => {
            css("@font-face { font-family: T; src: url(t.woff2) } p { background: url(CDN/p.png) } /* url(not.png) */")
        }
        ("cdn.example", "/moved.png") => answer(302, &["location: /there.png"], ""),
        ("cdn.example", "/robots.txt") => answer(200, &["content-type: text/plain"], "User-agent: *\nDisallow: /private/"),
        (_, picture) if picture.ends_with(".png") => answer(200, &["content-type: image/png"], picture),
        ("cdn.example", "/app.js") => {
            let script = "import './module.js'; import 'react'; // import './not.js'";
            answer(200, &["content-type: text/javascript"], script)
        }
        ("cdn.example", "/t.woff2" | "/module.js") => answer(200, &["content-type: application/octet-stream"], &asked.target),
        _ => answer(404, &[], ""),
    }
}

fn of_site(site: &ScriptedSite, requisites: Requisites) -> Definition {
    definition(&[site.named("docs.example", "/")], |draft| {
        draft.requisites = requisites;
        draft.scope.max_depth = Some(1);
        draft.scope.exclude = vec!["excluded".parse().unwrap()];
        let when = Condition::Path(TextTest::Prefix("/forbidden/".to_owned()));
        draft.do_not_crawl = vec![DoNotCrawl { when, reason: "not ours".to_owned() }];
    })
}

const PAGES: [(&str, Outcome, &str); 4] = [
    ("/", Outcome::FileIngested, "the seed"),
    ("/deep", Outcome::FileIngested, "a page that asks not to follow its links"),
    ("/both.png", Outcome::StoredNotRead, "linked to like a page"),
    ("/part.html", Outcome::FileIngested, "a page within a page"),
];

const FETCHED: [&str; 27] = [
    "/1.css",
    "/2.css",
    "/3.css",
    "/4.css",
    "/5.css",
    "/1.png",
    "/2.png",
    "/3.png",
    "/4.png",
    "/back.png",
    "/deep.png",
    "/part.png",
    "/favicon.ico",
    "CDN/a.png",
    "CDN/a2.png",
    "CDN/app.js",
    "CDN/frame",
    "CDN/framed.png",
    "CDN/module.js",
    "CDN/p.png",
    "CDN/style.png",
    "CDN/t.woff2",
    "CDN/theme.css",
    "CDN/there.png",
    "/moved.png",
    "CDN/moved.png",
    "CDN/private/x.png",
];

/// How each URL ended, with `CDN` for the other site.
fn outcomes(site: &ScriptedSite, crawled: &Crawled) -> BTreeSet<(String, &'static str)> {
    let cdn = site.named("cdn.example", "");
    let rows = crawled.log.iter().filter(|row| row.r#final);
    rows.map(|row| (row.url.replace(&cdn, "CDN"), row.outcome.name())).collect()
}

fn expected(forbidden: &[(&'static str, Outcome)], rest: Outcome) -> BTreeSet<(String, &'static str)> {
    let fetched = FETCHED.iter().map(|url| {
        let outcome = match *url {
            "/moved.png" => Outcome::PermanentRedirect,
            "CDN/moved.png" => Outcome::TemporaryRedirect,
            "CDN/private/x.png" => Outcome::BlockedByRobotsTxt,
            "/favicon.ico" => Outcome::FileNotFound,
            _ => rest,
        };
        (*url, outcome)
    });
    let pages = PAGES.iter().map(|(url, outcome, _)| (*url, *outcome));
    pages
        .chain(fetched)
        .chain(forbidden.iter().copied())
        .map(|(url, outcome)| (url.to_owned(), outcome.name()))
        .collect()
}

#[tokio::test]
async fn what_pages_need_is_fetched_wherever_it_is() {
    let site = ScriptedSite::start(site).await;
    let crawled = Crawled::once(&of_site(&site, Requisites::Fetch)).await;
    let forbidden = [("/forbidden/x.png", Outcome::BlockedUrlByLocalPolicy)];
    assert_eq!(outcomes(&site, &crawled), expected(&forbidden, Outcome::StoredNotRead));
    let (row, cdn) = (|url: &str| crawled.row(url), site.named("cdn.example", ""));
    assert_eq!(
        (row("/back.png").depth, row("/5.css").depth, row("/deep.png").depth),
        (0, 0, 1),
        "the depth of their page"
    );
    assert_eq!(row(&format!("{cdn}/t.woff2")).via.as_deref(), Some(format!("{cdn}/theme.css").as_str()));
    let to = |url: &str| {
        crawled
            .links_of("/")
            .into_iter()
            .find(|(to, ..)| *to == url)
            .map(|(_, kind, done)| (kind.to_owned(), done.to_owned()))
    };
    for (url, kind, done) in [
        ("/1.css", "css", "follow"),
        ("/back.png", "img", "follow"),
        ("/excluded.png", "img", "out_of_scope"),
        ("/form", "form", "not_a_page"),
        ("CDN/style.png", "img", "follow"),
        ("CDN/theme.css", "css", "follow"),
        ("CDN/page", "a", "out_of_scope"),
        ("CDN/frame", "iframe", "framed"),
        ("/favicon.ico", "icon_trial", "follow"),
    ] {
        assert_eq!(to(&url.replace("CDN", &cdn)), Some((kind.to_owned(), done.to_owned())), "{url}");
    }
    assert_eq!(crawled.links_of("/5.css")[0].2, "out_of_scope", "the sixth in a row");
    assert_eq!(crawled.links_of(&format!("{cdn}/theme.css"))[0].1, "font");
    let framed = crawled.links_of(&format!("{cdn}/frame"));
    assert_eq!(framed.len(), 1, "a part of the page leads nowhere, and shows no frames: {framed:?}");
    assert!(
        !crawled.shown_urls().contains(&format!("{cdn}/frame").as_str())
            || crawled.text(&format!("{cdn}/frame")).is_empty()
    );

    let again = crawled.again(&of_site(&site, Requisites::Fetch)).await;
    let urls = |outcomes: BTreeSet<(String, &str)>| outcomes.into_iter().map(|(url, _)| url).collect::<BTreeSet<_>>();
    assert_eq!(
        urls(outcomes(&site, &again)),
        urls(expected(&[], Outcome::FileDidNotChange)),
        "all that was visited, again"
    );
    assert!(again.log.iter().all(|row| row.outcome != Outcome::BlockedUrlByLocalPolicy));

    let without = again.again(&of_site(&site, Requisites::Ignore)).await;
    let left: Vec<&str> = PAGES.iter().map(|(url, ..)| *url).collect();
    for row in without.log.iter().filter(|row| row.r#final && !left.contains(&row.url.as_str())) {
        assert_eq!(row.outcome, Outcome::BlockedUrlByLocalPolicy, "{}: no longer asked for", row.url);
    }
    let shown = without.shown_urls();
    assert!(shown.iter().all(|url| left.contains(url)), "the site as a crawl without them finds it: {shown:?}");
}

#[tokio::test]
async fn what_pages_need_is_left_alone_unless_it_is_asked_for() {
    let site = ScriptedSite::start(site).await;
    let crawled = Crawled::once(&of_site(&site, Requisites::Ignore)).await;
    crawled.assert_outcomes(&PAGES[..3]);
    let is_part =
        |(_, kind, done): &&(&str, &str, &str)| ["css", "img", "script"].contains(kind) && *done == "not_a_page";
    assert_eq!(crawled.links_of("/").iter().filter(is_part).count(), 12, "they are links of the page all the same");
}

#[tokio::test]
async fn a_demanded_page_comes_with_what_it_needs() {
    let site = ScriptedSite::start(site).await;
    let definition = of_site(&site, Requisites::Fetch);
    let url = CrawlUrl::parse(&site.named("docs.example", "/"), &UrlRules::keep_all()).unwrap();
    let demand = Demand { depth: Some(0), ..Demand::default() };
    let crawled =
        Crawled::first(&definition, &Command::Demand { crawl: definition.name.clone(), urls: vec![url], demand }).await;
    let asked: BTreeSet<String> = site.targets().into_iter().collect();
    for (target, is_asked) in
        [("/a.png", true), ("/theme.css", true), ("/5.css", true), ("/deep", false), ("/page", false)]
    {
        assert_eq!(asked.contains(target), is_asked, "{target}");
    }
    assert_eq!(crawled.row("/").outcome, Outcome::FileIngested);
}

#[tokio::test]
async fn what_scripts_load_later_and_what_manifests_name_is_fetched() {
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/" => page(
            "<img src=/small.png data-src=/large.png><link rel=manifest href=/app/site.webmanifest>
             <meta property=og:image content=/preview.png>",
        ),
        "/app/site.webmanifest" => answer(
            200,
            &["content-type: application/manifest+json"],
            r#"{"start_url": "/app/start", "icons": [{"src": "icon.png"}]}"#,
        ),
        "/robots.txt" => answer(404, &[], ""),
        picture => answer(200, &["content-type: image/png"], picture),
    })
    .await;
    let definition = definition(&[site.url("/")], |draft| draft.requisites = Requisites::Fetch);
    let crawled = Crawled::once(&definition).await;
    let mut asked = site.targets();
    asked.sort();
    let expected = ["/", "/app/icon.png", "/app/site.webmanifest", "/favicon.ico", "/large.png", "/preview.png"];
    assert_eq!(asked, [&expected[..], &["/small.png"]].concat());
    assert_eq!(crawled.row("/app/icon.png").depth, 0, "the depth of the page");
}
