//! References to entries of dropped iterations.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::capture::Finality;
use crate::change::ChangeKind;
use crate::ids::Iteration;

/// An entry of a segment, reduced to its references: a visit of a URL, or its remade document. `P`
/// identifies entries, in the order of their commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<P> {
    /// Its identifier.
    pub place: P,
    /// Its iteration.
    pub iteration: Iteration,
    /// When the URL was requested, or its outcome decided.
    pub at: Timestamp,
    /// Whether it is the URL's final entry in the iteration.
    pub finality: Finality,
    /// Its effect on the current state of the site; `None` if it says nothing lasting.
    pub change: Option<ChangeKind>,
    /// Whether a good document was stored for it.
    pub made: GoodDocument,
    /// When the body that it found unchanged was fetched; `None` for any other visit.
    pub unchanged_since: Option<Timestamp>,
    /// The entry of the document that it confirmed; `None` for any other visit.
    pub confirmed: Option<P>,
    /// The entry with the body of its document; `None` if there is none.
    pub body: Option<P>,
}

/// Whether a good document was stored for an entry: a page, a redirect, another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoodDocument {
    /// It was.
    Document,
    /// At most a document with only the URL's outcome.
    Nothing,
}

/// The references of a URL's candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointers<P> {
    /// The entry of its last good document, shown or not; `None` if there is none.
    pub document: Option<P>,
    /// When the body with which the next visit is compared was fetched; `None` if there is none.
    pub compared_with: Option<Timestamp>,
}

/// The part of an entry that stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RetainedPart {
    /// Nothing: nothing refers to it.
    Nothing,
    /// Its outcome and its target, for resolving canonical links; neither document nor body.
    Ending,
    /// The whole entry.
    Whole,
}

/// Returns the part of each entry of a URL that stays if the iterations up to `cut` are dropped.
/// `entries` are all stored entries of the URL, in order.
///
/// From a dropped iteration, these stay:
/// - the candidate's references: its last good document, and the body with which the next visit is
///   compared;
/// - a body that a remaining entry found unchanged, or from which a remaining document was made;
/// - the document that a fully kept entry confirmed: the URL showed it then;
/// - the document current at the start of the kept iterations, if they say that the page went or
///   came back: it shows which links went with it. It is dropped if the first of them has one of
///   its own;
/// - the URL's last ending before the kept iterations, unless the first of them has one.
#[must_use]
pub fn retained_parts<P: Copy + Ord>(entries: &[Entry<P>], known: &Pointers<P>, cut: Iteration) -> Vec<RetainedPart> {
    let mut wanted = References::new(cut);
    wanted.add_candidate(known);
    let mut stays: Vec<RetainedPart> = entries.iter().rev().map(|entry| wanted.visit_entry(entry)).collect();
    stays.reverse();
    stays
}

/// The references from a URL's candidate and newer entries to older ones, for callers that visit
/// all entries from the newest back, by the same rule as [`retained_parts`]. Entries refer only to
/// earlier ones, so each is read once.
#[derive(Clone, Debug)]
pub struct References<P> {
    cut: Iteration,
    places: BTreeMap<P, RetainedPart>,
    times: BTreeMap<Timestamp, RetainedPart>,
    kept: KeptFindings,
    met: DroppedFindings,
}

/// The findings in the entries of kept iterations.
#[derive(Clone, Copy, Debug, Default)]
struct KeptFindings {
    /// The first of these iterations has a document of its own.
    begins_anew: bool,
    /// The page went or came back.
    went_or_came: bool,
    /// The first of these iterations has an ending of the URL.
    ended: bool,
}

/// The entries of dropped iterations so far.
#[derive(Clone, Copy, Debug, Default)]
struct DroppedFindings {
    document: bool,
    ending: bool,
}

impl<P: Copy + Ord> References<P> {
    /// Creates an empty set of references, for dropping the iterations up to `cut`.
    #[must_use]
    pub fn new(cut: Iteration) -> Self {
        let (kept, met) = (KeptFindings::default(), DroppedFindings::default());
        Self { cut, places: BTreeMap::new(), times: BTreeMap::new(), kept, met }
    }

    /// Adds the references of the URL's candidate. Call this before the first entry of a dropped
    /// iteration.
    pub fn add_candidate(&mut self, known: &Pointers<P>) {
        if let Some(place) = known.document {
            raise(&mut self.places, place, RetainedPart::Whole);
        }
        if let Some(time) = known.compared_with {
            raise(&mut self.times, time, RetainedPart::Whole);
        }
    }

