//! Directories without a crawl, or with something else.

use std::fs;

use super::dragline;

const READERS: [&[&str]; 4] = [
    &["status"],
    &["export", "--what", "pages"],
    &["history", "https://example.org/"],
    &["get", "https://example.org/"],
];

#[test]
fn a_directory_without_a_crawl_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("empty")).unwrap();
    for data in ["missing", "empty"] {
        for reader in READERS {
            let ran = dragline(directory.path(), &[reader, &["--data", data]].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{reader:?} of {data}");
            assert!(ran.stderr.contains(&format!("{data} holds no crawl")), "{reader:?}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_directory_with_other_things_in_it_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let precious = directory.path().join("precious.txt");
    fs::write(&precious, "mine").unwrap();
    let ran = dragline(directory.path(), &["crawl", "https://example.invalid/", "--data", "."]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("holds no crawl"), "{}", ran.stderr);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing was added");
    assert_eq!(fs::read_to_string(precious).unwrap(), "mine");
}

#[test]
fn a_file_that_is_not_our_database_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("dragline.db"), "a letter to my aunt, not a database").unwrap();
    for arguments in READERS.into_iter().chain([&["crawl"][..]]) {
        let ran = dragline(directory.path(), &[arguments, &["--data", "."]].concat());
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("is not a dragline database"), "{arguments:?}: {}", ran.stderr);
    }
}
