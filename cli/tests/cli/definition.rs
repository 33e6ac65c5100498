//! `dragline definition`: a stored definition is printed unchanged.

use std::fs;

use dragline_testkit::hostile::{HostileSite, html, reply};

use super::dragline;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stored_definition_is_printed_as_one_that_changes_nothing() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        _ => html("<h1>a page</h1>"),
    })
    .await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    let first = format!(
        "name: docs\nseeds: ['{seed}']\npoliteness: {{ delay: 0s }}\nscope: {{ exclude: ['\\.zip$'] }}\n\
         items:\n  - type: Thing\n    fields: {{ title: {{ css: h1 }}, 'no': {{ css: b, kind: list, of: url }} }}\n"
    );
    let second = format!("{first}budget: {{ pages: 7, bytes: 1500B }}\n");
    tokio::task::block_in_place(|| {
        let run = |arguments: &[&str]| dragline(directory.path(), arguments);
        let none = run(&["definition"]);
        assert_eq!((none.code, none.stdout.as_str()), (Some(2), ""), "{}", none.stderr);
        for (name, yaml) in [("first.yaml", &first), ("second.yaml", &second)] {
            fs::write(directory.path().join(name), yaml).expect("there is room");
            let crawl = run(&["crawl", name, "--allow-private", "--quiet"]);
            assert_eq!(crawl.code, Some(0), "{name}: {}", crawl.stderr);
        }
        let printed = |more: &[&str]| {
            let ran = run(&[&["definition"], more].concat());
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{more:?}");
            ran.stdout
        };
        let newest = printed(&[]);
        assert!(newest.starts_with("# Version 2\nname: docs\n") && newest.contains("pages: 7"), "{newest}");
        let oldest = printed(&["--version", "1"]);
        assert!(oldest.starts_with("# Version 1\n") && !oldest.contains("budget"), "{oldest}");
        for (iteration, expected) in [("1", &oldest), ("2", &newest)] {
            assert_eq!(printed(&["--iteration", iteration]), *expected, "iteration {iteration}");
        }

        // A new version is stored only if something differs.
        fs::write(directory.path().join("again.yaml"), &newest).expect("there is room");
        let again = run(&["crawl", "again.yaml", "--allow-private", "--quiet"]);
        assert_eq!(again.code, Some(0), "{}", again.stderr);
        assert_eq!(printed(&[]), newest, "no version 3");
        fs::write(directory.path().join("back.yaml"), &oldest).expect("there is room");
        run(&["crawl", "back.yaml", "--allow-private", "--quiet"]);
        let back = printed(&[]);
        assert_eq!(back, oldest.replace("# Version 1\n", "# Version 3\n"), "it says the same, and came later");

        for (more, expected) in [
            (&["--version", "9"][..], "the definition of `docs` has no version 9; the newest is 3"),
            (&["--iteration", "9"], "has no iteration 9"),
            (&["--iteration", "1", "--version", "1"], "cannot be used with"),
        ] {
            let ran = run(&[&["definition"], more].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{more:?}");
            assert!(ran.stderr.contains(expected), "{more:?}: {}", ran.stderr);
        }
    });
}
