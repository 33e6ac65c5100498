//! The URL standard's own tests, from the Web Platform Tests, as shipped with the crate `url`.
//!
//! The URLs that we store differ from those that browsers show: [`kept`] applies what we change in
//! every URL to what a test expects. All other differences are listed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use ::url::Url;
use dragline_domain::url::{CrawlUrl, UrlError, UrlRules};
use dragline_end_to_end::checkout::{root, succeed};
use dragline_end_to_end::differences::Judgement;
use dragline_formats::html::{HtmlLimits, PageSource, extract};
use serde::Deserialize;
use serde_json::Value;

/// Input and base, and why we differ.
const DIFFERENCES: &[(&str, &str)] = &[];

#[derive(Deserialize)]
struct Case {
    input: String,
    base: Option<String>,
    #[serde(default)]
    failure: bool,
    #[serde(default)]
    href: String,
    #[serde(default)]
    protocol: String,
    #[serde(default)]
    username: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    hostname: String,
    #[serde(default)]
    search: String,
    #[serde(default)]
    hash: String,
}

impl Case {
    fn name(&self) -> String {
        match &self.base {
            Some(base) => format!("{} on {base}", self.input),
            None => self.input.clone(),
        }
    }
}

/// The expected result of a case for us: the URL, or `None` if it is not crawled.
fn kept(case: &Case) -> Option<String> {
    // URLs with other schemes or user names are not crawled.
    let is_web = matches!(case.protocol.as_str(), "http:" | "https:");
    if case.failure || !is_web || !case.username.is_empty() || !case.password.is_empty() {
        return None;
    }
    // A trailing dot names the same host; a host with an empty label is invalid.
    let host = case.hostname.strip_suffix('.').unwrap_or(&case.hostname);
    if host.len() > 253 || host.split('.').any(str::is_empty) {
        return None;
    }
    let without_fragment = case.href.strip_suffix(case.hash.as_str()).expect("a fragment comes last");
    // An empty query or fragment still has its `?` or `#`.
    let without_marks = without_fragment.trim_end_matches('#');
    let without_marks =
        if case.search.is_empty() { without_marks.strip_suffix('?').unwrap_or(without_marks) } else { without_marks };
    Some(spelt_once(&without_marks.replacen(&case.hostname, host, 1)))
}

/// Decodes octets that mean the same either way, and puts the digits of others in upper case (RFC
/// 3986, 6.2.2).
fn spelt_once(url: &str) -> String {
    let mut pieces = url.split('%');
    let mut spelt = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.get(..2).map(|digits| (digits, u8::from_str_radix(digits, 16))) {
            Some((_, Ok(octet))) if octet.is_ascii_alphanumeric() || b"-._~".contains(&octet) => {
                spelt.push(char::from(octet));
                spelt.push_str(&piece[2..]);
            }
            Some((digits, Ok(_))) => {
                spelt.push('%');
                spelt.push_str(&digits.to_ascii_uppercase());
                spelt.push_str(&piece[2..]);
            }
            _ => {
                spelt.push('%');
                spelt.push_str(piece);
            }
        }
    }
    spelt
}

/// The crawler's result for a case: a seed is parsed, a link is joined to its page.
fn crawled(case: &Case) -> Result<CrawlUrl, UrlError> {
    let rules = UrlRules::keep_all();
    let Some(base) = &case.base else { return CrawlUrl::parse(&case.input, &rules) };
    let joined = Url::parse(base).and_then(|base| base.join(&case.input));
    joined.map_err(UrlError::Invalid).and_then(|url| CrawlUrl::from_url(&url, &rules))
}

/// The file in the sources of the crate, in the version that we use.
fn test_data() -> PathBuf {
    let mut metadata = Command::new(env!("CARGO"));
    // Only for this platform, as what others need was never fetched.
    metadata.args(["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform", "host-tuple"]);
    metadata.current_dir(root());
    let metadata: Value = serde_json::from_slice(&succeed(metadata, "cargo metadata").stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let manifests: Vec<&str> = packages
        .iter()
        .filter(|package| package["name"] == "url")
        .map(|package| package["manifest_path"].as_str().unwrap())
        .collect();
    let [manifest] = manifests[..] else { panic!("one version of `url` is in use: {manifests:?}") };
    PathBuf::from(manifest).with_file_name("tests").join("urltestdata.json")
}

fn cases() -> Vec<Case> {
    let path = test_data();
    let json = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let entries: Vec<Value> = serde_json::from_slice(&json).unwrap();
    // Strings between cases are comments.
    entries.into_iter().filter(Value::is_object).map(|entry| serde_json::from_value(entry).unwrap()).collect()
}

#[test]
fn urls_are_those_of_the_standard() {
    let mut judgement = Judgement::default();
    let mut web = 0;
    for case in cases() {
        let expected = kept(&case);
        web += usize::from(expected.is_some());
        let found = crawled(&case);
        let difference = match &found {
            Ok(url) if expected.as_deref() == Some(url.as_str()) => None,
            Err(_) if expected.is_none() => None,
            found => Some(format!("{found:?}, where it should be {expected:?}")),
        };
        judgement.note(case.name(), difference);
    }
    assert!(web > 180 && judgement.cases() > 800, "{web} of {}", judgement.cases());
    judgement.hold(DIFFERENCES);
}

/// If the page can be crawled, [`CrawlUrl::join`] resolves a reference on it in the same way.
#[test]
fn references_on_a_page_are_those_of_the_standard() {
    let rules = UrlRules::keep_all();
    let mut judged = 0;
    for case in cases() {
        let page = case.base.as_deref().and_then(|base| CrawlUrl::parse(base, &rules).ok());
        if let Some(page) = page {
            assert_eq!(page.join(&case.input, &rules).ok(), crawled(&case).ok(), "{}", case.name());
            judged += 1;
        }
    }
    assert!(judged > 180, "{judged}");
}

/// The page's parser resolves it in the same way, as a link.
#[test]
fn links_of_a_page_are_those_of_the_standard() {
    let rules = UrlRules::keep_all();
    let mut judged = 0;
    // No attribute can hold a NUL.
    for case in cases().into_iter().filter(|case| !case.input.contains('\0')) {
        let page = case.base.as_deref().and_then(|base| Url::parse(base).ok());
        let Some(page) = page.filter(|page| matches!(page.scheme(), "http" | "https")) else { continue };
        let html = format!("<a href=\"{}\">", escaped(&case.input));
        let read = extract(&html, &PageSource::html(&page), &HtmlLimits::default());
        let found = read.links.first().and_then(|link| link.url.normalised(&rules).ok()).map(|(url, _)| url);
        let expected = crawled(&case).ok();
        // A link that leads only to a place within its own page is dropped.
        let is_page = expected == CrawlUrl::from_url(&page, &rules).ok();
        assert!(found == expected || is_page && found.is_none(), "{}: {found:?}, not {expected:?}", case.name());
        judged += 1;
    }
    assert!(judged > 180, "{judged}");
}

/// Escapes a text as the value of an attribute in double quotes.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('\r', "&#13;")
}
