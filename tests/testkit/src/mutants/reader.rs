//! Readers with one defect each.

use std::ops::ControlFlow;

use dragline_domain::document::DocumentState;
use dragline_domain::frontier::{IterationRow, LeftoverReason};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Progress;
use dragline_ports::reader::{
    Batch, CandidateRow, Cursor, DocumentRow, Filter, LeftoverRow, LinkRow, LogRow, PageRow, Reader, Rest, SeenPageRow,
    StoredSegment, each_row,
};

use super::mutations;
use ReaderMutation as M;

mutations! {
    /// What is wrong with a reader.
    ReaderMutation {
        /// The first iteration is reported as the newest.
        FirstIsNewest,
        /// An iteration that never began is reported as the newest one.
        UnknownIsNewest,
        /// The progress of any iteration is that of the newest one.
        ProgressOfNewest,
        /// A batch ignores its limit.
        AllAtOnce,
        /// A batch that is not the last lacks its last row.
        LastRowLost,
        /// A batch has each row twice.
        RowsTwice,
        /// A batch is in reverse order.
        BatchesBackwards,
        /// A cursor is ignored.
        CursorIgnored,
        /// A stream ends after its first batch.
        OverTooSoon,
        /// A stream never ends.
        NeverOver,
        /// At the end there is no cursor, so that reading on starts from the beginning.
        EndForgotten,
        /// The cursor at the end never gets new rows.
        EndIsFinal,
        /// Reading on from a cursor ignores the filter.
        FilterForgotten,
        /// Rows of every iteration are returned.
        IterationIgnored,
        /// Rows of the newest iteration are returned, whichever is asked for.
        NewestGiven,
        /// Rows of every origin are returned.
        OriginIgnored,
        /// Rows of every URL of the origin are returned.
        UrlIgnored,
        /// Visits that were tried again are left out.
        RetriesLeftOut,
        /// URLs that were not asked for are left out.
        DecisionsLeftOut,
        /// The log lacks details.
        DetailsLost,
        /// The log lacks the duration of requests.
        TimesLost,
        /// Answers of 404 are left out of the pages.
        MissingLeftOut,
        /// Unchanged pages are left out.
        UnchangedLeftOut,
        /// Unchanged pages lack what they showed.
        UnchangedEmptied,
        /// Unchanged pages are reported with what their URLs show now.
        UnchangedAsNow,
        /// The links of unchanged pages are left out.
        UnchangedLinksLost,
        /// Pages lack their texts.
        TextsLost,
        /// Pages lack their titles, descriptions and the like.
        AboutLost,
        /// A copy is reported as a page.
        CopiesBelieved,
        /// Any page with another canonical URL is reported as a copy, even where that URL is not a page.
        CanonicalsBelieved,
        /// When pages were last checked, and when they changed, is lost.
        CheckedLost,
        /// How pages last ended is lost.
        LastEndingLost,
        /// Pages that fail are no longer shown.
        FailingLeftOut,
        /// Pages that did not change are no longer shown.
        UncheckedLeftOut,
        /// What visits changed is lost.
        ChangesLost,
        /// Whether known URLs are shown is lost.
        StandingLost,
        /// Links that are not followed are left out.
        OthersLeftOut,
        /// The rules that block links are lost.
        RulesLost,
        /// What links say is lost.
        AnchorsLost,
        /// URLs that were never asked for are left out.
        UnvisitedLeftOut,
        /// URLs that were visited count as unvisited, too.
        VisitedCounted,
        /// No URL counts as unvisited.
        UnvisitedNotCounted,
        /// The time when a URL is due again is lost.
        DueLost,
        /// What the last capture left is lost.
        CapturesLost,
        /// Documents that broke the parser are left out.
        StuckLeftOut,
        /// Documents lack their links.
        DocumentLinksLost,
        /// Copies lack their texts.
        CopiesCut,
        /// Every document is reported as one of the site as it is now.
        HiddenDocumentsShown,
        /// Lost captures are not reported as leftovers.
        LostLeftOut,
        /// The failure of robots.txt is lost.
        RobotsErrorsLost,
        /// The leftovers of all origins are reported for one.
        OriginsMistaken,
        /// Segments without a log are left out.
        UnloggedLeftOut,
        /// Segments are reported with the object of another one.
        ObjectsMistaken,
    }
}

/// A reader with one defect.
#[derive(Debug)]
pub struct MutantReader<R> {
    inner: R,
    mutation: ReaderMutation,
}

/// The cursor at the end under [`M::EndIsFinal`].
const END: &str = "end";

impl<R: Reader> MutantReader<R> {
    /// Wraps a reader with this defect.
    #[must_use]
    pub const fn new(inner: R, mutation: ReaderMutation) -> Self {
        Self { inner, mutation }
    }

