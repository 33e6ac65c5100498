//! Readers with one defect each.

use dragline_domain::document::{Disposition, DocumentState};
use dragline_domain::frontier::{IterationRow, LeftoverReason};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Progress;
use dragline_ports::reader::{
    Batch, CandidateRow, Cursor, DocumentRow, Filter, LeftoverRow, LinkRow, LogRow, PageRow, Reader, Rest, SeenPageRow,
    StoredSegment,
};

use super::{Mutant, mutants};
use ReaderMutation as M;

/// A row that a defect can spoil.
trait Spoilt: Clone {
    /// Spoils the row, given the pages as they are now. Returns whether it is kept.
    fn spoil(&mut self, mutation: Option<M>, shown: &[PageRow]) -> bool;
}

/// Empties a field of a row, which is kept.
fn lose<T: Default>(field: &mut T) -> bool {
    *field = T::default();
    true
}

/// Defines the mutants of a reader: those of whole streams; those of single rows, with what is done
/// with the row and whether it is kept; and those of its operations.
macro_rules! mutants_of_streams {
    (
        streams { $(- $of_streams:ident: $of_streams_defect:literal;)* }
        rows { $($kind:ident($row:ident, $shown:ident) {
            $(also $again:ident => $more:expr;)*
            $(- $mutant:ident: $defect:literal => $spoilt:expr;)*
        })* }
        operations { $($operations:tt)* }
    ) => {
        mutants! {
            /// What is wrong with a reader.
            ReaderMutation + {
                $($of_streams: $of_streams_defect;)*
                $($($mutant: $defect;)*)*
            },
            $($operations)*
        }

        $(impl Spoilt for $kind {
            fn spoil(&mut self, mutation: Option<M>, $shown: &[PageRow]) -> bool {
                let $row = self;
                match mutation {
                    $(Some(M::$again) => $more,)*
                    $(Some(M::$mutant) => $spoilt,)*
                    _ => true,
                }
            }
        })*
    };
}

/// Says that a page ended so. The row is kept.
const fn decide(row: &mut SeenPageRow, outcome: Outcome) -> bool {
    row.outcome = outcome;
    true
}

/// More rows than the suite's crawl has.
const ALL_ROWS: usize = 10_000;

/// The cursor at the end under [`M::EndIsFinal`].
const END: &str = "end";

impl<R: Reader> Mutant<R, M> {
    fn is(&self, mutation: M) -> bool {
        self.mutation == Some(mutation)
    }

    /// The filter to use in place of this one.
    async fn filter(&self, filter: &Filter, after: Option<&Cursor>) -> PortResult<Filter> {
        let mut filter = filter.clone();
        match self.mutation {
            Some(M::IterationIgnored) => filter.iteration = None,
            Some(M::NewestGiven) if filter.iteration.is_some() => {
                filter.iteration = self.inner.latest_iteration().await?.map(|row| row.number);
            }
            Some(M::OriginIgnored) => filter.origin = None,
            Some(M::UrlIgnored) => (filter.origin, filter.url) = (filter.origin(), None),
            Some(M::FilterForgotten) if after.is_some() => filter.iteration = None,
            _ => {}
        }
        Ok(filter)
    }

    fn spoil<T: Spoilt>(&self, mut batch: Batch<T>, shown: &[PageRow]) -> Batch<T> {
        batch.rows.retain_mut(|row| row.spoil(self.mutation, shown));
        match self.mutation {
            Some(M::LastRowLost) if batch.rest == Rest::More => _ = batch.rows.pop(),
            Some(M::RowsTwice) => batch.rows = batch.rows.into_iter().flat_map(|row| [row.clone(), row]).collect(),
            Some(M::BatchesBackwards) => batch.rows.reverse(),
            Some(M::OverTooSoon) => batch.rest = Rest::Nothing,
            Some(M::NeverOver) => batch.rest = Rest::More,
            Some(M::EndForgotten) if batch.rest == Rest::Nothing => batch.cursor = None,
            Some(M::EndIsFinal) if batch.rest == Rest::Nothing => batch.cursor = Some(Cursor::new(END)),
            _ => {}
        }
        batch
    }
}

