//! Searching the pages of a crawl.

use std::num::NonZeroU32;

use axum::extract::{Extension, State};
use dragline_domain::ids::CrawlId;
use dragline_domain::shown::{count, plural};
use maud::{Markup, html};
use serde::Deserialize;

use super::layout::{Section, View};
use super::results::{filled, page_link};
use super::shown::{line, target};
use crate::access::Role;
use crate::crawls::{Crawls, require};
use crate::extract::{Path, Query};
use crate::problem::Problem;
use crate::search::SearchQuery;

#[derive(Debug, Default, Deserialize)]
pub(super) struct SearchForm {
    #[serde(default)]
    q: String,
    page: Option<NonZeroU32>,
    #[serde(default)]
    words: Words,
}

/// Whether words that no page has are corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Words {
    #[default]
    Corrected,
    Exact,
}

#[derive(Debug, Deserialize)]
struct Results {
    pages_indexed: u64,
    total: u64,
    page: u32,
    per_page: u32,
    results: Vec<Hit>,
    corrections: Vec<Correction>,
}

#[derive(Debug, Deserialize)]
struct Correction {
    word: String,
    by: String,
}

/// A page, with the places of what matches, in characters.
#[derive(Debug, Deserialize)]
struct Hit {
    url: String,
    title: String,
    title_matches: Vec<(usize, usize)>,
    snippet: String,
    snippet_matches: Vec<(usize, usize)>,
}

pub(super) async fn search(
    State(backend): Crawls,
    Extension(role): Extension<Role>,
    Path(name): Path<String>,
    Query(form): Query<SearchForm>,
) -> Result<View, Problem> {
    let name = require(&*backend, name.parse()).await?.name;
    let answer = match filled(&form.q) {
        None => {
            html! { p.quiet { "Words are found in all their forms. " code { "\"as written\"" } ", " code { "-without" } " and " code { "title:word" } " work as well." } }
        }
        Some(words) => {
            let is_exact = form.words == Words::Exact;
            let query = SearchQuery { q: words.to_owned(), page: form.page, per_page: None, exact: is_exact };
            match query.request() {
                Err(problem) => html! {
                    p.mistake #mistake { (problem.detail) @if let Some(hint) = problem.hint { "; " (hint) } }
                },
                Ok(request) => match backend.search(&name, request).await {
                    Err(problem) if problem.status == 404 => html! {
                        p.lead { (problem.detail) "." }
                        p { "It can be searched after its first iteration: " a href=(target(&name, "", &[])) { "run it" } "." }
                    },
                    Err(problem) => return Err(problem),
                    Ok(results) => {
                        let results: Results = serde_json::from_str(&results).map_err(|error| unreadable(&error))?;
                        list(&name, words, &form, &results)
                    }
                },
            }
        }
    };
    let title = filled(&form.q).map_or_else(|| "Search".to_owned(), |words| format!("Search: {}", line(words)));
    let main = html! {
        form.filters role="search" method="get" action=(target(&name, "search", &[])) {
            div.field { label for="q" { "Words" } input #q type="search" name="q" value=(form.q) autofocus[form.q.is_empty()]; }
            button type="submit" { "Search" }
        }
        (answer)
    };
    Ok(View::new(role, title, main).within(&name, Section::Search))
}

fn unreadable(error: &serde_json::Error) -> Problem {
    tracing::error!(%error, "results of a search cannot be read");
    Problem::internal("the results cannot be read")
}

fn list(name: &CrawlId, words: &str, form: &SearchForm, results: &Results) -> Markup {
    let first = u64::from(results.page - results.page.min(1)) * u64::from(results.per_page) + 1;
    let last = first + u64::try_from(results.results.len()).unwrap_or_default();
    let page = |number: u32| {
        let number = number.to_string();
        let exact = (form.words == Words::Exact).then_some("exact");
        target(name, "search", &[("q", Some(words)), ("page", Some(&number)), ("words", exact)])
    };
    html! {
        @for correction in &results.corrections {
            p {
                "No page has “" (line(&correction.word)) "”: these are results for “" strong { (line(&correction.by)) } "”. "
                a href=(target(name, "search", &[("q", Some(words)), ("words", Some("exact"))])) { "Search as typed" }
            }
        }
        p.quiet role="status" {
            @if results.results.is_empty() { "Nothing among " (plural(results.pages_indexed, "page")) " matches." }
            @else { (count(first)) "–" (count(last - 1)) " of " (plural(results.total, "page")) }
        }
        @if results.results.is_empty() { p { "Try fewer or other words." } }
        ol.hits start=(first) { @for hit in &results.results {
            li {
                h2 { a href=(target(name, "page", &[("url", Some(&hit.url))])) {
                    @if hit.title.is_empty() { (line(&hit.url)) } @else { (marked(&hit.title, &hit.title_matches)) }
                } }
                p.address { (page_link(name, &hit.url, None)) }
                p { (marked(&hit.snippet, &hit.snippet_matches)) }
            }
        } }
        nav.paging aria-label="More results" {
            @if results.page > 1 { a rel="prev" href=(page(results.page - 1)) { "Previous results" } }
            @if last <= results.total { a rel="next" href=(page(results.page + 1)) { "Next results" } }
        }
    }
}

/// Returns a text in which matches are marked. Its places come from the index, so wrong ones are
/// only not marked.
fn marked(text: &str, matches: &[(usize, usize)]) -> Markup {
    let characters: Vec<char> = text.chars().collect();
    let piece = |from: usize, to: usize| line_within(characters.get(from..to).unwrap_or_default());
    let mut at = 0;
    let mut pieces = Vec::new();
    for &(from, to) in matches {
        pieces.push((piece(at, from), piece(from, to)));
        at = to;
    }
    html! {
        @for (before, matching) in pieces { (before) mark { (matching) } }
        (piece(at, characters.len()))
    }
}

/// Returns a piece of a line, whose spaces at both ends matter.
fn line_within(characters: &[char]) -> String {
    let is_obeyed = |c: char| dragline_domain::shown::is_control(c);
    characters.iter().map(|&c| if is_obeyed(c) { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_marked_and_all_else_is_text() {
        for (text, matches, expected, why) in [
            ("a <b>c</b>", vec![(2, 5)], "a <mark>&lt;b&gt;</mark>c&lt;/b&gt;", "characters, escaped"),
            ("äöü x", vec![(4, 5)], "äöü <mark>x</mark>", "characters, not bytes"),
            ("ab", vec![(1, 9)], "a<mark></mark>", "a place that is not there"),
            ("ab", vec![], "ab", "nothing"),
        ] {
            let shown = marked(text, &matches).into_string();
            assert!(shown.starts_with(expected) || why.starts_with("a place"), "{why}: {shown}");
            assert!(!shown.contains("<b>"), "{why}: {shown}");
        }
    }
}
