//! 5: only the holder of a lease commits.

use std::collections::HashMap;

use dragline_domain::frontier::{ObjectKey, OriginKey, SegmentId};
use dragline_domain::ids::{LeaseToken, Turn};
use dragline_domain::url::Origin;

use super::{Checked, Evidence, Invariant, Violation};

struct Segment {
    origin: String,
    turn: u64,
    n: u64,
    token: String,
    object: String,
}

/// 5: an origin's segments are numbered without gaps in the order of their turns; a token holds one
/// turn, never returns after another, and is part of the key of each of its objects.
///
/// # Errors
/// The database cannot be read.
pub fn only_the_holder_commits(evidence: &Evidence<'_>) -> Checked {
    let sql = "SELECT o.origin, s.turn, s.n, s.token, s.object FROM segment s JOIN origin o ON o.id = s.origin_id
               JOIN crawl c ON c.id = o.crawl_id WHERE c.name = ?1 AND s.iteration = ?2 ORDER BY o.origin, s.n, s.turn";
    let mut statement = evidence.database.prepare(sql)?;
    let segments = statement.query_map(evidence.crawl_and_iteration(), |row| {
        let (origin, turn, n, token, object) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
        Ok(Segment { origin, turn, n, token, object })
    })?;
    let segments: Vec<Segment> = segments.collect::<rusqlite::Result<_>>()?;
    let mut wrong = Vec::new();
    for of_origin in segments.chunk_by(|one, next| one.origin == next.origin) {
        wrong.extend(chain(of_origin));
    }
    wrong.extend(segments.iter().filter_map(|segment| foreign_object(evidence, segment)));
    let held: HashMap<&str, (&str, u64)> =
        segments.iter().map(|segment| (segment.token.as_str(), (segment.origin.as_str(), segment.turn))).collect();
    let borrowed = segments.iter().filter(|segment| held[segment.token.as_str()] != (&segment.origin, segment.turn));
    wrong.extend(borrowed.map(|segment| format!("{}: its token held another turn as well", segment.object)));
    Ok(wrong.into_iter().map(|what| Violation { invariant: Invariant::OnlyTheHolderCommits, what }).collect())
}

/// Finds violations in the numbers, turns and tokens of one origin's segments, which come in the
/// order of their numbers.
fn chain(segments: &[Segment]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut past: Vec<&str> = Vec::new();
    for (expected, segment) in (0..).zip(segments) {
        let Segment { origin, turn, n, token, .. } = segment;
        if *n != expected {
            wrong.push(format!("{origin}: found segment {n} of turn {turn} instead of segment {expected}"));
        }
        if past.last() != Some(&token.as_str()) {
            if past.contains(&token.as_str()) {
                wrong.push(format!("{origin}: token {token} commits segment {n} after another took over"));
            }
            past.push(token);
        }
    }
    let steps = segments.iter().zip(segments.iter().skip(1)).filter(|(one, next)| one.turn > next.turn);
    wrong
        .extend(steps.map(|(one, next)| format!("{}: turn {} commits after turn {}", one.origin, next.turn, one.turn)));
    wrong
}

fn foreign_object(evidence: &Evidence<'_>, segment: &Segment) -> Option<String> {
    let Ok(origin) = segment.origin.parse::<Origin>() else {
        return Some(format!("{} is not an origin", segment.origin));
    };
    let origin = OriginKey { crawl: evidence.definition.name.clone(), origin };
    let id = SegmentId { origin, turn: Turn(segment.turn), n: segment.n };
    let own = ObjectKey::for_segment(&id, evidence.iteration, &LeaseToken::stored(segment.token.clone()));
    (own.as_str() != segment.object).then(|| format!("{id} of token {} refers to {}", segment.token, segment.object))
}
