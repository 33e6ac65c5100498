//! Nothing of a page leaves the browser but by the network that we are.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use dragline_browser::{BrowserRenderer, BrowserSettings, Namespace, Processes};
use dragline_domain::url::CrawlUrl;
use dragline_ports::renderer::{RenderEnd, RenderRequest};
use tokio::process::Command;
use tokio::time::{sleep, timeout};

use crate::counter::Counter;
use crate::site::{Site, page, render};

/// The browser itself, for the control.
const PROGRAM: &str = "/usr/lib/chromium/chromium-headless-shell";

/// Some of what the page asks for in any of its parts, all of which is asked of us.
const MEDIATED: [&str; 6] = ["/fetch", "/frame", "/worker-fetch", "/worker-file-fetch", "/nested-import", "/import"];

/// What is not the page's own: it comes later than its end.
const LATE: Duration = Duration::from_millis(700);

fn escape_page(port: u16) -> String {
    let page = include_str!("escape.html").replace("AWAY", &format!("http://127.0.0.1:{port}"));
    page.replace("PORT", &port.to_string())
}

/// The page's own site, whose redirects and workers lead to the counter as well.
fn site(port: u16) -> Site {
    let worker = format!(
        "const away = 'http://127.0.0.1:{port}';
         fetch(away + '/worker-file-fetch').catch(() => {{}});
         try {{ importScripts(away + '/worker-file-import') }} catch {{}}
         try {{ new WebSocket('ws://127.0.0.1:{port}/worker-file-socket') }} catch {{}}
         try {{ new Worker('/nested.js') }} catch {{}}"
    );
    let nested = format!("importScripts('http://127.0.0.1:{port}/nested-import')");
    let files = Site::new(&[
        ("/worker.js", "text/javascript", &worker),
        ("/worker.mjs", "text/javascript", &worker),
        ("/nested.js", "text/javascript", &nested),
    ]);
    ["/redirected", "/redirected-frame", "/redirected-script", "/redirected-data"]
        .into_iter()
        .fold(files, |site, path| site.redirected(path, &format!("http://127.0.0.1:{port}{path}")))
}

