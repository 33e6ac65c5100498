//! Rules common to XML vocabularies: required elements, texts that are dates or URLs.

use std::collections::HashMap;

use url::Url;
use xml::attribute::OwnedAttribute;
use xml::name::OwnedName;

use super::flaws::{Flaws, LineColumn, quoted};

/// How much of an element's text is kept, in bytes: more than the longest URL.
const TEXT_BYTES_MAX: usize = 8 << 10;

/// The start of an element.
pub(super) struct Element<'e> {
    pub(super) name: &'e OwnedName,
    pub(super) attributes: &'e [OwnedAttribute],
    pub(super) place: LineColumn,
}

impl Element<'_> {
    /// Returns the value of an attribute without a namespace.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found =
            self.attributes.iter().find(|found| found.name.namespace.is_none() && found.name.local_name == name);
        found.map(|attribute| attribute.value.as_str())
    }
}

/// An open element.
#[derive(Debug)]
pub(super) struct OpenElement {
    /// Its name; empty if it is in another namespace than the root.
    pub(super) name: String,
    pub(super) place: LineColumn,
    /// The text directly in it, trimmed when it is closed, of limited length.
    pub(super) text: String,
    /// Whether it has child elements.
    pub(super) has_children: bool,
    /// The number of its children of each name that is limited.
    counts: HashMap<&'static str, u32>,
}

impl OpenElement {
    /// Counts an element that may occur at most once.
    pub(super) fn count_once(&mut self, name: &'static str, place: LineColumn, flaws: &mut Flaws) {
        let count = self.counts.entry(name).or_default();
        *count = count.saturating_add(1);
        if *count > 1 {
            flaws.add("duplicate-element", || place, || format!("`{}` has more than one `{name}`", self.name));
        }
    }

    /// Counts an element that may occur repeatedly.
    pub(super) fn count(&mut self, name: &'static str) {
        let count = self.counts.entry(name).or_default();
        *count = count.saturating_add(1);
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.counts.contains_key(name)
    }

    /// Reports required elements that are missing when this one is closed.
    pub(super) fn require(&self, names: &[&'static str], flaws: &mut Flaws) {
        for name in names {
            if !self.has(name) {
                flaws.add("missing-element", || self.place, || format!("`{}` has no `{name}`", self.name));
            }
        }
    }
}

/// The rules of a vocabulary.
pub(super) trait Vocabulary {
    /// Handles the start of an element in the root's namespace, within these; the root has none
    /// around it.
    fn start(&mut self, outer: &mut [OpenElement], element: &Element<'_>, flaws: &mut Flaws);

    /// Handles its end.
    fn end(&mut self, outer: &mut [OpenElement], ended: &OpenElement, flaws: &mut Flaws);
}

/// Whether these open elements have these names, from the root.
pub(super) fn is_at(outer: &[OpenElement], names: &[&str]) -> bool {
    outer.len() == names.len() && outer.iter().zip(names).all(|(open, name)| open.name == *name)
}

/// Follows the elements of a document.
pub(super) struct Outline<'v> {
    vocabulary: &'v mut dyn Vocabulary,
    namespace: Option<String>,
    open: Vec<OpenElement>,
}

impl<'v> Outline<'v> {
    pub(super) fn new(vocabulary: &'v mut dyn Vocabulary) -> Self {
        Self { vocabulary, namespace: None, open: Vec::new() }
    }

    pub(super) fn start(&mut self, element: &Element<'_>, flaws: &mut Flaws) {
        match self.open.last_mut() {
            Some(outer) => outer.has_children = true,
            None => self.namespace.clone_from(&element.name.namespace),
        }
        let is_own = element.name.namespace == self.namespace;
        if is_own {
            self.vocabulary.start(&mut self.open, element, flaws);
        }
        self.open.push(OpenElement {
            name: if is_own { element.name.local_name.clone() } else { String::new() },
            place: element.place,
            text: String::new(),
            has_children: false,
            counts: HashMap::new(),
        });
    }

    pub(super) fn text(&mut self, text: &str) {
        if let Some(open) = self.open.last_mut() {
            let room = TEXT_BYTES_MAX.saturating_sub(open.text.len());
            open.text.push_str(&text[..text.floor_char_boundary(room)]);
        }
    }

    pub(super) fn end(&mut self, flaws: &mut Flaws) {
        let Some(mut ended) = self.open.pop() else { return };
        if !ended.name.is_empty() {
            ended.text = ended.text.trim().to_owned();
            self.vocabulary.end(&mut self.open, &ended, flaws);
        }
    }

    pub(super) fn finish(mut self, flaws: &mut Flaws) {
        while !self.open.is_empty() {
            self.end(flaws);
        }
    }
}

/// Reports a text that is not an absolute URL.
pub(super) fn check_url(name: &str, text: &str, place: LineColumn, flaws: &mut Flaws) {
    if Url::parse(text).is_err() {
        flaws.add("bad-url", || place, || format!("{name} must be an absolute URL: {}", quoted(text)));
    }
}

/// Reports a text that is not a date in the required form.
pub(super) fn check_date(name: &str, text: &str, form: (&str, fn(&str) -> bool), place: LineColumn, flaws: &mut Flaws) {
    let (form, is_right) = form;
    if !is_right(text) {
        flaws.add("bad-date", || place, || format!("`{name}` must be a date as in {form}: {}", quoted(text)));
    }
}
