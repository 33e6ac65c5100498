//! `dragline report`, as people and programs see it.

use serde_json::Value;

use super::dragline;
use super::graph::site;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_is_reported_on_for_people_and_programs() {
    let site = site().await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    tokio::task::block_in_place(|| {
        let none = run(&["report"]);
        assert_eq!((none.code, none.stdout.as_str()), (Some(2), ""), "there is no crawl yet: {}", none.stderr);
        run(&["crawl", &seed, "--allow-private", "--delay", "0s", "--concurrency", "1", "--quiet"]);

        let ran = run(&["report", "--format", "json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let report: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
        let mut told = String::new();
        for finding in report["findings"].as_array().expect("a list").iter().filter(|finding| finding["count"] != 0) {
            told += &format!("{} {} {}\n", finding["id"], finding["count"], finding["of"]);
            for row in finding["rows"].as_array().expect("a list") {
                told += &format!("  {row}\n");
            }
        }
        for table in report["tables"].as_array().expect("a list") {
            told += &format!("{} {}\n", table["id"], table["rows_all"]);
        }
        told += &format!("{}\n{}\n{}\n", report["starts"], report["tree"], report["sections"]);
        insta::assert_snapshot!(
            told.replace(&seed, "http://site/")
                .replace(seed.trim_start_matches("http://").trim_end_matches('/'), "site")
        );
        let number = |id: &str| {
            let figure = report["figures"].as_array().and_then(|all| all.iter().find(|figure| figure["id"] == id));
            figure.unwrap_or_else(|| panic!("there is a figure {id}"))["value"].as_u64()
        };
        assert_eq!((number("urls"), number("content"), number("missing")), (Some(6), Some(3), Some(1)));

        let markdown = run(&["report"]).stdout;
        assert!(markdown.contains("\n| Broken links | error | 1 URL |\n"), "{markdown}");
        assert!(!markdown.contains('\u{1b}'), "what pages say does nothing to a terminal: {markdown}");

        let failing = run(&["report", "-o", "report.html", "--fail-on", "orphans,broken"]);
        assert_eq!(failing.code, Some(5), "{}", failing.stderr);
        assert!(failing.stderr.ends_with("Broken links: 1 URL\n"), "{}", failing.stderr);
        let page = std::fs::read_to_string(directory.path().join("report.html")).expect("it was written");
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "all of it");
        assert_eq!(run(&["report", "-o", "report.md", "--fail-on", "orphans"]).code, Some(0), "there is none of these");

        for (arguments, expected, why) in [
            (&["-o", "report.pdf"][..], "the name does not tell the format", "an unknown format"),
            (&["-o", "no/such/folder/report.html"], "cannot be written", "no such folder"),
            (&["--fail-on", "brokn"], "invalid value 'brokn'", "no such finding"),
            (&["--iteration", "7"], "has no iteration 7", "no such iteration"),
        ] {
            let ran = run(&[&["report"], arguments].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{why}");
            assert!(ran.stderr.contains(expected), "{why}: {}", ran.stderr);
        }
    });
}