    /// Returns the part of an entry that stays. Call this for all newer entries first.
    pub fn visit_entry(&mut self, entry: &Entry<P>) -> RetainedPart {
        let own = if entry.iteration <= self.cut { self.visit_dropped(entry) } else { self.visit_kept(entry) };
        let wanted = [self.places.remove(&entry.place), self.times.get(&entry.at).copied()];
        let stay = wanted.into_iter().flatten().fold(own, RetainedPart::max);
        if let Some(since) = entry.unchanged_since.filter(|_| stay > RetainedPart::Nothing) {
            raise(&mut self.times, since, stay);
        }
        for place in [entry.body, entry.confirmed].into_iter().flatten() {
            if stay == RetainedPart::Whole && place != entry.place {
                raise(&mut self.places, place, stay);
            }
        }
        stay
    }

    fn visit_kept(&mut self, entry: &Entry<P>) -> RetainedPart {
        let is_first = entry.iteration == self.cut.next();
        self.kept.begins_anew |= is_first && entry.made == GoodDocument::Document;
        self.kept.went_or_came |= entry.change.is_some() && entry.made == GoodDocument::Nothing;
        self.kept.ended |= is_first && entry.finality == Finality::Final;
        RetainedPart::Whole
    }

    fn visit_dropped(&mut self, entry: &Entry<P>) -> RetainedPart {
        let KeptFindings { begins_anew, went_or_came, ended } = self.kept;
        let (is_document, is_ending) = (entry.made == GoodDocument::Document, entry.finality == Finality::Final);
        let is_last_document = is_document && !std::mem::replace(&mut self.met.document, true);
        let is_last_ending = is_ending && !std::mem::replace(&mut self.met.ending, true);
        if is_last_document && went_or_came && !begins_anew {
            RetainedPart::Whole
        } else if is_last_ending && !ended {
            RetainedPart::Ending
        } else {
            RetainedPart::Nothing
        }
    }
}

fn raise<K: Ord>(wanted: &mut BTreeMap<K, RetainedPart>, key: K, stay: RetainedPart) {
    let most = wanted.entry(key).or_insert(stay);
    *most = stay.max(*most);
}

#[cfg(test)]
mod tests {
    use super::*;
    use RetainedPart::{Ending, Nothing, Whole};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// Creates the visit of this iteration; its place and time are the iteration's number.
    fn visit(iteration: u32, change: Option<ChangeKind>) -> Entry<u32> {
        Entry {
            place: iteration,
            iteration: Iteration::new(iteration).unwrap(),
            at: at(iteration.into()),
            finality: Finality::Final,
            change,
            made: GoodDocument::Nothing,
            unchanged_since: None,
            confirmed: None,
            body: None,
        }
    }

    fn page(iteration: u32) -> Entry<u32> {
        let kind = if iteration == 1 { ChangeKind::New } else { ChangeKind::Changed };
        Entry { made: GoodDocument::Document, body: Some(iteration), ..visit(iteration, Some(kind)) }
    }

    fn unchanged(iteration: u32, since: u32) -> Entry<u32> {
        let (since, document) = (Some(at(since.into())), Some(since));
        Entry { unchanged_since: since, confirmed: document, ..visit(iteration, Some(ChangeKind::Unchanged)) }
    }

    /// Creates the same where the document was remade in an iteration in between.
    fn unchanged_as_remade(iteration: u32, since: u32, remade: u32) -> Entry<u32> {
        Entry { confirmed: Some(remade * 10), ..unchanged(iteration, since) }
    }

    fn failed(iteration: u32) -> Entry<u32> {
        visit(iteration, None)
    }

    fn gone_visit(iteration: u32) -> Entry<u32> {
        visit(iteration, Some(ChangeKind::Gone))
    }

    /// Creates the remade document of an iteration, from the body of another.
    fn remade(iteration: u32, body: u32) -> Entry<u32> {
        let made = visit(iteration, None);
        Entry {
            place: iteration * 10,
            finality: Finality::Aside,
            made: GoodDocument::Document,
            body: Some(body),
            ..made
        }
    }

    /// Creates the candidate after its last good document, whose body is compared with the next.
    fn pointers(document: u32, compared_with: u32) -> Pointers<u32> {
        Pointers { document: Some(document), compared_with: Some(at(compared_with.into())) }
    }

    const UNKNOWN: Pointers<u32> = Pointers { document: None, compared_with: None };

