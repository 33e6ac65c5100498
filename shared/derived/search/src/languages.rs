//! The languages of an index: by which rules words are looked up, and in which pages.

use tantivy::Term;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query, TermSetQuery};

use crate::compile::{Lookup, boxed, everything};
use crate::words::{UNDETERMINED, WordMaker, lookup_language};

impl Lookup {
    /// Returns the word maker of a language.
    pub(crate) fn word_maker(&self, language: &str) -> WordMaker {
        let language = lookup_language(language);
        self.languages.get(language).cloned().unwrap_or_else(|| WordMaker::for_language(language))
    }

    /// Returns the word makers of the lookup's languages.
    pub(crate) fn languages(&self) -> impl Iterator<Item = WordMaker> {
        self.languages.values().cloned()
    }

    /// Returns the pages in any of these languages of the lookup. Languages without rules may be
    /// thousands, so their pages are found by excluding the others.
    pub(crate) fn in_languages(&self, languages: &[&str]) -> Box<dyn Query> {
        let set = |languages: Vec<&str>| {
            let terms = languages.into_iter().map(|language| Term::from_field_text(self.fields.language, language));
            boxed(ConstScoreQuery::new(boxed(TermSetQuery::new(terms)), 0.0))
        };
        if !languages.contains(&UNDETERMINED) {
            return set(languages.to_vec());
        }
        let known = self.languages.keys().map(String::as_str);
        let others = set(known.filter(|known| !languages.contains(known)).collect());
        boxed(BooleanQuery::new(vec![(Occur::Must, everything()), (Occur::MustNot, others)]))
    }
}

#[cfg(test)]
mod tests {
    use crate::entry::Entry;
    use crate::tests::{build_index, found, page};

    /// The languages with stemmers or special letters, and one for all others.
    const LOOKED_UP_AS_MAX: usize = 20;

    fn made_up() -> impl Iterator<Item = String> {
        let letters = 'a'..='z';
        let tags = letters.clone().flat_map(move |b| letters.clone().map(move |c| format!("q{b}{c}")));
        tags.chain(["en", "de", "fr", "tr", "az"].map(str::to_owned))
    }

    #[test]
    fn words_are_looked_up_in_few_languages() {
        let entries: Vec<Entry> = made_up()
            .map(|language| Entry { language: language.clone(), ..page(&language, "", "the servers") })
            .collect();
        let (_folder, index) = build_index(&entries);
        let lookup = index.lookup().unwrap();
        assert!(lookup.languages().count() <= LOOKED_UP_AS_MAX, "{} are", lookup.languages().count());
        for (query, path, is_found, why) in [
            ("server", "en", true, "an ending of its language"),
            ("server", "qaa", false, "nothing is known of it"),
            ("servers", "qaa", true, "as it is written"),
            ("servers", "qzz", true, "and so in the last of them"),
            ("the", "en", false, "a stop word in it alone"),
            ("the", "qaa", true, "no stop word"),
            ("the servers lang:qab", "qab", true, "each language is still a condition"),
            ("the servers lang:qab", "qaa", false, "of its own"),
        ] {
            // Only the best hundred are listed.
            let query = format!("{query} url:{path}");
            assert_eq!(found(&index, &query).split(' ').any(|found| found == path), is_found, "{query}: {why}");
        }
    }
}
