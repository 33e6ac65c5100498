//! Readers with one defect each.

use dragline_domain::document::DocumentState;
use dragline_domain::frontier::{IterationRow, LeftoverReason};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Progress;
use dragline_ports::reader::{
    Batch, CandidateRow, Cursor, DocumentRow, Filter, LeftoverRow, LinkRow, LogRow, PageRow, Reader, Rest,
};

use super::mutations;
use ReaderMutation as M;

mutations! {
    /// What is wrong with a reader.
    ReaderMutation {
        /// The first iteration is told as the newest.
        FirstIsNewest,
        /// An iteration that never began is told to be the newest one.
        UnknownIsNewest,
        /// How far an iteration is is told of the newest one.
        ProgressOfNewest,
        /// Whatever comes is given at once, however much it is.
        AllAtOnce,
        /// A batch that is not the last lacks its last row.
        LastRowLost,
        /// A batch has each row twice.
        RowsTwice,
        /// A batch runs backwards.
        BatchesBackwards,
        /// A cursor is ignored.
        CursorIgnored,
        /// A stream is over after its first batch.
        OverTooSoon,
        /// A stream never comes to an end.
        NeverOver,
        /// At the end there is no cursor, so that whoever goes on begins anew.
        EndForgotten,
        /// Who came to the end once gets nothing any more.
        EndIsFinal,
        /// Whoever goes on from a cursor gets the rows of other filters as well.
        FilterForgotten,
        /// Rows of every iteration are given.
        IterationIgnored,
        /// Rows of the newest iteration are given, whichever is asked for.
        NewestGiven,
        /// Rows of every origin are given.
        OriginIgnored,
        /// Rows of every URL of the origin are given.
        UrlIgnored,
        /// What was tried again is left out.
        RetriesLeftOut,
        /// What was decided against is left out.
        DecisionsLeftOut,
        /// The log does not say why.
        DetailsLost,
        /// The log does not say how long a request took.
        TimesLost,
        /// What is not there is no page.
        MissingLeftOut,
        /// What did not change is no page.
        UnchangedLeftOut,
        /// Pages are without their texts.
        TextsLost,
        /// Pages are without what they say of themselves.
        AboutLost,
        /// A copy is told as a page.
        CopiesBelieved,
        /// A page that calls another canonical is told as a copy, whether or not the other is one.
        CanonicalsBelieved,
        /// Links that are not followed are left out.
        OthersLeftOut,
        /// The rules that forbid links are lost.
        RulesLost,
        /// URLs that never had their turn are left out.
        UnvisitedLeftOut,
        /// When a URL is due again is lost.
        DueLost,
        /// What the last capture left is lost.
        CapturesLost,
        /// What broke the parser is left out.
        StuckLeftOut,
        /// Documents are without their links.
        DocumentLinksLost,
        /// Copies are documents without a text.
        CopiesCut,
        /// What was lost with its captures is not left over.
        LostLeftOut,
        /// What robots.txt was met with is lost.
        RobotsErrorsLost,
        /// Leftovers of all origins are told of one.
        OriginsMistaken,
    }
}

/// A reader with one defect.
#[derive(Debug)]
pub struct MutantReader<R> {
    inner: R,
    mutation: ReaderMutation,
}

/// What a cursor says at the end where [`M::EndIsFinal`].
const END: &str = "end";

impl<R: Reader> MutantReader<R> {
    /// Spoils a reader.
    #[must_use]
    pub const fn new(inner: R, mutation: ReaderMutation) -> Self {
        Self { inner, mutation }
    }

    /// What is asked for in place of this.
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

/// A row that a defect shows in.
trait Spoilt: Clone {
    /// Spoils it; whether it is still there.
    fn spoil(&mut self, mutation: ReaderMutation) -> bool;
}

impl Spoilt for PageRow {
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
            _ => {}
        }
        true
    }
}

impl Spoilt for LogRow {
    fn spoil(&mut self, mutation: ReaderMutation) -> bool {
        match mutation {
            M::DetailsLost => self.detail = None,
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
            M::OthersLeftOut => return self.disposition == "follow",
            _ => {}
        }
        true
    }
}

impl Spoilt for CandidateRow {
    fn spoil(&mut self, mutation: ReaderMutation) -> bool {
        match mutation {
            M::DueLost => self.due_at = None,
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

fn decide(code: &mut i16, name: &mut String, outcome: Outcome) {
    (*code, *name) = (outcome.code(), outcome.name().to_owned());
}

/// Streams of the reader within, asked for and given as the defect has it.
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

    streams! {
        pages: PageRow,
        links: LinkRow,
        log: LogRow,
        candidates: CandidateRow,
        documents: DocumentRow,
        leftovers: LeftoverRow,
    }
}
