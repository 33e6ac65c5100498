//! The header fields that decide how a body is read. The same body under other fields may be
//! another document.

use dragline_domain::document::Directives;
use dragline_domain::frontier::{FieldsDigest, ReadAs};
use dragline_domain::use_preferences::{UseStands, combined};
use dragline_formats::content_coding::ContentCodings;
use dragline_formats::directives::x_robots_tag;
pub use dragline_formats::http_fields::MediaType;
use dragline_formats::http_fields::{Headers, link_header, refresh};
use dragline_formats::use_preferences::header_statements;
use dragline_formats::warc::Sha1Digest;

/// Returns the canonical URL in a `Link` field, as written.
#[must_use]
pub fn canonical_in_header(headers: &Headers) -> Option<String> {
    let links: Vec<_> = headers.texts("link").collect();
    let named = link_header(links.iter().map(AsRef::as_ref))
        .into_iter()
        .find(|link| link.rels.iter().any(|rel| rel == "canonical"));
    named.map(|link| link.target)
}

/// The limit on the languages that a header names.
const LANGUAGES_MAX: usize = 100;

/// The limit on the code of a language, in bytes. A longer one is not read.
const LANGUAGE_BYTES_MAX: usize = 64;

/// Returns the page in other languages as `Link` fields name it: codes and URLs, as written.
pub(crate) fn languages_in_header(headers: &Headers) -> Vec<(String, String)> {
    let links: Vec<_> = headers.texts("link").collect();
    let named = link_header(links.iter().map(AsRef::as_ref)).into_iter();
    let alternates = named.filter(|link| link.rels.iter().any(|rel| rel == "alternate"));
    alternates
        .flat_map(|link| link.languages.into_iter().map(move |code| (code.trim().to_owned(), link.target.clone())))
        .filter(|(code, _)| (1..=LANGUAGE_BYTES_MAX).contains(&code.len()))
        .take(LANGUAGES_MAX)
        .collect()
}

/// Returns a response header's directives for the crawler with this product token.
#[must_use]
pub fn header_directives(headers: &Headers, product_token: &str) -> Directives {
    let tags: Vec<_> = headers.texts("x-robots-tag").collect();
    x_robots_tag(tags.iter().map(AsRef::as_ref), product_token)
}

