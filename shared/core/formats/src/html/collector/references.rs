//! The elements and attributes that refer to URLs.

use dragline_domain::document::LinkKind;

use super::super::foreign::Namespace;
use super::super::links::{Added, Follow};
use super::super::rel;
use super::super::tag::{Attribute, Element, Tag, Value};
use super::super::words::{Gap, TextBuffer};
use super::Collector;
use crate::css::references;

impl Collector<'_> {
    /// Reads links and metadata from a tag.
    pub(super) fn read(&mut self, namespace: Namespace, tag: &Tag) {
        if let Some(style) = tag.text(Attribute::Style) {
            self.styles(style);
        }
        if namespace == Namespace::Html
            && let Some(picture) = tag.value(Attribute::DataBg)
        {
            self.background(picture);
        }
        if tag.element() == Element::Style {
            let language = tag.text(Attribute::Type).unwrap_or_default();
            self.style = (language.is_empty() || language.eq_ignore_ascii_case("text/css")).then(Vec::new);
        }
        if let Some(id) = tag.text(Attribute::Id) {
            self.marks.add_anchor(id);
        }
        match (namespace, tag.element()) {
            (_, Element::A) => self.begin_anchor(tag),
            (Namespace::Svg, Element::Image | Element::SvgUse) => self.add_first(LinkKind::Img, tag, &HREFS),
            (Namespace::Svg, Element::Script) => self.add_first(LinkKind::Script, tag, &HREFS),
            (Namespace::Svg | Namespace::MathMl, _) => {}
            (Namespace::Html, element) => self.read_html(element, tag),
        }
    }

    fn read_html(&mut self, element: Element, tag: &Tag) {
        match element {
            Element::Applet => self.applet(tag),
            Element::Area => self.area(tag),
            Element::Base => self.metadata.base(tag),
            Element::Body | Element::Cell | Element::Table => self.add(LinkKind::Img, tag, Attribute::Background),
            Element::Button => self.add(LinkKind::Form, tag, Attribute::Formaction),
            Element::Embed => self.add(LinkKind::Object, tag, Attribute::Src),
            Element::Form => self.add(LinkKind::Form, tag, Attribute::Action),
            Element::Frame => self.add(LinkKind::Iframe, tag, Attribute::Src),
            Element::Iframe => {
                self.add(LinkKind::Iframe, tag, Attribute::Src);
                self.add_first(LinkKind::Iframe, tag, &LAZY_SOURCES);
                self.read_frame(tag.text(Attribute::Srcdoc).unwrap_or_default());
            }
            Element::H1 if self.seen.is_laid_out => self.marks.add_h1(),
            Element::Html => self.metadata.html(tag, self.syntax),
            Element::Image | Element::Img => self.image(tag),
            Element::Input => self.input(tag),
            Element::Link => self.link(tag),
            Element::Meta => {
                if let Some(reference) = self.metadata.meta(tag) {
                    self.links.add(LinkKind::Redirect, Value::Whole(reference), Follow::Yes);
                }
                if is_of_preview(tag) {
                    self.add(LinkKind::Img, tag, Attribute::Content);
                }
            }
            Element::Object => self.add(LinkKind::Object, tag, Attribute::Data),
            Element::Script => self.add(LinkKind::Script, tag, Attribute::Src),
            Element::Source => {
                let kind = source_kind(tag).unwrap_or(self.media);
                self.add(kind, tag, Attribute::Src);
                self.add_srcset(tag, Attribute::Srcset);
                self.lazy(kind, tag);
            }
            Element::Track => self.add(self.media, tag, Attribute::Src),
            Element::Audio => {
                self.media = LinkKind::Audio;
                self.add(LinkKind::Audio, tag, Attribute::Src);
            }
            Element::Video => {
                self.media = LinkKind::Video;
                self.add(LinkKind::Video, tag, Attribute::Src);
                self.add(LinkKind::Img, tag, Attribute::Poster);
            }
            _ => {}
        }
    }

    /// Reads the references of a style sheet, or of an attribute's declarations.
    pub(super) fn styles(&mut self, css: &str) {
        references(css, |kind, url| {
            self.links.add(kind, Value::Whole(url), Follow::Yes);
        });
    }

    fn add(&mut self, kind: LinkKind, tag: &Tag, attribute: Attribute) {
        if let Some(reference) = tag.value(attribute) {
            self.links.add(kind, reference, Follow::Yes);
        }
    }

    /// Reads what a script loads once it comes into view.
    fn lazy(&mut self, kind: LinkKind, tag: &Tag) {
        self.add_first(kind, tag, &LAZY_SOURCES);
        for srcset in [Attribute::DataSrcset, Attribute::DataLazySrcset] {
            self.add_srcset(tag, srcset);
        }
    }

    /// Reads the background that a script loads: a URL, or `url(…)` as in styles.
    fn background(&mut self, picture: Value<'_>) {
        if picture.text().trim_ascii_start().starts_with("url(") {
            self.styles(picture.text());
        } else {
            self.links.add(LinkKind::Img, picture, Follow::Yes);
        }
    }

    fn add_first(&mut self, kind: LinkKind, tag: &Tag, attributes: &[Attribute]) {
        if let Some(reference) = attributes.iter().find_map(|attribute| tag.value(*attribute)) {
            self.links.add(kind, reference, Follow::Yes);
        }
    }

    fn add_srcset(&mut self, tag: &Tag, attribute: Attribute) {
        let Some(value) = tag.value(attribute) else { return };
        let mut urls = srcset_urls(value.text()).peekable();
        while let Some(url) = urls.next() {
            let is_last = urls.peek().is_none();
            let reference = match value {
                Value::Start(_) if is_last => Value::Start(url),
                Value::Start(_) | Value::Whole(_) => Value::Whole(url),
            };
            self.links.add(LinkKind::Img, reference, Follow::Yes);
        }
    }

    fn begin_anchor(&mut self, tag: &Tag) {
        self.end_anchor();
        if let Some(name) = tag.text(Attribute::Name) {
            self.marks.add_anchor(name);
        }
        if let Some(reference) = HREFS.iter().find_map(|attribute| tag.value(*attribute)) {
            let part = self.open.page_part();
            self.anchor = self.links.begin_anchor(LinkKind::A, reference, follow_and_rel(tag), part);
        }
    }

    pub(super) fn end_anchor(&mut self) {
        if let Some(anchor) = self.anchor.take() {
            let (text, alt) = (self.anchor_text.take(), self.anchor_alt.take());
            self.links.end_anchor(anchor, text, alt.as_deref());
        }
    }

    fn applet(&mut self, tag: &Tag) {
        // With a code base, its files are relative to that, and few servers still have any.
        if tag.value(Attribute::Codebase).is_none() {
            self.add(LinkKind::Object, tag, Attribute::Code);
            for archive in tag.text(Attribute::Archive).unwrap_or_default().split(',') {
                self.links.add(LinkKind::Object, Value::Whole(archive), Follow::Yes);
            }
        }
    }

    fn area(&mut self, tag: &Tag) {
        let Some(reference) = tag.value(Attribute::Href) else { return };
        let part = self.open.page_part();
        if let Some(anchor) = self.links.begin_anchor(LinkKind::Area, reference, follow_and_rel(tag), part) {
            self.links.end_anchor(anchor, self.words(tag.text(Attribute::Alt).unwrap_or_default()), None);
        }
    }

    /// Returns a text of an attribute as words on one line; `None` if there are none.
    fn words(&self, text: &str) -> Option<String> {
        let mut words = TextBuffer::new(self.limits.link_text_bytes_max);
        words.push(text.as_bytes());
        words.take()
    }

    fn image(&mut self, tag: &Tag) {
        let src = tag.value(Attribute::Src).map(|src| self.links.add(LinkKind::Img, src, Follow::Yes));
        self.add_srcset(tag, Attribute::Srcset);
        self.lazy(LinkKind::Img, tag);
        let alt = tag.text(Attribute::Alt);
        if !self.seen.is_read() {
            return;
        }
        let Some(alt) = alt else { return self.marks.add_undescribed(src.and_then(Added::link)) };
        if self.anchor.is_some() {
            self.anchor_text.gap(Gap::Space);
            self.anchor_text.push(alt.as_bytes());
            self.anchor_text.gap(Gap::Space);
            if self.anchor_alt.is_none() {
                self.anchor_alt = Some(self.words(alt).unwrap_or_default());
            }
        }
    }

    fn input(&mut self, tag: &Tag) {
        if tag.text(Attribute::Type).is_some_and(|kind| kind.eq_ignore_ascii_case("image")) {
            self.add(LinkKind::Img, tag, Attribute::Src);
        }
        self.add(LinkKind::Form, tag, Attribute::Formaction);
    }

    fn link(&mut self, tag: &Tag) {
        let rel = tag.text(Attribute::Rel).unwrap_or_default();
        let Some(kind) = rel::kind(rel, tag.text(Attribute::As), tag.text(Attribute::Type)) else { return };
        if let Some(reference) = tag.value(Attribute::Href) {
            let link = self.links.add(kind, reference, follow(tag)).link();
            if kind == LinkKind::Alternate
                && let Some((link, code)) = link.zip(tag.whole(Attribute::Hreflang))
            {
                self.marks.add_language(link, code);
            }
        }
        if kind == LinkKind::Canonical && !self.has_body_begun && self.text.is_empty() {
            self.metadata.canonical(tag);
        }
        self.add_srcset(tag, Attribute::Imagesrcset);
    }
}

