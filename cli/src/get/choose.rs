//! Choosing the visit whose body is printed.

use dragline_domain::ids::Iteration;
use dragline_domain::url::CrawlUrl;
use dragline_ports::reader::LogRow;

use super::error::GetError;

/// A visit that was answered, and where its record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer<'v> {
    /// The visit.
    pub(super) visit: &'v LogRow,
    /// The WARC object.
    pub(super) object: &'v str,
    /// Where the record starts in it.
    pub(super) offset: u64,
    /// The record's length in bytes.
    pub(super) length: u64,
}

impl<'v> Answer<'v> {
    /// `None` if nothing was stored of the visit.
    fn from_visit(visit: &'v LogRow) -> Option<Self> {
        Some(Self { visit, object: visit.object.as_deref()?, offset: visit.offset?, length: visit.length? })
    }
}

/// The answer to print.
#[derive(Debug)]
pub(super) struct Chosen<'v> {
    /// The answer. If the body was unchanged, an earlier one has it.
    pub(super) answer: Answer<'v>,
    /// The answers before it, the newest first.
    pub(super) earlier: Vec<Answer<'v>>,
    /// The last of the wanted visits, if that was not answered.
    pub(super) unanswered: Option<&'v LogRow>,
}

/// What is wanted.
#[derive(Debug)]
pub(super) struct VisitQuery {
    /// The URL.
    pub(super) url: CrawlUrl,
    /// The iteration; `None` for all.
    pub(super) iteration: Option<Iteration>,
    /// The command that lists the visits, for hints.
    pub(super) history: String,
}

impl VisitQuery {
    fn includes(&self, visit: &LogRow) -> bool {
        self.iteration.is_none_or(|iteration| visit.iteration == iteration.number())
    }
}

/// Chooses the newest answer among a URL's visits, which are given in their order; or the newest in one iteration.
///
/// # Errors
/// There is none.
pub(super) fn choose<'v>(visits: &'v [LogRow], wanted: &VisitQuery) -> Result<Chosen<'v>, GetError> {
    let (url, history) = (wanted.url.clone(), wanted.history.clone());
    let Some(last) = visits.iter().rposition(|visit| wanted.includes(visit)) else {
        return Err(GetError::NotVisited { url, iteration: wanted.iteration.unwrap_or(Iteration::FIRST), history });
    };
    let mut answers = visits[..=last].iter().rev().filter_map(Answer::from_flag);
    match answers.next().filter(|answer| wanted.includes(answer.visit)) {
        Some(answer) => {
            let unanswered = Some(&visits[last]).filter(|visit| visit.object.is_none());
            Ok(Chosen { answer, earlier: answers.collect(), unanswered })
        }
        None => Err(GetError::NotAnswered { url, iteration: wanted.iteration, last: ending(&visits[last]), history }),
    }
}

/// Describes how a visit ended.
pub(super) fn ending(visit: &LogRow) -> String {
    let detail = visit.detail.as_deref().map_or_else(String::new, |detail| format!(": {detail}"));
    format!("{}{detail}", visit.outcome_name)
}

#[cfg(test)]
mod tests {
    use dragline_domain::outcome::Outcome;

    use super::*;
    use crate::get::samples::visit;

    fn answered(iteration: u32, offset: u64) -> LogRow {
        LogRow {
            object: Some("raw/o".to_owned()),
            offset: Some(offset),
            length: Some(1),
            ..visit(iteration, Outcome::FileIngested)
        }
    }

    fn failed(iteration: u32) -> LogRow {
        LogRow { detail: Some("timed out".to_owned()), ..visit(iteration, Outcome::ConnectionFailed) }
    }

    #[test]
    fn the_newest_answer_is_chosen_or_the_newest_of_an_iteration() {
        let url = crate::source::parse_url("https://example.org/").unwrap();
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
            let chosen = choose(visits, &VisitQuery { url: url.clone(), iteration, history: String::new() });
            match (chosen, expected) {
                (Ok(chosen), expected) => {
                    let offsets: Vec<_> = chosen.earlier.iter().map(|answer| answer.offset).collect();
                    assert!(offsets.is_sorted_by(|a, b| a > b), "{why}: the newest first: {offsets:?}");
                    let found = (chosen.answer.offset, offsets.len(), chosen.unanswered.is_some());
                    assert_eq!(Ok(found), expected, "{why}");
                }
                (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{why}: {error}"),
                (Err(error), Ok(_)) => panic!("{why}: {error}"),
            }
        }
    }
}
