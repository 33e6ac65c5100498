//! `Content-Type`.

use super::{Headers, is_token_char, quoted_string};

/// A media type as a server declared it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentType {
    /// Type and subtype in lower case, such as `text/html`.
    pub essence: String,
    /// The label of the declared character encoding, as written; `None` if there is none.
    pub charset: Option<String>,
}

impl ContentType {
    /// Whether the server does not know the type: then browsers look at the body (WHATWG MIME
    /// Sniffing, 5.1 and 7).
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self.essence.as_str(), "*/*" | "unknown/unknown" | "application/unknown")
    }

    /// Whether it is text, in any syntax.
    #[must_use]
    pub fn is_text(&self) -> bool {
        const SUBTYPES: [&str; 7] = ["xml", "json", "javascript", "ecmascript", "x-javascript", "x-ndjson", "jsonl"];
        let (kind, subtype) = self.essence.split_once('/').unwrap_or_default();
        kind == "text"
            || subtype.ends_with("+xml")
            || subtype.ends_with("+json")
            || (kind == "application" && SUBTYPES.contains(&subtype))
    }
}

/// Reads a `Content-Type`, or the content of a `<meta http-equiv=content-type>`, by the WHATWG MIME
/// Sniffing standard.
///
/// It is more lenient than the standard, as a crawler has no user to show an error to: junk after
/// the subtype or a value is ignored, and single quotes around the charset are removed. The first
/// of several charsets applies. `None` without type and subtype.
#[must_use]
pub fn content_type(value: &str) -> Option<ContentType> {
    let (media_type, rest) = split_token(value.trim_start());
    let (subtype, parameters) = split_token(rest.strip_prefix('/')?);
    if media_type.is_empty() || subtype.is_empty() {
        return None;
    }
    let essence = format!("{media_type}/{subtype}").to_ascii_lowercase();
    Some(ContentType { essence, charset: charset(parameters) })
}

impl Headers {
    /// Reads the type of a message from all its `Content-Type` fields (WHATWG Fetch, "extract a
    /// MIME type"): the last type applies, also if one field lists several. An unreadable one, or
    /// `*/*`, is skipped. A charset stays the same until another type, or another charset, is
    /// named. `None` if there is no type.
    ///
    /// ```
    /// use dragline_formats::http_fields::Headers;
    ///
    /// let headers: Headers = [("Content-Type", "text/plain"), ("Content-Type", "text/html")].into_iter().collect();
    /// assert_eq!(headers.content_type().unwrap().essence, "text/html");
    /// ```
    #[must_use]
    pub fn content_type(&self) -> Option<ContentType> {
        let fields: Vec<_> = self.texts("content-type").collect();
        let values = fields.iter().flat_map(|field| listed(field));
        values.filter_map(content_type).filter(|kind| kind.essence != "*/*").fold(None, |before, kind| {
            let before = before.filter(|before: &ContentType| before.essence == kind.essence);
            let charset = kind.charset.or_else(|| before?.charset);
            Some(ContentType { charset, ..kind })
        })
    }
}

/// Returns the values of a list, separated by commas outside quoted strings.
fn listed(field: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    field.split(move |c| {
        let ends = c == ',' && !is_quoted;
        is_quoted ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && is_quoted && !is_escaped;
        ends
    })
}

/// Returns a text's leading token, which may be empty, and the rest.
fn split_token(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_token_char(c)).unwrap_or(text.len()))
}

