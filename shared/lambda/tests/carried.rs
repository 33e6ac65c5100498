//! A function contains what it uses. The linker drops what nothing calls, but only the dependencies guarantee that nothing can.

#![expect(clippy::unwrap_used, reason = "a test without cargo has nothing to say")]

use std::process::Command;

/// The crates that a function is built from.
fn carried(package: &str) -> Vec<String> {
    let cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["tree", "--offline", "--edges=normal", "--prefix=none", "--format={p}", "--package", package])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    let lines = String::from_utf8(cargo.stdout).unwrap();
    lines.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn a_function_carries_what_it_uses_and_no_more() {
    let parts = [
        ("reqwest", "an HTTP client for the web"),
        ("html5gum", "an HTML parser"),
        ("serde-saphyr", "a YAML parser"),
        ("rusqlite", "a database of its own"),
    ];
    for (package, used) in [
        ("dragline-scheduler", &["serde-saphyr"][..]),
        ("dragline-crawler", &["reqwest"]),
        ("dragline-parser", &["html5gum"]),
        ("dragline-sweeper", &[]),
        // The link graph and the report, which it makes in files.
        ("dragline-publisher", &["rusqlite"]),
    ] {
        let crates = carried(package);
        for (name, what) in parts {
            let is_carried = crates.iter().any(|carried| carried == name);
            assert_eq!(is_carried, used.contains(&name), "{package} and {name}, {what}");
        }
    }
}
