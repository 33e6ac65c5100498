//! Crawls of more sites than the process may have open files.

use std::process::Stdio;

use dragline_end_to_end::dragline::{binary, wait};

use crate::addresses::{seeds, serve};

fn content(path: &str) -> Option<Vec<u8>> {
    match path {
        "/" => Some(b"<a href=/more>more</a>".to_vec()),
        "/more" => Some(b"all".to_vec()),
        _ => None,
    }
}

/// Crawls this many sites, each at its own address, down to this depth, under a hard limit of open
/// files set by the shell.
async fn crawl(sites: usize, depth_max: &str, files_max: usize) {
    let scratch = tempfile::tempdir().expect("a directory");
    let seeds = seeds(sites, serve(content).await);
    let mut command = tokio::process::Command::new("sh");
    command.args(["-c", &format!("ulimit -n {files_max}; exec \"$0\" \"$@\"")]).arg(binary()).arg("crawl").args(seeds);
    command
        .args(["--max-depth", depth_max, "--delay", "10ms", "--allow-private", "--quiet", "--json", "--data"])
        .arg(scratch.path().join("data"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let ended = wait(command.spawn().expect("a shell")).await;
    assert_eq!(ended.code, Some(0), "every page of every site is fetched: {}", ended.stderr);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_sites_than_files_that_may_be_open() {
    crawl(300, "1", 256).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_seeds_than_files_that_may_be_open() {
    crawl(2_500, "0", 1_024).await;
}
