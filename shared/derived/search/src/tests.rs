//! The index as a whole: results, their order, and updates.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::ControlFlow;

use dragline_domain::use_preferences::Purpose;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::entry::Entry;
use crate::fields::FORMAT;
use crate::index::{Changes, Index, SourceState, Update};
use crate::search::{Request, Results};
use crate::{Part, Typos};

/// Returns a page of the site `a.example` in English.
pub(crate) fn page(path: &str, title: &str, text: &str) -> Entry {
    Entry {
        url: format!("https://a.example/{path}"),
        site: "a.example".to_owned(),
        title: Some(title.to_owned()),
        text: text.to_owned(),
        language: "en".to_owned(),
        rank: 1.0,
        ..Entry::default()
    }
}

pub(crate) fn update(index: &Index, entries: &[Entry]) -> Changes {
    let mut update = Update::begin(index).unwrap().unwrap();
    entries.iter().for_each(|entry| update.put(entry.clone()).unwrap());
    update.finish(&SourceState { format: FORMAT, from: format!("{entries:?}") }).unwrap()
}

pub(crate) fn build_index(entries: &[Entry]) -> (TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    let (index, last) = Index::open(folder.path()).unwrap();
    assert_eq!(last, None);
    update(&index, entries);
    (folder, index)
}

pub(crate) fn request(query: &str) -> Request {
    Request { query: query.to_owned(), page: NonZeroU32::MIN, per_page: 100, typos: Typos::Correct }
}

fn search(index: &Index, query: &str) -> Results {
    index.search(&request(query)).unwrap()
}

