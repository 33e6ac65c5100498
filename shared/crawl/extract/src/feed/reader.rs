//! Reads a feed from the events of its document.

use dragline_domain::feed::{Enclosure, Entry, Feed, FeedFormat, Person};
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;
use url::Url;

use super::draft::Draft;
use super::markup::{attribute, base, is_alternate, leads_on, resolve_reference};
use super::names::{Field, Rank, Vocabulary, field};
use super::person::person;
use super::scope::{Scope, ScopeKind, Target};
use super::text::{Capture, Form, Tag, Text};
use super::{DEPTH_MAX, ENTRIES_MAX, PARTS_MAX, ReadFeed, TEXTS_BYTES_MAX};

/// A reader of one feed.
pub(super) struct Reader<'u> {
    url: Option<&'u Url>,
    /// The namespace of the root.
    root: Option<String>,
    format: Option<(FeedFormat, Option<String>)>,
    is_other: bool,
    scopes: Vec<Scope>,
    /// The number of open elements within a skipped one.
    skipped: usize,
    capture: Option<(Target, Capture)>,
    of_feed: Draft,
    of_entry: Option<Draft>,
    entries: Vec<Entry<Text>>,
    parts: Vec<String>,
    text_bytes: usize,
    is_cut: bool,
}

/// Reads a document; `None` if it is not a feed.
pub(super) fn read(document: &str, url: Option<&Url>) -> Option<ReadFeed> {
    let mut reader = Reader {
        url,
        root: None,
        format: None,
        is_other: false,
        scopes: Vec::new(),
        skipped: 0,
        capture: None,
        of_feed: Draft::default(),
        of_entry: None,
        entries: Vec::new(),
        parts: Vec::new(),
        text_bytes: 0,
        is_cut: false,
    };
    reader.walk(document);
    reader.finish()
}

