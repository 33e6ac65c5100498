//! The effect of an element's tags on the elements around it.

use dragline_domain::markup::PagePart;

/// The name of an element, as far as needed to distinguish tags.
#[derive(Clone, Copy, Debug)]
pub(in crate::html) struct Name {
    hash: u64,
    role: Role,
}

impl Name {
    /// Creates a name from its text in lower case.
    pub(in crate::html) fn from_bytes(name: &[u8]) -> Self {
        // FNV-1a: names are short, and if two on a page have the same hash, only the wrong element
        // ends.
        let hash = name
            .iter()
            .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3));
        Self { hash, role: Role::from_name(name) }
    }

    pub(in crate::html) const fn role(self) -> Role {
        self.role
    }

    /// Whether its element, or the content, is hidden unless its tag says otherwise.
    pub(in crate::html) const fn hides_itself(self) -> bool {
        matches!(self.role, Role::DataList | Role::Dialog | Role::Fallback | Role::RubyParenthesis)
    }

    /// Returns the same name without its special meaning.
    pub(super) const fn as_foreign(self, role: Role) -> Self {
        Self { hash: self.hash, role }
    }

    pub(super) const fn is_same(self, other: Self) -> bool {
        self.hash == other.hash
    }

    /// Returns one of 256 groups of names.
    pub(super) fn group(self) -> usize {
        usize::from(self.hash.to_le_bytes()[0])
    }
}

/// A class of elements that a tree builder treats alike (WHATWG HTML, tree construction).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::html) enum Role {
    /// `<html>`, `<head>`, `<body>`: there is exactly one, whatever tags there are.
    Root,
    /// It has no content.
    Void,
    /// `<hr>`: it has no content, and ends a paragraph.
    Rule,
    Paragraph,
    /// It ends a paragraph.
    Block,
    /// It does so, and is a part of the page: `<header>`, `<nav>`, `<main>`, `<aside>`, `<footer>`.
    Header,
    Nav,
    Main,
    Aside,
    Footer,
    /// A block across which an earlier list item can be ended: `<div>`, `<address>`.
    Division,
    /// `<ul>`, `<ol>`, `<menu>`: it has its own items.
    List,
    Heading,
    ListItem,
    /// `<dt>`, `<dd>`.
    DescriptionItem,
    Form,
    Dialog,
    Table,
    /// `<thead>`, `<tbody>`, `<tfoot>`.
    RowGroup,
    /// `<caption>`.
    Caption,
    /// `<colgroup>`.
    ColumnGroup,
    Row,
    Cell,
    Button,
    /// `<optgroup>`.
    OptionGroup,
    Option,
    /// `<ruby>`.
    Ruby,
    /// `<rb>`, `<rt>`, `<rtc>`.
    RubyPart,
    /// `<rp>`, for browsers without ruby.
    RubyParenthesis,
    /// It can be ended even if blocks in it are open: `<b>`, `<i>`, `<font>`.
    Formatting,
    Anchor,
    /// Nothing inside it ends anything around it except a part of a table: `<object>`.
    Marker,
    /// `<template>`: nothing inside it ends anything around it.
    Template,
    /// Its content is only a fallback: `<video>`, `<canvas>`.
    Fallback,
    /// `<datalist>`.
    DataList,
    /// No inline element is ended across it: `<select>`, `<noscript>`, elements with raw text.
    Special,
    /// Any other: treated as inline.
    Inline,
}

impl Role {
    /// The number of roles.
    pub(super) const COUNT: usize = Self::Inline as usize + 1;

