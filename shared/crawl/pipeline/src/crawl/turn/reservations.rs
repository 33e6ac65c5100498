//! What a site says of the use of its pages before they are requested: in its robots.txt, and in
//! `/.well-known/tdmrep.json`, which a turn reads once an iteration if the purpose of the crawl is
//! one that it may reserve.

use dragline_domain::frontier::ReadAs;
use dragline_domain::outcome::Outcome;
use dragline_domain::use_preferences::{Purpose, TdmAnswer, TdmFile, UseStatement, add_statements, decide, for_visit};
use dragline_formats::use_preferences::{TDM_PATH, tdm_statement};

use super::TurnWork;
use crate::World;
use crate::context::CrawlContext;
use crate::crawl::paced::{FetchEnd, PacedRequests};
use crate::crawl::planner::Work;
use crate::crawl::robots::Robots;
use crate::crawl::tdm_file::fetch_tdm_file;
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::Fetcher;

/// How often a file that cannot be read is requested in a turn, before it counts as unreadable for
/// the rest of the iteration.
const TRIES_MAX: u32 = 3;

impl<W: World, H: Fetcher + 'static> TurnWork<W, H> {
    /// Whether to read the origin's file before its next page.
    pub(super) fn must_read_reservations(&self) -> bool {
        self.context.definition.purpose.is_some_and(Purpose::is_mining)
            && self.task.requests()
            && !self.context.only_checks(&self.origin.origin)
            && matches!(self.robots, Robots::Known(_) | Robots::NotNeeded)
            && self.reservations().is_none()
    }

    /// Returns what the file said in this iteration; `None` if it was not read.
    fn reservations(&self) -> Option<&TdmAnswer> {
        let file = self.lease.tdm.as_deref().filter(|file| file.iteration == self.lease.iteration)?;
        Some(&file.answer)
    }

    /// Reads the file, and keeps what it says with the origin's lease.
    pub(super) async fn read_reservations(&mut self) -> PortResult<()> {
        let Some(answer) = self.ask_for_reservations().await? else { return Ok(()) };
        tracing::info!(origin = %self.origin, ?answer, "asked what is reserved");
        self.lease.tdm = Some(Box::new(TdmFile { iteration: self.lease.iteration, answer }));
        Ok(())
    }

    /// Returns the conclusion from the answer; `None` if a redirect leads to a host that others are
    /// using, so that the turn ends.
    async fn ask_for_reservations(&mut self) -> PortResult<Option<TdmAnswer>> {
        if let Robots::Known(policy) = &self.robots {
            let verdict = policy.verdict(TDM_PATH);
            if !verdict.is_allowed() && !self.context.definition.ignores_robots(&self.origin.origin) {
                return Ok(Some(TdmAnswer::Unreadable(verdict.to_string())));
            }
        }
        let mut tries = 0;
        loop {
            tries += 1;
            let waiter = self.waiter();
            let hosts_per_domain = self.context.definition.politeness.hosts_per_domain;
            let (world, fetcher, latest_start) = (&*self.world, &*self.fetcher, self.latest_start());
            let paced = PacedRequests::new(world, fetcher, &self.pacer, latest_start, &waiter, hosts_per_domain);
            let answer = fetch_tdm_file(&paced, self.context.limits(), &self.origin.origin).await;
            let end = paced.take_end();
            self.segments.asides.extend(paced.into_answers());
            self.lease.pace = self.pacer.pace();
            match end {
                FetchEnd::Busy(until) => {
                    self.robots = Robots::HostBusy(until);
                    return Ok(None);
                }
                FetchEnd::Failed(error) => return Err(error),
                FetchEnd::Nobody | FetchEnd::Server => {}
            }
            let is_read = !matches!(answer, TdmAnswer::Unreadable(_));
            if is_read || tries >= TRIES_MAX || self.must_not_start().is_some() {
                return Ok(Some(answer));
            }
        }
    }

    /// Returns what the site says of the use of a URL.
    pub(super) fn said_by_site(&self, work: &Work) -> Vec<UseStatement> {
        let path = &work.entry.path_and_query;
        let mut statements = match &self.robots {
            Robots::Known(policy) => policy.uses(path),
            _ => Vec::new(),
        };
        add_statements(&mut statements, self.reservations().and_then(|answer| tdm_statement(answer, path)));
        for_visit(statements)
    }
}

/// Returns the end of a URL that must not be requested, as its site reserves the purpose of the
/// crawl, with the statement. Sitemaps and robots.txt are there for crawlers, whatever they crawl
/// for.
pub(super) fn reserved_by_site(
    context: &CrawlContext,
    said: &[UseStatement],
    work: &Work,
) -> Option<(Outcome, String)> {
    let purpose = context.definition.purpose.filter(|_| work.entry.read_as == ReadAs::Typed)?;
    let statement = decide(purpose, said).reserved_by()?;
    Some((Outcome::UseReserved, statement.to_string()))
}
