//! Where links are used in a page: each `<a>` and `<area>`, with its text, its fragment, and the
//! part of the page.

use dragline_domain::markup::{LinkUse, MalformedLink, MalformedReason, PagePart, checkable_fragment};

use super::links::{LinkId, Position};
use super::page::HtmlLink;

/// The limit on the uses of a page.
const USES_MAX: usize = 10_000;

/// The limit on all their texts, in bytes.
const TEXTS_BYTES_MAX: usize = 256 * 1024;

/// The longest `rel` that is kept, in bytes.
const REL_BYTES_MAX: usize = 128;

/// The id of a use that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UseId(usize);

/// A place in the texts.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
}

/// The text of a use.
#[derive(Clone, Copy, Debug)]
pub(super) enum UseText {
    /// There is none.
    Nothing,
    /// It is that of its link.
    OfLink,
    /// It is another.
    Other,
}

/// The text of a use, and where it is kept.
#[derive(Clone, Copy, Debug)]
enum KeptText {
    Nothing,
    OfLink,
    Other(Span),
}

/// A use whose link is not resolved yet.
#[derive(Clone, Copy, Debug)]
struct ReadUse {
    link: LinkId,
    /// `None` without a `#`; empty if it names no element.
    fragment: Option<Span>,
    rel: Option<Span>,
    alt: Option<Span>,
    text: KeptText,
    part: Option<PagePart>,
}

/// The uses so far.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// All fragments, values of `rel`, and texts, one after the other.
    texts: String,
    uses: Vec<ReadUse>,
    is_cut: bool,
}

impl Uses {
    /// Adds the use of a link with this reference, as written. `None` if there is no room.
    pub(super) fn begin(
        &mut self,
        link: LinkId,
        reference: &str,
        rel: Option<&str>,
        part: Option<PagePart>,
    ) -> Option<UseId> {
        if self.uses.len() >= USES_MAX {
            self.is_cut = true;
            return None;
        }
        let written = reference.split_once('#').map(|(_, fragment)| fragment.trim_end_matches(|c: char| c <= ' '));
        let none = Span { start: 0, end: 0 };
        let fragment =
            written.map(|written| checkable_fragment(written).and_then(|named| self.keep(named)).unwrap_or(none));
        let rel = rel.map(str::trim_ascii).filter(|rel| !rel.is_empty() && rel.len() <= REL_BYTES_MAX);
        let rel = rel.and_then(|rel| self.keep(rel));
        let id = self.uses.len();
        self.uses.push(ReadUse { link, fragment, rel, alt: None, text: KeptText::Nothing, part });
        Some(UseId(id))
    }

    /// Sets the text of a use, and the alternative text of its picture if it has one. `text` is
    /// only read if it is not that of the link.
    pub(super) fn end(&mut self, UseId(id): UseId, is: UseText, text: &str, alt: Option<&str>) {
        let text = match is {
            UseText::Other => self.keep(text).map_or(KeptText::OfLink, KeptText::Other),
            UseText::OfLink => KeptText::OfLink,
            UseText::Nothing => KeptText::Nothing,
        };
        let alt = alt.and_then(|alt| self.keep(alt));
        if let Some(one) = self.uses.get_mut(id) {
            (one.text, one.alt) = (text, alt);
        }
    }

    /// Returns the link of a use.
    pub(super) fn link(&self, UseId(id): UseId) -> Option<LinkId> {
        self.uses.get(id).map(|one| one.link)
    }

    fn keep(&mut self, text: &str) -> Option<Span> {
        if text.len() > TEXTS_BYTES_MAX - self.texts.len() {
            self.is_cut = true;
            return None;
        }
        let start = self.texts.len();
        self.texts.push_str(text);
        Some(Span { start, end: self.texts.len() })
    }

    fn text(&self, Span { start, end }: Span) -> &str {
        self.texts.get(start..end).unwrap_or_default()
    }

    /// Resolves the uses to the positions of their links. Returns those that say more than the
    /// link itself, the empty references, and whether a limit left some out.
    pub(super) fn finish(self, positions: &[Position], links: &[HtmlLink]) -> (Vec<LinkUse>, Vec<MalformedLink>, bool) {
        let position = |one: &ReadUse| positions.get(one.link.0).unwrap_or(&Position::Dropped);
        let mut times = vec![0_u32; links.len()];
        for one in &self.uses {
            if let Position::Link { at, .. } = position(one)
                && let Some(times) = times.get_mut(*at)
            {
                *times += 1;
            }
        }
        let boxed = |span: Option<Span>| span.map(|span| self.text(span).into());
        let (mut uses, mut empty) = (Vec::new(), Vec::new());
        for one in &self.uses {
            let fragment = one.fragment.filter(|span| span.end > span.start);
            let told = LinkUse {
                fragment: boxed(fragment),
                part: one.part,
                rel: boxed(one.rel),
                alt: boxed(one.alt),
                ..LinkUse::default()
            };
            match position(one) {
                Position::Link { at, own_text } => {
                    let of_link = links.get(*at).and_then(|link| link.text.as_deref());
                    let text = self.own_text(one, own_text.as_deref().or(of_link));
                    let text = if text == of_link { None } else { Some(text.unwrap_or_default().into()) };
                    let told = LinkUse { link: u32::try_from(*at).ok(), text, ..told };
                    let is_plain = told == LinkUse { link: told.link, ..LinkUse::default() };
                    if !is_plain || times.get(*at).is_some_and(|times| *times > 1) {
                        uses.push(told);
                    }
                }
                Position::Page { kind, own_text } => {
                    let text = self.own_text(one, own_text.as_deref()).map(Into::into);
                    match one.fragment {
                        Some(_) if fragment.is_none() => {}
                        Some(_) => uses.push(LinkUse { text, ..told }),
                        None => empty.push(MalformedLink {
                            kind: *kind,
                            written: "".into(),
                            why: MalformedReason::Empty,
                            text,
                        }),
                    }
                }
                Position::Dropped => {}
            }
        }
        (uses, empty, self.is_cut)
    }

    fn own_text<'t>(&'t self, one: &ReadUse, of_link: Option<&'t str>) -> Option<&'t str> {
        match one.text {
            KeptText::Nothing => None,
            KeptText::OfLink => of_link,
            KeptText::Other(span) => Some(self.text(span)),
        }
    }
}
