use super::*;
use crate::frontier::WAITING_MAX;
use crate::frontier::host::tests::{ask, at, token, waiter};

const PLACES: u16 = 2;

fn take(row: Option<&DomainRow>, name: u128, now: i64) -> Result<DomainRow, Box<DomainBusy>> {
    DomainRow::take(row, PLACES, &ask(name, now), None)
}

/// 1 and 2 hold the places from the start.
fn full() -> DomainRow {
    let one = take(None, 1, 0).unwrap();
    take(Some(&one), 2, 0).unwrap()
}

/// Returns when a turn has to try again, in seconds; `None` if it takes a place.
fn busy_until(row: &DomainRow, name: u128, now: i64) -> Option<i64> {
    let busy = take(Some(row), name, now).err()?;
    Some(busy.until.duration_since(at(0)).as_secs())
}

#[test]
fn places_limit_the_hosts_crawled_at_once() {
    let busy = |alive: &[u128]| {
        let ask = HostRequest { alive: alive.iter().map(|name| token(*name)).collect(), ..ask(3, 400) };
        DomainRow::take(Some(&full()), PLACES, &ask, None).is_err()
    };
    for (row, name, now, until, why) in [
        (full(), 3, 5, Some(390), "until the first holder is dead at the latest"),
        (full(), 3, 389, Some(419), "the holder may be about to end"),
        (full(), 1, 5, None, "an earlier try, whose answer was lost"),
        (full().give_back(&token(1), at(5)).unwrap(), 3, 5, None, "one was given back"),
    ] {
        assert_eq!(busy_until(&row, name, now), until, "{why}");
    }
    assert!(busy(&[1, 2]), "they are known to be alive, whatever the clock says");
    assert!(!busy(&[1]), "the other is not");
    let inherited = DomainRow::take(Some(&full()), PLACES, &ask(3, 100), Some(&token(1))).unwrap();
    assert!(inherited.is_held_by(&token(3)) && !inherited.is_held_by(&token(1)), "a dead holder's was taken over");
    assert!(DomainRow::take(Some(&full()), 3, &ask(3, 5), None).is_ok(), "whoever is allowed more places takes one");
}

#[test]
fn only_its_holder_gives_a_place_back() {
    assert_eq!(full().give_back(&token(3), at(5)), None);
    let back = full().give_back(&token(1), at(5)).unwrap();
    assert_eq!((back.holders.len(), back.freed_at), (1, at(5)));
    assert_eq!(back.give_back(&token(1), at(6)), None, "once");
}

#[test]
fn waiting_turns_get_places_in_order() {
    let mut row = full();
    for (name, now) in [(3, 1), (4, 2), (5, 3), (3, 4)] {
        row = take(Some(&row), name, now).unwrap_err().row;
    }
    assert_eq!(row.waiting.len(), 3, "each once");
    assert_eq!(row.next(), None, "there is no place");
    row = row.give_back(&token(1), at(100)).unwrap();
    assert_eq!(row.next(), Some(&waiter("https://3.example")));
    assert_eq!(busy_until(&row, 1, 101), Some(130), "whoever had one goes to the end");
    assert_eq!(busy_until(&row, 4, 101), Some(130), "the second is not first");
    row = row.give_back(&token(2), at(110)).unwrap();
    assert_eq!(row.next(), Some(&waiter("https://4.example")), "the first was called already");
    assert_eq!(busy_until(&row, 5, 111), Some(140), "both places are kept");
    row = take(Some(&row), 4, 112).unwrap();
    assert_eq!(row.waiting, [waiter("https://3.example"), waiter("https://5.example")]);
    assert_eq!(busy_until(&row, 5, 139), Some(140), "the other is still kept");
    row = take(Some(&row), 5, 140).unwrap();
    assert_eq!((row.waiting.len(), row.holders.len()), (0, 2), "whoever did not come has lost its place");
}

#[test]
fn places_of_dead_holders_go_to_waiting_turns() {
    let row = take(Some(&full()), 3, 1).unwrap_err().row;
    assert_eq!(busy_until(&row, 4, 390), None, "two places, and one waits");
    let row = take(Some(&row), 4, 390).unwrap();
    assert_eq!(busy_until(&row, 5, 391), Some(420), "the other is for whoever waits");
    assert_eq!(busy_until(&row, 3, 391), None);
}

#[test]
fn the_queue_is_limited() {
    let mut row = full();
    for name in 3..100 {
        row = take(Some(&row), name, 1).unwrap_err().row;
    }
    assert_eq!(row.waiting.len(), WAITING_MAX);
    assert_eq!(busy_until(&row, 100, 1), Some(121), "whoever does not fit into the queue tries again soon");
    assert_eq!(busy_until(&row, 3, 1), Some(390), "whoever waits is called");
}

#[test]
fn a_clock_that_is_set_back_does_not_prolong_waits() {
    let day = 86_400;
    let ahead = take(None, 1, day).unwrap();
    let ahead = DomainRow::take(Some(&ahead), 1, &ask(2, day), None).unwrap_err().row;
    let until = |now| DomainRow::take(Some(&ahead), 1, &ask(2, now), None).err().map(|busy| busy.until);
    assert_eq!(until(50), Some(at(440)), "its holder has it for as long as before");
    assert_eq!(until(day + 390), None);
}

#[test]
fn a_turn_that_finds_the_queue_full_changes_nothing() {
    let mut row = full();
    for name in (10_u128..).take(WAITING_MAX) {
        row = take(Some(&row), name, 1).unwrap_err().row;
    }
    for (name, now, why) in [(9, 2, "there is no room"), (9, 122, "it looks again"), (10, 123, "it waits already")] {
        assert_eq!(take(Some(&row), name, now).unwrap_err().row, row, "{why}");
    }
    let ask = ask(9, 124);
    let busy = DomainRow::take(Some(&row), PLACES - 1, &ask, None).unwrap_err();
    assert_eq!((busy.row.places, busy.row.written_at), (PLACES - 1, at(124)), "another definition has fewer places");
}
