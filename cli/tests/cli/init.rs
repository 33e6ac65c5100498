//! `init` on sites of this machine.

use std::fs;
use std::path::Path;

use dragline_testkit::hostile::{Asked, HostileSite, Step, html, reply};

use super::{Ran, command, ran};

const PAGE: &str = "<html lang=en><title>A \u{1b}[31mlibrary: # 'of' \"all\"</title>\
    <meta name=generator content='MediaWiki 1.43.0&#10;seeds: []'>\
    <link rel=alternate type=application/rss+xml href='/feed.xml?a=1,2'>\
    <link rel=alternate hreflang=de href='/de/'><link rel=alternate hreflang=x-default href='/'>\
    <script type=application/ld+json>{\"@context\":\"https://schema.org\",\"@type\":\"Library\",\"name\":\"All\"}</script>\
    <p>This page has enough words that nobody would think that scripts have to fill it.";

/// Returns a page with everything behind a redirect.
fn full(asked: &Asked) -> Vec<Step> {
    match asked.target.as_str() {
        "/robots.txt" => reply(
            200,
            &["content-type: text/plain"],
            "User-agent: *\nCrawl-delay: 1.5\nDisallow: /private\nSitemap: /sitemaps.xml\n",
        ),
        "/" => reply(302, &["location: /wiki/Main"], ""),
        "/wiki/Main" => html(PAGE),
        "/sitemaps.xml" => {
            xml("<sitemapindex><sitemap><loc>/1.xml</loc></sitemap><sitemap><loc>/2.xml</loc></sitemap></sitemapindex>")
        }
        "/1.xml" => xml(
            "<urlset><url><loc>/wiki/Main</loc></url><url><loc>/wiki/A</loc></url><url><loc>https://a.example/</loc></url></urlset>",
        ),
        _ => reply(404, &[], ""),
    }
}

fn xml(body: &str) -> Vec<Step> {
    reply(200, &["content-type: application/xml"], body)
}

/// Runs `init` for a page of the site.
fn init(directory: &Path, url: &str, arguments: &[&str]) -> Ran {
    tokio::task::block_in_place(|| {
        ran(&mut command(directory, &[&["init", url, "--allow-private"], arguments].concat()))
    })
}

/// Returns a text without the port of the site, which differs each time.
fn without_port(text: &str, site: &HostileSite) -> String {
    let origin = site.origin();
    let port = origin.rsplit(':').next().expect("it has a port");
    text.replace(&format!(":{port}"), ":PORT")
}

/// Checks that a definition is valid, and that the seed would be crawled by it.
fn check_definition(directory: &Path, file: &str, seed: &str) {
    let explained =
        tokio::task::block_in_place(|| ran(&mut command(directory, &["explain", seed, "-f", file, "--allow-private"])));
    assert_eq!(explained.code, Some(0), "{}{}", explained.stdout, explained.stderr);
}

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is room for a directory")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_definition_is_written_for_a_site() {
    let site = HostileSite::start(full).await;
    let directory = directory();
    let made = init(directory.path(), &site.url("/"), &[]);
    assert_eq!((made.code, made.stdout.as_str()), (Some(0), ""), "{}", made.stderr);
    insta::assert_snapshot!("init_told", without_port(&made.stderr, &site));
    let written = fs::read_to_string(directory.path().join("crawl.yaml")).expect("it was written");
    insta::assert_snapshot!("init_full", without_port(&written, &site));
    let asked = site.targets();
    assert_eq!(asked, ["/robots.txt", "/", "/wiki/Main", "/sitemaps.xml", "/1.xml"], "few, and robots.txt first");
    check_definition(directory.path(), "crawl.yaml", &site.url("/wiki/Main"));

    let asked = site.targets().len();
    let again = init(directory.path(), &site.url("/"), &[]);
    assert_eq!(again.code, Some(2), "a file is never overwritten");
    assert!(again.stderr.starts_with("error: crawl.yaml exists already\nhint: name another file"), "{}", again.stderr);
    assert_eq!(site.targets().len(), asked, "and no request is made in vain");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bare_site_gets_a_definition_on_standard_output() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/" => html("<p>one page"),
        _ => reply(404, &[], ""),
    })
    .await;
    let directory = directory();
    let made = init(directory.path(), &site.url("/"), &["-o", "-"]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    insta::assert_snapshot!("init_bare", without_port(&made.stdout, &site));
    fs::write(directory.path().join("bare.yaml"), &made.stdout).expect("there is room for a file");
    check_definition(directory.path(), "bare.yaml", &site.url("/"));
    assert!(!directory.path().join("crawl.yaml").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_written_where_nothing_may_be_asked() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(200, &[], "User-agent: *\nDisallow: /private\n"),
        "/moved" => reply(301, &["location: /private"], ""),
        _ => reply(404, &[], ""),
    })
    .await;
    let directory = directory();
    for (path, said, why) in [
        ("/private", "may not be requested, by robots.txt: robots.txt line 2", "robots.txt forbids it"),
        ("/moved", "/private may not be requested, by robots.txt", "and what a URL leads to"),
        ("/gone", "was answered with status 404", "there is no page"),
    ] {
        let made = init(directory.path(), &site.url(path), &[]);
        assert_eq!(made.code, Some(2), "{why}: {}", made.stderr);
        assert!(made.stderr.contains(said) && made.stderr.contains("\nhint: "), "{why}: {}", made.stderr);
    }
    let url = site.url("/");
    let private = tokio::task::block_in_place(|| ran(&mut command(directory.path(), &["init", &url])));
    assert!(private.code == Some(2) && private.stderr.contains("`--allow-private`"), "{}", private.stderr);
    assert!(!site.targets().contains(&"/private".to_owned()));
    assert_eq!(fs::read_dir(directory.path()).expect("it is there").count(), 0, "no file");
}
