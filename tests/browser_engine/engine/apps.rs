//! Pages that their scripts make.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dragline_browser::{BrowserRenderer, BrowserSettings, Processes};
use dragline_domain::definition::Screenshot;
use dragline_domain::url::CrawlUrl;
use dragline_ports::renderer::{AskedKind, AskedMethod, DomExtent, RenderEnd, RenderRequest};

use crate::site::{Site, page, page_with, render, renderer};

const URL: &str = "https://app.test/list";

/// A list that a module makes of JSON, of which the second half is fetched when its end comes into
/// view, and a number that counts up by frames. It shows when it was made and what it was told of
/// its surroundings.
const APP: &str = r#"<!doctype html><html lang=en><title>App</title><div id=app></div><my-note></my-note>
<script src=/early.js></script><script type=module src=/app.mjs></script>"#;

const EARLY: &str =
    "globalThis.early = [navigator.userAgent, Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.language];
customElements.define('my-note', class extends HTMLElement {
  connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = '<a href=/from-shadow>In the shadow</a>'; }
});";

const MODULE: &str = r"import {link} from '/link.mjs';
const app = document.getElementById('app');
const show = async part => {
  const {items} = await (await fetch('/api/items?part=' + part, {headers: {'X-App': 'yes'}})).json();
  for (const item of items) app.append(link(item));
};
app.insertAdjacentHTML('beforeend', `<p id=seen>${early.join('|')}</p><p id=time>${new Date().toISOString().slice(0, 19)}</p>`);
app.insertAdjacentHTML('beforeend', `<p id=chance>${Math.random()}|${crypto.getRandomValues(new Uint8Array(4))}|${crypto.randomUUID()}</p>`);
requestIdleCallback(() => app.insertAdjacentHTML('beforeend', '<p>When idle</p>'));
app.insertAdjacentHTML('beforeend', '<p id=count></p>');
const began = performance.now();
let frames = 0;
const count = now => {
  const part = Math.min((now - began) / 1000, 1);
  document.getElementById('count').textContent = `Counted to ${Math.round(part * 100)} in ${++frames} frames`;
  if (part < 1) requestAnimationFrame(count);
};
requestAnimationFrame(count);
await show(1);
const end = document.createElement('div');
app.append(end, new Image());
app.lastChild.src = '/picture.png';
new IntersectionObserver(async ([entry], observer) => {
  if (!entry.isIntersecting) return;
  observer.disconnect();
  await show(2);
  setTimeout(() => app.insertAdjacentHTML('beforeend', '<p>After a second</p>'), 100);
}).observe(end);
setTimeout(() => app.insertAdjacentHTML('beforeend', '<p>After four seconds</p>'), 4000);
";

