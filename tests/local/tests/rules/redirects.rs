//! Redirects are recorded, and never followed by the fetch itself; their targets are URLs like any
//! others.

use dragline_domain::definition::Within;
use dragline_domain::outcome::Outcome;
use dragline_testkit::site::Site;
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::replies::{html, links, redirect, reply};
use super::scripted::{ScriptedSite, answer, page};

#[tokio::test]
async fn every_kind_of_redirect_is_recorded_and_its_target_crawled() {
    const KINDS: [(u16, Outcome); 5] = [
        (301, Outcome::PermanentRedirect),
        (302, Outcome::TemporaryRedirect),
        (303, Outcome::TemporaryRedirect),
        (307, Outcome::TemporaryRedirect),
        (308, Outcome::PermanentRedirect),
    ];
    let paths: Vec<_> = KINDS.iter().map(|(status, _)| (format!("/{status}"), format!("/after-{status}"))).collect();
    let mut builder = Site::builder().reply("/", html(&links(paths.iter().map(|(path, _)| path.as_str()))));
    let mut expected = vec![("/", Outcome::FileIngested, "the seed")];
    for ((status, outcome), (path, after)) in KINDS.iter().zip(&paths) {
        builder = builder.reply(path, redirect(*status, &format!("after-{status}#part"))).reply(after, html("there"));
        expected.push((path, *outcome, "by its status"));
        expected.push((after, Outcome::FileIngested, "a relative target in scope"));
    }
    let site = builder.start().await.unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |_| {})).await;
    crawled.assert_outcomes(&expected);
    for (path, after) in &paths {
        assert_eq!(crawled.row(path).redirects_to.as_deref(), Some(after.as_str()));
        assert_eq!(crawled.links_of(path), [(after.as_str(), "redirect", "follow")]);
        assert_eq!((crawled.row(path).depth, crawled.row(after).depth), (1, 1), "the target stands for the same page");
    }
}

#[tokio::test]
async fn odd_redirects_come_to_an_end() {
    let site = Site::builder()
        .reply("/", html(&links(["/out", "/without", "/mail", "/here", "/ping", "/choice"])))
        .reply("/out", redirect(301, "http://elsewhere.example/"))
        .reply("/without", reply(302, &[], ""))
        .reply("/mail", redirect(302, "mailto:a@b.example"))
        .reply("/here", redirect(307, "/here"))
        .reply("/ping", redirect(302, "/pong"))
        .reply("/pong", redirect(301, "/ping"))
        .reply("/choice", redirect(300, "/one"))
        .start()
        .await
        .unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |_| {})).await;
    crawled.assert_outcomes(&[
        ("/", Outcome::FileIngested, "the seed"),
        ("/out", Outcome::PermanentRedirect, "its target is recorded, and that is all"),
        ("/without", Outcome::StoredNotRead, "no Location: what 200 would give"),
        ("/mail", Outcome::DidNotUnderstandAnswer, "not a URL that can be crawled"),
        ("/here", Outcome::TemporaryRedirect, "to itself, twice"),
        ("/ping", Outcome::TemporaryRedirect, "in a circle"),
        ("/pong", Outcome::PermanentRedirect, "in a circle"),
        ("/choice", Outcome::StoredNotRead, "a choice for people, with no page about it"),
    ]);
    assert_eq!(crawled.row("/out").redirects_to.as_deref(), Some("http://elsewhere.example/"));
    assert_eq!(crawled.row("/without").redirects_to, None);
    assert_eq!(site.log().len(), 10, "robots.txt, and each URL once, but twice what redirects to itself");
    assert_eq!(crawled.progress.parser.links_out_of_scope, 1);
}

/// Redirects endlessly from each number to the next.
async fn endless() -> ScriptedSite {
    ScriptedSite::start(|asked| match asked.target.trim_start_matches('/').parse::<u64>() {
        Ok(number) => answer(302, &[&format!("location: /{}", number + 1)], ""),
        Err(_) => answer(404, &[], ""),
    })
    .await
}

