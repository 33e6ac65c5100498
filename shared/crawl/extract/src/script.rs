//! Scripts: the modules that they import.

use dragline_domain::document::LinkKind;
use dragline_formats::javascript::imports;

use crate::body::{Body, FoundLink};

/// The most bytes of a script that are read.
const BYTES_MAX: u64 = 8 << 20;

/// The most modules taken of one script.
const MODULES_MAX: usize = 1_000;

/// Longer specifiers, in bytes, are not crawlable.
const SPECIFIER_BYTES_MAX: usize = 2 << 10;

/// Returns the links of a body that is a script by its media type; `None` if it is something else.
/// Browsers load modules of no other type (WHATWG HTML, "fetch a single module script").
pub(crate) fn links(body: &Body<'_>) -> Option<Vec<FoundLink>> {
    let declared = body.source.headers.content_type()?;
    let (_, name) = declared.essence.split_once('/')?;
    if !matches!(name.trim_start_matches("x-"), "javascript" | "ecmascript") {
        return None;
    }
    let mut found = Vec::new();
    imports(&body.text(&body.beginning(BYTES_MAX)).text, |specifier| {
        if specifier.len() <= SPECIFIER_BYTES_MAX && found.len() < MODULES_MAX {
            found.push((LinkKind::Script, specifier.to_owned()));
        }
    });
    Some(body.links(found))
}

#[cfg(test)]
mod tests {
    use dragline_domain::content::ContentLevel;
    use dragline_domain::url::{CrawlUrl, UrlRules};
    use dragline_formats::http_fields::Headers;

    use super::*;
    use crate::{Settings, Source, extract};

    #[test]
    fn the_modules_of_a_script_are_links() {
        let many: String = (0..2 * MODULES_MAX).map(|n| format!("import './{n}.js';")).collect();
        let long = format!("import './{}.js'", "a".repeat(SPECIFIER_BYTES_MAX));
        let one = "import './a.js'; export * from '/b.js'; import 'react'";
        for (content_type, script, expected, why) in [
            ("text/javascript", one, 2, "a script"),
            ("application/javascript; charset=utf-8", one, 2, "by another type"),
            ("Application/X-JavaScript", one, 2, "by an old one"),
            ("text/plain", one, 0, "a text, which no browser runs"),
            ("application/json", one, 0, "data"),
            ("text/javascript", &many, MODULES_MAX, "as many as there may be"),
            ("text/javascript", &long, 0, "too long"),
        ] {
            let rules = UrlRules::default();
            let url = CrawlUrl::parse("https://a.example/dir/main.js", &rules).unwrap();
            let headers = Headers::from_iter([("Content-Type", content_type)]);
            let settings = Settings::at(ContentLevel::Text, &rules);
            let read = extract(&Source { url: &url, headers: &headers, body: script.as_bytes() }, &settings);
            let links = read.expect_err("a script is no page").links;
            assert!(links.iter().all(|link| link.kind == LinkKind::Script), "{why}");
            assert_eq!(links.len(), expected, "{content_type}: {why}");
            if expected == 2 {
                let targets: Vec<_> = links.iter().map(|link| link.target.as_str()).collect();
                assert_eq!(targets, ["https://a.example/dir/a.js", "https://a.example/b.js"], "{why}");
            }
        }
    }
}
