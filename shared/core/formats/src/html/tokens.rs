//! Splitting a page's text into tags and texts (WHATWG HTML, tokenization).
//!
//! Comments and document types are skipped. Only text that must be decoded is copied.

use html5gum::State;
use memchr::{memchr, memchr2};

use super::cdata::Cdata;
use super::character_reference::{Reference, ReferenceContext};
use super::collector::Collector;
use super::open_elements::Name;
use super::scan::bytes_before;
use super::tag::{Element, Tag, ValueTreatment};

/// The limit on a name, in bytes: longer than any known name, so that a cut name is never one of
/// them.
const NAME_BYTES_MAX: usize = 24;

/// The limit on the attributes of one tag: in a tag with more, everything up to the next `>` is
/// skipped. Pages have some tens at most.
const ATTRIBUTES_MAX: usize = 256;

/// The replacement of a NUL that is not dropped.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// The bytes that end a run of text.
const IN_TEXT: &[u8] = b"&<\0\r";

/// The kind of the current tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TagKind {
    Start,
    End,
}

/// How a tag or an attribute ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TagEnd {
    Yes,
    /// The page ends within it.
    ByPage,
}

/// How a script hides its end tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    No,
    /// It is in a comment, which once protected it from old browsers.
    Comment,
    /// It is in a script in a comment.
    ScriptInComment,
}

/// The tokenizer, which passes on tags and texts.
#[derive(Debug)]
pub(super) struct Tokens<'h, 'c, 'l> {
    text: &'h [u8],
    /// The position in it.
    at: usize,
    collector: &'c mut Collector<'l>,
    tag: Tag,
    /// A name converted to lower case, if it was written otherwise.
    name: Vec<u8>,
    /// The last start tag: within raw text, only its end tag has a meaning.
    last_start: Element,
    /// Tracks CDATA sections within raw text, in which end tags are ignored.
    cdata: Option<Cdata>,
}

impl<'h, 'c, 'l> Tokens<'h, 'c, 'l> {
    pub(super) fn new(html: &'h str, collector: &'c mut Collector<'l>, value_bytes_max: usize) -> Self {
        Self {
            text: html.as_bytes(),
            at: 0,
            collector,
            tag: Tag::new(value_bytes_max),
            name: Vec::with_capacity(NAME_BYTES_MAX),
            last_start: Element::Other,
            cdata: None,
        }
    }

