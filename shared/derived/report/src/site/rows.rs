//! Collects the rows of a table: as many as a report has room for, and the number of all.

use serde::{Deserialize, Serialize};

use super::shape::{Cell, Column, Table};

/// The maximum number of rows of a table.
pub(crate) const ROWS_MAX: usize = 200;

/// The maximum size of a table's rows in a page, in bytes. With all tables full, the page stays
/// below 5 MB.
const BYTES_MAX: usize = 128 << 10;

/// The longest text, in bytes. Some programs cannot open longer URLs.
const TEXT_BYTES_MAX: usize = 2048;

/// The maximum number of texts in a value.
pub(crate) const TEXTS_MAX: usize = 5;

/// Which rows of a table are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowsKept {
    /// The first, for people: as many as a page has room for.
    #[default]
    First,
    /// All, for programs.
    All,
}

/// The rows of an unfinished table. Its columns are not stored.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rows {
    #[serde(skip)]
    columns: &'static [Column],
    #[serde(skip)]
    kept: RowsKept,
    rows: Vec<Vec<Cell>>,
    rows_all: u64,
    bytes: usize,
}

impl Rows {
    /// Returns a table that keeps its first rows.
    pub(crate) const fn new(columns: &'static [Column]) -> Self {
        Self { columns, kept: RowsKept::First, rows: Vec::new(), rows_all: 0, bytes: 0 }
    }

    /// Returns the same table, which keeps these rows.
    pub(crate) fn keeping(self, kept: RowsKept) -> Self {
        Self { kept, ..self }
    }

    /// Returns its columns.
    pub(crate) const fn columns(&self) -> &'static [Column] {
        self.columns
    }

    /// Returns the clause that limits a query to its rows.
    pub(crate) fn limit(&self) -> String {
        match self.kept {
            RowsKept::First => format!("LIMIT {ROWS_MAX}"),
            RowsKept::All => String::new(),
        }
    }

    const fn rows_max(&self) -> usize {
        match self.kept {
            RowsKept::First => ROWS_MAX,
            RowsKept::All => usize::MAX,
        }
    }

    const fn bytes_max(&self) -> usize {
        match self.kept {
            RowsKept::First => BYTES_MAX,
            RowsKept::All => usize::MAX,
        }
    }

    /// Returns the same rows with their columns, which were not stored.
    pub(crate) fn with_columns(self, columns: &'static [Column]) -> Self {
        Self { columns, ..self }
    }

    /// Adds a row if there is room. After the first row without room, none is kept, so that the
    /// table has the first rows.
    pub(crate) fn add(&mut self, mut row: Vec<Cell>) {
        let is_first_left_out = self.rows_all == self.rows.len() as u64;
        self.rows_all += 1;
        if !is_first_left_out || self.rows.len() == self.rows_max() {
            return;
        }
        if self.kept == RowsKept::First {
            row.iter_mut().for_each(shorten);
        }
        let bytes = row.iter().map(size).sum::<usize>();
        if self.bytes + bytes <= self.bytes_max() {
            self.bytes += bytes;
            self.rows.push(row);
        }
    }

    /// Returns the table. `rows_all` is the number of all rows; rows without room need not have
    /// been added.
    pub(crate) fn finish(self, rows_all: u64) -> Table {
        Table { rows_all: rows_all.max(self.rows_all), ..self.finish_whole() }
    }

    /// Returns the table after all rows were added.
    pub(crate) fn finish_whole(self) -> Table {
        let Self { columns, rows, rows_all, .. } = self;
        Table { columns, rows, rows_all }
    }
}

fn shorten(cell: &mut Cell) {
    match cell {
        Cell::Nothing | Cell::Whole(_) | Cell::Number(_) => {}
        Cell::Text(text) => shorten_text(text),
        Cell::Texts(texts) => {
            texts.truncate(TEXTS_MAX);
            texts.iter_mut().for_each(shorten_text);
        }
    }
}

/// Cuts a text at a limit.
pub(crate) fn shorten_text(text: &mut String) {
    if text.len() > TEXT_BYTES_MAX {
        let end = text.floor_char_boundary(TEXT_BYTES_MAX);
        text.truncate(end);
        text.push('…');
    }
}

/// Returns the size of a value in a page, in bytes.
fn size(cell: &Cell) -> usize {
    const AROUND: usize = 20;
    let text = |text: &String| AROUND + text.chars().map(size_of_char).sum::<usize>();
    match cell {
        Cell::Nothing | Cell::Whole(_) | Cell::Number(_) => 2 * AROUND,
        Cell::Text(one) => text(one),
        Cell::Texts(several) => AROUND + several.iter().map(text).sum::<usize>(),
    }
}

/// Characters that could end a script take six bytes as escapes.
const fn size_of_char(c: char) -> usize {
    match c {
        '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => 6,
        '"' | '\\' => 2,
        _ => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::Unit;
    use super::*;

    const COLUMNS: &[Column] = &[Column { id: "url", title: "URL", unit: Unit::Url }];

    #[test]
    fn a_table_keeps_its_first_rows_within_limits_and_counts_all() {
        let row = |text: String| vec![Cell::Text(text)];
        for (texts, kept, why) in [
            (vec!["a".to_owned(); 3], 3, "all fit"),
            (vec!["a".to_owned(); 500], ROWS_MAX, "as many as may be"),
            (vec!["a".repeat(1 << 20); 100], 63, "each is cut, and then as many as there is room for"),
            (vec!["<".repeat(2000); 100], 10, "what is escaped takes more room"),
            (
                [vec!["<".repeat(2000); 11], vec![String::new()]].concat(),
                10,
                "after one that is left out, none is kept",
            ),
        ] {
            let mut rows = Rows::new(COLUMNS);
            let all = texts.len() as u64;
            texts.into_iter().for_each(|text| rows.add(row(text)));
            let table = rows.finish_whole();
            assert_eq!((table.rows.len(), table.rows_all), (kept, all), "{why}");
            let json = serde_json::to_string(&table).unwrap().replace('<', r"\u003c");
            assert!(json.len() < BYTES_MAX + 4096, "{why}: {}", json.len());
        }
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let mut text = "ä".repeat(2000);
        shorten_text(&mut text);
        assert!(text.ends_with("ä…") && text.len() <= TEXT_BYTES_MAX + 3);
    }
}
