//! A small web in simulated time: generated from a seed, with its own access log and its own truth.
//!
//! [`Site::generate`] draws a site, [`Site::editions`] one that changes, [`Site::of_many_links`]
//! and [`Site::of_many_seeds`] hostile and large ones, [`Servers`] answer and keep the log,
//! [`SimulatedWeb`] is the `Fetcher` over them. The servers outlive every crash of the crawler; a
//! request whose future is dropped stays in the log as begun.

mod access;
mod answer;
mod crowds;
mod edited;
mod editions;
mod fetcher;
mod generate;
mod page;
mod robots;
mod says;
mod scripts;
mod servers;
mod site;
mod truth;
mod wanting;

pub use access::{Access, Conditions, Ended, Sender};
pub use answer::{Answer, Response};
pub use edited::{Asks, Body, Edited, Validation};
pub use fetcher::SimulatedWeb;
pub use page::{Directive, Page, PageKind, Revision, Trouble, TroubleKind, Wants};
pub use robots::{RobotsPhase, RobotsPlan, RobotsTxt};
pub use says::{Content, ContentKind, Leads, Says};
pub use scripts::{Sending, SimulatedBrowser};
pub use servers::Servers;
pub use site::{Host, Site};
pub use truth::Reach;
pub(crate) use truth::allows;