    /// The filter to use in place of this one.
    async fn filter(&self, filter: &Filter, after: Option<&Cursor>) -> PortResult<Filter> {
        let mut filter = filter.clone();
        match self.mutation {
            M::IterationIgnored => filter.iteration = None,
            M::NewestGiven if filter.iteration.is_some() => {
                filter.iteration = self.inner.latest_iteration().await?.map(|row| row.number);
            }
            M::OriginIgnored => filter.origin = None,
            M::UrlIgnored => {
                filter.origin = filter.origin();
                filter.url = None;
            }
            M::FilterForgotten if after.is_some() => filter.iteration = None,
            _ => {}
        }
        Ok(filter)
    }

    fn spoil<T: Spoilt>(&self, mut batch: Batch<T>) -> Batch<T> {
        batch.rows.retain_mut(|row| row.spoil(self.mutation));
        match self.mutation {
            M::LastRowLost if batch.rest == Rest::More => _ = batch.rows.pop(),
            M::RowsTwice => batch.rows = batch.rows.into_iter().flat_map(|row| [row.clone(), row]).collect(),
            M::BatchesBackwards => batch.rows.reverse(),
            M::OverTooSoon => batch.rest = Rest::Nothing,
            M::NeverOver => batch.rest = Rest::More,
            M::EndForgotten if batch.rest == Rest::Nothing => batch.cursor = None,
            M::EndIsFinal if batch.rest == Rest::Nothing => batch.cursor = Some(Cursor::new(END)),
            _ => {}
        }
        batch
    }
}

/// A row that a defect can spoil.
trait Spoilt: Clone {
    /// Spoils the row. Returns whether it is kept.
    fn spoil(&mut self, mutation: ReaderMutation) -> bool;

    /// Puts what its URL shows now in the place of what an unchanged page showed.
    fn become_as_now(&mut self, _shown: &[PageRow]) {}
}

impl Spoilt for PageRow {
    fn spoil(&mut self, mutation: ReaderMutation) -> bool {
        match mutation {
            M::TextsLost => self.text = None,
            M::CheckedLost => (self.last_checked, self.last_changed) = (None, None),
            M::LastEndingLost => (self.last_outcome, self.last_outcome_name) = (None, None),
            M::FailingLeftOut => return self.last_outcome != Some(Outcome::ServerUnavailable.code()),
            M::UncheckedLeftOut => return self.last_outcome != Some(Outcome::FileDidNotChange.code()),
            _ => {}
        }
        true
    }
}

impl Spoilt for SeenPageRow {
    fn spoil(&mut self, mutation: ReaderMutation) -> bool {
        match mutation {
            M::TextsLost => self.text = None,
            M::AboutLost => (self.description, self.language, self.charset) = (None, None, None),
            M::CopiesBelieved if self.outcome == Outcome::NotCanonical.code() => {
                decide(&mut self.outcome, &mut self.outcome_name, Outcome::FileIngested);
                self.text.clone_from(&self.title);
            }
            M::CanonicalsBelieved if self.canonical.is_some() => {
                decide(&mut self.outcome, &mut self.outcome_name, Outcome::NotCanonical);
            }
            M::MissingLeftOut => return self.outcome != Outcome::FileNotFound.code(),
            M::UnchangedLeftOut => return self.outcome != Outcome::FileDidNotChange.code(),
            M::UnchangedEmptied if self.outcome == Outcome::FileDidNotChange.code() => {
                (self.title, self.text) = (None, None);
            }
            _ => {}
        }
        true
    }

    fn become_as_now(&mut self, shown: &[PageRow]) {
        let now = shown.iter().find(|now| now.url == self.url && self.outcome == Outcome::FileDidNotChange.code());
        if let Some(now) = now {
            (self.title, self.text) = (now.title.clone(), now.text.clone());
        }
    }
}

impl Spoilt for LogRow {
    fn spoil(&mut self, mutation: ReaderMutation) -> bool {
        match mutation {
            M::DetailsLost => self.detail = None,
            M::ChangesLost => (self.change, self.changed_parts) = (None, None),
            M::TimesLost => (self.duration_ms, self.first_byte_ms) = (None, None),
            M::RetriesLeftOut => return self.r#final,
            M::DecisionsLeftOut => return self.duration_ms.is_some(),
            _ => {}
        }
        true
    }
}

impl Spoilt for LinkRow {
    fn spoil(&mut self, mutation: ReaderMutation) -> bool {
        match mutation {
            M::RulesLost => self.detail = None,
            M::AnchorsLost => self.anchor = None,
            M::OthersLeftOut => return self.disposition == "follow",
            // The second iteration finds it as it was.
            M::UnchangedLinksLost => return (self.iteration, self.from_url.as_str()) != (2, "https://b.example/"),
            _ => {}
        }
        true
    }
}

impl Spoilt for CandidateRow {
    fn spoil(&mut self, mutation: ReaderMutation) -> bool {
        match mutation {
            M::DueLost => self.due_at = None,
            M::StandingLost => self.standing = None,
            M::CapturesLost => (self.etag, self.decoded_sha1) = (None, None),
            M::UnvisitedLeftOut => return self.last_at.is_some(),
            _ => {}
        }
        true
    }
}

