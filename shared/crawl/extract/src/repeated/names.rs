//! Names: classes that describe an element, and the names of fields.

use std::collections::BTreeSet;

/// The longest class used, in bytes.
const CLASS_BYTES_MAX: usize = 40;
/// The most classes of an element examined and kept.
const CLASSES_MAX: usize = 8;
/// The longest name of a field, in bytes.
const NAME_BYTES_MAX: usize = 40;

/// Classes for an element's current state, or its position among others.
const STATES: &[&str] = &[
    "active",
    "clearfix",
    "closed",
    "collapsed",
    "current",
    "disabled",
    "even",
    "expanded",
    "first",
    "hidden",
    "is-active",
    "last",
    "lazy",
    "lazyload",
    "lazyloaded",
    "new",
    "odd",
    "open",
    "sale",
    "selected",
    "show",
    "visible",
];

/// Whether a name can be used in a selector without escaping.
pub(super) fn is_plain_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.len() <= CLASS_BYTES_MAX
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Whether a class or an id may be used in a selector. One with digits is a running number, or was
/// generated and will soon change.
pub(super) fn is_telling(class: &str) -> bool {
    class.starts_with(|first: char| first.is_ascii_alphabetic())
        && (2..=CLASS_BYTES_MAX).contains(&class.len())
        && class.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_'))
        && !STATES.contains(&class.to_ascii_lowercase().as_str())
}

/// Returns the classes that describe an element, each once, in order.
pub(super) fn telling_classes(classes: &str) -> Vec<String> {
    let mut telling: Vec<String> = Vec::new();
    for class in classes.split_ascii_whitespace().take(32).filter(|class| is_telling(class)) {
        if telling.len() < CLASSES_MAX && !telling.iter().any(|known| known == class) {
            telling.push(class.to_owned());
        }
    }
    telling
}

/// Returns the words of a class or an id.
pub(super) fn words(token: &str) -> impl Iterator<Item = &str> {
    token.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns a text as a field name: in lower case with `_`, without a block's name before `__`.
/// `None` if it has no letters.
pub(super) fn field_name(text: &str) -> Option<String> {
    let text = text.rsplit_once("__").map_or(text, |(_, element)| element);
    let mut name = String::new();
    let mut before = ' ';
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && before.is_ascii_lowercase() && !name.is_empty() {
                name.push('_');
            }
            name.push(c.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        before = c;
        if name.len() >= NAME_BYTES_MAX {
            break;
        }
    }
    let name = name.trim_matches('_');
    name.starts_with(|first: char| first.is_ascii_lowercase()).then(|| name.to_owned())
}

/// Returns an unused name, and marks it as used.
pub(super) fn unused_name(name: String, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(name);
    taken.insert(free.clone());
    free
}
