//! Crawls that fetch nothing report why and what to do about it, and exit with code 1.

use std::net::TcpListener;

use dragline_testkit::hostile::{Authority, Flaw, HostileSite, Version, html, reply};

use super::{Ran, dragline, dragline_alone};

/// Crawls these seeds into an empty directory.
fn crawl(seeds: &[&str], more: &[&str]) -> Ran {
    dragline_alone(&[&["crawl"], seeds, &["--delay", "0s"], more].concat())
}

#[track_caller]
fn assert_reported(ran: &Ran, cause: &str, hint: &str) {
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing was crawled"), "{}", ran.stderr);
    let has = |begin: &str, what: &str| ran.stderr.lines().any(|line| line.contains(begin) && line.contains(what));
    assert!(has(cause, ""), "{cause}: {}", ran.stderr);
    assert!(has("hint: ", hint), "{hint}: {}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_responses_are_reported_with_a_hint() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(200, &[], "user-agent: *\ndisallow: /private\n"),
        "/moved" => reply(302, &["location: http://elsewhere.example/start"], ""),
        "/login" => reply(403, &[], ""),
        "/itself" | "/itself?utm_source=x" => reply(302, &["location: /itself?utm_source=x"], ""),
        "/unread" => reply(200, &["content-type: text/html"], "<meta name=robots content=noindex>"),
        _ => reply(404, &[], ""),
    })
    .await;
    tokio::task::block_in_place(|| {
        for (path, cause, hint) in [
            ("/gone", "not found: ", "check whether the URL opens in a browser"),
            ("/private", "forbidden by robots.txt: ", "to see the rule: `dragline explain "),
            ("/moved", "leads to http://elsewhere.example/start", "`dragline crawl 'http://elsewhere.example/start'`"),
            ("/itself", "redirects in a circle: ", "with `curl -L` whether it ends"),
            ("/login", "refused by the server: ", "denies access"),
            ("/unread", "asks not to be indexed: ", ""),
        ] {
            let ran = crawl(&[&site.url(path)], &["--allow-private"]);
            let same = format!("dragline crawl {}", site.url(path));
            assert!(!ran.stderr.contains(&same), "{path}: the same again gets no more: {}", ran.stderr);
            if hint.is_empty() {
                assert_eq!(ran.code, Some(4), "{path}: {}", ran.stderr);
                assert!(ran.stderr.contains(cause), "{path}: {}", ran.stderr);
            } else {
                assert_reported(&ran, cause, hint);
            }
        }
        let ran = crawl(&[&site.url("/")], &[]);
        assert_reported(&ran, "private address: ", "`--allow-private`");
        let quiet = crawl(&[&site.url("/gone")], &["--allow-private", "--quiet"]);
        assert_reported(&quiet, "error: nothing was crawled: 1 URL: not found: ", "browser");
        let json = crawl(&[&site.url("/gone")], &["--allow-private", "--json"]);
        assert_eq!(json.code, Some(4), "{}", json.stderr);
        assert!(json.stdout.contains(r#""causes":[{"cause":"not_found","urls":1,"#), "{}", json.stdout);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreachable_seeds_are_reported_by_cause() {
    let authority = Authority::named("nobody knows");
    let acceptor = authority.acceptor("127.0.0.1", Flaw::SelfSigned, Version::Http11);
    let site = HostileSite::start_tls(acceptor, |asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        _ => html("a page"),
    })
    .await;
    let https = format!("https://127.0.0.1:{}/", site.port());
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        format!("http://{}/", listener.local_addr().expect("it is bound"))
    };
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let run = |more: &[&str]| dragline(directory.path(), &[&["crawl"], more].concat());
    tokio::task::block_in_place(|| {
        let seeds = [&*https, &closed, "http://nosuch.invalid/"];
        let ran = crawl(&seeds, &["--allow-private"]);
        assert_reported(&ran, "certificate not trusted: https://127.0.0.1", "`--insecure`");
        assert_reported(&ran, "connection refused: http://127.0.0.1", "nothing is listening");
        assert_reported(&ran, "host not found: http://nosuch.invalid", "check the spelling");

        let unchecked = run(&[&https, "--delay", "0s", "--allow-private", "--insecure"]);
        assert_eq!(unchecked.code, Some(0), "{}", unchecked.stderr);
        assert!(unchecked.stderr.contains("\ncertificates were not checked\n"), "{}", unchecked.stderr);
        let links = dragline(directory.path(), &["export", "--what", "links", "--format", "csv"]);
        assert_eq!(
            links.stdout, "crawl,iteration,from_url,to_url,kind,disposition,detail,anchor\n",
            "a header, though there are no links"
        );
        let checked = run(&["--allow-private"]);
        assert_eq!(checked.code, Some(2), "{}", checked.stderr);
        assert!(checked.stderr.contains("`dragline crawl --allow-private --insecure`"), "{}", checked.stderr);
        let again = run(&["--allow-private", "--insecure"]);
        assert_eq!(again.code, Some(0), "nothing changed, but unchanged content counts: {}", again.stderr);
    });
}
