//! Bodies of 10 GiB in a few hundred kilobytes, and what they cost in memory.

use std::process::Command;

use dragline_domain::definition::{Condition, Definition, DoNotCrawl, Sitemaps, TextTest};
use dragline_domain::outcome::Outcome::FileIngested;
use dragline_testkit::hostile::bombs::Bomb;
use dragline_testkit::hostile::{HostileSite, Step, gzip, head, html, reply};
use dragline_testkit::whole_crawls::{crawl, definition};

use crate::support::{cut, judge};

fn bomb(coding: &str, bomb: Bomb) -> Vec<Step> {
    vec![head(200, &["content-type: text/html", &format!("content-encoding: {coding}")]), bomb.step()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bomb_is_cut_where_its_decoded_body_passes_the_limit() {
    let cases = vec![
        cut("gzip", FileIngested, "length", bomb("gzip", Bomb::gzip())),
        cut("brotli", FileIngested, "length", bomb("br", Bomb::brotli())),
        cut("zstd", FileIngested, "length", bomb("zstd", Bomb::zstd())),
    ];
    let crawled = judge(cases, |_| {}).await;
    let received = crawled.log.iter().filter(|row| row.truncated.is_some()).filter_map(|row| row.body_bytes).max();
    assert!(received < Some(256 << 10), "little was received: {received:?}");
}

/// The variable that passes the seed to a process that crawls it and measures itself.
const CHILD: &str = "TEST_CHILD";

/// An empty crawl takes about 30 MiB in a development build, and up to 50 MiB of zeros may be
/// decoded for one page at a time.
const RESIDENT_KIB_MAX: u64 = 256 << 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bombs_cost_no_more_memory_than_the_limits_allow() {
    if let Ok(seed) = std::env::var(CHILD) {
        // The default limits: 10 MiB of body, 50 MiB decoded.
        return crawl_in_little_memory(&definition(&[seed], |_| {})).await;
    }
    let codings = [("gzip", Bomb::gzip()), ("br", Bomb::brotli()), ("zstd", Bomb::zstd())];
    let nasty = codings.map(|(coding, of)| (format!("/{coding}"), bomb(coding, of)));
    let site = HostileSite::beside_good_pages(nasty.to_vec()).await;
    let seed = site.url("/");
    run_as_child("bombs::bombs_cost_no_more_memory_than_the_limits_allow", seed).await;
    for coding in ["/gzip", "/br", "/zstd", "/good/after"] {
        assert!(site.targets().contains(&coding.to_owned()), "{coding} was requested");
    }
}

/// The pages whose links are long, as many as a segment holds.
const LONG_PAGES: usize = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_made_long_by_a_base_cost_no_more_memory_than_the_limits_allow() {
    if let Ok(seed) = std::env::var(CHILD) {
        let definition = definition(&[seed], |draft| draft.budget.pages = Some(1 + LONG_PAGES as u64));
        return crawl_in_little_memory(&definition).await;
    }
    let page = |n: &str| {
        let links: String = (0..10_000).map(|link| format!("<a href={link}>")).collect();
        format!("<base href='/{n}/{}/'>{links}", "b".repeat(1_900))
    };
    let site = HostileSite::start(move |asked| match asked.target.as_str() {
        "/" => reply(
            200,
            &["content-type: text/html"],
            (0..LONG_PAGES).map(|n| format!("<a href=/{n}>")).collect::<String>(),
        ),
        path => {
            reply(200, &["content-type: text/html", "content-encoding: gzip"], gzip(page(path.trim_start_matches('/'))))
        }
    })
    .await;
    let seed = site.url("/");
    run_as_child("bombs::links_made_long_by_a_base_cost_no_more_memory_than_the_limits_allow", seed).await;
    for n in 0..LONG_PAGES {
        assert!(site.targets().contains(&format!("/{n}")), "/{n} was requested");
    }
}

/// Full sitemaps, as an honest site of a quarter of a million pages has them.
const SITEMAPS: usize = 5;

/// The most URLs of a sitemap (sitemaps.org).
const LISTED_MAX: usize = 50_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_sitemaps_cost_no_more_memory_than_the_limits_allow() {
    if let Ok(seed) = std::env::var(CHILD) {
        let definition = definition(&[seed], |draft| {
            draft.sitemaps = Sitemaps::Follow;
            // So all are claimed and logged, and none is visited.
            let when = Condition::Path(TextTest::Prefix("/pages/".to_owned()));
            draft.do_not_crawl.push(DoNotCrawl { when, reason: "not now".to_owned() });
        });
        return crawl_in_little_memory(&definition).await;
    }
    let site = HostileSite::start(move |asked| {
        let base = format!("http://{}", asked.field("host").unwrap_or_default());
        let listed = |kind: &str, entry: &str, urls: &mut dyn Iterator<Item = String>| {
            let urls: String = urls.map(|url| format!("<{entry}><loc>{base}{url}</loc></{entry}>")).collect();
            let namespace = "http://www.sitemaps.org/schemas/sitemap/0.9";
            let xml = gzip(format!("<?xml version='1.0'?><{kind} xmlns='{namespace}'>{urls}</{kind}>"));
            reply(200, &["content-type: application/xml", "content-encoding: gzip"], xml)
        };
        match asked.target.as_str() {
            "/robots.txt" => reply(200, &["content-type: text/plain"], format!("Sitemap: {base}/index\n")),
            "/index" => listed("sitemapindex", "sitemap", &mut (0..SITEMAPS).map(|n| format!("/s/{n}"))),
            path => match path.strip_prefix("/s/") {
                Some(n) => listed("urlset", "url", &mut (0..LISTED_MAX).map(|page| format!("/pages/of/{n}/{page}"))),
                None => html("a page"),
            },
        }
    })
    .await;
    let seed = site.url("/");
    run_as_child("bombs::full_sitemaps_cost_no_more_memory_than_the_limits_allow", seed).await;
    for n in 0..SITEMAPS {
        assert!(site.targets().contains(&format!("/s/{n}")), "/s/{n} was requested");
    }
}

/// Crawls in this process, which does nothing else, and reads nothing of what was stored.
async fn crawl_in_little_memory(definition: &Definition) {
    let directory = tempfile::tempdir().unwrap();
    crawl(directory.path(), definition).await;
    let peak = peak_resident_kib();
    assert!(peak < RESIDENT_KIB_MAX, "{peak} KiB resident at the peak");
}

/// Runs a test of this file in a process of its own, which crawls this seed.
async fn run_as_child(test: &'static str, seed: String) {
    let output = tokio::task::spawn_blocking(move || {
        Command::new(std::env::current_exe().unwrap()).args([test, "--exact", "--nocapture"]).env(CHILD, seed).output()
    });
    let output = output.await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// The peak resident memory of this process, from the kernel.
fn peak_resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
