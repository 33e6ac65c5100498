//! Why rows cannot be exported as requested.

use std::collections::BTreeSet;

use dragline_domain::shown::one_line;
use dragline_sink::parquet::ParquetError;

use crate::args::ExportFormat;
use crate::error::Failure;

/// The longest type name in a message, in characters.
const NAME_CHARS_MAX: usize = 80;

/// The maximum number of types in a hint.
const TYPES_NAMED_MAX: usize = 20;

/// The maximum number of suggested types.
const TYPES_NEAR_MAX: usize = 3;

/// Returns the error for rows that a format does not fit.
pub(super) fn format(what: &str, format: ExportFormat) -> Failure {
    Failure::new(format!("{what} cannot be written as {format}"))
        .with_hint("leave out `--format`: JSON lines hold everything")
}

/// Returns the error for a table of items of several types, which have no columns in common.
/// `types` are the existing types, or some of them.
pub(super) fn no_type(types: &BTreeSet<String>) -> Failure {
    Failure::new("a table of items is of one type: add `--type`").with_hint(there_are(types))
}

/// Returns the error for a type that no stored item has or had. `types` are the existing types, or
/// some of them.
pub(super) fn unknown_type(wanted: &str, types: &BTreeSet<String>) -> Failure {
    let near = similar_types(wanted, types).map(|near| format!("did you mean {near}?"));
    Failure::new(format!("no item has the type `{}`", one_line(wanted, NAME_CHARS_MAX)))
        .with_hint(near.unwrap_or_else(|| there_are(types)))
}

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Self {
        Self::new(format!("the Parquet file cannot be written: {error}")).of_output(&error)
    }
}

fn there_are(types: &BTreeSet<String>) -> String {
    if types.is_empty() {
        return "this crawl has no items so far".to_owned();
    }
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
            assert_eq!(unknown_type(wanted, types).hints, [hint], "{why}");
        }
        assert_eq!(unknown_type("Pro\u{1b}duct", &types(&[])).message, "no item has the type `Pro\\u{1b}duct`");
    }
}
