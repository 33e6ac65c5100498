//! Servers of which some URLs fail, or all of them: what is tried again, how soon, and when a site
//! is given up.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dragline_domain::outcome::Outcome::{
    ConnectionFailed, FileIngested, OriginGivenUp, ServerInternalError, ServerUnavailable,
};
use dragline_testkit::hostile::{Asked, Authority, Flaw, HostileSite, Step, Version, head, html, links, reply};
use dragline_testkit::whole_crawls::{Crawled, definition};

use crate::support::{NASTY, assert_accounted, tight, trusting};

/// How many good pages there are behind those that fail.
const GOOD: usize = 30;

fn good() -> impl Iterator<Item = String> {
    (0..GOOD).map(|n| format!("/good/{n}"))
}

/// A site whose first links fail as the script says, before the good ones.
async fn troubled(bad: usize, script: impl Fn(&Asked) -> Vec<Step> + Send + Sync + 'static) -> HostileSite {
    let seed = links((0..bad).map(|n| format!("/bad/{n}")).chain(good()));
    HostileSite::start(move |asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        "/" => html(&seed),
        target if target.starts_with("/bad/") => script(asked),
        _ => html("good"),
    })
    .await
}

/// When requests for these targets arrived, in order.
fn arrivals(site: &HostileSite, is_meant: impl Fn(&str) -> bool) -> Vec<Instant> {
    site.log().into_iter().filter(|asked| is_meant(&asked.target)).map(|asked| asked.at).collect()
}

