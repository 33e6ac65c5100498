//! Fields with URLs: `Location`, `Link` (RFC 8288), `Refresh`.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, percent_encode};

use super::{is_token_char, quoted_string};

/// Returns the reference in a `Location` field. Bytes beyond ASCII are percent-encoded as received,
/// whatever their character set, like in browsers: the server knows their meaning.
#[must_use]
pub fn location(value: &[u8]) -> Cow<'_, str> {
    percent_encode(value.trim_ascii(), &AsciiSet::EMPTY).into()
}

/// The limit on links that are read from all `Link` fields of a response.
pub const HEADER_LINKS_MAX: usize = 100;

/// The limit on languages of one link. It usually has one.
const LANGUAGES_MAX: usize = 10;

/// A link in a response's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderLink {
    /// The target as written, relative to the response's URL.
    pub target: String,
    /// The relations of the target, in lower case, such as `canonical`; never empty.
    pub rels: Vec<String>,
    /// The languages of the target (`hreflang`), as written, at most 10.
    pub languages: Vec<String>,
}

/// Reads the values of all `Link` fields, by RFC 8288 appendix B.
///
/// Leaves out links without a relation, and links with an `anchor`: they are about another resource
/// than the response. Returns at most [`HEADER_LINKS_MAX`]; a malformed value is read up to the
/// error.
pub fn link_header<'v>(values: impl Iterator<Item = &'v str>) -> Vec<HeaderLink> {
    values.flat_map(Links).filter_map(LinkValue::link).take(HEADER_LINKS_MAX).collect()
}

/// The link-values in the unread rest of one field value.
struct Links<'v>(&'v str);

/// The parameters of one link.
struct LinkValue<'v> {
    target: &'v str,
    /// The first `rel`; `None` without one.
    rel: Option<String>,
    languages: Vec<String>,
    /// Whether it is about the response itself.
    context: Context,
}

#[derive(Clone, Copy)]
enum Context {
    Response,
    /// It is about another resource, which an `anchor` names.
    Other,
}

impl<'v> Iterator for Links<'v> {
    type Item = LinkValue<'v>;

    fn next(&mut self) -> Option<LinkValue<'v>> {
        let start = self.0.trim_start_matches([' ', '\t', ',']);
        let (target, mut rest) = start.strip_prefix('<')?.split_once('>')?;
        let mut link =
            LinkValue { target: target.trim(), rel: None, languages: Vec::new(), context: Context::Response };
        while let Some(parameter) = rest.trim_start().strip_prefix(';') {
            let (name, value, after) = read_parameter(parameter);
            rest = after;
            if name.eq_ignore_ascii_case("rel") {
                link.rel.get_or_insert(value);
            } else if name.eq_ignore_ascii_case("hreflang") && link.languages.len() < LANGUAGES_MAX {
                link.languages.push(value);
            } else if name.eq_ignore_ascii_case("anchor") {
                link.context = Context::Other;
            }
        }
        // Anything but a comma here is junk with an unknown end.
        let rest = rest.trim_start();
        self.0 = if rest.starts_with(',') { rest } else { "" };
        Some(link)
    }
}

impl LinkValue<'_> {
    fn link(self) -> Option<HeaderLink> {
        let rels: Vec<String> = self.rel?.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
        let about_response = matches!(self.context, Context::Response);
        let (target, languages) = (self.target.to_owned(), self.languages);
        (about_response && !rels.is_empty()).then_some(HeaderLink { target, rels, languages })
    }
}

/// Returns name and value of a parameter, and the rest. A parameter without a value has an empty
/// one.
fn read_parameter(text: &str) -> (&str, String, &str) {
    let text = text.trim_start();
    let (name, rest) = text.split_at(text.find(|c| !is_token_char(c)).unwrap_or(text.len()));
    let Some(written) = rest.trim_start().strip_prefix('=') else { return (name, String::new(), rest) };
    let written = written.trim_start();
    match written.strip_prefix('"') {
        Some(quoted) => {
            let (value, rest) = quoted_string(quoted);
            (name, value, rest)
        }
        None => {
            let (value, rest) = written.split_at(written.find([';', ',']).unwrap_or(written.len()));
            (name, value.trim_end().to_owned(), rest)
        }
    }
}

