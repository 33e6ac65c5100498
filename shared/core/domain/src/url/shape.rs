//! The shape of a URL: what pages that a site generates by the dozen have in common.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::stored_form::digest;

/// From this length on, a run of hexadecimal digits with letters and digits in it is an id.
const HEX_ID_LEN_MIN: usize = 8;

/// From this length on, a segment that mixes letters and digits back and forth is an id.
const MIXED_ID_LEN_MIN: usize = 12;

/// From this many segments on, pages of one directory are a group, whatever their names.
const DEEP_SEGMENTS_MIN: usize = 3;

/// The number of a shape within its origin, by which it is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShapeKey(u64);

impl ShapeKey {
    fn new(text: &str) -> Self {
        Self(digest(text.as_bytes()))
    }
}

/// The shape of a URL within its origin.
///
/// ```
/// use dragline_domain::url::UrlShape;
///
/// let shape = UrlShape::new("/calendar/2026/11?view=month&day=3");
/// assert_eq!(shape.pattern(), "/calendar/{n}/{n}?day&view");
/// assert_eq!(shape.group(), Some("/calendar/{n}/{n}?*"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UrlShape {
    pattern: String,
    group: Option<String>,
    variant: String,
}

impl UrlShape {
    /// Returns the shape of a path with its query. Numbers become `{n}`, ids `{id}`; of the query
    /// only the names of the parameters are kept, in order, each once.
    #[must_use]
    pub fn new(path_and_query: &str) -> Self {
        let (path, query) =
            path_and_query.split_once('?').map_or((path_and_query, None), |(path, query)| (path, Some(query)));
        let segments: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
        let shapes: Vec<String> = segments.iter().map(|segment| segment_shape(segment)).collect();
        let path_shape = format!("/{}", shapes.join("/"));
        let names = query.map(parameter_names).unwrap_or_default();
        let pattern = if names.is_empty() { path_shape.clone() } else { format!("{path_shape}?{}", names.join("&")) };
        let whole = || path_and_query.to_owned();
        let (group, variant) = if repeats(&segments, &shapes) {
            (Some("/**/x/**/x/**".to_owned()), whole())
        } else if !names.is_empty() {
            (Some(format!("{path_shape}?*")), whole())
        } else if let Some(first) = shapes.iter().position(|shape| is_variable(shape)).filter(|n| n + 1 < shapes.len())
        {
            (Some(format!("/{}/**", shapes[..=first].join("/"))), segments[..=first].join("/"))
        } else if segments.iter().filter(|segment| !segment.is_empty()).count() >= DEEP_SEGMENTS_MIN {
            (Some(format!("/{}/*/**", segments[0])), whole())
        } else {
            (None, whole())
        };
        Self { pattern, group, variant }
    }

    /// Returns the shape as text, such as `/list/{n}?page`.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Returns the group of shapes to which it belongs: all queries of one path, all paths below an
    /// id, all that name a segment twice, or all deep ones of a directory; `None` if it is on its
    /// own.
    #[must_use]
    pub fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// Returns its keys.
    #[must_use]
    pub fn keys(&self) -> ShapeKeys {
        ShapeKeys {
            own: ShapeKey::new(&self.pattern),
            group: self.group.as_deref().map(ShapeKey::new),
            variant: ShapeKey::new(&self.variant),
        }
    }
}

/// The keys of a URL's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShapeKeys {
    /// Its own shape.
    pub own: ShapeKey,
    /// The group of its shape; `None` if it is in none.
    pub group: Option<ShapeKey>,
    /// What tells it from others of its group: the id in its path, or else the whole URL.
    pub variant: ShapeKey,
}

impl ShapeKeys {
    /// Returns the keys of the shapes to which it belongs: its own, then the group.
    pub(crate) fn all(&self) -> impl Iterator<Item = ShapeKey> + use<> {
        [Some(self.own), self.group].into_iter().flatten()
    }

    /// Returns the key of the widest shape.
    #[must_use]
    pub fn widest(&self) -> ShapeKey {
        self.group.unwrap_or(self.own)
    }

    /// Whether another URL is one more of the same group, rather than a neighbour of this one under
    /// the same id.
    #[must_use]
    pub fn has_sibling(&self, other: &Self) -> bool {
        self.group.is_some() && self.group == other.group && self.variant != other.variant
    }
}

/// Whether a segment that is a name occurs twice.
fn repeats(segments: &[&str], shapes: &[String]) -> bool {
    let named = segments.iter().zip(shapes).filter(|(segment, shape)| !segment.is_empty() && !is_variable(shape));
    let mut sorted: Vec<&str> = named.map(|(segment, _)| *segment).collect();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

fn is_variable(shape: &str) -> bool {
    shape.contains("{n}") || shape.contains("{id}")
}

/// Returns the names of a query's parameters, sorted, each once.
fn parameter_names(query: &str) -> Vec<&str> {
    let names = query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name));
    let mut names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    // A query that is one value, such as `?2026-11`.
    names.iter_mut().for_each(|name| {
        if is_variable(&segment_shape(name)) {
            *name = "{n}";
        }
    });
    names.dedup();
    names
}

