//! The suites against adapters with a defect: each mutant is rejected by some behaviour, and each behaviour rejects some mutant.
//!
//! `docs/conformance.md` is the table of who rejects what; the test holds it against what it sees.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::{env, fs};

use dragline_local::LocalStore;
use dragline_testkit::mutants::{FrontierMutation, MutantFrontier};
use jiff::Timestamp;
use tempfile::TempDir;

/// The page that says who rejects what.
const PAGE: &str = include_str!("../../../docs/conformance.md");

/// Where directories are quickest: in memory, where the machine has such a place.
fn memory() -> PathBuf {
    let shared_memory = PathBuf::from("/dev/shm");
    if shared_memory.is_dir() { shared_memory } else { env::temp_dir() }
}

/// The behaviours that reject a mutant.
async fn rejections(mutation: FrontierMutation) -> Vec<&'static str> {
    dragline_testkit::frontier_suite!(rejections, async {
        let directory = TempDir::new_in(memory()).unwrap();
        let store = LocalStore::open(directory.path(), Timestamp::UNIX_EPOCH).unwrap();
        (MutantFrontier::new(store.frontier(), mutation), directory)
    })
}

/// Runs the suite against every mutant, as many at once as the machine has processors.
fn reject_all() -> Vec<(FrontierMutation, Vec<&'static str>)> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                while let Some(&mutation) = FrontierMutation::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let rejected_by = runtime.block_on(rejections(mutation));
                    found.lock().unwrap().push((mutation, rejected_by));
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|&(mutation, _)| FrontierMutation::ALL.iter().position(|&other| other == mutation));
    found
}

#[test]
fn every_mutant_is_rejected_and_every_behaviour_rejects_one() {
    let found = reject_all();
    let mut idle: BTreeSet<&str> = dragline_testkit::frontier_suite!(names, ()).into_iter().collect();
    let mut table = String::from("| mutant | its defect | rejected by |\n|---|---|---|\n");
    let mut survivors = Vec::new();
    for (mutation, rejected_by) in &found {
        if rejected_by.is_empty() {
            survivors.push(mutation);
        }
        rejected_by.iter().for_each(|behaviour| _ = idle.remove(behaviour));
        let names: Vec<String> = rejected_by.iter().map(|name| format!("`{name}`")).collect();
        writeln!(table, "| `{mutation:?}` | {} | {} |", mutation.defect(), names.join(", ")).unwrap();
    }
    let seen = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance.md");
    let (head, _) = PAGE.split_once("| mutant |").unwrap();
    fs::write(&seen, format!("{head}{table}")).unwrap();
    assert!(survivors.is_empty(), "no behaviour rejects {survivors:?}");
    assert!(idle.is_empty(), "these behaviours reject no mutant: {idle:?}");
    assert!(PAGE.ends_with(&table), "docs/conformance.md is not what was seen; it should be {}", seen.display());
}
