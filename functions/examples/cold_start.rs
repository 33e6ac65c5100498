//! Measures cold starts: the time from a process's start to its first request for an event. `make
//! cold` builds the functions and runs it.

#![expect(clippy::print_stdout, reason = "it prints its results")]

use std::path::PathBuf;
use std::time::Duration;

use dragline_testkit::functions::Deployed;

/// How often each function is started.
const STARTS: usize = 25;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "target/release".to_owned()));
    println!("{:10} {:>8} {:>8} {:>8} {:>8}", "function", "MB", "fastest", "median", "slowest");
    for function in ["Scheduler", "Crawler", "Parser", "Sweeper"] {
        let binary = directory.join(function.to_lowercase());
        let bytes = std::fs::metadata(&binary).map_or(0, |file| file.len());
        let mut took = Vec::new();
        for _ in 0..STARTS {
            took.push(Deployed::start(&binary, function).await.took());
        }
        took.sort_unstable();
        let [fastest, median, slowest] = [0, STARTS / 2, STARTS - 1].map(|n| millis(took[n]));
        let megabytes = bytes as f64 / 1e6;
        println!("{function:10} {megabytes:8.1} {fastest:>8} {median:>8} {slowest:>8}");
    }
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
