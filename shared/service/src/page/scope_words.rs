//! A definition in words: what would be crawled, how fast, and until when.

use std::collections::BTreeSet;

use dragline_domain::definition::{Definition, Sitemaps, Within};
use dragline_domain::shown::{count, plural};
use dragline_domain::url::CrawlUrl;
use maud::{Markup, html};

use super::shown::{bytes, line, span};

/// The most seeds or hosts that are named.
const NAMED_MAX: usize = 5;

/// Returns the sentences as a list.
pub(super) fn list(definition: &Definition) -> Markup {
    html! { ul.words { @for sentence in sentences(definition) { li { (sentence) } } } }
}

/// Says what a crawl of this definition does.
fn sentences(definition: &Definition) -> Vec<String> {
    let mut sentences = vec![begins(definition), reach(definition)];
    let scope = &definition.scope;
    if !scope.include.is_empty() {
        let patterns = scope.include.iter().map(|pattern| format!("`{pattern}`"));
        sentences.push(format!("Of these only URLs that match {}.", either(patterns)));
    }
    if !scope.exclude.is_empty() {
        let patterns = scope.exclude.iter().map(|pattern| format!("`{pattern}`"));
        sentences.push(format!("No URLs that match {}.", either(patterns)));
    }
    match (definition.sitemaps, scope.max_depth) {
        (Sitemaps::Only, _) => sentences.push("Only what sitemaps list: links of pages are not followed.".to_owned()),
        (Sitemaps::Follow, _) => sentences.push("What the sitemaps list is visited as well.".to_owned()),
        (Sitemaps::Ignore, Some(0)) => sentences.push("No links are followed.".to_owned()),
        (Sitemaps::Ignore, Some(depth)) => {
            sentences.push(format!("Only pages at most {} away from where it begins.", plural(depth.into(), "link")));
        }
        (Sitemaps::Ignore, None) => {}
    }
    if definition.feeds.are_followed() {
        sentences.push("The entries of its feeds are visited as well.".to_owned());
    }
    sentences.push(end(definition));
    sentences.push(pace(definition));
    sentences.push("What robots.txt forbids is not requested.".to_owned());
    sentences
}

fn begins(definition: &Definition) -> String {
    let seeds = definition.seeds.iter().map(|seed| line(seed.as_str()));
    format!("It begins at {}.", enumerate(seeds, "and"))
}

fn reach(definition: &Definition) -> String {
    let named = |part: fn(&CrawlUrl) -> String| {
        let parts: BTreeSet<String> = definition.seeds.iter().map(part).collect();
        either(parts.into_iter())
    };
    match definition.scope.within {
        Within::Origin => {
            let origins = named(|seed| seed.origin_str().to_owned());
            format!("It follows links to pages that begin with {origins}, and to no other host, scheme or port.")
        }
        Within::Site => {
            let sites = named(|seed| seed.site_name().to_owned());
            format!("It follows links to {sites}, with or without www, by http or https, and to no other host or port.")
        }
        Within::Host => {
            let hosts = named(|seed| seed.host().to_owned());
            format!("It follows links to the host {hosts}, with http or https and any port, and to no other host.")
        }
        Within::Domain => {
            let domains = named(|seed| {
                let origin = seed.origin();
                origin.registrable_domain().unwrap_or(origin.host()).to_owned()
            });
            format!("It follows links to {domains} and every host below, such as www or docs, and to no other domain.")
        }
    }
}

fn end(definition: &Definition) -> String {
    let budget = &definition.budget;
    let mut limits = Vec::new();
    limits.extend(budget.pages.map(|pages| plural(pages, "page")));
    limits.extend(budget.pages_per_origin.map(|pages| format!("{} of a site", plural(pages, "page"))));
    limits.extend(budget.bytes.map(bytes));
    limits.extend(budget.duration.map(span));
    match limits.len() {
        0 => "An iteration ends when every page has been visited: there is no limit on their number.".to_owned(),
        _ => format!(
            "An iteration ends when every page has been visited, or after {}.",
            enumerate(limits.into_iter(), "or")
        ),
    }
}

