//! A report as one HTML page: markup, style, script and data in one file, which needs no network
//! and may not use any.

use data_encoding::BASE64;
use sha2::{Digest as _, Sha256};

use super::shape::Report;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");

/// The parts of the script, in order.
const SCRIPT: [&str; 6] = [
    include_str!("page/values.js"),
    include_str!("page/tables.js"),
    include_str!("page/charts.js"),
    include_str!("page/tree.js"),
    include_str!("page/sections.js"),
    include_str!("page/main.js"),
];

/// Returns a report as an HTML page.
///
/// Nothing from the site is markup: the data is JSON that cannot end its element, and the script
/// shows it as text. If anything else got in, the page's policy would keep it from running and from
/// loading anything.
#[must_use]
pub fn html(report: &Report) -> String {
    let script = format!("\"use strict\";\n(() => {{\n{}}})();\n", SCRIPT.concat());
    let hash = |text: &str| BASE64.encode(&Sha256::digest(text.as_bytes()));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(STYLE)
    );
    let title = format!("{}, iteration {}", report.crawl, report.iteration);
    fill(
        PAGE,
        &[
            ("policy", &policy),
            ("title", &as_text(&title)),
            ("style", STYLE),
            ("data", &as_data(&report.to_json())),
            ("script", &script),
        ],
    )
}

/// Fills the placeholders of a template, each `{{name}}`. Values that look like placeholders are
/// not expanded.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        out.push_str(before);
        out.push_str(values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value));
        rest = after;
    }
    out + rest
}

/// Escapes text for an element.
fn as_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Escapes JSON for a script element. The escaped characters only occur in JSON strings, where the
/// escape is equivalent.
fn as_data(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => out.push_str(r"\u003c"),
            '>' => out.push_str(r"\u003e"),
            '&' => out.push_str(r"\u0026"),
            '\u{2028}' => out.push_str(r"\u2028"),
            '\u{2029}' => out.push_str(r"\u2029"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_stays_in_its_element_and_round_trips() {
        for text in
            ["</script><script>alert(1)</script>", "<!--<script>", "&lt;", "a\u{2028}b", "]]>", "{{script}}", "\\\"<"]
        {
            let data = as_data(&serde_json::to_string(text).unwrap());
            assert!(!data.contains(['<', '>', '&', '\u{2028}']), "{data}");
            assert_eq!(serde_json::from_str::<String>(&data).unwrap(), text);
        }
    }

    #[test]
    fn every_placeholder_is_filled_once() {
        for name in ["policy", "title", "style", "data", "script"] {
            assert_eq!(PAGE.matches(&format!("{{{{{name}}}}}")).count(), 1, "{name}");
        }
        assert_eq!(PAGE.matches("{{").count(), 5);
        assert_eq!(
            fill("a {{title}} c", &[("title", "{{data}}"), ("data", "no")]),
            "a {{data}} c",
            "values are no templates"
        );
    }

    #[test]
    fn styles_and_scripts_stay_in_their_elements() {
        assert!(!STYLE.contains("</") && !SCRIPT.concat().contains("</") && !SCRIPT.concat().contains("<!--"));
    }
}
