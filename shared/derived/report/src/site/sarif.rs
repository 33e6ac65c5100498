//! The findings of a report as SARIF 2.1.0 (OASIS), which code hosts show beside the code: a rule
//! for each kind of finding, and a result for each row.

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::shape::{Cell, Finding, Report, Shade, Unit};

/// Returns the findings of a report as SARIF.
#[must_use]
pub fn sarif(report: &Report) -> String {
    let rules: Vec<Value> = report.findings.iter().map(rule).collect();
    let results: Vec<Value> =
        report.findings.iter().enumerate().flat_map(|(place, finding)| results(place, finding)).collect();
    let (name, version) = report.program.split_once(' ').unwrap_or((&report.program, ""));
    let sarif = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": name, "version": version, "rules": rules } },
            "automationDetails": { "id": format!("{}/", report.crawl) },
            "results": results,
        }],
    });
    format!("{sarif}\n")
}

fn rule(finding: &Finding) -> Value {
    json!({
        "id": finding.id,
        "shortDescription": { "text": finding.title },
        "fullDescription": { "text": finding.about },
        "defaultConfiguration": { "level": level(finding.severity) },
        "properties": { "tags": [finding.group] },
    })
}

const fn level(severity: Shade) -> &'static str {
    match severity {
        Shade::Error => "error",
        Shade::Warning => "warning",
        Shade::Notice | Shade::Good | Shade::Neutral => "note",
    }
}

fn results(rule: usize, finding: &Finding) -> impl Iterator<Item = Value> {
    finding.table.rows.iter().map(move |row| {
        let columns = finding.table.columns;
        let cells = columns.iter().zip(row).skip(1);
        let told: Vec<String> = cells
            .map(|(column, cell)| (column.title, cell.shown(column.unit, quote, ", ")))
            .filter(|(_, value)| !value.is_empty())
            .map(|(title, value)| format!("{title}: {value}"))
            .collect();
        let first = columns.first().zip(row.first()).map(|(column, cell)| cell.shown(column.unit, quote, ", "));
        let first = first.unwrap_or_default();
        let text = format!("{}: {first}. {}", finding.title, told.join("; "));
        let place = columns.iter().zip(row).find_map(|(column, cell)| url(column.unit, cell));
        json!({
            "ruleId": finding.id,
            "ruleIndex": rule,
            "level": level(finding.severity),
            "message": { "text": text.trim_end() },
            "locations": place.map(|url| json!({ "physicalLocation": { "artifactLocation": { "uri": url } } })).into_iter().collect::<Vec<_>>(),
            "partialFingerprints": { "finding/v1": HEXLOWER.encode(&Sha256::digest(format!("{} {first}", finding.id))) },
        })
    })
}

/// Returns a text of a page without its links: `[words](URL)` would be one in a message
/// (section 3.11.6).
fn quote(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

/// Returns the first URL of a value; `None` if it has none.
fn url(unit: Unit, cell: &Cell) -> Option<&str> {
    match (unit, cell) {
        (Unit::Url, Cell::Text(url)) => Some(url),
        (Unit::Urls, Cell::Texts(urls)) => urls.first().map(String::as_str),
        _ => None,
    }
}
