//! A report as Markdown, for chats and pull requests: its figures, the number of each finding, and
//! the first examples.

use std::fmt::Write as _;

use dragline_domain::shown::{count, is_control};

use super::shape::{Cell, Figure, Finding, Report, Shade, Table, Unit};

/// The number of rows per finding.
const ROWS_SHOWN: usize = 10;

/// The longest value, in characters.
const CELL_CHARS_MAX: usize = 120;

/// Returns a report as Markdown with tables in GitHub's flavour. Text from pages is escaped, so
/// that it is only shown.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(report, &mut text);
    text
}

fn write(report: &Report, out: &mut String) -> std::fmt::Result {
    writeln!(out, "# {}, iteration {}\n", escape(&report.crawl), report.iteration)?;
    let ended = report.ended_at.as_deref().map_or("it goes on".to_owned(), |at| format!("until {at}"));
    writeln!(out, "Crawled from {} on, {ended}.\n", report.began_at)?;
    writeln!(out, "| | |\n|---|---:|")?;
    for Figure { title, value, unit, .. } in &report.figures {
        let value = if *value == Cell::Nothing { "unknown".to_owned() } else { format_cell(*unit, value) };
        writeln!(out, "| {title} | {value} |")?;
    }
    writeln!(out, "\n## Findings\n")?;
    for line in &report.not_checked {
        writeln!(out, "- {line}")?;
    }
    if !report.not_checked.is_empty() {
        writeln!(out)?;
    }
    let (found, passed): (Vec<_>, Vec<_>) = report.findings.iter().partition(|finding| finding.count > 0);
    if !found.is_empty() {
        writeln!(out, "| | How bad | How many |\n|---|---|---:|")?;
    }
    for Finding { title, severity, count: number, of, .. } in &found {
        writeln!(out, "| {title} | {} | {} {of} |", severity_name(*severity), count(*number))?;
    }
    if !passed.is_empty() {
        let names: Vec<_> = passed.iter().map(|finding| finding.title).collect();
        writeln!(out, "\nNot found: {}.", names.join("; "))?;
    }
    for finding in found {
        writeln!(out, "\n### {}\n\n{}\n", finding.title, finding.about)?;
        write_table(&finding.table, out)?;
    }
    Ok(())
}

fn write_table(table: &Table, out: &mut String) -> std::fmt::Result {
    let heads: Vec<_> = table.columns.iter().map(|column| column.title).collect();
    let marks: Vec<_> =
        table.columns.iter().map(|column| if is_number(column.unit) { "---:" } else { "---" }).collect();
    writeln!(out, "| {} |\n|{}|", heads.join(" | "), marks.join("|"))?;
    for row in table.rows.iter().take(ROWS_SHOWN) {
        let cells: Vec<_> =
            table.columns.iter().zip(row).map(|(column, cell)| format_cell(column.unit, cell)).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    let more = table.rows_all.saturating_sub(table.rows.len().min(ROWS_SHOWN) as u64);
    if more > 0 {
        writeln!(out, "\nAnd {} more.", count(more))?;
    }
    Ok(())
}

const fn is_number(unit: Unit) -> bool {
    matches!(unit, Unit::Count | Unit::Number | Unit::Bytes | Unit::Ms | Unit::PerSecond)
}

const fn severity_name(severity: Shade) -> &'static str {
    match severity {
        Shade::Error => "error",
        Shade::Warning => "warning",
        Shade::Notice | Shade::Good | Shade::Neutral => "notice",
    }
}

fn format_cell(unit: Unit, cell: &Cell) -> String {
    cell.shown(unit, escape, "<br>")
}

/// Escapes characters that Markdown, HTML or a terminal would act on. URLs remain plain text, which
/// nobody follows by accident.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for (place, c) in text.chars().enumerate() {
        if place == CELL_CHARS_MAX {
            out.push('…');
            break;
        }
        match c {
            c if is_control(c) => out.extend(c.escape_default()),
            // An entity is text everywhere, even where a backslash is not an escape.
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '|' | '~' | '#' | '!' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_of_pages_is_escaped() {
        for (text, expected, why) in [
            ("a | b", r"a \| b", "would begin another cell"),
            ("<img src=x>", "&lt;img src=x&gt;", "would be an element"),
            ("[x](javascript:alert)", r"\[x\]\(javascript:alert\)", "would be a link"),
            ("@everyone", "&#64;everyone", "would call people in a chat"),
            ("a\nb\u{202e}c", r"a\nb\u{202e}c", "would end the row, or turn it round"),
            ("`x` *y* __z__", r"\`x\` \*y\* \_\_z\_\_", "would be shown otherwise"),
        ] {
            assert_eq!(escape(text), expected, "{why}");
        }
        assert_eq!(escape(&"ä".repeat(500)).chars().count(), CELL_CHARS_MAX + 1, "the rest is cut");
    }
}
