//! What these tests check finds each defect that a renderer may have: the same browser, behind a
//! program that hides something of it (`mutant.rs`).

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use dragline_browser::{BrowserRenderer, BrowserSettings, Namespace};

use crate::escape::{flaws, render_escape};
use crate::site::{Site, page, render};

fn mutant(defect: &str) -> BrowserSettings {
    let environment = vec![(OsString::from("MUTANT"), OsString::from(defect))];
    let program = Path::new(env!("CARGO_BIN_EXE_mutant")).to_owned();
    // A namespace would hide what leaves the browser.
    BrowserSettings { program: Some(program), namespace: Namespace::Unused, environment, ..BrowserSettings::default() }
}

async fn flaws_of(defect: &str) -> Vec<String> {
    let (seen, asked) = render_escape(mutant(defect), &["http://site.test/"]).await;
    flaws(&seen, &asked)
}

#[tokio::test]
async fn a_browser_that_is_not_cut_off_reaches_the_counter() {
    let flaws = flaws_of("not_cut_off").await;
    assert!(flaws.iter().any(|flaw| flaw.starts_with("it left: TCP")), "{flaws:#?}");
}

#[tokio::test]
async fn a_browser_whose_pages_alone_are_intercepted_loses_what_nested_workers_ask_for() {
    let flaws = flaws_of("page_session").await;
    assert!(flaws.iter().any(|flaw| flaw.contains("/nested-import")), "{flaws:#?}");
}

#[tokio::test]
async fn a_browser_that_is_set_up_late_tells_its_own_name() {
    let scripts = "<!doctype html><script>document.write(`<p>${navigator.userAgent}</p>`)</script>";
    for (settings, is_ours) in [(BrowserSettings::default(), true), (mutant("setup_unawaited"), false)] {
        let renderer = BrowserRenderer::new(settings);
        let shown = render(&renderer, page("https://site.test/", scripts), &Arc::new(Site::default())).await.unwrap();
        assert_eq!(shown.html.contains("<p>Dragline/1"), is_ours, "{}", shown.html);
    }
}
