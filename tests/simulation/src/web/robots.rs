//! An origin's robots.txt over time.

use std::time::Duration;

use super::page::Arrival;
use super::{Answer, Response, Trouble};

/// What robots.txt answers, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsPlan {
    /// What goes wrong with the first requests; absent: nothing.
    pub trouble: Option<Trouble>,
    /// What it is, by time, the first from the beginning on. Never empty.
    pub phases: Vec<RobotsPhase>,
}

/// What robots.txt is for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsPhase {
    /// From when on, counted from the web's beginning.
    pub from: Duration,
    /// What it is.
    pub txt: RobotsTxt,
}

/// What robots.txt is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsTxt {
    /// There is none.
    Missing,
    /// This.
    Text(String),
}

impl RobotsPlan {
    /// What holds at a time, counted from the web's beginning.
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
