//! XML 1.0 with namespaces: well-formedness, and the vocabulary.

use std::collections::HashSet;

use dragline_domain::validity::ValidationType;
use xml::common::Position as _;
use xml::name::OwnedName;
use xml::reader::{ErrorKind, EventReader, ParserConfig, XmlEvent};
use xml::{Encoding, common::TextPosition};

use super::atom::Atom;
use super::flaws::{Cursor, Flaws, LineColumn, quoted};
use super::outline::{Element, Outline, Vocabulary};
use super::rss::Rss;
use super::sitemap::Sitemap;

/// Deeper than real documents. Each level costs the parser something for each element in it.
const DEPTH_MAX: usize = 256;

/// More attributes than real elements have.
const ATTRIBUTES_MAX: usize = 1_024;

/// The limit of the sum over all elements of the namespaces in scope. The parser lists them for
/// each element.
const NAMESPACES_MAX: usize = 20_000_000;

/// The most characters in the value of an entity.
const ENTITY_CHARS_MAX: usize = 10_000;

/// By how many bytes entities may lengthen a document.
const EXPANDED_BYTES_MAX: usize = 4 << 20;

/// The longest name of an entity that may be declared externally.
const NAME_BYTES_MAX: usize = 64;

const XHTML: &str = "http://www.w3.org/1999/xhtml";
const ATOM: &str = "http://www.w3.org/2005/Atom";

/// Checks a document, and returns its type by the root element.
pub(super) fn check(text: &str, flaws: &mut Flaws) -> ValidationType {
    let kind = validation_type(text);
    match kind {
        ValidationType::Rss => read(text, Some(&mut Rss::default()), flaws),
        ValidationType::Atom => read(text, Some(&mut Atom::default()), flaws),
        ValidationType::Sitemap => {
            Sitemap::check_size(text.len(), flaws);
            read(text, Some(&mut Sitemap::default()), flaws);
        }
        _ => read(text, None, flaws),
    }
    kind
}

/// Returns the encoding that a document declares.
pub(super) fn declared_encoding(text: &str) -> Option<&str> {
    let declaration = text.strip_prefix("<?xml")?.split_once("?>")?.0;
    let value = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value[1..].split_once(quote).map(|(label, _)| label)
}

fn reader(text: &str) -> EventReader<&[u8]> {
    let bytes_max = text.len().saturating_add(EXPANDED_BYTES_MAX);
    let mut config = ParserConfig::new()
        .coalesce_characters(false)
        .cdata_to_characters(true)
        .whitespace_to_characters(true)
        // The text is decoded already.
        .override_encoding(Some(Encoding::Utf8))
        .ignore_invalid_encoding_declarations(true)
        .allow_multiple_root_elements(false)
        .max_attributes(ATTRIBUTES_MAX)
        .max_attribute_length(bytes_max)
        .max_data_length(bytes_max)
        .max_entity_expansion_length(ENTITY_CHARS_MAX);
    // Undeclared entities may be declared externally (XML 1.0, section 4.1), which is never read.
    if has_external_subset(text) {
        config.extra_entities = undeclared_entities(text).map(|name| (name.to_owned(), " ".to_owned())).collect();
    }
    EventReader::new_with_config(text.as_bytes(), config)
}

/// Whether the document type refers to external declarations.
fn has_external_subset(text: &str) -> bool {
    let Some((_, doctype)) = text.split_once("<!DOCTYPE") else { return false };
    let head = &doctype[..doctype.find(['[', '>']).unwrap_or(doctype.len())];
    let has_id = head.contains("SYSTEM") || head.contains("PUBLIC");
    has_id || doctype.split_once("]>").is_some_and(|(subset, _)| subset.contains('%'))
}

/// Returns the names of entities that are referenced and not declared in the document itself.
fn undeclared_entities(text: &str) -> impl Iterator<Item = &str> {
    let declared: HashSet<&str> =
        text.split("<!ENTITY").skip(1).filter_map(|behind| behind.split_ascii_whitespace().next()).collect();
    let names = text.split('&').skip(1).filter_map(|behind| {
        let end = behind.bytes().take(NAME_BYTES_MAX).position(|byte| byte == b';')?;
        Some(&behind[..end])
    });
    names.filter(move |name| !declared.contains(name))
}

