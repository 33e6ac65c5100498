//! Answers of the word index as text. Everything from pages is escaped.

use std::fmt::Write as _;

use dragline_search::{FacetCount, Hit, Marked, QueryError, Results, Similar, Word, WordPlace};

use crate::terminal::{Colour, Shade, count, plural, safe};

/// The number of values per facet.
const FACET_VALUES_SHOWN: usize = 5;

/// The number of positions per word.
const POSITIONS_SHOWN: usize = 12;

/// Describes a syntax error of a query, with its place.
pub(super) fn wrong_query(query: &str, error: &QueryError) -> String {
    let before = query[..query.floor_char_boundary(error.at.start.min(query.len()))].chars().count();
    let within = query.get(error.at.clone()).unwrap_or_default();
    let place = match within.chars().count() {
        0 => "at its end".to_owned(),
        1 => format!("at character {}", before + 1),
        length => format!("at characters {} to {}", before + 1, before + length),
    };
    format!("the query is not valid {place}: {}", safe(&error.problem.to_string()))
}

/// Returns notes on the results.
pub(super) fn notes(results: &Results) -> Vec<String> {
    let mut notes = Vec::new();
    for correction in &results.corrections {
        notes.push(format!(
            "no page has `{}`; searched for `{}` instead (--exact does not)",
            safe(&correction.word),
            safe(&correction.by)
        ));
    }
    if !results.stop_words.is_empty() {
        let words: Vec<String> = results.stop_words.iter().map(|word| format!("`{}`", safe(word))).collect();
        notes.push(format!("stop words, and what is no word, are not looked up: {}", words.join(", ")));
    }
    notes
}

/// Formats the results.
pub(super) fn results(results: &Results, colour: Colour) -> String {
    let Results { total, page, per_page, .. } = *results;
    let mut text = String::new();
    let first = u64::from(page - 1) * u64::from(per_page) + 1;
    for (number, hit) in (first..).zip(&results.results) {
        put_hit(&mut text, number, hit, colour);
    }
    let pages = total.div_ceil(u64::from(per_page));
    let more = if u64::from(page) < pages { format!("; --page {} shows more", page + 1) } else { String::new() };
    let _ = match (total, results.results.len()) {
        (0, _) => writeln!(text, "no page matches"),
        (_, 0) => writeln!(text, "{}, which are on {}", matching(total), plural(pages, "page of results")),
        _ if pages > 1 => writeln!(text, "{}; page {page} of {}{more}", matching(total), count(pages)),
        _ => writeln!(text, "{}", matching(total)),
    };
    for (name, counts) in
        [("site", &results.facets.sites), ("lang", &results.facets.languages), ("type", &results.facets.types)]
    {
        // A single value for all is not informative, except a type, as some pages have none.
        if counts.len() > 1 || name == "type" && !counts.is_empty() {
            let _ = writeln!(text, "{}", facet(name, counts));
        }
    }
    text
}

fn matching(total: u64) -> String {
    format!("{} {}", plural(total, "page"), if total == 1 { "matches" } else { "match" })
}

fn facet(name: &str, counts: &[FacetCount]) -> String {
    let shown = counts.iter().take(FACET_VALUES_SHOWN);
    let values: Vec<String> =
        shown.map(|value| format!("{name}:{} ({})", safe(&value.value), count(value.pages))).collect();
    let more = counts.len().saturating_sub(FACET_VALUES_SHOWN);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("  {}{more}", values.join(", "))
}

fn put_hit(text: &mut String, number: u64, hit: &Hit, colour: Colour) {
    let title = hit.title.text();
    let title = if title.trim().is_empty() { "(no title)" } else { &title };
    let mut facts = Vec::new();
    facts.extend(hit.day.map(|day| day.to_string()));
    facts.push(format!("linked from {}", plural(hit.linked_from, "page")));
    facts.extend(hit.types.iter().take(FACET_VALUES_SHOWN).map(|kind| safe(kind).into_owned()));
    let _ = writeln!(text, "{}", colour.paint(Shade::Head, &format!("{number}. {}", safe(title))));
    let _ = writeln!(text, "   {}", safe(&hit.url));
    let snippet = highlight(&hit.snippet, colour);
    if !snippet.is_empty() {
        let _ = writeln!(text, "   {snippet}");
    }
    let _ = writeln!(text, "   {}\n", facts.join(", "));
}

