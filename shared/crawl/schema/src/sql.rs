//! Tables for data warehouses.

use std::fmt::Write;

use dragline_domain::item::COMMON;

use crate::{FieldLearned, Kind, Learned};

/// Returns a `CREATE TABLE` for each type of items, with the columns that `dragline export --what items --type …` writes. Types are those of ANSI SQL;
/// a column whose values are of several kinds is a text.
#[must_use]
pub fn sql(learned: &Learned) -> String {
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

fn column_type(field: &FieldLearned) -> &'static str {
    match field.only_kind() {
        Some(Kind::Bool) => "BOOLEAN",
        Some(Kind::Number) => "DOUBLE PRECISION",
        Some(Kind::Money) => "DECIMAL(18, 4)",
        // Dates may have a time or none, and an offset or none: there is no column for all.
        _ => "VARCHAR",
    }
}

/// All names are quoted: many, such as `at`, `order` and `name`, are words of some dialect.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
