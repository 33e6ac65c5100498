//! The streams of a reader behind one type, so that what holds for all of them is tested once.

use dragline_domain::ids::Iteration;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_ports::reader::{Batch, Cursor, Filter, Reader, Rest};

use super::super::lag::until;

/// More batches than any stream of the story takes, however small they are.
const BATCHES_MAX: usize = 200;

/// A stream of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Pages,
    Links,
    SeenPages,
    SeenLinks,
    Log,
    Candidates,
    Documents,
    ShownDocuments,
    Leftovers,
    Segments,
}

/// A row of any stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AnyRow {
    /// `None` for a URL that has no outcome yet.
    iteration: Option<Iteration>,
    origin: Origin,
    /// `None` for a row that belongs to an origin.
    url: Option<CrawlUrl>,
    /// The whole row.
    shown: String,
}

impl AnyRow {
    fn new(iteration: impl Into<Option<u32>>, url: &str, shown: String) -> Self {
        let url = CrawlUrl::try_from(url.to_owned()).expect("a URL");
        let iteration = iteration.into().map(|number| Iteration::new(number).expect("a number of an iteration"));
        Self { iteration, origin: url.origin(), url: Some(url), shown }
    }

    /// Whether a filter matches it.
    pub(super) fn is_wanted(&self, filter: &Filter) -> bool {
        let of_url = |wanted: &CrawlUrl| match &self.url {
            Some(url) => url == wanted,
            None => self.origin == wanted.origin(),
        };
        filter.iteration.is_none_or(|wanted| self.iteration == Some(wanted))
            && filter.origin.as_ref().is_none_or(|wanted| self.origin == *wanted)
            && filter.url.as_ref().is_none_or(of_url)
    }
}

impl Stream {
    pub(super) const ALL: [Self; 10] = [
        Self::Pages,
        Self::Links,
        Self::SeenPages,
        Self::SeenLinks,
        Self::Log,
        Self::Candidates,
        Self::Documents,
        Self::ShownDocuments,
        Self::Leftovers,
        Self::Segments,
    ];

    /// Whether its rows stay as they were once their iteration is closed: the others show what is
    /// known now.
    pub(super) const fn stays(self) -> bool {
        !matches!(self, Self::Pages | Self::Links | Self::Candidates | Self::ShownDocuments)
    }

    /// How many rows it has once the whole story is put.
    pub(super) const fn rows(self) -> usize {
        match self {
            Self::Pages => 8,
            Self::Links => 9,
            Self::SeenLinks => 10,
            Self::SeenPages => 14,
            Self::Log => 17,
            Self::Candidates => 20,
            Self::Documents => 16,
            Self::ShownDocuments => 7,
            Self::Leftovers => 4,
            Self::Segments => 5,
        }
    }

    /// How many of them belong to the first iteration, or ended last in it.
    pub(super) const fn rows_of_first(self) -> usize {
        match self {
            Self::Pages => 7,
            Self::Candidates => 8,
            Self::Links | Self::SeenLinks => 9,
            Self::SeenPages => 10,
            Self::Documents => 11,
            Self::ShownDocuments => 6,
            Self::Log => 12,
            Self::Leftovers => 3,
            Self::Segments => 4,
        }
    }

    /// How many more it has once more is put.
    pub(super) const fn more_rows(self) -> usize {
        match self {
            Self::Candidates => 2,
            _ => 1,
        }
    }

    /// The batch after a cursor.
    pub(super) async fn batch(
        self,
        reader: &impl Reader,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Batch<AnyRow> {
        macro_rules! read {
            ($stream:ident, $row:ident => ($iteration:expr, $url:expr)) => {{
                let Batch { rows, cursor, rest } = reader.$stream(filter, after, limit).await.unwrap();
                let rows = rows.into_iter().map(|$row| AnyRow::new($iteration, &$url, format!("{:?}", $row)));
                Batch { rows: rows.collect(), cursor, rest }
            }};
        }
        match self {
            Self::Pages => read!(pages, row => (row.iteration, row.url)),
            Self::Links => read!(links, row => (row.iteration, row.from_url)),
            Self::SeenPages => read!(seen_pages, row => (row.iteration, row.url)),
            Self::SeenLinks => read!(seen_links, row => (row.iteration, row.from_url)),
            Self::Log => read!(log, row => (row.iteration, row.url)),
            Self::Candidates => read!(candidates, row => (row.last_iteration, row.url)),
            Self::Documents => read!(documents, row => (row.iteration.number(), row.document.url.to_string())),
            Self::ShownDocuments => {
                read!(shown_documents, row => (row.iteration.number(), row.document.url.to_string()))
            }
            Self::Leftovers => {
                let Batch { rows, cursor, rest } = reader.leftovers(filter, after, limit).await.unwrap();
                let rows = rows.into_iter().map(|row| {
                    let (shown, iteration) = (format!("{row:?}"), Some(row.iteration));
                    AnyRow { iteration, origin: row.origin, url: None, shown }
                });
                Batch { rows: rows.collect(), cursor, rest }
            }
            Self::Segments => {
                let Batch { rows, cursor, rest } = reader.segments(filter, after, limit).await.unwrap();
                let rows = rows.into_iter().map(|row| {
                    let (shown, iteration) = (format!("{row:?}"), Some(row.iteration));
                    AnyRow { iteration, origin: row.origin, url: None, shown }
                });
                Batch { rows: rows.collect(), cursor, rest }
            }
        }
    }

    /// All rows after a cursor, batch by batch, and the cursor at the end.
    pub(super) async fn behind(
        self,
        reader: &impl Reader,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> (Vec<AnyRow>, Option<Cursor>) {
        let (mut all, mut after) = (Vec::new(), after.cloned());
        for _ in 0..BATCHES_MAX {
            let Batch { rows, cursor, rest } = self.batch(reader, filter, after.as_ref(), limit).await;
            all.extend(rows);
            if rest == Rest::Nothing {
                return (all, cursor);
            }
            assert!(cursor.is_some(), "{self:?}: if there is more, there is a cursor");
            after = cursor;
        }
        panic!("{self:?}: it does not end in batches of {limit}");
    }

    /// All rows that a filter matches, in large batches.
    pub(super) async fn all(self, reader: &impl Reader, filter: &Filter) -> Vec<AnyRow> {
        self.behind(reader, filter, None, 1_000).await.0
    }

    /// All rows, once there are this many: reads may lag behind what was put.
    pub(super) async fn all_of(self, reader: &impl Reader, rows: usize) -> Vec<AnyRow> {
        let all = until(async || self.all(reader, &Filter::default()).await, |all| all.len() >= rows).await;
        assert_eq!(all.len(), rows, "{self:?}: {all:#?}");
        all
    }
}