/// Returns a segment with its numbers replaced; `{id}` if it is an id.
fn segment_shape(segment: &str) -> String {
    // A parameter of the path, such as `;jsessionid=…`.
    if let Some((before, parameter)) = segment.split_once(';')
        && let Some((name, _)) = parameter.split_once('=')
    {
        return format!("{before};{name}={{id}}");
    }
    let (stem, extension) = segment.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).unwrap_or((segment, ""));
    if is_id(stem) {
        return if extension.is_empty() { "{id}".to_owned() } else { format!("{{id}}.{extension}") };
    }
    let mut shape = String::with_capacity(segment.len());
    let mut rest = segment;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = rest[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - start);
        let _ = write!(shape, "{}{{n}}", &rest[..start]);
        rest = &rest[start + digits..];
    }
    shape.push_str(rest);
    shape
}

/// Whether a segment is made up by a program: a UUID, a hash, a session.
fn is_id(stem: &str) -> bool {
    let plain: String = stem.chars().filter(|c| *c != '-' && *c != '_').collect();
    let is_word = |c: char| c.is_ascii_alphanumeric();
    if plain.len() < HEX_ID_LEN_MIN || !plain.chars().all(is_word) {
        return false;
    }
    let digits = plain.bytes().filter(u8::is_ascii_digit).count();
    let letters = plain.len() - digits;
    if digits == 0 || letters == 0 {
        return false;
    }
    let is_hex = plain.bytes().all(|byte| byte.is_ascii_hexdigit());
    let changes =
        plain.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    (is_hex && changes >= 2) || (plain.len() >= MIXED_ID_LEN_MIN && changes >= 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_pages_of_one_kind_is_replaced() {
        for (url, pattern, group, why) in [
            ("/", "/", None, "nothing to replace"),
            ("/about", "/about", None, "a name"),
            ("/list?page=7", "/list?page", Some("/list?*"), "a value of a query"),
            ("/list?page=7&sort=a", "/list?page&sort", Some("/list?*"), "two of them"),
            ("/list?sort=b&page=8&page=9", "/list?page&sort", Some("/list?*"), "in any order, however often"),
            ("/cal?2026-11", "/cal?{n}", Some("/cal?*"), "a query that is a value"),
            ("/calendar/2026/11", "/calendar/{n}/{n}", Some("/calendar/{n}/**"), "numbers"),
            ("/2026-11-03.html", "/{n}-{n}-{n}.html", None, "a date"),
            ("/page12", "/page{n}", None, "a number in a name"),
            ("/2024/11/a-name", "/{n}/{n}/a-name", Some("/{n}/**"), "a name below numbers"),
            ("/s/3f9a8b7c2d/about", "/s/{id}/about", Some("/s/{id}/**"), "a session"),
            ("/s/550e8400-e29b-41d4-a716-446655440000", "/s/{id}", None, "a UUID"),
            ("/x;jsessionid=A1B2/y", "/x;jsessionid={id}/y", Some("/x;jsessionid={id}/**"), "a parameter of the path"),
            ("/deadbeef/x", "/deadbeef/x", None, "a word"),
            ("/mp3player/x", "/mp{n}player/x", Some("/mp{n}player/**"), "a name with a number"),
            ("/a/b/c", "/a/b/c", Some("/a/*/**"), "a deep one"),
            ("/a/b/a/", "/a/b/a/", Some("/**/x/**/x/**"), "a segment that comes twice"),
            ("/5/5", "/{n}/{n}", Some("/{n}/**"), "a number that comes twice"),
        ] {
            let shape = UrlShape::new(url);
            assert_eq!((shape.pattern(), shape.group()), (pattern, group), "{why}: {url}");
        }
    }

    #[test]
    fn pages_under_one_id_are_neighbours_and_others_are_siblings() {
        for (a, b, expected, why) in [
            ("/s/a1b2c3d4/x", "/s/a1b2c3d4/y", false, "the same session"),
            ("/s/a1b2c3d4/x", "/s/d4c3b2a1/y", true, "another session"),
            ("/list?a=1", "/list?b=2", true, "another query"),
            ("/list?a=1", "/others?a=1", false, "another path"),
            ("/a", "/b", false, "neither has a group"),
        ] {
            let [a_keys, b_keys] = [a, b].map(|url| UrlShape::new(url).keys());
            assert_eq!(a_keys.has_sibling(&b_keys), expected, "{why}");
        }
    }
}