fn gaps(arrivals: &[Instant]) -> Vec<Duration> {
    arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn urls_that_fail_are_not_their_site() {
    let short = || vec![head(200, &["content-type: text/html", "content-length: 999"]), Step::send("<p>short")];
    let once = |act: fn() -> Vec<Step>| move |asked: &Asked| if asked.earlier == 0 { act() } else { html("at last") };
    let sites = [
        (troubled(5, once(|| vec![Step::Reset])).await, 5, FileIngested, "reset, each once"),
        (troubled(5, once(|| reply(408, &[], ""))).await, 5, FileIngested, "408, each once"),
        (
            troubled(5, move |asked| if asked.earlier == 0 { short() } else { html("whole") }).await,
            5,
            FileIngested,
            "cut off",
        ),
        (troubled(5, once(|| vec![Step::Hold])).await, 5, FileIngested, "too slow, each once"),
        (troubled(12, |_| vec![Step::Reset]).await, 12, ConnectionFailed, "reset, always"),
    ];
    let seeds: Vec<String> = sites.iter().map(|(site, ..)| site.url("/")).collect();
    let crawled = Crawled::once(&definition(&seeds, |draft| {
        tight(draft);
        draft.politeness.concurrency = 1;
    }))
    .await;
    assert_eq!(crawled.leftovers(), [], "nothing is given up");
    for (n, (site, bad, outcome, why)) in sites.iter().enumerate() {
        let row = |target: &str| if n == 0 { crawled.row(target) } else { crawled.row(&site.url(target)) };
        for target in good() {
            assert_eq!(row(&target).outcome, FileIngested, "{target} beside {why}");
        }
        for target in (0..*bad).map(|n| format!("/bad/{n}")) {
            assert_eq!(row(&target).outcome, *outcome, "{target}: {why}");
            let waits = gaps(&arrivals(site, |asked| asked == target));
            assert!(
                waits.iter().all(|wait| *wait >= Duration::from_secs(2)),
                "{why}: each waits for itself: {waits:?}"
            );
        }
        // Besides its visit, the first page was asked for once for every five failures in a row.
        let asked_for_first = site.targets().iter().filter(|target| *target == "/").count();
        assert!((1..=1 + 3 * bad / 5).contains(&asked_for_first), "{why}: {asked_for_first} times");
        assert_accounted(&crawled, site, why);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_that_answers_nothing_any_more_is_given_up() {
    // From its fourth page on: the robots.txt, the seed and two pages are answered.
    let silent = HostileSite::start({
        let seed = links(good());
        move |asked| match asked.target.as_str() {
            "/robots.txt" => reply(404, &[], ""),
            "/" if asked.earlier == 0 => html(&seed),
            "/good/0" | "/good/1" => html("good"),
            _ => vec![Step::Reset],
        }
    })
    .await;
    let crawled = Crawled::once(&definition(&[silent.url("/")], |draft| {
        tight(draft);
        draft.politeness.concurrency = 1;
        draft.politeness.failures = 4;
    }))
    .await;
    assert_eq!(crawled.leftovers(), [("origin_given_up", 0)]);
    assert_eq!(crawled.progress.count(OriginGivenUp), 28, "those that were to be tried again, and those that were not");
    assert_eq!(crawled.row("/good/29").tries, 0, "it was not requested");
    let targets: Vec<String> = silent.targets().split_off(4);
    assert_eq!(targets, ["/good/2", "/good/3", "/good/4", "/good/5", "/"], "four failures, and a page that had worked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_url_that_is_always_refused_does_not_slow_down_its_site() {
    let refused = troubled(1, |_| reply(503, &[], "")).await;
    let broken = troubled(2, |_| reply(500, &[], "")).await;
    let never_again = troubled(1, |_| reply(503, &[], "")).await;
    let crawl = async |site: &HostileSite, retries| {
        Crawled::once(&definition(&[site.url("/")], |draft| {
            tight(draft);
            draft.politeness.concurrency = 1;
            draft.fetch.retries = retries;
        }))
        .await
    };
    let (one, two, three) = tokio::join!(crawl(&refused, 2), crawl(&broken, 2), crawl(&never_again, 0));
    for (crawled, site, outcome, tries, why) in [
        (&one, &refused, ServerUnavailable, 3, "503: three tries"),
        (&two, &broken, ServerInternalError, 2, "500: two"),
        (&three, &never_again, ServerUnavailable, 1, "no retries: one"),
    ] {
        assert_eq!(crawled.row("/bad/0").outcome, outcome, "{why}");
        let of_bad = arrivals(site, |asked| asked == "/bad/0");
        assert_eq!(of_bad.len(), tries, "{why}");
        assert!(gaps(&of_bad).iter().all(|wait| *wait >= Duration::from_secs(2)), "{why}: {:?}", gaps(&of_bad));
        let longest = gaps(&arrivals(site, |asked| asked.starts_with("/good/"))).into_iter().max();
        assert!(longest < Some(Duration::from_secs(1)), "{why}: {longest:?} between good pages");
        assert_eq!(crawled.progress.count(FileIngested), 1 + GOOD as u64, "{why}");
        assert_accounted(crawled, site, why);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "the test's own clock says how long it took")]
async fn where_nobody_is_there_that_is_known_soon() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let refusing = format!("http://127.0.0.1:{}/", closed.local_addr().unwrap().port());
    drop(closed);
    let acceptor = Authority::named("unknown").acceptor("site.test", Flaw::None, Version::Http11);
    let untrusted = HostileSite::start_tls(acceptor, |_| html("never sent")).await;
    let seeds = [refusing, format!("https://site.test:{}/", untrusted.port())];
    let lively =
        HostileSite::beside_good_pages(vec![(NASTY.to_owned(), html(links([format!("{}linked", seeds[0])])))]).await;
    let all = [lively.url("/"), seeds[0].clone(), seeds[1].clone()];
    let began = Instant::now();
    let crawled = Crawled::over(trusting(Vec::new()), &definition(&all, tight)).await;
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert_eq!(crawled.leftovers(), [("robots_unreadable", 0)]);
    let linked = format!("{}linked", seeds[0]);
    for (url, why) in [
        (&seeds[0], "connection refused: "),
        (&seeds[1], "certificate not trusted: "),
        (&linked, "connection refused: "),
    ] {
        let row = crawled.row(url);
        assert_eq!((row.outcome, row.tries), (ConnectionFailed, 0), "{url}");
        assert!(row.detail.as_deref().is_some_and(|detail| detail.starts_with(why)), "{url}: {:?}", row.detail);
    }
    assert_eq!(untrusted.connections(), 2, "it is asked twice");
}

/// The others spend the budget at once. Nobody may take that for the reason why the rest got
/// nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_does_not_hide_who_is_not_there() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let refusing = format!("http://127.0.0.1:{}/", closed.local_addr().unwrap().port());
    drop(closed);
    let failing = HostileSite::start(|_| reply(503, &[], "")).await;
    let lively = troubled(0, |_| html("never asked for")).await;
    let seeds = [lively.url("/"), refusing.clone(), failing.url("/")];
    let crawled = Crawled::over(
        trusting(Vec::new()),
        &definition(&seeds, |draft| {
            tight(draft);
            draft.budget.pages = Some(6);
        }),
    )
    .await;
    assert_eq!(crawled.row(&refusing).outcome, ConnectionFailed);
    let left: BTreeMap<_, _> = crawled.leftovers().into_iter().collect();
    assert_eq!(left.get("budget_exhausted"), Some(&(1 + GOOD as u64 - 6)), "pages of the lively site alone: {left:?}");
    // It depends on the others whether its last try comes before the budget is spent.
    let ended = crawled.progress.count(OriginGivenUp);
    let waited = left.get("robots_unreadable").copied().unwrap_or_default();
    assert_eq!(ended + waited, 1, "told of either way: {left:?}");
}
