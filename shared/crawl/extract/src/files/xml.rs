//! XML: walking through a document, and the text of a document of any vocabulary.
//!
//! The document need not be well-formed: it is read up to the first unrecoverable error. Entities
//! that it declares are not expanded, so nothing grows.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{FileText, Text};

/// Receives the events of a document.
pub(crate) trait Visitor {
    /// An element begins. The name is without its prefix.
    fn start(&mut self, name: &str, element: &BytesStart<'_>);
    /// An element ends.
    fn end(&mut self, name: &str);
    /// Character data.
    fn text(&mut self, text: &str);
    /// A reference to an entity that is not built into XML.
    fn unknown_reference(&mut self, _name: &str) {}
    /// The document cannot be read further, from the beginning of a tag.
    fn breaks_off(&mut self) {}
    /// Whether the rest can be skipped.
    fn is_done(&self) -> bool;
}

/// Passes a document's events to a visitor, until that is done or the document cannot be read
/// further.
pub(crate) fn walk(document: &str, visitor: &mut dyn Visitor) {
    let mut reader = Reader::from_str(document);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    while !visitor.is_done() {
        match reader.read_event() {
            Ok(Event::Start(element)) => visitor.start(element.local_name().as_ref(), &element),
            Ok(Event::Empty(element)) => {
                visitor.start(element.local_name().as_ref(), &element);
                visitor.end(element.local_name().as_ref());
            }
            Ok(Event::End(element)) => visitor.end(element.local_name().as_ref()),
            Ok(Event::Text(text)) => visitor.text(&text.xml10_content()),
            Ok(Event::CData(text)) => visitor.text(&text.xml10_content()),
            Ok(Event::GeneralRef(reference)) => {
                let by_number = reference.resolve_char_ref().ok().flatten().map(String::from);
                let name = reference.xml10_content();
                let by_name = || quick_xml::escape::resolve_predefined_entity(&name).map(String::from);
                match by_number.or_else(by_name) {
                    Some(text) => visitor.text(&text),
                    None => visitor.unknown_reference(&name),
                }
            }
            Ok(Event::Eof) => return,
            Err(_) => return visitor.breaks_off(),
            Ok(_) => {}
        }
    }
}

/// Returns the value of an attribute, by its name without a prefix.
pub(crate) fn attribute<'e>(element: &'e BytesStart<'_>, name: &str) -> Option<Cow<'e, str>> {
    let mut attributes = element.attributes();
    let found =
        attributes.with_checks(false).flatten().find(|attribute| attribute.key.local_name().as_ref() == name)?;
    Some(found.value)
}

/// Returns the character data of a document, with spaces between elements, and its first title.
pub(super) fn read(document: &str) -> FileText {
    let mut words = XmlText::default();
    walk(document, &mut words);
    FileText { title: words.title, ..words.text.into_file() }
}

#[derive(Debug, Default)]
struct XmlText {
    text: Text,
    title: Option<String>,
    is_in_title: bool,
}

impl Visitor for XmlText {
    fn start(&mut self, name: &str, _: &BytesStart<'_>) {
        self.is_in_title = self.title.is_none() && matches!(name, "title" | "Title" | "headline");
        self.text.separate(" ");
    }

    fn end(&mut self, _: &str) {
        self.is_in_title = false;
        self.text.separate(" ");
    }

    fn text(&mut self, text: &str) {
        if self.is_in_title && !text.trim().is_empty() {
            self.title.get_or_insert_default().push_str(text);
        }
        if text.trim().is_empty() {
            self.text.separate(" ");
        } else {
            self.text.push(text);
        }
    }

    fn is_done(&self) -> bool {
        self.text.is_full()
    }
}
