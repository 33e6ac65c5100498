//! An origin's robots.txt over time.

use std::time::Duration;

use super::page::Arrival;
use super::{Answer, Response, Trouble};

/// What robots.txt answers, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsPlan {
    /// What goes wrong with the first requests; `None` if nothing does.
    pub trouble: Option<Trouble>,
    /// Its versions over time; the first holds from the beginning. Never empty.
    pub phases: Vec<RobotsPhase>,
}

/// A version of robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsPhase {
    /// From when on it holds, counted from the beginning of the web.
    pub from: Duration,
    /// Its content.
    pub txt: RobotsTxt,
}

/// The content of a robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsTxt {
    /// There is no robots.txt.
    Missing,
    /// This text.
    Text(String),
}

impl RobotsPlan {
    /// The version at a time, counted from the beginning of the web.
    #[must_use]
    pub fn at(&self, age: Duration) -> &RobotsTxt {
        let phase = self.phases.iter().rev().find(|phase| phase.from <= age).or(self.phases.first());
        phase.map_or(&RobotsTxt::Missing, |phase| &phase.txt)
    }

    pub(super) fn answer(&self, age: Duration, arrival: &Arrival) -> Option<Answer> {
        let good = match self.at(age) {
            RobotsTxt::Missing => Response::new(404, "none"),
            RobotsTxt::Text(text) => Response::new(200, text.clone()).with("content-type", "text/plain"),
        };
        match self.trouble.filter(|trouble| arrival.earlier < trouble.requests) {
            None => Some(Answer::Response(good)),
            Some(trouble) => trouble.kind.answer(good, arrival.now),
        }
    }
}
