//! `dragline history`: every visit of a URL.

use std::io::{self, Write};

use dragline_domain::capture::CrawlType;
use dragline_ports::reader::{LogRow, Reader};
use serde::Serialize;

use crate::args::{CrawlSource, Format, HistoryArgs};
use crate::crawl_handle::{self, CrawlHandle};
use crate::definition_source::parse_url;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::export::Rows;
use crate::terminal::{Align, Colour, Console, count, table, unless_closed};
use crate::url_visits;

/// A visit, or the decision not to visit. The field names are those of JSON lines and of CSV.
#[derive(Clone, Debug, Serialize)]
struct Visit {
    iteration: u32,
    at: String,
    crawl_type: String,
    outcome: i16,
    outcome_name: String,
    status: Option<u16>,
    body_bytes: Option<u64>,
    detail: Option<String>,
    change: Option<String>,
    changed_parts: Option<String>,
    r#final: bool,
    object: Option<String>,
    offset: Option<u64>,
    length: Option<u64>,
}

impl From<LogRow> for Visit {
    fn from(row: LogRow) -> Self {
        Self {
            iteration: row.iteration,
            at: row.at,
            crawl_type: row.crawl_type,
            outcome: row.outcome,
            outcome_name: row.outcome_name,
            status: row.status,
            body_bytes: row.body_bytes,
            detail: row.detail,
            change: row.change,
            changed_parts: row.changed_parts,
            r#final: row.r#final,
            object: row.object,
            offset: row.offset,
            length: row.length,
        }
    }
}

/// Prints the visits on standard output.
///
/// # Errors
/// The URL is not valid, the crawl does not know it or cannot be read, or the visits cannot be
/// written.
pub(crate) async fn history(args: &HistoryArgs, console: &Console) -> Result<Exit, Failure> {
    // Reports a mistake in the URL before reading anything.
    parse_url(&args.url)?;
    let visits = match args.of.which()? {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => read(&found, &args.url, console).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => read(&crate::stack::find(crawl, stack).await?, &args.url, console).await,
    }?;
    print(&visits, args.format).map_err(while_writing)?;
    Ok(Exit::Done)
}

async fn read(found: &CrawlHandle<impl Reader>, url: &str, console: &Console) -> Result<Vec<Visit>, Failure> {
    if let Some(pruned) = found.newest_pruned().await? {
        console.say(&format!(
            "iterations up to {pruned} were pruned; of their visits, those are left that something refers to"
        ));
    }
    let url = url_visits::resolve_url(found, url).await?;
    Ok(url_visits::read_visits(found, &url).await?.into_iter().map(Visit::from).collect())
}

fn print(visits: &[Visit], format: Option<Format>) -> io::Result<()> {
    let Some(format) = format else {
        let text = text(visits, Colour::for_stream(&io::stdout()));
        return unless_closed(writeln!(io::stdout().lock(), "{text}"));
    };
    // There is at least one visit, so its fields are the header.
    let mut rows = Rows::new(format, Vec::new());
    for visit in visits {
        if rows.write(visit).is_break() {
            break;
        }
    }
    rows.finish()
}

/// Returns the visits as a table, without a final line break.
fn text(visits: &[Visit], colour: Colour) -> String {
    let heads = [
        ("iteration", Align::Right),
        ("when", Align::Left),
        ("outcome", Align::Left),
        ("status", Align::Right),
        ("bytes", Align::Right),
        ("final", Align::Left),
        ("changed", Align::Left),
        ("WARC object", Align::Left),
        ("offset", Align::Right),
        ("length", Align::Right),
        ("detail", Align::Left),
    ];
    let number = |number: Option<u64>| number.as_ref().map_or_else(String::new, ToString::to_string);
    let cells = |visit: &Visit| {
        [
            visit.iteration.to_string(),
            visit.at.clone(),
            format!("{} ({})", visit.outcome_name, visit.outcome),
            number(visit.status.map(u64::from)),
            visit.body_bytes.map_or_else(String::new, count),
            finality(visit).to_owned(),
            change(visit),
            visit.object.clone().unwrap_or_default(),
            number(visit.offset),
            number(visit.length),
            visit.detail.clone().unwrap_or_default(),
        ]
    };
    table(heads, &visits.iter().map(cells).collect::<Vec<_>>(), colour)
}

/// Returns whether a visit was the last one in its iteration, or not a visit.
fn finality(visit: &Visit) -> &'static str {
    match (visit.r#final, &visit.crawl_type) {
        (true, _) => "yes",
        (false, crawl_type) if crawl_type == CrawlType::Reparse.name() => "not visited",
        (false, _) => "retried",
    }
}

/// Returns how a visit changed the page, and in which parts.
fn change(visit: &Visit) -> String {
    let parts =
        visit.changed_parts.as_ref().map_or_else(String::new, |parts| format!(": {}", parts.replace(',', ", ")));
    visit.change.as_ref().map_or_else(String::new, |change| format!("{change}{parts}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_visit_has_a_line() {
        let answered = Visit {
            iteration: 1,
            at: "2026-03-01T12:00:00.500Z".to_owned(),
            crawl_type: "queued".to_owned(),
            outcome: 20,
            outcome_name: "file_ingested".to_owned(),
            status: Some(200),
            body_bytes: Some(12_345),
            detail: None,
            change: Some("changed".to_owned()),
            changed_parts: Some("title,text".to_owned()),
            r#final: true,
            object: Some("raw/docs/1/https,example.org/1-0-ff.warc.gz".to_owned()),
            offset: Some(1_024),
            length: Some(4_096),
        };
        let failed = Visit {
            iteration: 12,
            at: "2026-03-02T12:00:00.500Z".to_owned(),
            crawl_type: "recrawl".to_owned(),
            outcome: 100,
            outcome_name: "connection_failed".to_owned(),
            status: None,
            body_bytes: None,
            detail: Some("timed out: \u{1b}[2J".to_owned()),
            change: None,
            changed_parts: None,
            r#final: false,
            object: None,
            offset: None,
            length: None,
        };
        let remade = Visit {
            at: "2026-03-03T12:00:00.500Z".to_owned(),
            crawl_type: "reparse".to_owned(),
            outcome: 20,
            outcome_name: "file_ingested".to_owned(),
            detail: None,
            change: None,
            changed_parts: None,
            object: None,
            ..failed.clone()
        };
        insta::assert_snapshot!(text(&[answered, failed, remade], Colour::Off), @r"
        iteration  when                      outcome                  status   bytes  final        changed               WARC object                                  offset  length  detail
                1  2026-03-01T12:00:00.500Z  file_ingested (20)          200  12,345  yes          changed: title, text  raw/docs/1/https,example.org/1-0-ff.warc.gz    1024    4096
               12  2026-03-02T12:00:00.500Z  connection_failed (100)                  retried                                                                                         timed out: \u{1b}[2J
               12  2026-03-03T12:00:00.500Z  file_ingested (20)                       not visited
        ");
    }
}
