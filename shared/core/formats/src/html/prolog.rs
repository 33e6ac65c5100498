//! The prolog of an XML document, before its root element.

/// The namespace of HTML's elements.
const XHTML: &str = "http://www.w3.org/1999/xhtml";

/// Whether a text declared as XML is a page: its root is an `<html>` in the XHTML namespace, which
/// browsers show as a page.
#[must_use]
pub fn is_xhtml(text: &str) -> bool {
    let Some(after_name) = after_prolog(text).strip_prefix("<html") else { return false };
    let attributes = after_name.split('>').next().unwrap_or_default();
    after_name.starts_with(|c: char| c.is_ascii_whitespace())
        && attributes.split_once(XHTML).is_some_and(|(before, after)| {
            let before = before.trim_end_matches(['"', '\'']).trim_ascii_end();
            let name = before.strip_suffix('=').map(str::trim_ascii_end);
            name.is_some_and(|name| name.ends_with("xmlns")) && after.starts_with(['"', '\''])
        })
}

/// Returns the text from its root element on, without declaration, instructions, comments and
/// document type: an HTML tokenizer would read part of those as text.
pub(super) fn after_prolog(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        let after = if let Some(instruction) = rest.strip_prefix("<?") {
            instruction.split_once("?>").map(|(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix("<!--") {
            comment.split_once("-->").map(|(_, after)| after)
        } else if let Some(doctype) = rest.strip_prefix("<!DOCTYPE") {
            after_doctype(doctype)
        } else {
            None
        };
        match after {
            Some(after) => rest = after,
            None => return rest,
        }
    }
}

/// Returns the text after a document type, which may declare entities between brackets.
fn after_doctype(text: &str) -> Option<&str> {
    let (mut quote, mut is_in_brackets) = (None, false);
    let end = text.bytes().position(|byte| {
        match (quote, byte) {
            (Some(open), byte) if open == byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'[') => is_in_brackets = true,
            (None, b']') => is_in_brackets = false,
            (None, b'>') => return !is_in_brackets,
            _ => {}
        }
        false
    })?;
    Some(&text[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prologs() {
        for (text, expected, why) in [
            ("<html>", "<html>", "none"),
            (" \n<html> ", "<html> ", "white space"),
            ("<?xml version='1.0'?>\n<html>", "<html>", "a declaration"),
            ("<?xml-stylesheet href='a>b'?><html>", "<html>", "a bracket in an instruction"),
            ("<!-- a > b --><!----><html>", "<html>", "comments"),
            ("<!DOCTYPE html><html>", "<html>", "a document type"),
            ("<!DOCTYPE html PUBLIC \"a>b\" 'c]'><html>", "<html>", "with names"),
            ("<!DOCTYPE html [<!ENTITY a \"]>\"> <!ENTITY b 'c'>]><html>", "<html>", "with entities"),
            ("<!DOCTYPE html [<html>", "<!DOCTYPE html [<html>", "that never ends"),
            ("<!-- <html>", "<!-- <html>", "a comment that never ends"),
            ("text", "text", "none, nor a root"),
            ("", "", "nothing"),
        ] {
            assert_eq!(after_prolog(text), expected, "{why}: {text}");
        }
    }

    #[test]
    fn roots() {
        for (text, expected, why) in [
            ("<html xmlns='http://www.w3.org/1999/xhtml'>", true, "a page"),
            (
                "<?xml?><!DOCTYPE html><html\nlang='de' xmlns = \"http://www.w3.org/1999/xhtml\" >",
                true,
                "with a prolog",
            ),
            ("<html>", false, "without a namespace"),
            ("<html xmlns='http://www.w3.org/2000/svg'>", false, "of another"),
            ("<html title='http://www.w3.org/1999/xhtml'>", false, "that is named elsewhere"),
            ("<html xmlns:h='http://www.w3.org/1999/xhtml'>", false, "for others"),
            ("<htmlx xmlns='http://www.w3.org/1999/xhtml'>", false, "another element"),
            ("<rss><html xmlns='http://www.w3.org/1999/xhtml'>", false, "further in"),
            ("text", false, "no markup"),
        ] {
            assert_eq!(is_xhtml(text), expected, "{why}: {text}");
        }
    }
}
