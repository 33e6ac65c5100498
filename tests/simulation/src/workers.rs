//! What drives the steps: workers that receive messages and call them, as functions on AWS are called.

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::ids::CrawlId;
use dragline_local::LocalStore;
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::crawl::{StopSignal, TurnLimits, work_turn};
use dragline_pipeline::parse::{KnownUrls, parse_segment};
use dragline_pipeline::ports::clock::Clock;
use dragline_pipeline::ports::error::PortResult;
use dragline_pipeline::ports::queue::Message;
use dragline_pipeline::schedule::start;
use dragline_pipeline::sweep::{Swept, sweep};
use tokio::task::JoinHandle;

use crate::conductor::{Conductor, Worker};
use crate::mail::{Kind, Letter};
use crate::mutations::{MutatedFetcher, Mutation};
use crate::ports::{Gate, GatedFetcher, SimulatedClock};
use crate::site::{Asking, Site};
use crate::world::SimulatedWorld;

/// How often the sweeper sweeps.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// Everybody who works on a crawl.
pub(crate) const WORKERS: [Worker; 6] =
    [Worker::Crawler(1), Worker::Crawler(2), Worker::Parser(1), Worker::Parser(2), Worker::Scheduler, Worker::Sweeper];

/// What workers are made of.
#[derive(Clone)]
pub(crate) struct Workshop {
    pub(crate) conductor: Arc<Conductor>,
    pub(crate) store: LocalStore,
    pub(crate) site: Arc<Site>,
    pub(crate) crawl: CrawlId,
    pub(crate) mutation: Option<Mutation>,
}

impl Workshop {
    /// Starts a worker with an empty memory.
    pub(crate) fn start(&self, worker: Worker) -> JoinHandle<()> {
        self.conductor.started(worker);
        let world = SimulatedWorld::new(&self.conductor, worker, &self.store, self.mutation);
        let desk = Desk {
            conductor: Arc::clone(&self.conductor),
            worker,
            world: Arc::new(world),
            contexts: Contexts::default(),
        };
        match worker {
            Worker::Crawler(_) => {
                let gate = Gate { conductor: Arc::clone(&self.conductor), worker };
                let asking = Asking { site: Arc::clone(&self.site), clock: SimulatedClock(gate.clone()) };
                let inner = MutatedFetcher { inner: asking, mutation: self.mutation };
                tokio::spawn(desk.crawl(Arc::new(GatedFetcher { gate, inner })))
            }
            Worker::Parser(_) => tokio::spawn(desk.parse()),
            Worker::Scheduler => tokio::spawn(desk.schedule()),
            Worker::Sweeper => tokio::spawn(desk.sweep(self.crawl.clone())),
        }
    }
}

struct Desk {
    conductor: Arc<Conductor>,
    worker: Worker,
    world: Arc<SimulatedWorld>,
    contexts: Contexts,
}

impl Desk {
    async fn receive(&self, kind: Kind) -> Letter {
        self.conductor.receive(self.worker, kind).await
    }

    /// A message whose work failed is delivered again.
    fn close<T: std::fmt::Debug>(&self, letter: &Letter, result: &PortResult<T>) {
        match result {
            Ok(end) => self.conductor.note(format_args!("{} ends: {end:?}", self.worker)),
            Err(error) => self.conductor.note(format_args!("{} fails: {error}", self.worker)),
        }
        let is_done = result.is_ok();
        let id = letter.id;
        self.conductor.with_mail(|mail, now| if is_done { mail.done(id) } else { mail.failed(id, now) });
    }

    async fn crawl(self, fetcher: Arc<GatedFetcher<MutatedFetcher<Asking>>>) {
        loop {
            let letter = self.receive(Kind::Ticket).await;
            let Message::Ticket(ticket) = &letter.message else { continue };
            let (limits, stop) = (TurnLimits::default(), StopSignal::default());
            let end = work_turn(&self.world, &fetcher, &self.contexts, &limits, &stop, ticket).await;
            self.close(&letter, &end);
        }
    }

    /// A parser knows nothing from parse to parse: what [`KnownUrls`] remembers depends on hash keys that no seed sets.
    async fn parse(self) {
        loop {
            let letter = self.receive(Kind::Parse).await;
            let Message::Parse(message) = &letter.message else { continue };
            let end = parse_segment(&*self.world, &self.contexts, &KnownUrls::new(), message).await;
            self.close(&letter, &end);
        }
    }

    async fn schedule(self) {
        loop {
            let letter = self.receive(Kind::Start).await;
            let Message::Start(command) = &letter.message else { continue };
            let end = start(&*self.world, &self.contexts, command).await;
            self.close(&letter, &end);
        }
    }

    async fn sweep(self, crawl: CrawlId) {
        loop {
            self.world.clock().sleep(SWEEP_EVERY).await;
            match sweep(&*self.world, &crawl, self.world.clock().now()).await {
                Ok(Swept::Closed(_)) => self.conductor.iteration_closed(),
                Ok(_) => {}
                Err(error) => self.conductor.note(format_args!("sweeper fails: {error}")),
            }
        }
    }
}
