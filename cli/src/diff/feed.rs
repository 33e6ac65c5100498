//! The list as an RSS feed (RSS 2.0).

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use dragline_domain::change::ChangeKind;
use dragline_domain::ids::CrawlId;
use dragline_report::diff::{PageChange, Span};
use jiff::fmt::rfc2822;

use crate::terminal::{unless_closed, xml_text};

/// A writer of a feed.
pub(super) struct Feed<W: Write> {
    out: BufWriter<W>,
    crawl: CrawlId,
    written: io::Result<()>,
}

impl<W: Write> Feed<W> {
    /// Begins a feed. Its link is a seed of the crawl.
    pub(super) fn new(out: W, crawl: &CrawlId, link: &str, span: Span) -> Self {
        let mut feed = Self { out: BufWriter::new(out), crawl: crawl.clone(), written: Ok(()) };
        let title = xml_text(&format!("Changes of {crawl}"));
        let link = xml_text(link);
        let about = format!("What differs in iteration {} from iteration {}", span.to(), span.from());
        feed.put(&format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\">\n<channel>\n<title>{title}</title>\n<link>{link}</link>\n\
             <description>{about}</description>\n<generator>Dragline</generator>\n"
        ));
        feed
    }

    fn put(&mut self, text: &str) {
        if self.written.is_ok() {
            self.written = self.out.write_all(text.as_bytes());
        }
    }

    /// Adds an entry, and returns whether to go on.
    pub(super) fn add(&mut self, change: &PageChange) -> ControlFlow<()> {
        let entry = entry(&self.crawl, change);
        self.put(&entry);
        if self.written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Ends the feed. A closed pipe is not an error.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.put("</channel>\n</rss>\n");
        unless_closed(self.written.and_then(|()| self.out.flush()))
    }
}

fn entry(crawl: &CrawlId, change: &PageChange) -> String {
    let PageChange { url, iteration, .. } = change;
    let kind = change.change.name();
    let to = change.redirects_to.as_ref().filter(|_| change.change == ChangeKind::Moved);
    let more = match (change.change, to) {
        (ChangeKind::Gone, _) => format!(" ({})", change.outcome.name()),
        (_, Some(to)) => format!(" to {to}"),
        _ if change.changed_parts.is_empty() => String::new(),
        _ => format!(" ({})", change.changed_parts.to_string().replace(',', ", ")),
    };
    let title = xml_text(&format!("{kind}: {url}{more}"));
    // The same change always has the same id, however often the feed is written.
    let name = xml_text(&format!("{crawl}/{iteration}/{kind}/{url}"));
    let link = xml_text(url);
    let date = rfc2822::to_string(&change.at.to_zoned(jiff::tz::TimeZone::UTC));
    let date = date.map_or_else(|_| String::new(), |date| format!("<pubDate>{date}</pubDate>"));
    format!(
        "<item><title>{title}</title><link>{link}</link><guid isPermaLink=\"false\">{name}</guid>{date}<category>{kind}</category></item>\n"
    )
}
