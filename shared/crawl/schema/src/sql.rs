//! SQL tables for data warehouses.

use std::fmt::Write;

use dragline_domain::item::COMMON;

use crate::{Kind, LearnedField, LearnedSchema};

/// Returns a `CREATE TABLE` for each item type, with the columns that `dragline export --what items
/// --type …` writes. Types are those of ANSI SQL; a column whose values have several kinds is text.
#[must_use]
pub fn sql(learned: &LearnedSchema) -> String {
    let mut out = String::new();
    for (table, of_type) in learned.types() {
        let common = COMMON.into_iter().map(|name| (name, common_type(name)));
        let own = of_type.fields.iter().map(|(name, field)| (name.as_str(), column_type(field).to_owned()));
        let columns: Vec<String> = common.chain(own).map(|(name, of)| format!("  {} {of}", quoted(name))).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "CREATE TABLE {} (\n{}\n);", quoted(table), columns.join(",\n"));
    }
    out
}

fn common_type(name: &str) -> String {
    match name {
        "crawl" | "url" | "types" => "VARCHAR NOT NULL",
        "iteration" | "n" => "INTEGER NOT NULL",
        "at" => "TIMESTAMP WITH TIME ZONE",
        _ => "VARCHAR",
    }
    .to_owned()
}

fn column_type(field: &LearnedField) -> &'static str {
    match field.only_kind() {
        Some(Kind::Bool) => "BOOLEAN",
        Some(Kind::Number) => "DOUBLE PRECISION",
        Some(Kind::Money) => "DECIMAL(18, 4)",
        // Dates may or may not have a time and an offset, so no column type fits all of them.
        _ => "VARCHAR",
    }
}

/// Quotes a name. All names are quoted, as many, such as `at`, `order` and `name`, are reserved
/// words in some dialect.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
