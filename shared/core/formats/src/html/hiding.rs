//! The attributes of a tag that decide on its element's visibility: `hidden`, an inline `style`,
//! `aria-hidden`.
//!
//! Style sheets and scripts are not considered. An element's visibility extends to its content;
//! [`VisibilityState`] combines the two.

use super::foreign::Namespace;
use super::open_elements::{Name, Role};
use super::tag::{Attribute, Tag};

/// The visibility of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VisibilityState {
    /// It takes up room, and separates the texts around it. If not, nothing inside it does.
    pub(super) is_laid_out: bool,
    /// Its text is not invisible; inner elements may override this.
    is_visible: bool,
    /// It is decoration instead of text, as an inline element or inside of one.
    is_decoration: bool,
}

impl VisibilityState {
    /// The default: fully visible.
    pub(super) const WHOLLY: Self = Self { is_laid_out: true, is_visible: true, is_decoration: false };

    /// Whether its text is read.
    pub(super) const fn is_read(self) -> bool {
        self.is_laid_out && self.is_visible && !self.is_decoration
    }

    /// Returns the visibility of a child element.
    pub(super) fn child(self, own: OwnVisibility, role: Role) -> Self {
        let is_decoration = !role.is_block() && (self.is_decoration || own.is_decoration);
        Self {
            is_laid_out: self.is_laid_out && own.display.unwrap_or(Display::Box) == Display::Box,
            is_visible: own.visibility.map_or(self.is_visible, |visibility| visibility == Visibility::Visible),
            is_decoration,
        }
    }
}

/// An element's own properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnVisibility {
    display: Option<Display>,
    visibility: Option<Visibility>,
    is_decoration: bool,
}

/// CSS's `display`, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Display {
    /// It is shown, in any form.
    Box,
    None,
}

/// CSS's `visibility`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visibility {
    Visible,
    Hidden,
}

impl OwnVisibility {
    /// Reads a start tag.
    ///
    /// - `hidden` hides, with any value but `until-found`: a search in the page finds such text, so
    ///   it is included.
    /// - `display` in its `style` hides, or shows elements that `hidden` and similar would hide.
    /// - `aria-hidden` is for users of screen readers; others see the element. On an inline element
    ///   it marks meaningless content: icons, symbols, a second copy of a label. On a block it
    ///   marks content that is behind a dialog or is not the current slide, which is no reason to
    ///   leave out text that people read.
    pub(super) fn from_tag(tag: &Tag, role: Role, namespace: Namespace) -> Self {
        Self::from_attributes(|attribute| tag.text(attribute), role, namespace)
    }

    /// Reads the attributes of an element in any representation.
    fn from_attributes<'a>(attribute: impl Fn(Attribute) -> Option<&'a str>, role: Role, namespace: Namespace) -> Self {
        let mut own = attribute(Attribute::Style).map(declared).unwrap_or_default();
        if own.display.is_none() && namespace == Namespace::Html && is_hidden_by_itself(&attribute, role) {
            own.display = Some(Display::None);
        }
        if role == Role::Fallback && own.visibility.is_none() {
            own.visibility = Some(Visibility::Hidden);
        }
        own.is_decoration = attribute(Attribute::AriaHidden).is_some_and(|value| is(value, "true"));
        own
    }
}

/// Whether the default style sheet of browsers hides it (WHATWG HTML, 15.3.1 "hidden elements" and
/// "flow content").
fn is_hidden_by_itself<'a>(attribute: &impl Fn(Attribute) -> Option<&'a str>, role: Role) -> bool {
    let is_hidden = attribute(Attribute::Hidden).is_some_and(|value| !is(value, "until-found"));
    is_hidden
        || attribute(Attribute::Popover).is_some()
        || match role {
            Role::DataList | Role::RubyParenthesis => true,
            Role::Dialog => attribute(Attribute::Open).is_none(),
            _ => false,
        }
}

/// The visibility of an element in a tree, by the same rules as for the visible text of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementVisibility(VisibilityState);

impl ElementVisibility {
    /// The visibility of the root: everything is seen.
    pub const WHOLLY: Self = Self(VisibilityState::WHOLLY);

