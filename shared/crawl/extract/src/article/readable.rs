//! The main part and metadata of a page as found by `dom_smoothie`, a port of Mozilla's
//! Readability.

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use dom_query::Document;
use dom_smoothie::{Config, Metadata, Readability};
use html5ever::tendril::StrTendril;

use super::layout::{Layout, read_text};

/// The result of reading a page.
#[derive(Debug, Default)]
pub(super) struct Readable {
    pub(super) metadata: Metadata,
    /// The HTML of the part that reads like an article; `None` if there is none.
    pub(super) content: Option<StrTendril>,
}

/// Reads a page.
pub(super) fn read(document: &Document, url: &str) -> Readable {
    let config = Config { keep_classes: true, ..Config::default() };
    let reader = || Readability::with_document(document.clone(), Some(url), Some(config.clone())).ok();
    match reader().and_then(|mut reader| reader.parse().ok()) {
        Some(article) => {
            let dom_smoothie::Article { title, byline, excerpt, site_name, .. } = article;
            let dom_smoothie::Article { published_time, modified_time, lang, image, content, .. } = article;
            let metadata = Metadata {
                title,
                byline,
                excerpt,
                site_name,
                published_time,
                modified_time,
                lang,
                image,
                ..Metadata::default()
            };
            Readable { metadata, content: Some(content) }
        }
        None => metadata(document, url),
    }
}

/// Reads only the metadata of a page.
pub(super) fn metadata(document: &Document, url: &str) -> Readable {
    let reader = Readability::with_document(document.clone(), Some(url), None).ok();
    let metadata = reader.map(|reader| reader.get_article_metadata(reader.parse_json_ld()));
    Readable { metadata: metadata.unwrap_or_default(), content: None }
}

/// How many consecutive words identify a position in a page.
const RUN_WORDS: usize = 5;

/// How many consecutive words identify a position among the next ones.
const NEARBY_WORDS: usize = 3;

/// The most words skipped where the two differ.
const SKIPPED_WORDS_MAX: usize = 64;

/// Returns for each text of a page whether most of its words are among those taken.
///
/// Readability builds new elements, so the two have only their words in common, in the same order.
pub(super) fn chosen(layout: &Layout<'_>, taken: &str) -> Vec<bool> {
    let (mut words, mut owners) = (Vec::new(), Vec::new());
    for (number, text) in layout.texts.iter().enumerate() {
        layout.read(text, |said| push_words(said, &mut words));
        owners.resize(words.len(), number);
    }
    let taken = chosen_words(taken);
    let mut hits = vec![(0_usize, 0_usize); layout.texts.len()];
    for &owner in &owners {
        if let Some((_, all)) = hits.get_mut(owner) {
            *all += 1;
        }
    }
    for at in matched(&words, &taken) {
        if let Some((hit, _)) = owners.get(at).and_then(|&owner| hits.get_mut(owner)) {
            *hit += 1;
        }
    }
    hits.into_iter().map(|(hit, all)| hit * 2 >= all.max(1)).collect()
}

fn chosen_words(html: &str) -> Vec<u64> {
    let document = Document::from(html);
    let mut words = Vec::new();
    for node in document.root().descendants_it().filter(dom_query::NodeRef::is_text) {
        read_text(&node, |text| push_words(text, &mut words));
    }
    words
}

fn push_words(text: &str, words: &mut Vec<u64>) {
    words.extend(text.split_whitespace().map(|word| hash(&word)));
}

fn hash(value: &impl std::hash::Hash) -> u64 {
    foldhash::fast::FixedState::default().hash_one(value)
}

/// Returns the positions in a page of the words taken, as far as they are found.
fn matched(page: &[u64], taken: &[u64]) -> Vec<usize> {
    let runs = unique_runs(page);
    let (mut places, mut at, mut next) = (Vec::with_capacity(taken.len()), 0, 0);
    while next < taken.len() {
        let is_next = |at: usize| page.get(at).is_some() && page.get(at) == taken.get(next);
        if is_next(at) && at > 0 {
            places.push(at);
            (at, next) = (at + 1, next + 1);
            continue;
        }
        let run = taken.get(next..next + RUN_WORDS).and_then(|run| runs.get(&hash(&run))).copied().flatten();
        let nearby = || {
            let wanted = taken.get(next..taken.len().min(next + NEARBY_WORDS)).unwrap_or_default();
            (at..at + SKIPPED_WORDS_MAX).find(|at| page.get(*at..at + wanted.len()) == Some(wanted))
        };
        match run.filter(|place| *place >= at).or_else(nearby) {
            Some(place) => {
                places.push(place);
                (at, next) = (place + 1, next + 1);
            }
            None => next += 1,
        }
    }
    places
}

/// Returns the position of each run of words; `None` if it occurs more than once.
fn unique_runs(page: &[u64]) -> HashMap<u64, Option<usize>> {
    let mut runs = HashMap::with_capacity(page.len());
    for (place, run) in page.windows(RUN_WORDS).enumerate() {
        runs.entry(hash(&run)).and_modify(|place| *place = None).or_insert(Some(place));
    }
    runs
}
