//! Servers that restart, close connections and refuse while they are crawled.

use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::time::Duration;

use dragline_end_to_end::debian::DebianSite;
use dragline_end_to_end::dragline::{Crawl, reach, wait};
use dragline_end_to_end::seed::seeded;
use dragline_testkit::site::{Access, Directory, Mood, Nth, Site};
use http::StatusCode;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::witness::assert_done;

/// How often a site restarts, and how long it is down.
const RESTARTS: usize = 2;
const AWAY: Duration = Duration::from_secs(3);

/// Random moods: of a hundred requests five are answered on a connection that is then closed, and
/// five on a used connection get no answer; of a thousand three are refused, with or without
/// Retry-After.
fn at_random(seed: u64, pages: usize) -> impl Fn(Nth) -> Mood + Send + Sync + 'static {
    let mut dice = StdRng::seed_from_u64(seed);
    let restarts = [(); RESTARTS].map(|()| dice.random_range(pages / 10..pages * 9 / 10));
    let dice = Mutex::new(dice);
    move |nth| {
        let drawn = dice.lock().expect("no thread panics while holding it").random_range(0..1_000);
        match drawn {
            _ if restarts.contains(&nth.of_site) => Mood::Restart(AWAY),
            0 => Mood::Refuse { status: StatusCode::TOO_MANY_REQUESTS, retry_after_s: Some(1) },
            1 => Mood::Refuse { status: StatusCode::TOO_MANY_REQUESTS, retry_after_s: None },
            2 => Mood::Refuse { status: StatusCode::SERVICE_UNAVAILABLE, retry_after_s: None },
            3..50 => Mood::CloseAfter,
            50..100 if nth.of_connection > 0 => Mood::HangUp,
            _ => Mood::Good,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sites_on_a_bad_day_are_crawled_as_on_a_good_one() {
    let mut rng = seeded();
    let scratch = tempfile::tempdir().unwrap();
    let sites = [(DebianSite::Python, 530), (DebianSite::Postgresql, 1_170), (DebianSite::Git, 200)];
    let mut good = Vec::new();
    for ((debian, _), n) in sites.iter().zip(1..) {
        let content = Directory::new(debian.directory());
        good.push(Site::builder().content(content).address((Ipv4Addr::new(127, 0, 0, n), 0)).start().await.unwrap());
    }
    let seeds: Vec<String> = good.iter().map(Site::url).collect();
    let crawl = |data| {
        let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
        Crawl::new(&scratch.path().join(data), &seeds, &["--delay", "0s", "--concurrency", "4"])
    };
    let on_a_good_day = crawl("good");
    assert_done(&on_a_good_day.run().await);

    let mut bad = Vec::new();
    for (mut site, (debian, pages)) in good.into_iter().zip(sites) {
        site.stop().await;
        let content = Directory::new(debian.directory());
        let moods = at_random(rng.random(), pages);
        bad.push(Site::builder().content(content).address(site.address()).moods(moods).start().await.unwrap());
    }
    let on_a_bad_day = crawl("bad");
    assert_done(&on_a_bad_day.run().await);

    let (good, bad) = (on_a_good_day.pages(), on_a_bad_day.pages());
    let pages: usize = sites.iter().map(|(_, pages)| pages).sum();
    assert!(good.len() >= pages, "{} pages of {pages}", good.len());
    for url in good.keys().chain(bad.keys()) {
        assert_eq!(bad.get(url), good.get(url), "{url}");
    }
    let refused = on_a_bad_day.log().iter().filter(|entry| !entry.is_final).count();
    assert!(refused >= RESTARTS, "it was a bad day: {refused} tries");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_that_was_asked_for_survives_a_kill() {
    const WAIT_S: u32 = 5;
    let scratch = tempfile::tempdir().unwrap();
    let manual = Directory::new(DebianSite::Git.directory());
    let is_busy = |nth: Nth| nth.of_site == 10;
    let refusal = Mood::Refuse { status: StatusCode::TOO_MANY_REQUESTS, retry_after_s: Some(WAIT_S) };
    let site = Site::builder().content(manual).moods(move |nth| if is_busy(nth) { refusal } else { Mood::Good });
    let site = site.start().await.unwrap();
    let crawl = Crawl::new(&scratch.path().join("data"), &[&site.url()], &["--delay", "20ms", "--concurrency", "1"]);

    let mut running = crawl.start();
    reach(&mut running, &site, 11).await;
    // The crawler must first receive the refusal and store it.
    tokio::time::sleep(Duration::from_secs(1)).await;
    running.start_kill().unwrap();
    assert_eq!(wait(running).await.code, None, "it was killed while running");
    let mut running = crawl.start();
    reach(&mut running, &site, 12).await;
    running.start_kill().unwrap();
    wait(running).await;

    let log = site.log();
    let refused = log.iter().position(|access| access.status == StatusCode::TOO_MANY_REQUESTS).unwrap();
    let [asked, next]: &[Access; 2] = log[refused..][..2].try_into().unwrap();
    let waited = next.arrived - asked.arrived;
    assert!(waited >= Duration::from_secs(WAIT_S.into()), "{} came after {waited:?}", next.target);
}
