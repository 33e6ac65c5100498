//! The memory cost of many sites with large files.

use std::process::Stdio;
use std::time::Duration;

use dragline_end_to_end::dragline::{binary, wait};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::addresses::{seeds, serve};

const SITES: usize = 60;
const FILES: usize = 4;
const FILE_BYTES: usize = 1_500_000;

/// All segments in the making share at most 200 MiB, bodies being received 64 MiB. The rest is for
/// the segments being parsed, each as large as its object and its bodies, for the program, and for
/// what the allocator keeps. Without a budget it was 715 MiB and more.
const RESIDENT_KIB_MAX: u64 = 512 << 10;

/// Links, and files that do not compress.
fn content(path: &str) -> Option<Vec<u8>> {
    if path == "/" {
        return Some((0..FILES).map(|file| format!("<a href=/{file}>{file}</a>")).collect::<String>().into_bytes());
    }
    let file: u64 = path.strip_prefix('/')?.parse().ok()?;
    let mut body = vec![0; FILE_BYTES];
    StdRng::seed_from_u64(file).fill_bytes(&mut body);
    Some(body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_sites_of_large_files_have_one_budget() {
    let scratch = tempfile::tempdir().unwrap();
    let port = serve(content).await;
    let mut command = tokio::process::Command::new(binary());
    command.arg("crawl").args(seeds(SITES, port)).args(["--delay", "10ms", "--allow-private", "--quiet", "--data"]);
    command.arg(scratch.path().join("data"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let crawl = command.spawn().unwrap();
    let status = format!("/proc/{}/status", crawl.id().unwrap());
    let peak = tokio::spawn(async move {
        let mut peak = 0;
        while let Some(resident) = peak_resident_kib(&status) {
            peak = resident;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        peak
    });
    let ended = wait(crawl).await;
    assert_eq!(ended.code, Some(0), "every file of every site is stored: {}", ended.stderr);
    let peak = peak.await.unwrap();
    assert!(peak < RESIDENT_KIB_MAX, "{} MiB resident at the peak", peak >> 10);
}

/// The peak resident memory of a process so far, from the kernel; `None` once it has ended.
fn peak_resident_kib(status: &str) -> Option<u64> {
    let status = std::fs::read_to_string(status).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
