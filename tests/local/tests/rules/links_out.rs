//! Links that lead out of the crawl: each is asked for once, and only how that ended is kept.

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_domain::definition::{Definition, ExternalLinks, Links};
use dragline_domain::outcome::Outcome;
use dragline_domain::use_preferences::Purpose;
use dragline_formats::use_preferences::TDM_PATH;
use dragline_formats::warc::RecordType;
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::clocks::{crawl, until_free};
use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// A site of two hosts that link to others, and to their own files.
fn site(asked: &Asked) -> Act {
    let host = asked.field("host").unwrap();
    let elsewhere = |name: &str| format!("http://{name}.example:{}", asked.port());
    let (other, sister) = (elsewhere("other"), elsewhere("www.docs"));
    match (host.split(':').next().unwrap(), asked.method(), asked.target.as_str()) {
        ("docs.example", _, "/") => page(
            &"<a href=OTHER/there>1</a><a href=OTHER/missing>2</a><a href=OTHER/no-head>3</a><a href=OTHER/moved rel=nofollow>4</a>
              <a href=OTHER/private>5</a><a href=/deep>6</a><img src=/there.png><img src=/missing.png><img src=SISTER/late.html>
              <link rel=preconnect href=OTHER/hint><form action=OTHER/form></form><a href=OTHER/excluded>7</a>"
                .replace("OTHER", &other)
                .replace("SISTER", &sister),
        ),
        ("docs.example", _, "/deep") => {
            page(&format!("<a href={other}/there>again</a><a href={sister}/late.html>a page</a><a href={sister}/deeper>x</a>"))
        }
        ("other.example", _, "/robots.txt") => answer(200, &[], "User-agent: *\nDisallow: /private"),
        ("other.example", "HEAD", "/there" | "/landing") => answer(200, &["content-type: text/html"], ""),
        ("other.example", "HEAD", "/no-head") => answer(405, &[], ""),
        ("other.example", "GET", "/no-head") => page("It is there."),
        ("other.example", _, "/moved") => answer(301, &["location: /landing"], ""),
        (_, "HEAD", "/there.png") => answer(200, &["content-type: image/png"], ""),
        ("www.docs.example", _, "/late.html") => page("A page, whatever links to it first."),
        _ => answer(404, &[], ""),
    }
}

fn of_site(site: &ScriptedSite, external: ExternalLinks) -> Definition {
    definition(&[site.named("docs.example", "/"), site.named("www.docs.example", "/seed")], |draft| {
        draft.links = Links { external };
        draft.scope.max_depth = Some(2);
        draft.scope.exclude = vec!["excluded".parse().unwrap()];
    })
}

#[tokio::test]
async fn links_out_of_the_crawl_are_asked_for_once() {
    let site = ScriptedSite::start(site).await;
    let crawled = Crawled::once(&of_site(&site, ExternalLinks::Check)).await;
    let (sister, other) = (site.named("www.docs.example", ""), site.named("other.example", ""));
    let ends: BTreeMap<_, _> = crawled.log.iter().filter(|row| row.r#final).map(|row| (&*row.url, row)).collect();
    for (url, outcome, status, why) in [
        ("/".to_owned(), Outcome::FileIngested, Some(200), "the seed"),
        ("/deep".to_owned(), Outcome::FileIngested, Some(200), "a page of the crawl"),
        (format!("{other}/there"), Outcome::LinkWorks, Some(200), "it is there"),
        (format!("{other}/missing"), Outcome::FileNotFound, Some(404), "it is not"),
        (format!("{other}/no-head"), Outcome::LinkWorks, Some(200), "its server knows no HEAD"),
        (format!("{other}/moved"), Outcome::PermanentRedirect, Some(301), "asking is not following"),
        (format!("{other}/landing"), Outcome::LinkWorks, Some(200), "where that leads"),
        (format!("{other}/private"), Outcome::BlockedByRobotsTxt, None, "robots.txt is obeyed"),
        ("/there.png".to_owned(), Outcome::LinkWorks, Some(200), "a picture that is not fetched"),
        ("/missing.png".to_owned(), Outcome::FileNotFound, Some(404), "one that is missing"),
        (format!("{sister}/late.html"), Outcome::FileIngested, Some(200), "a page that was first found as a picture"),
    ] {
        let row = ends.get(&*url).unwrap_or_else(|| panic!("{url}: {why}: it did not end"));
        assert_eq!((row.outcome, row.status), (outcome, status), "{url}: {why}");
    }
    for (url, why) in [("hint", "nobody loads it"), ("form", "that is an action"), ("excluded", "a rule excludes it")] {
        assert!(!ends.contains_key(&*format!("{other}/{url}")), "{url}: {why}");
    }
    let log = site.log();
    let heads = |path: &str| log.iter().filter(|asked| asked.method() == "HEAD" && asked.target == path).count();
    assert_eq!((heads("/there"), heads("/"), heads("/missing")), (1, 0, 1));
    let records = crawled.every_record();
    let answers = records.iter().filter(|record| record.record_type == RecordType::Response);
    let answers: Vec<&str> = answers.filter_map(|record| record.target_uri()?.strip_prefix(&other)).collect();
    assert_eq!(answers, ["/robots.txt", "/moved"], "no answer passes for a page");
}

#[tokio::test]
async fn links_out_of_the_crawl_are_left_alone_unless_they_are_to_be_checked() {
    let site = ScriptedSite::start(site).await;
    let crawled = Crawled::once(&of_site(&site, ExternalLinks::Ignore)).await;
    let other = site.named("other.example", "");
    assert!(crawled.log.iter().all(|row| !row.url.starts_with(&other)), "nothing is asked of others");
}

#[tokio::test]
async fn what_works_is_asked_for_again_after_longer_and_longer() {
    let data = tempfile::tempdir().unwrap();
    let site = ScriptedSite::start(|asked| match asked.field("host").unwrap().starts_with("docs.") {
        true => page(&format!("<a href=http://other.example:{}/there>1</a>", asked.port())),
        false => answer(200, &[], ""),
    })
    .await;
    let definition = definition(&[site.named("docs.example", "/")], |draft| {
        draft.links = Links { external: ExternalLinks::Check };
    });
    for (hours, requests, robots, why) in [
        (0, 1, 1, "it is new"),
        (12, 1, 1, "after a day at the earliest"),
        (25, 2, 1, "a day later; the robots.txt of one link serves for a week"),
        (50, 2, 1, "after more than a day now"),
        (60, 3, 1, "a day and a half later"),
        (200, 4, 2, "the robots.txt is older than a week"),
    ] {
        crawl(data.path(), &definition, Duration::from_hours(hours)).await;
        until_free(data.path()).await;
        let log = site.log();
        let count = |target: &str| {
            let of_other = log.iter().filter(|asked| asked.field("host").unwrap().starts_with("other."));
            of_other.filter(|asked| asked.target == target).count()
        };
        assert_eq!((count("/there"), count("/robots.txt")), (requests, robots), "after {hours} h: {why}");
    }
}

#[tokio::test]
async fn nothing_but_the_links_is_asked_of_others() {
    let site = ScriptedSite::start(site).await;
    let mut draft = of_site(&site, ExternalLinks::Check).into_draft();
    draft.purpose = Some(Purpose::AiTrain);
    Crawled::once(&Definition::new(draft).unwrap()).await;
    let log = site.log();
    let asked =
        |host: &str| log.iter().any(|asked| asked.field("host").unwrap().starts_with(host) && asked.target == TDM_PATH);
    assert!(asked("docs.") && !asked("other."), "of whom nothing is read, it does not matter what is reserved");
}