impl Reader<'_> {
    /// Reads the document up to the first unrecoverable error. Entities that it declares are not
    /// expanded.
    fn walk(&mut self, document: &str) {
        let mut events = NsReader::from_str(document);
        let config = events.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        while !self.is_other && !self.is_full() {
            let (namespace, event) = match events.read_resolved_event() {
                Ok(read) => read,
                // The nesting is too deep, or there are too many prefixes.
                Err(quick_xml::Error::Namespace(_)) => {
                    self.is_cut = true;
                    return;
                }
                Err(_) => return,
            };
            match event {
                Event::Start(element) => self.start(&namespace, &element, Tag::Start),
                Event::Empty(element) => {
                    self.start(&namespace, &element, Tag::Empty);
                }
                Event::End(element) => self.end(element.local_name().as_ref()),
                Event::Text(text) => self.text(&text.xml10_content()),
                Event::CData(text) => self.text(&text.xml10_content()),
                Event::GeneralRef(reference) => self.text(&resolve_reference(&reference)),
                Event::Eof => return,
                _ => {}
            }
        }
    }

    fn is_full(&mut self) -> bool {
        let is_full = self.text_bytes > TEXTS_BYTES_MAX || self.entries.len() >= ENTRIES_MAX;
        self.is_cut |= is_full;
        is_full
    }

    fn text(&mut self, text: &str) {
        if self.skipped > 0 {
            return;
        }
        if let Some((_, capture)) = &mut self.capture {
            capture.text(text);
        } else if let Some(Scope { kind: ScopeKind::Person(_, _, line), .. }) = self.scopes.last_mut()
            && line.len() < LINE_BYTES
        {
            line.push_str(text);
        }
    }

    fn start(&mut self, namespace: &ResolveResult<'_>, element: &BytesStart<'_>, tag: Tag) {
        if self.skipped > 0 {
            self.skipped += usize::from(tag == Tag::Start);
            return;
        }
        if let Some((_, capture)) = &mut self.capture {
            return capture.start(element, tag);
        }
        let scopes = self.scopes.len();
        if self.format.is_none() {
            self.begin(namespace, element);
        } else if scopes >= DEPTH_MAX {
            self.is_cut = true;
        } else {
            let name = element.local_name().as_ref().to_ascii_lowercase();
            let vocabulary = Vocabulary::from_namespace(namespace, self.root.as_deref());
            self.open(vocabulary, &name, element);
        }
        let is_open = self.scopes.len() > scopes || self.capture.is_some();
        match (is_open, tag) {
            (true, Tag::Empty) => self.end(""),
            (false, Tag::Start) => self.skipped = 1,
            _ => {}
        }
    }

    /// Begins with the root element.
    fn begin(&mut self, namespace: &ResolveResult<'_>, element: &BytesStart<'_>) {
        let version = attribute(element, "version");
        let format = match element.local_name().as_ref().to_ascii_lowercase().as_str() {
            "rss" => (FeedFormat::Rss, version),
            "rdf" => (FeedFormat::Rss, Some("1.0".to_owned())),
            "feed" => {
                let is_standard =
                    matches!(namespace, ResolveResult::Bound(name) if name.0 == "http://www.w3.org/2005/Atom");
                (FeedFormat::Atom, version.or_else(|| is_standard.then(|| "1.0".to_owned())))
            }
            _ => {
                self.is_other = true;
                return;
            }
        };
        self.format = Some(format);
        if let ResolveResult::Bound(namespace) = namespace {
            self.root = Some(namespace.0.to_owned());
        }
        self.push(ScopeKind::Feed, element);
    }

    fn push(&mut self, kind: ScopeKind, element: &BytesStart<'_>) {
        let base = base(element).and_then(|written| match self.base() {
            Some(around) => around.join(&written).ok(),
            None => Url::parse(&written).ok(),
        });
        self.scopes.push(Scope { kind, base });
    }

    /// Returns the base URL.
    fn base(&self) -> Option<&Url> {
        self.scopes.iter().rev().find_map(|scope| scope.base.as_ref()).or(self.url)
    }

    fn absolute(&self, written: &str, element: &BytesStart<'_>) -> String {
        let written = written.trim();
        let own = base(element)
            .and_then(|base| self.base().map_or_else(|| Url::parse(&base).ok(), |around| around.join(&base).ok()));
        self.joined(written, own.as_ref())
    }

    /// Resolves a URL, if its base is known. An absolute URL stays as written.
    fn joined(&self, written: &str, base: Option<&Url>) -> String {
        match base.or_else(|| self.base()) {
            Some(base) if Url::parse(written).is_err() => {
                base.join(written).map_or_else(|_| written.to_owned(), String::from)
            }
            _ => written.to_owned(),
        }
    }

    fn draft(&mut self) -> &mut Draft {
        self.of_entry.as_mut().unwrap_or(&mut self.of_feed)
    }

    /// Opens an element of a feed, an entry or a person, if it is a known one.
    fn open(&mut self, vocabulary: Vocabulary, name: &str, element: &BytesStart<'_>) {
        if let Some(Scope { kind: ScopeKind::Person(..), .. }) = self.scopes.last() {
            let target = match (vocabulary, name) {
                (Vocabulary::Feed, "name") => Target::Name,
                (Vocabulary::Feed, "email") => Target::Email,
                (Vocabulary::Feed, "uri" | "url" | "homepage") => Target::Page,
                _ => return,
            };
            self.capture = Some((target, Capture::new(Form::Plain)));
            return;
        }
        let is_in_entry = self.of_entry.is_some();
        match (vocabulary, name) {
            (Vocabulary::Feed, "channel") if !is_in_entry => {
                if self.root.as_deref().is_some_and(|root| root.ends_with("22-rdf-syntax-ns#"))
                    && element.name().prefix().is_none()
                {
                    self.about(element);
                }
                self.push(ScopeKind::Feed, element);
            }
            (Vocabulary::Feed, "item" | "entry") if !is_in_entry => {
                self.of_entry = Some(Draft::default());
                self.about(element);
                self.push(ScopeKind::Entry, element);
            }
            _ => {
                if let Some((field, rank)) = field(vocabulary, name) {
                    self.open_field(field, rank, vocabulary, element);
                }
            }
        }
    }

    /// Takes the RDF identifier of a thing.
    fn about(&mut self, element: &BytesStart<'_>) {
        if let Some(id) = attribute(element, "about").filter(|id| !id.is_empty()) {
            self.draft().put_line(Field::Id, Rank::Own, &id);
        }
    }

    fn open_field(&mut self, field: Field, rank: Rank, vocabulary: Vocabulary, element: &BytesStart<'_>) {
        let is_atom = matches!(self.format, Some((FeedFormat::Atom, _))) && vocabulary == Vocabulary::Feed;
        let form = match field {
            Field::Author => return self.push(ScopeKind::Person(rank, Person::default(), String::new()), element),
            Field::Enclosure => {
                let file = attribute(element, "url").map(|url| self.enclosure(&url, element));
                return file.into_iter().for_each(|file| self.draft().put_enclosure(file));
            }
            Field::Link if attribute(element, "href").is_some() => return self.link(element),
            // Some feeds write the URL as in RSS.
            Field::Link if is_atom && !is_alternate(element) => return,
            Field::Category if is_atom => {
                let named =
                    attribute(element, "term").filter(|term| !term.is_empty()).or_else(|| attribute(element, "label"));
                let named = named.filter(|named| !named.trim().is_empty());
                if let Some(named) = named {
                    return self.draft().put_line(field, rank, named.trim());
                }
                Form::Plain
            }
            // The content is elsewhere.
            Field::Content if is_atom && attribute(element, "src").is_some() => return,
            Field::Content if vocabulary == Vocabulary::Xhtml && self.of_entry.is_none() => return,
            Field::Title | Field::Summary | Field::Content if is_atom => {
                Form::from_atom(attribute(element, "type").as_deref(), attribute(element, "mode").as_deref())
            }
            Field::Title => Form::Unsure,
            Field::Content if vocabulary == Vocabulary::Xhtml => Form::Elements,
            Field::Summary | Field::Content => Form::Html,
            _ => Form::Plain,
        };
        let target = match field {
            Field::Id if self.of_entry.is_some() && !is_atom => match attribute(element, "isPermaLink") {
                Some(said) if !said.trim().eq_ignore_ascii_case("true") => Target::Field(field, rank),
                _ => Target::Permalink,
            },
            _ => Target::Field(field, rank),
        };
        self.capture = Some((target, Capture::new(form)));
    }

    fn enclosure(&self, url: &str, element: &BytesStart<'_>) -> Enclosure {
        Enclosure {
            url: self.absolute(url, element),
            media_type: attribute(element, "type").map(|kind| kind.trim().to_owned()).filter(|kind| !kind.is_empty()),
            bytes: attribute(element, "length").and_then(|length| length.trim().parse().ok()),
        }
    }

    /// Reads a link element of Atom, which RSS uses as well.
    fn link(&mut self, element: &BytesStart<'_>) {
        let Some(href) = attribute(element, "href").filter(|href| !href.trim().is_empty()) else { return };
        let is_own = matches!(self.format, Some((FeedFormat::Atom, _)));
        if is_alternate(element) {
            let url = self.absolute(&href, element);
            self.draft().put_line(Field::Link, if is_own { Rank::Own } else { Rank::Module }, &url);
        } else if self.of_entry.is_none() {
            if leads_on(element) && self.parts.len() < PARTS_MAX {
                self.parts.push(self.absolute(&href, element));
            }
        } else if attribute(element, "rel").is_some_and(|rel| rel.trim() == "enclosure") {
            let file = self.enclosure(&href, element);
            self.draft().put_enclosure(file);
        }
    }

    fn end(&mut self, name: &str) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        if let Some((_, capture)) = &mut self.capture {
            if !capture.end(name) {
                return;
            }
            if let Some((target, capture)) = self.capture.take() {
                self.take(target, capture);
            }
            return;
        }
        // The root stays open, so that everything after a mistake is read.
        if self.scopes.len() <= 1 {
            return;
        }
        match self.scopes.pop().map(|scope| scope.kind) {
            Some(ScopeKind::Entry) => self.end_entry(),
            Some(ScopeKind::Person(rank, named, line)) => {
                let named = if named == Person::default() { person(&line) } else { Some(named) };
                named.into_iter().for_each(|named| self.draft().put_author(rank, named));
            }
            Some(ScopeKind::Feed) | None => {}
        }
    }

    /// Stores a finished text.
    fn take(&mut self, target: Target, capture: Capture) {
        self.is_cut |= capture.is_cut;
        let line = capture.characters();
        self.text_bytes += line.len();
        if line.is_empty() {
            return;
        }
        match target {
            Target::Field(field @ (Field::Title | Field::Summary | Field::Content), rank) => {
                if let Some(text) = capture.finish() {
                    self.draft().put_text(field, rank, text);
                }
            }
            Target::Field(Field::Link, rank) => {
                let url = self.joined(line, None);
                self.draft().put_line(Field::Link, rank, &url);
            }
            Target::Field(field, rank) => self.draft().put_line(field, rank, line),
            Target::Permalink => {
                self.draft().put_line(Field::Id, Rank::Own, line);
                if Url::parse(line).is_ok_and(|url| url.has_host()) {
                    self.draft().put_line(Field::Link, Rank::Near, line);
                }
            }
            Target::Name | Target::Email | Target::Page => {
                let line = line.to_owned();
                let line = if target == Target::Page { self.joined(&line, None) } else { line };
                if let Some(Scope { kind: ScopeKind::Person(_, person, _), .. }) = self.scopes.last_mut() {
                    let place = match target {
                        Target::Name => &mut person.name,
                        Target::Email => &mut person.email,
                        _ => &mut person.url,
                    };
                    place.get_or_insert(line);
                }
            }
        }
    }

    fn end_entry(&mut self) {
        let Some(draft) = self.of_entry.take() else { return };
        self.is_cut |= draft.is_cut;
        self.entries.push(draft.finish().into_entry());
    }

    /// Finishes the feed, even in the middle of an entry.
    fn finish(mut self) -> Option<ReadFeed> {
        if let Some((target, capture)) = self.capture.take() {
            self.take(target, capture);
        }
        self.end_entry();
        let (format, version) = self.format?;
        let is_cut = self.is_cut || self.of_feed.is_cut;
        let said = self.of_feed.finish();
        let feed = Feed {
            format,
            version: version.map(|version| version.trim().to_owned()).filter(|version| !version.is_empty()),
            title: said.title,
            link: said.link,
            id: said.id,
            authors: said.authors,
            summary: said.summary,
            published: said.published,
            updated: said.updated,
            categories: said.categories,
            entries: self.entries,
        };
        Some(ReadFeed { feed, parts: self.parts, is_cut })
    }
}

/// The longest line about a person that is read, in bytes.
const LINE_BYTES: usize = 4 << 10;