fn pace(definition: &Definition) -> String {
    let politeness = &definition.politeness;
    let delay = if politeness.delay.is_zero() {
        "without a pause between requests".to_owned()
    } else {
        format!("with {} between requests", span(politeness.delay))
    };
    let together = match politeness.concurrency {
        0 | 1 => "one at a time".to_owned(),
        several => format!("up to {} at a time", count(several.into())),
    };
    format!("Each site is asked {together}, {delay}.")
}

fn either(words: impl ExactSizeIterator<Item = String>) -> String {
    enumerate(words, "or")
}

/// Returns words as people list them; of many only the first.
fn enumerate(words: impl ExactSizeIterator<Item = String>, conjunction: &str) -> String {
    let number = words.len();
    let mut named: Vec<_> = words.take(NAMED_MAX).collect();
    if number > named.len() {
        named.push(format!("{} more", count((number - named.len()) as u64)));
    }
    match named.pop() {
        None => String::new(),
        Some(last) if named.is_empty() => last,
        Some(last) => format!("{} {conjunction} {last}", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        sentences(&dragline_definition::parse(text, "test").unwrap_or_else(|errors| panic!("{errors}"))).join("\n")
    }

    #[test]
    fn a_scope_is_explained() {
        for (text, expected, why) in [
            ("seeds: [https://example.org/docs/]", "It begins at https://example.org/docs/.", "where"),
            (
                "seeds: [https://www.example.org/docs/]",
                "links to example.org, with or without www, by http or https, and to no other",
                "site",
            ),
            (
                "seeds: [https://example.org/docs/]\nscope: {within: origin}",
                "pages that begin with https://example.org, and to no other",
                "origin",
            ),
            (
                "seeds: [https://docs.example.co.uk/]\nscope: {within: domain}",
                "links to example.co.uk and every host below",
                "the registered domain",
            ),
            ("seeds: [http://127.0.0.1:80/]\nscope: {within: domain}", "links to 127.0.0.1 and", "an address has none"),
            (
                "seeds: [https://a.example/, https://b.example/]\nscope: {within: host}",
                "the host a.example or b.example, with http or https",
                "several hosts",
            ),
            ("seeds: [https://a.example/]\nscope: {exclude: ['\\.pdf$']}", "No URLs that match `\\.pdf$`.", "patterns"),
            ("seeds: [https://a.example/]\nscope: {max_depth: 1}", "at most 1 link away", "depth"),
            ("seeds: [https://a.example/]\nscope: {max_depth: 0}", "No links are followed", "none"),
            ("seeds: [https://a.example/]\nsitemaps: only", "Only what sitemaps list", "sitemaps"),
            ("seeds: [https://a.example/]\nfeeds: follow", "The entries of its feeds are visited", "feeds"),
            ("seeds: [https://a.example/]", "there is no limit on their number", "without a budget"),
            ("seeds: [https://a.example/]\nbudget: {pages: 1000}", "or after 1,000 pages.", "pages"),
            (
                "seeds: [https://a.example/]\nbudget: {pages: 10, duration: 2h}",
                "or after 10 pages or 2 hours.",
                "the first of several",
            ),
            ("seeds: [https://a.example/]", "one at a time, with 1 second between requests", "pace"),
            (
                "seeds: [https://a.example/]\npoliteness: {delay: 0s, concurrency: 4}",
                "up to 4 at a time, without a pause",
                "haste",
            ),
        ] {
            let words = words(text);
            assert!(words.contains(expected), "{why}: {text}: {words}");
        }
    }

    #[test]
    fn of_many_seeds_only_the_first_are_named() {
        let seeds: Vec<_> = (0..9).map(|n| format!("https://{n}.example/")).collect();
        let words = words(&format!("seeds: [{}]", seeds.join(", ")));
        assert!(words.contains("https://4.example/ and 4 more."), "{words}");
        assert!(!words.contains("5.example"), "{words}");
    }
}
