//! The text of a page around its main part: navigation, notices and the like.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::ops::Range;

use crate::runs::{Run, Runs, Unspaced};

/// The minimum number of consecutive words that are recognised as main text. Shorter sequences may
/// occur elsewhere, too.
const WORDS_MIN: usize = 4;

/// Returns the pieces of a page's text outside of its main part, in order.
///
/// The main part is laid out differently, so it is recognised by its words: a word belongs to it if
/// it follows the previous one as somewhere in the main part.
pub(crate) fn around(page: &str, main: &str) -> Vec<String> {
    let mut of_main = HashSet::new();
    each_pair(main, |pair, _| {
        of_main.insert(pair);
    });
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut stretch = Stretch::default();
    each_pair(page, |pair, at| {
        if !of_main.contains(&pair) {
            std::mem::take(&mut stretch).leave(&mut pieces);
        }
        stretch.take(at);
    });
    stretch.leave(&mut pieces);
    let texts = pieces.into_iter().filter(|piece| piece.start < piece.end).filter_map(|piece| page.get(piece));
    texts.map(str::to_owned).collect()
}

/// Calls back with each word of a text: a hash of it and its predecessor, and its byte range.
fn each_pair(text: &str, mut visit: impl FnMut(u64, Range<usize>)) {
    let mut runs = Runs::new(text, Unspaced::InPairs);
    let mut run = Run::default();
    let mut last = 0;
    while runs.read(&mut run) {
        let mut hasher = DefaultHasher::new();
        run.text.hash(&mut hasher);
        let this = hasher.finish();
        last.hash(&mut hasher);
        visit(hasher.finish(), run.at.clone());
        last = this;
    }
}

/// A sequence of words as in the main part.
#[derive(Default)]
struct Stretch {
    words: usize,
    at: Range<usize>,
}

impl Stretch {
    fn take(&mut self, word: Range<usize>) {
        if self.words == 0 {
            self.at.start = word.start;
        }
        self.at.end = word.end;
        self.words += 1;
    }

