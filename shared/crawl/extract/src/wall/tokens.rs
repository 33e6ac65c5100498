//! Splits a page's text into tags, texts and the contents of scripts: enough to distinguish a
//! marker in a script from one quoted in an article.
//!
//! The actual page parser is in `dragline-formats`, which the crawl step does not depend on. This
//! one copies nothing, does not recurse, and only moves forward, so that its time is linear in the
//! text.

/// The elements whose contents are not markup (WHATWG HTML, 13.1.2), as far as they matter here.
const RAW: [&str; 8] = ["script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp"];

/// A piece of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Start {
        name: &'t str,
        /// As written.
        attributes: &'t str,
    },
    End(&'t str),
    Text(&'t str),
    /// The contents of the last raw element.
    Raw {
        name: &'t str,
        text: &'t str,
    },
}

/// The pieces of a page, in order.
pub(super) struct Tokens<'t> {
    rest: &'t str,
    raw: Option<&'t str>,
}

impl<'t> Tokens<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { rest: text, raw: None }
    }

    /// Takes the text up to this byte, which must be a character boundary.
    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn take_raw(&mut self, name: &'t str) -> Token<'t> {
        let mut at = 0;
        let end = loop {
            let Some(found) = self.rest.get(at..).and_then(|rest| rest.find("</")) else { break self.rest.len() };
            let behind = at + found + 2;
            let is_end = self.rest.as_bytes().get(behind..behind + name.len());
            if is_end.is_some_and(|end| end.eq_ignore_ascii_case(name.as_bytes())) {
                break at + found;
            }
            at = behind;
        };
        Token::Raw { name, text: self.take(end) }
    }

    /// Takes a tag; the rest begins with `<`, followed by `/` for an end tag, and a letter.
    fn take_tag(&mut self, is_end: bool) -> Token<'t> {
        self.take(1 + usize::from(is_end));
        let name = self.take(
            self.rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).unwrap_or(self.rest.len()),
        );
        let attributes = self.take(end_of_tag(self.rest.as_bytes()));
        self.take(1);
        if is_end {
            return Token::End(name);
        }
        if RAW.iter().any(|raw| raw.eq_ignore_ascii_case(name)) {
            self.raw = Some(name);
        }
        Token::Start { name, attributes }
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        if let Some(name) = self.raw.take() {
            return Some(self.take_raw(name));
        }
        loop {
            let bytes = self.rest.as_bytes();
            match bytes {
                [] => return None,
                [b'<', b'/', c, ..] if c.is_ascii_alphabetic() => return Some(self.take_tag(true)),
                [b'<', c, ..] if c.is_ascii_alphabetic() => return Some(self.take_tag(false)),
                [b'<', b'!', b'-', b'-', ..] => {
                    let end = self.rest.find("-->").map_or(self.rest.len(), |at| at + 3);
                    self.take(end);
                }
                [b'<', b'!' | b'?' | b'/', ..] => {
                    let end = self.rest.find('>').map_or(self.rest.len(), |at| at + 1);
                    self.take(end);
                }
                [_, others @ ..] => {
                    let end = others.iter().position(|byte| *byte == b'<').map_or(bytes.len(), |at| at + 1);
                    return Some(Token::Text(self.take(end)));
                }
            }
        }
    }
}

/// Returns the position of the `>` of a tag, after its name. A `>` in quotes is part of a value,
/// and quotes begin after `=`.
fn end_of_tag(bytes: &[u8]) -> usize {
    let (mut quote, mut before) = (None, b' ');
    for (at, byte) in bytes.iter().copied().enumerate() {
        match quote {
            Some(end) if byte == end => quote = None,
            None if byte == b'>' => return at,
            None if matches!(byte, b'"' | b'\'') && before == b'=' => quote = Some(byte),
            Some(_) | None => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    bytes.len()
}

/// Returns the undecoded value of an attribute; empty if it has none, `None` if there is no such
/// attribute.
pub(super) fn attribute<'t>(attributes: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = attributes;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '/')).unwrap_or(rest.len());
        // A name may begin with `=` (WHATWG HTML, 13.2.5.32).
        let (found, behind) = rest.split_at(end.max(1));
        let (value, behind) = match behind.trim_ascii_start().strip_prefix('=') {
            Some(behind) => value(behind.trim_ascii_start()),
            None => ("", behind),
        };
        if found.eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = behind;
    }
}

/// Splits off a value.
fn value(text: &str) -> (&str, &str) {
    let quoted =
        text.strip_prefix('"').map(|rest| (rest, '"')).or_else(|| text.strip_prefix('\'').map(|rest| (rest, '\'')));
    match quoted {
        Some((rest, quote)) => rest.split_once(quote).unwrap_or((rest, "")),
        None => text.split_at(text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len())),
    }
}
