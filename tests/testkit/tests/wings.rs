//! Which packages may use which: the order of the folders (ARCHITECTURE.md).

#![expect(clippy::unwrap_used, reason = "a test without cargo has nothing to say")]

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

/// The folders whose packages each folder's packages may use.
const MAY_USE: [(&str, &[&str]); 9] = [
    ("shared/core", &["shared/core"]),
    ("shared/crawl", &["shared/core", "shared/crawl"]),
    ("shared/stores", &["shared/core", "shared/stores"]),
    ("shared/derived", &["shared/core", "shared/derived"]),
    ("shared/engine", &["shared/core", "shared/crawl", "shared/stores"]),
    ("shared/lambda", &["shared/core", "shared/crawl", "shared/stores", "shared/engine"]),
    ("shared/service", &["shared/core", "shared/crawl", "shared/derived"]),
    ("functions", &["shared"]),
    ("cli", &["shared"]),
];

/// What nothing else uses.
const OTHERS: [&str; 3] = ["tests", "bench", "fuzz"];

fn is_within(folder: &str, outer: &str) -> bool {
    folder.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns each package's folder and the names of our packages that it uses, except in its tests.
fn packages() -> BTreeMap<String, (String, Vec<String>)> {
    let cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--offline", "--no-deps", "--format-version=1"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    let metadata: Value = serde_json::from_slice(&cargo.stdout).unwrap();
    let root = metadata["workspace_root"].as_str().unwrap();
    let package = |package: &Value| {
        let manifest = package["manifest_path"].as_str().unwrap();
        let folder = manifest.strip_prefix(root).unwrap().trim_start_matches('/').trim_end_matches("/Cargo.toml");
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let used = dependencies.filter(|used| used["kind"] != "dev").filter_map(|used| used["name"].as_str());
        let used = used.filter(|name| name.starts_with("dragline")).map(str::to_owned).collect();
        (package["name"].as_str().unwrap().to_owned(), (folder.to_owned(), used))
    };
    metadata["packages"].as_array().unwrap().iter().map(package).collect()
}

#[test]
fn dependencies_point_one_way() {
    let packages = packages();
    let mut against = Vec::new();
    for (name, (folder, used)) in &packages {
        let Some((_, may_use)) = MAY_USE.iter().find(|(wing, _)| is_within(folder, wing)) else {
            assert!(OTHERS.iter().any(|other| is_within(folder, other)), "{name} in {folder} belongs to no wing");
            continue;
        };
        for used in used {
            let (home, _) = &packages[used];
            if !may_use.iter().any(|wing| is_within(home, wing)) {
                against.push(format!("{folder} uses {home}"));
            }
        }
    }
    assert!(packages.len() > 20 && against.is_empty(), "{against:#?}");
}
