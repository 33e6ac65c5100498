//! A site that was crawled several times is replayed as it was each time, whatever was said about
//! what did not change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dragline_end_to_end::archive;
use dragline_end_to_end::dragline::Crawl;
use dragline_testkit::hostile::{HostileSite, Step, head, reply};
use sha2::{Digest as _, Sha256};

use crate::witness::assert_done;

/// Who says that a page did not change.
#[derive(Clone, Copy, Debug)]
enum Said {
    /// The server: it sends an `ETag`, and answers 304.
    ByTheServer,
    /// Nobody: the same body comes again.
    ByTheBody,
}

/// The content of a path in an iteration, and its type; `None` if there is none.
fn content(path: &str, iteration: usize) -> Option<(&'static str, Vec<u8>)> {
    let page = |text: String| {
        Some(("text/html; charset=utf-8", format!("<!doctype html><title>{path}</title>{text}").into_bytes()))
    };
    match path {
        "/" => page(r#"<link rel="stylesheet" href="/style.css"><img src="/dot.png"><a href="/still">a</a> <a href="/news">b</a>
                     <a href="/once">c</a> <a href="/twin">d</a> <a href="/twins">e</a>"#.to_owned()),
        "/still" => page("words that stay".to_owned()),
        "/news" => page(format!("the news of day {iteration}")),
        "/once" => page(format!("changed {} times", iteration.saturating_sub(1).min(1))),
        "/twin" | "/twins" => Some(("text/html", b"<title>Twin</title>two pages with one body".to_vec())),
        "/style.css" => Some(("text/css", b"body { background: url(/paper.gif) }".to_vec())),
        "/dot.png" => Some(("image/png", [b"\x89PNG\r\n\x1a\n".as_slice(), &[7; 500]].concat())),
        "/favicon.ico" => Some(("image/x-icon", vec![0; 70])),
        "/paper.gif" => Some(("image/gif", [b"GIF89a".as_slice(), &[9; 300]].concat())),
        _ => None,
    }
}

const PATHS: [&str; 8] = ["/", "/still", "/news", "/once", "/twin", "/twins", "/style.css", "/dot.png"];

fn answer(said: Said, path: &str, iteration: usize, known: Option<&str>) -> Vec<Step> {
    let Some((media_type, body)) = content(path, iteration) else { return reply(404, &[], "") };
    let content_type = format!("content-type: {media_type}");
    let tag = format!("\"{}\"", digest(&body));
    let etag = format!("etag: {tag}");
    match said {
        Said::ByTheServer if known == Some(&tag) => vec![head(304, &[&etag, "x-answer: nothing new"])],
        Said::ByTheServer => reply(200, &[&content_type, &etag], body),
        Said::ByTheBody => reply(200, &[&content_type], body),
    }
}

fn digest(body: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(body))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_visit_is_replayed_octet_for_octet() {
    for (said, iterations) in
        [(Said::ByTheServer, 2), (Said::ByTheServer, 3), (Said::ByTheBody, 2), (Said::ByTheBody, 3)]
    {
        let scratch = tempfile::tempdir().unwrap();
        let iteration = Arc::new(AtomicUsize::new(0));
        let now = Arc::clone(&iteration);
        let site = HostileSite::start(move |asked| {
            answer(said, &asked.target, now.load(Ordering::SeqCst), asked.field("if-none-match"))
        })
        .await;
        let arguments = ["--delay", "0s", "--requisites", "fetch"];
        let crawl = Crawl::new(&scratch.path().join("data"), &[&site.url("/")], &arguments);
        for number in 1..=iterations {
            iteration.store(number, Ordering::SeqCst);
            assert_done(&crawl.run().await);
            // Replaying programs know visits by the second.
            tokio::time::sleep(Duration::from_millis(1_100)).await;
        }
        let conditional = site.log().iter().filter(|asked| asked.field("if-none-match").is_some()).count();
        assert_eq!(conditional > PATHS.len() * (iterations - 2), matches!(said, Said::ByTheServer), "{said:?}");
        tokio::task::block_in_place(|| assert_replayed(&crawl, &site, iterations, scratch.path()));
    }
}

fn assert_replayed(crawl: &Crawl, site: &HostileSite, iterations: usize, scratch: &Path) {
    let (package, merged) = (scratch.join("site.wacz"), scratch.join("merged"));
    let _ = crawl.ask(&["archive", "-o", package.to_str().expect("its own directory has a plain name")]);
    let _ = crawl.ask(&["archive", "--warc", "-o", merged.to_str().expect("its own directory has a plain name")]);
    archive::check_wacz(&package);
    let (ours, theirs) = archive::indexes_of_wacz(&package, &scratch.join("unpacked"));
    assert_eq!(ours, theirs);
    let files = std::fs::read_dir(&merged).expect("the folder was made");
    let files: Vec<PathBuf> = files.map(|file| file.expect("a folder that was opened can be read").path()).collect();
    archive::check_with_revisits(&files);

    // Each visit at its time, and each URL at no time, which means the newest.
    let mut asked: BTreeMap<String, String> = BTreeMap::new();
    let log = |number: usize| {
        crawl.ask(&["export", "--what", "log", "--format", "jsonl", "--iteration", &number.to_string()])
    };
    for line in (1..=iterations).map(log).collect::<String>().lines() {
        let visit: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        let (url, at) = (visit["url"].as_str().expect("a URL"), visit["at"].as_str().expect("a time"));
        let number = visit["iteration"].as_u64().and_then(|number| usize::try_from(number).ok()).expect("a number");
        let path = format!("/{}", url.strip_prefix(&site.url("/")).expect("there is one site"));
        let (_, body) = content(&path, number).expect("it is there");
        let time: String = at.chars().take(19).filter(char::is_ascii_digit).collect();
        asked.insert(format!("{time} {url}"), digest(&body));
        if number == iterations {
            asked.insert(url.to_owned(), digest(&body));
        }
    }
    assert!(asked.len() >= PATHS.len() * (iterations + 1), "{asked:?}");
    let visits: Vec<&str> = asked.keys().map(String::as_str).collect();
    let expected: Vec<_> = asked.values().map(|digest| (200, digest.clone())).collect();
    let expected: Vec<_> = visits.iter().zip(expected).collect();
    let folder_for = |name: &str| {
        let folder = scratch.join(name);
        std::fs::create_dir(&folder).expect("the test's own directory can be written");
        folder
    };
    let replayed = archive::replay(&package, &visits, &folder_for("replayed"));
    assert_eq!(visits.iter().zip(replayed).collect::<Vec<_>>(), expected);

    // The same from the files in their places.
    let index = crawl.ask(&["cdx"]);
    assert!(index.lines().is_sorted_by_key(str::as_bytes), "{index}");
    let (ours, theirs) = archive::indexes_in_place(&index, crawl.data());
    assert_eq!(ours, theirs);
    let file = scratch.join("index.cdxj");
    std::fs::write(&file, index).expect("the test's own directory can be written");
    let replayed = archive::replay_in_place(&file, crawl.data(), &visits, &folder_for("in-place"));
    assert_eq!(visits.iter().zip(replayed).collect::<Vec<_>>(), expected);
}
