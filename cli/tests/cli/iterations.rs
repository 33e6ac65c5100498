//! Iterations other than the latest.

use dragline_testkit::hostile::{HostileSite, html, links, reply};
use serde_json::Value;

use super::{Ran, dragline};

/// A site whose page `/a` is gone from its second visit on.
async fn site() -> HostileSite {
    HostileSite::start(|asked| match (asked.target.as_str(), asked.earlier) {
        ("/robots.txt", _) | ("/a", 1..) => reply(404, &[], ""),
        ("/", _) => html(links(["/a", "/b"])),
        _ => html("text"),
    })
    .await
}

fn json(ran: &Ran) -> Value {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    serde_json::from_str(&ran.stdout).expect("it is JSON")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_shows_an_earlier_iteration_as_it_was() {
    let site = site().await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room for a directory"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    tokio::task::block_in_place(|| {
        assert_eq!(run(&["crawl", &seed, "--allow-private", "--delay", "0s"]).code, Some(0));
        let mut then = json(&run(&["status", "--json"]));
        assert_eq!(json(&run(&["status", "--json", "--iteration", "1"])), then, "the latest is the default");
        assert_eq!(run(&["crawl", "--allow-private"]).code, Some(0));
        let latest = json(&run(&["status", "--json"]));
        assert_eq!((&latest["iteration"], &latest["outcomes"][0]["name"]), (&2.into(), &"file_did_not_change".into()));

        for field in ["stuck", "drifted", "links_beyond_budget", "links_nofollow", "urls_stripped"] {
            assert_eq!(then[field], 0);
            then[field] = Value::Null;
        }
        assert!(then["disk"]["warc_bytes"].as_u64() > Some(0), "{then}");
        assert!(then["last_commit"].is_string() && then["stands_still"]["why"] == "over", "{then}");
        for field in ["disk", "last_commit", "stands_still"] {
            then[field] = Value::Null;
        }
        assert_eq!(
            json(&run(&["status", "--json", "--iteration", "1"])),
            then,
            "as it was, except what is no longer known"
        );
        let text = run(&["status", "--iteration", "1"]).stdout;
        assert!(text.contains(": iteration 1 is over, after ") && text.contains("3  file_ingested"), "{text}");
        assert!(text.contains("  dragline report --iteration 1 -o report.html "), "{text}");
        let missing = run(&["status", "--iteration", "3"]);
        assert_eq!((missing.code, missing.stdout.as_str()), (Some(2), ""));
        assert!(missing.stderr.contains("has no iteration 3; the latest is 2"), "{}", missing.stderr);
    });
}

/// Pages outside of a narrower run are not gone: nobody looked. Options that a URL resets are
/// named.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_narrower_run_reports_omissions_and_a_url_reset_options() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        "/" => html(links(["/a", "/b"])),
        _ => html("text"),
    })
    .await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room for a directory"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    tokio::task::block_in_place(|| {
        let crawl = ["crawl", &seed, "--allow-private", "--delay", "0s"];
        assert_eq!(run(&crawl).code, Some(0));
        let narrow = run(&[&crawl[..], &["--max-depth", "0"]].concat());
        assert!(!narrow.stderr.contains("is reset"), "the option was given: {}", narrow.stderr);
        let changes = &json(&run(&["status", "--json"]))["changes"];
        assert_eq!((&changes["out_of_scope"], &changes["gone"]), (&2.into(), &0.into()), "{changes}");
        let diff = run(&["diff"]).stdout;
        assert!(diff.contains(": 2 out of scope") && !diff.contains("gone"), "{diff}");

        let kept = run(&["crawl", "--allow-private"]);
        assert!(!kept.stderr.contains("is reset"), "without a URL all stays: {}", kept.stderr);
        assert_eq!(json(&run(&["status", "--json"]))["requests"], 1);
        let reset = run(&crawl);
        let hint = "a URL begins with default options, so scope.max_depth is reset; `dragline crawl` keeps what the last run had";
        assert!(reset.stderr.contains(hint), "{}", reset.stderr);
        let changes = &json(&run(&["status", "--json"]))["changes"];
        assert_eq!((&changes["back"], &changes["new"]), (&2.into(), &0.into()), "{changes}");
    });
}