    fn from_name(name: &[u8]) -> Self {
        match name {
            b"html" | b"head" | b"body" => Self::Root,
            b"area" | b"base" | b"basefont" | b"bgsound" | b"br" | b"col" | b"embed" | b"frame" | b"image" | b"img"
            | b"input" | b"keygen" | b"link" | b"meta" | b"param" | b"source" | b"track" | b"wbr" => Self::Void,
            b"hr" => Self::Rule,
            b"p" => Self::Paragraph,
            b"div" | b"address" => Self::Division,
            b"ul" | b"ol" | b"menu" | b"dir" => Self::List,
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Self::Heading,
            b"li" => Self::ListItem,
            b"dt" | b"dd" => Self::DescriptionItem,
            b"form" => Self::Form,
            b"dialog" => Self::Dialog,
            b"table" => Self::Table,
            b"thead" | b"tbody" | b"tfoot" => Self::RowGroup,
            b"caption" => Self::Caption,
            b"colgroup" => Self::ColumnGroup,
            b"tr" => Self::Row,
            b"td" | b"th" => Self::Cell,
            b"button" => Self::Button,
            b"optgroup" => Self::OptionGroup,
            b"option" => Self::Option,
            b"ruby" => Self::Ruby,
            b"rb" | b"rt" | b"rtc" => Self::RubyPart,
            b"rp" => Self::RubyParenthesis,
            b"b" | b"big" | b"code" | b"em" | b"font" | b"i" | b"nobr" | b"s" | b"small" | b"strike" | b"strong"
            | b"tt" | b"u" => Self::Formatting,
            b"a" => Self::Anchor,
            b"applet" | b"marquee" | b"object" => Self::Marker,
            b"template" => Self::Template,
            b"audio" | b"canvas" | b"video" => Self::Fallback,
            b"datalist" => Self::DataList,
            b"iframe" | b"noembed" | b"noframes" | b"noscript" | b"script" | b"select" | b"style" | b"textarea"
            | b"title" => Self::Special,
            b"article" | b"blockquote" | b"center" | b"details" | b"dl" | b"fieldset" | b"figcaption" | b"figure"
            | b"hgroup" | b"listing" | b"plaintext" | b"pre" | b"search" | b"section" | b"summary" | b"xmp" => {
                Self::Block
            }
            b"header" => Self::Header,
            b"nav" => Self::Nav,
            b"main" => Self::Main,
            b"aside" => Self::Aside,
            b"footer" => Self::Footer,
            _ => Self::Inline,
        }
    }

    /// Whether it has no content.
    pub(super) const fn is_void(self) -> bool {
        matches!(self, Self::Void | Self::Rule)
    }

    /// Returns the part of the page that it is; `None` for most.
    pub(super) const fn page_part(self) -> Option<PagePart> {
        match self {
            Self::Header => Some(PagePart::Header),
            Self::Nav => Some(PagePart::Nav),
            Self::Main => Some(PagePart::Main),
            Self::Aside => Some(PagePart::Aside),
            Self::Footer => Some(PagePart::Footer),
            _ => None,
        }
    }

    /// Whether its start tag ends a paragraph. (In quirks mode, a table does not; that is ignored
    /// here.)
    pub(super) const fn ends_paragraph(self) -> bool {
        matches!(
            self,
            Self::Aside
                | Self::Block
                | Self::DescriptionItem
                | Self::Dialog
                | Self::Division
                | Self::Footer
                | Self::Form
                | Self::Header
                | Self::Heading
                | Self::List
                | Self::ListItem
                | Self::Main
                | Self::Nav
                | Self::Paragraph
                | Self::Rule
                | Self::Table
        )
    }

    /// Whether it is separate from the text around it.
    pub(in crate::html) const fn is_block(self) -> bool {
        self.ends_paragraph()
            || matches!(self, Self::Caption | Self::Cell | Self::ColumnGroup | Self::Row | Self::RowGroup)
    }

    /// Whether inline elements around it stay open.
    pub(super) const fn is_special(self) -> bool {
        self.is_block() || matches!(self, Self::Button | Self::Marker | Self::Special | Self::Template)
    }

    /// Whether it may end without an end tag when an element around it ends ("generate implied end
    /// tags").
    pub(super) const fn has_implied_end(self) -> bool {
        matches!(
            self,
            Self::DescriptionItem
                | Self::ListItem
                | Self::Option
                | Self::OptionGroup
                | Self::Paragraph
                | Self::RubyParenthesis
                | Self::RubyPart
        )
    }

    /// Whether end tags within it cannot end elements around it ("has an element in scope").
    pub(super) const fn is_scope(self) -> bool {
        matches!(self, Self::Caption | Self::Cell | Self::Marker | Self::Table | Self::Template)
    }

    pub(super) const fn is_formatting(self) -> bool {
        matches!(self, Self::Anchor | Self::Formatting)
    }
}