/// The attributes with the references of SVG elements; the first that is present applies.
const HREFS: [Attribute; 2] = [Attribute::Href, Attribute::XlinkHref];

/// The attributes from which scripts take the source of a picture or a frame that comes into view;
/// the first that is present applies. lazysizes and vanilla-lazyload have `data-src`, `data-srcset`
/// and `data-bg`, Lazy Load for jQuery `data-original`, and WP Rocket and Jetpack `data-lazy-src`
/// and `data-lazy-srcset`. Without scripts these pictures have no other address.
const LAZY_SOURCES: [Attribute; 3] = [Attribute::DataSrc, Attribute::DataLazySrc, Attribute::DataOriginal];

/// Whether a `<meta>` has the picture of previews: Open Graph's, or that of cards.
fn is_of_preview(tag: &Tag) -> bool {
    let Some(name) = tag.text(Attribute::Property).or_else(|| tag.text(Attribute::Name)) else { return false };
    ["og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"]
        .iter()
        .any(|known| name.trim_ascii().eq_ignore_ascii_case(known))
}

fn follow(tag: &Tag) -> Follow {
    follow_and_rel(tag).0
}

fn follow_and_rel(tag: &Tag) -> (Follow, Option<&str>) {
    let rel = tag.text(Attribute::Rel);
    (if rel::is_nofollow(rel.unwrap_or_default()) { Follow::No } else { Follow::Yes }, rel)
}