    /// Returns the visibility of an HTML element inside this one: `name` is in lower case, and
    /// `attribute` returns the value of each of its attributes.
    #[must_use]
    pub fn child<'a>(self, name: &str, attribute: impl Fn(&str) -> Option<&'a str>) -> Self {
        let role = Name::from_bytes(name.as_bytes()).role();
        if role == Role::Root {
            return self;
        }
        Self(self.0.child(OwnVisibility::from_attributes(|one| attribute(one.name()), role, Namespace::Html), role))
    }

    /// Whether its own text is read.
    #[must_use]
    pub const fn is_read(self) -> bool {
        self.0.is_read()
    }

    /// Whether nothing in it can be seen, whatever its own properties are.
    #[must_use]
    pub const fn is_absent(self) -> bool {
        !self.0.is_laid_out
    }
}

/// Returns the declarations of an inline style: the last valid one applies, unless one is
/// important.
fn declared(style: &str) -> OwnVisibility {
    let (mut display, mut visibility) = (Declaration::default(), Declaration::default());
    for declaration in declarations(style) {
        let Some((property, value)) = declaration.split_once(':') else { continue };
        let (property, value) = (trim(property), trim(value));
        if is(property, "display") {
            display.read(value, parse_display);
        } else if is(property, "visibility") {
            visibility.read(value, parse_visibility);
        }
    }
    OwnVisibility { display: display.value, visibility: visibility.value, is_decoration: false }
}

/// A property whose declarations are being read.
#[derive(Debug)]
struct Declaration<T> {
    value: Option<T>,
    is_important: bool,
}

impl<T> Default for Declaration<T> {
    fn default() -> Self {
        Self { value: None, is_important: false }
    }
}

impl<T> Declaration<T> {
    /// Takes a value, unless it is invalid and so ignored.
    fn read(&mut self, value: &str, meaning: impl Fn(&str) -> Option<T>) {
        let important = value.rsplit_once('!').filter(|(_, word)| is(trim(word), "important"));
        let (value, is_important) = match important {
            Some((value, _)) => (trim(value), true),
            None => (value, false),
        };
        if let Some(value) = meaning(value)
            && (is_important || !self.is_important)
        {
            *self = Self { value: Some(value), is_important };
        }
    }
}

fn parse_display(value: &str) -> Option<Display> {
    const WORDS: [&str; 18] = [
        "block",
        "contents",
        "flex",
        "flow",
        "flow-root",
        "grid",
        "inherit",
        "initial",
        "inline",
        "inline-block",
        "inline-flex",
        "inline-grid",
        "inline-table",
        "list-item",
        "math",
        "ruby",
        "run-in",
        "table",
    ];
    let is_known = |word: &str| {
        let word = word.to_ascii_lowercase();
        WORDS.contains(&word.as_str()) || ["table-", "ruby-", "-webkit-", "-moz-"].iter().any(|of| word.starts_with(of))
    };
    let mut words = value.split_ascii_whitespace().peekable();
    if is(value, "none") {
        Some(Display::None)
    } else if words.peek().is_some() && words.all(is_known) {
        Some(Display::Box)
    } else {
        None
    }
}

fn parse_visibility(value: &str) -> Option<Visibility> {
    if is(value, "hidden") || is(value, "collapse") {
        Some(Visibility::Hidden)
    } else if is(value, "visible") || is(value, "initial") {
        Some(Visibility::Visible)
    } else {
        None
    }
}

/// Splits a style into its declarations, at semicolons outside of quotes, parentheses and comments.
fn declarations(style: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(style);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut within = Within::Plain { depth: 0 };
        let mut before = 0;
        let end = text.bytes().position(|byte| {
            let pair = [std::mem::replace(&mut before, byte), byte];
            let is_end = byte == b';' && within == Within::Plain { depth: 0 };
            let next = within.then(pair);
            if pair[0] == b'\\' || (within == Within::Comment) != (next == Within::Comment) {
                // An escaped character, or half of a comment delimiter, is not part of another
                // token.
                before = 0;
            }
            within = next;
            is_end
        });
        rest = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

/// The context of a byte in a style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// In this many parentheses.
    Plain {
        depth: usize,
    },
    /// In quotes of this kind, within this many parentheses.
    Quotes {
        quote: u8,
        depth: usize,
    },
    Comment,
}

