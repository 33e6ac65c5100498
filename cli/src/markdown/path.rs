//! Maps a page to its file: a folder for the host, and in it the URL's path, as far as file systems
//! allow.

use std::path::PathBuf;

use dragline_domain::url::{CrawlUrl, Scheme, UrlRules};
use dragline_formats::warc::Sha1Digest;

/// The longest name of a file or folder, in bytes. File systems allow 255; the rest is for
/// suffixes.
const NAME_BYTES_MAX: usize = 120;

/// The deepest nesting. Deeper files go into a folder named with a digest.
const DEPTH_MAX: usize = 16;

/// The number of digest characters in a name that would be ambiguous without them.
const DIGEST_CHARS: usize = 12;

/// Returns the path of a page's file: `https://example.org/docs/` becomes
/// `example.org/docs/index.md`. No two URLs share a path, even on case-insensitive file systems,
/// and no path leaves the directory.
pub(super) fn for_url(url: &CrawlUrl) -> PathBuf {
    let mut is_exact = true;
    let mut safe = |name: &str| {
        let kept: String = name.chars().map(|char| if is_safe(char) { char } else { '_' }).collect();
        let end = kept.floor_char_boundary(NAME_BYTES_MAX);
        // A folder named like a file could collide with it; names of dots alone lead elsewhere;
        // some systems drop trailing dots.
        let is_kept =
            kept == name && end == kept.len() && !name.is_empty() && !name.ends_with('.') && !name.ends_with(".md");
        is_exact &= is_kept && !name.contains(char::is_uppercase);
        if is_kept { kept } else { format!("{}_", kept[..end].trim_end_matches('.')) }
    };
    // Host names do not contain `+`.
    let port = if url.port() == 443 { String::new() } else { format!("+{}", url.port()) };
    let mut path = PathBuf::from(safe(&format!("{}{port}", url.host())));
    let (folders, file) = url.path().rsplit_once('/').unwrap_or_default();
    for folder in folders.split('/').skip(1).take(DEPTH_MAX) {
        path.push(safe(folder));
    }
    let name = if file.is_empty() { "index".to_owned() } else { safe(file) };
    let is_index_itself = file == "index";
    let is_deep = folders.split('/').skip(1).count() > DEPTH_MAX;
    // Both schemes may be served on one port.
    let is_usual = (url.scheme() == Scheme::Https) == (url.port() == 443);
    if is_exact && is_usual && url.query().is_none() && !is_deep && !is_index_itself {
        path.push(format!("{name}.md"));
    } else {
        let digest = Sha1Digest::compute(url.as_str().as_bytes()).to_string().to_ascii_lowercase();
        let digest = digest.rsplit(':').next().unwrap_or_default();
        path.push(format!("{name}-{}.md", &digest[..DIGEST_CHARS.min(digest.len())]));
    }
    path
}

/// Returns the same for the URL in an index entry; `None` if it is not a URL.
pub(super) fn for_url_text(url: &str) -> Option<PathBuf> {
    // The URL is stored in its normal form: nothing is stripped again.
    CrawlUrl::parse(url, &UrlRules::new(Vec::<String>::new()).ok()?).ok().map(|url| for_url(&url))
}

const fn is_safe(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.' | '~' | '%' | '+' | '=' | ',' | '@')
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Component;

    use proptest::prelude::*;

    use super::*;

    fn path(url: &str) -> String {
        for_url_text(url).unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn simple_urls_keep_their_paths() {
        for (url, expected, why) in [
            ("https://example.org/", "example.org/index.md", "the first page"),
            ("https://example.org/docs/", "example.org/docs/index.md", "of a folder"),
            ("https://example.org/docs/a.html", "example.org/docs/a.html.md", "a page"),
            ("https://example.org/index", "example.org/index-arb6ahiaskmp.md", "not the one of the folder"),
            ("https://example.org/A", "example.org/A-xl6molmrnova.md", "some systems do not tell letter cases apart"),
            ("https://example.org/a?b=c", "example.org/a-tlg7sc73gjfh.md", "a query"),
            ("http://example.org/a", "example.org+80/a.md", "another scheme"),
            ("http://example.org:8080/", "example.org+8080/index.md", "another port"),
            ("https://example.org:8443/a", "example.org+8443/a-xs5jy5sbw3fp.md", "a port that may have both schemes"),
            ("https://example.org/a:b", "example.org/a_b_-dlnnkwksj4aj.md", "what Windows does not allow"),
            ("https://example.org/a.md/b", "example.org/a.md_/b-63wfqzefdfbe.md", "a folder where a file may be"),
            ("https://example.org/a//b", "example.org/a/_/b-sng5w55unslg.md", "an empty name"),
        ] {
            assert_eq!(path(url), expected, "{url}: {why}");
        }
        let long = path(&format!("https://example.org/{}", "x".repeat(1_000)));
        assert!(long.len() < 200, "{long}");
        let deep = path(&format!("https://example.org/{}", "x/".repeat(500)));
        assert!(deep.split('/').count() < 20, "{deep}");
    }

    proptest! {
        #[test]
        fn paths_are_unique_and_stay_in_the_directory(paths in prop::collection::vec("[/.%a-cA-C?:\\\\é~-]{0,12}", 1..50)) {
            let urls: HashSet<CrawlUrl> = paths.iter().filter_map(|path| CrawlUrl::parse(&format!("https://a.example/{path}"), &UrlRules::default()).ok()).collect();
            let mut files = HashSet::new();
            for url in &urls {
                let file = for_url(url);
                prop_assert!(file.components().all(|part| matches!(part, Component::Normal(_))), "{file:?}");
                prop_assert!(files.insert(file.to_str().unwrap().to_ascii_lowercase()), "{url}: {file:?}");
            }
            for file in &files {
                prop_assert!(!files.iter().any(|other| other.starts_with(&format!("{file}/"))), "{file} is no folder");
            }
        }
    }
}
