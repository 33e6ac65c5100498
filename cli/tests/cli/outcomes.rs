//! How commands name what happened to a URL.

use dragline_testkit::hostile::{Asked, HostileSite, html, links, reply};

use super::dragline;
use super::terminal::on_a_terminal;

async fn site() -> HostileSite {
    HostileSite::start(|asked: &Asked| match asked.target.as_str() {
        "/" => html(links(["/picture", "/members", "/private", "/hidden", "/first", "/old", "/new"])),
        "/picture" => reply(200, &["content-type: image/png"], "\u{1}"),
        "/members" => reply(401, &["www-authenticate: Basic realm=\"x\""], ""),
        "/private" => reply(403, &[], ""),
        "/hidden" => html("<meta name=robots content=noindex>"),
        "/first" => reply(301, &["location: /old"], ""),
        "/old" => reply(307, &["location: /new"], ""),
        "/new" => html("new"),
        _ => reply(404, &[], ""),
    })
    .await
}

/// What each command has to show: its arguments, a part of its output, and why.
type Shown<'a> = (&'a [&'a str], &'a [&'a str], &'a str);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_say_what_happened_in_words_that_people_know() {
    let site = site().await;
    let url = |path: &str| site.url(path);
    let [picture, members, first, old] = ["/picture", "/members", "/first", "/old"].map(url);
    let directory = tempfile::tempdir().expect("there is room");
    let directory = directory.path();
    tokio::task::block_in_place(|| {
        dragline(directory, &["crawl", &url("/"), "--allow-private", "--delay", "0s", "--quiet"]);
        let asks = "it asks for a log-in";
        let shown: [Shown<'_>; 12] = [
            (&["history", &picture], &["stored_not_read (29)"], "a picture is of a known type"),
            (&["history", &members], &["status 401", asks], "the log says why"),
            (&["history", &first], &["permanent_redirect (31)"], "301"),
            (&["history", &old], &["temporary_redirect (32)"], "307"),
            (
                &["status"],
                &["1 of them: it asks for a log-in", "1 of them: the page asks for noindex"],
                "each is counted",
            ),
            (
                &["status"],
                &["1 of them: the server denies access", "stored_not_read", "temporary_redirect"],
                "and named",
            ),
            (&["explain", "--allow-private", &members], &["status 401", asks], "as it ended"),
            (&["explain", "--outcome", "29"], &["stored, not read"], "its meaning"),
            (&["explain", "--outcome", "171"], &["asks for a log-in (401)"], "its meaning"),
            (&["chains"], &["2 redirects, the first one permanent", "307 temporary redirect"], "each step"),
            (&["report", "--format", "json"], &[asks, "permanent_redirect", "temporary_redirect"], "for the owner"),
            (&["links", &old], &["temporary_redirect"], "a node of the graph"),
        ];
        for (arguments, parts, why) in shown {
            let ran = dragline(directory, arguments);
            for part in parts {
                assert!(ran.stdout.contains(part), "{arguments:?}: {part}: {why}: {}{}", ran.stdout, ran.stderr);
            }
        }
        // On a terminal of 100 columns.
        let (_, text) = on_a_terminal(directory, &["history", &members]);
        assert!(text.contains("401") && text.contains("WARC object"), "{text}");
        let plain = text.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
        for line in plain.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    });
}