/// The page, which its server sends with fields that have browsers request something.
fn request(url: &str, port: u16) -> RenderRequest {
    let mut request = page(url, &escape_page(port));
    let away = format!("http://127.0.0.1:{port}");
    for (name, value) in [
        ("Link", format!("<{away}/field-preload>; rel=preload; as=script, <{away}>; rel=preconnect")),
        ("Report-To", format!(r#"{{"group":"a","max_age":99,"endpoints":[{{"url":"{away}/field-report"}}]}}"#)),
        ("NEL", r#"{"report_to":"a","max_age":99,"success_fraction":1}"#.to_owned()),
        ("Content-Security-Policy-Report-Only", format!("img-src 'none'; report-uri {away}/field-policy")),
        ("Speculation-Rules", format!(r#""{away}/field-rules""#)),
        ("Alt-Svc", format!(r#"h3="127.0.0.1:{port}""#)),
        ("Refresh", format!("3; url={away}/field-refresh")),
    ] {
        request.response.headers.push(name, value);
    }
    request
}

/// Renders the page, and returns what arrived at the counter, and what was asked of us for it.
pub(crate) async fn render_escape(settings: BrowserSettings, urls: &[&str]) -> (Vec<String>, Vec<CrawlUrl>) {
    let counter = Counter::listen(escape_page).await;
    let renderer = BrowserRenderer::new(settings);
    let mut asked = Vec::new();
    for url in urls {
        let site = Arc::new(site(counter.port));
        let mut request = request(url, counter.port);
        request.limits.requests_max = 500;
        let rendered = render(&renderer, request, &site).await.unwrap();
        assert!(rendered.html.contains("The way out"), "{rendered:?}");
        assert_ne!(rendered.ended, RenderEnd::Stopped);
        let away = format!("http://127.0.0.1:{}", counter.port);
        let is_away = |url: &CrawlUrl| url.as_str().starts_with(&away);
        assert!(rendered.navigations.iter().any(is_away), "{:?}", rendered.navigations);
        asked.extend(site.asked().into_iter().map(|asked| asked.url).filter(is_away));
    }
    sleep(LATE).await;
    drop(renderer);
    (counter.seen(), asked)
}

/// What is wrong with a rendering of the page: what arrived at the counter, and what was not asked
/// of us although the browser asks for it.
pub(crate) fn flaws(seen: &[String], asked: &[CrawlUrl]) -> Vec<String> {
    let is_asked = |path: &str| asked.iter().any(|url| url.path_and_query() == path);
    let missed = MEDIATED.into_iter().filter(|path| !is_asked(path)).map(|path| format!("not asked of us: {path}"));
    seen.iter().map(|seen| format!("it left: {seen}")).chain(missed).collect()
}

#[tokio::test]
async fn nothing_leaves_a_browser_that_has_a_namespace() {
    let urls = ["http://site.test/", "https://site.test/"];
    let (seen, asked) = render_escape(BrowserSettings::default(), &urls).await;
    assert_eq!(flaws(&seen, &asked), [""; 0]);
    assert!(asked.len() > 30, "it tried: {asked:#?}");
}

#[tokio::test]
async fn nothing_leaves_a_browser_without_a_namespace_either() {
    for processes in [Processes::Several, Processes::One] {
        let settings = BrowserSettings { namespace: Namespace::Unused, processes, ..BrowserSettings::default() };
        let (seen, asked) = render_escape(settings, &["http://site.test/", "https://site.test/"]).await;
        assert_eq!(flaws(&seen, &asked), [""; 0], "{processes:?}");
        assert!(asked.len() > 30, "{processes:?}: it tried: {asked:#?}");
    }
}

/// As a function of a stack has it.
#[tokio::test]
async fn nothing_leaves_the_browser_of_the_layer() {
    let layer = std::env::var_os("DRAGLINE_BROWSER_LAYER");
    let layer = PathBuf::from(layer.expect("the browser of a layer. hint: tests/browser_engine/run"));
    let (directory, fonts) = (layer.join("chromium"), tempfile::tempdir().unwrap());
    // Its own settings name the fonts where a function has them, and without any it ends.
    let (there, cache) = (layer.join("fonts"), fonts.path().join("cache"));
    let named =
        format!("<fontconfig><dir>{}</dir><cachedir>{}</cachedir></fontconfig>", there.display(), cache.display());
    std::fs::write(fonts.path().join("fonts.conf"), named).unwrap();
    let settings = BrowserSettings {
        program: Some(directory.join("chromium")),
        namespace: Namespace::Unused,
        processes: Processes::One,
        environment: vec![
            ("LD_LIBRARY_PATH".into(), directory.join("lib").into()),
            ("FONTCONFIG_PATH".into(), fonts.path().into()),
        ],
        ..BrowserSettings::default()
    };
    let (seen, asked) = render_escape(settings, &["http://site.test/", "https://site.test/"]).await;
    assert_eq!(flaws(&seen, &asked), [""; 0]);
    assert!(asked.len() > 30, "it tried: {asked:#?}");
}

/// The control: the same page in a browser that nobody holds back. If this fails, the others say
/// nothing.
#[tokio::test]
async fn the_counter_counts_what_leaves_an_ordinary_browser() {
    let counter = Counter::listen(escape_page).await;
    let profile = tempfile::tempdir().unwrap();
    let mut browser = Command::new(PROGRAM)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("http://127.0.0.1:{}/", counter.port))
        .env("HOME", profile.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let is_enough = || {
        let seen = counter.seen();
        let has = |part: &str| seen.iter().any(|seen| seen.contains(part));
        seen.len() > 40 && ["UDP", "/socket ", "/rules-prefetch", "/beacon "].into_iter().all(has)
    };
    let counted = timeout(Duration::from_secs(20), async {
        while !is_enough() {
            sleep(Duration::from_millis(50)).await;
        }
    });
    let counted = counted.await;
    browser.kill().await.unwrap();
    assert!(counted.is_ok(), "{} arrived: {:#?}", counter.seen().len(), counter.seen());
}
