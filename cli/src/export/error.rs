//! Why rows cannot be exported as requested.

use std::collections::BTreeSet;

use dragline_domain::shown::one_line;

use super::sorted::TempFileError;
use crate::args::ExportFormat;

/// The longest type name in a message, in characters.
const NAME_CHARS_MAX: usize = 80;

/// The maximum number of types in a hint.
const TYPES_NAMED_MAX: usize = 20;

/// The maximum number of suggested types.
const TYPES_NEAR_MAX: usize = 3;

/// Why rows cannot be exported as requested.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportError {
    /// Items of several types were requested, which have no columns in common.
    #[error("a table of items is of one type: add `--type`")]
    NoType {
        /// The existing types, or some of them.
        types: BTreeSet<String>,
    },
    /// No stored item has or had this type.
    #[error("no item has the type `{}`", one_line(wanted, NAME_CHARS_MAX))]
    UnknownType {
        /// The requested type.
        wanted: String,
        /// The existing types, or some of them.
        types: BTreeSet<String>,
    },
    /// The format does not fit the rows.
    #[error("{what} cannot be written as {format}")]
    Format {
        /// The kind of the rows.
        what: &'static str,
        format: ExportFormat,
    },
    /// A graph was requested of an iteration; graphs show the current site.
    #[error("a graph is of the site as it is now: leave out `--iteration`")]
    GraphOfIteration,
    /// The rows have no such column.
    #[error("the rows have no column `{name}`")]
    NoColumn {
        /// The requested column.
        name: String,
        /// The existing columns.
        columns: Vec<String>,
    },
    /// Columns were selected for documents or a graph, which have none.
    #[error("`--columns` is for pages, links, log, candidates, items and feeds as rows")]
    ColumnsOfOthers,
    /// `--raw` was given for a format other than CSV.
    #[error("only CSV is changed without `--raw`: leave it out, or add `--format csv`")]
    RawOfOthers,
    /// A type was selected for rows other than items.
    #[error("only items have a type: leave out `--type`, or add `--what items`")]
    TypeOfOthers,
    /// A terminal cannot show the format.
    #[error("a Parquet file is not text, which a terminal could not show")]
    NotText,
    /// The rows cannot be sorted.
    #[error("the rows cannot be sorted in a temporary file: {0}")]
    Unsorted(#[source] TempFileError),
    /// The Parquet file cannot be written.
    #[error("the Parquet file cannot be written: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
}

impl ExportError {
    /// Returns a hint on how to fix it; `None` if the message is enough.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::NoType { types } if types.is_empty() => Some("this crawl has no items so far".to_owned()),
            Self::NoType { types } => Some(there_are(types)),
            Self::UnknownType { types, .. } if types.is_empty() => Some("this crawl has no items so far".to_owned()),
            Self::UnknownType { wanted, types } => Some(
                similar_types(wanted, types).map_or_else(|| there_are(types), |near| format!("did you mean {near}?")),
            ),
            Self::Format { .. } => Some("leave out `--format`: JSON lines hold everything".to_owned()),
            Self::NotText => Some("write it to a file: add `> FILE`".to_owned()),
            Self::NoColumn { columns, .. } => Some(format!("there are: {}", columns.join(", "))),
            Self::GraphOfIteration
            | Self::ColumnsOfOthers
            | Self::RawOfOthers
            | Self::TypeOfOthers
            | Self::Parquet(_) => None,
            Self::Unsorted(_) => Some("SQLITE_TMPDIR names the directory for such files".to_owned()),
        }
    }
}

fn there_are(types: &BTreeSet<String>) -> String {
    let named: Vec<String> = types.iter().take(TYPES_NAMED_MAX).map(|name| one_line(name, NAME_CHARS_MAX)).collect();
    format!("there are: {}", named.join(", "))
}

/// Returns the types with similar names, the nearest first; `None` if there are none.
fn similar_types(wanted: &str, types: &BTreeSet<String>) -> Option<String> {
    let plain = |name: &str| name.chars().take(NAME_CHARS_MAX).collect::<String>().to_lowercase();
    let of_wanted = plain(wanted);
    let mut near: Vec<(usize, &String)> = types
        .iter()
        .map(|name| (strsim::osa_distance(&of_wanted, &plain(name)), name))
        .filter(|(distance, name)| *distance <= name.chars().count().div_ceil(3).min(3))
        .collect();
    near.sort();
    let named: Vec<String> =
        near.iter().take(TYPES_NEAR_MAX).map(|(_, name)| format!("`{}`", one_line(name, NAME_CHARS_MAX))).collect();
    (!named.is_empty()).then(|| named.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_type_is_reported_with_similar_ones() {
        let types = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let of_shop = types(&["BreadcrumbList", "Product", "ProductGroup", "https://vocabulary.example/Chair"]);
        for (wanted, types, hint, why) in [
            ("Produkt", &of_shop, "did you mean `Product`?", "a letter differs"),
            ("product", &of_shop, "did you mean `Product`?", "the case does"),
            ("Prodct", &of_shop, "did you mean `Product`?", "a letter is missing"),
            (
                "Recipe",
                &of_shop,
                "there are: BreadcrumbList, Product, ProductGroup, https://vocabulary.example/Chair",
                "none is like it",
            ),
            ("Product", &types(&[]), "this crawl has no items so far", "there is nothing to suggest"),
            ("Evnt", &types(&["Event", "Evens"]), "did you mean `Event` or `Evens`?", "several are"),
        ] {
            let error = ExportError::UnknownType { wanted: wanted.to_owned(), types: types.clone() };
            assert_eq!(error.hint().as_deref(), Some(hint), "{why}");
        }
        let error = ExportError::UnknownType { wanted: "Pro\u{1b}duct".to_owned(), types: types(&[]) };
        assert_eq!(error.to_string(), "no item has the type `Pro\\u{1b}duct`");
    }
}
