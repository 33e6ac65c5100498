//! Every target holds for every file of its corpus.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use dragline_fuzz::TARGETS;

/// The most bytes of one corpus. A case is worth keeping for what it shows, not for its size.
const CORPUS_BYTES_MAX: usize = 64 << 10;

fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The paths in a directory, in order.
fn paths_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    paths
}

/// The names of a directory's entries, without what follows the dot.
fn names_in(name: &str) -> BTreeSet<String> {
    paths_in(&directory(name))
        .iter()
        .map(|path| path.file_stem().and_then(OsStr::to_str).expect("a plain name").to_owned())
        .collect()
}

#[test]
fn each_target_has_a_corpus_and_a_binary() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(targets.len(), TARGETS.len(), "a name twice");
    for (place, what) in [("corpus", "corpora"), ("libfuzzer/fuzz_targets", "binaries")] {
        assert_eq!(names_in(place), targets, "{what} are there for other targets");
    }
}

#[test]
fn targets_hold_for_their_corpora() {
    let mut broken = Vec::new();
    for (name, target) in TARGETS {
        let files = paths_in(&directory("corpus").join(name));
        assert!(!files.is_empty(), "{name} has no corpus");
        let mut bytes = 0;
        for file in files {
            let data = fs::read(&file).unwrap();
            bytes += data.len();
            if catch_unwind(|| target(&data)).is_err() {
                broken.push(file);
            }
        }
        assert!(bytes <= CORPUS_BYTES_MAX, "{name} has {bytes} bytes");
    }
    assert!(broken.is_empty(), "broken by {broken:#?}");
}