/// Returns the first charset among parameters.
fn charset(mut parameters: &str) -> Option<String> {
    while let Some(start) = parameters.find(';') {
        let (name, rest) = split_token(parameters[start + 1..].trim_start());
        // A parameter without a value; the next starts at the next semicolon.
        let Some(written) = rest.trim_start().strip_prefix('=') else {
            parameters = rest;
            continue;
        };
        let written = written.trim_start();
        let (value, rest) = match written.strip_prefix('"') {
            Some(quoted) => quoted_string(quoted),
            None => {
                let (value, rest) = written.split_at(written.find([';', ',', ' ', '\t']).unwrap_or(written.len()));
                (value.trim_matches('\'').to_owned(), rest)
            }
        };
        if name.eq_ignore_ascii_case("charset") && !value.trim().is_empty() {
            return Some(value.trim().to_owned());
        }
        parameters = rest;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_read() {
        for (value, essence, charset, why) in [
            ("text/html", "text/html", None, "no parameter"),
            (" Text/HTML ;Charset=UTF-8", "text/html", Some("UTF-8"), "case, blanks"),
            ("text/html; charset=\"utf-8\"", "text/html", Some("utf-8"), "quoted"),
            ("text/html; charset=\"ut\\f-8\"", "text/html", Some("utf-8"), "quoted, with an escape"),
            ("text/html; charset=\"utf-8", "text/html", Some("utf-8"), "a quote that does not end"),
            ("text/html; charset='utf-8'", "text/html", Some("utf-8"), "quoted wrongly"),
            ("text/html; charset = utf-8 ", "text/html", Some("utf-8"), "blanks around the sign"),
            ("text/html; charset=utf-8; charset=latin1", "text/html", Some("utf-8"), "the first counts"),
            ("text/html; charset=; charset=latin1", "text/html", Some("latin1"), "an empty one does not"),
            ("text/html; charset=\" \"; charset=latin1", "text/html", Some("latin1"), "nor a blank one"),
            ("text/html; charset", "text/html", None, "no value"),
            ("text/html; x=\"a;charset=b\"; charset=utf-8", "text/html", Some("utf-8"), "a semicolon in quotes"),
            ("text/html; x;; charset=utf-8", "text/html", Some("utf-8"), "parameters that are not valid"),
            ("text/html; ; =x; charset=utf-8", "text/html", Some("utf-8"), "more of them"),
            ("text/html, text/html; charset=utf-8", "text/html", Some("utf-8"), "two fields made one"),
            ("text/html; charset=utf-8, text/plain", "text/html", Some("utf-8"), "two fields made one"),
            ("application/xhtml+xml; profile=\"x\"", "application/xhtml+xml", None, "another parameter"),
            ("text/html junk; charset=utf-8", "text/html", Some("utf-8"), "junk after the subtype"),
        ] {
            let expected = ContentType { essence: essence.to_owned(), charset: charset.map(str::to_owned) };
            assert_eq!(content_type(value), Some(expected), "{value}: {why}");
        }
        for value in ["", "text", "text/", "/html", "text /html", "; charset=utf-8", "ü/html", "text/;charset=x"] {
            assert_eq!(content_type(value), None, "{value}: no type and subtype");
        }
    }

    #[test]
    fn the_last_of_several_types_applies() {
        for (fields, essence, charset, why) in [
            // The examples of WHATWG Fetch.
            (&["text/plain;charset=gbk, text/html"][..], Some("text/html"), None, "another type has its own charset"),
            (
                &["text/html;charset=gbk;a=b, text/html;x=y"],
                Some("text/html"),
                Some("gbk"),
                "a charset stays if the type does",
            ),
            (&["text/html;charset=gbk;a=b", "text/html;x=y"], Some("text/html"), Some("gbk"), "in two fields"),
            (
                &["text/html;charset=gbk", "x/x", "text/html;x=y"],
                Some("text/html"),
                None,
                "another type is between them",
            ),
            (&["text/html", "cannot-parse"], Some("text/html"), None, "what cannot be read says nothing"),
            (&["text/html", "*/*"], Some("text/html"), None, "nor does any type"),
            (&["text/html", ""], Some("text/html"), None, "nor does nothing"),
            (&["text/plain", "text/html;charset=utf-8"], Some("text/html"), Some("utf-8"), "the last one"),
            (&["text/html;charset=a", "text/html;charset=b"], Some("text/html"), Some("b"), "the last charset"),
            (&["text/html;x=\"a,text/plain\";charset=b"], Some("text/html"), Some("b"), "a comma in a text"),
            (&["text/html;x=\"a\\\",text/plain\""], Some("text/html"), None, "behind a quote that is escaped"),
            (&["text/html, charset=utf-8"], Some("text/html"), None, "a comma in place of a semicolon"),
            (&["*/*"], None, None, "any type is none"),
            (&[], None, None, "no field"),
        ] {
            let headers: Headers = fields.iter().map(|value| ("Content-Type", *value)).collect();
            let found = headers.content_type();
            assert_eq!(found.as_ref().map(|found| found.essence.as_str()), essence, "{fields:?}: {why}");
            assert_eq!(found.and_then(|found| found.charset).as_deref(), charset, "{fields:?}: {why}");
        }
    }
}
