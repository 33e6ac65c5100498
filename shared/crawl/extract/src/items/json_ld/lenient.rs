//! JSON as found in pages, with common errors.
//!
//! Crates for JSON with comments (`json5`, `jsonc-parser`, `serde_jsonrc`) do not accept line
//! breaks within strings, HTML comments and CDATA, which pages contain. So the text is repaired,
//! and then read by `serde_json`.

use serde_json::{Deserializer, Value};

/// The most values of one script.
const VALUES_MAX: usize = 1_000;

/// How to treat HTML comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HtmlComments {
    /// Drop them.
    Dropped,
    /// Keep their content: they hide the script from old browsers.
    Opened,
}

/// Reads the values of a script: one if it is valid; otherwise as many as can be read.
pub(super) fn values(script: &str) -> Vec<Value> {
    let script = script.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if script.is_empty() {
        return Vec::new();
    }
    if let Ok(value) = serde_json::from_str(script) {
        return vec![value];
    }
    let mut found = in_a_row(&repair(script, HtmlComments::Dropped));
    if found.is_empty() && script.contains("<!--") {
        found = in_a_row(&repair(script, HtmlComments::Opened));
    }
    if found.is_empty() && script.contains("&quot;") {
        found = in_a_row(&repair(&unescape(script), HtmlComments::Dropped));
    }
    found
}

fn in_a_row(text: &str) -> Vec<Value> {
    Deserializer::from_str(text).into_iter().map_while(Result::ok).take(VALUES_MAX).collect()
}

/// Unescapes a script that was escaped like text. Double escapes stay escaped once.
fn unescape(script: &str) -> String {
    let mut text = script.to_owned();
    for (reference, character) in [("&quot;", "\""), ("&#34;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">")] {
        text = text.replace(reference, character);
    }
    text.replace("&amp;", "&")
}

/// Returns a text as valid JSON: without comments and trailing commas, with control characters
/// escaped. Missing or invalid values become `null`, and lone surrogates U+FFFD.
fn repair(script: &str, comments: HtmlComments) -> String {
    let mut out = String::with_capacity(script.len());
    let mut rest = script;
    let mut depth = 0_usize;
    // The position of the last comma, if only white space has followed it.
    let mut comma = None;
    // Whether only white space has followed a colon.
    let mut lacks_value = false;
    while let Some(first) = rest.chars().next() {
        if let Some(behind) = behind_comment(rest, comments) {
            out.push(' ');
            rest = behind;
            continue;
        }
        if depth > 0 && matches!(first, ',' | '}') && std::mem::take(&mut lacks_value) {
            out.push_str("null");
        }
        if depth > 0 && is_in_word(first) {
            let (word, behind) = rest.split_at(rest.find(|c| !is_in_word(c)).unwrap_or(rest.len()));
            out.push_str(if serde_json::from_str::<Value>(word).is_ok() { word } else { "null" });
            (comma, lacks_value, rest) = (None, false, behind);
            continue;
        }
        rest = &rest[first.len_utf8()..];
        if !first.is_whitespace() {
            lacks_value = first == ':';
        }
        match first {
            '"' => {
                comma = None;
                out.push('"');
                rest = string(rest, &mut out);
                continue;
            }
            '{' | '[' => depth += 1,
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if let Some(at) = comma {
                    out.truncate(at);
                }
            }
            ',' if depth == 0 || comma.is_some() => continue,
            ';' if depth == 0 => continue,
            ',' => {
                comma = Some(out.len());
                out.push(',');
                continue;
            }
            _ => {}
        }
        if !first.is_whitespace() {
            comma = None;
        }
        // JSON has fewer kinds of white space than Unicode.
        out.push(if first.is_whitespace() || first == '\u{feff}' { ' ' } else { first });
    }
    out
}

