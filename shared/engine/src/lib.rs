//! Runs crawls in one process, over a data directory.
//!
//! [`local_world`] returns the ports of an open data directory. [`begin`](mod@begin) prepares the
//! iteration to run: a new one, or one that was interrupted. [`run`](mod@run) is the loop that runs
//! the four steps, either until one crawl's iteration is over or, as a resident process, for all
//! crawls of the directory and their schedules until it is stopped.
//!
//! ```
//! use std::sync::Arc;
//!
//! use dragline_domain::definition::Definition;
//! use dragline_domain::frontier::Task;
//! use dragline_domain::ids::TriggerId;
//! use dragline_engine::begin::{self, Abandon};
//! use dragline_engine::local_world;
//! use dragline_engine::run::{Engine, RunEnd, Until};
//! use dragline_local::LocalStore;
//! use dragline_ports::error::{PortError, PortErrorKind, PortResult};
//! use dragline_ports::fetcher::Fetchers;
//! use dragline_ports::notifier::Notifier;
//!
//! async fn crawl(
//!     store: &LocalStore,
//!     notifier: impl Notifier + 'static,
//!     fetchers: impl Fetchers + 'static,
//!     wanted: &Definition,
//! ) -> PortResult<RunEnd> {
//!     let world = Arc::new(local_world(store, notifier));
//!     let held = begin::load_crawl(&*world, &wanted.name).await?;
//!     let asked = (wanted, &Task::Crawl);
//!     let plan = begin::plan(held.as_ref(), asked, Abandon::Nothing)
//!         .map_err(|_| PortError::new(PortErrorKind::Other, "begin", &wanted.name, "the definition changed"))?;
//!     begin::carry_out(&*world, &plan, held.as_ref(), asked, TriggerId("manual".to_owned())).await?;
//!     let engine = Engine::new(Arc::clone(&world), fetchers, world.queue.clone());
//!     engine.run(Until::Closed(wanted.name.clone())).await
//! }
//! ```

mod activity;
pub mod begin;
pub mod room;
pub mod run;
mod world;

pub use activity::Activity;
pub use world::{LocalWorld, local_world};
