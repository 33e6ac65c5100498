//! The header fields that say how a body is read. A body is the same document only under the same ones.

use std::borrow::Cow;

use dragline_domain::frontier::FieldsDigest;
use dragline_formats::content_coding::ContentCodings;
use dragline_formats::directives::x_robots_tag;
use dragline_formats::html::Syntax;
use dragline_formats::http_fields::{content_type, link_header, refresh, text};
use dragline_formats::warc::Sha1Digest;

use crate::parse::Declared;

/// The URL that a `Link` field calls canonical, as it stands there.
pub(crate) fn canonical_in_header<'v>(links: impl Iterator<Item = &'v str>) -> Option<String> {
    let named = link_header(links).into_iter().find(|link| link.rels.iter().any(|rel| rel == "canonical"));
    named.map(|link| link.target)
}

/// The digest of the fields by which the crawler of this product token reads a body.
///
/// Of bodies that nobody reads as pages, whatever they are called, only noindex matters.
pub(crate) fn fields_digest(headers: &[(String, Vec<u8>)], product_token: &str) -> FieldsDigest {
    let of = |name: &'static str| {
        headers.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice())
    };
    let texts = |name| of(name).map(text).collect::<Vec<Cow<'_, str>>>();
    let directives = x_robots_tag(texts("x-robots-tag").iter().map(AsRef::as_ref), product_token);
    let declared = texts("content-type").first().and_then(|value| content_type(value));
    let can_be_decoded = ContentCodings::parse(of("content-encoding")).is_ok();
    let syntax = match Declared::by(declared.as_ref()) {
        Declared::Page(Syntax::Html) => Some("html"),
        Declared::Page(Syntax::Xhtml) => Some("xhtml"),
        Declared::Xml => Some("xml"),
        Declared::Nothing => Some("nothing"),
        Declared::Other => None,
    };
    let read_by = if let Some(syntax) = syntax.filter(|_| can_be_decoded) {
        let charset = declared.as_ref().and_then(|kind| kind.charset.as_deref()).map(str::to_ascii_lowercase);
        let canonical = canonical_in_header(texts("link").iter().map(AsRef::as_ref));
        let refreshed = texts("refresh").first().and_then(|value| refresh(value)).map(str::to_owned);
        let (noindex, nofollow) = (directives.noindex, directives.nofollow);
        format!("page {syntax} {noindex} {nofollow} {charset:?} {canonical:?} {refreshed:?}")
    } else {
        format!("other {}", directives.noindex)
    };
    let [a, b, c, d, ..] = *Sha1Digest::of(read_by.as_bytes()).as_bytes();
    FieldsDigest(u32::from_be_bytes([a, b, c, d]).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(fields: &[(&str, &str)]) -> FieldsDigest {
        let headers: Vec<_> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect();
        fields_digest(&headers, "Dragline")
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
            (with(("Link", "</a>; rel=canonical")), false, "another URL stands for it"),
            (with(("Link", "</a.css>; rel=preload")), true, "says nothing of the page"),
            (with(("Refresh", "0; url=/a")), false, "it leads elsewhere"),
            (with(("Content-Encoding", "compress")), false, "it cannot be read"),
            (with(("Content-Encoding", "gzip")), true, "bodies are compared decoded"),
            (with(("Date", "Sun, 06 Nov 1994 08:49:37 GMT")), true, "differs each time"),
        ] {
            assert_eq!(digest(&fields) == digest(&page), is_same, "{why}");
        }
        let other = |kind: &'static str| digest(&[("content-type", kind), ("link", "</a>; rel=canonical")]);
        assert_eq!(other("image/png"), digest(&[("content-type", "application/pdf")]), "nobody reads either");
        let hidden = digest(&[("content-type", "application/pdf"), ("x-robots-tag", "none")]);
        assert_ne!(hidden, other("application/pdf"), "not to be kept");
    }

    #[test]
    fn a_digest_stays_what_it_was_when_it_was_stored() {
        assert_eq!(digest(&[("content-type", "text/html")]), FieldsDigest(766_352_797), "by an earlier program");
    }
}
