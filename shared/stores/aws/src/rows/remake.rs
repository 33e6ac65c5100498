//! The progress of remaking a crawl's documents, as JSON, which conditions compare as a whole.

use dragline_domain::ids::CrawlId;
use dragline_domain::remake::{Recount, RemakeState};
use serde::{Deserialize, Serialize};

use super::{fields, keys, row};
use crate::dynamo::{Expression, Fields, Item, Role, Write, json};
use crate::errors::StoreError;

const RECORD: &str = "record";
const INTENT: &str = "intent";

/// The intent to replace a segment's documents. It is written before anything else, as a repetition
/// finds documents that are replaced already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Intent {
    /// The progress with this segment.
    pub(crate) state: RemakeState,
    /// The changes to the counters of the segment's iteration.
    pub(crate) recount: Recount,
}

/// The row as it was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemakeRow {
    /// The progress; `None` if no job is running, or only another program can read it.
    pub(crate) state: Option<RemakeState>,
    /// The current intent.
    pub(crate) intent: Option<Intent>,
    item: Option<Item>,
}

impl RemakeRow {
    pub(crate) fn read(item: Option<Item>) -> Result<Self, StoreError> {
        let Some(item) = item else { return Ok(Self::default()) };
        let fields = fields(&item)?;
        // Another program's job is not continued.
        let state = serde_json::from_str(fields.text(RECORD)?).ok();
        let intent = fields.maybe(INTENT, Fields::text)?.and_then(|intent| serde_json::from_str(intent).ok());
        Ok(Self { state, intent, item: Some(item) })
    }

    /// Replaces it, if it is as it was read.
    pub(crate) fn put(
        &self,
        crawl: &CrawlId,
        state: &RemakeState,
        intent: Option<&Intent>,
    ) -> Result<Write, StoreError> {
        let key = keys::remake(crawl);
        let intent = intent.map(|intent| Ok::<_, StoreError>((INTENT, json(intent)?))).transpose()?;
        let item = row(&key, [(RECORD, json(state)?)].into_iter().chain(intent));
        Ok(Write::put(Role::Other, &key, item).when(self.as_read()))
    }

    /// Deletes it, if it is as it was read.
    pub(crate) fn delete(&self, crawl: &CrawlId) -> Write {
        Write::delete(Role::Other, &keys::remake(crawl), 0).when(self.as_read())
    }

    fn as_read(&self) -> Expression {
        let Some(item) = &self.item else { return Expression::new("attribute_not_exists(#sk)") };
        let is = |name: &str| match item.get(name) {
            Some(value) => {
                Expression::new(format!("#{name} = :was_{name}")).with(&format!(":was_{name}"), value.clone())
            }
            None => Expression::new(format!("attribute_not_exists(#{name})")),
        };
        is(RECORD).and(is(INTENT))
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::Selection;
    use dragline_domain::remake::RemakeJob;

    use super::*;
    use crate::dynamo::text;

    #[test]
    fn another_programs_job_is_not_continued_but_compared() {
        let crawl: CrawlId = "docs".parse().unwrap();
        let state = RemakeState::begin(RemakeJob { version: 1, program: "0.1".to_owned(), selection: Selection::All });
        let item = |record: &str| row(&keys::remake(&crawl), [(RECORD, text(record))]);
        let known = serde_json::to_string(&state).unwrap();
        for (record, expected, why) in [(known.as_str(), Some(&state), "our own"), ("{}", None, "of another program")] {
            let read = RemakeRow::read(Some(item(record))).unwrap();
            assert_eq!(read.state.as_ref(), expected, "{why}");
            assert_eq!(read.as_read().text(), "(#record = :was_record) AND (attribute_not_exists(#intent))", "{why}");
        }
        assert_eq!(RemakeRow::read(None).unwrap().as_read().text(), "attribute_not_exists(#sk)", "nobody is at it");
    }
}