/// The streams of the inner reader, spoiled by the defect.
macro_rules! streams {
    ($($stream:ident: $row:ty,)*) => {$(
        async fn $stream(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<$row>> {
            if self.is(M::EndIsFinal) && after.is_some_and(|after| after.as_str() == END) {
                return Ok(Batch { rows: Vec::new(), cursor: after.cloned(), rest: Rest::Nothing });
            }
            let filter = self.filter(filter, after).await?;
            let after = after.filter(|_| !self.is(M::CursorIgnored));
            let limit = if self.is(M::AllAtOnce) { ALL_ROWS } else { limit };
            let batch = self.inner.$stream(&filter, after, limit).await?;
            let shown = match self.mutation {
                Some(M::UnchangedAsNow) => self.inner.pages(&Filter::default(), None, ALL_ROWS).await?.rows,
                _ => Vec::new(),
            };
            Ok(self.spoil(batch, &shown))
        }
    )*};
}

mutants_of_streams! {
    streams {
        - AllAtOnce: "a batch ignores its limit";
        - LastRowLost: "a batch that is not the last lacks its last row";
        - RowsTwice: "a batch has each row twice";
        - BatchesBackwards: "a batch is in reverse order";
        - CursorIgnored: "a cursor is ignored";
        - OverTooSoon: "a stream ends after its first batch";
        - NeverOver: "a stream never ends";
        - EndForgotten: "at the end there is no cursor, so that reading on starts from the beginning";
        - EndIsFinal: "the cursor at the end never gets new rows";
        - FilterForgotten: "reading on from a cursor ignores the filter";
        - IterationIgnored: "rows of every iteration are returned";
        - NewestGiven: "rows of the newest iteration are returned, whichever is asked for";
        - OriginIgnored: "rows of every origin are returned";
        - UrlIgnored: "rows of every URL of the origin are returned";
    }
    rows {
        PageRow(row, _shown) {
            also TextsLost => lose(&mut row.text);
            - CheckedLost: "when pages were last checked, and when they changed, is lost"
                => lose(&mut row.last_checked) && lose(&mut row.last_changed);
            - MarkupLost: "what the markup of pages tells is lost" => lose(&mut row.markup);
            - LastEndingLost: "how pages last ended is lost"
                => lose(&mut row.last_outcome);
            - FailingLeftOut: "pages that fail are no longer shown"
                => row.last_outcome != Some(Outcome::ServerUnavailable);
            - UncheckedLeftOut: "pages that did not change are no longer shown"
                => row.last_outcome != Some(Outcome::FileDidNotChange);
        }
        SeenPageRow(row, shown) {
            - TextsLost: "pages lack their texts" => lose(&mut row.text);
            - AboutLost: "pages lack their titles, descriptions and the like"
                => lose(&mut row.description) && lose(&mut row.language) && lose(&mut row.charset);
            - CopiesBelieved: "a copy is reported as a page" => {
                row.outcome != Outcome::NotCanonical || {
                    row.text.clone_from(&row.title);
                    decide(row, Outcome::FileIngested)
                }
            };
            - CanonicalsBelieved: "any page with another canonical URL is reported as a copy, whatever that is"
                => row.canonical.is_none() || decide(row, Outcome::NotCanonical);
            - MissingLeftOut: "answers of 404 are left out of the pages" => row.outcome != Outcome::FileNotFound;
            - UnchangedLeftOut: "unchanged pages are left out" => row.outcome != Outcome::FileDidNotChange;
            - UnchangedEmptied: "unchanged pages lack what they showed" => {
                row.outcome != Outcome::FileDidNotChange || lose(&mut row.title) && lose(&mut row.text)
            };
            - UnchangedAsNow: "unchanged pages are reported with what their URLs show now" => {
                if row.outcome == Outcome::FileDidNotChange
                    && let Some(now) = shown.iter().find(|now| now.url == row.url)
                {
                    (row.title, row.text) = (now.title.clone(), now.text.clone());
                }
                true
            };
        }
        LogRow(row, _shown) {
            - DetailsLost: "the log lacks details" => lose(&mut row.detail);
            - ChangesLost: "what visits changed is lost" => lose(&mut row.change);
            - TimesLost: "the log lacks the duration of requests"
                => lose(&mut row.duration_ms) && lose(&mut row.first_byte_ms);
            - RetriesLeftOut: "visits that were tried again are left out" => row.r#final;
            - DecisionsLeftOut: "URLs that were not asked for are left out" => row.duration_ms.is_some();
        }
        LinkRow(row, _shown) {
            - RulesLost: "the rules that block links are lost" => {
                if let Disposition::Blocked(rule) = &mut row.disposition { rule.clear() }
                true
            };
            - AnchorsLost: "what links say is lost" => lose(&mut row.anchor);
            - OthersLeftOut: "links that are not followed are left out" => row.disposition == Disposition::Follow;
            - UnchangedLinksLost: "links of unchanged pages are left out: of this one, in the second iteration"
                => (row.iteration, row.from_url.as_str()) != (2, "https://b.example/");
        }
        CandidateRow(row, _shown) {
            - DueLost: "the time when a URL is due again is lost" => lose(&mut row.due_at);
            - StandingLost: "whether known URLs are shown is lost" => lose(&mut row.standing);
            - CapturesLost: "what the last capture left is lost" => lose(&mut row.etag) && lose(&mut row.decoded_sha1);
            - UnvisitedLeftOut: "URLs that were never asked for are left out" => row.last_at.is_some();
        }
        DocumentRow(row, _shown) {
            - StuckLeftOut: "documents that broke the parser are left out"
                => row.document.state != DocumentState::Stuck;
            - DocumentLinksLost: "documents lack their links" => lose(&mut row.document.links);
            - CopiesCut: "copies lack their texts" => {
                row.document.outcome != Outcome::NotCanonical
                    || row.document.page.as_mut().is_none_or(|page| lose(&mut page.text))
            };
        }
        LeftoverRow(row, _shown) {
            - LostLeftOut: "lost captures are not reported as leftovers"
                => row.reason != LeftoverReason::SegmentUnreadable;
            - RobotsErrorsLost: "the failure of robots.txt is lost" => lose(&mut row.robots_error);
        }
        StoredSegment(row, _shown) {
            - UnloggedLeftOut: "segments without a log are left out: that of this origin, whose captures are lost"
                => row.origin.as_str() != "https://e.example";
        }
    }
    operations {
        for R, |this| this.inner;
        Reader<R: Reader> {
            fn latest_iteration() -> Option<IterationRow>;
                - FirstIsNewest: "the first iteration is reported as the newest"
                    => this.inner.load_iteration(Iteration::FIRST).await;
            fn load_iteration(number: Iteration) -> Option<IterationRow>;
                - UnknownIsNewest: "an iteration that never began is reported as the newest one" => {
                    let newest = this.inner.latest_iteration().await?;
                    Ok(this.inner.load_iteration(number).await?.or(newest))
                };
            fn progress(number: Iteration) -> Progress;
                - ProgressOfNewest: "the progress of any iteration is that of the newest one" {
                    let number = this.inner.latest_iteration().await?.map_or(number, |row| row.number);
                };
            fn times_forgotten() -> u64;
            fn unvisited() -> u64;
                - VisitedCounted: "URLs that were visited count as unvisited, too"
                    => Ok(this.inner.candidates(&Filter::default(), None, ALL_ROWS).await?.rows.len() as u64);
                - UnvisitedNotCounted: "no URL counts as unvisited" => Ok(0);
            fn shown_documents(filter: &Filter, after: Option<&Cursor>, limit: usize) -> Batch<DocumentRow>;
                - HiddenDocumentsShown: "every document is reported as one of the site as it is now"
                    => this.inner.documents(filter, after, limit).await;
            .. {
                streams! {
                    pages: PageRow,
                    links: LinkRow,
                    seen_pages: SeenPageRow,
                    seen_links: LinkRow,
                    log: LogRow,
                    candidates: CandidateRow,
                    documents: DocumentRow,
                    leftovers: LeftoverRow,
                    segments: StoredSegment,
                }
            }
        }
    }
}