#[tokio::test]
async fn an_endless_chain_meets_a_limit() {
    let site = endless().await;
    let deep = Crawled::once(&definition(&[site.url("/0")], |draft| draft.scope.max_depth = Some(2))).await;
    assert_eq!(site.targets().len(), 18, "at each of three depths one URL, and five redirects in a row from it");
    assert_eq!((deep.row("/5").depth, deep.row("/6").depth, deep.row("/17").depth), (0, 1, 2));
    assert_eq!(deep.progress.parser.links_too_deep, 1);

    let site = endless().await;
    let dear = Crawled::once(&definition(&[site.url("/0")], |draft| draft.budget.pages = Some(7))).await;
    assert_eq!(site.targets().len(), 7);
    assert_eq!(dear.leftovers(), [("budget_exhausted", 1)]);
}

#[tokio::test]
async fn a_seed_that_moved_within_its_site_takes_the_crawl_along() {
    let site = ScriptedSite::start(|asked| {
        let to = |status, host: &str, path: &str| {
            answer(status, &[&format!("location: http://{host}:{}{path}", asked.port())], "")
        };
        let refresh = |host: &str, wait: &str| {
            let url = format!("http://{host}:{}/home", asked.port());
            let more = if asked.target == "/full" { "<a href=/more>more</a>" } else { "" };
            page(&format!("<meta http-equiv=refresh content='{wait}{url}'><a href='{url}'>on</a>{more}"))
        };
        match asked.target.as_str() {
            "/moved" => to(301, "www.site.example", "/home"),
            "/home" => page("<a href=/more>more</a> <a href=/asset>asset</a>"),
            "/more" => page("more"),
            "/asset" => to(301, "cdn.site.example", "/file"),
            "/lent" => to(302, "en.lent.example", "/other"),
            "/dressed" => to(302, "www.dressed.example", "/home"),
            "/sold" => to(301, "www.buyer.example", "/other"),
            "/refreshed" => refresh("www.refreshed.example", "0; url="),
            "/full" => refresh("www.full.example", "0; url="),
            _ => answer(404, &[], ""),
        }
    })
    .await;
    let seeds = [
        site.named("site.example", "/moved"),
        site.named("lent.example", "/lent"),
        site.named("sold.example", "/sold"),
        site.named("dressed.example", "/dressed"),
        site.named("refreshed.example", "/refreshed"),
        site.named("full.example", "/full"),
    ];
    let crawled = Crawled::once(&definition(&seeds, |draft| draft.scope.within = Within::Origin)).await;
    let www = |path| site.named("www.site.example", path);
    crawled.assert_outcomes(&[
        ("/moved", Outcome::PermanentRedirect, "the seed"),
        (&www("/home"), Outcome::FileIngested, "the seed moved permanently, within its site"),
        (&www("/more"), Outcome::FileIngested, "its links belong to the crawl, too"),
        (&www("/asset"), Outcome::PermanentRedirect, "not a seed: its target does not join"),
        (&site.named("www.dressed.example", "/asset"), Outcome::PermanentRedirect, "not a seed either"),
        (&seeds[1], Outcome::TemporaryRedirect, "temporary, and to a host of another name"),
        (&seeds[3], Outcome::TemporaryRedirect, "temporary, but to www."),
        (
            &site.named("www.dressed.example", "/home"),
            Outcome::FileIngested,
            "which is the same site by its other name",
        ),
        (&site.named("www.dressed.example", "/more"), Outcome::FileIngested, "its links belong to the crawl, too"),
        (&seeds[2], Outcome::PermanentRedirect, "to another site"),
        (&seeds[4], Outcome::FileIngested, "a page that only refreshes"),
        (&site.named("www.refreshed.example", "/home"), Outcome::FileIngested, "to the same site by its other name"),
        (&site.named("www.refreshed.example", "/more"), Outcome::FileIngested, "its links belong to the crawl, too"),
        (&site.named("www.refreshed.example", "/asset"), Outcome::PermanentRedirect, "not a seed"),
        (&seeds[5], Outcome::FileIngested, "a page that refreshes, with links of its own"),
        (&site.named("full.example", "/more"), Outcome::FileIngested, "which are its site"),
    ]);
}
