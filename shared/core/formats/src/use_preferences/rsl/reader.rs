//! The elements of an RSL file. Its entities are not expanded, and nothing outside of it is read.

use dragline_domain::url::{CrawlUrl, Origin, UrlRules};
use dragline_domain::use_preferences::RslTerms;
use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesStart, Event};

use super::RSL_FILE_BYTES_MAX;
use super::terms::{ListKind, ListOf, Terms, Token, together};

/// The limit on elements within each other. A file has four, and what others put into it.
const NESTING_MAX: usize = 16;

/// Why there are no contents.
pub(super) enum Flaw {
    /// It is not an RSL file.
    AnotherFile,
    /// It is one that cannot be read, for this reason.
    Broken(String),
}

fn broken(why: impl Into<String>) -> Flaw {
    Flaw::Broken(why.into())
}

/// Returns the contents of a file that are about an origin.
pub(super) fn contents(document: &str, origin: &Origin) -> Result<Vec<RslTerms>, Flaw> {
    let document = document.trim_start_matches('\u{feff}').trim_start();
    let mut reader = Reader::from_str(document);
    let mut file = File { origin, prefix: None, open: Vec::new(), content: None, list: None, contents: Vec::new() };
    loop {
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(_) if file.prefix.is_none() => return Err(Flaw::AnotherFile),
            Err(error) => return Err(broken(format!("it is not XML: {error}"))),
        };
        match event {
            Event::Start(element) => file.start(&element)?,
            Event::Empty(element) => {
                file.start(&element)?;
                file.end();
            }
            Event::End(_) => file.end(),
            Event::Text(text) => file.text(&text.xml10_content()),
            Event::CData(text) => file.text(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let by_number = reference.resolve_char_ref().ok().flatten().map(String::from);
                let name = reference.xml10_content();
                let text = by_number.or_else(|| resolve_predefined_entity(&name).map(String::from));
                file.reference(text.as_deref())?;
            }
            Event::Eof if file.prefix.is_none() => return Err(Flaw::AnotherFile),
            Event::Eof if !file.open.is_empty() => return Err(broken("it breaks off")),
            Event::Eof => return Ok(file.contents),
            Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Comment(_) => {}
        }
        if file.prefix.is_some() && document.len() > RSL_FILE_BYTES_MAX {
            return Err(broken(format!("it is larger than {RSL_FILE_BYTES_MAX} bytes")));
        }
    }
}

/// An open element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Rsl,
    Content,
    License,
    List(ListOf, ListKind),
    /// One that says nothing of uses, with all in it.
    Other,
}

/// An open `<content>`.
struct Content {
    /// The pattern of its paths; `None` if it is about another host.
    location: Option<String>,
    token: Token,
    licences: Vec<Terms>,
}

struct File<'o> {
    origin: &'o Origin,
    /// The prefix of the root; `None` before it.
    prefix: Option<String>,
    open: Vec<Element>,
    content: Option<Content>,
    /// The text of the open list.
    list: Option<String>,
    contents: Vec<RslTerms>,
}

