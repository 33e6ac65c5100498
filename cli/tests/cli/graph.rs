//! What the link graph tells, as people see it.

use dragline_testkit::hostile::{HostileSite, html, reply};

use super::dragline;

/// A site with a broken link, redirects in a row, equal pages, and titles and links that would do something to a terminal.
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
        assert_eq!(first.code, Some(1), "{}", first.stderr);
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

        // What is forgotten is not in the graph, either.
        run(&["forget", &site.url("/same")]);
        let duplicates = run(&["duplicates"]);
        assert_eq!(duplicates.stdout, "no two URLs have the same contents\n");
    });
}
