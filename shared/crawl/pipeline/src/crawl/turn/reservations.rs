//! What a site says of the use of its pages before they are requested: in its robots.txt, in the
//! licence that this names, and in `/.well-known/tdmrep.json`. A turn reads these two files once an
//! iteration if the purpose of the crawl is one of which they can speak.

use dragline_domain::frontier::ReadAs;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use dragline_domain::use_preferences::{
    FileAnswer, Purpose, RslFile, TdmAnswer, TdmFile, UseStatement, add_statements, decide, for_visit,
};
use dragline_formats::robots::Licence;
use dragline_formats::use_preferences::{
    RSL_FILE_BYTES_MAX, TDM_FILE_BYTES_MAX, TDM_PATH, apply_licence, read_rsl_file, read_tdm_file, tdm_statement,
};

use super::TurnWork;
use crate::World;
use crate::context::CrawlContext;
use crate::crawl::paced::{FetchEnd, PacedRequests};
use crate::crawl::planner::Work;
use crate::crawl::robots::Robots;
use crate::crawl::use_file::{fetch_use_file, forbidden};
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::Fetchers;

/// How often a file that cannot be read is requested in a turn, before it counts as unreadable for
/// the rest of the iteration.
const TRIES_MAX: u32 = 3;

impl<W: World, S: Fetchers> TurnWork<W, S> {
    /// Whether to read one of the files before the origin's next page.
    pub(super) fn must_read_reservations(&self) -> bool {
        self.must_read_tdm() || self.licence_to_read().is_some()
    }

    /// Whether the origin is one of whose pages it matters what is reserved, for purposes like
    /// these.
    fn may_be_reserved(&self, concerns: impl Fn(Purpose) -> bool) -> bool {
        self.context.definition.purpose.is_some_and(concerns)
            && self.task.requests()
            && !self.context.only_checks(&self.origin.origin)
    }

    fn must_read_tdm(&self) -> bool {
        self.may_be_reserved(Purpose::is_mining)
            && matches!(self.robots, Robots::Known(_) | Robots::NotNeeded)
            && self.tdm().is_none()
    }

    /// Returns the URL of the licence that is read before the origin's next page; `None` if there
    /// is none, or it was read.
    fn licence_to_read(&self) -> Option<CrawlUrl> {
        let (_, url) = self.licence().filter(|_| self.may_be_reserved(Purpose::is_licensed))?;
        self.rsl(&url).is_none().then_some(url)
    }

    /// Returns the licence that robots.txt names, with the URL of its file.
    fn licence(&self) -> Option<(&Licence, CrawlUrl)> {
        let Robots::Known(policy) = &self.robots else { return None };
        policy.licence_within_site(&self.origin.origin)
    }

    /// Returns what `tdmrep.json` said in this iteration; `None` if it was not read.
    fn tdm(&self) -> Option<&TdmAnswer> {
        let file = self.lease.tdm.as_deref().filter(|file| file.iteration == self.lease.iteration)?;
        Some(&file.answer)
    }

    /// Returns the licence at this URL, as it was in this iteration; `None` if it was not read.
    fn rsl(&self, url: &CrawlUrl) -> Option<&RslFile> {
        let is_current = |file: &&RslFile| file.iteration == self.lease.iteration && file.url == url.as_str();
        self.lease.rsl.as_deref().filter(is_current)
    }

    /// Reads one of the files, and keeps what it says with the origin's lease.
    pub(super) async fn read_reservations(&mut self) -> PortResult<()> {
        let (origin, iteration) = (self.origin.origin.clone(), self.lease.iteration);
        if self.must_read_tdm() {
            let answer = match origin.url_at(TDM_PATH) {
                Ok(url) => self.ask(&url, TDM_FILE_BYTES_MAX, read_tdm_file).await?,
                Err(error) => Some(FileAnswer::Unreadable(error.to_string())),
            };
            let Some(answer) = answer else { return Ok(()) };
            tracing::info!(origin = %self.origin, ?answer, "asked what is reserved");
            self.lease.tdm = Some(Box::new(TdmFile { iteration, answer }));
        } else if let Some(url) = self.licence_to_read() {
            let read = |body: &[u8]| read_rsl_file(body, &origin);
            let Some(answer) = self.ask(&url, RSL_FILE_BYTES_MAX, read).await? else { return Ok(()) };
            tracing::info!(origin = %self.origin, %url, ?answer, "asked for the licence");
            self.lease.rsl = Some(Box::new(RslFile { iteration, url: url.as_str().to_owned(), answer }));
        }
        Ok(())
    }

    /// Asks for a file of up to this size, and returns the conclusion from the answer; `None` if
    /// that is at a host that others are using, so that the turn ends.
    async fn ask<R>(
        &mut self,
        url: &CrawlUrl,
        bytes_max: usize,
        read: impl Fn(&[u8]) -> FileAnswer<R>,
    ) -> PortResult<Option<FileAnswer<R>>> {
        if let Robots::Known(policy) = &self.robots
            && let Some(why) = forbidden(policy, &self.origin.origin, url)
            && !self.context.definition.ignores_robots(&self.origin.origin)
        {
            return Ok(Some(FileAnswer::Unreadable(why)));
        }
        let mut tries = 0;
        loop {
            tries += 1;
            let waiter = self.waiter();
            let hosts_per_domain = self.context.definition.politeness.hosts_per_domain;
            let (world, fetcher, latest_start) = (&self.world, &*self.fetcher, self.latest_start());
            let paced = PacedRequests::new(world, fetcher, &self.pacer, latest_start, &waiter, hosts_per_domain);
            let answer = fetch_use_file(&paced, self.context.limits(), url, bytes_max, &read).await;
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
            let is_read = !matches!(answer, FileAnswer::Unreadable(_));
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
        if let Some((licence, url)) = self.licence()
            && let Some(file) = self.rsl(&url)
        {
            apply_licence(&mut statements, licence, &file.answer, path);
        }
        add_statements(&mut statements, self.tdm().and_then(|answer| tdm_statement(answer, path)));
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
