//! Parses: extracting a segment's links, and committing them part by part.

use std::rc::Rc;

use dragline_domain::frontier::{
    ChunkKey, Claimer, ParsePart, ParserCounters, PartCommit, PartKind, PartNotCommitted, PartRefused, RowsByOrigin,
    SegmentState, Target, TodoChunk, TodoEntry, TodoPlace, TodoSource, commit_part, plan_parts,
};

use crate::config::Cut;
use crate::model::Model;
use crate::mutation::Mutation;
use crate::site::{ORIGINS, OriginNumber, Page};
use crate::state::{Documents, SegmentKey, State, now};

/// The result of committing a part.
pub(crate) enum Part {
    /// It is committed; this one is next.
    Next(u32),
    /// The parse is committed, by this worker or another, or its iteration is closed.
    Finished,
}

/// What a parse of a segment adds to an origin.
struct Found {
    origin: OriginNumber,
    pages: Vec<Page>,
}

impl Model {
    /// Extracts a segment's links, or returns what an earlier parse extracted.
    pub(crate) fn documents(&self, state: &mut State, key: SegmentKey, own: Documents) -> Documents {
        let Some(segment) = Rc::make_mut(&mut state.segments).get_mut(&key) else { return own };
        if self.lacks(Mutation::DocumentsNotKept) {
            segment.documents = Some(own);
        }
        *segment.documents.get_or_insert(own)
    }

    /// Which part of a segment's parse is next; `None` if it is parsed.
    pub(crate) fn next_part(&self, state: &State, key: SegmentKey) -> Option<u32> {
        match state.segments.get(&key)?.row.state {
            SegmentState::Crawled { part } => Some(part),
            SegmentState::Processed => self.lacks(Mutation::ParseTwice).then_some(0),
        }
    }

    /// The segment as a claimer.
    pub(crate) fn claimer(&self, key: SegmentKey) -> Claimer {
        Claimer::segment(&self.segment_id(key))
    }

    fn found(&self, own: &[Page]) -> Vec<Found> {
        let on = |origin| own.iter().copied().filter(move |&page| self.config.site.origin_of[page] == origin);
        let found = (0..ORIGINS).map(|origin| Found { origin, pages: on(origin).collect() });
        found.filter(|found| !found.pages.is_empty()).collect()
    }

    /// The parts of a parse. `was_cut` says whether an earlier try committed some of them.
    fn parts(&self, found: &[Found], chunk: &ChunkKey, was_cut: bool) -> Vec<ParsePart> {
        let targets = found.iter().map(|Found { origin, pages }| {
            let entries = pages.iter().map(|page| entry(*page)).collect();
            Target { origin: self.keys[*origin].clone(), chunks: vec![TodoChunk { key: chunk.clone(), entries }] }
        });
        let mut targets: Vec<Target> = targets.collect();
        if was_cut && self.lacks(Mutation::PartsPlannedAnew) {
            targets.reverse();
        }
        match self.config.cut {
            Cut::ByTarget if !targets.is_empty() => {
                targets.into_iter().map(|target| ParsePart { targets: vec![target] }).collect()
            }
            Cut::ByTarget | Cut::ByLimits => plan_parts(targets),
        }
    }

    /// Commits one part of a segment's parse, which owns these pages.
    pub(crate) fn commit_part(&self, state: &mut State, key: SegmentKey, number: u32, own: &[Page]) -> Part {
        let (Some(segment), Some(row)) = (state.segments.get(&key), state.iteration(key.iteration)) else {
            return Part::Finished;
        };
        let (mut asked, row) = (segment.row.clone(), self.as_to_opening(row));
        let was_cut = matches!(asked.state, SegmentState::Crawled { part } if part > 0);
        let source = TodoSource::segment(&asked.id, asked.committed_at);
        let chunk =
            ChunkKey { iteration: key.iteration, place: TodoPlace::by_depth(segment.depth + 1), source, part: 0 };
        let found = self.found(own);
        let parts = self.parts(&found, &chunk, was_cut);
        let Some(part) = parts.get(number as usize) else { return Part::Finished };
        let is_unasked = match asked.state {
            SegmentState::Crawled { .. } => self.lacks(Mutation::PartOutOfTurn),
            SegmentState::Processed => self.lacks(Mutation::ParseTwice),
        };
        if is_unasked {
            asked.state = SegmentState::Crawled { part: number };
        }
        let is_last = number as usize + 1 == parts.len();
        let commit = PartCommit {
            number,
            kind: if is_last { PartKind::Last } else { PartKind::More },
            targets: &part.targets,
            pace: Self::add(0).pace,
            counters: &ParserCounters::default(),
            pages: &[],
            now: now(),
            due: now(),
        };
        match commit_part(&asked, &self.rows_by_origin(state), &row, &commit) {
            Err(PartNotCommitted::Refused(PartRefused::GoOnAt(next))) => return Part::Next(next),
            Err(PartNotCommitted::Refused(PartRefused::AlreadyParsed) | PartNotCommitted::Over) => {
                return Part::Finished;
            }
            Ok(after) => {
                if let Some(segment) = Rc::make_mut(&mut state.segments).get_mut(&key) {
                    segment.row = after.segment;
                }
                for (of, mut rows) in after.origins {
                    if self.lacks(Mutation::ParseNotDue) {
                        rows.inbox.due = None;
                    }
                    state.origins[self.number_of(&of)] = Some(Rc::new(rows));
                }
                if let Some(row) = after.iteration {
                    state.put_iteration(row);
                }
            }
        }
        for target in &part.targets {
            let origin = self.number_of(&target.origin);
            let pages = found.iter().filter(|found| found.origin == origin).flat_map(|found| found.pages.clone());
            self.put_chunk(state, origin, chunk.clone(), pages.collect());
        }
        if is_last { Part::Finished } else { Part::Next(number + 1) }
    }

    fn rows_by_origin(&self, state: &State) -> RowsByOrigin {
        let rows = self.keys.iter().zip(&state.origins);
        rows.filter_map(|(key, rows)| Some((key.clone(), self.as_to_opened(rows.as_ref()?)))).collect()
    }

    fn number_of(&self, key: &dragline_domain::frontier::OriginKey) -> OriginNumber {
        usize::from(self.keys[1] == *key)
    }
}

/// A page as todo.
pub(crate) fn entry(page: Page) -> TodoEntry {
    TodoEntry::new(path(page))
}

/// A page's path.
pub(crate) fn path(page: Page) -> String {
    format!("/{page}")
}