    /// A URL's entries, its candidate's references, the parts that stay, and why.
    type Case<'c> = (&'c [Entry<u32>], Pointers<u32>, &'c [RetainedPart], &'c str);

    #[test]
    fn unreferenced_entries_are_dropped() {
        let cases: [Case<'_>; 20] = [
            (&[page(1), page(2), page(3)], pointers(3, 3), &[Nothing, Nothing, Whole], "each has its own body"),
            (&[page(1), page(2)], pointers(2, 2), &[Nothing, Whole], "the last good visit, which was long ago"),
            (
                &[page(1), failed(2), failed(3)],
                pointers(1, 1),
                &[Whole, Nothing, Whole],
                "failures leave the last good document, wherever it is",
            ),
            (&[page(1), unchanged(2, 1)], pointers(1, 1), &[Whole, Ending], "how it last ended, and the document"),
            (
                &[page(1), unchanged(2, 1), unchanged(3, 1)],
                pointers(1, 1),
                &[Whole, Nothing, Whole],
                "a kept visit found the body unchanged",
            ),
            (
                &[page(1), unchanged(2, 1), unchanged(3, 1), page(4)],
                pointers(4, 4),
                &[Whole, Nothing, Whole, Whole],
                "so did one that is kept, though the candidate is past it",
            ),
            (
                &[page(1), unchanged(2, 1), page(3)],
                pointers(3, 3),
                &[Nothing, Nothing, Whole],
                "only a dropped visit found it unchanged",
            ),
            (
                &[page(1), gone_visit(2)],
                pointers(1, 1),
                &[Whole, Ending],
                "a page that is gone may come back unchanged; its standing does not matter",
            ),
            (
                &[page(1), gone_visit(3), page(4)],
                pointers(4, 4),
                &[Whole, Whole, Whole],
                "the kept iterations say that it went, and with it its links",
            ),
            (
                &[page(1), page(4), gone_visit(5)],
                pointers(4, 4),
                &[Whole, Whole, Whole],
                "between 3 and 5 it went, and in 3 it was as in 1",
            ),
            (
                &[page(1), page(3), gone_visit(4)],
                pointers(3, 3),
                &[Nothing, Whole, Whole],
                "the first kept iteration has a document of its own",
            ),
            (
                &[page(1), page(2), gone_visit(3)],
                pointers(2, 2),
                &[Nothing, Whole, Whole],
                "only the document before that",
            ),
            (
                &[page(1), remade(2, 1)],
                pointers(20, 1),
                &[Whole, Whole],
                "the document was made again, of an earlier body",
            ),
            (
                &[page(1), remade(3, 1)],
                Pointers { document: Some(30), compared_with: None },
                &[Whole, Whole],
                "the same in a kept iteration",
            ),
            (
                &[page(1), remade(2, 1), page(3)],
                pointers(3, 3),
                &[Nothing, Nothing, Whole],
                "neither is of use any more",
            ),
            (
                &[page(1), remade(2, 1), unchanged_as_remade(3, 1, 2), page(4)],
                pointers(4, 4),
                &[Whole, Whole, Whole, Whole],
                "a kept visit shows the document that was made again",
            ),
            (
                &[page(1), remade(1, 1), unchanged_as_remade(2, 1, 1), page(3)],
                pointers(3, 3),
                &[Nothing, Nothing, Nothing, Whole],
                "only a dropped visit shows it",
            ),
            (&[failed(1)], UNKNOWN, &[Ending], "how it last ended"),
            (&[failed(1), failed(2)], UNKNOWN, &[Nothing, Ending], "and only the last time"),
            (&[], UNKNOWN, &[], "it was never visited"),
        ];
        let cut = Iteration::new(2).unwrap();
        for (entries, known, expected, why) in cases {
            assert_eq!(retained_parts(entries, &known, cut), expected, "{why}: {entries:?}");
        }
    }

    #[test]
    fn a_retried_visit_is_dropped_and_a_compared_body_stays_without_its_document() {
        let retried = Entry { place: 0, finality: Finality::Retried, ..failed(1) };
        let cut = Iteration::new(2).unwrap();
        let redirect = Entry { body: None, ..page(2) };
        let entries = [retried, page(1), redirect];
        let known = Pointers { document: Some(2), compared_with: Some(at(1)) };
        // The retried visit has the same time as the compared one: as nothing else distinguishes
        // them, both stay.
        assert_eq!(retained_parts(&entries, &known, cut), [Whole, Whole, Whole]);
        let earlier = Entry { place: 0, at: at(0), ..retried };
        assert_eq!(retained_parts(&[earlier, page(1), redirect], &known, cut), [Nothing, Whole, Whole]);
    }

    #[test]
    fn an_ending_keeps_the_ending_of_its_unchanged_body() {
        let entries = [page(1), unchanged(2, 1)];
        assert_eq!(retained_parts(&entries, &UNKNOWN, Iteration::new(2).unwrap()), [Ending, Ending]);
    }
}