    /// Reads the page to its end.
    pub(super) fn read(mut self) {
        let mut state = State::Data;
        while self.at < self.text.len() {
            state = match state {
                State::Data => self.data(),
                State::RcData => self.raw_text(IN_TEXT, state),
                State::RawText => self.raw_text(b"<\0\r", state),
                State::ScriptData => self.script(),
                State::CdataSection => self.cdata_section(),
                State::PlainText => {
                    self.emit_unread(self.text.len());
                    state
                }
            };
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'h [u8] {
        &self.text[self.at..]
    }

    fn emit(&mut self, piece: &[u8]) {
        if let Some(cdata) = &mut self.cdata {
            cdata.read(piece);
        }
        self.collector.text(piece);
    }

    /// Emits this many bytes as they are.
    fn emit_next(&mut self, bytes: usize) {
        let piece = &self.rest()[..bytes];
        self.at += bytes;
        self.emit(piece);
    }

    /// Emits the text up to one of these bytes, and returns that byte.
    #[inline(always)]
    fn emit_until(&mut self, needles: &[u8]) -> Option<u8> {
        let bytes = bytes_before(needles, self.rest());
        if bytes > 0 {
            self.emit_next(bytes);
        }
        self.peek(0)
    }

    /// Emits everything up to this position as text without references.
    fn emit_unread(&mut self, end: usize) {
        while self.at < end {
            let bytes = bytes_before(b"\0\r", &self.text[self.at..end]);
            if bytes > 0 {
                self.emit_next(bytes);
            }
            if self.at < end {
                self.emit_replaced();
            }
        }
    }

    /// Emits the replacement of a NUL or a carriage return.
    fn emit_replaced(&mut self) {
        if self.peek(0) == Some(b'\0') {
            self.at += 1;
            self.emit(REPLACEMENT);
        } else {
            self.skip_line_break();
            self.emit(b"\n");
        }
    }

    fn skip_line_break(&mut self) {
        self.at += if self.rest().starts_with(b"\r\n") { 2 } else { 1 };
    }

    fn emit_reference(&mut self) {
        let reference = Reference::read(self.rest(), ReferenceContext::Text);
        self.at += reference.bytes;
        self.emit(&reference.text);
    }

    /// Skips everything up to and including this byte.
    fn skip_past(&mut self, end: u8) {
        self.at += memchr(end, self.rest()).map_or(self.rest().len(), |at| at + 1);
    }

    /// Reads text and markup, until a tag changes how to continue.
    fn data(&mut self) -> State {
        loop {
            match self.emit_until(IN_TEXT) {
                None => return State::Data,
                Some(b'<') => match self.markup() {
                    State::Data => {}
                    state => return state,
                },
                Some(b'&') => self.emit_reference(),
                // As tree builders do; in foreign elements they replace it.
                Some(b'\0') if !self.collector.has_cdata() => self.at += 1,
                Some(_) => self.emit_replaced(),
            }
        }
    }

    /// Reads the markup after a `<`.
    fn markup(&mut self) -> State {
        match (self.peek(1), self.peek(2)) {
            (Some(first), _) if first.is_ascii_alphabetic() => {
                self.at += 1;
                return self.tag(TagKind::Start);
            }
            (Some(b'/'), Some(first)) if first.is_ascii_alphabetic() => {
                self.at += 2;
                return self.tag(TagKind::End);
            }
            (Some(b'/'), Some(_)) | (Some(b'?'), _) => self.skip_past(b'>'),
            (Some(b'/'), None) => self.emit_next(2),
            (Some(b'!'), _) => return self.declaration(),
            _ => self.emit_next(1),
        }
        State::Data
    }

    /// Reads the markup after `<!`: a comment, a document type, a CDATA section.
    fn declaration(&mut self) -> State {
        const CDATA: &[u8] = b"<![CDATA[";
        if self.rest().starts_with(b"<!--") {
            self.at += 4;
            self.comment();
        } else if self.rest().starts_with(CDATA) && self.collector.has_cdata() {
            self.at += CDATA.len();
            return State::CdataSection;
        } else {
            // A document type ends at the first bracket, too, even within quotes.
            self.skip_past(b'>');
        }
        State::Data
    }

    fn comment(&mut self) {
        let start = self.at;
        if matches!((self.peek(0), self.peek(1)), (Some(b'>'), _) | (Some(b'-'), Some(b'>'))) {
            return self.skip_past(b'>');
        }
        while self.at < self.text.len() {
            self.skip_past(b'>');
            let comment = &self.text[start..self.at];
            if comment.ends_with(b"-->") || comment.ends_with(b"--!>") {
                return;
            }
        }
    }

    fn cdata_section(&mut self) -> State {
        const IN_SECTION: &[u8] = b"]\0\r";
        loop {
            match self.emit_until(IN_SECTION) {
                None => return State::CdataSection,
                Some(b']') => {}
                Some(_) => {
                    self.emit_replaced();
                    continue;
                }
            }
            let brackets = self.rest().iter().take_while(|byte| **byte == b']').count();
            if brackets >= 2 && self.peek(brackets) == Some(b'>') {
                (2..brackets).for_each(|_| self.emit(b"]"));
                self.at += brackets + 1;
                return State::Data;
            }
            self.emit_next(brackets);
        }
    }

    /// Reads text in which only its element's end tag is markup.
    #[inline(always)]
    fn raw_text(&mut self, needles: &[u8], state: State) -> State {
        loop {
            match self.emit_until(needles) {
                None => return state,
                Some(b'<') => {
                    if let Some(name) = self.end_tag_name() {
                        if self.is_own_end_tag(name) {
                            self.at += 2;
                            return self.tag(TagKind::End);
                        }
                        self.emit_next(2);
                        self.emit_next(name.len());
                    } else {
                        self.emit_next(if self.peek(1) == Some(b'/') { 2 } else { 1 });
                    }
                }
                Some(b'&') => self.emit_reference(),
                Some(_) => self.emit_replaced(),
            }
        }
    }

    /// Returns the letters of a possible end tag in raw text.
    fn end_tag_name(&self) -> Option<&'h [u8]> {
        let after = self.rest().strip_prefix(b"</")?;
        let letters = letters(after);
        (!letters.is_empty()).then_some(letters)
    }

