//! Bodies of 10 GiB in a few hundred kilobytes, and what they cost in memory.

use std::process::Command;

use dragline_domain::outcome::Outcome::FileIngested;
use dragline_testkit::hostile::bombs::Bomb;
use dragline_testkit::hostile::{HostileSite, Step, head};
use dragline_whole_crawls::{Crawled, definition};

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
const CHILD: &str = "DRAGLINE_HOSTILE_CHILD";

/// An empty crawl takes about 30 MiB in a development build, and up to 50 MiB of zeros may be decoded for one page at a time.
const RESIDENT_KIB_MAX: u64 = 256 << 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bombs_cost_no_more_memory_than_the_limits_allow() {
    if let Ok(seed) = std::env::var(CHILD) {
        // The default limits: 10 MiB of body, 50 MiB decoded.
        Crawled::once(&definition(&[seed], |_| {})).await;
        let peak = peak_resident_kib();
        assert!(peak < RESIDENT_KIB_MAX, "{peak} KiB resident at the peak");
        return;
    }
    let codings = [("gzip", Bomb::gzip()), ("br", Bomb::brotli()), ("zstd", Bomb::zstd())];
    let nasty = codings.map(|(coding, of)| (format!("/{coding}"), bomb(coding, of)));
    let site = HostileSite::beside_good_pages(nasty.to_vec()).await;
    let seed = site.url("/");
    let output = tokio::task::spawn_blocking(move || {
        let test = "bombs::bombs_cost_no_more_memory_than_the_limits_allow";
        Command::new(std::env::current_exe().unwrap()).args([test, "--exact", "--nocapture"]).env(CHILD, seed).output()
    });
    let output = output.await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    for coding in ["/gzip", "/br", "/zstd", "/good/after"] {
        assert!(site.targets().contains(&coding.to_owned()), "{coding} was requested");
    }
}

/// The peak resident memory of this process, from the kernel.
fn peak_resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