/// Highlights the matches in a text: in colour, or with asterisks.
fn highlight(marked: &Marked, colour: Colour) -> String {
    let pieces = marked.0.iter().map(|piece| match (piece.is_match, colour) {
        (false, _) => safe(&piece.text).into_owned(),
        (true, Colour::On) => colour.paint(Shade::Changed, &safe(&piece.text)),
        (true, Colour::Off) => format!("*{}*", safe(&piece.text)),
    });
    pieces.collect()
}

/// Formats pages that are similar to another one.
pub(super) fn similar(similar: &Similar, colour: Colour) -> String {
    let mut text = String::new();
    for (number, hit) in (1..).zip(&similar.results) {
        put_hit(&mut text, number, hit, colour);
    }
    let by: Vec<_> = similar.by.iter().map(|word| safe(word)).collect();
    let _ = match (by.is_empty(), similar.results.is_empty()) {
        (true, _) => writeln!(text, "the page has no words that others have, too"),
        (false, true) => writeln!(text, "no page has enough of its words: {}", by.join(", ")),
        (false, false) => writeln!(text, "by the words: {}", by.join(", ")),
    };
    text
}

/// The names of the columns of the lexicon.
pub(super) const LEXICON: &str = "    pages       times  word\n";

/// Formats a word of the lexicon.
pub(super) fn word(word: &Word) -> String {
    format!("{:>9}  {:>10}  {}\n", count(word.pages), count(word.occurrences), safe(&word.word))
}

/// Returns the total number of words.
pub(super) fn all_words(all: u64, shown: usize) -> String {
    match all {
        0 => "no words\n".to_owned(),
        all if all <= shown as u64 => String::new(),
        all => {
            format!("the {shown} that most pages have, of {}; --all shows them by the alphabet\n", plural(all, "word"))
        }
    }
}

/// Formats a page with a word.
pub(super) fn place(place: &WordPlace, colour: Colour) -> String {
    let mut positions: Vec<String> = place.positions.iter().take(POSITIONS_SHOWN).map(u32::to_string).collect();
    if place.positions.len() > POSITIONS_SHOWN {
        positions.push("…".to_owned());
    }
    let mut facts = vec![plural(u64::from(place.occurrences), "time")];
    facts.extend(place.day.map(|day| day.to_string()));
    facts.push(format!("linked from {}", plural(place.linked_from, "page")));
    format!("{}\n  {}, at {}\n", colour.paint(Shade::Head, &safe(&place.url)), facts.join(", "), positions.join(" "))
}

/// Returns the number of pages with a word, in all its forms.
pub(super) fn total(word: &str, found: &[Word], shown: usize) -> String {
    if found.is_empty() {
        return format!("`{}` is a stop word, which is not indexed\n", safe(word));
    }
    if found.iter().all(|form| form.pages == 0) {
        return format!("no page has `{}`; stop words are not indexed in their language\n", safe(word));
    }
    let forms = found.iter().filter(|form| form.pages > 0).map(|form| {
        let pages =
            if form.pages == 1 { "1 page has".to_owned() } else { format!("{} have", plural(form.pages, "page")) };
        format!("{pages} `{}`, {}\n", safe(&form.word), plural(form.occurrences, "time"))
    });
    let all: u64 = found.iter().map(|form| form.pages).sum();
    let more = if all > shown as u64 {
        format!("the {shown} in which it is most frequent are shown; --all shows all\n")
    } else {
        String::new()
    };
    forms.collect::<String>() + &more
}
