//! The state of a URL in a stored crawl, and when it will be visited again.

use std::ops::ControlFlow;

use dragline_domain::address::AddressPolicy;
use dragline_domain::definition::Requisites;
use dragline_domain::frontier::{IterationRow, IterationStatus, LeftoverReason, ReadAs, SeedDistance};
use dragline_domain::ids::Iteration;
use dragline_domain::policy::Decision;
use dragline_domain::url::CrawlUrl;
use dragline_pipeline::context::CrawlContext;
use dragline_ports::reader::{CandidateRow, Cursor, Filter, LeftoverRow, LogRow, Reader, each_row};
use jiff::Timestamp;
use serde::Serialize;

use super::verdict::RuleKind;
use crate::args::NetworkArgs;
use crate::crawl_handle::CrawlHandle;
use crate::error::Failure;
use crate::terminal::{plural, safe};

/// The number of rows per read.
const BATCH_ROWS: usize = 100;

/// What a crawl knows of a URL. The field names are those of `explain --json`, below `crawl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct StoredUrl {
    name: String,
    /// The newest iteration.
    iteration: u32,
    /// Its status.
    status: &'static str,
    /// The URL's state in that iteration.
    standing: UrlState,
    /// Links from a seed; `None` if the URL is not known.
    depth: Option<u32>,
    /// The page that linked to it; `None` for a seed, or if it is not known.
    via: Option<String>,
    /// The last outcome; `None` before the first.
    last: Option<LastOutcome>,
    /// When it is due again; `None` if in every iteration, or not known.
    due_at: Option<String>,
    /// When the schedule begins the next iteration; `None` without one.
    next_iteration_at: Option<Timestamp>,
    /// The maximum number of pages per iteration; `None` without a limit.
    budget_pages: Option<u64>,
    /// Whether the newest iteration spent its budget of pages or bytes.
    budget_spent: bool,
    /// Whether Dragline may connect to private addresses.
    private_addresses: bool,
}