/// Returns the URL in a `Refresh` field, or in the content of a `<meta http-equiv=refresh>`, as
/// written: relative to the page's base. `None` if it is not a refresh, or reloads the page itself.
/// Its delay does not matter to a crawler.
///
/// These are the HTML standard's "shared declarative refresh steps", the same for both.
#[must_use]
pub fn refresh(value: &str) -> Option<&str> {
    let value = value.trim_ascii_start();
    // The time may be only a fraction.
    let behind_time = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if behind_time.len() == value.len() {
        return None;
    }
    let text = behind_time.trim_ascii_start();
    let text = text.strip_prefix([';', ',']).unwrap_or(text);
    if text.len() == behind_time.len() {
        return None;
    }
    let text = text.trim_ascii_start();
    // Without `url` and `=`, the text is the URL: quotes are part of it if it starts with a `u`,
    // and are removed if not.
    let url = match text.strip_prefix(['u', 'U']) {
        None => unquoted(text),
        Some(_) => after_url_sign(text).map_or(text, unquoted),
    };
    let url = url.trim_ascii();
    (!url.is_empty()).then_some(url)
}

/// Returns the text after `url`, blanks and `=`; `None` if one of them is missing.
fn after_url_sign(text: &str) -> Option<&str> {
    let (name, rest) = text.split_at_checked("url".len())?;
    let value = rest.trim_ascii_start().strip_prefix('=')?;
    name.eq_ignore_ascii_case("url").then(|| value.trim_ascii_start())
}

