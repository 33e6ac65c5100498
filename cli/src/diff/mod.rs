//! `dragline diff`: lists the differences of two iterations as it finds them.

mod feed;
mod text;

use std::io::{self, StdoutLock};
use std::ops::ControlFlow;

use dragline_domain::change::ChangeKind;
use dragline_domain::frontier::IterationStatus;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Cursor, Filter, Reader, each_row};
use dragline_ports::row::Row;
use dragline_report::diff::{
    ItemChange, ItemChangeKind, LinkChange, LinkChangeKind, PageChange, Span, SpanError, each_item_change,
    each_link_change, each_page_change,
};

use self::feed::Feed;
use self::text::{Line, Text};
use crate::args::{CrawlSource, DiffArgs, DiffSubject, ExitRule, ListForm};
use crate::crawl_handle::{self, CrawlHandle};
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::export::Rows;
use crate::terminal::{Colour, Console};

/// The number of rows per read.
const BATCH_ROWS: usize = 500;

/// Prints the differences on standard output.
///
/// # Errors
/// There is no such crawl or iteration, it cannot be read, or the list cannot be written.
pub(crate) async fn diff(args: &DiffArgs, console: &Console) -> Result<Exit, Failure> {
    match args.of.which()? {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => show(&found, args, console).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => show(&crate::stack::find(crawl, stack).await?, args, console).await,
    }
}

async fn show(found: &CrawlHandle<impl Reader>, args: &DiffArgs, console: &Console) -> Result<Exit, Failure> {
    if args.what != DiffSubject::Pages && args.form() == ListForm::Rss {
        return Err(Failure::new("an RSS feed is of pages: leave out `--what links`"));
    }
    let span = choose(found, args).await?;
    if found.iteration(Some(span.to())).await?.status != IterationStatus::Closed {
        console.say(&format!("iteration {} is not over: this is what it found so far", span.to()));
    }
    let columns = match args.what {
        DiffSubject::Pages => PageChange::columns(),
        DiffSubject::Items => ItemChange::columns(),
        DiffSubject::Links => LinkChange::columns(),
    };
    let mut list = match args.form() {
        ListForm::Text => List::Text(Text::new(io::stdout().lock(), Colour::for_stream(&io::stdout()))),
        ListForm::Rows(format) => List::Rows(Rows::new(format, &columns)),
        ListForm::Rss => {
            let link = first_seed(&found.reader).await.map_err(|error| found.read_error(error))?;
            List::Feed(Feed::new(io::stdout().lock(), &found.crawl, &link, span))
        }
    };
    let mut totals = Totals::default();
    let told = match args.what {
        DiffSubject::Pages => {
            each_page_change(&found.reader, span, args.which(), |change| {
                totals.add_page(change.change);
                list.add(change)
            })
            .await
        }
        DiffSubject::Items => {
            each_item_change(&found.reader, span, |change| {
                totals.add_field(change.change);
                list.add(change)
            })
            .await
        }
        DiffSubject::Links => {
            each_link_change(&found.reader, span, |change| {
                totals.add_link(change.change);
                list.add(change)
            })
            .await
        }
    };
    told.map_err(|error| found.read_error(error))?;
    list.finish(span, &totals).map_err(while_writing)?;
    Ok(match args.exit_says() {
        ExitRule::WhetherDifferent if totals.has_differences() => Exit::Findings,
        ExitRule::WhetherDifferent | ExitRule::WhetherDone => Exit::Done,
    })
}

/// Returns a seed of the crawl; empty if it has none.
async fn first_seed(reader: &impl Reader) -> PortResult<String> {
    let mut seed = String::new();
    let filter = &Filter::default();
    let candidates = |after: Option<Cursor>| async move { reader.candidates(filter, after.as_ref(), BATCH_ROWS).await };
    each_row(candidates, |row| {
        if row.depth > 0 {
            return ControlFlow::Continue(());
        }
        seed = row.url;
        ControlFlow::Break(())
    })
    .await?;
    Ok(seed)
}

