//! Turning the tokenizer's events into tags and text.

use std::convert::Infallible;

use html5gum::{Emitter, Error, State};

use super::collector::Collector;
use super::open_elements::Name;
use super::reader::AttributeCount;
use super::tag::{Begun, Element, Tag};

/// Longer than any known name, so that a cut name is never one of them.
const NAME_BYTES_MAX: usize = 24;

/// Which part of a tag is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Its name, or nothing.
    Name,
    /// An attribute's name.
    AttributeName,
    /// An attribute's value.
    Value(Begun),
}

/// Which tag is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TagKind {
    Start,
    End,
}

/// Assembles tags and passes them on, without an allocation per token.
#[derive(Debug)]
pub(super) struct Tokens<'c, 'l> {
    collector: &'c mut Collector<'l>,
    attributes: &'c AttributeCount,
    kind: TagKind,
    part: Part,
    name: Vec<u8>,
    attribute_name: Vec<u8>,
    tag: Tag,
    /// The last start tag: within raw text, only its end tag has a meaning.
    last_start: Element,
    /// Within raw text, tracks CDATA sections, in which end tags are ignored.
    cdata: Option<Cdata>,
}

impl<'c, 'l> Tokens<'c, 'l> {
    pub(super) fn new(
        collector: &'c mut Collector<'l>,
        attributes: &'c AttributeCount,
        value_bytes_max: usize,
    ) -> Self {
        Self {
            collector,
            attributes,
            kind: TagKind::Start,
            part: Part::Name,
            name: Vec::with_capacity(NAME_BYTES_MAX),
            attribute_name: Vec::with_capacity(NAME_BYTES_MAX),
            tag: Tag::new(value_bytes_max),
            last_start: Element::Other,
            cdata: None,
        }
    }

    fn init_tag(&mut self, kind: TagKind) {
        self.attributes.begin_tag();
        self.kind = kind;
        self.part = Part::Name;
        self.name.clear();
    }

    /// The attribute's name is complete.
    fn end_attribute_name(&mut self) {
        if self.part == Part::AttributeName {
            let is_read = self.kind == TagKind::Start;
            self.part = Part::Value(if is_read { self.tag.begin(&self.attribute_name) } else { Begun::Ignored });
        }
    }
}

/// Appends what there is room for.
fn push_name(name: &mut Vec<u8>, piece: &[u8]) {
    let room = NAME_BYTES_MAX - name.len();
    name.extend_from_slice(&piece[..piece.len().min(room)]);
}

impl Emitter for Tokens<'_, '_> {
    type Token = Infallible;

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn emit_string(&mut self, piece: &[u8]) {
        if let Some(cdata) = &mut self.cdata {
            cdata.read(piece);
        }
        self.collector.text(piece);
    }

    fn init_start_tag(&mut self) {
        self.init_tag(TagKind::Start);
        self.tag.clear();
    }

    fn init_end_tag(&mut self) {
        self.init_tag(TagKind::End);
    }

    fn push_tag_name(&mut self, piece: &[u8]) {
        push_name(&mut self.name, piece);
    }

    fn init_attribute(&mut self) {
        self.attributes.begin_attribute();
        self.end_attribute_name();
        self.part = Part::AttributeName;
        self.attribute_name.clear();
    }

    fn push_attribute_name(&mut self, piece: &[u8]) {
        push_name(&mut self.attribute_name, piece);
    }

    fn push_attribute_value(&mut self, piece: &[u8]) {
        self.end_attribute_name();
        if self.part == Part::Value(Begun::Kept) {
            self.tag.append(piece);
        }
    }

    fn set_self_closing(&mut self) {
        self.tag.close_itself();
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.end_attribute_name();
        let element = Element::from_name(&self.name);
        let name = Name::of(&self.name);
        match self.kind {
            TagKind::Start => {
                self.last_start = element;
                self.tag.set_name(element, name);
                let content = self.collector.start_tag(&self.tag);
                self.cdata = (content.is_some() && self.collector.has_cdata()).then(Cdata::default);
                content
            }
            TagKind::End => {
                self.cdata = None;
                self.collector.end_tag(element, name);
                None
            }
        }
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.kind == TagKind::End
            && Element::from_name(&self.name) == self.last_start
            && self.cdata.as_ref().is_none_or(|cdata| !cdata.is_open())
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.collector.has_cdata()
    }

    // Nothing in errors, comments and doctypes is kept.
    fn set_last_start_tag(&mut self, _: Option<&[u8]>) {}
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn emit_current_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}

const CDATA_BEGIN: &[u8] = b"<![CDATA[";
const CDATA_END: &[u8] = b"]]>";

/// Watches raw text, in pieces of any length, for the beginning and end of CDATA sections. In XML, an end tag within a section is text: a script may
/// have `</script>` in one.
#[derive(Debug, Default)]
struct Cdata {
    is_open: bool,
    /// How much of the awaited delimiter has matched.
    matched: usize,
}

impl Cdata {
    const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Takes the next piece.
    fn read(&mut self, piece: &[u8]) {
        for byte in piece {
            let awaited = if self.is_open { CDATA_END } else { CDATA_BEGIN };
            if *byte == awaited[self.matched] {
                self.matched += 1;
            } else if !(self.is_open && *byte == b']') {
                // In `]]]`, the last two may be the ones that count; a `<` only occurs where a section begins.
                self.matched = usize::from(*byte == awaited[0]);
            }
            if self.matched == awaited.len() {
                *self = Self { is_open: !self.is_open, matched: 0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections() {
        for (text, is_open, why) in [
            ("", false, "nothing"),
            ("a<![CDATA[b", true, "begun"),
            ("a<![CDATA[b]]>c", false, "ended"),
            ("<![CDATA[]]>", false, "empty"),
            ("<<![CDATA[", true, "a bracket before it"),
            ("<![CDATA<![CDATA[", true, "half of one before it"),
            ("<![cdata[", false, "in capitals only"),
            ("<![CDATA[a]]]>", false, "three brackets at its end"),
            ("<![CDATA[a]>]]b>", true, "ends that are not ends"),
            ("<![CDATA[<![CDATA[]]>", false, "they do not nest"),
            ("]]><![CDATA[", true, "an end without a beginning"),
        ] {
            let mut whole = Cdata::default();
            whole.read(text.as_bytes());
            assert_eq!(whole.is_open(), is_open, "{why}: {text}");
            let mut pieces = Cdata::default();
            text.bytes().for_each(|byte| pieces.read(&[byte]));
            assert_eq!(pieces.is_open(), is_open, "{why}, byte by byte: {text}");
        }
    }
}
