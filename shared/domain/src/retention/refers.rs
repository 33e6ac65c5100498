//! Which entries of dropped iterations something still refers to.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::capture::Finality;
use crate::change::ChangeKind;
use crate::ids::Iteration;

/// One entry of a segment, as far as it refers to others: a visit of a URL, or its document made again. `P` names entries and orders them as they were
/// committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<P> {
    /// Which entry it is.
    pub place: P,
    /// Its iteration.
    pub iteration: Iteration,
    /// When the URL was requested, or its outcome decided.
    pub at: Timestamp,
    /// Whether the URL ended with it.
    pub finality: Finality,
    /// What it changed in the current state of the site; `None` if it says nothing lasting.
    pub change: Option<ChangeKind>,
    /// Whether a good document was put for it.
    pub made: Made,
    /// When the body was fetched that it found unchanged; `None` for any other visit.
    pub unchanged_since: Option<Timestamp>,
    /// The entry with the body of its document; `None` if there is none.
    pub body: Option<P>,
}

/// Whether a good document was put for an entry: a page, a redirect, another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It was.
    Document,
    /// At most one that says how the URL ended.
    Nothing,
}

/// What a URL's candidate refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointers<P> {
    /// The entry of its last good document, whether that is shown or not; `None` if there is none.
    pub document: Option<P>,
    /// When the body was fetched with which the next visit is compared; `None` if there is none.
    pub compared_with: Option<Timestamp>,
}

/// What stays of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stay {
    /// Nothing: nothing refers to it.
    Nothing,
    /// How the URL ended and where it leads, by which canonical links are followed; neither document nor body.
    Ending,
    /// All of it.
    Whole,
}

/// Returns what stays of each entry of a URL if the iterations up to `cut` are dropped. `entries` are all that are stored of the URL, in order.
///
/// Of a dropped iteration there stays:
/// - what the candidate refers to: its last good document, and the body with which the next visit is compared;
/// - a body that an entry which stays found unchanged, or of which a document that stays was made;
/// - the document with which the kept iterations begin, if they say that the page went or came back: they tell which links went with it. It goes if the
///   first of them has one of its own;
/// - how the URL last ended before the kept iterations, unless the first of them says how it ended.
#[must_use]
pub fn stays<P: Copy + Ord>(entries: &[Entry<P>], known: &Pointers<P>, cut: Iteration) -> Vec<Stay> {
    let is_dropped = |entry: &Entry<P>| entry.iteration <= cut;
    let dropped = || entries.iter().filter(|entry| is_dropped(entry));
    let (mut places, mut times) = (BTreeMap::new(), BTreeMap::new());
    let mut want = |place: P, stay: Stay| raise(&mut places, place, stay);
    if let Some(place) = known.document {
        want(place, Stay::Whole);
    }
    let kept = || entries.iter().filter(|entry| !is_dropped(entry));
    let begins_anew = kept().any(|entry| entry.iteration == cut.next() && entry.made == Made::Document);
    if !begins_anew && kept().any(|entry| entry.change.is_some() && entry.made == Made::Nothing) {
        let before = dropped().rfind(|entry| entry.made == Made::Document);
        before.into_iter().for_each(|entry| want(entry.place, Stay::Whole));
    }
    let is_final = |entry: &&Entry<P>| entry.finality == Finality::Final;
    if !entries.iter().filter(is_final).any(|entry| entry.iteration == cut.next()) {
        dropped().rfind(is_final).into_iter().for_each(|entry| want(entry.place, Stay::Ending));
    }
    if let Some(time) = known.compared_with {
        raise(&mut times, time, Stay::Whole);
    }
    // Entries refer to earlier ones only, so one pass from the newest back finds all.
    let mut stays = Vec::with_capacity(entries.len());
    for entry in entries.iter().rev() {
        let own = if is_dropped(entry) { Stay::Nothing } else { Stay::Whole };
        let wanted = [places.get(&entry.place), times.get(&entry.at)].into_iter().flatten().copied();
        let stay = wanted.fold(own, Stay::max);
        if let Some(since) = entry.unchanged_since {
            raise(&mut times, since, stay);
        }
        if let Some(body) = entry.body.filter(|_| stay == Stay::Whole) {
            raise(&mut places, body, stay);
        }
        stays.push(stay);
    }
    stays.reverse();
    stays
}

fn raise<K: Ord>(wanted: &mut BTreeMap<K, Stay>, key: K, stay: Stay) {
    let most = wanted.entry(key).or_insert(stay);
    *most = stay.max(*most);
}

#[cfg(test)]
mod tests {
    use super::*;
    use Stay::{Ending, Nothing, Whole};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// The visit of this iteration; its place and time are the iteration's number.
    fn visit(iteration: u32, change: Option<ChangeKind>) -> Entry<u32> {
        Entry {
            place: iteration,
            iteration: Iteration::new(iteration).unwrap(),
            at: at(iteration.into()),
            finality: Finality::Final,
            change,
            made: Made::Nothing,
            unchanged_since: None,
            body: None,
        }
    }

    fn page(iteration: u32) -> Entry<u32> {
        let kind = if iteration == 1 { ChangeKind::New } else { ChangeKind::Changed };
        Entry { made: Made::Document, body: Some(iteration), ..visit(iteration, Some(kind)) }
    }