fn validation_type(text: &str) -> ValidationType {
    let mut reader = reader(text);
    loop {
        match reader.next() {
            Ok(XmlEvent::StartElement { name, .. }) => {
                return match (name.namespace.as_deref(), name.local_name.as_str()) {
                    (None, "rss") => ValidationType::Rss,
                    (Some(ATOM), "feed" | "entry") => ValidationType::Atom,
                    (Some(XHTML), "html") => ValidationType::Xhtml,
                    (_, "urlset" | "sitemapindex") => ValidationType::Sitemap,
                    _ => ValidationType::Xml,
                };
            }
            Ok(XmlEvent::EndDocument) | Err(_) => return ValidationType::Xml,
            Ok(_) => {}
        }
    }
}

fn place(position: TextPosition) -> LineColumn {
    let from_one = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).saturating_add(1);
    LineColumn::new(from_one(position.row), from_one(position.column))
}

fn read(text: &str, vocabulary: Option<&mut dyn Vocabulary>, flaws: &mut Flaws) {
    let mut reader = reader(text);
    let mut outline = vocabulary.map(Outline::new);
    let mut cursor = Cursor::new(text);
    let last_tag = |reader: &EventReader<&[u8]>| {
        let read = &text.as_bytes()[..text.len() - reader.source().len()];
        read.iter().rposition(|byte| *byte == b'<').unwrap_or(0)
    };
    let (mut open, mut namespaces, mut bytes) = (Vec::<(OwnedName, LineColumn)>::new(), 0_usize, 0_usize);
    loop {
        let event = reader.next();
        let at = place(reader.position());
        match event {
            Ok(XmlEvent::StartElement { name, attributes, namespace }) => {
                // The parser's position is the tag's end for the root, and its start for others.
                let at = cursor.locate(last_tag(&reader));
                namespaces = namespaces.saturating_add(namespace.0.len());
                bytes += attributes.iter().map(|attribute| attribute.value.len()).sum::<usize>();
                if open.len() >= DEPTH_MAX {
                    let message =
                        || format!("elements are nested more than {DEPTH_MAX} levels deep; the rest was not read");
                    flaws.add("too-complex", || at, message);
                    return;
                }
                if let Some(outline) = &mut outline {
                    outline.start(&Element { name: &name, attributes: &attributes, place: at }, flaws);
                }
                open.push((name, at));
            }
            Ok(XmlEvent::EndElement { .. }) => {
                open.pop();
                if let Some(outline) = &mut outline {
                    outline.end(flaws);
                }
            }
            Ok(XmlEvent::Characters(text)) => {
                bytes += text.len();
                if let Some(outline) = &mut outline {
                    outline.text(&text);
                }
            }
            Ok(XmlEvent::EndDocument) => break,
            Ok(_) => {}
            Err(error) => {
                let tag_at = cursor.locate(last_tag(&reader));
                explain(&error, tag_at, open.last(), flaws);
                return;
            }
        }
        if namespaces > NAMESPACES_MAX || bytes > text.len().saturating_add(EXPANDED_BYTES_MAX) {
            flaws.add("too-complex", || at, || "too much for its size; the rest was not read".to_owned());
            return;
        }
    }
    if let Some(outline) = outline {
        outline.finish(flaws);
    }
}

