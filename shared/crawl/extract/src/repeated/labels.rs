//! Labels with values: definition lists, and tables of two columns. Each of them is one entry.

use std::collections::{HashMap, HashSet};

use dragline_domain::content::RepeatedForm;
use url::Url;

use super::names::field_name;
use super::outline::{Outline, Region};
use super::selectors::{compound, first_that_selects, for_element, place, place_of_type};
use super::tried::{self, FieldCandidate, FieldPath};
use super::{CANDIDATES_MAX, FIELDS_MAX, Group};
use crate::typed::text;
use crate::typed::work::Work;

/// The most labels of an entry examined.
const LABELS_MAX: usize = 100;

/// The longest label, in bytes. A longer text is not one.
const LABEL_BYTES_MAX: usize = 80;

/// Fewer labels than these do not make an entry.
const LABELS_MIN: usize = 2;

/// A label, and where its value is.
struct Label {
    text: String,
    css: String,
    /// The path, with `{}` for the quoted label.
    path: &'static str,
}

/// A list or a table with labels.
struct LabelledEntry {
    at: usize,
    labels: Vec<Label>,
}

/// Returns the labelled entries. Elements with the same class, or in similar positions, are
/// grouped.
pub(super) fn groups(outline: &Outline<'_>, base: &Url, work: &mut Work) -> Vec<Group> {
    let mut kinds: Vec<(&str, Vec<LabelledEntry>)> = Vec::new();
    let mut places = HashMap::new();
    for name in ["dl", "table"] {
        for &at in outline.elements_named(name) {
            if outline.get(at).standing != Region::Page {
                continue;
            }
            let labels = if name == "dl" { read_list(outline, at, work) } else { read_table(outline, at, work) };
            if labels.len() < LABELS_MIN {
                continue;
            }
            let parent = outline.get(at).parent.map(|parent| compound(outline, parent));
            let place = *places.entry((compound(outline, at), parent)).or_insert_with(|| {
                kinds.push((name, Vec::new()));
                kinds.len() - 1
            });
            kinds[place].1.push(LabelledEntry { at, labels });
        }
    }
    let kinds = kinds.into_iter().take(CANDIDATES_MAX);
    kinds.filter_map(|(name, entries)| group(outline, name, entries, base, work)).collect()
}

fn group(
    outline: &Outline<'_>,
    name: &str,
    labelled: Vec<LabelledEntry>,
    base: &Url,
    work: &mut Work,
) -> Option<Group> {
    let members: Vec<usize> = labelled.iter().map(|one| one.at).collect();
    let own = compound(outline, *members.first()?);
    let tries = for_element(outline, *members.first()?);
    // A smaller one of the same class is another of its kind.
    let is_alike = |at: usize| own.contains('.') && compound(outline, at) == own;
    let selected = first_that_selects(outline, tries, (name, &members), is_alike, work)?;
    let mut seen = HashSet::new();
    let labels = labelled.into_iter().flat_map(|one| one.labels).filter(|label| seen.insert(label.text.clone()));
    let written = labels.take(FIELDS_MAX).map(to_candidate).collect();
    let fields = tried::fields(outline, &selected.entries, written, 1, base, work);
    Group::new(RepeatedForm::Pairs, selected, fields, work)
}

fn to_candidate(label: Label) -> FieldCandidate {
    let quote = if label.text.contains('\'') { '"' } else { '\'' };
    let path =
        (!label.text.contains(quote)).then(|| label.path.replace("{}", &format!("{quote}{}{quote}", label.text)));
    let name = field_name(&label.text).unwrap_or_else(|| "value".to_owned());
    FieldCandidate { place: FieldPath { css: Some(label.css), attribute: None }, name: Some(name), path }
}

/// Returns the labels of a definition list; each term may share a `div` with its values.
fn read_list(outline: &Outline<'_>, list: usize, work: &mut Work) -> Vec<Label> {
    let mut labels = Vec::new();
    for &child in outline.get(list).children.iter().take(LABELS_MAX * 2) {
        if outline.get(child).name == "div" {
            let div = place_of_type(outline, child);
            let terms = outline.children_named(child, &["dt"]);
            if let ([term], false) = (&*terms, outline.children_named(child, &["dd"]).is_empty()) {
                let css = format!("div:nth-of-type({div}) > dd");
                labels.extend(label(outline, *term, css, "//dt[.={}]/following-sibling::dd[1]", work));
            }
        } else if outline.get(child).name == "dt" && is_before_value(outline, list, child) {
            let css = format!("dt:nth-of-type({}) + dd", place_of_type(outline, child));
            labels.extend(label(outline, child, css, "//dt[.={}]/following-sibling::dd[1]", work));
        }
    }
    labels
}

fn is_before_value(outline: &Outline<'_>, list: usize, term: usize) -> bool {
    let next = outline.get(list).children.get(place(outline, term)).copied();
    next.is_some_and(|next| outline.get(next).name == "dd")
}

/// Returns the labels of a table whose rows each have a label and a value. The label is a heading
/// cell, or a text that ends with a colon.
fn read_table(outline: &Outline<'_>, table: usize, work: &mut Work) -> Vec<Label> {
    let parts = outline.children_named(table, &["thead", "tbody"]);
    if parts.iter().any(|&part| outline.get(part).name == "thead") || parts.len() != 1 {
        return Vec::new();
    }
    let rows = outline.children_named(parts[0], &["tr"]);
    let mut labels = Vec::new();
    for &row in rows.iter().take(LABELS_MAX) {
        let cells: Vec<&str> = outline.get(row).children.iter().map(|&cell| outline.get(cell).name.as_str()).collect();
        let label_cell = outline.get(row).children.first().copied();
        let place = place(outline, row);
        let label = match (cells.as_slice(), label_cell) {
            (["th", "td"], Some(cell)) => {
                label(outline, cell, format!("tr:nth-child({place}) > td"), "//tr[th={}]/td[1]", work)
            }
            (["td", "td"], Some(cell)) => {
                let css = format!("tr:nth-child({place}) > td:nth-child(2)");
                label(outline, cell, css, "//tr[td={}]/td[2]", work).filter(|label| label.text.ends_with(':'))
            }
            // A line across the table, such as a headline.
            (["th"] | ["td"] | [], _) => continue,
            _ => return Vec::new(),
        };
        match label {
            Some(label) => labels.push(label),
            None => return Vec::new(),
        }
    }
    labels
}

/// Reads a label; `None` if it is empty, or too long to be one.
fn label(outline: &Outline<'_>, at: usize, css: String, path: &'static str, work: &mut Work) -> Option<Label> {
    let text = text::collect(outline.get(at).node, super::HEADING_READ_BYTES_MAX, work);
    (!text.is_empty() && text.len() <= LABEL_BYTES_MAX).then_some(Label { text, css, path })
}