/// Returns the paths of the matching pages, the best first.
pub(crate) fn found(index: &Index, query: &str) -> String {
    let results = search(index, query).results;
    results
        .iter()
        .map(|hit| hit.url.strip_prefix("https://a.example/").unwrap_or(&hit.url))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The same, sorted by path.
fn found_sorted(index: &Index, query: &str) -> String {
    let mut paths: Vec<String> = found(index, query).split(' ').map(str::to_owned).collect();
    paths.sort();
    paths.join(" ")
}

#[test]
fn queries_find_what_they_ask_for() {
    let day = |text: &str| Some(text.parse().unwrap());
    let (_folder, index) = build_index(&[
        page("cats", "Keeping cats", "A cat sleeps. The garbage collector never runs at night."),
        page("dogs", "Dogs", "Running dogs and one sleeping cat. Garbage is collected."),
        Entry { headings: vec!["On goats".to_owned()], day: day("2026-05-17"), ..page("goats", "Farm", "bleating") },
        Entry {
            types: vec!["Product".to_owned()],
            day: day("2025-12-31"),
            ..page("shop/chair", "Chair", "made of oak")
        },
        Entry {
            anchors: vec!["the best zebra page".to_owned()],
            reserved: vec![Purpose::AiTrain],
            ..page("z", "Stripes", "nothing")
        },
        Entry { language: "de".to_owned(), ..page("haus", "Die Häuser", "Neue Häuser in der Stadt") },
        Entry { language: "ja".to_owned(), ..page("tokyo", "東京都の案内", "東京都へ行くと楽しい") },
        Entry { language: "en".to_owned(), ..page("news", "News", "the latest news") },
        Entry {
            url: "https://docs.b.example:8080/x".to_owned(),
            site: "docs.b.example:8080".to_owned(),
            ..page("", "Elsewhere", "a cat abroad")
        },
    ]);
    for (query, expected, reason) in [
        ("cat", "cats dogs https://docs.b.example:8080/x", "in all forms"),
        ("CATS", "cats dogs https://docs.b.example:8080/x", "in any case"),
        ("cat dog", "dogs", "all words"),
        ("cat -dog", "cats https://docs.b.example:8080/x", "but not this one"),
        ("goat OR zebra", "goats z", "either"),
        ("-cat -goat -chair -haus -lang:ja -news", "z", "nothing but what they must not have"),
        ("\"garbage collector\"", "cats", "next to each other"),
        ("collected garbage", "dogs", "anywhere"),
        ("\"garbage is collected\"", "dogs", "a stop word in a phrase keeps its place"),
        ("\"garbage collected\"", "", "so that words around one are not next to each other"),
        ("title:cat", "cats", "in the title alone"),
        ("heading:goat", "goats", "in a heading"),
        ("anchor:zebra", "z", "in what links say"),
        ("text:zebra", "", "which is not in the text"),
        ("url:chair", "shop/chair", "in the URL"),
        ("url:\"shop chair\"", "shop/chair", "whose words follow one another"),
        ("site:a.example cat", "cats dogs", "on a host"),
        ("site:b.example cat", "https://docs.b.example:8080/x", "in a domain"),
        ("site:b.example:8080", "https://docs.b.example:8080/x", "with the port"),
        ("site:b.example:80", "", "with another port"),
        ("type:product", "shop/chair", "types in any case"),
        ("anchor:zebra use:search", "z", "what is not reserved"),
        ("anchor:zebra use:ai-train", "", "what is"),
        ("-use:ai-train", "z", "all that is reserved"),
        ("after:2026", "goats", "dates"),
        ("before:2026 oak", "shop/chair", "dates"),
        ("lang:de", "haus", "languages"),
        ("hauser", "haus", "without accents, in the page's language"),
        ("Haus", "haus", "in its forms"),
        ("new", "", "`news` is a form of it in another language alone"),
        ("neu", "haus", "and this one in the other one"),
        ("東京", "tokyo", "a pair of characters"),
        ("京都", "tokyo", "which need not be a word"),
        ("東京都", "tokyo", "three"),
        ("都", "tokyo", "one"),
        ("東都", "", "characters that do not follow one another"),
        ("sleep*", "cats dogs", "beginnings of words as written"),
        ("sle* -dog", "cats", "and other words"),
        ("zeb*", "z", "also in what links say"),
        ("qq*", "", "of which there may be none"),
        ("the cat", "cats dogs https://docs.b.example:8080/x", "stop words are left out"),
        ("the", "", "unless there is nothing else"),
        ("die", "", "in each language its own"),
        ("night (cat OR dog)", "cats", "groups"),
        ("collectro", "cats", "two letters in the wrong order"),
        ("nothng", "z", "a letter too few"),
        ("cat & dog", "dogs", "what is no word is left out"),
        ("&", "", "unless there is nothing else"),
        ("zebra -stripse", "z", "nor in what pages must not have"),
        ("slpees", "", "more than one letter is not guessed"),
        ("cat.sleeps", "cats", "words in one are a phrase"),
    ] {
        let expected: Vec<&str> = expected.split(' ').collect();
        assert_eq!(found_sorted(&index, query), expected.join(" "), "{query}: {reason}");
    }
    let exact = Request { typos: Typos::Keep, ..request("nothng") };
    assert_eq!(index.search(&exact).unwrap().total, 0);
    let corrections = search(&index, "Nothng stripes").corrections;
    assert_eq!((corrections[0].word.as_str(), corrections[0].by.as_str()), ("Nothng", "nothing"));
    assert_eq!(search(&index, "the").stop_words, ["the"]);
}

#[test]
fn the_best_page_comes_first() {
    let filler = "other words ".repeat(40);
    let with = |path: &str, change: fn(&mut Entry)| {
        let mut entry = page(path, "Title", &filler);
        change(&mut entry);
        entry
    };
    let (_folder, index) = build_index(&[
        with("text", |entry| entry.text.push_str("alpha")),
        with("url-alpha", |_| {}),
        with("heading", |entry| entry.headings = vec!["Alpha".to_owned()]),
        with("anchor", |entry| entry.anchors = vec!["alpha".to_owned()]),
        with("title", |entry| entry.title = Some("Alpha".to_owned())),
        with("everywhere", |entry| {
            entry.text.push_str("alpha");
            entry.title = Some("Alpha".to_owned());
            entry.anchors = vec!["alpha".to_owned()];
        }),
        with("beta-low", |entry| entry.title = Some("Beta".to_owned())),
        with("beta-top", |entry| {
            entry.title = Some("Beta".to_owned());
            entry.rank = 20.0;
        }),
    ]);
    let order = found(&index, "alpha");
    assert!(order.starts_with("everywhere title ") && order.ends_with(" text"), "{order}");
    assert_eq!(found(&index, "title:beta"), "beta-top beta-low", "the rank tells equal pages apart");
}

#[test]
fn parts_that_few_pages_have_are_compared_among_these() {
    // Only one page in a hundred has anchor texts: of two of these, the one whose only anchor text
    // is the word is better.
    let mut entries: Vec<Entry> = (0..200).map(|n| page(&format!("p{n}"), "Page", "text")).collect();
    entries[7].anchors = vec!["gamma".to_owned()];
    entries[9].anchors = vec!["gamma and much else that somebody has to say about it".to_owned()];
    let (_folder, index) = build_index(&entries);
    let hits = search(&index, "gamma").results;
    assert_eq!(found(&index, "gamma"), "p7 p9");
    // With the average over all pages, half a word, both would count as endless.
    assert!(hits[1].score > hits[0].score / 3.0, "{} {}", hits[0].score, hits[1].score);
}

#[test]
fn results_are_paged_and_counted() {
    let entries: Vec<Entry> = (0..25)
        .map(|n| {
            let language = if n % 5 == 0 { "fr" } else { "en" };
            let types = if n % 2 == 0 { vec!["Article".to_owned(), "Thing".to_owned()] } else { Vec::new() };
            Entry { language: language.to_owned(), types, ..page(&format!("p{n}"), "Delta", &"delta ".repeat(n + 1)) }
        })
        .collect();
    let (_folder, index) = build_index(&entries);
    let whole = search(&index, "delta");
    let mut paged = Vec::new();
    for number in 1..=4 {
        let page = NonZeroU32::new(number).unwrap();
        let results = index.search(&Request { page, per_page: 10, ..request("delta") }).unwrap();
        assert_eq!((results.total, results.page, results.per_page), (25, number, 10));
        assert_eq!(results.facets, whole.facets, "facets are those of all pages of results");
        paged.extend(results.results);
    }
    assert_eq!(paged, whole.results);
    let facets = |counts: &[crate::FacetCount]| {
        counts.iter().map(|count| format!("{} {}", count.value, count.pages)).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(facets(&whole.facets.languages), "en 20, fr 5");
    assert_eq!(facets(&whole.facets.types), "Article 13, Thing 13");
    assert_eq!(facets(&whole.facets.sites), "a.example 25");
}

#[test]
fn an_update_writes_what_changed() {
    let one = || page("one", "One", "first words");
    let two = || page("two", "Two", "second words");
    let (folder, index) = build_index(&[one(), two()]);
    let counts = |written, unchanged, removed| Changes { written, unchanged, removed };
    assert_eq!(update(&index, &[one(), two()]), counts(0, 2, 0));
    let changed = Entry { linked_from: 3, ..two() };
    assert_eq!(update(&index, &[changed.clone(), page("three", "Three", "third words")]), counts(2, 0, 1));
    assert_eq!(found_sorted(&index, "words"), "three two");
    assert_eq!(search(&index, "second").results[0].linked_from, 3);
    // While the index was read, the crawl put a page again, unchanged and changed.
    assert_eq!(update(&index, &[one(), changed.clone(), changed, one(), page("one", "Uno", "first words")]).removed, 1);
    assert_eq!((found_sorted(&index, "words").as_str(), found(&index, "uno").as_str()), ("one two", "one"));
    drop(index);
    let (index, last) = Index::open(folder.path()).unwrap();
    assert_eq!((last.unwrap().format, index.pages()), (FORMAT, 2));
}

#[test]
fn one_process_writes_and_all_read() {
    let (folder, index) = build_index(&[page("one", "One", "words")]);
    let mut writing = Update::begin(&index).unwrap().unwrap();
    let (other, _) = Index::open(folder.path()).unwrap();
    assert!(Update::begin(&other).unwrap().is_none());
    writing.put(page("two", "Two", "words")).unwrap();
    assert_eq!(found(&other, "words"), "one");
    writing.finish(&SourceState { format: FORMAT, from: String::new() }).unwrap();
    assert_eq!(found(&index, "words"), "two");
    // The other index was opened before: it continues from the current state.
    assert_eq!(update(&other, &[page("two", "Two", "words")]), Changes { unchanged: 1, ..Changes::default() });
    assert_eq!(found(&other, "words"), "two");
}

#[test]
fn an_unreadable_index_is_rebuilt() {
    type Damage = fn(&std::path::Path);
    let damage: [(&str, Damage); 3] = [
        ("its list of files is no list", |folder| std::fs::write(folder.join("meta.json"), "{").unwrap()),
        ("its files are gone", |folder| {
            for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
                if file.file_name().unwrap() != "meta.json" {
                    std::fs::remove_file(file).unwrap();
                }
            }
        }),
        ("it is of another version", |folder| {
            let meta = std::fs::read_to_string(folder.join("meta.json")).unwrap();
            std::fs::write(
                folder.join("meta.json"),
                meta.replace(&format!(r#"\"format\":{FORMAT}"#), r#"\"format\":0"#),
            )
            .unwrap();
        }),
    ];
    for (reason, damage) in damage {
        let (folder, index) = build_index(&[page("one", "One", "words")]);
        drop(index);
        damage(folder.path());
        let (index, last) = Index::open(folder.path()).unwrap();
        assert_eq!((last, index.pages()), (None, 0), "{reason}");
        update(&index, &[page("two", "Two", "words")]);
        assert_eq!(found(&index, "words"), "two", "{reason}");
    }
}

/// Returns the lexicon of a part.
fn lexicon(index: &Index, part: Part, beginning: &str) -> Vec<(String, u64, u64)> {
    let mut words = Vec::new();
    index
        .words(part, beginning, |word| {
            words.push((word.word, word.pages, word.occurrences));
            ControlFlow::Continue(())
        })
        .unwrap();
    words
}

#[test]
fn the_lexicon_has_words_with_their_places() {
    let (_folder, index) = build_index(&[
        Entry { linked_from: 4, ..page("one", "One", "The server serves. Servers!") },
        page("two", "Server", "a server"),
        page("gone", "Gone", "server server"),
    ]);
    update(
        &index,
        &[
            Entry { linked_from: 4, ..page("one", "One", "The server serves. Servers!") },
            page("two", "Server", "a server"),
        ],
    );
    let counted =
        |words: &[(&str, u64, u64)]| words.iter().map(|(word, a, b)| ((*word).to_owned(), *a, *b)).collect::<Vec<_>>();
    assert_eq!(
        lexicon(&index, Part::Text, ""),
        counted(&[("serv", 1, 1), ("server", 2, 3)]),
        "pages that are gone do not count"
    );
    assert_eq!(lexicon(&index, Part::Title, "s"), counted(&[("server", 1, 1)]));
    let mut places = Vec::new();
    let forms = index
        .places(Part::Text, "SERVERS", |place| {
            places.push((place.url, place.linked_from, place.occurrences, place.positions));
            ControlFlow::Continue(())
        })
        .unwrap();
    places.sort();
    let url = |path: &str| format!("https://a.example/{path}");
    assert_eq!(places, [(url("one"), 4, 2, vec![1, 3]), (url("two"), 0, 1, vec![1])]);
    assert_eq!((forms.len(), forms[0].pages, forms[0].occurrences), (1, 2, 3));
    assert_eq!(index.places(Part::Text, "the", |_| ControlFlow::Continue(())).unwrap(), []);
}

#[test]
fn similar_pages_have_the_same_rare_words() {
    let common = "every page says this and that about something";
    let (_folder, index) = build_index(&[
        page("bees", "Bees", &format!("{common} honey hive queen nectar")),
        page("honey", "Honey", &format!("{common} honey hive nectar jar")),
        page("wasps", "Wasps", &format!("{common} hive sting")),
        page("cars", "Cars", &format!("{common} engine wheel")),
        Entry { language: "de".to_owned(), ..page("bienen", "Bees", "honey hive queen nectar") },
    ]);
    let similar = index.similar("https://a.example/bees", 2).unwrap().unwrap();
    let paths: Vec<&str> = similar.results.iter().map(|hit| hit.url.rsplit('/').next().unwrap()).collect();
    assert_eq!(paths, ["honey", "wasps"]);
    let place = |word: &str| similar.by.iter().position(|by| by == word);
    assert!(place("honey") < place("everi"), "{:?}", similar.by);
    assert_eq!(index.similar("https://a.example/unknown", 2).unwrap(), None);
}

#[test]
fn an_empty_index_finds_nothing() {
    let (_folder, index) = build_index(&[]);
    for query in ["word", "-word", "\"a phrase\"", "begin*", "site:a.example", "字"] {
        assert_eq!(search(&index, query).total, 0, "{query}");
    }
    assert_eq!(lexicon(&index, Part::Text, ""), []);
}

/// The observable contents of an index: its lexicons, and the results of queries.
type Known = (Vec<Vec<(String, u64, u64)>>, BTreeMap<String, Vec<String>>);

fn known(index: &Index) -> Known {
    let lexicons = Part::ALL.map(|part| lexicon(index, part, "")).to_vec();
    let queries = ["ant", "bee", "cow", "ant bee", "\"ant bee\"", "ant -cow", "title:bee", "lang:de", "-ant", "be*"];
    let found = queries.map(|query| {
        let mut shown: Vec<String> =
            search(index, query).results.iter().map(|hit| format!("{} {}", hit.url, hit.snippet.text())).collect();
        shown.sort();
        (query.to_owned(), shown)
    });
    (lexicons, found.into())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_updated_index_equals_a_rebuilt_one(
        states in prop::collection::vec(
            prop::collection::btree_map(0..6_u8, ("(ant|bee|cow)", "((ant|bee|cow) ){0,6}", prop::bool::ANY), 0..6),
            1..5,
        ),
    ) {
        let entries = |state: &BTreeMap<u8, (String, String, bool)>| -> Vec<Entry> {
            state
                .iter()
                .map(|(path, (title, text, is_german))| {
                    let language = if *is_german { "de" } else { "en" };
                    Entry { language: language.to_owned(), ..page(&path.to_string(), title, text) }
                })
                .collect()
        };
        let (_folder, updated) = build_index(&[]);
        for state in &states {
            let changes = update(&updated, &entries(state));
            prop_assert_eq!(changes.written + changes.unchanged, state.len() as u64);
            let (_folder, anew) = build_index(&entries(state));
            prop_assert_eq!(known(&updated), known(&anew));
        }
    }
}