fn app() -> Site {
    Site::new(&[
        ("/early.js", "text/javascript", EARLY),
        ("/app.mjs", "text/javascript", MODULE),
        (
            "/link.mjs",
            "text/javascript",
            "export const link = name => Object.assign(document.createElement('a'), {href: '/item/' + name, textContent: 'Item ' + name});",
        ),
        ("/api/items?part=1", "application/json", r#"{"items": ["one", "two"]}"#),
        ("/api/items?part=2", "application/json", r#"{"items": ["three"]}"#),
    ])
}

#[tokio::test]
async fn an_app_has_the_text_and_links_that_its_scripts_fetch() {
    let (renderer, site) = (renderer(), Arc::new(app()));
    let rendered = render(&renderer, page(URL, APP), &site).await.unwrap();
    for part in [
        r#"<html lang="en">"#,
        r#"<a href="/item/one">Item one</a><a href="/item/two">Item two</a>"#,
        r#"<a href="/item/three">Item three</a>"#,
        "When idle",
        "Counted to 100 in ",
        "After a second",
        "After four seconds",
        r#"<template shadowrootmode="open"><a href="/from-shadow">In the shadow</a></template>"#,
        "Dragline/1 (+https://example.org)|UTC|en-US",
        "2023-11-14T22:13:2",
    ] {
        assert!(rendered.html.contains(part), "{part}: {}", rendered.html);
    }
    assert!(rendered.html.starts_with("<!DOCTYPE html>") && rendered.html.ends_with("</html>"), "{}", rendered.html);
    assert_eq!((rendered.ended, rendered.extent), (RenderEnd::Quiet, DomExtent::Whole));
    assert_eq!((rendered.requests.answered, rendered.requests.refused), (5, 0));
    assert!(rendered.requests.left_out == 1 && rendered.browser.contains('/'), "{rendered:?}");
    let asked = site.asked();
    let data = asked.iter().find(|asked| asked.kind == AskedKind::Data).unwrap();
    assert_eq!(data.headers.get("x-app"), Some(&b"yes"[..]), "what scripts set");
    assert_eq!(data.headers.get("referer"), Some(URL.as_bytes()));
    assert_eq!(asked.iter().map(|asked| asked.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn the_same_answers_make_the_same_bytes_whatever_the_browser_did_before() {
    let (renderer, other) = (renderer(), renderer());
    let mut documents = Vec::new();
    for renderer in [&renderer, &renderer, &other] {
        documents.push(render(renderer, page(URL, APP), &Arc::new(app())).await.unwrap().html);
    }
    assert!(documents.windows(2).all(|two| two[0] == two[1]), "{documents:#?}");
    let later = RenderRequest { began: jiff::Timestamp::from_second(1_700_000_001).unwrap(), ..page(URL, APP) };
    let later = render(&renderer, later, &Arc::new(app())).await.unwrap().html;
    assert_ne!(later, documents[0], "another visit has another time, and other random numbers");
}

#[tokio::test]
async fn one_process_renders_the_same_page() {
    let settings = BrowserSettings { processes: Processes::One, ..BrowserSettings::default() };
    let renderer = BrowserRenderer::new(settings);
    for _ in 0..2 {
        let rendered = render(&renderer, page(URL, APP), &Arc::new(app())).await.unwrap();
        assert!(rendered.html.contains("Item three") && rendered.html.contains("After four seconds"), "{rendered:?}");
    }
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "it is the time taken that is tested")]
async fn an_answer_that_is_held_back_costs_the_page_no_time() {
    const HTML: &str = "<!doctype html><p id=order></p><script>
        const say = what => document.getElementById('order').append(what + ' ');
        setTimeout(() => say('timer'), 1000);
        const began = performance.now();
        fetch('/slow').then(() => say('answer after ' + (performance.now() - began < 900 ? 'no time' : 'long')));
        </script>";
    let site = Site::new(&[("/slow", "text/plain", "x")]).delayed(Duration::from_secs(3));
    let began = Instant::now();
    let rendered = render(&renderer(), page("https://app.test/", HTML), &Arc::new(site)).await.unwrap();
    assert!(rendered.html.contains("answer after no time timer"), "{}", rendered.html);
    assert!(began.elapsed() >= Duration::from_secs(3), "it was held back");
}

#[tokio::test]
async fn an_element_is_waited_for_and_no_longer() {
    const HTML: &str = "<!doctype html><script>
        setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p class=late>Late</p>'), 2000);
        setTimeout(() => document.body.append('Too late'), 4500);</script><p>Early</p>";
    let (renderer, site) = (renderer(), Arc::new(Site::default()));
    let rendered = render(&renderer, page_with(URL, HTML, "p.late"), &site).await.unwrap();
    assert!(rendered.html.contains("Late</p>") && !rendered.html.contains("</p>Too late"), "{}", rendered.html);
    assert_eq!(rendered.ended, RenderEnd::Quiet);
    for selector in ["p.never", ":::"] {
        let rendered = render(&renderer, page_with(URL, HTML, selector), &site).await.unwrap();
        assert!(rendered.html.contains("</p>Too late"), "{selector}: {}", rendered.html);
        assert_eq!(rendered.ended, RenderEnd::PageTime, "{selector}");
    }
}

#[tokio::test]
async fn what_comes_into_view_at_the_last_moment_is_loaded() {
    const HTML: &str = "<!doctype html><body><script>
        setTimeout(() => {
          const end = document.createElement('div');
          document.body.append(end);
          new IntersectionObserver(async ([entry], observer) => {
            if (!entry.isIntersecting) return;
            observer.disconnect();
            for (const path of ['/a', '/b']) document.body.append(await (await fetch(path)).text());
          }).observe(end);
        }, 4990);</script>";
    let site = Site::new(&[("/a", "text/plain", "First "), ("/b", "text/plain", "second")]);
    let rendered = render(&renderer(), page(URL, HTML), &Arc::new(site)).await.unwrap();
    assert!(rendered.html.contains("First second"), "{}", rendered.html);
    assert_eq!(rendered.ended, RenderEnd::Quiet);
}

#[tokio::test]
async fn a_post_arrives_whole_and_another_origin_may_be_read() {
    const HTML: &str = r#"<!doctype html><p id=said></p><script>
        const query = JSON.stringify({query: 'é'.repeat(200000)});
        fetch('https://api.test/graphql?x', {method: 'POST', headers: {'content-type': 'application/json', 'x-key': 'k'},
          body: query, credentials: 'include'})
          .then(answer => answer.text()).then(text => document.getElementById('said').append(text));
        fetch('/put', {method: 'PUT', body: 'x'}).catch(error => document.body.append('put: ' + error.name));
        </script>"#;
    let site = Arc::new(Site::new(&[("/graphql?x", "application/json", r#"{"data":"it came"}"#)]));
    let rendered = render(&renderer(), page(URL, HTML), &site).await.unwrap();
    assert!(rendered.html.contains(r#"<p id="said">{"data":"it came"}</p>"#), "{}", rendered.html);
    assert!(rendered.html.contains("put: TypeError"), "{}", rendered.html);
    let asked = site.asked();
    assert_eq!(asked.len(), 1, "neither preflight nor PUT: {asked:?}");
    let AskedMethod::Post { body } = &asked[0].method else { panic!("{asked:?}") };
    let expected = format!(r#"{{"query":"{}"}}"#, "é".repeat(200_000));
    assert!(*body == expected, "{} bytes of {}", body.len(), expected.len());
    assert_eq!(asked[0].headers.get("x-key"), Some(&b"k"[..]));
}

#[tokio::test]
async fn where_scripts_try_to_go_is_a_link_and_the_page_stays() {
    const HTML: &str = "<!doctype html><p>Here</p><a id=file href=/saved download>File</a><script>
        setTimeout(() => { location.href = '/one?utm_source=x'; }, 10);
        setTimeout(() => location.replace('https://other.test/two'), 500);
        setTimeout(() => document.getElementById('file').click(), 800);
        setTimeout(() => { location = 'mailto:someone@app.test'; }, 1000);
        setTimeout(() => document.body.append('Still here'), 3000);</script>";
    let site = Arc::new(Site::default());
    let rendered = render(&renderer(), page(URL, HTML), &site).await.unwrap();
    assert!(rendered.html.contains("Still here"), "{}", rendered.html);
    let went: Vec<_> = rendered.navigations.iter().map(CrawlUrl::as_str).collect();
    assert_eq!(went[..2], ["https://app.test/one?utm_source=x", "https://other.test/two"]);
    assert!(site.asked().is_empty(), "{:?}", site.asked());
}

#[tokio::test]
async fn a_page_is_pictured_with_its_pictures() {
    // A page of two thousand pixels, all of it the colour of its picture: red.
    let red = "<svg xmlns='http://www.w3.org/2000/svg' width='1280' height='2000'><rect width='1280' height='2000' fill='#f00'/></svg>";
    let html = "<!doctype html><style>* { margin: 0 } img { display: block }</style><img src=/red.svg>";
    for (screenshot, height, asked) in
        [(Screenshot::None, 0, 0), (Screenshot::View, 800, 1), (Screenshot::Page, 2000, 1)]
    {
        let site = Arc::new(Site::new(&[("/red.svg", "image/svg+xml", red)]));
        let request = RenderRequest { screenshot, ..page(URL, html) };
        let shown = render(&renderer(), request, &site).await.unwrap();
        let size = shown.screenshot.as_ref().map(|png| {
            assert!(png.starts_with(b"\x89PNG"), "{screenshot}");
            // The first chunk has width and height.
            [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()))
        });
        assert_eq!(size, (height > 0).then_some([1280, height]), "{screenshot}");
        assert_eq!(site.asked().len(), asked, "{screenshot}");
        // One colour takes next to nothing, and white would take as little: so the picture is not.
        let empty =
            render(&renderer(), RenderRequest { screenshot, ..page(URL, "<!doctype html>") }, &site).await.unwrap();
        assert!(height != 800 || shown.screenshot != empty.screenshot, "the picture is in it");
    }
}
