//! The meaning of each tag and each text for the page.

mod frames;
mod references;

use dragline_domain::document::LinkKind;
use html5gum::State;

use self::frames::Frames;
use super::foreign::{Foreign, Namespace};
use super::hiding::{OwnVisibility, VisibilityState};
use super::links::{Links, OpenAnchor};
use super::marks::Marks;
use super::metadata::Metadata;
use super::open_elements::{Name, OpenElements};
use super::resolve::{Resolver, query_encoding};
use super::tag::{Closing, Element, Tag};
use super::words::{Gap, TextBuffer};
use super::{HtmlLimits, Page, PageSource, Syntax, Truncated};

/// An element whose text is not shown.
#[derive(Clone, Copy, Debug)]
struct HiddenElement {
    element: Element,
    /// Its depth in foreign content: leaving that ends the element too, with or without its end
    /// tag.
    depth: usize,
}

/// The page so far, collected from tags and texts.
#[derive(Debug)]
pub(super) struct Collector<'l> {
    limits: &'l HtmlLimits,
    syntax: Syntax,
    metadata: Metadata<'l>,
    links: Links,
    marks: Marks,
    frames: Frames<'l>,
    text: TextBuffer,
    /// The open `<a>`, its text, and the alternative text of the first picture in it.
    anchor: Option<OpenAnchor>,
    anchor_text: TextBuffer,
    anchor_alt: Option<String>,
    foreign: Foreign,
    open: OpenElements,
    /// The visibility of the element whose tag is being read.
    seen: VisibilityState,
    muted: Option<HiddenElement>,
    /// The text of the open `<style>`; `None` without one, or if it is in another language than
    /// CSS.
    style: Option<Vec<u8>>,
    open_templates: usize,
    open_pres: usize,
    /// The kind of element around a `<source>` or a `<track>`.
    media: LinkKind,
    has_body_begun: bool,
}

impl<'l> Collector<'l> {
    pub(super) fn new(limits: &'l HtmlLimits, syntax: Syntax) -> Self {
        Self {
            limits,
            syntax,
            metadata: Metadata::new(limits),
            links: Links::new(limits),
            marks: Marks::default(),
            frames: Frames::default(),
            text: TextBuffer::new(limits.text_bytes_max),
            anchor: None,
            anchor_text: TextBuffer::new(limits.link_text_bytes_max),
            anchor_alt: None,
            foreign: Foreign::default(),
            open: OpenElements::new(syntax),
            seen: VisibilityState::WHOLLY,
            muted: None,
            style: None,
            open_templates: 0,
            open_pres: 0,
            media: LinkKind::Video,
            has_body_begun: false,
        }
    }

    /// Whether CDATA sections are text at this point of the page.
    pub(super) fn has_cdata(&self) -> bool {
        self.syntax == Syntax::Xhtml || self.foreign.current() != Namespace::Html
    }

    pub(super) fn text(&mut self, piece: &[u8]) {
        if self.open_templates > 0 {
            return;
        }
        match self.muted {
            // Although it is hidden, it exists, and begins the body.
            None if !self.open.visibility().is_read() => self.has_body_begun |= !piece.trim_ascii().is_empty(),
            None => {
                if self.open_pres > 0 {
                    self.text.push_preformatted(piece);
                } else {
                    self.text.push(piece);
                }
                if self.anchor.is_some() {
                    self.anchor_text.push(piece);
                }
            }
            Some(HiddenElement { element: Element::Title, depth: 0 }) => self.metadata.title_text(piece),
            Some(HiddenElement { element: Element::Style, .. }) => {
                if let Some(style) = &mut self.style {
                    style.extend_from_slice(piece);
                }
            }
            Some(_) => {}
        }
    }

    /// Handles a start tag, and returns how the tokenizer must continue.
    pub(super) fn start_tag(&mut self, tag: &Tag) -> Option<State> {
        let element = tag.element();
        let was_foreign = self.foreign.current() != Namespace::Html;
        let namespace = self.foreign.start_tag(element, tag.closing());
        let closing = match (self.syntax, namespace) {
            (Syntax::Html, Namespace::Html) => Closing::Open,
            _ => tag.closing(),
        };
        if was_foreign && namespace == Namespace::Html {
            self.open.leave_foreign();
        }
        let name = tag.name();
        let own = if tag.may_hide() || name.hides_itself() {
            OwnVisibility::from_tag(tag, name.role(), namespace)
        } else {
            OwnVisibility::default()
        };
        self.seen = self.open.start(name, element, namespace, closing, own);
        self.unmute_outside();
        if namespace == Namespace::Html && element == Element::Template && closing == Closing::Open {
            self.open_templates += 1;
        }
        if self.open_templates == 0 {
            self.has_body_begun |= !may_be_in_head(element);
            self.mute(namespace, element, closing);
            self.lay_out(namespace, element, closing);
            self.read(namespace, tag);
            if closing == Closing::SelfClosed {
                self.close(element);
            }
        }
        match (namespace, closing) {
            (Namespace::Html, Closing::Open) => content_state(element, self.syntax),
            _ => None,
        }
    }

