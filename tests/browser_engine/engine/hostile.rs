//! Pages that misbehave end within their limits, as values, and the next page is rendered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dragline_ports::renderer::RenderEnd::{self, PageTime, Quiet, Stopped, WallTime};
use dragline_ports::renderer::{DomExtent, RenderFailure, RenderRequest};

use crate::site::{Site, page, render, renderer, response};

/// The limit of pages that never end by themselves, and of those that do, on a machine that does
/// other things.
const SHORT: Duration = Duration::from_secs(3);
const LONG: Duration = Duration::from_secs(15);

/// How much longer it takes at most to read a page, stop it, and read it again.
const MORE_TIME: Duration = Duration::from_secs(15);

const DOM_BYTES_MAX: usize = 100_000;

const GOOD: &str = "<!doctype html><script>document.write('<p>Good</p>')</script>";

/// A page may misbehave for as long as the machine is slow, so some of them end in several ways.
const ANY: &[RenderEnd] = &[Quiet, PageTime, WallTime, Stopped];

fn limited(html: &str, wall_time: Duration) -> RenderRequest {
    let mut request = page("https://hostile.test/", html);
    request.limits.wall_time = wall_time;
    request.limits.dom_bytes_max = DOM_BYTES_MAX;
    request
}

/// How a page may end.
enum Expected {
    /// Rendered, in one of these ways, with this in its document.
    Ends(&'static [RenderEnd], &'static str),
    /// Rendered in one of these ways, or not, as it crashed, hung or closed itself.
    EndsOrFails(&'static [RenderEnd]),
}
use Expected::{Ends, EndsOrFails};

/// Renders pages of this script, after a paragraph, and a good page after each, in one browser.
#[expect(clippy::disallowed_methods, reason = "it is the time taken that is tested")]
async fn check(wall_time: Duration, scripts: &[(&str, Expected)]) {
    let renderer = renderer();
    for (script, expected) in scripts {
        let frames = "<iframe src=/self></iframe><iframe src=/self></iframe>";
        let site = Site::new(&[("/self", "text/html", frames), ("/loop.js", "text/javascript", "for (;;);")]);
        let html = format!("<!doctype html><body><p>Before</p><iframe></iframe><script>{script}</script>");
        let began = Instant::now();
        let rendered = render(&renderer, limited(&html, wall_time), &Arc::new(site.silent_at("/silent"))).await;
        let took = began.elapsed();
        assert!(took < wall_time + MORE_TIME, "{took:?}: {script}");
        match (&rendered, expected) {
            (Ok(page), Ends(ends, part)) => {
                assert!(ends.contains(&page.ended) && page.html.contains(part), "{page:?}: {script}");
            }
            (Ok(page), EndsOrFails(ends)) => assert!(ends.contains(&page.ended), "{page:?}: {script}"),
            (Err(RenderFailure::Crashed | RenderFailure::Hung | RenderFailure::NotShown), EndsOrFails(_)) => {}
            (Err(failure), _) => panic!("{failure}: {script}"),
        }
        assert!(rendered.as_ref().is_ok_and(|page| page.html.len() <= DOM_BYTES_MAX) || rendered.is_err(), "{script}");
        let good = render(&renderer, page("https://good.test/", GOOD), &Arc::new(Site::default())).await.unwrap();
        assert!(good.html.contains("<p>Good</p>") && good.ended == Quiet, "after {script}: {good:?}");
    }
}

#[tokio::test]
async fn pages_that_compute_for_ever() {
    check(
        SHORT,
        &[
            ("for (;;);", Ends(&[Stopped], "<p>Before</p>")),
            ("setTimeout(() => { for (;;); }, 100)", Ends(&[Stopped], "<p>Before</p>")),
            ("new Worker('/loop.js')", Ends(&[Quiet, WallTime], "<p>Before</p>")),
            ("setInterval(() => { for (let i = 0; i < 1e8; i++); }, 0)", Ends(ANY, "<p>Before</p>")),
        ],
    )
    .await;
}

#[tokio::test]
async fn pages_that_take_all_memory() {
    const BUFFERS: &str = "const all = [];
        try { for (;;) all.push(new Uint8Array(64 << 20).fill(1)) }
        catch { document.body.append('refused after ' + (all.length < 40 ? 'some' : 'many')) }";
    const ELEMENTS: &str = "setInterval(() => {
        document.body.append(...Array.from({length: 500}, () => document.createElement('i')));
        }, 1)";
    const SHADOWS: &str = "let tree = document.body;
        for (let i = 0; i < 3000; i++) {
          const element = document.createElement('div');
          tree.append(element);
          tree = element.attachShadow({mode: 'open'});
        }";
    check(
        SHORT,
        &[
            ("const again = () => Promise.resolve().then(again); again()", EndsOrFails(&[Stopped])),
            ("const all = []; for (;;) all.push(new Array(1000000).fill(1.5))", EndsOrFails(&[Stopped])),
            (ELEMENTS, Ends(ANY, "<p>Before</p>")),
            (SHADOWS, EndsOrFails(ANY)),
        ],
    )
    .await;
    check(LONG, &[(BUFFERS, Ends(ANY, "refused after some"))]).await;
}

