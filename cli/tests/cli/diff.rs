//! Differences of iterations.

use dragline_testkit::hostile::{HostileSite, html, links, reply};
use serde_json::Value;

use super::dragline;

/// A site that has changed at the second visit: one page has another text, one is gone, and one is
/// new.
async fn site() -> HostileSite {
    HostileSite::start(|asked| match (asked.target.as_str(), asked.earlier) {
        ("/robots.txt", _) | ("/a", 1..) => reply(404, &[], ""),
        ("/", 0) => html(links(["/news", "/a"])),
        ("/", _) => html(links(["/news", "/a", "/b"])),
        ("/news", 0) => html("news"),
        _ => html("text"),
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_change_is_listed_in_the_requested_format() {
    let site = site().await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    let base = seed.trim_end_matches('/');
    tokio::task::block_in_place(|| {
        let crawl = || {
            let ran = run(&["crawl", &seed, "--crawl", "docs", "--allow-private", "--delay", "0s", "--quiet"]);
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        };
        crawl();
        let alone = run(&["diff"]);
        assert_eq!((alone.code, alone.stdout.as_str()), (Some(2), ""));
        let first = "error: the crawl `docs`: there is nothing to compare with iteration 1: it is the first\n";
        assert_eq!(alone.stderr, first);
        crawl();

        let text = run(&["diff"]);
        assert_eq!((text.code, text.stderr.as_str()), (Some(0), ""));
        let mut lines: Vec<&str> = text.stdout.lines().collect();
        assert_eq!(lines.pop(), Some("iteration 2 compared with 1: 1 new, 2 changed, 1 gone"));
        assert_eq!(lines.pop(), Some(""));
        lines.sort_unstable();
        let listed = [
            format!("changed    {base}/  (text, links)"),
            format!("changed    {base}/news  (text)"),
            format!("gone       {base}/a  (file_not_found)"),
            format!("new        {base}/b"),
        ];
        assert_eq!(lines, listed);
        let found = run(&["diff", "--exit-code"]);
        assert_eq!((found.code, found.stdout.len()), (Some(5), text.stdout.len()), "something differs");

        let rows = run(&["diff", "--format", "jsonl"]);
        let rows: Vec<Value> = rows.stdout.lines().map(|row| serde_json::from_str(row).expect("it is JSON")).collect();
        let gone = rows.iter().find(|row| row["change"] == "gone").expect("a page is gone");
        assert_eq!((&gone["url"], &gone["iteration"]), (&format!("{base}/a").into(), &2.into()));
        assert_eq!((&gone["status"], &gone["outcome_name"]), (&404.into(), &"file_not_found".into()));
        assert_eq!((rows.len(), gone.as_object().unwrap().len()), (4, 9));
        let csv = run(&["diff", "--what", "links", "--format", "csv"]).stdout;
        assert_eq!(csv, format!("from_url,change,kind,to_url\n{base}/,added,a,{base}/b\n"));

        let feed = run(&["diff", "--format", "rss"]).stdout;
        let head = format!(
            "<title>Changes of docs</title>\n<link>{seed}</link>\n<description>What differs in iteration 2 from iteration 1<"
        );
        assert!(feed.starts_with("<?xml ") && feed.contains(&head) && feed.ends_with("</channel>\n</rss>\n"), "{feed}");
        let entry = format!(
            "<item><title>gone: {base}/a (file_not_found)</title><link>{base}/a</link>\
             <guid isPermaLink=\"false\">docs/2/gone/{base}/a</guid><pubDate>"
        );
        assert!(feed.contains(&entry) && feed.matches("</item>").count() == 4, "{feed}");
        assert_eq!(run(&["diff", "--format", "rss"]).stdout, feed, "the same changes have the same names");
        let links = run(&["diff", "--format", "rss", "--what", "links"]);
        assert_eq!((links.code, links.stdout.as_str()), (Some(2), ""));
        assert!(links.stderr.contains("an RSS feed is of pages"), "{}", links.stderr);

        crawl();
        let same = run(&["diff", "--exit-code", "--what", "links", "--format", "csv"]);
        assert_eq!((same.code, same.stdout.as_str()), (Some(0), "from_url,change,kind,to_url\n"), "only a head");
        let all = run(&["diff", "--all"]).stdout;
        assert!(all.contains(&format!("unchanged  {base}/b\n")), "{all}");
        assert!(all.ends_with("\niteration 3 compared with 2: 3 unchanged\n"), "{all}");
        assert_eq!(run(&["diff", "--all", "--exit-code"]).code, Some(0), "they do not differ");
        assert_eq!(run(&["diff"]).stdout, "iteration 3 compared with 2: nothing changed\n");
        let far = run(&["diff", "--from", "1"]).stdout;
        assert!(far.ends_with("\niteration 3 compared with 1: 1 new, 2 changed, 1 gone\n"), "{far}");

        for (arguments, said) in [
            (&["--from", "3"][..], "iteration 3 is not before iteration 3"),
            (&["--from", "2", "--to", "1"], "iteration 2 is not before iteration 1"),
            (&["--to", "4"], "the crawl `docs` has no iteration 4; the latest is 3"),
            (&["--from", "9"], "the crawl `docs` has no iteration 9; the latest is 3"),
            (&["--to", "1"], "there is nothing to compare with iteration 1"),
        ] {
            let ran = run(&[&["diff"], arguments].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}");
            let error = ran.stderr.lines().next().unwrap();
            assert!(error.starts_with("error: ") && error.contains(said), "{arguments:?}: {}", ran.stderr);
        }
    });
}