impl Spoilt for DocumentRow {
    fn spoil(&mut self, mutation: ReaderMutation) -> bool {
        let document = &mut self.document;
        match mutation {
            M::StuckLeftOut => return document.state != DocumentState::Stuck,
            M::DocumentLinksLost => document.links.clear(),
            M::CopiesCut if document.outcome == Outcome::NotCanonical => {
                document.page.iter_mut().for_each(|page| page.text.clear());
            }
            _ => {}
        }
        true
    }
}

impl Spoilt for LeftoverRow {
    fn spoil(&mut self, mutation: ReaderMutation) -> bool {
        match mutation {
            M::LostLeftOut => return self.reason != LeftoverReason::SegmentUnreadable,
            M::RobotsErrorsLost => self.robots_error = None,
            M::OriginsMistaken => self.origin = "https://a.example".parse().unwrap_or_else(|_| self.origin.clone()),
            _ => {}
        }
        true
    }
}

impl Spoilt for StoredSegment {
    fn spoil(&mut self, mutation: ReaderMutation) -> bool {
        match mutation {
            // Its captures are lost, and no log was put.
            M::UnloggedLeftOut => return self.origin.as_str() != "https://e.example",
            M::ObjectsMistaken => {
                let object = self.object.as_str().replace("b.example", "a.example");
                self.object = object.try_into().unwrap_or_else(|_| self.object.clone());
            }
            _ => {}
        }
        true
    }
}

fn decide(code: &mut i16, name: &mut String, outcome: Outcome) {
    (*code, *name) = (outcome.code(), outcome.name().to_owned());
}

/// The streams of the inner reader, spoiled by the defect.
macro_rules! streams {
    ($($stream:ident: $row:ty,)*) => {$(
        async fn $stream(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> PortResult<Batch<$row>> {
            if self.mutation == M::EndIsFinal && after.is_some_and(|after| after.as_str() == END) {
                return Ok(Batch { rows: Vec::new(), cursor: after.cloned(), rest: Rest::Nothing });
            }
            let filter = self.filter(filter, after).await?;
            let after = after.filter(|_| self.mutation != M::CursorIgnored);
            let mut batch = self.inner.$stream(&filter, after, limit).await?;
            while self.mutation == M::AllAtOnce && batch.rest == Rest::More {
                let Batch { rows, cursor, rest } = self.inner.$stream(&filter, batch.cursor.as_ref(), limit).await?;
                batch.rows.extend(rows);
                (batch.cursor, batch.rest) = (cursor, rest);
            }
            if self.mutation == M::UnchangedAsNow {
                let shown = self.inner.pages(&Filter::default(), None, 100).await?.rows;
                batch.rows.iter_mut().for_each(|row| row.become_as_now(&shown));
            }
            Ok(self.spoil(batch))
        }
    )*};
}

impl<R: Reader> Reader for MutantReader<R> {
    async fn latest_iteration(&self) -> PortResult<Option<IterationRow>> {
        let latest = self.inner.latest_iteration().await?;
        Ok(match self.mutation {
            M::FirstIsNewest => self.inner.load_iteration(Iteration::FIRST).await?,
            _ => latest,
        })
    }

    async fn load_iteration(&self, number: Iteration) -> PortResult<Option<IterationRow>> {
        match self.mutation {
            M::UnknownIsNewest => match self.inner.load_iteration(number).await? {
                None => self.inner.latest_iteration().await,
                known => Ok(known),
            },
            _ => self.inner.load_iteration(number).await,
        }
    }

    async fn progress(&self, number: Iteration) -> PortResult<Progress> {
        let newest = match self.mutation {
            M::ProgressOfNewest => self.inner.latest_iteration().await?.map(|row| row.number),
            _ => None,
        };
        self.inner.progress(newest.unwrap_or(number)).await
    }

    async fn times_forgotten(&self) -> PortResult<u64> {
        self.inner.times_forgotten().await
    }

    async fn unvisited(&self) -> PortResult<u64> {
        match self.mutation {
            M::VisitedCounted => {
                let (filter, mut known) = (&Filter::default(), 0);
                let read =
                    |after: Option<Cursor>| async move { self.inner.candidates(filter, after.as_ref(), 100).await };
                each_row(read, |_| {
                    known += 1;
                    ControlFlow::Continue(())
                })
                .await?;
                Ok(known)
            }
            M::UnvisitedNotCounted => Ok(0),
            _ => self.inner.unvisited().await,
        }
    }

    async fn shown_documents(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<DocumentRow>> {
        match self.mutation {
            M::HiddenDocumentsShown => self.inner.documents(filter, after, limit).await,
            _ => self.inner.shown_documents(filter, after, limit).await,
        }
    }

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
