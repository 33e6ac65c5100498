//! Several crawls in one data directory.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use dragline_testkit::hostile::{HostileSite, html, links, reply};
use serde_json::Value;

use super::{Ran, command, dragline};

/// Longer than the start of a crawl takes on any machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A site with a page that links to another.
async fn site() -> HostileSite {
    HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        "/" => html(links(["/a"])),
        "/many" => html(links((0..20).map(|n| format!("/{n}")))),
        _ => html("a"),
    })
    .await
}

/// Crawls into the directory `data`.
fn crawl(directory: &Path, arguments: &[&str]) -> Ran {
    dragline(directory, &[&["crawl", "--data", "data", "--delay", "0s"], arguments].concat())
}

fn read(directory: &Path, arguments: &[&str]) -> Ran {
    dragline(directory, &[arguments, &["--data", "data"]].concat())
}

fn json(ran: &Ran) -> Value {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    serde_json::from_str(&ran.stdout).expect("it is JSON")
}

#[track_caller]
fn assert_refused(ran: &Ran, what: &str, hint: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("error: {what}")), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("hint: {hint}")), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_crawl_begins_and_resumes_beside_the_others() {
    let (one, other) = (site().await, site().await);
    let (one_url, other_url) = (one.url("/"), other.url("/"));
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    std::fs::write(place.join("crawl.yaml"), format!("name: docs\nseeds: ['{other_url}']\n")).unwrap();
    tokio::task::block_in_place(|| {
        let first = crawl(place, &[&one_url, "--crawl", "one", "--allow-private"]);
        assert_eq!(first.code, Some(0), "{}", first.stderr);
        assert!(
            first.stderr.contains("dragline report --data data -o report.html  "),
            "alone, it needs no name: {}",
            first.stderr
        );
        let second = crawl(place, &["crawl.yaml", "--allow-private"]);
        assert_eq!(second.code, Some(0), "{}", second.stderr);
        assert!(second.stderr.contains("docs: iteration 1 begins"), "{}", second.stderr);
        for hint in [
            "dragline report --data data --crawl docs -o report.html ",
            "dragline search WORDS --data data --crawl docs ",
            "dragline export --what pages --format csv --data data --crawl docs > pages.csv ",
        ] {
            assert!(second.stderr.contains(hint), "it says what to do with this crawl: {}", second.stderr);
        }

        let which = "data holds several crawls: `docs`, `one`\n";
        for arguments in
            [&["crawl", "--allow-private"][..], &["export", "--what", "log"], &["status", "--iteration", "1"]]
        {
            let name_one = "name one, as in `--crawl docs`; `dragline status --data data` lists them";
            assert_refused(&read(place, arguments), which, name_one);
        }
        for arguments in [&["crawl"][..], &["status"], &["export", "--what", "log"]] {
            let ran = read(place, &[arguments, &["--crawl", "two"]].concat());
            assert_refused(&ran, "there is no crawl `two` in data", "it holds `docs`, `one`");
        }

        let (asked_one, asked_other) = (one.targets().len(), other.targets().len());
        let again = crawl(place, &["--crawl", "one", "--allow-private"]);
        assert_eq!(again.code, Some(0), "{}", again.stderr);
        assert!(again.stderr.contains("one: iteration 2 begins"), "{}", again.stderr);
        assert!(one.targets().len() > asked_one && other.targets().len() == asked_other, "the named one alone");

        for (name, iteration, url) in [("one", 2, &one_url), ("docs", 1, &other_url)] {
            let summary = json(&read(place, &["status", "--json", "--crawl", name]));
            assert_eq!(
                (&summary["crawl"], &summary["iteration"], &summary["pages"]),
                (&name.into(), &iteration.into(), &2.into())
            );
            let exported = read(place, &["export", "--what", "log", "--crawl", name]);
            assert_eq!(exported.stdout.lines().count(), 2, "{}", exported.stdout);
            assert!(exported.stdout.lines().all(|row| row.contains(url.as_str())), "its own rows: {}", exported.stdout);
        }
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_lists_the_crawls_if_there_are_several() {
    let site = site().await;
    let (url, directory) = (site.url("/"), tempfile::tempdir().unwrap());
    let place = directory.path();
    tokio::task::block_in_place(|| {
        assert_eq!(crawl(place, &[&url, "--crawl", "one", "--allow-private"]).code, Some(0));
        assert_eq!(json(&read(place, &["status", "--json"]))["crawl"], "one", "the summary of the only one");
        let blocked = crawl(place, &["https://127.0.0.1:9/", "--crawl", "blocked"]);
        assert_eq!(blocked.code, Some(4), "{}", blocked.stderr);
        let list = json(&read(place, &["status", "--json"]));
        assert_eq!((&list["data"], &list["is_running"]), (&"data".into(), &false.into()), "{list}");
        let crawls: Vec<_> = list["crawls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|crawl| (&crawl["crawl"], &crawl["iteration"], &crawl["status"], &crawl["pages"]))
            .collect();
        let closed = Value::from("closed");
        let (blocked, one, first) = ("blocked".into(), "one".into(), 1.into());
        assert_eq!(crawls, [(&blocked, &first, &closed, &0.into()), (&one, &first, &closed, &2.into())]);
        let text = read(place, &["status"]);
        assert_eq!((text.code, text.stderr.as_str()), (Some(0), ""));
        let lines: Vec<Vec<&str>> = text.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["crawl", "iteration", "status", "pages", "when"]);
        assert_eq!(lines[1][..4], ["blocked", "1", "over", "0"]);
        assert_eq!(lines[2][..5], ["one", "1", "over", "2", "until"]);
        assert!(text.stdout.contains("dragline status --data data --crawl blocked "), "{}", text.stdout);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn allowances_are_per_crawl() {
    let site = site().await;
    let (url, directory) = (site.url("/"), tempfile::tempdir().unwrap());
    let place = directory.path();
    tokio::task::block_in_place(|| {
        assert_eq!(crawl(place, &[&url, "--crawl", "private", "--allow-private", "--insecure"]).code, Some(0));
        let asked = site.targets().len();
        let beside = crawl(place, &[&url, "--crawl", "public"]);
        assert_eq!(beside.code, Some(4), "it begins without the flag, and is refused the address: {}", beside.stderr);
        assert!(beside.stderr.contains("private address: "), "{}", beside.stderr);
        assert_eq!(site.targets().len(), asked, "nothing was requested");
        let again = crawl(place, &["--crawl", "public"]);
        assert_eq!(again.code, Some(4), "it never had the flag: {}", again.stderr);
        for (name, certificates) in [("private", "not_checked"), ("public", "checked")] {
            let summary = json(&read(place, &["status", "--json", "--crawl", name]));
            assert_eq!(summary["certificates"], certificates, "{name}");
        }
        let refused = crawl(place, &["--crawl", "private", "--insecure"]);
        assert_refused(
            &refused,
            "the crawl `private` in data was allowed to connect to private addresses before, but is not now",
            "allow it again: `dragline crawl --data data --crawl private --insecure --allow-private`",
        );
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_crawl_stays_as_it_is_while_another_crawls_the_same_host() {
    let site = site().await;
    let (many, url, directory) = (site.url("/many"), site.url("/"), tempfile::tempdir().unwrap());
    let place = directory.path();
    let arguments = ["crawl", &many, "--crawl", "killed", "--allow-private", "--delay", "300ms", "--data", "data"];
    let mut killed = command(place, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = async {
        while site.targets().len() < 4 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, began).await.expect("it begins");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let asked = site.targets().len();
    tokio::task::block_in_place(|| {
        let other = crawl(place, &[&url, "--crawl", "other", "--allow-private"]);
        assert_eq!(other.code, Some(0), "{}", other.stderr);
        assert_eq!(site.targets().split_off(asked), ["/robots.txt", "/", "/a"], "nothing of the killed crawl's");
        let open = read(place, &["status", "--crawl", "killed"]);
        assert!(open.stdout.contains("killed: iteration 1 is not finished"), "{}", open.stdout);
        let resumes = "  dragline crawl --data data --crawl killed ";
        assert!(open.stdout.contains(resumes), "it says how to resume it: {}", open.stdout);
        let resumed = crawl(place, &["--crawl", "killed", "--allow-private"]);
        assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
        assert!(resumed.stderr.contains("killed: iteration 1 resumes"), "{}", resumed.stderr);
        let summary = json(&read(place, &["status", "--json", "--crawl", "killed"]));
        assert_eq!(summary["pages"], 21, "{summary}");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_directories_visit_a_host_in_turns_and_keep_the_delay_together() {
    const DELAY: Duration = Duration::from_millis(60);
    const PAGES: usize = 8;
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        "/" => html((0..PAGES).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>()),
        _ => html("a page"),
    })
    .await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    let start = |data: &str| {
        let mut command = command(directory.path(), &["crawl", &seed, "--allow-private", "--quiet", "--data", data]);
        command.args(["--delay", &format!("{}ms", DELAY.as_millis())]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the command was built")
    };
    tokio::task::block_in_place(|| {
        for crawl in [start("one"), start("other")] {
            let ended = crawl.wait_with_output().expect("it is ours");
            assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
        }
    });
    let mut arrivals: Vec<_> = site.log().iter().map(|asked| asked.at).collect();
    arrivals.sort();
    assert_eq!(arrivals.len(), 2 * (PAGES + 2), "each directory has all pages, and robots.txt");
    for pair in arrivals.windows(2) {
        let gap = pair[1] - pair[0];
        // The server stamps the end of its answer; the rest of the delay is the way to the server.
        assert!(gap >= DELAY / 2, "{gap:?} between two requests");
    }
}
