//! Repeated structures of a page: lists of cards, tables, labels with values. They allow learning
//! fields from pages without structured data.
//!
//! The page's elements are noted once (`outline`). Then groups of similar entries are searched for
//! (`alike`), each form in a file of its own: `tables`, `labels`, `lists`. The selectors of each
//! result were tried on the page (`tried`): they find the reported entries and fields, and nothing
//! else.

mod alike;
mod labels;
mod lists;
mod names;
mod outline;
mod selectors;
mod tables;
#[cfg(test)]
mod tests;
mod tried;

use dom_query::Document;
use dragline_domain::content::{Repeated, RepeatedField, RepeatedForm};
use url::Url;

use self::outline::Outline;
use self::selectors::SelectedEntries;
use crate::typed::work::Work;

/// The most groups of a page. The least telling ones are left out.
const GROUPS_MAX: usize = 12;

/// The most groups examined.
const CANDIDATES_MAX: usize = 100;

/// The most fields of an entry.
const FIELDS_MAX: usize = 20;

/// The most entries counted: a definition takes as many from a page.
const ENTRIES_MAX: usize = 1_000;

/// The longest text read of a heading or a label, in bytes.
const HEADING_READ_BYTES_MAX: usize = 16 << 10;

/// The work allowed for a page, in elements examined: some tenths of a second.
const WORK_MAX: u64 = 3_000_000;

/// More entries than this do not make a group more telling.
const TELLING_ENTRIES_MAX: usize = 50;

/// The repeated structures of a page, and whether they are complete.
#[derive(Debug, Default)]
pub(crate) struct Repetitions {
    pub(crate) repeated: Vec<Repeated>,
    /// Whether a limit of size or time was reached.
    pub(crate) is_cut: bool,
}

/// A group of entries.
struct Group {
    form: RepeatedForm,
    each: String,
    /// Their indices in the outline.
    entries: Vec<usize>,
    fields: Vec<RepeatedField>,
}

impl Group {
    /// Makes a group; `None` if it has no fields.
    fn new(form: RepeatedForm, selected: SelectedEntries, fields: Vec<RepeatedField>, work: &mut Work) -> Option<Self> {
        let SelectedEntries { each, entries, is_cut } = selected;
        (!fields.is_empty()).then_some(())?;
        if is_cut {
            work.cut();
        }
        Some(Self { form, each, entries, fields })
    }
}

/// Finds the repeated structures of a page. URLs are resolved against `base`.
pub(crate) fn find_repetitions(document: &Document, base: &Url) -> Repetitions {
    let mut work = Work::with_limit(WORK_MAX);
    let outline = Outline::build(document, &mut work);
    let mut groups = tables::groups(&outline, base, &mut work);
    groups.extend(labels::groups(&outline, base, &mut work));
    let lists = lists::groups(&outline, &groups, base, &mut work);
    groups.extend(lists);
    groups.sort_by_key(|group| (std::cmp::Reverse(telling(group)), group.entries.first().copied()));
    groups.truncate(GROUPS_MAX);
    groups.sort_by_key(|group| group.entries.first().copied());
    Repetitions { repeated: groups.into_iter().map(repeated).collect(), is_cut: work.was_cut() }
}

/// Returns how telling a group is.
fn telling(group: &Group) -> usize {
    group.entries.len().min(TELLING_ENTRIES_MAX) * group.fields.len()
}

fn repeated(group: Group) -> Repeated {
    let Group { form, each, entries, fields } = group;
    Repeated { form, each, entries: count(entries.len()), fields }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
