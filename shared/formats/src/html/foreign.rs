//! SVG and `MathML` within HTML, where the same names are other elements.
//!
//! `<svg><style/>` is complete, `<style/>` in HTML is not and would swallow the rest of the page; so it must be known
//! which of the two a tag is in. WHATWG HTML, "the rules for parsing tokens in foreign content", but for this: instead
//! of all open elements only those are kept that change what tags mean.

use super::tag::{Closing, Element};

/// More nesting of SVG, `MathML` and HTML in one another than any sane page has. Deeper ones are not entered.
const DEPTH_MAX: usize = 32;

/// Whose an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Namespace {
    Html,
    Svg,
    MathMl,
}

/// An open element that changes what tags mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    element: Element,
    /// Whose the elements within it are.
    inner: Namespace,
}

/// Which of them is open.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    frames: Vec<Frame>,
}

impl Foreign {
    /// How many changes of meaning are in force.
    pub(super) const fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Whose an element is that is no other's.
    pub(super) fn current(&self) -> Namespace {
        self.frames.last().map_or(Namespace::Html, |frame| frame.inner)
    }

    /// Enters a start tag: whose element it is.
    pub(super) fn start_tag(&mut self, element: Element, closing: Closing) -> Namespace {
        let outer = self.current();
        if outer != Namespace::Html && breaks_out(element) {
            while self.current() != Namespace::Html {
                self.frames.pop();
            }
            return Namespace::Html;
        }
        let (own, inner) = match (outer, element) {
            (Namespace::Html | Namespace::Svg, Element::Svg) => (Namespace::Svg, Namespace::Svg),
            (Namespace::Html, Element::Math) => (Namespace::MathMl, Namespace::MathMl),
            (Namespace::Svg, Element::ForeignObject | Element::SvgDesc | Element::Title) => {
                (Namespace::Svg, Namespace::Html)
            }
            // An annotation holds HTML only if its encoding says so; nothing else would be found in it anyway.
            (Namespace::MathMl, Element::MathText | Element::Annotation) => (Namespace::MathMl, Namespace::Html),
            (outer, _) => return outer,
        };
        if closing == Closing::Open && self.frames.len() < DEPTH_MAX {
            self.frames.push(Frame { element, inner });
        }
        own
    }

    /// Leaves by an end tag. It closes what is open within its element too, but does not reach out of HTML.
    pub(super) fn end_tag(&mut self, element: Element) {
        for (index, frame) in self.frames.iter().enumerate().rev() {
            if frame.element == element {
                self.frames.truncate(index);
                return;
            }
            if frame.inner == Namespace::Html {
                return;
            }
        }
    }
}

/// Whether a start tag is so clearly HTML that it ends SVG and `MathML`: an author forgot to.
const fn breaks_out(element: Element) -> bool {
    matches!(
        element,
        Element::Block
            | Element::Body
            | Element::Br
            | Element::Embed
            | Element::Head
            | Element::Img
            | Element::Meta
            | Element::Phrasing
            | Element::Pre
            | Element::Table
    )
}