    /// Whether this name in raw text belongs to the end tag that ends it.
    fn is_own_end_tag(&mut self, name: &[u8]) -> bool {
        self.peek(2 + name.len()).is_some_and(ends_name)
            && Element::from_name(in_lower_case(name, &mut self.name)) == self.last_start
            && self.cdata.as_ref().is_none_or(|cdata| !cdata.is_open())
    }

    /// Reads a script up to its end tag; comments may hide earlier ones (WHATWG HTML, "script data
    /// state" and the states after it).
    fn script(&mut self) -> State {
        let mut escape = Escape::No;
        let mut comment_start = 0;
        let mut looked_at = self.at;
        loop {
            let rest = &self.text[looked_at..];
            let found = if escape == Escape::No { memchr(b'<', rest) } else { memchr2(b'<', b'>', rest) };
            let Some(at) = found.map(|at| looked_at + at) else {
                self.emit_unread(self.text.len());
                return State::ScriptData;
            };
            looked_at = at + 1;
            if self.text[at] == b'>' {
                if self.text[comment_start..at].ends_with(b"--") {
                    escape = Escape::No;
                }
                continue;
            }
            let after = &self.text[at + 1..];
            let (is_end, after) = after.strip_prefix(b"/").map_or((false, after), |after| (true, after));
            let name = letters(after);
            let is_named = after.get(name.len()).copied().is_some_and(ends_name);
            let is_script = is_named && name.eq_ignore_ascii_case(b"script");
            match (escape, is_end) {
                (Escape::No | Escape::Comment, true) if is_named && !name.is_empty() => {
                    self.emit_unread(at);
                    if self.is_own_end_tag(name) {
                        self.at += 2;
                        return self.tag(TagKind::End);
                    }
                }
                (Escape::No, false) if after.starts_with(b"!--") => {
                    escape = Escape::Comment;
                    comment_start = at + 2;
                    looked_at = at + 4;
                }
                (Escape::Comment, false) if is_script => {
                    escape = Escape::ScriptInComment;
                    looked_at = at + 1 + name.len() + 1;
                }
                (Escape::ScriptInComment, true) if is_script => {
                    escape = Escape::Comment;
                    looked_at = at + 2 + name.len() + 1;
                }
                _ => {}
            }
        }
    }

    /// Reads a tag from its name on, and passes it on if it has an end. Returns how to continue.
    fn tag(&mut self, kind: TagKind) -> State {
        let name = self.name_until(b"\t\n\x0C\r />");
        let name = in_lower_case(name, &mut self.name);
        let (element, name) = (Element::from_name(name), Name::from_bytes(name));
        if kind == TagKind::Start {
            self.tag.clear();
        }
        match (self.attributes(kind), kind) {
            (TagEnd::ByPage, _) => {
                self.at = self.text.len();
                State::Data
            }
            (TagEnd::Yes, TagKind::End) => {
                self.cdata = None;
                self.collector.end_tag(element, name);
                State::Data
            }
            (TagEnd::Yes, TagKind::Start) => {
                self.last_start = element;
                self.tag.set_name(element, name);
                let content = self.collector.start_tag(&self.tag);
                self.cdata = (content.is_some() && self.collector.has_cdata()).then(Cdata::default);
                content.unwrap_or(State::Data)
            }
        }
    }

