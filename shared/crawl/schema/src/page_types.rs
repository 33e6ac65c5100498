//! Page types, by the patterns of their URLs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use dragline_domain::content::Repeated;
use serde::{Deserialize, Serialize};

use crate::LearnedRepetition;
use crate::learned::{add_examples, add_url, take_rarest};
use crate::limits::{FIELDS_OF_ALL_REPEATED_MAX, PATTERNS_MAX, REPEATED_OF_PATTERN_MAX, TYPES_OF_PATTERN_MAX};

/// The most segments of a pattern; deeper ones become `**`.
const SEGMENTS_MAX: usize = 6;

/// Longer segments are taken for the names of single pages.
const SEGMENT_BYTES_MAX: usize = 30;

/// If more pages than this differ only in their last segment, the segment is a name, whatever it
/// looks like.
const SIBLINGS_MAX: usize = 12;

/// Page types by pattern. `*` is any segment or, before a dot, any name; `**` is any rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageTypes {
    patterns: BTreeMap<String, PageType>,
    /// Patterns that replaced many sibling patterns.
    joined: BTreeSet<String>,
}

/// What was learned about the pages whose URLs have one pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageType {
    /// The number of these pages.
    pub pages: u64,
    /// The number of these pages with items of each type, by the name of its table.
    pub types: BTreeMap<String, u64>,
    /// Their repeated structures, by the selector of the entries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub repeated: BTreeMap<String, LearnedRepetition>,
    /// The number of repeated structures of pages that were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated_left_out: u64,
    /// Examples of these pages.
    pub urls: BTreeSet<String>,
}

impl Deref for PageTypes {
    type Target = BTreeMap<String, PageType>;

    fn deref(&self) -> &Self::Target {
        &self.patterns
    }
}

impl PageTypes {
    pub(crate) fn learn(&mut self, path: &str, url: &str, types: &BTreeSet<String>, repeated: &[Repeated]) {
        let types = types.iter().map(|name| (name.clone(), 1)).collect();
        let mut page = PageType { pages: 1, types, ..PageType::default() };
        add_url(&mut page.urls, url);
        for repeated in repeated {
            match LearnedRepetition::from_repeated(repeated, url) {
                Some((each, learned)) => drop(page.repeated.entry(each).or_insert(learned)),
                None => page.repeated_left_out += 1,
            }
        }
        self.put(path_pattern(path), page);
        self.compact();
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.joined.extend(other.joined);
        let known = std::mem::take(&mut self.patterns);
        for (pattern, page_type) in known.into_iter().chain(other.patterns) {
            self.put(pattern, page_type);
        }
        self.compact();
    }

    fn put(&mut self, pattern: String, page_type: PageType) {
        let joint = sibling_pattern(&pattern);
        match joint.as_ref().filter(|joint| self.joined.contains(*joint)) {
            Some(joint) => self.add(joint.clone(), page_type),
            None => {
                self.add(pattern, page_type);
                if let Some(joint) = joint {
                    self.join(joint);
                }
            }
        }
    }

    fn add(&mut self, pattern: String, page_type: PageType) {
        self.patterns.entry(pattern).or_default().merge(page_type);
    }

    /// Joins sibling patterns into one if there are many.
    fn join(&mut self, joint: String) {
        let siblings = self.patterns.keys().filter(|pattern| sibling_pattern(pattern).as_ref() == Some(&joint));
        let siblings: Vec<String> = siblings.cloned().collect();
        if siblings.len() > SIBLINGS_MAX {
            for sibling in siblings {
                if let Some(page_type) = self.patterns.remove(&sibling) {
                    self.add(joint.clone(), page_type);
                }
            }
            self.joined.insert(joint);
        }
    }

    /// Merges the rarest patterns into wider ones while there are too many.
    fn compact(&mut self) {
        while self.patterns.len() > PATTERNS_MAX {
            for (pattern, page_type) in take_rarest(&mut self.patterns, PATTERNS_MAX, |page_type| page_type.pages) {
                self.add(wider(&pattern), page_type);
            }
        }
        while self.joined.len() > PATTERNS_MAX {
            self.joined.pop_last();
        }
        self.compact_repeated();
    }
}

impl PageTypes {
    /// Leaves out the repeated structures of the rarest patterns while there are too many fields.
    fn compact_repeated(&mut self) {
        let mut fields: usize = self.patterns.values().map(PageType::repeated_fields).sum();
        if fields <= FIELDS_OF_ALL_REPEATED_MAX {
            return;
        }
        let mut rarest: Vec<(u64, String)> =
            self.patterns.iter().map(|(pattern, page_type)| (page_type.pages, pattern.clone())).collect();
        rarest.sort();
        for (_, pattern) in rarest {
            if fields <= FIELDS_OF_ALL_REPEATED_MAX / 4 * 3 {
                break;
            }
            if let Some(page_type) = self.patterns.get_mut(&pattern) {
                fields -= page_type.repeated_fields();
                let left = std::mem::take(&mut page_type.repeated);
                page_type.repeated_left_out += left.values().map(|learned| learned.pages).sum::<u64>();
            }
        }
    }
}

impl PageType {
    fn repeated_fields(&self) -> usize {
        // A structure without fields takes room too.
        self.repeated.values().map(|learned| 1 + learned.fields.len()).sum()
    }

