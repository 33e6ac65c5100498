//! `dragline search`, `similar` and `words`, as people and programs see them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use dragline_testkit::hostile::{HostileSite, html, reply};
use serde_json::Value;

use super::dragline;

/// A site in two languages, with terminal escapes in a title and a text, a copy, and a `noindex`
/// page.
async fn site() -> HostileSite {
    HostileSite::start(|asked| match asked.target.as_str() {
        "/" => html(
            "<html lang=en><title>Home \u{1b}[2J</title><meta name=description content='A \u{1b}[31mfarm'><a href=/goats>bleating \u{1b}[31m animals</a>
             <a href=/bees>bees</a> <a href=/haus>Haus</a> <a href=/hidden>hidden</a> <a href=/copy>copy</a>",
        ),
        "/goats" => html("<html lang=en><title>Goats</title>Goats eat the garbage of bees. They are collecting grass."),
        "/bees" => html(
            "<html lang=en><title>Bees</title>Bees collect honey.\u{1b}]0;pwned\u{7} The goats collect grass.
             <script type=application/ld+json>{\"@context\": \"https://schema.org\", \"@type\": \"Article\", \"headline\": \"Bees\"}</script>",
        ),
        "/haus" => html("<html lang=de><title>Das Haus</title>Die Häuser der Stadt sind die neuen Häuser."),
        "/hidden" => html("<meta name=robots content=noindex><title>Secret goats</title>goats"),
        "/copy" => html("<link rel=canonical href=/goats><title>Goats</title>Goats eat the garbage of bees. They are collecting grass."),
        _ => reply(404, &[], ""),
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_crawled_is_searched() {
    let site = site().await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    tokio::task::block_in_place(|| {
        let none = run(&["search", "goats"]);
        assert_eq!((none.code, none.stdout.as_str()), (Some(2), ""), "there is no crawl yet: {}", none.stderr);
        // A mistake in the query is reported first.
        let wrong = run(&["search", "goats", "\"of bees"]);
        assert_eq!(wrong.code, Some(2));
        assert!(wrong.stderr.contains("at character 7: the quotation mark is not closed"), "{}", wrong.stderr);

        run(&["crawl", &seed, "--allow-private", "--delay", "0s", "--concurrency", "1", "--quiet"]);
        let first = run(&["search", "goats"]);
        assert_eq!(first.code, Some(0), "{}", first.stderr);
        assert_eq!(
            first.stderr,
            "reading the links of the crawl, once until it goes on\n\
             bringing the word index up to date, once until the crawl goes on\n\
             4 pages indexed, 0 as they were, 0 removed\n"
        );
        let host = seed.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let told: Vec<String> = [
            &["search", "goats"][..],
            &["search", "animals"],
            &["search", "collected grass"],
            &["search", "haus -goat"],
            &["search", "gaots"],
            &["search", "the"],
            &["search", "nothing like that"],
            &["search", "type:article", "--per-page", "1"],
            &["search", "grass", "--per-page", "1", "--page", "2"],
            &["similar", &site.url("/goats")],
            &["words"],
            &["words", "collects"],
            &["words", "goat", "--in", "title", "--format", "csv"],
            &["words", "--in", "title", "--format", "jsonl"],
            &["words", "the"],
        ]
        .into_iter()
        .map(|arguments| {
            let ran = run(arguments);
            assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
            assert!(!ran.stdout.contains('\u{1b}'), "{arguments:?}");
            let shown = arguments.join(" ").replace(&seed, "http://site/");
            format!("$ dragline {shown}\n{}{}", ran.stderr, ran.stdout)
                .replace(&seed, "http://site/")
                .replace(&host, "site")
        })
        .collect();
        let mut day = insta::Settings::clone_current();
        day.add_filter(r"\d{4}-\d\d-\d\d", "[day]");
        day.bind(|| insta::assert_snapshot!(told.join("\n")));

        let json = run(&["search", "goats", "--json"]);
        let found: Value = serde_json::from_str(&json.stdout).expect("it is JSON");
        assert_eq!((json.stderr.as_str(), &found["total"], &found["pages_indexed"]), ("", &2.into(), &4.into()));
        let best = &found["results"][0];
        assert_eq!((&best["url"], &best["title"]), (&site.url("/goats").into(), &"Goats".into()));
        let snippet: Vec<char> = best["snippet"].as_str().expect("a text").chars().collect();
        let marked = best["snippet_matches"].as_array().expect("a list").iter().map(|place| {
            let place = |end: usize| usize::try_from(place[end].as_u64().expect("a number")).expect("it fits");
            snippet[place(0)..place(1)].iter().collect::<String>()
        });
        assert_eq!(marked.collect::<Vec<_>>(), ["Goats"]);

        for (arguments, expected) in [
            (vec!["search", "titel:goats"], "hint: fields are title,"),
            (vec!["search", "goats", "--page", "2000"], "results after the first 10000 are not shown"),
            (vec!["similar", "no URL"], "cannot be crawled"),
        ] {
            let ran = run(&arguments);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}");
            assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
        }
        for hidden in ["/hidden", "/copy", "/unknown"] {
            let ran = run(&["similar", &site.url(hidden)]);
            assert_eq!(ran.code, Some(2));
            assert!(ran.stderr.contains("is not in the word index"), "{hidden}: {}", ran.stderr);
        }

        // Forgotten URLs are neither in the index nor in its files.
        let index = directory.path().join("dragline-data/search").join(host.replace(':', "-"));
        assert!(index.exists(), "{}", index.display());
        run(&["forget", &site.url("/haus")]);
        assert!(!index.exists());
        assert!(run(&["search", "stadt"]).stdout.starts_with("no page matches"), "it was forgotten");
    });
}

/// A page changes, one is removed and one is added: the index follows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_follow_the_next_crawl() {
    let directory = tempfile::tempdir().expect("there is room");
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    let day = Arc::new(AtomicU8::new(1));
    let today = Arc::clone(&day);
    let site = HostileSite::start(move |asked| {
        let is_first = today.load(Ordering::SeqCst) == 1;
        match (asked.target.as_str(), is_first) {
            ("/", true) => html("<a href=/stays>a</a> <a href=/changes>b</a> <a href=/goes>c</a>"),
            ("/", false) => html("<a href=/stays>a</a> <a href=/changes>b</a> <a href=/comes>d</a>"),
            ("/stays", _) => html("<title>Stays</title>common words"),
            ("/changes", true) => html("<title>Changes</title>common words before"),
            ("/changes", false) => html("<title>Changes</title>common words afterwards"),
            ("/goes", true) | ("/comes", false) => html("<title>Moves</title>common words"),
            _ => reply(404, &[], ""),
        }
    })
    .await;
    let seed = site.url("/");
    tokio::task::block_in_place(|| {
        let crawl = || run(&["crawl", &seed, "--allow-private", "--delay", "0s", "--concurrency", "1", "--quiet"]);
        let search = |query: &str| {
            let ran = run(&["search", query, "--json"]);
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            let found: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
            let urls = found["results"].as_array().expect("a list").iter();
            let mut urls: Vec<String> =
                urls.map(|hit| hit["url"].as_str().expect("a URL").replace(&seed, "")).collect();
            urls.sort();
            (urls.join(" "), ran.stderr)
        };
        crawl();
        assert_eq!(search("common").0, "changes goes stays");
        assert_eq!(search("before").0, "changes");
        day.store(2, Ordering::SeqCst);
        crawl();
        let (urls, said) = search("common");
        assert_eq!(urls, "changes comes stays");
        assert!(said.ends_with("3 pages indexed, 1 as they were, 1 removed\n"), "{said}");
        assert_eq!((search("before").0.as_str(), search("afterwards").0.as_str()), ("", "changes"));
    });
}