/// Computes the digest of the fields by which the crawler with this product token reads a body,
/// which may have been named as a sitemap or a feed.
///
/// For files other than pages only the format and character set count, and for bodies that nothing
/// reads only noindex.
#[must_use]
pub fn fields_digest(headers: &Headers, product_token: &str, read_as: ReadAs) -> FieldsDigest {
    let directives = header_directives(headers, product_token);
    let declared = headers.content_type();
    let can_be_decoded = ContentCodings::parse(headers.all("content-encoding")).is_ok();
    let media = if can_be_decoded { MediaType::from_content_type(declared.as_ref()) } else { MediaType::Other };
    let charset = declared.as_ref().and_then(|kind| kind.charset.as_deref()).map(str::to_ascii_lowercase);
    let (page, file) = match media {
        MediaType::Html => (Some("html"), None),
        MediaType::Xhtml => (Some("xhtml"), None),
        MediaType::Xml => (Some("xml"), None),
        MediaType::Unknown => (Some("nothing"), None),
        MediaType::Plain => (None, Some("plain")),
        MediaType::Json => (None, Some("json")),
        MediaType::Pdf => (None, Some("pdf")),
        MediaType::Office => (None, Some("office")),
        MediaType::Css => (None, Some("css")),
        // A type that the server does not know is rarely more than unreadable data.
        MediaType::Binary | MediaType::Other => (None, None),
    };
    let read_by = if let Some(syntax) = page {
        let canonical = canonical_in_header(headers);
        let refreshed = headers.text("refresh");
        let refreshed = refreshed.as_deref().and_then(refresh);
        let (noindex, nofollow) = (directives.noindex, directives.nofollow);
        let read_by = format!("page {syntax} {noindex} {nofollow} {charset:?} {canonical:?} {refreshed:?}");
        let languages = languages_in_header(headers);
        // Digests are older than these, too.
        if languages.is_empty() { read_by } else { format!("{read_by} {languages:?}") }
    } else if let Some(format) = file {
        format!("file {format} {} {charset:?}", directives.noindex)
    } else {
        format!("other {}", directives.noindex)
    };
    let uses = combined(&header_statements(headers, product_token));
    // Digests are older than these statements, so where there are none they must not change them.
    let read_by = if uses == UseStands::NOTHING { read_by } else { format!("{read_by} {uses:?}") };
    let read_by = match read_as.name() {
        None => read_by,
        Some(name) => format!("{name} {charset:?} {read_by}"),
    };
    let [a, b, c, d, ..] = *Sha1Digest::compute(read_by.as_bytes()).as_bytes();
    FieldsDigest(u32::from_be_bytes([a, b, c, d]).max(1))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn digest(fields: &[(&str, &str)]) -> FieldsDigest {
        fields_digest(&fields.iter().copied().collect(), "Dragline", ReadAs::Typed)
    }

    #[test]
    fn fields_that_change_what_a_body_says_change_the_digest() {
        let page = [("Content-Type", "text/html; charset=utf-8")];
        let with = |field: (&'static str, &'static str)| [page[0], field].to_vec();
        let typed = |kind: &'static str| vec![("content-type", kind)];
        for (fields, is_same, why) in [
            (typed("Text/HTML;charset=UTF-8"), true, "the same in other letters"),
            (typed("application/xhtml+xml; charset=utf-8"), false, "read as XML"),
            (typed("text/xml; charset=utf-8"), false, "a page only if it says so itself"),
            (typed("application/octet-stream"), false, "no page"),
            (vec![], false, "no type: it is looked at"),
            (typed("text/html; charset=windows-1252"), false, "other letters"),
            (with(("X-Robots-Tag", "noindex")), false, "its text is not to be kept"),
            (with(("X-Robots-Tag", "nofollow")), false, "its links are not to be followed"),
            (with(("X-Robots-Tag", "otherbot: noindex")), true, "asked of another crawler"),
            (with(("X-Robots-Tag", "noai")), false, "its use is reserved"),
            (with(("Content-Usage", "train-ai=n")), false, "its use is reserved"),
            (with(("Link", "</a>; rel=canonical")), false, "another URL stands for it"),
            (with(("Link", "</de>; rel=alternate; hreflang=de")), false, "it is there in another language"),
            (with(("Link", "</feed>; rel=alternate; type=application/rss+xml")), true, "no other language"),
            (with(("Link", "</a.css>; rel=preload")), true, "says nothing of the page"),
            (with(("Refresh", "0; url=/a")), false, "it leads elsewhere"),
            (with(("Content-Encoding", "compress")), false, "it cannot be read"),
            (with(("Content-Encoding", "gzip")), true, "bodies are compared decoded"),
            (with(("Date", "Sun, 06 Nov 1994 08:49:37 GMT")), true, "differs each time"),
        ] {
            assert_eq!(digest(&fields) == digest(&page), is_same, "{why}");
        }
        let other = |kind: &'static str| digest(&[("content-type", kind), ("link", "</a>; rel=canonical")]);
        assert_eq!(other("image/png"), digest(&[("content-type", "video/mp4")]), "nobody reads either");
        let files = ["application/pdf", "text/csv", "application/ld+json", "text/plain; charset=utf-16"];
        for (n, one) in files.into_iter().enumerate() {
            assert_ne!(other(one), other("image/png"), "{one} is read, and a picture is not");
            for another in &files[n + 1..] {
                assert_ne!(other(one), other(another), "{one} and {another} are read in other ways");
            }
        }
        let headers = Headers::from_iter([("content-type", "image/png")]);
        let named = ReadAs::ALL.map(|read_as| fields_digest(&headers, "Dragline", read_as));
        let each: HashSet<_> = named.into_iter().collect();
        assert_eq!(each.len(), named.len(), "named as a sitemap or a feed, it is read");
        let hidden = digest(&[("content-type", "application/pdf"), ("x-robots-tag", "none")]);
        assert_ne!(hidden, other("application/pdf"), "not to be kept");
    }

    #[test]
    fn stored_digests_stay_valid() {
        assert_eq!(digest(&[("content-type", "text/html")]), FieldsDigest(766_352_797), "by an earlier program");
    }
}
