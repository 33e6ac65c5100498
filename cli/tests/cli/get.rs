//! The stored bodies of a URL.

use std::fs;
use std::io::Write;
use std::path::Path;

use dragline_testkit::hostile::{Asked, HostileSite, Step, html, links, reply};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use super::terminal::on_a_terminal;
use super::{Ran, command, dragline};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
const PATHS: [&str; 7] = ["/tagged", "/same", "/coded", "/broken", "/gone", "/image", "/away"];

fn coded(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).expect("a vector takes everything");
    encoder.finish().expect("a vector takes everything")
}

/// A site whose pages answer differently in the iterations 1 to 4.
fn answer(asked: &Asked) -> Vec<Step> {
    let (iteration, is_conditional) = (asked.earlier + 1, asked.field("if-none-match").is_some());
    let tagged = |tag: &str, text: &str| reply(200, &["content-type: text/html", &format!("etag: \"{tag}\"")], text);
    match (asked.target.as_str(), iteration) {
        ("/robots.txt", _) => reply(200, &[], "User-agent: *\nDisallow: /private\n"),
        ("/", _) => html(links(PATHS.into_iter().chain(["/private"]))),
        ("/tagged", 1) => tagged("1", "tagged first"),
        ("/tagged", 3) => tagged("3", "tagged third"),
        ("/same", 1..=3) => html("same first"),
        ("/same", _) => html("same fourth"),
        ("/coded", _) => reply(200, &["content-type: text/html", "content-encoding: gzip"], coded("coded")),
        ("/broken", 1) => tagged("1", "broken first"),
        ("/broken", 2) => reply(500, &["content-type: text/html"], "an error"),
        ("/gone", 1) => html("gone first"),
        ("/gone", _) => reply(404, &["content-type: text/html"], "not found"),
        ("/image", _) => reply(200, &["content-type: image/png"], PNG),
        ("/away", _) => html("away first"),
        ("/tagged" | "/broken", _) if is_conditional => reply(304, &["x-odd: of the 304"], ""),
        _ => reply(404, &[], "unexpected"),
    }
}

/// A data directory with four iterations.
struct Crawled {
    site: HostileSite,
    directory: tempfile::TempDir,
}

