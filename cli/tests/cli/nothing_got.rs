//! Crawls that get nothing: why, what to do about it, and exit code 1.

use std::net::TcpListener;

use dragline_testkit::hostile::{Authority, Flaw, HostileSite, Version, html, reply};

use super::{Ran, dragline, dragline_alone};

/// Crawls these seeds in a directory of their own, the address of this machine allowed.
fn crawl(seeds: &[&str], more: &[&str]) -> Ran {
    dragline_alone(&[&["crawl"], seeds, &["--delay", "0s"], more].concat())
}

#[track_caller]
fn assert_told(ran: &Ran, cause: &str, hint: &str) {
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing was crawled"), "{}", ran.stderr);
    let told = |begin: &str, what: &str| ran.stderr.lines().any(|line| line.contains(begin) && line.contains(what));
    assert!(told(cause, ""), "{cause}: {}", ran.stderr);
    assert!(told("hint: ", hint), "{hint}: {}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_says_is_told_with_what_to_do() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(200, &[], "user-agent: *\ndisallow: /private\n"),
        "/moved" => reply(302, &["location: http://elsewhere.example/start"], ""),
        "/login" => reply(403, &[], ""),
        "/unread" => reply(200, &["content-type: text/html"], "<meta name=robots content=noindex>"),
        _ => reply(404, &[], ""),
    })
    .await;
    tokio::task::block_in_place(|| {
        for (path, cause, hint) in [
            ("/gone", "not found: ", "does the URL open in a browser?"),
            ("/private", "forbidden by robots.txt: ", "`dragline explain "),
            ("/moved", "leads to http://elsewhere.example/start", "`dragline crawl 'http://elsewhere.example/start'`"),
            ("/login", "refused by the server: ", "lets nobody in"),
            ("/unread", "asks not to be indexed: ", ""),
        ] {
            let ran = crawl(&[&site.url(path)], &["--allow-private"]);
            if hint.is_empty() {
                assert_eq!(ran.code, Some(1), "{path}: {}", ran.stderr);
                assert!(ran.stderr.contains(cause), "{path}: {}", ran.stderr);
            } else {
                assert_told(&ran, cause, hint);
            }
        }
        let ran = crawl(&[&site.url("/")], &[]);
        assert_told(&ran, "private address: ", "`--allow-private`");
        let quiet = crawl(&[&site.url("/gone")], &["--allow-private", "--quiet"]);
        assert_told(&quiet, "error: nothing was crawled: 1 URL: not found: ", "browser");
        let json = crawl(&[&site.url("/gone")], &["--allow-private", "--json"]);
        assert_eq!(json.code, Some(1), "{}", json.stderr);
        assert!(json.stdout.contains(r#""causes":[{"cause":"not_found","urls":1,"#), "{}", json.stdout);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_reached_is_told_by_its_cause() {
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
        assert_told(&ran, "certificate not trusted: https://127.0.0.1", "`--insecure`");
        assert_told(&ran, "connection refused: http://127.0.0.1", "nobody listens");
        assert_told(&ran, "host not found: http://nosuch.invalid", "spelled rightly");

        let unchecked = run(&[&https, "--delay", "0s", "--allow-private", "--insecure"]);
        assert_eq!(unchecked.code, Some(0), "{}", unchecked.stderr);
        assert!(unchecked.stderr.contains("\ncertificates were not checked\n"), "{}", unchecked.stderr);
        let links = dragline(directory.path(), &["export", "--what", "links", "--format", "csv"]);
        assert_eq!(
            links.stdout, "crawl,iteration,from_url,to_url,kind,disposition,detail\n",
            "a head, though there are no links"
        );
        let checked = run(&["--allow-private"]);
        assert_eq!(checked.code, Some(2), "{}", checked.stderr);
        assert!(checked.stderr.contains("`dragline crawl --allow-private --insecure`"), "{}", checked.stderr);
        let again = run(&["--allow-private", "--insecure"]);
        assert_eq!(again.code, Some(0), "nothing changed, which is something: {}", again.stderr);
    });
}
