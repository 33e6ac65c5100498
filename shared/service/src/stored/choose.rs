//! Chooses the visit whose body is printed.

use dragline_domain::ids::Iteration;
use dragline_domain::url::CrawlUrl;
use dragline_ports::reader::{LogRow, RecordPlace};

use super::error::StoredError;

/// An answered visit, and the location of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'v> {
    /// The visit.
    pub visit: &'v LogRow,
    /// Where its record is.
    pub record: &'v RecordPlace,
}

impl<'v> Answer<'v> {
    /// Returns the visit's answer; `None` if nothing of it was stored.
    fn from_visit(visit: &'v LogRow) -> Option<Self> {
        Some(Self { visit, record: visit.record.as_ref()? })
    }
}

/// The answer to print, and its context.
#[derive(Debug)]
pub struct ChosenAnswer<'v> {
    /// The answer. If its body was unchanged, an earlier answer has it.
    pub answer: Answer<'v>,
    /// The earlier answers, the newest first.
    pub earlier: Vec<Answer<'v>>,
    /// The last of the requested visits, if it was not answered.
    pub unanswered: Option<&'v LogRow>,
}

/// Which visits are wanted.
#[derive(Debug)]
pub struct VisitQuery {
    /// The URL.
    pub url: CrawlUrl,
    /// The iteration; `None` for all.
    pub iteration: Option<Iteration>,
}

impl VisitQuery {
    fn includes(&self, visit: &LogRow) -> bool {
        self.iteration.is_none_or(|iteration| visit.iteration == iteration.number())
    }
}

/// Chooses the newest answer to a URL, or the newest in one iteration. `visits` are in their order.
///
/// # Errors
/// There is none.
pub fn choose<'v>(visits: &'v [LogRow], wanted: &VisitQuery) -> Result<ChosenAnswer<'v>, StoredError> {
    let url = &wanted.url;
    let Some(last) = visits.iter().rposition(|visit| wanted.includes(visit)) else {
        let iteration = wanted.iteration.unwrap_or(Iteration::FIRST);
        return Err(StoredError::NotVisited { url: url.clone(), iteration });
    };
    let mut answers = visits[..=last].iter().rev().filter_map(Answer::from_visit);
    match answers.next().filter(|answer| wanted.includes(answer.visit)) {
        Some(answer) => {
            let unanswered = Some(&visits[last]).filter(|visit| visit.record.is_none());
            Ok(ChosenAnswer { answer, earlier: answers.collect(), unanswered })
        }
        None => {
            let outcome = describe_outcome(&visits[last]);
            Err(StoredError::NotAnswered { url: url.clone(), iteration: wanted.iteration, outcome })
        }
    }
}

/// Describes the outcome of a visit.
#[must_use]
pub fn describe_outcome(visit: &LogRow) -> String {
    let detail = visit.detail.as_deref().map_or_else(String::new, |detail| format!(": {detail}"));
    format!("{}{detail}", visit.outcome.name())
}

#[cfg(test)]
mod tests {
    use dragline_domain::outcome::Outcome;
    use dragline_domain::url::UrlRules;

    use super::*;
    use crate::stored::samples::visit;

    fn answered(iteration: u32, offset: u64) -> LogRow {
        let object = "raw/o".to_owned().try_into().unwrap();
        let record = Some(RecordPlace { object, offset, length: 1 });
        LogRow { record, ..visit(iteration, Outcome::FileIngested) }
    }

    fn failed(iteration: u32) -> LogRow {
        LogRow { detail: Some("timed out".to_owned()), ..visit(iteration, Outcome::ConnectionFailed) }
    }

    #[test]
    fn the_newest_answer_is_chosen_or_the_newest_of_an_iteration() {
        let url = CrawlUrl::parse("https://example.org/", &UrlRules::default()).unwrap();
        let visits = [failed(1), answered(2, 1), answered(2, 2), answered(3, 3), failed(3), failed(4)];
        let nothing = "was not answered in iteration";
        for (visits, wanted, expected, why) in [
            (&visits[..], None, Ok((3, 2, true)), "later visits were not answered"),
            (&visits[..4], None, Ok((3, 2, false)), "the last one was"),
            (&visits, Some(2), Ok((2, 1, false)), "the last of its tries"),
            (&visits, Some(3), Ok((3, 2, true)), "an earlier try was answered"),
            (&visits, Some(1), Err(nothing), "it failed"),
            (&visits, Some(4), Err(nothing), "it failed; an earlier iteration does not count"),
            (&visits, Some(5), Err("was not visited in iteration 5"), "it was not due"),
            (&visits[..1], None, Err("was not answered: connection_failed: timed out"), "it always failed"),
        ] {
            let iteration = wanted.and_then(Iteration::new);
            let chosen = choose(visits, &VisitQuery { url: url.clone(), iteration });
            match (chosen, expected) {
                (Ok(chosen), expected) => {
                    let offsets: Vec<_> = chosen.earlier.iter().map(|answer| answer.record.offset).collect();
                    assert!(offsets.is_sorted_by(|a, b| a > b), "{why}: the newest first: {offsets:?}");
                    let found = (chosen.answer.record.offset, offsets.len(), chosen.unanswered.is_some());
                    assert_eq!(Ok(found), expected, "{why}");
                }
                (Err(error), Err(expected)) => {
                    assert!(error.to_string().contains(expected), "{why}: {error:?}");
                }
                (Err(error), Ok(_)) => panic!("{why}: {error:?}"),
            }
        }
    }
}