#[tokio::test]
async fn pages_that_ask_for_ever() {
    check(
        SHORT,
        &[
            ("fetch('/silent')", Ends(&[WallTime], "<p>Before</p>")),
            ("document.write('<script src=/silent><' + '/script>After')", Ends(&[WallTime], "<p>Before</p>")),
            (
                "let n = 0; const again = () => fetch('/' + n++).catch(() => {}).finally(again); again()",
                Ends(ANY, "Before"),
            ),
            ("for (let i = 0; i < 20000; i++) fetch('/' + i).catch(() => {})", EndsOrFails(ANY)),
            ("document.querySelector('iframe').src = '/self'", Ends(ANY, "<p>Before</p>")),
            ("setInterval(() => location.reload(), 10)", Ends(&[Quiet, WallTime], "<p>Before</p>")),
        ],
    )
    .await;
}

#[tokio::test]
async fn pages_that_stand_in_the_way() {
    const PROTOTYPES: &str = "
        for (const name of ['outerHTML', 'innerHTML', 'shadowRoot', 'tagName', 'attributes'])
          Object.defineProperty(Element.prototype, name, {get: () => 'False'});
        Element.prototype.getHTML = Document.prototype.querySelectorAll = Node.prototype.cloneNode = () => 'False';
        String.prototype.slice = String.prototype.toWellFormed = Array.prototype.push = () => 'False';
        Object.defineProperty(Document.prototype, 'documentElement', {get: () => null});
        globalThis.Promise = globalThis.requestAnimationFrame = globalThis.JSON = null;";
    const POLICY: &str = "document.head.innerHTML = `<meta http-equiv=Content-Security-Policy
        content=\"default-src 'none'; require-trusted-types-for 'script'\">`";
    check(LONG, &[
        (
            r"alert('\ud800'); confirm('x'); prompt('x'); print(); onbeforeunload = () => 'x'; document.write('After')",
            Ends(&[Quiet], "After"),
        ),
        (
            "for (let i = 0; i < 5; i++) { open('/popup'); open('about:blank') } document.write('After')",
            Ends(&[Quiet], "After"),
        ),
        (PROTOTYPES, Ends(&[Quiet], "<p>Before</p>")),
        (POLICY, Ends(&[Quiet], "<p>Before</p>")),
        ("document.documentElement.remove()", Ends(&[Quiet], "")),
        (r"document.body.append('\ud800 half')", Ends(&[Quiet], "\u{fffd} half")),
        (
            "setTimeout(() => { document.open(); document.write('<p>Anew</p>'); document.close() }, 50)",
            Ends(&[Quiet], "<p>Anew</p>"),
        ),
    ])
    .await;
}

#[tokio::test]
async fn pages_that_leave_by_a_way_that_takes_no_request() {
    const STAYS: Expected = Ends(&[Quiet], "<p>Before</p>");
    check(
        LONG,
        &[
            ("location = 'about:blank'", STAYS),
            ("location = URL.createObjectURL(new Blob(['<p>Else</p>'], {type: 'text/html'}))", STAYS),
            ("location = 'data:text/html,<p>Else</p>'", STAYS),
            ("open('about:blank', '_self')", STAYS),
            ("Object.assign(document.createElement('a'), {href: 'about:blank'}).click()", STAYS),
            (r#"document.head.innerHTML = '<meta http-equiv=refresh content="0;url=about:blank">'"#, STAYS),
            ("history.back(); setTimeout(() => history.go(-1), 100)", STAYS),
            ("document.querySelector('iframe').contentWindow.history.go(-1)", EndsOrFails(&[Quiet])),
            (
                "history.pushState({}, '', '/own'); history.back(); onpopstate = () => document.body.append('Back')",
                Ends(&[Quiet], "Back"),
            ),
            ("close()", STAYS),
            ("document.querySelector('iframe').contentWindow.close.call(window)", EndsOrFails(&[Quiet])),
            // This one stays in the document, which it writes anew.
            (r#"location = 'javascript:"<p>Its own</p>"'"#, Ends(&[Quiet], "<p>Its own</p>")),
        ],
    )
    .await;
}

#[tokio::test]
async fn what_is_too_long_is_cut_and_what_is_no_page_says_so() {
    let (renderer, site) = (renderer(), Arc::new(Site::default()));
    let mut long = limited("<!doctype html><body><script>document.body.append('é'.repeat(1000))</script>", LONG);
    long.limits.dom_bytes_max = 500;
    let rendered = render(&renderer, long, &site).await.unwrap();
    assert_eq!(rendered.extent, DomExtent::Cut);
    assert!((499..=500).contains(&rendered.html.len()), "cut between characters: {}", rendered.html.len());
    for (status, kind) in [(204, "text/html"), (200, "application/octet-stream")] {
        let mut nothing = limited("", LONG);
        nothing.response = response(kind, b"x");
        nothing.response.status = status;
        assert_eq!(render(&renderer, nothing, &site).await, Err(RenderFailure::NotShown), "{status} {kind}");
    }
    let good = render(&renderer, page("https://good.test/", GOOD), &site).await.unwrap();
    assert!(good.html.contains("<p>Good</p>"), "{good:?}");
}
