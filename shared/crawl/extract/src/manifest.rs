//! Web app manifests (W3C, Web Application Manifest): the pictures that they name. A manifest's
//! pages, such as `start_url`, are no part of the page that it belongs to.

use dragline_domain::document::LinkKind;
use serde_json::Value;

use crate::body::{Body, FoundLink};
use crate::fields::MediaType;

/// The longest manifest that is read, in bytes.
const BYTES_MAX: u64 = 1 << 20;

/// The most pictures taken of one manifest.
const PICTURES_MAX: usize = 200;

/// Returns the links of a body that is a manifest by its media type or name; `None` if it is
/// something else.
pub(crate) fn links(body: &Body<'_>) -> Option<Vec<FoundLink>> {
    let may_be_one = match body.media {
        MediaType::Json | MediaType::Plain | MediaType::Unknown | MediaType::Binary | MediaType::Other => true,
        MediaType::Html | MediaType::Xhtml | MediaType::Xml | MediaType::Pdf | MediaType::Office | MediaType::Css => {
            false
        }
    };
    let is_called_one = || {
        let path = body.source.url.path_and_query();
        let path = path.split('?').next().unwrap_or_default();
        path.ends_with(".webmanifest") || path.ends_with("/manifest.json")
    };
    let is_typed_one = || {
        let declared = body.source.headers.content_type();
        declared.is_some_and(|declared| declared.essence == "application/manifest+json")
    };
    if !may_be_one || !(is_called_one() || is_typed_one()) {
        return None;
    }
    let bytes = body.beginning(BYTES_MAX);
    let manifest: Value = serde_json::from_str(&body.text(&bytes).text).ok()?;
    let shortcuts = entries(&manifest, "shortcuts").flat_map(|shortcut| entries(shortcut, "icons"));
    let pictures = entries(&manifest, "icons").chain(entries(&manifest, "screenshots")).chain(shortcuts);
    let sources = pictures.filter_map(|picture| picture.get("src")?.as_str()).filter(|source| !source.is_empty());
    Some(body.links(sources.take(PICTURES_MAX).map(|source| (LinkKind::Img, source.to_owned()))))
}

/// Returns the entries of a member that is a list.
fn entries<'m>(object: &'m Value, name: &str) -> impl Iterator<Item = &'m Value> {
    object.get(name).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use dragline_domain::content::ContentLevel;
    use dragline_domain::url::{CrawlUrl, UrlRules};
    use dragline_formats::http_fields::Headers;

    use super::*;
    use crate::{Settings, Source, extract};

    #[test]
    fn the_pictures_of_a_manifest_are_links() {
        const TYPE: &str = "application/manifest+json";
        const ONE: &str = r#"{"start_url": "/app", "icons": [{"src": "i.png"}, {"src": ""}, {"sizes": "1x1"}, "x"],
            "screenshots": [{"src": "/s.png"}], "shortcuts": [{"url": "/new", "icons": [{"src": "n.png"}]}, {}]}"#;
        let all = &["/dir/i.png", "/s.png", "/dir/n.png"][..];
        let many = format!(
            "{{\"icons\": [{}]}}",
            (0..999).map(|n| format!("{{\"src\": \"{n}\"}}")).collect::<Vec<_>>().join(",")
        );
        for (path, content_type, body, expected, why) in [
            ("/dir/app", TYPE, ONE, Some(all), "by its type"),
            ("/dir/site.webmanifest", "text/plain", ONE, Some(all), "by its name"),
            ("/dir/manifest.json?v=2", "application/json", ONE, Some(all), "by another name"),
            ("/dir/data.json", "application/json", ONE, Some(&[][..]), "other JSON"),
            ("/dir/app", TYPE, "{\"icons\": {\"src\": \"x\"}}", Some(&[]), "icons of another kind"),
            ("/dir/app", TYPE, "{\"icons\": [", Some(&[]), "what breaks off"),
            ("/dir/site.webmanifest", "text/html", ONE, None, "a page is one"),
            ("/dir/app", TYPE, &many, None, "as many as there may be"),
        ] {
            let rules = UrlRules::default();
            let url = CrawlUrl::parse(&format!("https://a.example{path}"), &rules).unwrap();
            let headers = Headers::from_iter([("Content-Type", content_type)]);
            let settings = Settings::at(ContentLevel::Text, &rules);
            let read = extract(&Source { url: &url, headers: &headers, body: body.as_bytes() }, &settings);
            match (read, expected) {
                (Err(unread), Some(expected)) => {
                    let found =
                        unread.links.iter().map(|link| link.target.as_str().trim_start_matches("https://a.example"));
                    assert_eq!(found.collect::<Vec<_>>(), expected, "{path} {content_type}: {why}");
                }
                (Err(unread), None) => assert_eq!(unread.links.len(), PICTURES_MAX, "{why}"),
                (Ok(_), expected) => assert_eq!(expected, None, "{why}"),
            }
        }
    }
}
