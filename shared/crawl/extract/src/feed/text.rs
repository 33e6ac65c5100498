//! Texts of feeds: plain characters, or HTML source.

use std::borrow::Cow;

use data_encoding::BASE64;
use quick_xml::events::BytesStart;
use serde::Serialize;

use crate::{items, tree};

/// The longest text kept, in bytes.
const TEXT_BYTES_MAX: usize = 256 << 10;

/// A text of a feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Text {
    /// Its kind.
    pub kind: TextKind,
    /// Its value, trimmed; never empty.
    pub value: String,
}

/// The kinds of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// Plain: each character stands for itself, so `<b>` is not markup.
    Plain,
    /// The source of an HTML fragment.
    Html,
}

impl Text {
    /// Returns the rendered text, a line for each block; may be empty.
    #[must_use]
    pub fn plain(&self) -> String {
        match self.kind {
            TextKind::Plain => self.value.clone(),
            TextKind::Html if !self.value.contains(['<', '&']) => self.value.clone(),
            TextKind::Html => items::visible_text(&self.value),
        }
    }

    /// Returns the rendered text on one line.
    #[must_use]
    pub fn line(&self) -> String {
        tree::in_one_line(&self.plain())
    }
}

/// How an element's content becomes a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Characters. Tags of elements in it are dropped, their content is kept.
    Plain,
    /// HTML source, in which unescaped elements count too.
    Html,
    /// Plain or HTML, by its looks.
    Unsure,
    /// Elements of XHTML.
    Elements,
    /// XHTML elements in a `div` that is not part of the text (RFC 4287, 3.1.1.3).
    ElementsInDiv,
    /// Characters, or elements if there are any (Atom 0.3).
    CharactersOrElements,
    /// Base64 of characters.
    Base64,
}

impl Form {
    /// Returns the form of an Atom text, by its attributes: those of RFC 4287, or those of Atom
    /// 0.3.
    pub(super) fn from_atom(kind: Option<&str>, mode: Option<&str>) -> Self {
        let kind = kind.unwrap_or("text").split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_html = matches!(kind.as_str(), "html" | "text/html" | "application/xhtml+xml");
        match mode.map(str::trim) {
            Some("base64") => Self::Base64,
            Some("escaped") if is_html => Self::Html,
            Some("escaped") => Self::Plain,
            Some("xml") if is_html => Self::Elements,
            _ => match kind.as_str() {
                "html" | "text/html" => Self::Html,
                "xhtml" => Self::ElementsInDiv,
                "application/xhtml+xml" => Self::Elements,
                "" | "text" | "text/plain" => Self::CharactersOrElements,
                kind if kind.starts_with("text/") || kind.ends_with("+xml") || kind.ends_with("/xml") => Self::Plain,
                _ => Self::Base64,
            },
        }
    }
}

/// A text that is being read.
#[derive(Debug)]
pub(super) struct Capture {
    form: Form,
    value: String,
    /// The number of open elements in it.
    depth: usize,
    has_elements: bool,
    pub(super) is_cut: bool,
}

impl Capture {
    pub(super) fn new(form: Form) -> Self {
        Self { form, value: String::new(), depth: 0, has_elements: false, is_cut: false }
    }

    /// Adds characters.
    pub(super) fn text(&mut self, text: &str) {
        match self.form {
            Form::Elements | Form::ElementsInDiv => self.push(&quick_xml::escape::partial_escape(text)),
            Form::CharactersOrElements if self.has_elements => self.push(&quick_xml::escape::partial_escape(text)),
            _ => self.push(text),
        }
    }

    /// Adds a start tag.
    pub(super) fn start(&mut self, element: &BytesStart<'_>, tag: Tag) {
        if !self.has_elements && self.form == Form::CharactersOrElements {
            self.value = quick_xml::escape::partial_escape(&self.value).into_owned();
        }
        self.has_elements = true;
        if self.is_part(element.local_name().as_ref()) {
            self.push("<");
            self.push(element.local_name().as_ref());
            for attribute in element.attributes().with_checks(false).flatten() {
                if attribute.key.as_namespace_binding().is_none() {
                    self.push(" ");
                    self.push(attribute.key.local_name().as_ref());
                    self.push("=\"");
                    self.push(&attribute.value.replace('"', "&quot;"));
                    self.push("\"");
                }
            }
            self.push(if tag == Tag::Empty { " />" } else { ">" });
        }
        if tag == Tag::Start {
            self.depth += 1;
        }
    }

    /// Adds an end tag. Returns whether it ends the text itself; that tag is not added.
    pub(super) fn end(&mut self, name: &str) -> bool {
        let Some(depth) = self.depth.checked_sub(1) else { return true };
        self.depth = depth;
        if self.is_part(name) {
            self.push("</");
            self.push(name);
            self.push(">");
        }
        false
    }

    /// Whether an element at this depth is part of the text. If not, a space separates the words
    /// around it.
    fn is_part(&mut self, name: &str) -> bool {
        match self.form {
            Form::Plain | Form::Base64 => {
                self.push(" ");
                false
            }
            Form::ElementsInDiv => self.depth > 0 || name != "div",
            _ => true,
        }
    }

    fn push(&mut self, more: &str) {
        let room = TEXT_BYTES_MAX.saturating_sub(self.value.len());
        let kept = &more[..more.floor_char_boundary(room.min(more.len()))];
        self.is_cut |= kept.len() < more.len();
        self.value.push_str(kept);
    }

    /// Returns the raw characters.
    pub(super) fn characters(&self) -> &str {
        self.value.trim()
    }

    /// Finishes the text; `None` if it is empty, or cannot be read.
    pub(super) fn finish(self) -> Option<Text> {
        let value = match self.form {
            Form::Base64 if !self.has_elements => Cow::Owned(decoded(&self.value)?),
            _ => Cow::Borrowed(self.value.as_str()),
        };
        let value = value.trim();
        let is_html = match self.form {
            Form::Plain => false,
            Form::Html | Form::Elements | Form::ElementsInDiv => true,
            Form::CharactersOrElements => self.has_elements,
            Form::Unsure | Form::Base64 => self.has_elements || looks_like_html(value),
        };
        let kind = if is_html { TextKind::Html } else { TextKind::Plain };
        (!value.is_empty()).then(|| Text { kind, value: value.to_owned() })
    }
}

/// How an element is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// A start tag, to be followed by an end tag.
    Start,
    /// An empty-element tag.
    Empty,
}

fn decoded(text: &str) -> Option<String> {
    let text: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bytes = BASE64.decode(&text).ok()?;
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Whether a text has signs of HTML source: an end tag, a void element, or a character reference.
fn looks_like_html(text: &str) -> bool {
    let begins_name = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic());
    let has_tag = text.split('<').skip(1).any(|rest| {
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        rest.strip_prefix('/').is_some_and(begins_name)
            || matches!(name, "br" | "hr" | "img" | "p" | "wbr") && rest.contains('>')
    });
    has_tag
        || text.split('&').skip(1).any(|rest| {
            let name = rest.strip_prefix('#').unwrap_or(rest);
            // The longest entity name has 31 letters.
            let end = name.bytes().take(33).position(|byte| byte == b';');
            end.is_some_and(|end| end > 0 && name.as_bytes().iter().take(end).all(u8::is_ascii_alphanumeric))
        })
}