impl Crawled {
    async fn new() -> Self {
        let site = HostileSite::start(answer).await;
        let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room for a directory"));
        tokio::task::block_in_place(|| {
            let definition =
                format!("name: docs\nseeds: ['{seed}']\npoliteness: {{delay: 0s}}\nfetch: {{retries: 0}}\n");
            for iteration in 1..=4 {
                let exclude = if iteration > 1 { "scope: {exclude: ['/away$']}\n" } else { "" };
                fs::write(directory.path().join("crawl.yaml"), format!("{definition}{exclude}")).expect("it is ours");
                let ran = dragline(directory.path(), &["crawl", "crawl.yaml", "--allow-private"]);
                assert!(ran.stderr.contains(&format!("docs: iteration {iteration} is over")), "{}", ran.stderr);
            }
        });
        Self { site, directory }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn get(&self, path: &str, more: &[&str]) -> Ran {
        dragline(self.path(), &[&["get", &self.site.url(path)], more].concat())
    }

    /// Returns the printed bytes.
    fn bytes(&self, path: &str, more: &[&str]) -> Vec<u8> {
        let output = command(self.path(), &[&["get", &self.site.url(path)], more].concat())
            .output()
            .expect("the command was built");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()), "{path}");
        output.stdout
    }

    /// Returns the visits of a URL.
    fn history(&self, path: &str) -> Vec<Value> {
        let ran = dragline(self.path(), &["history", &self.site.url(path), "--format", "jsonl"]);
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_body_is_the_one_that_the_url_had_in_the_iteration() {
    let crawled = Crawled::new().await;
    tokio::task::block_in_place(|| {
        let outcomes = |path: &str| -> Vec<u64> {
            crawled.history(path).iter().filter_map(|visit| visit["status"].as_u64()).collect()
        };
        assert_eq!(outcomes("/tagged"), [200, 304, 200, 304]);
        assert_eq!(outcomes("/broken"), [200, 500, 304, 304], "the tag is kept over the error");
        for (path, iteration, expected, why) in [
            ("/tagged", "", "tagged third", "the newest visit answered 304"),
            ("/tagged", "1", "tagged first", "the first"),
            ("/tagged", "2", "tagged first", "304, with the body of the iteration before"),
            ("/tagged", "3", "tagged third", "changed"),
            ("/tagged", "4", "tagged third", "304 again"),
            ("/same", "2", "same first", "the same body without a 304"),
            ("/same", "3", "same first", "and once more"),
            ("/same", "", "same fourth", "changed"),
            ("/coded", "", "coded", "the coding is undone"),
            ("/broken", "3", "broken first", "304, of the body before the error"),
            ("/broken", "", "broken first", "and once more"),
            ("/gone", "1", "gone first", "before it was gone"),
        ] {
            let iteration = if iteration.is_empty() { vec![] } else { vec!["--iteration", iteration] };
            let ran = crawled.get(path, &iteration);
            assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (Some(0), expected, ""), "{path} {iteration:?}: {why}");
        }
        assert_eq!(crawled.bytes("/image", &[]), PNG, "every byte");
        assert_eq!(crawled.bytes("/coded", &["--raw"]), coded("coded"), "as it was received");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notes_on_a_body_go_to_standard_error() {
    let crawled = Crawled::new().await;
    tokio::task::block_in_place(|| {
        for (path, arguments, body, said) in [
            // Whether a page that is gone is requested in the next iteration depends on how soon
            // that is.
            (
                "/gone",
                &["--iteration", "2"][..],
                "not found",
                "the answer in iteration 2 had status 404 (file_not_found)\n",
            ),
            (
                "/broken",
                &["--iteration", "2"],
                "an error",
                "the answer in iteration 2 had status 500 (server_internal_error)\n",
            ),
            ("/away", &[], "away first", "there was no answer in iteration 2 (blocked_url_by_local_policy: "),
        ] {
            let ran = crawled.get(path, arguments);
            assert_eq!((ran.code, &*ran.stdout), (Some(0), body), "{path}: {}", ran.stderr);
            assert!(ran.stderr.starts_with(said) && ran.stderr.lines().count() == 1, "{path}: {}", ran.stderr);
        }
        let away = format!("hint: to list its visits: `dragline history '{}'`\n", crawled.site.url("/away"));
        assert!(crawled.get("/away", &["--iteration", "2"]).stderr.ends_with(&away), "what to do, for a shell");
        for (path, arguments, said) in [
            ("/away", &["--iteration", "2"][..], " was not answered in iteration 2: blocked_url_by_local_policy: "),
            ("/private", &[], " was not answered: blocked_by_robots_txt: "),
            ("/nowhere", &[], "the crawl `docs` does not know http"),
            ("/same", &["--iteration", "5"], "the crawl `docs` has no iteration 5; the latest is 4"),
        ] {
            let ran = crawled.get(path, arguments);
            assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{path}: {}", ran.stderr);
            assert!(ran.stderr.contains("error: ") && ran.stderr.contains(said), "{path}: {}", ran.stderr);
        }
        let asked = crawled.get("/nowhere", &[]).stderr;
        assert!(asked.contains("was not answered: private address"), "its site is asked: {asked}");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_is_printed_with_its_own_header() {
    let crawled = Crawled::new().await;
    tokio::task::block_in_place(|| {
        let with_header = crawled.get("/tagged", &["--headers"]).stdout;
        let (head, body) = with_header.split_once("\r\n\r\n").expect("an empty line is in between");
        assert_eq!(body, "tagged third");
        let mut lines = head.split("\r\n");
        assert_eq!(lines.next(), Some("HTTP/1.1 200 Said"), "of the answer with the body, not of the 304: {head}");
        assert!(lines.clone().any(|line| line == "etag: \"3\"") && !head.contains("x-odd"), "{head}");
        let (code, shown) = on_a_terminal(crawled.path(), &["get", &crawled.site.url("/tagged"), "--headers"]);
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.starts_with("HTTP/1.1 200 Said\r\n") && shown.ends_with("\r\n\r\ntagged third"), "{shown:?}");
        let (code, refused) = on_a_terminal(crawled.path(), &["get", &crawled.site.url("/image"), "--headers"]);
        assert_eq!(code, Some(2), "{refused}");
        assert!(refused.contains("the body is not text") && refused.contains("add `> FILE`"), "{refused}");
        assert!(!refused.contains("IHDR"), "nothing of it is shown: {}", refused.escape_debug());
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_and_missing_records_are_refused() {
    let crawled = Crawled::new().await;
    tokio::task::block_in_place(|| {
        let visit = crawled.history("/tagged").swap_remove(0);
        let object = visit["object"].as_str().unwrap();
        let (file, offset) = (crawled.path().join("dragline-data").join(object), visit["offset"].as_u64().unwrap());
        let (start, length) =
            (usize::try_from(offset).unwrap(), usize::try_from(visit["length"].as_u64().unwrap()).unwrap());
        let good = fs::read(&file).unwrap();
        let refused = |said: &str, why: &str| {
            for iteration in ["1", "2"] {
                let ran = crawled.get("/tagged", &["--iteration", iteration]);
                assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{why}: {}", ran.stderr);
                assert_eq!(ran.stderr.lines().count(), 1, "{why}: {}", ran.stderr);
                assert!(ran.stderr.contains(said), "{why}, by iteration {iteration}: {}", ran.stderr);
            }
        };
        let mut flipped = good.clone();
        flipped[start + length / 2] ^= 1;
        fs::write(&file, flipped).unwrap();
        refused(&format!("the record at byte {offset} of {object} is damaged: "), "a bit is wrong");
        fs::write(&file, &good[..start + length / 2]).unwrap();
        refused("is damaged: the file ends within the record", "the end is missing");
        fs::remove_file(&file).unwrap();
        refused(&format!("{object} is missing"), "somebody deleted it");
        assert_eq!(crawled.get("/tagged", &[]).stdout, "tagged third", "another object has that");
    });
}

/// A page with navigation, an article and a remark at its end.
fn story(asked: &Asked) -> Vec<Step> {
    let prose = "The ship sailed at noon, with grain, and with everybody who had paid for it in time. ".repeat(4);
    let page = format!(
        "<html lang=en><title>The ship that sailed at noon</title><meta name=author content='Ann Writer'><nav><a href=/>Home</a></nav><article>
         <h1>The ship that sailed at noon</h1><p>{prose}</p><h2>Its <em>cargo</em></h2><p>{prose}<a href=/log>The log</a>.</p><ul><li>grain<li>rope</ul>
         <p>Sign up for our letters \u{1b}[31m</p></article>"
    );
    match asked.target.as_str() {
        "/" => reply(200, &["content-type: text/html; charset=utf-8", "content-encoding: gzip"], coded(&page)),
        "/menu" => html("<form><input></form>"),
        _ => reply(404, &[], ""),
    }
}

/// Two PDFs, one of which is encrypted, and a picture.
fn files(asked: &Asked) -> Vec<Step> {
    let content = "BT /F 12 Tf 72 700 Td (Hello) Tj 0 -14 Td [(big) -300 (world)] TJ ET";
    let pdf = format!(
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
         3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n\
         4 0 obj<</Length {}>>stream\n{content}\nendstream endobj\n\
         5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n\
         6 0 obj<</Title(Report)>>endobj\ntrailer<</Root 1 0 R/Info 6 0 R/Size 7>>\nstartxref\n0\n%%EOF",
        content.len()
    );
    match asked.target.as_str() {
        "/report.pdf" => reply(200, &["content-type: application/pdf"], pdf),
        "/secret.pdf" => {
            reply(200, &["content-type: application/pdf"], pdf.replace("/Info 6 0 R", "/Info 6 0 R/Encrypt 9 0 R"))
        }
        "/a.png" => reply(200, &["content-type: image/png"], "\u{89}PNG"),
        _ => reply(404, &[], ""),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_of_a_file_is_printed_or_why_it_cannot_be_read() {
    let site = HostileSite::start(files).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let urls = ["/report.pdf", "/secret.pdf", "/a.png"].map(|path| site.url(path));
    tokio::task::block_in_place(|| {
        let [report, secret, picture] = &urls;
        dragline(directory.path(), &["crawl", report, secret, picture, "--allow-private", "--delay", "0s"]);
        let get = |url: &str, form: &str| dragline(directory.path(), &["get", url, "--as", form]);
        assert_eq!(get(report, "text").stdout, "Hello\nbig world\n");
        assert_eq!(get(report, "markdown").stdout, "Hello\nbig world\n");
        let json: Value = serde_json::from_str(&get(report, "json").stdout).expect("it is JSON");
        assert_eq!((&json["title"], &json["words"]), (&"Report".into(), &3.into()));
        for (url, why) in [(secret, "the file is encrypted"), (picture, "neither an HTML page nor a file")] {
            let refused = get(url, "text");
            assert!(refused.stdout.is_empty() && refused.stderr.contains(why), "{}", refused.stderr);
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_part_of_a_page_is_printed_in_several_forms() {
    let site = HostileSite::start(story).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let (url, menu) = (site.url("/"), site.url("/menu"));
    tokio::task::block_in_place(|| {
        dragline(directory.path(), &["crawl", &url, &menu, "--allow-private", "--delay", "0s"]);
        let get = |url: &str, form: &str| dragline(directory.path(), &["get", url, "--as", form]);
        let text = get(&url, "text").stdout;
        assert!(text.starts_with("The ship sailed at noon, with grain") && text.contains("grain\nrope\n"), "{text}");
        let markdown = get(&url, "markdown").stdout;
        assert!(
            markdown.contains("## Its *cargo*") && markdown.contains(&format!("[The log]({url}log)")),
            "{markdown}"
        );
        let json: Value = serde_json::from_str(&get(&url, "json").stdout).expect("it is JSON");
        assert_eq!(json["url"], url);
        assert_eq!(
            (&json["title"], &json["byline"], &json["language"]),
            (&"The ship that sailed at noon".into(), &"Ann Writer".into(), &"en".into())
        );
        assert_eq!(json["text"].as_str().expect("it is a text"), text.trim_end());
        let none = get(&menu, "text");
        assert!(none.stdout.is_empty() && none.stderr.contains("it has no main text"), "{}", none.stderr);
        assert!(none.stderr.contains("leave out `--as`"), "{}", none.stderr);
    });
}
