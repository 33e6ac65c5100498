//! Splits parses that need more than one transaction into parts.

use super::{CHUNK_BYTES_MAX, OriginKey, TodoChunk, TodoEntry};

/// The limit on the actions of one transaction (DynamoDB's limit is 100, and 4 MB).
pub const PART_ACTIONS_MAX: usize = 100;

/// The segment's own row, its own inbox, the iteration's row and its counts, which any part may
/// contain.
const FIXED_ACTIONS: usize = 4;

/// A lease, an inbox and a chunk, in any case: whether the origin is closed may change between
/// planning and committing.
const TARGET_ACTIONS: usize = 3;

/// The limit on the chunks in one transaction. Each has up to 64 KB, so they stay far below 4 MB.
pub const PART_CHUNKS_MAX: usize = 32;

/// A seeding's mark, the two rows of its origin, the iteration's row and its counts.
const SEEDING_ACTIONS: usize = 5;

const _: () = assert!(SEEDING_ACTIONS + PART_CHUNKS_MAX <= PART_ACTIONS_MAX, "a seeding fits into a transaction");

/// The limit on seeds that are added at once: their chunks fit into a transaction, however long the
/// URLs are.
pub const SEEDING_URLS_MAX: usize = PART_CHUNKS_MAX * (CHUNK_BYTES_MAX / TodoEntry::JSON_BYTES_MAX);

/// The limit on chunks that the commit of a segment deletes; it also writes the segment, the lease
/// and the iteration's counts.
pub const EXHAUSTED_CHUNKS_MAX: usize = PART_ACTIONS_MAX - 3;

/// New todo for one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The origin.
    pub origin: OriginKey,
    /// The chunks; never empty.
    pub chunks: Vec<TodoChunk>,
}

impl Target {
    /// Returns how many URLs are added.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.chunks.iter().map(|chunk| u64::try_from(chunk.entries.len()).unwrap_or(u64::MAX)).sum()
    }
}

/// The contents of one transaction of a parse.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ParsePart {
    /// The origins that get todo in this part; one with many chunks may appear again in the next.
    pub targets: Vec<Target>,
}

/// Splits a parse into parts that each fit into a transaction. The last part, which may have no
/// targets, marks the segment PROCESSED.
///
/// A pure function of the targets, so that another worker can continue a dead parse at the part
/// where it stopped.
#[must_use]
pub fn plan_parts(targets: Vec<Target>) -> Vec<ParsePart> {
    let mut parts = vec![ParsePart::default()];
    let (mut actions, mut chunk_count) = (FIXED_ACTIONS, 0);
    for target in targets {
        for chunk in target.chunks {
            let part = parts.last_mut().expect("there is always a part");
            let same = part.targets.last_mut().filter(|last| last.origin == target.origin);
            let more = if same.is_some() { 1 } else { TARGET_ACTIONS };
            if actions + more > PART_ACTIONS_MAX || chunk_count == PART_CHUNKS_MAX {
                parts.push(ParsePart { targets: vec![Target { origin: target.origin.clone(), chunks: vec![chunk] }] });
                (actions, chunk_count) = (FIXED_ACTIONS + TARGET_ACTIONS, 1);
                continue;
            }
            match same {
                Some(last) => last.chunks.push(chunk),
                None => part.targets.push(Target { origin: target.origin.clone(), chunks: vec![chunk] }),
            }
            actions += more;
            chunk_count += 1;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frontier::todo::longest_entry;
    use crate::frontier::{ChunkKey, Seeding, TodoPlace, TodoSource, split_into_chunks};
    use crate::ids::{Iteration, TriggerId};

    fn target(number: usize, chunks: u32) -> Target {
        let origin =
            OriginKey { crawl: "c".parse().unwrap(), origin: format!("https://{number}.example").parse().unwrap() };
        let source = TodoSource::seeds(&Seeding::new(&TriggerId("t".into()), 0));
        let chunk = |part| TodoChunk {
            key: ChunkKey { iteration: Iteration::FIRST, place: TodoPlace::by_depth(0), source: source.clone(), part },
            entries: vec![TodoEntry::new("/")],
        };
        Target { origin, chunks: (0..chunks).map(chunk).collect() }
    }

    #[test]
    fn a_parse_without_results_has_one_last_part() {
        assert_eq!(plan_parts(vec![]), vec![ParsePart::default()]);
    }

    #[test]
    fn seeds_of_any_length_fit_a_transaction() {
        let source = TodoSource::seeds(&Seeding::new(&TriggerId("t".into()), 0));
        let seeds = std::iter::repeat_with(longest_entry).take(SEEDING_URLS_MAX);
        assert_eq!(split_into_chunks(Iteration::FIRST, TodoPlace::by_depth(0), &source, seeds).len(), PART_CHUNKS_MAX);
    }

    proptest! {
        #[test]
        fn parts_fit_a_transaction_and_contain_every_chunk_once(chunks in prop::collection::vec(1_u32..70, 0..80)) {
            let targets: Vec<Target> = chunks.iter().enumerate().map(|(number, &chunks)| target(number, chunks)).collect();
            let parts = plan_parts(targets.clone());
            prop_assert_eq!(&parts, &plan_parts(targets.clone()), "the same targets give the same parts");
            for part in &parts {
                let chunks: usize = part.targets.iter().map(|target| target.chunks.len()).sum();
                prop_assert!(FIXED_ACTIONS + 2 * part.targets.len() + chunks <= PART_ACTIONS_MAX);
                prop_assert!(chunks <= PART_CHUNKS_MAX);
            }
            let flat = |targets: Vec<Target>| -> Vec<_> {
                targets.into_iter().flat_map(|t| t.chunks.into_iter().map(move |c| (t.origin.clone(), c))).collect()
            };
            prop_assert_eq!(flat(parts.into_iter().flat_map(|part| part.targets).collect()), flat(targets));
        }
    }
}
