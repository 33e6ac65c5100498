//! The visits of one URL.

use dragline_testkit::hostile::{HostileSite, html, links, reply};
use serde_json::Value;

use super::{Ran, dragline};

/// A site whose page `/news` fails once in the second iteration, and is gone in the third.
async fn site() -> HostileSite {
    HostileSite::start(|asked| match (asked.target.as_str(), asked.earlier) {
        ("/robots.txt", _) => reply(200, &[], "User-agent: *\nDisallow: /private\n"),
        ("/", _) => html(links(["/news", "/private"])),
        ("/news", 0 | 2) => html("news"),
        ("/news", 1) => reply(503, &["content-type: text/plain"], "sorry"),
        _ => reply(404, &[], ""),
    })
    .await
}

fn rows(ran: &Ran) -> Vec<Value> {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    ran.stdout.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_visit_is_shown_oldest_first() {
    let site = site().await;
    let (seed, news, directory) = (site.url("/"), site.url("/news"), tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    tokio::task::block_in_place(|| {
        for _iteration in 1..=3 {
            run(&["crawl", &seed, "--allow-private", "--delay", "0s", "--quiet"]);
        }
        let visits = rows(&run(&["history", &news, "--format", "jsonl"]));
        let told: Vec<_> = visits
            .iter()
            .map(|visit| {
                let name = visit["outcome_name"].as_str().unwrap();
                (
                    visit["iteration"].as_u64().unwrap(),
                    name,
                    visit["status"].as_u64(),
                    visit["final"].as_bool().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                (1, "file_ingested", Some(200), true),
                (2, "server_unavailable", Some(503), false),
                (2, "file_did_not_change", Some(200), true),
                (3, "file_not_found", Some(404), true),
            ]
        );
        let times: Vec<_> = visits.iter().map(|visit| visit["at"].as_str().unwrap()).collect();
        assert!(times.is_sorted(), "{times:?}");

        // The same fields as in the log, except those that do not describe the visit.
        let log = rows(&run(&["export", "--what", "log", "--iteration", "1"]));
        let logged = log.iter().find(|row| row["url"] == news.as_str()).expect("it was visited");
        for (field, value) in visits[0].as_object().unwrap() {
            assert_eq!(value, &logged[field], "{field}");
        }
        let csv = run(&["history", &news, "--format", "csv"]).stdout;
        let head = "iteration,at,crawl_type,outcome,outcome_name,status,body_bytes,detail,change,changed_parts,final,object,offset,length\n";
        assert!(csv.starts_with(head) && csv.lines().count() == 5, "{csv}");

        let table = run(&["history", &news]);
        assert_eq!((table.code, table.stderr.as_str()), (Some(0), ""));
        let object = visits[1]["object"].as_str().unwrap();
        let line = table.stdout.lines().nth(2).unwrap();
        assert!(line.contains("server_unavailable (53)") && line.contains("retried"), "{line}");
        assert!(line.contains(object), "where its record is: {line}");

        let private = rows(&run(&["history", &site.url("/private"), "--format", "jsonl"]));
        assert_eq!(private.len(), 3, "it had its turn in each iteration: {private:?}");
        for visit in private {
            assert_eq!((&visit["outcome_name"], &visit["object"]), (&"blocked_by_robots_txt".into(), &Value::Null));
            assert!(visit["detail"].as_str().is_some_and(|rule| rule.contains("Disallow: /private")), "{visit}");
        }
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_url_without_visits_is_reported() {
    let site = site().await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    tokio::task::block_in_place(|| {
        run(&["crawl", &seed, "--allow-private", "--delay", "0s", "--quiet", "--max-pages", "1", "--crawl", "docs"]);
        for (path, said, hint, why) in [
            (
                "/elsewhere",
                "the crawl `docs` does not know ",
                "`dragline export --what candidates`",
                "no page links to it",
            ),
            ("/news", "the crawl `docs` knows ", "", "the page budget was used up"),
        ] {
            let ran = run(&["history", &site.url(path)]);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{why}: {}", ran.stderr);
            assert!(ran.stderr.starts_with(&format!("error: {said}")), "{why}: {}", ran.stderr);
            assert!(ran.stderr.contains(hint), "{why}: {}", ran.stderr);
        }
    });
}