    fn unchanged(iteration: u32, since: u32) -> Entry<u32> {
        Entry { unchanged_since: Some(at(since.into())), ..visit(iteration, Some(ChangeKind::Unchanged)) }
    }

    fn failed(iteration: u32) -> Entry<u32> {
        visit(iteration, None)
    }

    fn gone(iteration: u32) -> Entry<u32> {
        visit(iteration, Some(ChangeKind::Gone))
    }

    /// The document made again in an iteration, of the body of another.
    fn remade(iteration: u32, body: u32) -> Entry<u32> {
        let made = visit(iteration, None);
        Entry { place: iteration * 10, finality: Finality::Aside, made: Made::Document, body: Some(body), ..made }
    }

    /// The candidate after its last good document, whose body is compared with the next.
    fn known(document: u32, compared_with: u32) -> Pointers<u32> {
        Pointers { document: Some(document), compared_with: Some(at(compared_with.into())) }
    }

    const UNKNOWN: Pointers<u32> = Pointers { document: None, compared_with: None };

    /// A URL's entries, what its candidate refers to, what stays, and why.
    type Case<'c> = (&'c [Entry<u32>], Pointers<u32>, &'c [Stay], &'c str);

    #[test]
    fn what_nothing_refers_to_goes() {
        let cases: [Case<'_>; 18] = [
            (&[page(1), page(2), page(3)], known(3, 3), &[Nothing, Nothing, Whole], "each has its own body"),
            (&[page(1), page(2)], known(2, 2), &[Nothing, Whole], "the last good visit, which was long ago"),
            (
                &[page(1), failed(2), failed(3)],
                known(1, 1),
                &[Whole, Nothing, Whole],
                "failures leave the last good document, wherever it is",
            ),
            (&[page(1), unchanged(2, 1)], known(1, 1), &[Whole, Ending], "how it last ended, and the document"),
            (
                &[page(1), unchanged(2, 1), unchanged(3, 1)],
                known(1, 1),
                &[Whole, Nothing, Whole],
                "a kept visit found the body unchanged",
            ),
            (
                &[page(1), unchanged(2, 1), unchanged(3, 1), page(4)],
                known(4, 4),
                &[Whole, Nothing, Whole, Whole],
                "so did one that is kept, though the candidate is past it",
            ),
            (
                &[page(1), unchanged(2, 1), page(3)],
                known(3, 3),
                &[Nothing, Nothing, Whole],
                "only a dropped visit found it unchanged",
            ),
            (
                &[page(1), gone(2)],
                known(1, 1),
                &[Whole, Ending],
                "a page that is gone may come back unchanged; its standing does not matter",
            ),
            (
                &[page(1), gone(3), page(4)],
                known(4, 4),
                &[Whole, Whole, Whole],
                "the kept iterations say that it went, and with it its links",
            ),
            (
                &[page(1), page(4), gone(5)],
                known(4, 4),
                &[Whole, Whole, Whole],
                "between 3 and 5 it went, and in 3 it was as in 1",
            ),
            (
                &[page(1), page(3), gone(4)],
                known(3, 3),
                &[Nothing, Whole, Whole],
                "the first kept iteration has a document of its own",
            ),
            (&[page(1), page(2), gone(3)], known(2, 2), &[Nothing, Whole, Whole], "only the document before that"),
            (
                &[page(1), remade(2, 1)],
                known(20, 1),
                &[Whole, Whole],
                "the document was made again, of an earlier body",
            ),
            (
                &[page(1), remade(3, 1)],
                Pointers { document: Some(30), compared_with: None },
                &[Whole, Whole],
                "the same in a kept iteration",
            ),
            (&[page(1), remade(2, 1), page(3)], known(3, 3), &[Nothing, Nothing, Whole], "neither is of use any more"),
            (&[failed(1)], UNKNOWN, &[Ending], "how it last ended"),
            (&[failed(1), failed(2)], UNKNOWN, &[Nothing, Ending], "and only the last time"),
            (&[], UNKNOWN, &[], "it was never visited"),
        ];
        let cut = Iteration::new(2).unwrap();
        for (entries, known, expected, why) in cases {
            assert_eq!(stays(entries, &known, cut), expected, "{why}: {entries:?}");
        }
    }

    #[test]
    fn a_retried_visit_goes_and_a_body_that_is_compared_stays_without_its_document() {
        let retried = Entry { place: 0, finality: Finality::Retried, ..failed(1) };
        let cut = Iteration::new(2).unwrap();
        let redirect = Entry { body: None, ..page(2) };
        let entries = [retried, page(1), redirect];
        let known = Pointers { document: Some(2), compared_with: Some(at(1)) };
        // The retried visit has the time of the one that is compared with: as nothing else tells them apart, both stay.
        assert_eq!(stays(&entries, &known, cut), [Whole, Whole, Whole]);
        let earlier = Entry { place: 0, at: at(0), ..retried };
        assert_eq!(stays(&[earlier, page(1), redirect], &known, cut), [Nothing, Whole, Whole]);
    }

    #[test]
    fn an_ending_keeps_how_the_body_ended_that_it_found_unchanged() {
        let entries = [page(1), unchanged(2, 1)];
        assert_eq!(stays(&entries, &UNKNOWN, Iteration::new(2).unwrap()), [Ending, Ending]);
    }
}