    fn merge(&mut self, other: Self) {
        self.pages += other.pages;
        for (name, pages) in other.types {
            *self.types.entry(name).or_default() += pages;
        }
        take_rarest(&mut self.types, TYPES_OF_PATTERN_MAX, |pages| *pages);
        self.repeated_left_out += other.repeated_left_out;
        for (each, learned) in other.repeated {
            match self.repeated.get_mut(&each) {
                Some(known) => known.merge(learned),
                None => {
                    self.repeated.insert(each, learned);
                }
            }
        }
        for (_, left) in take_rarest(&mut self.repeated, REPEATED_OF_PATTERN_MAX, |learned| learned.pages) {
            self.repeated_left_out += left.pages;
        }
        add_examples(&mut self.urls, other.urls);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Returns the pattern of a URL's path: numbers, hexadecimal names and names of several words
/// become `*`, as in `/product/*` and `/news/*/*.html`.
#[must_use]
pub fn path_pattern(path: &str) -> String {
    let mut pattern = String::new();
    for (place, segment) in path.trim_start_matches('/').split('/').enumerate() {
        pattern.push('/');
        if place == SEGMENTS_MAX {
            pattern.push_str("**");
            break;
        }
        let (stem, extension) = split_extension(segment);
        pattern.push_str(if is_name(stem) { "*" } else { stem });
        pattern.push_str(extension);
    }
    pattern
}

/// Splits off a segment's extension, such as `.html`, if there is one.
fn split_extension(segment: &str) -> (&str, &str) {
    let is_extension = |end: &str| (1..=5).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphabetic());
    match segment.rfind('.') {
        Some(dot) if dot > 0 && is_extension(&segment[dot + 1..]) => segment.split_at(dot),
        _ => (segment, ""),
    }
}

/// Whether a segment looks like the name of a single page. Single words are sections of a site.
fn is_name(stem: &str) -> bool {
    let digits = stem.bytes().filter(u8::is_ascii_digit).count();
    let words = stem.split(['-', '_', '+', '.']).filter(|word| !word.is_empty()).count();
    let is_hexadecimal = stem.len() >= 8 && stem.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    stem.len() > SEGMENT_BYTES_MAX
        || stem.contains(['%', '*'])
        || words >= 3
        || (digits > 0 && (words >= 2 || digits * 2 >= stem.len()))
        || (digits > 0 && is_hexadecimal)
}

/// Returns the pattern that replaces a pattern with many siblings; `None` if it is general already.
fn sibling_pattern(pattern: &str) -> Option<String> {
    let (parent, last) = pattern.rsplit_once('/')?;
    let (stem, extension) = split_extension(last);
    (!stem.is_empty() && !stem.starts_with('*')).then(|| format!("{parent}/*{extension}"))
}

/// Returns the next wider pattern: `/a/b/*` becomes `/a/b/**`, then `/a/**`, then `/**`.
fn wider(pattern: &str) -> String {
    let parent = |pattern: &str| pattern.rsplit_once('/').map_or_else(String::new, |(parent, _)| parent.to_owned());
    let within = parent(pattern);
    let within = if pattern.ends_with("/**") { parent(&within) } else { within };
    format!("{within}/**")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_single_pages_become_wildcards() {
        for (path, expected, why) in [
            ("/", "/", "the first page"),
            ("/product/17", "/product/*", "a number"),
            ("/product/17/", "/product/*/", "what ends with a slash may be another page"),
            ("/product/big-red-chair", "/product/*", "several words"),
            ("/product/chair-17.html", "/product/*.html", "a word with a number, and an extension"),
            ("/about-us", "/about-us", "two words name a part of the site"),
            ("/v2/docs", "/*/docs", "half of it is a number"),
            ("/p/deadbeef01", "/p/*", "hexadecimal"),
            ("/p/123e4567-e89b-12d3-a456-426614174000", "/p/*", "a UUID"),
            ("/p/caf%C3%A9", "/p/*", "letters outside ASCII"),
            ("/a/b/c/d/e/f/g/h/i", "/a/b/c/d/e/f/**", "deep"),
            ("//x//y", "/x//y", "empty segments"),
        ] {
            assert_eq!(path_pattern(path), expected, "{why}");
        }
    }

    #[test]
    fn many_sibling_pages_share_one_pattern() {
        let mut learned = PageTypes::default();
        for letter in 'a'..='z' {
            learned.learn(&format!("/tag/{letter}word"), "https://a.example/", &BTreeSet::new(), &[]);
        }
        learned.learn("/tag/later", "https://a.example/", &BTreeSet::new(), &[]);
        assert_eq!(learned.iter().map(|(pattern, of)| (&**pattern, of.pages)).collect::<Vec<_>>(), [("/tag/*", 27)]);
    }

    #[test]
    fn too_many_patterns_are_merged_into_wider_ones() {
        let mut learned = PageTypes::default();
        for n in 0..5_000_u32 {
            let letters: String = n.to_string().bytes().map(|digit| char::from(digit + 49)).collect();
            learned.learn(&format!("/{letters}/page"), "https://a.example/", &BTreeSet::new(), &[]);
            assert!(learned.len() <= PATTERNS_MAX);
        }
        assert_eq!(learned.values().map(|of| of.pages).sum::<u64>(), 5_000, "no page is lost");
        assert!(learned.contains_key("/**"));
    }
}
