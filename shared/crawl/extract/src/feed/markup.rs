//! Attributes and references in a feed's document.

use html5ever::data::NAMED_ENTITIES;
use quick_xml::events::{BytesRef, BytesStart};

/// Returns an attribute in the element's own namespace; its references are resolved where possible.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = element.attributes();
    let found = attributes.with_checks(false).flatten().find(|attribute| {
        let key = attribute.key;
        // RDF's own attribute has a prefix.
        key.local_name().as_ref() == name && (key.prefix().is_none() || name == "about")
    })?;
    let value = quick_xml::escape::unescape(&found.value);
    Some(value.map_or_else(|_| found.value.to_string(), std::borrow::Cow::into_owned))
}

/// Whether a link leads to the page of the feed or the entry (RFC 4287, 4.2.7.2).
pub(super) fn is_alternate(link: &BytesStart<'_>) -> bool {
    attribute(link, "rel").is_none_or(|rel| matches!(rel.trim(), "" | "alternate"))
}

/// Whether a link of a feed leads to older entries (RFC 5005, sections 3 and 4).
pub(super) fn leads_on(link: &BytesStart<'_>) -> bool {
    attribute(link, "rel").is_some_and(|rel| matches!(rel.trim(), "next" | "prev-archive"))
}

/// Returns the `xml:base` of an element.
pub(super) fn base(element: &BytesStart<'_>) -> Option<String> {
    let mut attributes = element.attributes();
    let found = attributes.with_checks(false).flatten().find(|attribute| attribute.key.as_ref() == "xml:base")?;
    Some(found.value.trim().replace("&amp;", "&"))
}

/// Resolves a reference: a character by number, by a name of XML, or by one of HTML, which feeds
/// use without declaring it. Any other one stands for itself.
pub(super) fn resolve_reference(reference: &BytesRef<'_>) -> String {
    let name = reference.xml10_content();
    let by_number = || reference.resolve_char_ref().ok().flatten().map(String::from);
    let by_name = || quick_xml::escape::resolve_predefined_entity(&name).map(str::to_owned);
    by_number().or_else(by_name).or_else(|| html_entity(&name)).unwrap_or_else(|| format!("&{name};"))
}

/// Returns the characters for an HTML entity name.
fn html_entity(name: &str) -> Option<String> {
    let (first, second) = NAMED_ENTITIES.get(&*format!("{name};"))?;
    let characters = [first, second].into_iter().filter(|code| **code != 0).filter_map(|code| char::from_u32(*code));
    Some(characters.collect()).filter(|found: &String| !found.is_empty())
}
