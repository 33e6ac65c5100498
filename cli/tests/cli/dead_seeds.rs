//! Dead seeds beside a working one: every report names them with their error.

use std::net::TcpListener;

use dragline_testkit::hostile::{HostileSite, html, reply};

use super::dragline;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seed_that_nobody_answers_is_named_everywhere_with_its_cause() {
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        format!("http://{}/", listener.local_addr().expect("it is bound"))
    };
    let linked = format!("{closed}linked");
    let site = HostileSite::start({
        let page = format!("<title>Home</title>a page <a href='{linked}'>that is not there</a> <a href=/a>a</a>");
        move |asked| match asked.target.as_str() {
            "/robots.txt" => reply(404, &[], ""),
            "/" => html(&page),
            _ => html("<title>Another</title>another page"),
        }
    })
    .await;
    let (lively, nameless) = (site.url("/"), "http://nosuch.invalid/");
    tokio::task::block_in_place(|| {
        for budget in [&[][..], &["--max-pages", "50"]] {
            let directory = tempfile::tempdir().expect("there is room for a directory");
            let run = |arguments: &[&str]| dragline(directory.path(), arguments);
            let seeds = ["crawl", &lively, &closed, nameless, "--allow-private", "--delay", "0s"];
            let crawled = run(&[&seeds[..], budget].concat());
            assert_eq!(crawled.code, Some(1), "URLs failed, {budget:?}: {}", crawled.stderr);
            let status = run(&["status"]);
            assert!(status.stdout.contains("          3  connection_failed\n"), "{budget:?}: {}", status.stdout);
            let log = run(&["export", "--what", "log", "--format", "csv"]).stdout;
            for (url, cause) in
                [(&*closed, "connection refused: "), (nameless, "host not found: "), (&linked, "connection refused: ")]
            {
                let is_told = |line: &str| line.contains(&format!(",{url},")) && line.contains(cause);
                assert!(log.lines().any(is_told), "{url}, {budget:?}: {log}");
                let json = run(&["status", "--json"]).stdout;
                assert!(json.contains(r#""name":"connection_failed","class":"failed","urls":3"#), "{json}");
            }
            let broken = run(&["broken", "--exit-code"]);
            assert_eq!(broken.code, Some(5), "{}", broken.stderr);
            assert!(broken.stdout.contains(&linked), "{budget:?}: {}", broken.stdout);
            let report = run(&["report"]).stdout;
            for told in ["| Failed | 3 |", &*closed, nameless, &linked] {
                assert!(report.contains(told), "{told}, {budget:?}: {report}");
            }
        }
    });
}
