//! Pages that are asked for now, and sites that are named without a scheme.

use dragline_testkit::hostile::{Asked, HostileSite, Step, html, reply};
use serde_json::Value;

use super::{Ran, command, dragline_alone, ran};

fn answer(asked: &Asked) -> Vec<Step> {
    match asked.target.as_str() {
        "/robots.txt" => reply(200, &[], "User-agent: *\nDisallow: /private\nCrawl-delay: 0\n"),
        "/" => html("<title>Home</title><nav>menu</nav><main><h1>Hello</h1><p>A first page.</p></main>"),
        "/old" => reply(301, &["location: /"], ""),
        "/loop" => reply(302, &["location: /loop"], ""),
        "/refused" => reply(403, &[], "no"),
        _ => reply(404, &[], "nothing"),
    }
}

/// The host and port of a site, without a scheme.
fn bare(site: &HostileSite, path: &str) -> String {
    site.url(path).strip_prefix("http://").expect("it speaks plain HTTP").to_owned()
}

fn get(arguments: &[&str]) -> Ran {
    dragline_alone(&[&["get", "--allow-private"], arguments].concat())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_printed_without_a_crawl() {
    let site = HostileSite::start(answer).await;
    let url = |path| site.url(path);
    tokio::task::block_in_place(|| {
        let markdown = get(&[&url("/old"), "--as", "markdown"]);
        assert_eq!(markdown.code, Some(0), "{}", markdown.stderr);
        assert!(
            markdown.stdout.contains("# Hello") && markdown.stdout.contains("A first page."),
            "{}",
            markdown.stdout
        );
        assert!(!markdown.stdout.contains("menu"), "the main part alone: {}", markdown.stdout);
        assert_eq!(markdown.stderr, format!("{} leads to {}\n", url("/old"), url("/")));
        let whole = get(&[&url("/"), "--as", "html"]);
        assert!(whole.stdout.contains("<nav>menu</nav>"), "{}", whole.stdout);
        for (path, said) in [
            ("/private/a", "may not be requested, by robots.txt: "),
            ("/refused", "was answered with status 403\nhint: sites may refuse whom they do not know"),
            ("/nothing", "was answered with status 404\n"),
            ("/loop", "comes after 5 redirects"),
        ] {
            let failed = get(&[&url(path)]);
            assert_eq!((failed.code, &*failed.stdout), (Some(2), ""), "{path}: {}", failed.stderr);
            assert!(failed.stderr.starts_with("error: ") && failed.stderr.contains(said), "{path}: {}", failed.stderr);
        }
        assert!(!site.targets().contains(&"/private/a".to_owned()), "robots.txt was obeyed");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_pages_are_lines_of_json_and_each_has_its_own_error() {
    let site = HostileSite::start(answer).await;
    tokio::task::block_in_place(|| {
        let ran = get(&[&site.url("/"), &site.url("/nothing")]);
        assert_eq!(ran.code, Some(1), "one failed: {}", ran.stderr);
        let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(lines.len(), 2, "{}", ran.stdout);
        assert_eq!((&lines[0]["url"], &lines[0]["title"]), (&Value::from(site.url("/")), &Value::from("Home")));
        assert!(lines[1]["error"].as_str().expect("an error").contains("status 404"), "{}", lines[1]);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_without_a_scheme_is_asked_which_it_answers() {
    let site = HostileSite::start(answer).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let page = get(&[&bare(&site, "/"), "--as", "text"]);
        assert_eq!(page.code, Some(0), "{}", page.stderr);
        assert!(page.stdout.contains("A first page."), "{}", page.stdout);
        assert!(page.stderr.contains(&format!(", but {} has\n", site.url("/"))), "{}", page.stderr);
        let arguments = ["crawl", &bare(&site, "/"), "--allow-private", "--delay", "0s"];
        let crawl = ran(command(directory.path(), &arguments).env("DRAGLINE_DATA", "kept"));
        assert_eq!(crawl.code, Some(0), "{}", crawl.stderr);
        assert!(directory.path().join("kept/dragline.db").is_file(), "the variable names the directory");
        let status = ran(command(directory.path(), &["status"]).env("DRAGLINE_DATA", "kept"));
        assert!(status.stdout.contains("1 page, 0 waiting"), "{}", status.stdout);
        assert!(status.stdout.contains("dragline report -o report.html "), "no flag is needed: {}", status.stdout);
    });
}
