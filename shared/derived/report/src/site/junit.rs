//! The findings of a report as JUnit's XML, which CI systems show as tests: a test for each kind of
//! finding, which fails if there are any that are errors or warnings.

use std::fmt::Write as _;

use super::shape::{Cell, Column, Finding, Report, Shade};

/// The number of rows in the text of a failure. CI systems show it as a whole.
const ROWS_SHOWN: usize = 100;

/// Returns the findings of a report as JUnit's XML.
#[must_use]
pub fn junit(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(report, &mut text);
    text
}

fn write(report: &Report, out: &mut String) -> std::fmt::Result {
    let (tests, failures) = (report.findings.len(), report.findings.iter().filter(|finding| fails(finding)).count());
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites tests=\"{tests}\" failures=\"{failures}\">")?;
    writeln!(
        out,
        "<testsuite name=\"{}\" timestamp=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\">",
        escape(&report.crawl),
        escape(&report.made_at),
    )?;
    for finding in &report.findings {
        let (group, title) = (escape(finding.group), escape(finding.title));
        write!(out, "<testcase classname=\"{group}\" name=\"{title}\"")?;
        if finding.count == 0 {
            writeln!(out, "/>")?;
            continue;
        }
        writeln!(out, ">")?;
        let message = format!("{} {}: {}", finding.count, finding.of, finding.about);
        if fails(finding) {
            writeln!(out, "<failure type=\"{}\" message=\"{}\">", finding.id, escape(&message))?;
            out.push_str(&escape(&lines(finding)));
            writeln!(out, "</failure>")?;
        } else {
            writeln!(out, "<system-out>{}</system-out>", escape(&format!("{message}\n{}", lines(finding))))?;
        }
        writeln!(out, "</testcase>")?;
    }
    writeln!(out, "</testsuite>\n</testsuites>")
}

const fn fails(finding: &Finding) -> bool {
    finding.count > 0 && matches!(finding.severity, Shade::Error | Shade::Warning)
}

/// Returns a line for each of the first rows.
fn lines(finding: &Finding) -> String {
    let rows = finding.table.rows.iter().take(ROWS_SHOWN);
    let mut lines: Vec<String> = rows
        .map(|row| {
            let shown = |(column, cell): (&Column, &Cell)| cell.shown(column.unit, str::to_owned, " ");
            let cells = finding.table.columns.iter().zip(row).map(shown);
            cells.filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("  ")
        })
        .collect();
    let more = finding.count - lines.len() as u64;
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines.join("\n")
}

/// Returns a text as it may be in XML: controls, which it may not have, are shown as U+FFFD.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ if c.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_replaced() {
        for (text, expected) in [
            ("a<b>&\"c\"", "a&lt;b&gt;&amp;&quot;c&quot;"),
            ("\u{1b}[31m\0", "\u{fffd}[31m\u{fffd}"),
            ("two\nlines\u{ffff}", "two\nlines\u{fffd}"),
        ] {
            assert_eq!(escape(text), expected);
        }
    }
}