/// The state of a URL in the newest iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum UrlState {
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
struct LastOutcome {
    iteration: u32,
    at: String,
    outcome: i16,
    outcome_name: &'static str,
    status: Option<u16>,
    detail: Option<String>,
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
    /// Reads what a crawl knows about a URL.
    ///
    /// # Errors
    /// Nothing was crawled yet, or the crawl cannot be read.
    pub(super) async fn read(
        found: &CrawlHandle<impl Reader>,
        context: &CrawlContext,
        url: &CrawlUrl,
        network: &NetworkArgs,
    ) -> Result<Self, Failure> {
        let latest = found.iteration(None).await?;
        let reader = &found.reader;
        let failed = |error| found.read_error(error);
        let of_url = &Filter { url: Some(url.clone()), ..Filter::default() };
        let mut known: Option<CandidateRow> = None;
        let candidates = |after: Option<Cursor>| async move { reader.candidates(of_url, after.as_ref(), 1).await };
        let read = each_row(candidates, |row| {
            known = Some(row);
            ControlFlow::Break(())
        });
        read.await.map_err(failed)?;
        let mut left = Vec::new();
        let leftovers =
            |after: Option<Cursor>| async move { reader.leftovers(of_url, after.as_ref(), BATCH_ROWS).await };
        let read = each_row(leftovers, |row| {
            left.push(row);
            ControlFlow::Continue(())
        });
        read.await.map_err(failed)?;
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
            read.await.map_err(failed)?;
        }
        let budget = &context.definition.budget;
        let was_left = left.iter().any(|left| {
            left.iteration == latest.number && left.reason == LeftoverReason::BudgetExhausted && left.urls > 0
        });
        Ok(Self {
            name: found.crawl.to_string(),
            iteration: latest.number.number(),
            status: latest.status.name(),
            standing: UrlState::decide(&latest, known.as_ref(), &left),
            depth: known.as_ref().map(|known| known.depth),
            via: known.as_ref().and_then(|known| known.via.clone()),
            last,
            due_at: known.and_then(|known| known.due_at).map(|at| format!("{at:.3}")),
            next_iteration_at: None,
            budget_pages: budget.pages,
            budget_spent: latest.budget.is_spent() || was_left,
            private_addresses: network.address_policy() == AddressPolicy::AllowPrivate,
        })
    }

    /// Returns the same with the scheduled start of the next iteration.
    pub(super) fn with_next_iteration(self, next_iteration_at: Option<Timestamp>) -> Self {
        Self { next_iteration_at, ..self }
    }

    /// Returns the URL's distance from a seed, in links; `None` if it is not known.
    pub(super) const fn depth(&self) -> Option<u32> {
        self.depth
    }

    /// Returns where the rules regard the URL as found. A known URL that would not be visited as a
    /// page is a requisite.
    pub(super) fn found_at(&self, context: &CrawlContext, url: &CrawlUrl) -> SeedDistance {
        let depth = self.depth.unwrap_or(0);
        let is_page = !matches!(context.decide(url, depth, 0, ReadAs::Typed), Decision::OutOfScope(_));
        let may_be_part = self.depth.is_some() && context.definition.requisites == Requisites::Fetch;
        SeedDistance { depth, requisite_steps: u8::from(may_be_part && !is_page) }
    }

    /// Returns lines of text. The part about the next visit depends on whether a rule blocks the
    /// URL.
    pub(super) fn text(&self, blocked_by: Option<RuleKind>) -> String {
        let over = if self.status == IterationStatus::Closed.name() { "over" } else { self.status };
        let mut text = format!("in the crawl {}, whose iteration {} is {over}:\n", self.name, self.iteration);
        let mut line = |line: &str| text.extend(["  ", line, "\n"]);
        match (self.depth, &self.via) {
            (None, _) => line("it is not known: it is no seed, and no page that was read links to it"),
            (Some(_), None) => line("a seed, or listed like one"),
            (Some(depth), Some(via)) => {
                line(&format!("found {} from a seed, on {}", plural(u64::from(depth), "link"), safe(via)));
            }
        }
        if let Some(LastOutcome { iteration, at, outcome_name, status, detail, .. }) = &self.last {
            let status = status.map_or_else(String::new, |status| format!(", status {status}"));
            let detail = detail.as_deref().map_or_else(String::new, |detail| format!(": {}", safe(detail)));
            line(&format!("last ended in iteration {iteration}, at {at}: {outcome_name}{status}{detail}"));
        }
        match self.standing {
            UrlState::Unknown | UrlState::Ended => {}
            UrlState::Waits => line(&format!("it waits for its turn in iteration {}", self.iteration)),
            UrlState::LeftOver(reason) => {
                line(&format!("left over in iteration {}: {}", self.iteration, reason.words()));
            }
            UrlState::NotQueued if self.last.is_some() => {
                line(&format!("not visited in iteration {}: it was not due, or its turn did not come", self.iteration));
            }
            UrlState::NotQueued => line("never visited: no turn of it has come within the budget"),
        }
        match (self.depth, &self.due_at) {
            (None, _) => {}
            _ if blocked_by.is_some() => line("not visited again while this rule holds"),
            (Some(_), None) => line("due in every iteration"),
            (Some(_), Some(at)) => line(&format!("due again in an iteration that begins after {at}")),
        }
        if let Some(at) = self.next_iteration_at {
            line(&format!("its schedule begins the next iteration at {at}"));
        }
        if let Some(pages) = self.budget_pages {
            let spent = if self.budget_spent { "; the last one spent it" } else { "" };
            line(&format!("each iteration requests up to {}{spent}", plural(pages, "page")));
        }
        line(if self.private_addresses {
            "private addresses are allowed"
        } else {
            "private addresses are not allowed"
        });
        text
    }
}
