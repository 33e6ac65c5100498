//! SVG and `MathML` within HTML, where the same names denote other elements.
//!
//! `<svg><style/>` is complete, but `<style/>` in HTML is not and would swallow the rest of the
//! page; so the namespace of a tag must be known. Follows WHATWG HTML, "the rules for parsing
//! tokens in foreign content", but stores only the open elements that change the meaning of tags.

use super::tag::{Closing, Element};

/// The limit on the nesting of SVG, `MathML` and HTML in one another, beyond that of any sane page.
/// Deeper ones are not entered.
const DEPTH_MAX: usize = 32;

/// The namespace of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Namespace {
    Html,
    Svg,
    MathMl,
}

/// An open element that changes the meaning of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    element: Element,
    /// The namespace of the elements within it.
    inner: Namespace,
}

/// The open elements that change the meaning of tags.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    frames: Vec<Frame>,
}

impl Foreign {
    /// Returns how many changes of meaning are in effect.
    pub(super) const fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Returns the namespace of an element that has none of its own.
    pub(super) fn current(&self) -> Namespace {
        self.frames.last().map_or(Namespace::Html, |frame| frame.inner)
    }

    /// Handles a start tag, and returns the namespace of its element.
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
            // An annotation contains HTML only if its encoding says so; otherwise, nothing would be
            // found in it anyway.
            (Namespace::MathMl, Element::MathText | Element::Annotation) => (Namespace::MathMl, Namespace::Html),
            (outer, _) => return outer,
        };
        if closing == Closing::Open && self.frames.len() < DEPTH_MAX {
            self.frames.push(Frame { element, inner });
        }
        own
    }

    /// Handles an end tag. It also closes open elements within its element, but does not reach
    /// outside of HTML.
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

/// Whether a start tag is so clearly HTML that it ends SVG and `MathML`, whose end tags the author
/// forgot.
const fn breaks_out(element: Element) -> bool {
    matches!(
        element,
        Element::Block
            | Element::Body
            | Element::Br
            | Element::Embed
            | Element::H1
            | Element::Head
            | Element::Img
            | Element::Meta
            | Element::Phrasing
            | Element::Pre
            | Element::Table
    )
}
