//! Answers of the link graph, as people see them.

use dragline_testkit::hostile::{HostileSite, html, reply};

use super::dragline;

/// A site with a broken link, a chain of redirects, equal pages, and terminal escapes in titles and
/// links.
pub(super) async fn site() -> HostileSite {
    HostileSite::start(|asked| match asked.target.as_str() {
        "/" => html(
            "<title>Home \u{1b}[2J</title><a href=/a>the \u{1b}[31mfirst</a> <a href=/missing>nothing</a> <a href=/one>on</a>
             <a href=/same>same</a> <a href=https://elsewhere.example/>away</a> <img src=/i.png>",
        ),
        "/a" | "/same" => html("<title>=1+1</title>some words <a href=/missing>nothing here, either</a>"),
        "/one" => reply(301, &["location: /two"], ""),
        "/two" => reply(302, &["location: /a"], ""),
        _ => reply(404, &[], ""),
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_about_links_are_answered_in_words() {
    let site = site().await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    tokio::task::block_in_place(|| {
        let none = run(&["broken"]);
        assert_eq!(none.code, Some(2), "there is no crawl yet: {}", none.stderr);
        run(&["crawl", &seed, "--allow-private", "--delay", "0s", "--concurrency", "1", "--quiet"]);
        let first = run(&["broken", "--exit-code"]);
        assert_eq!(first.code, Some(5), "{}", first.stderr);
        assert_eq!(first.stderr, "reading the links of the crawl, once until it goes on\n");
        let words = |arguments: &[&str]| {
            let ran = run(arguments);
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}");
            ran.stdout.replace(&seed, "http://site/")
        };
        let told = [
            words(&["broken"]),
            words(&["chains"]),
            words(&["orphans"]),
            words(&["duplicates"]),
            words(&["links", &seed]),
            words(&["links", &site.url("/a"), "--ways", "in"]),
            words(&["links", &site.url("/a"), "--ways", "in", "--format", "csv"]),
        ];
        insta::assert_snapshot!(told.join("----\n"));
        let unknown = run(&["links", &site.url("/never-heard-of")]);
        assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(2), ""));
        assert!(unknown.stderr.contains("does not know"), "{}", unknown.stderr);

        let graphml = run(&["export", "--what", "links", "--format", "graphml"]);
        assert_eq!((graphml.code, graphml.stderr.as_str()), (Some(0), ""));
        let count = |of: &str| graphml.stdout.matches(of).count();
        assert_eq!((count("<node "), count("<edge "), count("</graphml>")), (8, 10, 1), "{}", graphml.stdout);
        let dot = run(&["export", "--what", "links", "--format", "dot"]);
        assert_eq!(dot.stdout.matches(" -> ").count(), 10, "{}", dot.stdout);
        for refused in [&["--iteration", "1", "--what", "links"][..], &["--what", "pages"]] {
            let ran = run(&[&["export", "--format", "graphml"], refused].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{refused:?}");
        }

        // Forgotten URLs are not in the graph, either.
        run(&["forget", &site.url("/same")]);
        let duplicates = run(&["duplicates"]);
        assert_eq!(duplicates.stdout, "no two URLs have the same contents\n");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_exported_with_the_selected_columns() {
    let site = site().await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), &[&["export"], arguments].concat());
    tokio::task::block_in_place(|| {
        dragline(
            directory.path(),
            &["crawl", &seed, "--allow-private", "--delay", "0s", "--concurrency", "1", "--quiet"],
        );
        for (arguments, expected) in [
            (
                &["--what", "log", "--columns", "status,final,url,detail"][..],
                "{\"status\":200,\"final\":true,\"url\":\"http://site/a\",\"detail\":null}",
            ),
            (&["--what", "log", "--columns", "status,url", "--format", "csv"], "200,http://site/a"),
            // A title that a spreadsheet would run is disarmed, as without columns.
            (&["--what", "pages", "--columns", "title", "--columns", "url", "--format", "csv"], "'=1+1,http://site/a"),
        ] {
            let ran = run(arguments);
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}");
            let shown = ran.stdout.replace(&seed, "http://site/");
            assert!(shown.lines().any(|line| line == expected), "{arguments:?}: {shown}");
        }
        let head =
            run(&["--what", "links", "--iteration", "1", "--format", "csv", "--columns", "to_url,anchor"]).stdout;
        assert_eq!(head.lines().next(), Some("to_url,anchor"));
        for (arguments, expected) in [
            (&["--what", "pages", "--columns", "titel"][..], "hint: there are: crawl, iteration, url,"),
            (
                &["--what", "documents", "--columns", "url"],
                "`--columns` is for pages, links, log, candidates, items and feeds",
            ),
            (&["--what", "items", "--columns", "url"], "a table of items is of one type"),
            (&["--what", "links", "--format", "dot", "--columns", "to_url"], "`--columns` is for"),
            (&["--what", "documents", "--format", "parquet"], "documents cannot be written as Parquet"),
        ] {
            let ran = run(arguments);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}");
            assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
        }
        let parquet = directory.path().join("log.parquet");
        std::process::Command::new(env!("CARGO_BIN_EXE_dragline"))
            .args(["export", "--what", "log", "--format", "parquet"])
            .current_dir(directory.path())
            .stdout(std::fs::File::create(&parquet).expect("there is room"))
            .status()
            .expect("it runs");
        let parquet = std::fs::read(&parquet).expect("it was written");
        assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unchecked_urls_are_reported() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/" => html("<title>Home</title><a href=/a>a page</a> <img src=/i.png> <img src=/j.png> <img src=/i.png>"),
        "/a" => html("<title>Page</title>some words"),
        _ => reply(404, &[], ""),
    })
    .await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    let parts = "not checked: 2 parts of pages, such as pictures and styles; `--requisites fetch` crawls them, too\n";
    tokio::task::block_in_place(|| {
        let crawl = ["crawl", &seed, "--allow-private", "--delay", "0s", "--quiet"];
        // Nothing is requested, so the seed waits.
        let began = run(&[&crawl[..], &["--keep-free", "1000000TiB"]].concat());
        assert_eq!(began.code, Some(8), "{}", began.stderr);
        let early = run(&["broken", "--exit-code"]);
        let told = "no broken links so far among 0\nthe crawl is not over: ";
        assert!(early.stdout.starts_with(told), "{}", early.stdout);
        assert_eq!(early.code, Some(1), "nobody knows yet");
        let rows = run(&["broken", "--format", "jsonl"]);
        assert_eq!((rows.code, rows.stdout.as_str()), (Some(0), ""));
        assert!(rows.stderr.contains("the crawl is not over: "), "{}", rows.stderr);
        let early = run(&["chains", "--exit-code"]);
        assert!(
            early.code == Some(1) && early.stdout.starts_with("no chains of redirects so far\n"),
            "{}",
            early.stdout
        );
        let report = run(&["report"]).stdout;
        assert!(report.contains("- the crawl is not over: "), "{report}");

        assert_eq!(run(&crawl).code, Some(0));
        let over = run(&["broken", "--exit-code"]);
        assert_eq!(over.code, Some(0), "they were not asked for");
        assert!(over.stdout.starts_with("no broken links among ") && over.stdout.ends_with(parts), "{}", over.stdout);
        let report = run(&["report"]).stdout;
        assert!(report.contains(&format!("- {parts}")) && !report.contains("not over"), "{report}");

        let fetched = run(&[&crawl[..], &["--requisites", "fetch"]].concat());
        assert_eq!(fetched.code, Some(0), "{}", fetched.stderr);
        let over = run(&["broken", "--exit-code"]);
        assert_eq!(over.code, Some(5), "the pictures are missing: {}", over.stdout);
        assert!(!over.stdout.contains("not checked"), "{}", over.stdout);
    });
}