/// Returns the kind of a `<source>` from its media type, if it has one.
fn source_kind(tag: &Tag) -> Option<LinkKind> {
    let media_type = tag.text(Attribute::Type)?.trim_ascii_start();
    let is = |class: &str| media_type.get(..class.len()).is_some_and(|start| start.eq_ignore_ascii_case(class));
    if is("audio/") {
        Some(LinkKind::Audio)
    } else if is("video/") {
        Some(LinkKind::Video)
    } else {
        None
    }
}

/// Returns the URLs of a `srcset`, in order (WHATWG HTML, "parse a srcset attribute").
///
/// A comma separates only if it follows white space or a descriptor, or ends a URL; within a URL
/// such as `data:image/png;base64,…`, it is part of it. Descriptors are not checked.
fn srcset_urls(srcset: &str) -> impl Iterator<Item = &str> {
    let mut rest = srcset;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            return None;
        }
        let (word, after) = rest.split_at(rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len()));
        let url = word.trim_end_matches(',');
        rest = if url.len() < word.len() { after } else { skip_descriptors(after) };
        Some(url)
    })
}

/// Returns the text after the next comma that is not in parentheses.
fn skip_descriptors(text: &str) -> &str {
    let mut is_in_parentheses = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => is_in_parentheses = true,
            b')' => is_in_parentheses = false,
            b',' if !is_in_parentheses => return &text[index + 1..],
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_of_a_srcset() {
        let cases: &[(&str, &[&str], &str)] = &[
            ("", &[], "nothing"),
            (" , ,, ", &[], "only separators"),
            ("a.png", &["a.png"], "one, without descriptor"),
            ("a.png 1x, b.png 2x", &["a.png", "b.png"], "densities"),
            ("a.png 100w,b.png 200w", &["a.png", "b.png"], "no space after the comma"),
            ("a.png,b.png", &["a.png,b.png"], "no space at all: one URL with a comma in it"),
            ("a.png, b.png", &["a.png", "b.png"], "a comma that ends a URL"),
            ("a.png,, b.png", &["a.png", "b.png"], "two of them"),
            ("data:image/png;base64,AAA 1x, b,c.png 2x", &["data:image/png;base64,AAA", "b,c.png"], "commas in URLs"),
            ("a.png (1,2) x, b.png", &["a.png", "b.png"], "a comma in parentheses"),
            ("a.png (1,2, b.png", &["a.png"], "parentheses that never close"),
            ("\n  a.png\t1x ,\n  b.png\n", &["a.png", "b.png"], "white space of every sort"),
        ];
        for (srcset, expected, why) in cases {
            assert_eq!(srcset_urls(srcset).collect::<Vec<_>>(), *expected, "{why}");
        }
    }
}