    /// Reads a name as written.
    #[inline(always)]
    fn name_until(&mut self, needles: &[u8]) -> &'h [u8] {
        let name = &self.rest()[..bytes_before(needles, self.rest())];
        self.at += name.len();
        name
    }

    fn skip_space(&mut self) {
        self.at += self.rest().iter().position(|byte| !is_space(*byte)).unwrap_or(self.rest().len());
    }

    /// Reads a tag's attributes and the `>` after them.
    fn attributes(&mut self, kind: TagKind) -> TagEnd {
        for _ in 0..ATTRIBUTES_MAX {
            loop {
                self.skip_space();
                match (self.peek(0), self.peek(1)) {
                    (None, _) => return TagEnd::ByPage,
                    (Some(b'>'), _) => {
                        self.at += 1;
                        return TagEnd::Yes;
                    }
                    (Some(b'/'), Some(b'>')) => {
                        self.at += 2;
                        self.tag.close_itself();
                        return TagEnd::Yes;
                    }
                    (Some(b'/'), _) => self.at += 1,
                    _ => break,
                }
            }
            if self.attribute(kind) == TagEnd::ByPage {
                return TagEnd::ByPage;
            }
        }
        self.skip_excessive()
    }

    /// Ends a tag that has reached the limit on attributes.
    fn skip_excessive(&mut self) -> TagEnd {
        loop {
            self.skip_space();
            match (self.peek(0), self.peek(1)) {
                (Some(b'/'), Some(b'>')) => self.tag.close_itself(),
                (Some(b'/'), _) => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            break;
        }
        self.skip_past(b'>');
        if self.text[..self.at].ends_with(b">") { TagEnd::Yes } else { TagEnd::ByPage }
    }

    /// Reads an attribute, whose name may begin with `=`.
    fn attribute(&mut self, kind: TagKind) -> TagEnd {
        let start = self.at;
        self.at += 1;
        self.name_until(b"\t\n\x0C\r />=");
        let name = &self.text[start..self.at];
        let begun = match kind {
            TagKind::Start => self.tag.begin(in_lower_case(name, &mut self.name)),
            TagKind::End => ValueTreatment::Ignored,
        };
        self.skip_space();
        if self.peek(0) != Some(b'=') {
            return TagEnd::Yes;
        }
        self.at += 1;
        self.skip_space();
        match self.peek(0) {
            Some(b'"') => self.quoted_value(b"\"&\0\r", begun),
            Some(b'\'') => self.quoted_value(b"'&\0\r", begun),
            // It has no value.
            Some(b'>') => TagEnd::Yes,
            _ => self.unquoted_value(begun),
        }
    }

    #[inline(always)]
    fn quoted_value(&mut self, needles: &[u8], begun: ValueTreatment) -> TagEnd {
        self.at += 1;
        loop {
            match self.append_until(needles, begun) {
                None => return TagEnd::ByPage,
                Some(b'"' | b'\'') => {
                    self.at += 1;
                    return TagEnd::Yes;
                }
                Some(special) => self.append_special(special, begun),
            }
        }
    }

    fn unquoted_value(&mut self, begun: ValueTreatment) -> TagEnd {
        loop {
            match self.append_until(b"\t\n\x0C\r &>\0", begun) {
                None => return TagEnd::ByPage,
                Some(special @ (b'&' | b'\0')) => self.append_special(special, begun),
                Some(_) => return TagEnd::Yes,
            }
        }
    }

    /// Appends the bytes before one of these bytes to an attribute's value, and returns that byte.
    #[inline(always)]
    fn append_until(&mut self, needles: &[u8], begun: ValueTreatment) -> Option<u8> {
        let piece = &self.rest()[..bytes_before(needles, self.rest())];
        self.at += piece.len();
        self.append(piece, begun);
        self.peek(0)
    }

    /// Appends the replacement of a reference, a NUL or a carriage return.
    fn append_special(&mut self, special: u8, begun: ValueTreatment) {
        match special {
            b'&' => {
                let reference = Reference::read(self.rest(), ReferenceContext::Value);
                self.at += reference.bytes;
                self.append(&reference.text, begun);
            }
            b'\0' => {
                self.at += 1;
                self.append(REPLACEMENT, begun);
            }
            _ => {
                self.skip_line_break();
                self.append(b"\n", begun);
            }
        }
    }

    fn append(&mut self, piece: &[u8], begun: ValueTreatment) {
        if begun == ValueTreatment::Kept && !piece.is_empty() {
            self.tag.append(piece);
        }
    }
}

/// Returns the letters at the start of a text.
fn letters(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    &text[..count]
}

/// Whether this byte ends a tag's name.
const fn ends_name(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'/' | b'>')
}

/// Whether this byte is white space between a tag's parts.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0C' | b'\r')
}

/// Returns enough of a name to recognise it, in lower case, in `buffer` unless it is already.
fn in_lower_case<'n>(name: &'n [u8], buffer: &'n mut Vec<u8>) -> &'n [u8] {
    let start = &name[..name.len().min(NAME_BYTES_MAX)];
    if !start.iter().any(|byte| byte.is_ascii_uppercase() || *byte == b'\0') {
        return start;
    }
    buffer.clear();
    for byte in start {
        match byte {
            b'\0' => buffer.extend_from_slice(REPLACEMENT),
            byte => buffer.push(byte.to_ascii_lowercase()),
        }
    }
    &buffer[..buffer.len().min(NAME_BYTES_MAX)]
}
