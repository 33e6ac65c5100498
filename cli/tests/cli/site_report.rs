//! `dragline report`, as people and programs see it.

use dragline_testkit::hostile::{HostileSite, html, reply};
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
            (&["--all"], "`--all` is for JSON", "Markdown has the first rows"),
            (&["--baseline", "report.html"], "report.html: it is no report in JSON", "a page is no baseline"),
            (&["--baseline", "none.json"], "none.json cannot be read", "no such file"),
            (&["--ignore", "report.html"], "report.html: line 1: there is no finding", "a page is no list"),
        ] {
            let ran = run(&[&["report"], arguments].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{why}");
            assert!(ran.stderr.contains(expected), "{why}: {}", ran.stderr);
        }
    });
}

/// A site whose sitemap and canonical URLs lead to what is not there, redirects or says noindex.
async fn contradictory_site() -> HostileSite {
    HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => {
            reply(200, &[], format!("Sitemap: http://{}/sitemap.xml\n", asked.field("host").unwrap_or_default()))
        }
        "/sitemap.xml" => {
            let urls = ["/", "/gone", "/moved", "/hidden", "/to-hidden"];
            let listed = urls
                .map(|path| format!("<url><loc>http://{}{path}</loc></url>", asked.field("host").unwrap_or_default()))
                .concat();
            reply(200, &["content-type: application/xml"], format!("<urlset>{listed}</urlset>"))
        }
        "/" => html("<title>Home</title>Home. <a href=/new>new</a> <a href=/to-moved>a</a> <img src=/large.png>"),
        "/moved" => reply(301, &["location: /new"], ""),
        "/new" => html("<title>New</title>what is new here"),
        "/hidden" => html("<title>Hidden</title><meta name=robots content=noindex>not for everybody"),
        "/to-hidden" => html("<title>To hidden</title><link rel=canonical href=/hidden>a copy of what is hidden"),
        "/to-moved" => html("<title>To moved</title><link rel=canonical href=/moved>a copy of what moved away"),
        "/large.png" => reply(200, &["content-type: image/png"], format!("\u{89}PNG{}", "x".repeat(200_001))),
        _ => reply(404, &[], ""),
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_known_is_not_told_again() {
    let site = contradictory_site().await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    let findings = |arguments: &[&str]| -> Vec<(String, Vec<String>)> {
        let ran = run(&[&["report", "--json"], arguments].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let report: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
        let text = |value: &Value| value.as_str().expect("a text").replace(&seed, "/");
        let findings = report["findings"].as_array().expect("a list").iter().filter(|finding| finding["count"] != 0);
        findings
            .map(|finding| {
                let key = text(&finding["columns"][0]["id"]);
                let rows = finding["rows"].as_array().expect("a list").iter();
                (text(&finding["id"]), rows.map(|row| text(&row[&key])).collect())
            })
            .collect()
    };
    tokio::task::block_in_place(|| {
        let crawl =
            ["crawl", &seed, "--allow-private", "--delay", "0s", "--sitemaps", "follow", "--requisites", "fetch"];
        run(&[&crawl[..], &["--canonical", "ignore", "--quiet"]].concat());
        let told = findings(&[]);
        let rows = |id: &str| told.iter().find(|(kind, _)| kind == id).map(|(_, rows)| rows.join(" "));
        for (id, expected, why) in [
            ("sitemap_broken", Some("/gone"), "it is not there"),
            ("sitemap_redirects", Some("/moved"), "it leads elsewhere"),
            ("sitemap_noindex", Some("/hidden"), "it asks not to be found"),
            ("sitemap_missing", Some("/to-moved"), "no URL of the sitemap leads there"),
            ("canonical_redirected", Some("/to-moved"), "its canonical URL leads elsewhere"),
            ("canonical_noindex", Some("/to-hidden"), "its canonical URL asks not to be found"),
            ("pictures_heavy", Some("/large.png"), "200 kB and more"),
            ("canonical_broken", None, "each is there"),
        ] {
            let mut found: Option<Vec<_>> = rows(id).map(|rows| rows.split(' ').map(str::to_owned).collect());
            found.iter_mut().for_each(|rows| rows.sort());
            assert_eq!(found.map(|rows| rows.join(" ")).as_deref(), expected, "{id}: {why}");
        }

        run(&["report", "--all", "-o", "baseline.json"]);
        assert_eq!(findings(&["--baseline", "baseline.json"]), [], "all of it is known");
        let list = format!("# the old site\nsitemap_broken {seed}g*\n* {seed}hidden\n");
        std::fs::write(directory.path().join("known.txt"), list).expect("there is room");
        let left = findings(&["--ignore", "known.txt"]);
        let mut expected = told.clone();
        expected.retain(|(id, _)| id != "sitemap_broken");
        expected.iter_mut().for_each(|(_, rows)| rows.retain(|row| row != "/hidden"));
        expected.retain(|(_, rows)| !rows.is_empty());
        assert_eq!(left, expected, "and nothing else is left out");
        let failing = run(&["report", "--ignore", "known.txt", "--fail-on", "sitemap_broken", "-o", "report.md"]);
        assert_eq!(failing.code, Some(0), "what is known fails nothing: {}", failing.stderr);
        let markdown = std::fs::read_to_string(directory.path().join("report.md")).expect("it was written");
        assert!(markdown.contains("- Left out, as they are accepted: 3 findings.\n"), "{markdown}");

        let sarif = run(&["report", "--format", "sarif"]);
        let sarif: Value = serde_json::from_str(&sarif.stdout).expect("it is JSON");
        let results = sarif["runs"][0]["results"].as_array().expect("a list");
        let broken: Vec<_> = results.iter().filter(|result| result["ruleId"] == "sitemap_broken").collect();
        assert_eq!(broken.len(), 1);
        assert_eq!(broken[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], site.url("/gone"));
        assert_eq!(results.len(), told.iter().map(|(_, rows)| rows.len()).sum::<usize>(), "one for each row");
        let junit = run(&["report", "--format", "junit"]).stdout;
        let failures = junit.matches("<failure type=").count();
        assert!(junit.contains("<failure type=\"sitemap_broken\" message=\"1 URL: "), "{junit}");
        assert!(
            junit.contains(&format!("failures=\"{failures}\"")) && failures < told.len(),
            "notices fail nothing: {junit}"
        );
    });
}

#[test]
fn what_https_pages_send_or_load_over_http_is_told() {
    let page = "<title>Log in</title><img src=http://a.example/logo.png><form action=http://a.example/in><input name=who></form>
                <form action=/search></form><form action=https://b.example/in></form>";
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{page}", page.len());
    let record = format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:7f0d5b4e-6a43-4f7f-9d4c-1f8f0a2b3c4d>\r\n\
         WARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Target-URI: https://a.example/in\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{answer}\r\n\r\n",
        answer.len()
    );
    let directory = tempfile::tempdir().expect("there is room");
    std::fs::write(directory.path().join("site.warc"), record).expect("there is room");
    let imported = dragline(directory.path(), &["import", "site.warc"]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let ran = dragline(directory.path(), &["report", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
    let rows = |id: &str| {
        let found = report["findings"].as_array().and_then(|all| all.iter().find(|finding| finding["id"] == id));
        found.map(|finding| finding["rows"].to_string()).unwrap_or_default()
    };
    let parts = r#"[{"parts":1,"url":"https://a.example/in","urls":["http://a.example/logo.png"]}]"#;
    assert_eq!(rows("mixed"), parts);
    assert_eq!(rows("forms_insecure"), r#"[{"target":"http://a.example/in","url":"https://a.example/in"}]"#);
}