impl File<'_> {
    fn start(&mut self, element: &BytesStart<'_>) -> Result<(), Flaw> {
        let name = element.local_name();
        let prefix = element.name().prefix().map_or_else(String::new, |prefix| prefix.as_ref().to_owned());
        let Some(of_root) = &self.prefix else {
            if name.as_ref() != "rsl" {
                return Err(Flaw::AnotherFile);
            }
            self.prefix = Some(prefix);
            self.open.push(Element::Rsl);
            return Ok(());
        };
        if self.open.len() >= NESTING_MAX {
            return Err(broken(format!("its elements are nested more than {NESTING_MAX} deep")));
        }
        let is_own = prefix == *of_root || prefix == "rsl";
        let opened = match (self.open.last(), name.as_ref()) {
            _ if !is_own => Element::Other,
            (Some(Element::Rsl), "content") => {
                self.content = Some(self.content(element)?);
                Element::Content
            }
            (Some(Element::Content), "license") => {
                self.content.iter_mut().for_each(|content| content.licences.push(Terms::default()));
                Element::License
            }
            (Some(Element::License), name @ ("permits" | "prohibits")) => {
                self.list = Some(String::new());
                let of = if name == "permits" { ListOf::Permitted } else { ListOf::Prohibited };
                Element::List(of, ListKind::from_type(attribute(element, "type")?.as_deref()))
            }
            (Some(Element::License), "payment") => {
                let kind = attribute(element, "type")?;
                if !kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("free")) {
                    self.licence().map(Terms::add_condition);
                }
                Element::Other
            }
            (Some(Element::License), "reporting") => {
                self.licence().map(Terms::add_condition);
                Element::Other
            }
            _ => Element::Other,
        };
        self.open.push(opened);
        Ok(())
    }

    fn content(&self, element: &BytesStart<'_>) -> Result<Content, Flaw> {
        let location = location(&attribute(element, "url")?.unwrap_or_default(), self.origin)?;
        let server = attribute(element, "server")?;
        let token =
            if server.is_some_and(|server| !server.trim().is_empty()) { Token::Wanted } else { Token::NotWanted };
        Ok(Content { location, token, licences: Vec::new() })
    }

    /// Returns the open licence.
    fn licence(&mut self) -> Option<&mut Terms> {
        self.content.as_mut()?.licences.last_mut()
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Element::Content) => {
                let content = self.content.take();
                let terms = content.and_then(|Content { location, token, licences }| {
                    Some(RslTerms { location: location?, says: together(&licences, token) })
                });
                self.contents.extend(terms);
            }
            Some(Element::List(of, kind)) => {
                let text = self.list.take().unwrap_or_default();
                if let Some(licence) = self.licence() {
                    licence.add_list(of, kind, &text);
                }
            }
            Some(Element::Rsl | Element::License | Element::Other) | None => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let (Some(Element::List(..)), Some(list)) = (self.open.last(), &mut self.list) {
            list.push_str(text);
        }
    }

    /// Reads a reference; an entity that the file declares has no text.
    fn reference(&mut self, text: Option<&str>) -> Result<(), Flaw> {
        match text {
            Some(text) => self.text(text),
            None if matches!(self.open.last(), Some(Element::List(..))) => {
                return Err(broken("it uses an entity in a list of uses"));
            }
            None => {}
        }
        Ok(())
    }
}

/// Returns the value of an attribute.
fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, Flaw> {
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| broken(format!("it is not XML: {error}")))?;
        if attribute.key.as_ref() == name {
            let value = unescape(&attribute.value).map_err(|error| broken(format!("it is not XML: {error}")))?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}

/// Returns the pattern of the paths of an origin that the URL of a content is about; `None` if it
/// is about another host. It should be a path (section 3.3), but many write a URL.
fn location(url: &str, origin: &Origin) -> Result<Option<String>, Flaw> {
    let url = url.trim();
    let with_host = match url.split_once("://") {
        Some((scheme, rest)) if scheme.bytes().all(|octet| octet.is_ascii_alphanumeric()) => Some(rest),
        _ => url.strip_prefix("//"),
    };
    let path = match with_host {
        Some(rest) => {
            let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
            if !is_of(origin, host)? {
                return Ok(None);
            }
            path
        }
        None => url,
    };
    let path = if path.starts_with(['/', '*']) { path.to_owned() } else { format!("/{path}") };
    Ok(Some(path))
}

/// Whether a host as written, which may begin with `*.` for all hosts below it, is that of an
/// origin.
fn is_of(origin: &Origin, written: &str) -> Result<bool, Flaw> {
    let (is_suffix, name) = written.strip_prefix("*.").map_or((false, written), |name| (true, name));
    let url = CrawlUrl::parse(&format!("http://{name}/"), &UrlRules::keep_all());
    let url = url.map_err(|_| broken("a content has a URL with a host that cannot be read"))?;
    let (host, name) = (origin.host(), url.host());
    Ok(host == name || is_suffix && host.strip_suffix(name).is_some_and(|above| above.ends_with('.')))
}
