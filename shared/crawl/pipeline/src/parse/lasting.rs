//! Unrecoverable errors: a segment is ended without the failing steps, so that none of them keeps
//! an iteration open.

use dragline_domain::document::Document;
use dragline_domain::frontier::{ParserCounters, SegmentRow};
use dragline_domain::politeness::Pace;

use crate::World;
use crate::parse::ParseEnd;
use crate::parse::commit::commit;
use crate::parse::make::document::stuck_document;
use crate::parse::read::records::Capture;
use crate::parse::read::{self, Trust};
use crate::tell::tell;
use dragline_ports::error::{PortError, PortResult};
use dragline_ports::notifier::Notice;

/// The omitted steps of a parse, which failed each time.
#[derive(Debug)]
pub(crate) struct Omissions {
    trust: Trust,
    first: Option<PortError>,
}

impl Omissions {
    pub(crate) const fn new(trust: Trust) -> Self {
        Self { trust, first: None }
    }

    /// Returns the result of a step; `None` if the step is omitted, because its error is
    /// unrecoverable and nothing else is left to try.
    ///
    /// # Errors
    /// Returns any other error.
    pub(crate) fn bear<T>(&mut self, result: PortResult<T>) -> PortResult<Option<T>> {
        match result {
            Ok(done) => Ok(Some(done)),
            Err(error) if error.kind.is_lasting() && self.trust == Trust::None => {
                tracing::error!(%error, "a step of a parse is left out");
                self.first.get_or_insert(error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the error of the first omitted step, for people.
    pub(crate) const fn first(&self) -> Option<&PortError> {
        self.first.as_ref()
    }
}

/// Drops the content of the largest documents until no more than half of all bytes remain. Returns
/// whether there were any to drop.
pub(crate) fn leave_largest(documents: &mut [Document], captures: &[Capture]) -> bool {
    let mut sizes: Vec<(usize, usize)> = (0..)
        .zip(&*documents)
        .filter(|(_, document)| !document.is_unread())
        .map(|(at, document)| (serde_json::to_vec(document).map_or(usize::MAX, |json| json.len()), at))
        .collect();
    sizes.sort_unstable();
    let all = sizes.iter().fold(0_usize, |all, (size, _)| all.saturating_add(*size));
    let (mut left, mut has_left_any) = (all, false);
    while let Some((size, at)) = sizes.pop().filter(|_| left > all / 2 || !has_left_any) {
        let why = format!("what was read of it is too large to be stored ({size} bytes of JSON)");
        documents[at] = stuck_document(documents[at].n, &captures[at], &why);
        left = left.saturating_sub(size);
        has_left_any = true;
    }
    has_left_any
}

/// Ends a segment without the results of its parse, and counts its URLs as left over.
///
/// # Errors
/// Returns the frontier's errors.
pub(crate) async fn end_without(world: &impl World, segment: &SegmentRow, error: &PortError) -> PortResult<ParseEnd> {
    let unreadable = read::missing(segment, &[]);
    tell_loss(world, segment, unreadable, error).await;
    let counters = ParserCounters { unreadable, ..ParserCounters::default() };
    commit(world, Pace::default(), segment, (counters, Vec::new()), Vec::new()).await
}

/// Tells people that a segment is ended without part of its content.
pub(crate) async fn tell_loss(world: &impl World, segment: &SegmentRow, unreadable: u64, why: impl std::fmt::Display) {
    let SegmentRow { id, entries, .. } = segment;
    let detail = match unreadable {
        0 => format!("segment {}-{} is ended without part of what was found in it: {why}", id.turn, id.n),
        lost => format!("{lost} of {entries} URLs of segment {}-{} are lost: {why}", id.turn, id.n),
    };
    tell(world, Notice::Stuck { origin: id.origin.clone(), detail }).await;
}
