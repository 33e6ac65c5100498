//! Tables with a row of headings.

use std::collections::HashMap;

use dragline_domain::content::RepeatedForm;
use url::Url;

use super::names::field_name;
use super::outline::{Outline, Region};
use super::selectors::{first_that_selects, for_element};
use super::tried::{self, FieldCandidate, FieldPath};
use super::{CANDIDATES_MAX, Group};
use crate::typed::text;
use crate::typed::work::Work;

/// The most columns examined.
const COLUMNS_MAX: usize = 40;

/// The longest heading, in bytes.
const HEADING_BYTES_MAX: usize = 100;

/// A table, with its rows.
struct Table {
    at: usize,
    headings: Vec<String>,
    rows: Vec<usize>,
}

/// Returns the tables of a page; those of one kind with the same headings form a group.
pub(super) fn groups(outline: &Outline<'_>, base: &Url, work: &mut Work) -> Vec<Group> {
    let mut kinds: Vec<Vec<Table>> = Vec::new();
    let mut places = HashMap::new();
    for &at in outline.elements_named("table") {
        let Some(table) = read(outline, at, work) else { continue };
        let key = (outline.get(at).classes.first().cloned(), table.headings.clone());
        let place = *places.entry(key).or_insert_with(|| {
            kinds.push(Vec::new());
            kinds.len() - 1
        });
        kinds[place].push(table);
    }
    // They form one group if a selector matches their rows and no others; otherwise each is its
    // own.
    let mut groups = Vec::new();
    for tables in kinds {
        if groups.len() >= CANDIDATES_MAX {
            break;
        }
        match group(outline, &tables, base, work) {
            Some(group) => groups.push(group),
            None if tables.len() > 1 => {
                let room = CANDIDATES_MAX - groups.len();
                groups.extend(tables.chunks(1).take(room).filter_map(|table| group(outline, table, base, work)));
            }
            None => {}
        }
    }
    groups
}

/// Reads a table; `None` if it has no headings or no rows.
fn read(outline: &Outline<'_>, at: usize, work: &mut Work) -> Option<Table> {
    (outline.get(at).standing == Region::Page).then_some(())?;
    let heads = find_rows(outline, at, &["thead"]);
    let rows = find_rows(outline, at, &["tbody"]);
    let (head, rows) = match heads.first() {
        Some(&head) => (head, rows),
        None => {
            let (&head, rows) = rows.split_first()?;
            let cells = &outline.get(head).children;
            let are_headings = cells.len() >= 2 && cells.iter().all(|&cell| outline.get(cell).name == "th");
            (are_headings.then_some(head)?, rows.to_vec())
        }
    };
    let rows: Vec<usize> = rows.into_iter().filter(|&row| !outline.children_named(row, &["td"]).is_empty()).collect();
    let headings = headings(outline, head, work);
    let has_headings = headings.len() >= 2 && headings.iter().any(|heading| !heading.is_empty());
    (has_headings && rows.iter().any(|&row| outline.get(row).has_text)).then_some(Table { at, headings, rows })
}

fn find_rows(outline: &Outline<'_>, table: usize, parts: &[&str]) -> Vec<usize> {
    let parts = outline.children_named(table, parts);
    parts.into_iter().flat_map(|part| outline.children_named(part, &["tr"])).collect()
}

/// Returns the heading of each column; one that spans several columns applies to each.
fn headings(outline: &Outline<'_>, head: usize, work: &mut Work) -> Vec<String> {
    let mut headings = Vec::new();
    for cell in outline.children_named(head, &["th", "td"]) {
        let node = outline.get(cell).node;
        let columns = node.attr("colspan").and_then(|columns| columns.trim().parse().ok()).unwrap_or(1_usize);
        let text = text::collect(node, super::HEADING_READ_BYTES_MAX, work);
        let heading = text::cut(&text, HEADING_BYTES_MAX).to_owned();
        let room = COLUMNS_MAX - headings.len();
        headings.extend(std::iter::repeat_n(heading, columns.clamp(1, COLUMNS_MAX).min(room)));
    }
    headings
}

fn group(outline: &Outline<'_>, tables: &[Table], base: &Url, work: &mut Work) -> Option<Group> {
    let first = tables.first()?;
    let mut rows: Vec<usize> = tables.iter().flat_map(|table| table.rows.iter().copied()).collect();
    rows.sort_unstable();
    let tables = for_element(outline, first.at);
    // If headings are ordinary rows, perhaps repeated in between, they are left out.
    let tries = ["tr", "tr:has(> td)"];
    let tries = tables.iter().flat_map(|table| tries.map(|row| format!("{table} > tbody > {row}"))).collect();
    let selected = first_that_selects(outline, tries, ("tr", &rows), |_| false, work)?;
    let written = field_candidates(outline, &first.headings, &selected.entries);
    let fields = tried::fields(outline, &selected.entries, written, 1, base, work);
    Group::new(RepeatedForm::Table, selected, fields, work)
}

fn field_candidates(outline: &Outline<'_>, headings: &[String], rows: &[usize]) -> Vec<FieldCandidate> {
    let mut written = Vec::new();
    for (place, heading) in headings.iter().enumerate() {
        let cell = |row: &usize| outline.get(*row).children.get(place).copied();
        let mut cells = rows.iter().filter_map(cell);
        let is_heading = cells.clone().next().is_some_and(|cell| outline.get(cell).name == "th");
        let css = format!("{}:nth-child({})", if is_heading { "th" } else { "td" }, place + 1);
        let name = field_name(heading).unwrap_or_else(|| format!("column_{}", place + 1));
        let field = |css: &str, attribute, name: &str| FieldCandidate {
            place: FieldPath { css: Some(css.to_owned()), attribute },
            name: Some(name.to_owned()),
            path: None,
        };
        written.push(field(&css, None, &name));
        let has_link = |cell: usize| !outline.children_named(cell, &["a"]).is_empty();
        if cells.any(has_link) {
            written.push(field(&format!("{css} > a"), Some("href"), &format!("{name}_link")));
        }
    }
    written
}
