//! The crawls of a data directory, one line each.

use std::path::Path;

use dragline_domain::frontier::IterationStatus;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_local::{Disk, LocalStore};
use dragline_ports::error::PortResult;
use dragline_ports::reader::Reader;
use jiff::Timestamp;
use serde::Serialize;

use super::ProcessState;
use crate::args::{crawl_flag, data_flag};
use crate::crawl_handle::cannot_query;
use crate::error::Failure;
use crate::terminal::{Align, Colour, Shade, Width, count, safe, table};

/// The crawls of a data directory. The field names are those of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct List<'a> {
    data: &'a Path,
    is_running: bool,
    crawls: Vec<ListedCrawl>,
    disk: Disk,
}

/// A crawl and its newest iteration, whose fields are all `None` before the first.
#[derive(Debug, Default, Serialize)]
struct ListedCrawl {
    crawl: CrawlId,
    iteration: Option<Iteration>,
    status: Option<IterationStatus>,
    started_at: Option<Timestamp>,
    closed_at: Option<Timestamp>,
    /// URLs that ended with an answer.
    pages: Option<u64>,
}

impl<'a> List<'a> {
    /// Reads the newest iteration of each crawl.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub(super) async fn read(data: &'a Path, crawls: Vec<CrawlId>) -> Result<Self, Failure> {
        let mut listed = Vec::new();
        for crawl in crawls {
            let reader = LocalStore::open_read_only(data)?.into_reader(crawl.clone());
            let read = ListedCrawl::read(&reader, crawl).await;
            listed.push(read.map_err(cannot_query(data))?);
        }
        Ok(Self {
            data,
            is_running: ProcessState::find(data).is_going_on(),
            crawls: listed,
            disk: super::disk(data, None)?,
        })
    }

    /// Returns the list as text, without a final line break.
    pub(super) fn text(&self, (width, colour): (Width, Colour)) -> String {
        let heads = [
            ("crawl", Align::Left),
            ("iteration", Align::Right),
            ("status", Align::Whole),
            ("pages", Align::Right),
            ("when", Align::Whole),
        ];
        let rows: Vec<_> = self.crawls.iter().map(ListedCrawl::cells).collect();
        let flags = format!("{}{}", data_flag(self.data), self.crawls.first().map_or_else(String::new, example));
        let next = colour.paint(Shade::Head, "what next");
        let running = if self.is_running { "\na crawl is running here" } else { "" };
        let list = table(heads, &rows, (width, colour));
        let disk = super::on_disk(&self.disk, colour);
        format!(
            "{list}{running}\n\n{disk}\n\n{next}\n  {}   one crawl's summary",
            safe(&format!("dragline status{flags}"))
        )
    }
}

fn example(listed: &ListedCrawl) -> String {
    crawl_flag(&listed.crawl)
}

impl ListedCrawl {
    async fn read(reader: &impl Reader, crawl: CrawlId) -> PortResult<Self> {
        let Some(latest) = reader.latest_iteration().await? else { return Ok(Self { crawl, ..Self::default() }) };
        let dragline_report::Summary { standing, figures } = dragline_report::summary(reader, latest).await?;
        Ok(Self {
            crawl,
            iteration: Some(standing.iteration),
            status: Some(standing.status),
            started_at: Some(standing.started_at),
            closed_at: standing.closed_at,
            pages: Some(figures.pages),
        })
    }

    fn cells(&self) -> [String; 5] {
        let status = match self.status {
            None => "not begun",
            Some(IterationStatus::Open) => "not finished",
            Some(IterationStatus::Paused) => "paused",
            Some(IterationStatus::Stopping) => "being ended",
            Some(IterationStatus::Closed) => "over",
        };
        let when = match (self.closed_at, self.started_at) {
            (Some(closed_at), _) => format!("until {closed_at:.0}"),
            (None, Some(started_at)) => format!("since {started_at:.0}"),
            (None, None) => String::new(),
        };
        let iteration = self.iteration.map_or_else(String::new, |number| number.to_string());
        [self.crawl.to_string(), iteration, status.to_owned(), self.pages.map_or_else(String::new, count), when]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(data: &Path) -> List<'_> {
        let crawl = |name: &str| name.parse::<CrawlId>().unwrap();
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        let begun = |name, number, status| ListedCrawl {
            crawl: crawl(name),
            iteration: Iteration::new(number),
            status: Some(status),
            started_at: at("2026-03-01T12:00:00Z"),
            closed_at: if status == IterationStatus::Closed { at("2026-03-01T12:10:00.5Z") } else { None },
            pages: Some(u64::from(number) * 999),
        };
        let crawls = vec![
            begun("docs", 2, IterationStatus::Closed),
            begun("example.org", 1, IterationStatus::Open),
            ListedCrawl { crawl: crawl("new"), ..ListedCrawl::default() },
            begun("paused", 1, IterationStatus::Paused),
            begun("stopped", 11, IterationStatus::Stopping),
        ];
        List { data, is_running: true, crawls, disk: Disk::default() }
    }

    #[test]
    fn each_crawl_has_a_line() {
        insta::assert_snapshot!(list(Path::new("my data")).text((Width::Unlimited, Colour::Off)));
        insta::assert_json_snapshot!(list(Path::new("my data")));
    }
}