    /// Adds the sequence to the pieces, unless it is main text.
    fn leave(self, pieces: &mut Vec<Range<usize>>) {
        if self.words == 0 {
            return;
        }
        if self.words >= WORDS_MIN {
            // Then begins another piece.
            pieces.push(self.at.end..self.at.end);
            return;
        }
        match pieces.last_mut() {
            Some(last) if last.start < last.end => last.end = self.at.end,
            Some(last) => *last = self.at,
            None => pieces.push(self.at),
        }
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::content::{About, Content, MainPart};
    use dragline_domain::document::{Directives, Document, Page, StoredBody};
    use dragline_domain::frontier::VisitPlace;
    use dragline_domain::ids::{Iteration, Turn};
    use dragline_domain::outcome::Outcome;
    use dragline_domain::url::{CrawlUrl, UrlRules};

    use jiff::Timestamp;

    use super::*;
    use crate::entry::{Entry, LinkFigures};
    use crate::tests::{build_index, found};

    #[test]
    fn text_outside_the_main_part_is_around_it() {
        for (page, main, expected, reason) in [
            (
                "Home News\nIt rained all day in town.\nContact",
                "It rained all day in town.",
                "Home News | Contact",
                "before and after",
            ),
            ("a b c d e f", "a b c d e f", "", "all is the main part"),
            (
                "Menu\n- one two\n- three\nEnd",
                "one two\n\nthree",
                "Menu\n- one two\n- three\nEnd",
                "too little to tell",
            ),
            (
                "Menu one, two; three four (five) End",
                "* one two three\n* four five",
                "Menu | End",
                "laid out in another way",
            ),
            (
                "one two three four five, Ad, six seven eight nine ten",
                "one two three four five six seven eight nine ten",
                "Ad",
                "within",
            ),
            ("メニュー\n東京都の天気は晴れです\n連絡", "東京都の天気は晴れです", "メニュー | 連絡", "without spaces"),
            ("Menu", "", "Menu", "nothing is the main part"),
            ("", "a b c d", "", "no text"),
        ] {
            assert_eq!(around(page, main).join(" | "), expected, "{reason}");
        }
    }

    #[test]
    fn readable_files_are_found_and_data_is_not() {
        let entry = |path: &str, content_type: &str, page: Option<Page>| {
            let url = CrawlUrl::parse(&format!("https://a.example/{path}"), &UrlRules::default()).unwrap();
            let main = MainPart { text: "bleating goats".to_owned(), ..MainPart::default() };
            let about = About { title: Some("On goats".to_owned()), ..About::default() };
            let content = Content { main: Some(main), about: Some(about), ..Content::default() };
            let body = StoredBody {
                visit: VisitPlace { iteration: Iteration::FIRST, turn: Turn(1), segment: 0, n: 1 },
                at: Timestamp::UNIX_EPOCH,
                status: 200,
                content_type: Some(content_type.to_owned()),
                body_bytes: 4,
                object: "raw/a.warc.gz".to_owned().try_into().unwrap(),
                offset: 0,
                length: 4,
            };
            let content = Some(Box::new(content));
            let document =
                Document { page, content, body: Some(body), ..Document::bare(1, url, Outcome::FileIngested) };
            Entry::from_document(document, LinkFigures::default())
        };
        let hidden = Page { directives: Directives { noindex: true, nofollow: false }, ..Page::default() };
        for (path, content_type, page, expected, reason) in [
            ("goats.pdf", "application/pdf", None, true, "a PDF"),
            ("goats", "application/octet-stream", None, true, "one that the server does not know"),
            ("goats.txt", "text/plain", None, true, "text"),
            ("robots.txt", "text/plain", None, false, "it is for crawlers"),
            ("goats.json", "application/ld+json", None, false, "data"),
            ("goats.xml", "text/xml", None, false, "data"),
            ("goats", "text/html", Some(Page::default()), true, "a page"),
            ("hidden", "text/html", Some(hidden), false, "a page that asks for that"),
        ] {
            assert_eq!(entry(path, content_type, page).is_some(), expected, "{reason}");
        }
        let (_folder, index) = build_index(&[entry("goats.pdf", "application/pdf", None).unwrap()]);
        assert_eq!((found(&index, "goat"), found(&index, "title:goat")), ("goats.pdf".into(), "goats.pdf".into()));
    }

    #[test]
    fn the_text_around_the_main_part_is_found_and_counts_less() {
        let entry = |path: &str, text: &str, main: &str| {
            let url = CrawlUrl::parse(&format!("https://a.example/{path}"), &UrlRules::default()).unwrap();
            let main = MainPart { text: main.to_owned(), ..MainPart::default() };
            let document = Document {
                page: Some(Page { text: text.to_owned(), language: Some("en".to_owned()), ..Page::default() }),
                content: Some(Box::new(Content { main: Some(main), ..Content::default() })),
                ..Document::bare(1, url, Outcome::FileIngested)
            };
            Entry::from_document(document, LinkFigures::default()).unwrap()
        };
        let main = "The quick foxes jump over many lazy dogs";
        let other = "Imprints are long texts of several clauses that nobody reads";
        let (_folder, index) = build_index(&[
            entry("around", &format!("Products Imprint\n{main}\nWith the consent of foxes"), main),
            entry("within", &format!("Products\n{other}"), other),
        ]);
        for (query, expected, reason) in [
            ("products", "around within", "what is around a main part"),
            ("imprint", "within around", "the main part counts more"),
            ("consent", "around", "what comes after it"),
            ("text:consent", "", "which is not in the main part"),
            ("around:consent", "around", "but around it"),
            ("around:jump", "", "where the main part is not"),
            ("\"products imprint\"", "around", "phrases"),
            ("\"dogs with the consent\"", "", "but none across its end"),
            ("consnet", "around", "and corrected"),
        ] {
            let mut paths: Vec<String> = found(&index, query).split(' ').map(str::to_owned).collect();
            if query == "products" {
                paths.sort();
            }
            assert_eq!(paths.join(" "), expected, "{query}: {reason}");
        }
        let results = index.search(&crate::tests::request("consent")).unwrap().results;
        assert!(results[0].snippet.text().contains("With the consent"), "{:?}", results[0].snippet);
        assert!(results[0].snippet.0.iter().any(|piece| piece.is_match && piece.text == "consent"));
    }
}