/// Copies the rest of a string. Returns the text after it.
fn string<'s>(mut rest: &'s str, out: &mut String) -> &'s str {
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        match first {
            '"' => {
                out.push('"');
                return rest;
            }
            '\\' if rest.starts_with('u') => rest = numbered(rest, out),
            '\\' => match rest.chars().next() {
                Some(escaped @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => {
                    out.extend(['\\', escaped]);
                    rest = &rest[1..];
                }
                // Valid in JavaScript, but not in JSON.
                Some('\'') => {}
                _ => out.push_str("\\\\"),
            },
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    rest
}

/// Copies the rest of a numeric escape, from its `u` on. Returns the text after it.
fn numbered<'s>(escape: &'s str, out: &mut String) -> &'s str {
    let unit = |escape: &str| {
        let digits = escape.get(1..5).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let low_behind = || escape.get(5..)?.strip_prefix('\\').filter(|rest| rest.starts_with('u')).and_then(unit);
    let kept = match unit(escape) {
        None => {
            out.push_str("\\\\u");
            return escape.get(1..).unwrap_or_default();
        }
        Some(0xD800..=0xDBFF) if low_behind().is_some_and(|low| (0xDC00..=0xDFFF).contains(&low)) => 11,
        // A lone surrogate, left by cutting a text between the halves of a pair.
        Some(0xD800..=0xDFFF) => {
            out.push(char::REPLACEMENT_CHARACTER);
            return escape.get(5..).unwrap_or_default();
        }
        Some(_) => 5,
    };
    let (kept, behind) = escape.split_at_checked(kept).unwrap_or((escape, ""));
    out.push('\\');
    out.push_str(kept);
    behind
}

/// Whether a character may be in a number, in a name such as `null`, or in an invalid value.
fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_' | '$' | '%' | '#' | '@' | '\'')
}

/// Returns the text after a comment or CDATA mark at the beginning; `None` if there is none. An
/// unterminated comment covers the whole rest.
fn behind_comment(text: &str, comments: HtmlComments) -> Option<&str> {
    let behind = |begin: &str, end: &str| {
        let inner = text.strip_prefix(begin)?;
        Some(inner.find(end).map_or("", |at| &inner[at + end.len()..]))
    };
    match text.as_bytes().first()? {
        b'/' => behind("/*", "*/").or_else(|| behind("//", "\n")),
        b'<' => {
            let of_html = match comments {
                HtmlComments::Dropped => behind("<!--", "-->"),
                HtmlComments::Opened => text.strip_prefix("<!--"),
            };
            of_html.or_else(|| text.strip_prefix("<![CDATA["))
        }
        b'-' => text.strip_prefix("-->"),
        b']' => text.strip_prefix("]]>"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn invalid_scripts_are_read_as_meant() {
        let one = || vec![json!({"a": "b"})];
        for (script, expected, why) in [
            (r#"{"a":"b"}"#, one(), "as it should be"),
            (" \n ", vec![], "nothing is there"),
            ("\u{feff}{\"a\":\"b\"}", one(), "editors leave a byte order mark"),
            ("{\"a\":\"b\"};", one(), "it looks like JavaScript"),
            ("{\"a\":\"b\",}", one(), "templates write a comma too many"),
            ("{\"a\":\"b\",,\n}", one(), "or two"),
            ("[1,2,]", vec![json!([1, 2])], "in lists, too"),
            ("// x\n{\"a\":/* y */\"b\"}", one(), "comments of JavaScript"),
            ("<!-- x -->{\"a\":\"b\"}", one(), "comments of HTML"),
            ("<!--\n{\"a\":\"b\"}\n//-->", one(), "all of it may be hidden from old browsers"),
            ("//<![CDATA[\n{\"a\":\"b\"}\n//]]>", one(), "or marked for XHTML"),
            ("<![CDATA[{\"a\":\"b\"}]]>", one(), "without a comment around the mark"),
            ("{&quot;a&quot;:&quot;b&quot;}", one(), "a template has escaped what it should not"),
            ("{\"a\":\"b\n\tc\"}", vec![json!({"a": "b\n\tc"})], "lines may break within strings"),
            ("{\"a\":\"it\\'s \\d\"}", vec![json!({"a": "it's \\d"})], "some escape more than they may"),
            ("{\"a\":\"<!-- // b --> ,}\"}", vec![json!({"a": "<!-- // b --> ,}"})], "what is in strings stays"),
            ("{\"a\":\"\u{1}\u{2028}\"\u{a0}}", vec![json!({"a": "\u{1}\u{2028}"})], "other characters"),
            ("{\"a\":1}{\"a\":2}", vec![json!({"a": 1}), json!({"a": 2})], "several in a row"),
            ("{\"a\":1},\n{\"a\":2},", vec![json!({"a": 1}), json!({"a": 2})], "with commas between them"),
            ("{\"a\":1} oops {\"a\":2}", vec![json!({"a": 1})], "what is before the mistake is kept"),
            ("{\"a\":", vec![], "half a value is none"),
            ("/*", vec![], "a comment that does not end"),
            ("\"\\", vec![], "a string that ends within an escape"),
        ] {
            assert_eq!(values(script), expected, "{script}: {why}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(values(&deep), Vec::<Value>::new(), "nesting has a limit");
    }
}
