//! The state of a URL in a stored crawl, and when it will be visited again.

use std::ops::ControlFlow;

use dragline_domain::address::AddressPolicy;
use dragline_domain::definition::Requisites;
use dragline_domain::frontier::{IterationRow, IterationStatus, LeftoverReason, ReadAs, SeedDistance};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::policy::Decision;
use dragline_domain::url::CrawlUrl;
use dragline_domain::use_preferences::UseStatement;
use dragline_pipeline::context::CrawlContext;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{CandidateRow, Cursor, Filter, LeftoverRow, LogRow, Reader, each_row};
use jiff::Timestamp;
use serde::Serialize;

/// The number of rows per read.
const BATCH_ROWS: usize = 100;

/// What a crawl knows of a URL. The field names are those of `explain --json`, below `crawl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredUrl {
    /// The crawl.
    pub name: String,
    /// The newest iteration.
    pub iteration: u32,
    /// Its status.
    pub status: &'static str,
    /// The URL's state in that iteration.
    pub standing: UrlState,
    /// Links from a seed; `None` if the URL is not known.
    pub depth: Option<u32>,
    /// The page that linked to it; `None` for a seed, or if it is not known.
    pub via: Option<String>,
    /// The last outcome; `None` before the first.
    pub last: Option<LastOutcome>,
    /// What its site said of its use when the content that is shown was fetched; empty if nothing.
    #[serde(rename = "use", skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<UseStatement>,
    /// When it is due again; `None` if in every iteration, or not known.
    pub due_at: Option<String>,
    /// When the schedule begins the next iteration; `None` without one.
    pub next_iteration_at: Option<Timestamp>,
    /// The maximum number of pages per iteration; `None` without a limit.
    pub budget_pages: Option<u64>,
    /// Whether the newest iteration spent its budget of pages or bytes.
    pub budget_spent: bool,
    /// Whether Dragline may connect to private addresses.
    pub private_addresses: bool,
}

/// The state of a URL in the newest iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UrlState {
    /// The crawl does not know it.
    Unknown,
    /// It was visited or rejected.
    Ended,
    /// It is waiting.
    Waits,
    /// It was left over, for this reason.
    LeftOver(LeftoverReason),
    /// It was not due, or not found within the budget.
    NotQueued,
}

/// The last outcome of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastOutcome {
    /// Its iteration.
    pub iteration: u32,
    /// When it was.
    pub at: String,
    /// Its number.
    pub outcome: i16,
    /// Its name.
    pub outcome_name: &'static str,
    /// The status of the answer; `None` without one.
    pub status: Option<u16>,
    /// More about it; `None` if the outcome says all.
    pub detail: Option<String>,
}

impl From<LogRow> for LastOutcome {
    fn from(row: LogRow) -> Self {
        let LogRow { iteration, at, outcome, status, detail, .. } = row;
        let at = format!("{at:.3}");
        Self { iteration, at, outcome: outcome.code(), outcome_name: outcome.name(), status, detail }
    }
}

impl UrlState {
    /// Derives the state from the newest iteration, the URL's candidate, and its origin's
    /// leftovers.
    fn decide(latest: &IterationRow, known: Option<&CandidateRow>, left: &[LeftoverRow]) -> Self {
        let number = latest.number.number();
        match known {
            None => Self::Unknown,
            Some(known) if known.last_iteration == Some(number) => Self::Ended,
            Some(known) if known.queued_in < number => Self::NotQueued,
            Some(_) if latest.status != IterationStatus::Closed => Self::Waits,
            Some(_) => {
                let left = left.iter().find(|left| left.iteration == latest.number && left.urls > 0);
                left.map_or(Self::NotQueued, |left| Self::LeftOver(left.reason))
            }
        }
    }
}

impl StoredUrl {
    /// Reads what a crawl knows about a URL, up to its newest iteration.
    ///
    /// # Errors
    /// The crawl cannot be read.
    pub async fn read(
        reader: &impl Reader,
        (crawl, latest): (&CrawlId, &IterationRow),
        (context, url): (&CrawlContext, &CrawlUrl),
        addresses: AddressPolicy,
    ) -> PortResult<Self> {
        let of_url = &Filter { url: Some(url.clone()), ..Filter::default() };
        let mut known: Option<CandidateRow> = None;
        let candidates = |after: Option<Cursor>| async move { reader.candidates(of_url, after.as_ref(), 1).await };
        let read = each_row(candidates, |row| {
            known = Some(row);
            ControlFlow::Break(())
        });
        read.await?;
        let mut left = Vec::new();
        let leftovers =
            |after: Option<Cursor>| async move { reader.leftovers(of_url, after.as_ref(), BATCH_ROWS).await };
        let read = each_row(leftovers, |row| {
            left.push(row);
            ControlFlow::Continue(())
        });
        read.await?;
        let last_iteration = known.as_ref().and_then(|known| known.last_iteration).and_then(Iteration::new);
        let mut last = None;
        if let Some(iteration) = last_iteration {
            let of_visit = &Filter { iteration: Some(iteration), ..of_url.clone() };
            let log = |after: Option<Cursor>| async move { reader.log(of_visit, after.as_ref(), BATCH_ROWS).await };
            let read = each_row(log, |row| {
                if row.r#final {
                    last = Some(LastOutcome::from(row));
                }
                ControlFlow::Continue(())
            });
            read.await?;
        }
        let mut uses = Vec::new();
        let shown = |after: Option<Cursor>| async move { reader.shown_documents(of_url, after.as_ref(), 1).await };
        let read = each_row(shown, |row| {
            uses = row.document.uses().to_vec();
            ControlFlow::Break(())
        });
        read.await?;
        let budget = &context.definition.budget;
        let was_left = left.iter().any(|left| {
            left.iteration == latest.number && left.reason == LeftoverReason::BudgetExhausted && left.urls > 0
        });
        Ok(Self {
            name: crawl.to_string(),
            iteration: latest.number.number(),
            status: latest.status.name(),
            standing: UrlState::decide(latest, known.as_ref(), &left),
            depth: known.as_ref().map(|known| known.depth),
            via: known.as_ref().and_then(|known| known.via.clone()),
            last,
            uses,
            due_at: known.and_then(|known| known.due_at).map(|at| format!("{at:.3}")),
            next_iteration_at: None,
            budget_pages: budget.pages,
            budget_spent: latest.budget.is_spent() || was_left,
            private_addresses: addresses == AddressPolicy::AllowPrivate,
        })
    }

    /// Returns the same with the scheduled start of the next iteration.
    #[must_use]
    pub fn with_next_iteration(self, next_iteration_at: Option<Timestamp>) -> Self {
        Self { next_iteration_at, ..self }
    }

    /// Returns where the rules regard the URL as found. A known URL that would not be visited as a
    /// page is a requisite.
    #[must_use]
    pub fn found_at(&self, context: &CrawlContext, url: &CrawlUrl) -> SeedDistance {
        let depth = self.depth.unwrap_or(0);
        let is_page = !matches!(context.decide(url, depth, 0, ReadAs::Typed), Decision::OutOfScope(_));
        let may_be_part = self.depth.is_some() && context.definition.requisites == Requisites::Fetch;
        SeedDistance { depth, requisite_steps: u8::from(may_be_part && !is_page) }
    }
}