/// Removes the quotes around a text, and anything after them.
fn unquoted(text: &str) -> &str {
    let Some(quote @ ('"' | '\'')) = text.chars().next() else { return text };
    text[1..].split(quote).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_keeps_its_bytes() {
        for (value, expected, why) in [
            (b"/a?b=%20c".as_slice(), "/a?b=%20c", "plain"),
            (b"/caf\xe9?q=\xfc", "/caf%E9?q=%FC", "Latin-1"),
            ("/caf\u{e9}".as_bytes(), "/caf%C3%A9", "UTF-8"),
            (b" /a\r", "/a", "without the white space around it"),
        ] {
            assert_eq!(location(value), expected, "{why}");
        }
    }

    #[test]
    fn languages_of_links_are_read() {
        for (value, expected, why) in [
            ("<a>; rel=alternate; hreflang=de", &["de"][..], "a token"),
            ("<a>; hreflang=\"en-GB\"; rel=alternate", &["en-GB"], "quoted, and before its relation"),
            ("<a>; rel=alternate; HREFLANG=de; hreflang=de-CH", &["de", "de-CH"], "several"),
            ("<a>; rel=alternate", &[], "none"),
            ("<a>; rel=alternate; hreflang", &[""], "one without a value"),
        ] {
            let links = link_header(std::iter::once(value));
            assert_eq!(links[0].languages, expected, "{value}: {why}");
        }
        let many = format!("<a>; rel=alternate{}", "; hreflang=de".repeat(100));
        assert_eq!(link_header(std::iter::once(many.as_str()))[0].languages.len(), LANGUAGES_MAX, "not all of many");
    }

    #[test]
    fn links_are_read() {
        /// Field values, the links in them as target and relations, and why.
        type Case<'t> = (&'t [&'t str], &'t [(&'t str, &'t [&'t str])], &'t str);
        let cases: &[Case<'_>] = &[
            (&["<https://a.example/>; rel=\"canonical\""], &[("https://a.example/", &["canonical"])], "quoted"),
            (&["<a>;rel=Canonical"], &[("a", &["canonical"])], "a token, in any case"),
            (&["< a > ; REL = \"next  archives\""], &[("a", &["next", "archives"])], "two relations, blanks"),
            (&["<a>; rel=next, <b>; rel=prev"], &[("a", &["next"]), ("b", &["prev"])], "two links"),
            (&["<a>; rel=next", "<b>; rel=prev"], &[("a", &["next"]), ("b", &["prev"])], "two fields"),
            (&["<a,b;c>; rel=next"], &[("a,b;c", &["next"])], "delimiters within the target"),
            (&["<a>; title=\"x, <y>; rel=z\"; rel=next"], &[("a", &["next"])], "delimiters within quotes"),
            (&["<a>; title=\"\\\"\"; rel=next"], &[("a", &["next"])], "an escaped quote"),
            (&["<a>; rel=next; rel=prev"], &[("a", &["next"])], "the first relation counts"),
            (&["<a>; crossorigin; rel=preload"], &[("a", &["preload"])], "a parameter without a value"),
            (&["<a>; ; rel=next;"], &[("a", &["next"])], "empty parameters"),
            (&[", ,<a>; rel=next,,"], &[("a", &["next"])], "empty links"),
            (&["<>; rel=canonical"], &[("", &["canonical"])], "the response itself"),
            (&["<a>; rel=\"next"], &[("a", &["next"])], "a quote that does not end"),
            (&["<a>; rel=next; anchor=\"#x\", <b>; rel=prev"], &[("b", &["prev"])], "about another resource"),
            (&["<a>, <b>; rel=prev"], &[("b", &["prev"])], "no relation"),
            (&["<a>; rel=\"\""], &[], "an empty relation"),
            (&["<a>; rev=next"], &[], "a relation the other way"),
            (&["a; rel=next"], &[], "no brackets"),
            (&["<a; rel=next"], &[], "a bracket that does not end"),
            (
                &["<a>; rel=next junk <b>; rel=prev"],
                &[("a", &["next", "junk", "<b>"])],
                "junk behind a token reads as relations",
            ),
            (&["<a>; rel=\"next\" junk, <b>; rel=prev"], &[("a", &["next"])], "junk behind quotes ends it all"),
            (&[""], &[], "nothing"),
        ];
        for (values, expected, why) in cases {
            let links = link_header(values.iter().copied());
            let expected: Vec<HeaderLink> = expected
                .iter()
                .map(|(target, rels)| HeaderLink {
                    languages: Vec::new(),
                    target: (*target).to_owned(),
                    rels: rels.iter().map(|&rel| rel.to_owned()).collect(),
                })
                .collect();
            assert_eq!(links, expected, "{why}: {values:?}");
        }
    }

    #[test]
    fn links_are_capped() {
        let many = "<a>; rel=next,".repeat(HEADER_LINKS_MAX + 1);
        assert_eq!(link_header([many.as_str(), &many].into_iter()).len(), HEADER_LINKS_MAX);
    }

    #[test]
    fn refreshes_lead_to_a_url() {
        for (value, target, why) in [
            ("5", None, "the page itself"),
            ("5;", None, "the page itself"),
            ("0; url=/a", Some("/a"), "the usual form"),
            ("0;URL=/a", Some("/a"), "capitals"),
            ("0,url=/a", Some("/a"), "a comma"),
            ("0 url=/a", Some("/a"), "a blank"),
            ("5 /a", Some("/a"), "a blank, and no `url`"),
            (" 0 ; url = /a ", Some("/a"), "blanks"),
            ("0; url='/a' b", Some("/a"), "quotes end the URL"),
            ("0; url=\"/a", Some("/a"), "or do not end"),
            ("0; /a", Some("/a"), "no `url`"),
            ("0; '/a b'", Some("/a b"), "no `url`, but quotes"),
            ("0; \"url=/a\"", Some("url=/a"), "a `url` within quotes is part of the URL"),
            ("0; url/a", Some("url/a"), "so is one without a sign"),
            ("0; urls=/a", Some("urls=/a"), "another word"),
            ("0; urn:x", Some("urn:x"), "another word with `u`"),
            ("0; u'a'", Some("u'a'"), "after which quotes belong to it"),
            ("0; u", Some("u"), "a short one"),
            ("0; uü", Some("uü"), "not cut within a character"),
            ("0; ür=/a", Some("ür=/a"), "not in ASCII"),
            ("0; url=", None, "an empty URL"),
            ("0; url=''", None, "an empty URL in quotes"),
            ("0; url=' /a '", Some("/a"), "blanks within quotes"),
            ("1.9; url=/a", Some("/a"), "a fraction"),
            (".5; url=/a", Some("/a"), "a fraction alone"),
            (".;url=/a", Some("/a"), "a fraction of nothing"),
            ("1..2.; url=/a", Some("/a"), "however written"),
            ("99999999999999999999999; url=/a", Some("/a"), "a long time"),
            ("0; url=/ä?b;c,d", Some("/ä?b;c,d"), "delimiters in the URL"),
            ("", None, "nothing"),
            ("url=/a", None, "no time"),
            ("-1; url=/a", None, "no number"),
            ("5s; url=/a", None, "a unit"),
            ("; url=/a", None, "no time"),
        ] {
            assert_eq!(refresh(value), target, "{value}: {why}");
        }
    }
}