fn explain(error: &xml::reader::Error, tag_at: LineColumn, open: Option<&(OwnedName, LineColumn)>, flaws: &mut Flaws) {
    let said = match error.kind() {
        ErrorKind::Syntax(said) => said.to_string(),
        ErrorKind::UnexpectedEof => "unexpected end of the document".to_owned(),
        _ => error.to_string(),
    };
    let rule = match said.as_str() {
        said if said.starts_with("This document is larger") || said == "Entity too big" => "too-complex",
        said if said.contains("prefix") && said.contains("unbound") => "unbound-prefix",
        said if said.ends_with("is redefined") => "duplicate-attribute",
        said if said.contains("ndefined entity") || said.contains("nexpected entity") => "unknown-entity",
        said if said.starts_with("Unexpected closing tag") => "mismatched-tag",
        said if said.starts_with("Unexpected end of stream") || said.starts_with("unexpected end") => "unexpected-end",
        _ => "not-well-formed",
    };
    let of_error = error.position();
    let at = if rule == "mismatched-tag" { tag_at } else { place(of_error) };
    let first_bytes = said.chars().next().map_or(0, char::len_utf8);
    let mut message = said[..first_bytes].to_ascii_lowercase() + &said[first_bytes..];
    if let (Some((name, LineColumn { line, column })), "mismatched-tag" | "unexpected-end") = (open, rule) {
        let name = quoted(&name.borrow().to_repr());
        message = match rule {
            "mismatched-tag" => format!("this is not the end tag of {name}, which is open since {line}:{column}"),
            _ => format!("{message}; {name} is open since {line}:{column}"),
        };
    }
    flaws.add(rule, || at, || message);
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_flaws;
    use super::*;

    #[test]
    fn documents_are_checked() {
        let nested = |levels: usize| "<a>".repeat(levels) + &"</a>".repeat(levels);
        let bomb = format!(
            "<!DOCTYPE a [<!ENTITY a '{}'>{}]><a>&j;</a>",
            "x".repeat(100),
            ('b'..='j')
                .zip('a'..)
                .map(|(name, of)| format!("<!ENTITY {name} '{}'>", format!("&{of};").repeat(10)))
                .collect::<String>()
        );
        let square = format!("<!DOCTYPE a [<!ENTITY a '{}'>]><a>{}</a>", "x".repeat(9_000), "&a;".repeat(100_000));
        for (text, expected, why) in [
            ("<?xml version='1.0'?><a b='c'>&amp;<!-- x --><![CDATA[<]]><b/></a>", &[][..], "valid"),
            ("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", &[], "an entity that is declared"),
            (
                "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a>&x;</a>",
                &[],
                "it may be declared outside, where nobody looks",
            ),
            ("<a xmlns:b='c'><b:d b:e='f'/></a>", &[], "a prefix that is bound"),
            ("<a xml:lang='en'/>", &[], "a prefix that always is"),
            (&nested(DEPTH_MAX), &[], "deep"),
            ("", &["1:1 unexpected-end"], "nothing"),
            ("<a>\n<b></a>", &["2:4 mismatched-tag"], "crossed"),
            ("<a>\n <b>", &["2:5 unexpected-end"], "cut"),
            ("<a>&nbsp;</a>", &["1:9 unknown-entity"], "an entity of HTML"),
            ("<a b='1' b='2'/>", &["1:10 duplicate-attribute"], "twice"),
            ("<a b=1/>", &["1:6 not-well-formed"], "without quotes"),
            ("<a><b:c/></a>", &["1:8 unbound-prefix"], "a prefix that is not"),
            ("<a/><b/>", &["1:5 not-well-formed"], "two roots"),
            ("<a>a & b</a>", &["1:7 not-well-formed"], "a bare ampersand"),
            (" <?xml version='1.0'?><a/>", &["1:7 not-well-formed"], "a declaration must come first"),
            ("<a>\u{1}</a>", &["1:4 not-well-formed"], "a control character"),
            (&nested(DEPTH_MAX + 1), &["1:769 too-complex"], "too deep"),
            (&bomb, &["1:532 too-complex"], "a billion laughs"),
            (&square, &["1:10536 too-complex"], "a large entity, often"),
        ] {
            let mut flaws = Flaws::default();
            check(text, &mut flaws);
            assert_flaws(flaws, expected, &format!("{text:.60}: {why}"));
        }
    }

    #[test]
    fn the_root_decides_the_type() {
        for (text, expected, why) in [
            ("<rss version='2.0'/>", ValidationType::Rss, "a feed"),
            ("<feed xmlns='http://www.w3.org/2005/Atom'/>", ValidationType::Atom, "a feed"),
            ("<a:feed xmlns:a='http://www.w3.org/2005/Atom'/>", ValidationType::Atom, "with a prefix"),
            ("<feed/>", ValidationType::Xml, "a feed of something else"),
            ("<!-- x --><urlset/>", ValidationType::Sitemap, "even without its namespace"),
            ("<html xmlns='http://www.w3.org/1999/xhtml'/>", ValidationType::Xhtml, "a page"),
            ("<svg/>", ValidationType::Xml, "a drawing"),
            ("<", ValidationType::Xml, "nobody knows"),
        ] {
            assert_eq!(validation_type(text), expected, "{text}: {why}");
        }
    }

    #[test]
    fn declarations_are_read() {
        for (text, expected, why) in [
            ("<?xml version='1.0' encoding='a'?>", Some("a"), "declared"),
            ("<?xml version='1.0' encoding = \"a\" ?>", Some("a"), "with blanks"),
            ("<?xml version='1.0'?><a encoding='a'/>", None, "not in the declaration"),
            ("<?xml encoding=?>", None, "not a value"),
        ] {
            assert_eq!(declared_encoding(text), expected, "{text}: {why}");
        }
    }
}