    pub(super) fn end_tag(&mut self, element: Element, name: Name) {
        self.foreign.end_tag(element);
        self.seen = self.open.end(name);
        self.unmute_outside();
        if self.muted.is_some_and(|muted| muted.element == element) {
            self.unmute();
        }
        if element == Element::Template {
            self.open_templates = self.open_templates.saturating_sub(1);
        }
        if self.open_templates > 0 {
            return;
        }
        if matches!(element, Element::Plaintext | Element::Pre | Element::Xmp) {
            self.open_pres = self.open_pres.saturating_sub(1);
        }
        self.close(element);
        self.gap(element);
    }

    /// Closes the element: the following content is outside of it.
    fn close(&mut self, element: Element) {
        match element {
            Element::A => self.end_anchor(),
            Element::Audio | Element::Video => self.media = LinkKind::Video,
            _ => {}
        }
    }

    /// Resolves the collected references.
    pub(super) fn finish(mut self, source: &PageSource<'_>) -> Page {
        self.end_anchor();
        self.unmute();
        self.metadata.end_title();
        let from_page = Resolver {
            base: source.url,
            query_encoding: query_encoding(source.encoding),
            url_bytes_max: self.limits.url_bytes_max,
        };
        let base = self.metadata.resolved_base(from_page);
        let resolver = Resolver { base: &base, ..from_page };
        let mut resolved = self.links.finish(resolver, source.url);
        self.frames.finish(&mut resolved, self.limits, resolver, source.url);
        let is_cut = resolved.is_cut;
        let (links, markup) = self.marks.finish(resolved);
        Page {
            title: self.metadata.title.take(),
            description: self.metadata.description.take(),
            language: self.metadata.language(),
            canonical: self.metadata.resolved_canonical(resolver),
            robots: self.metadata.robots,
            truncated: Truncated { links: is_cut, text: self.text.is_cut() },
            text: self.text.finish(),
            links,
            markup,
        }
    }

    fn mute(&mut self, namespace: Namespace, element: Element, closing: Closing) {
        let is_shown = match namespace {
            Namespace::Html => !matches!(
                element,
                Element::Iframe
                    | Element::Noembed
                    | Element::Noframes
                    | Element::Script
                    | Element::Style
                    | Element::Textarea
                    | Element::Title
            ),
            Namespace::Svg | Namespace::MathMl => !matches!(
                element,
                Element::Annotation | Element::Script | Element::Style | Element::SvgDesc | Element::Title
            ),
        };
        if !is_shown && closing == Closing::Open && self.muted.is_none() {
            self.muted = Some(HiddenElement { element, depth: self.foreign.depth() });
        }
    }

    fn unmute_outside(&mut self) {
        if self.muted.is_some_and(|muted| self.foreign.depth() < muted.depth) {
            self.unmute();
        }
    }

    fn unmute(&mut self) {
        match self.muted.take() {
            Some(HiddenElement { element: Element::Title, depth: 0 }) => self.metadata.end_title(),
            Some(HiddenElement { element: Element::Style, .. }) => {
                if let Some(style) = self.style.take() {
                    self.styles(&String::from_utf8_lossy(&style));
                }
            }
            _ => {}
        }
    }

    fn lay_out(&mut self, namespace: Namespace, element: Element, closing: Closing) {
        self.gap(element);
        let is_preformatted = matches!(element, Element::Plaintext | Element::Pre | Element::Xmp);
        if namespace == Namespace::Html && closing == Closing::Open && is_preformatted {
            self.open_pres += 1;
        }
    }

    /// Separates texts where an element begins or ends.
    fn gap(&mut self, element: Element) {
        if !self.seen.is_laid_out {
            return;
        }
        let gap = match element {
            Element::Block
            | Element::Body
            | Element::Br
            | Element::Form
            | Element::H1
            | Element::Plaintext
            | Element::Pre
            | Element::Table
            | Element::Xmp => Gap::Line,
            Element::Cell => Gap::Cell,
            Element::Audio
            | Element::Button
            | Element::Iframe
            | Element::Input
            | Element::Textarea
            | Element::Video => Gap::Space,
            _ => return,
        };
        self.text.gap(gap);
        self.anchor_text.gap(Gap::Space);
    }
}

/// Whether the head continues after a start tag of this element; any other begins the body (WHATWG
/// HTML, the "in head" insertion mode).
const fn may_be_in_head(element: Element) -> bool {
    matches!(
        element,
        Element::Base
            | Element::Head
            | Element::Html
            | Element::Link
            | Element::Meta
            | Element::Noframes
            | Element::Noscript
            | Element::Script
            | Element::Style
            | Element::Template
            | Element::Title
    )
}

/// Returns how an element's content is tokenized, if that is not as usual (WHATWG HTML, tree
/// construction, scripting off).
///
/// This does not exist in XML. But in pages that are not well-formed after all, scripts and style
/// sheets are full of `<`; and well-formed pages lose nothing, as that content is not shown.
const fn content_state(element: Element, syntax: Syntax) -> Option<State> {
    match (syntax, element) {
        (Syntax::Html, _) => html_content_state(element),
        (Syntax::Xhtml, Element::Script | Element::Style) => Some(State::RawText),
        (Syntax::Xhtml, _) => None,
    }
}

const fn html_content_state(element: Element) -> Option<State> {
    match element {
        Element::Textarea | Element::Title => Some(State::RcData),
        Element::Iframe | Element::Noembed | Element::Noframes | Element::Style | Element::Xmp => Some(State::RawText),
        Element::Script => Some(State::ScriptData),
        Element::Plaintext => Some(State::PlainText),
        _ => None,
    }
}
