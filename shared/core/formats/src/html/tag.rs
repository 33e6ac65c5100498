//! A tag, reduced to its element and the values of the attributes that are used.

use super::open_elements::Name;

/// The elements with special treatment; those with the same treatment share a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    A,
    /// `<annotation>`, `<annotation-xml>`: the same formula for machines.
    Annotation,
    Applet,
    Area,
    Audio,
    Base,
    /// An element that begins on a new line, as does the content after it.
    Block,
    Body,
    Br,
    Button,
    /// `<td>`, `<th>`.
    Cell,
    Embed,
    ForeignObject,
    Form,
    Frame,
    /// `<h1>`.
    H1,
    Head,
    Html,
    Iframe,
    Image,
    Img,
    Input,
    Link,
    Math,
    /// The elements of `MathML` that contain text, and so may contain HTML: `<mi>`, `<mtext>` and
    /// similar.
    MathText,
    Meta,
    Noembed,
    Noframes,
    Noscript,
    Object,
    /// An inline element of HTML that SVG and `MathML` do not have.
    Phrasing,
    Plaintext,
    /// `<pre>`, `<listing>`.
    Pre,
    Script,
    Source,
    Style,
    Svg,
    /// SVG's `<desc>`, which is not shown.
    SvgDesc,
    SvgUse,
    Table,
    Template,
    Textarea,
    Title,
    Track,
    Video,
    Xmp,
    /// Any other, known or not; it is inline.
    Other,
}

impl Element {
    /// Returns the element with this name, in lower case.
    pub(super) fn from_name(name: &[u8]) -> Self {
        match name {
            b"a" => Self::A,
            b"annotation" | b"annotation-xml" => Self::Annotation,
            b"applet" => Self::Applet,
            b"area" => Self::Area,
            b"audio" => Self::Audio,
            b"base" => Self::Base,
            b"body" => Self::Body,
            b"br" => Self::Br,
            b"button" => Self::Button,
            b"td" | b"th" => Self::Cell,
            b"embed" => Self::Embed,
            b"foreignobject" => Self::ForeignObject,
            b"form" => Self::Form,
            b"frame" => Self::Frame,
            b"h1" => Self::H1,
            b"head" => Self::Head,
            b"html" => Self::Html,
            b"iframe" => Self::Iframe,
            b"image" => Self::Image,
            b"img" => Self::Img,
            b"input" => Self::Input,
            b"link" => Self::Link,
            b"math" => Self::Math,
            b"mi" | b"mo" | b"mn" | b"ms" | b"mtext" => Self::MathText,
            b"meta" => Self::Meta,
            b"noembed" => Self::Noembed,
            b"noframes" => Self::Noframes,
            b"noscript" => Self::Noscript,
            b"object" => Self::Object,
            b"plaintext" => Self::Plaintext,
            b"pre" | b"listing" => Self::Pre,
            b"script" => Self::Script,
            b"source" => Self::Source,
            b"style" => Self::Style,
            b"svg" => Self::Svg,
            b"desc" => Self::SvgDesc,
            b"use" => Self::SvgUse,
            b"table" => Self::Table,
            b"template" => Self::Template,
            b"textarea" => Self::Textarea,
            b"title" => Self::Title,
            b"track" => Self::Track,
            b"video" => Self::Video,
            b"xmp" => Self::Xmp,
            b"address" | b"article" | b"aside" | b"blockquote" | b"caption" | b"center" | b"dd" | b"details"
            | b"dialog" | b"dir" | b"div" | b"dl" | b"dt" | b"fieldset" | b"figcaption" | b"figure" | b"footer"
            | b"frameset" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"header" | b"hgroup" | b"hr" | b"legend"
            | b"li" | b"main" | b"menu" | b"nav" | b"ol" | b"optgroup" | b"option" | b"p" | b"search" | b"section"
            | b"select" | b"summary" | b"tbody" | b"tfoot" | b"thead" | b"tr" | b"ul" => Self::Block,
            b"b" | b"big" | b"code" | b"em" | b"i" | b"nobr" | b"ruby" | b"s" | b"small" | b"span" | b"strike"
            | b"strong" | b"sub" | b"sup" | b"tt" | b"u" | b"var" => Self::Phrasing,
            _ => Self::Other,
        }
    }
}

macro_rules! attributes {
    ($($variant:ident = $name:literal),*; $($of_script:ident = $script_name:literal),* $(,)?) => {
        /// The attributes that are used: those of the markup, and those of scripts that load what
        /// comes into view.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Attribute { $($variant,)* $($of_script,)* }

        impl Attribute {
            #[expect(non_upper_case_globals, reason = "a constant for each variant")]
            fn from_name(name: &[u8]) -> Option<Self> {
                // Patterns are compared by their length first, and together.
                $(const $variant: &[u8] = $name.as_bytes();)*
                $(const $of_script: &[u8] = $script_name.as_bytes();)*
                match name {
                    $($variant => Some(Self::$variant),)*
                    $($of_script => Some(Self::$of_script),)*
                    _ => None,
                }
            }

            /// Returns its name in lower case.
            pub(super) const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* $(Self::$of_script => $script_name,)* }
            }
        }
    };
}

