//! Findings that somebody knows and accepts: those of an earlier report, and those of a list.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::findings::Kind;

/// Findings that are not reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcceptedFindings {
    /// The kind and the first value of each known row.
    known: Vec<(String, String)>,
    /// The kind, or `*` for all of them, and a pattern of first values.
    ignored: Vec<(String, String)>,
}

/// What accepts no findings, as it cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AcceptedError {
    /// A baseline is no report.
    #[error("it is no report in JSON: {0}")]
    NoReport(#[from] serde_json::Error),
    /// A baseline has not all rows of a kind, so the others would seem to be new.
    #[error("it has only the first {rows} of {rows_all} rows of `{kind}`")]
    Cut {
        /// The kind.
        kind: String,
        /// The number of its rows there.
        rows: usize,
        /// The number of all.
        rows_all: u64,
    },
    /// A line of a list is not as it should be.
    #[error("line {line}: {why}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

impl AcceptedFindings {
    /// Whether nothing is accepted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.ignored.is_empty()
    }

    /// Accepts all that an earlier report told, as JSON with all rows.
    ///
    /// # Errors
    /// The text is no such report.
    pub fn add_report(&mut self, json: &str) -> Result<(), AcceptedError> {
        #[derive(Deserialize)]
        struct Told {
            findings: Vec<ToldFinding>,
        }
        #[derive(Deserialize)]
        struct ToldFinding {
            id: String,
            columns: Vec<ToldColumn>,
            rows: Vec<Map<String, Value>>,
            rows_all: u64,
        }
        #[derive(Deserialize)]
        struct ToldColumn {
            id: String,
        }
        let told: Told = serde_json::from_str(json)?;
        for ToldFinding { id, columns, rows, rows_all } in told.findings {
            if (rows.len() as u64) < rows_all {
                return Err(AcceptedError::Cut { kind: id, rows: rows.len(), rows_all });
            }
            let Some(key) = columns.first() else { continue };
            let keys = rows.iter().filter_map(|row| row.get(&key.id).and_then(Value::as_str));
            self.known.extend(keys.map(|value| (id.clone(), value.to_owned())));
        }
        Ok(())
    }

    /// Accepts what a list names: a line for each kind of finding, or `*` for all, and a pattern of
    /// URLs, or of whatever its first column has, in which `*` stands for anything. Empty lines and
    /// those that begin with `#` are comments.
    ///
    /// # Errors
    /// A line names no kind, or has no pattern.
    pub fn add_list(&mut self, text: &str) -> Result<(), AcceptedError> {
        for (place, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |why: String| AcceptedError::Line { line: place + 1, why };
            let (kind, pattern) = line.split_once(char::is_whitespace).ok_or_else(|| {
                wrong(format!("`{line}` has no pattern: write a finding, a space and URLs, such as `{line} https://example.org/old/*`"))
            })?;
            if kind != "*" && Kind::all().all(|known| known.id != kind) {
                return Err(wrong(format!("there is no finding `{kind}`; `dragline report --help` lists them")));
            }
            self.ignored.push((kind.to_owned(), pattern.trim().to_owned()));
        }
        Ok(())
    }

    /// Returns the statements that make temporary tables of what is accepted.
    pub(super) fn tables(&self) -> String {
        let ignored: Vec<(&str, String)> =
            self.ignored.iter().map(|(kind, pattern)| (kind.as_str(), glob(pattern))).collect();
        let table = |name: &str, columns: [&str; 2], rows: Value| {
            let [kind, value] = columns;
            let json = rows.to_string().replace('\'', "''");
            format!(
                "CREATE TEMP TABLE {name} AS SELECT value ->> 0 AS {kind}, value ->> 1 AS {value} FROM json_each('{json}');"
            )
        };
        table("known", ["kind", "value"], serde_json::json!(self.known))
            + "CREATE INDEX temp.known_value ON known (value, kind);"
            + &table("ignored", ["kind", "pattern"], serde_json::json!(ignored))
    }

    /// Returns the condition of rows of this kind that are not accepted; `None` if none are.
    pub(super) fn exclude(&self, kind: &Kind) -> Option<String> {
        let (id, key) = (kind.id, kind.key());
        (!self.is_empty()).then(|| {
            format!(
                "NOT EXISTS (SELECT 1 FROM temp.known k WHERE k.value = {key} AND k.kind = '{id}')
                 AND NOT EXISTS (SELECT 1 FROM temp.ignored i WHERE i.kind IN ('{id}', '*') AND {key} GLOB i.pattern)"
            )
        })
    }
}

/// Returns a pattern for `GLOB`, in which only `*` means more than itself.
fn glob(pattern: &str) -> String {
    pattern.replace('[', "[[]").replace('?', "[?]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_or_its_mistake_has_a_place() {
        let mut accepted = AcceptedFindings::default();
        accepted.add_list("# known\n\nbroken https://a.example/old/*\n  *   https://a.example/?q=[1]  \n").unwrap();
        let pair = |kind: &str, pattern: &str| (kind.to_owned(), pattern.to_owned());
        let expected = [pair("broken", "https://a.example/old/*"), pair("*", "https://a.example/?q=[1]")];
        assert_eq!(accepted.ignored, expected);
        assert_eq!(glob(&accepted.ignored[1].1), "https://a.example/[?]q=[[]1]");
        for (text, expected, why) in [
            ("broken", "line 1: `broken` has no pattern", "a kind alone"),
            ("\nbrokn https://a.example/", "line 2: there is no finding `brokn`", "no such kind"),
        ] {
            let error = accepted.add_list(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{why}: {error}");
        }
    }

    #[test]
    fn a_baseline_is_a_report_with_all_rows() {
        let report = |rows_all: u64| {
            format!(
                r#"{{"findings": [{{"id": "thin", "columns": [{{"id": "url"}}, {{"id": "words"}}],
                    "rows": [{{"url": "https://a.example/it's", "words": 3}}], "rows_all": {rows_all}}}]}}"#
            )
        };
        let mut accepted = AcceptedFindings::default();
        accepted.add_report(&report(1)).unwrap();
        assert_eq!(accepted.known, [("thin".to_owned(), "https://a.example/it's".to_owned())]);
        for (text, expected, why) in [
            (report(2), "it has only the first 1 of 2 rows of `thin`", "cut"),
            ("[]".to_owned(), "it is no report in JSON", "something else"),
        ] {
            let error = accepted.add_report(&text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{why}: {error}");
        }
    }
}