/// Returns the iterations to compare. Both exist.
async fn choose(found: &CrawlHandle<impl Reader>, args: &DiffArgs) -> Result<Span, Failure> {
    for given in [args.from, args.to].into_iter().flatten() {
        found.iteration(Some(given)).await?;
    }
    let mut latest = found.iteration(None).await?;
    // A reparse finds no differences.
    while !latest.task.visits()
        && let Some(before) = Iteration::new(latest.number.number() - 1)
    {
        latest = found.iteration(Some(before)).await?;
    }
    let span = Span::choose(args.from, args.to, &latest).map_err(|error| not_compared(&found.crawl, &error))?;
    // Iterations are pruned from the oldest on. Changes of pages are recorded after the earlier
    // iteration; removed links are in its documents.
    let oldest_needed = match args.what {
        DiffSubject::Pages => span.from().next(),
        DiffSubject::Items | DiffSubject::Links => span.from(),
    };
    found.whole_iteration(Some(oldest_needed)).await?;
    Ok(span)
}

fn not_compared(crawl: &CrawlId, error: &SpanError) -> Failure {
    let swapped = "give the earlier one as `--from`, and the later one as `--to`";
    let hint = matches!(error, SpanError::NotBefore { .. }).then_some(swapped);
    Failure::new(format!("the crawl `{crawl}`: {error}")).with_hints(hint)
}

/// The list, in its form.
enum List {
    Text(Text<StdoutLock<'static>>),
    Rows(Rows),
    Feed(Feed<StdoutLock<'static>>),
}

impl List {
    /// Adds an entry, and returns whether to go on.
    fn add(&mut self, entry: impl Row + Line) -> ControlFlow<()> {
        match self {
            Self::Text(text) => text.add(&entry),
            Self::Rows(rows) => rows.write(entry),
            Self::Feed(feed) => entry.page().map_or(ControlFlow::Continue(()), |page| feed.add(page)),
        }
    }

    fn finish(self, span: Span, totals: &Totals) -> io::Result<()> {
        match self {
            Self::Text(text) => text.finish(span, totals),
            Self::Rows(rows) => rows.finish(),
            Self::Feed(feed) => feed.finish(),
        }
    }
}

/// The number of entries of each kind, in the order of the report.
#[derive(Debug, Default)]
struct Totals {
    pages: [u64; ChangeKind::ALL.len()],
    links_added: u64,
    links_removed: u64,
    fields: [u64; 3],
}

impl Totals {
    fn add_page(&mut self, kind: ChangeKind) {
        for (count, of) in self.pages.iter_mut().zip(ChangeKind::ALL) {
            *count += u64::from(of == kind);
        }
    }

    const fn add_link(&mut self, kind: LinkChangeKind) {
        match kind {
            LinkChangeKind::Added => self.links_added += 1,
            LinkChangeKind::Removed => self.links_removed += 1,
        }
    }

    const fn add_field(&mut self, kind: ItemChangeKind) {
        self.fields[kind as usize] += 1;
    }

    /// Returns the kinds with entries, each with its number.
    fn counts(&self) -> impl Iterator<Item = (u64, &'static str)> {
        let pages = self.pages.into_iter().zip(ChangeKind::ALL.map(ChangeKind::words));
        let links = [LinkChangeKind::Added, LinkChangeKind::Removed].map(LinkChangeKind::name);
        let fields = [ItemChangeKind::Added, ItemChangeKind::Removed, ItemChangeKind::Changed];
        let fields = self.fields.into_iter().zip(fields.map(|kind| match kind {
            ItemChangeKind::Added => "fields added",
            ItemChangeKind::Removed => "fields removed",
            ItemChangeKind::Changed => "fields changed",
        }));
        let counts = pages.chain(fields).chain([self.links_added, self.links_removed].into_iter().zip(links));
        counts.filter(|(count, _)| *count > 0)
    }

    fn has_differences(&self) -> bool {
        self.counts().any(|(_, kind)| kind != ChangeKind::Unchanged.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_that_cannot_be_compared_are_reported() {
        let crawl = "docs".parse().unwrap();
        let swapped = SpanError::NotBefore { from: Iteration::new(3).unwrap(), to: Iteration::FIRST };
        let failures = [SpanError::NothingBefore, swapped].map(|error| not_compared(&crawl, &error));
        insta::assert_snapshot!(failures.map(|failure| failure.shown()).join("\n\n"), @r"
        error: the crawl `docs`: there is nothing to compare with iteration 1: it is the first

        error: the crawl `docs`: iteration 3 is not before iteration 1
        hint: give the earlier one as `--from`, and the later one as `--to`
        ");
    }
}