attributes! {
    Action = "action",
    Alt = "alt",
    AriaHidden = "aria-hidden",
    Archive = "archive",
    As = "as",
    Background = "background",
    Code = "code",
    Codebase = "codebase",
    Content = "content",
    Data = "data",
    Formaction = "formaction",
    Hidden = "hidden",
    Href = "href",
    Hreflang = "hreflang",
    HttpEquiv = "http-equiv",
    Id = "id",
    Imagesrcset = "imagesrcset",
    Lang = "lang",
    Name = "name",
    Open = "open",
    Popover = "popover",
    Poster = "poster",
    Property = "property",
    Rel = "rel",
    Src = "src",
    Srcdoc = "srcdoc",
    Srcset = "srcset",
    Style = "style",
    Type = "type",
    XlinkHref = "xlink:href",
    XmlLang = "xml:lang";
    DataBg = "data-bg",
    DataLazySrc = "data-lazy-src",
    DataLazySrcset = "data-lazy-srcset",
    DataOriginal = "data-original",
    DataSrc = "data-src",
    DataSrcset = "data-srcset",
}

impl Attribute {
    /// Whether it may decide on its element's visibility.
    const fn may_hide(self) -> bool {
        matches!(self, Self::AriaHidden | Self::Hidden | Self::Open | Self::Popover | Self::Style)
    }
}

/// Whether a tag ends in `/`, which matters in SVG and `MathML`, but not in HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    /// An end tag follows.
    Open,
    /// It is a whole element.
    SelfClosed,
}

/// An attribute of the tag, and the place of its value.
#[derive(Clone, Copy, Debug)]
struct TagAttribute {
    attribute: Attribute,
    start: usize,
    end: usize,
    is_cut: bool,
}

/// An attribute's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// All of it.
    Whole(&'a str),
    /// Its start, if it is longer than the limit.
    Start(&'a str),
}

impl<'a> Value<'a> {
    /// Returns the available text.
    pub(super) const fn text(self) -> &'a str {
        match self {
            Self::Whole(text) | Self::Start(text) => text,
        }
    }
}

/// The treatment of an attribute's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueTreatment {
    /// It is appended to the tag.
    Kept,
    /// It is dropped.
    Ignored,
}

/// The start tag being read. All tags of a page share it, to save allocations.
#[derive(Debug)]
pub(super) struct Tag {
    element: Element,
    name: Name,
    closing: Closing,
    values: Vec<u8>,
    /// In order, each attribute at most once, so there are few.
    attributes: Vec<TagAttribute>,
    /// Whether one of them may decide on the element's visibility.
    may_hide: bool,
    value_bytes_max: usize,
}

impl Tag {
    pub(super) fn new(value_bytes_max: usize) -> Self {
        Self {
            element: Element::Other,
            name: Name::from_bytes(b""),
            closing: Closing::Open,
            values: Vec::new(),
            attributes: Vec::new(),
            may_hide: false,
            value_bytes_max,
        }
    }

    /// Begins another tag.
    pub(super) fn clear(&mut self) {
        self.closing = Closing::Open;
        self.values.clear();
        self.attributes.clear();
        self.may_hide = false;
    }

    pub(super) const fn set_name(&mut self, element: Element, name: Name) {
        self.element = element;
        self.name = name;
    }

    pub(super) const fn close_itself(&mut self) {
        self.closing = Closing::SelfClosed;
    }

    /// Begins an attribute, unless it is unused or already present: the first one applies.
    pub(super) fn begin(&mut self, name: &[u8]) -> ValueTreatment {
        let Some(attribute) = Attribute::from_name(name) else { return ValueTreatment::Ignored };
        if self.attributes.iter().any(|found| found.attribute == attribute) {
            return ValueTreatment::Ignored;
        }
        let start = self.values.len();
        self.attributes.push(TagAttribute { attribute, start, end: start, is_cut: false });
        self.may_hide |= attribute.may_hide();
        ValueTreatment::Kept
    }

    /// Continues the value of the attribute that began last.
    pub(super) fn append(&mut self, piece: &[u8]) {
        if let Some(last) = self.attributes.last_mut() {
            let room = self.value_bytes_max.saturating_sub(last.end - last.start);
            last.is_cut |= piece.len() > room;
            self.values.extend_from_slice(&piece[..piece.len().min(room)]);
            last.end = self.values.len();
        }
    }

    pub(super) const fn element(&self) -> Element {
        self.element
    }

    pub(super) const fn name(&self) -> Name {
        self.name
    }

    /// Whether an attribute may decide on its element's visibility.
    pub(super) const fn may_hide(&self) -> bool {
        self.may_hide
    }

    pub(super) const fn closing(&self) -> Closing {
        self.closing
    }

    /// Returns an attribute's value, or its start if it was cut.
    pub(super) fn value(&self, attribute: Attribute) -> Option<Value<'_>> {
        let found = self.attributes.iter().find(|found| found.attribute == attribute)?;
        let bytes = &self.values[found.start..found.end];
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid()),
        };
        Some(if found.is_cut { Value::Start(text) } else { Value::Whole(text) })
    }

    /// Returns an attribute's value; `None` if it was cut.
    pub(super) fn whole(&self, attribute: Attribute) -> Option<&str> {
        match self.value(attribute)? {
            Value::Whole(text) => Some(text),
            Value::Start(_) => None,
        }
    }

    /// Returns an attribute's value, or its start, for uses where the start is enough.
    pub(super) fn text(&self, attribute: Attribute) -> Option<&str> {
        self.value(attribute).map(Value::text)
    }
}
