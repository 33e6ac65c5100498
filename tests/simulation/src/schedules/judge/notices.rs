//! 22: people are told of what happened, and know it again.

use std::collections::BTreeMap;

use dragline_domain::frontier::IterationBegun;
use dragline_pipeline::schedule::CommandResult;
use dragline_ports::notifier::Notice;
use jiff::Timestamp;

use super::super::watch::{Answer, Event};
use super::{Case, Origin, violation};
use crate::invariants::{Checked, Invariant, Violation};

impl Case<'_> {
    /// 22: the end of each iteration, and that a start was skipped, is told at least once, always
    /// as the same notice, and never of what did not happen. Once all is over, nothing is owed.
    pub(super) fn notices_are_kept(&self) -> Checked {
        let owed: u64 = self.database.query_row("SELECT count(*) FROM notice", [], |row| row.get(0))?;
        let owed = (owed > 0).then(|| format!("{owed} notices are still owed"));
        let mut wrong: Vec<String> = owed.into_iter().collect();
        wrong.extend(self.ends_told()?);
        wrong.extend(self.skips_told());
        Ok(wrong.into_iter().map(|what| violation(Invariant::NoticesKept, what)).collect::<Vec<Violation>>())
    }

    fn ends_told(&self) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.database.prepare(
            "SELECT c.name, i.number, i.closed_at FROM iteration i JOIN crawl c ON c.id = i.crawl_id ORDER BY 1, 2",
        )?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let rows: Vec<(String, u32, Option<String>)> = rows.collect::<rusqlite::Result<_>>()?;
        // By iteration: when it says that it was over, and since when it is owed.
        type Told = BTreeMap<(String, u32), Vec<(Option<Timestamp>, Timestamp)>>;
        let mut told = Told::new();
        for event in &self.history.events {
            if let Event::Told(notice, since) = event
                && let Notice::IterationClosed(closed) = &**notice
            {
                let key = (closed.row.crawl.to_string(), closed.row.number.number());
                told.entry(key).or_default().push((closed.row.closed_at, *since));
            }
        }
        let mut wrong = Vec::new();
        for (crawl, number, closed_at) in rows {
            let closed_at: Option<Timestamp> = closed_at.and_then(|at| at.parse().ok());
            let told = told.remove(&(crawl.clone(), number)).unwrap_or_default();
            if told.is_empty() {
                wrong.push(format!("nobody was told that iteration {number} of {crawl} is over"));
            }
            if told.iter().any(|(said, since)| *said != closed_at || Some(*since) != closed_at) {
                wrong.push(format!(
                    "iteration {number} of {crawl} was over at {closed_at:?}, but people heard {told:?}"
                ));
            }
        }
        wrong.extend(
            told.keys().map(|(crawl, number)| format!("{crawl} has no iteration {number}, whose end was told")),
        );
        Ok(wrong)
    }

    fn skips_told(&self) -> Vec<String> {
        let (mut wrong, mut told) = (Vec::new(), BTreeMap::<_, Timestamp>::new());
        for (place, crawl, trigger, since) in self.skipped() {
            let was_asked_for = match self.origin(crawl, trigger) {
                Origin::Time(due) => self.history.during(crawl, 0, place).iter().any(|sight| sight.next() == Some(due)),
                Origin::Calls(calls) => calls.iter().any(|call| call.began.1 < place),
            };
            if !was_asked_for {
                wrong.push(format!("{crawl}: people heard that {trigger} began nothing, but it was nothing"));
            }
            let first = told.entry((crawl.clone(), trigger.clone())).or_insert(since);
            if *first != since {
                wrong.push(format!("{crawl}: that {trigger} began nothing was news at {first} and again at {since}"));
            }
        }
        let unsaid = self.calls().filter(|(deed, order)| {
            let is_busy = matches!(&deed.done, Some((_, Answer::Result(result)))
                if matches!(&**result, CommandResult::Started(IterationBegun::Busy(_))));
            is_busy && !self.was_skipped(&order.crawl, &order.trigger)
        });
        let unsaid = unsaid.map(|(_, order)| format!("nobody was told that {} began nothing", order.trigger));
        wrong.extend(unsaid);
        wrong
    }
}
