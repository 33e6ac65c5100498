//! The keys of each section.

use std::sync::LazyLock;

use dragline_domain::definition::Key;

/// The meaning of a word in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyOrSection {
    /// A key with a value.
    Key(Key),
    /// A section of keys.
    Section(&'static str),
}

/// Returns the meaning of a word in a section, or at the top level.
pub(super) fn find(section: Option<&str>, word: &str) -> Option<KeyOrSection> {
    let key = Key::ALL.iter().find(|key| key.section() == section && key.word() == word);
    key.map(|key| KeyOrSection::Key(*key)).or_else(|| {
        let named = Key::ALL.iter().filter_map(|key| key.section()).find(|section| *section == word);
        named.filter(|_| section.is_none()).map(KeyOrSection::Section)
    })
}

/// Returns all known words of a section, or of the top level, in the order of the documentation.
pub(super) fn words(section: Option<&'static str>) -> &'static [&'static str] {
    type Words = Vec<(Option<&'static str>, Vec<&'static str>)>;
    static WORDS: LazyLock<Words> = LazyLock::new(|| {
        let mut words: Words = vec![(None, Vec::new())];
        for key in Key::ALL {
            if words.iter().all(|(section, _)| *section != key.section()) {
                words[0].1.extend(key.section());
                words.push((key.section(), Vec::new()));
            }
            let level = words.iter_mut().find(|(section, _)| *section == key.section());
            level.into_iter().for_each(|(_, words)| words.push(key.word()));
        }
        words
    });
    WORDS.iter().find(|(known, _)| *known == section).map_or(&[], |(_, words)| words)
}

/// Returns the key that a word would be in another section.
pub(super) fn find_in_other_sections(word: &str) -> Option<Key> {
    Key::ALL.iter().copied().find(|key| key.section().is_some() && key.word() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_known_only_in_its_section() {
        for (section, word, expected, why) in [
            (None, "seeds", Some(KeyOrSection::Key(Key::Seeds)), "a key of the file"),
            (None, "budget", Some(KeyOrSection::Section("budget")), "a section"),
            (Some("budget"), "pages", Some(KeyOrSection::Key(Key::BudgetPages)), "a key of a section"),
            (None, "pages", None, "one level too high"),
            (Some("fetch"), "pages", None, "another section"),
            (Some("budget"), "budget", None, "no section within a section"),
            (None, "budget.pages", None, "the path is not a key"),
        ] {
            assert_eq!(find(section, word), expected, "{why}");
        }
        assert_eq!(words(Some("recrawl")), ["policy", "interval", "min", "max", "rules"]);
        assert!(
            words(None).starts_with(&["name", "seeds", "sitemaps", "feeds", "requisites", "links", "scope"]),
            "{:?}",
            words(None)
        );
        for key in Key::ALL {
            assert_eq!(find(key.section(), key.word()), Some(KeyOrSection::Key(*key)));
            assert!(words(key.section()).contains(&key.word()), "{key}");
        }
    }
}
