//! `dragline history`: every visit of a URL.

use std::io::{self, Write};

use dragline_domain::capture::CrawlType;
use dragline_domain::change::VisitChange;
use dragline_ports::reader::Reader;
use dragline_ports::row::Row as _;
use dragline_report::visits::Visit;

use crate::args::{CrawlSource, Format, HistoryArgs};
use crate::crawl_handle::{self, CrawlHandle};
use crate::definition_source::parse_url;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::export::Rows;
use crate::terminal::{Align, Colour, Console, Width, count, table, unless_closed};
use crate::url_visits;

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
    print(visits, args.format()).map_err(while_writing)?;
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

fn print(visits: Vec<Visit>, format: Option<Format>) -> io::Result<()> {
    let Some(format) = format else {
        let stdout = io::stdout();
        let text = text(&visits, (Width::for_stream(&stdout), Colour::for_stream(&stdout)));
        return unless_closed(writeln!(io::stdout().lock(), "{text}"));
    };
    let mut rows = Rows::new(format, &Visit::columns());
    let _ = visits.into_iter().try_for_each(|visit| rows.write(visit));
    rows.finish()
}

/// Returns the visits as a table, without a final line break.
fn text(visits: &[Visit], form: (Width, Colour)) -> String {
    let heads = [
        ("iteration", Align::Right),
        ("when", Align::Whole),
        ("outcome", Align::Whole),
        ("status", Align::Right),
        ("bytes", Align::Right),
        ("final", Align::Whole),
        ("changed", Align::Left),
        ("WARC object", Align::Path),
        ("offset", Align::Right),
        ("length", Align::Right),
        ("detail", Align::Left),
    ];
    let number = |number: Option<u64>| number.as_ref().map_or_else(String::new, ToString::to_string);
    let cells = |visit: &Visit| {
        let record = visit.record.as_ref();
        [
            visit.iteration.to_string(),
            format!("{:.3}", visit.at),
            format!("{} ({})", visit.outcome.name(), visit.outcome.code()),
            number(visit.status.map(u64::from)),
            visit.body_bytes.map_or_else(String::new, count),
            finality(visit).to_owned(),
            change(visit),
            record.map_or_else(String::new, |record| record.object.to_string()),
            number(record.map(|record| record.offset)),
            number(record.map(|record| record.length)),
            visit.detail.clone().unwrap_or_default(),
        ]
    };
    table(heads, &visits.iter().map(cells).collect::<Vec<_>>(), form)
}

/// Returns whether a visit was the last one in its iteration, or not a visit.
fn finality(visit: &Visit) -> &'static str {
    match (visit.r#final, visit.crawl_type) {
        (true, _) => "yes",
        (false, CrawlType::Reparse) => "not visited",
        (false, _) => "retried",
    }
}

/// Returns how a visit changed the page, and in which parts.
fn change(visit: &Visit) -> String {
    let Some(VisitChange { kind, parts }) = &visit.change else { return String::new() };
    let parts: Vec<_> = parts.iter().map(|part| part.name()).collect();
    format!("{}{}{}", kind.name(), if parts.is_empty() { "" } else { ": " }, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use dragline_domain::change::{ChangeKind, Part};
    use dragline_domain::outcome::Outcome;
    use dragline_ports::reader::RecordPlace;

    use super::*;

    #[test]
    fn each_visit_has_a_line() {
        let answered = Visit {
            iteration: 1,
            at: "2026-03-01T12:00:00.500Z".parse().unwrap(),
            crawl_type: CrawlType::Queued,
            outcome: Outcome::FileIngested,
            status: Some(200),
            body_bytes: Some(12_345),
            detail: None,
            change: Some(VisitChange { kind: ChangeKind::Changed, parts: vec![Part::Title, Part::Text] }),
            r#final: true,
            record: Some(RecordPlace {
                object: "raw/docs/1/https,example.org/1-0-ff.warc.gz".to_owned().try_into().unwrap(),
                offset: 1_024,
                length: 4_096,
            }),
        };
        let failed = Visit {
            iteration: 12,
            at: "2026-03-02T12:00:00.500Z".parse().unwrap(),
            crawl_type: CrawlType::Recrawl,
            outcome: Outcome::ConnectionFailed,
            status: None,
            body_bytes: None,
            detail: Some("timed out: \u{1b}[2J".to_owned()),
            change: None,
            r#final: false,
            record: None,
        };
        let remade = Visit {
            at: "2026-03-03T12:00:00.500Z".parse().unwrap(),
            crawl_type: CrawlType::Reparse,
            outcome: Outcome::FileIngested,
            detail: None,
            ..failed.clone()
        };
        let visits = [answered, failed, remade];
        insta::assert_snapshot!(text(&visits, (Width::Unlimited, Colour::Off)), @r"
        iteration  when                      outcome                  status   bytes  final        changed               WARC object                                  offset  length  detail
                1  2026-03-01T12:00:00.500Z  file_ingested (20)          200  12,345  yes          changed: title, text  raw/docs/1/https,example.org/1-0-ff.warc.gz    1024    4096
               12  2026-03-02T12:00:00.500Z  connection_failed (100)                  retried                                                                                         timed out: \u{1b}[2J
               12  2026-03-03T12:00:00.500Z  file_ingested (20)                       not visited
        ");
    }
}