impl Within {
    /// Returns the context of the next byte, after this one and the one before it.
    const fn then(self, [before, byte]: [u8; 2]) -> Self {
        match (self, byte) {
            (Self::Comment, b'/') if before == b'*' => Self::Plain { depth: 0 },
            (Self::Comment, _) => self,
            (_, _) if before == b'\\' => self,
            (Self::Quotes { quote, depth }, byte) if byte == quote => Self::Plain { depth },
            (Self::Plain { depth }, b'"' | b'\'') => Self::Quotes { quote: byte, depth },
            (Self::Plain { depth }, b'(') => Self::Plain { depth: depth + 1 },
            (Self::Plain { depth }, b')') => Self::Plain { depth: depth.saturating_sub(1) },
            (Self::Plain { depth: 0 }, b'*') if before == b'/' => Self::Comment,
            _ => self,
        }
    }
}

/// Removes the white space and the comments around a text.
fn trim(text: &str) -> &str {
    let mut text = text.trim_ascii();
    while let Some(after) = text.strip_prefix("/*").and_then(|comment| comment.split_once("*/")).map(|(_, after)| after)
    {
        text = after.trim_ascii_start();
    }
    while text.ends_with("*/")
        && let Some((before, _)) = text.rsplit_once("/*")
    {
        text = before.trim_ascii_end();
    }
    text
}

fn is(text: &str, word: &str) -> bool {
    text.trim_ascii().eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles() {
        const NONE: Option<Display> = Some(Display::None);
        const BOX: Option<Display> = Some(Display::Box);
        for (style, expected, why) in [
            ("display:none", NONE, "plain"),
            (" color: red; DISPLAY : None ; ", NONE, "blanks and case"),
            ("display:none !important", NONE, "important"),
            ("display:none!IMPORTANT;display:block", NONE, "which goes before what follows"),
            ("display:none;display:block", BOX, "the last"),
            ("display:block;display:none", NONE, "the last"),
            ("display:none;display:nonsense", NONE, "what is no value does not count"),
            ("display:nonsense", None, "alone, too"),
            ("display:", None, "nor does nothing"),
            ("display: inline flow-root", BOX, "two words"),
            ("display:-webkit-box", BOX, "a browser's own prefix"),
            ("display:table-cell", BOX, "a part of a table"),
            ("display:none none", None, "none stands alone"),
            ("x-display:none", None, "another property"),
            ("display none", None, "no colon"),
            ("background:url(data:x;display:none)", None, "a semicolon in parentheses"),
            ("content:';display:none'", None, "in quotes"),
            ("content:'\\';display:none'", None, "after an escaped quote"),
            ("content:\"a\";display:none", NONE, "after quotes"),
            ("background:url(;display:none", None, "parentheses that never close"),
            ("/* a */display/* b */:/* c */none/* d */", NONE, "comments"),
            ("/* a; display:none; b */color:red", None, "inside one"),
            ("background:url(//a/*);display:none", NONE, "what looks like one in a URL"),
            ("/*/;display:none/**/", None, "a slash that begins one does not end it"),
            ("/* a/*/display:none", NONE, "nor does one begin within another"),
            ("", None, "nothing"),
            (";;;", None, "nothing, thrice"),
        ] {
            assert_eq!(declared(style).display, expected, "{why}: {style}");
        }
        for (style, expected, why) in [
            ("visibility:hidden", Some(Visibility::Hidden), "hidden"),
            ("visibility:collapse", Some(Visibility::Hidden), "as good as hidden"),
            ("visibility:hidden;visibility:visible", Some(Visibility::Visible), "the last"),
            ("visibility:inherit", None, "what is around it says"),
            ("visibility:none", None, "no value"),
        ] {
            assert_eq!(declared(style).visibility, expected, "{why}: {style}");
        }
    }
}
