//! Iterations, and what holds for every stream: batches, cursors and filters.

use dragline_domain::ids::Iteration;
use dragline_ports::documents::Documents;
use dragline_ports::frontier::{Frontier, Progress};
use dragline_ports::reader::{Cursor, Filter, Reader, Rest};

use super::super::lag::{assert_comes_to, until};
use super::super::samples::{key, origin, url};
use super::super::world::{UNLIMITED, World};
use super::crawl;
use super::story::Teller;
use super::streams::Stream;

/// Before its first iteration a crawl has no rows and no iteration. Later, an iteration that never
/// began does not exist either.
pub async fn a_crawl_that_never_began_has_nothing(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    let (first, third) = (Iteration::FIRST, Iteration::FIRST.next().next());
    assert_eq!(reader.latest_iteration().await.unwrap(), None);
    assert_eq!(reader.load_iteration(first).await.unwrap(), None);
    assert_eq!(reader.progress(first).await.unwrap(), Progress::default());
    let nothing = async |filter: &Filter| {
        for stream in Stream::ALL {
            assert_eq!(stream.all(reader, filter).await, [], "{stream:?} {filter:?}");
        }
    };
    for filter in [
        Filter::default(),
        Filter::by_iteration(first),
        Filter { origin: Some(origin("a.example")), ..Filter::default() },
        Filter { url: Some(url("https://a.example/")), ..Filter::default() },
    ] {
        nothing(&filter).await;
    }
    Teller { frontier, documents }.tell().await;
    assert_eq!(reader.load_iteration(third).await.unwrap(), None);
    assert_eq!(reader.progress(third).await.unwrap(), Progress::default());
    nothing(&Filter::by_iteration(third)).await;
}

/// The newest iteration, an earlier one, and the progress of each agree with the frontier.
pub async fn iterations_are_told_as_they_stand(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    let teller = Teller { frontier, documents };
    let world = teller.tell_first().await;
    assert_comes_to(async || reader.latest_iteration().await.unwrap(), Some(world.row().await), "under way").await;
    teller.close_first(&world).await;
    assert_comes_to(async || reader.latest_iteration().await.unwrap(), Some(world.row().await), "closed").await;
    let second = teller.tell_second().await;
    assert_comes_to(async || reader.latest_iteration().await.unwrap(), Some(second.row().await), "the next").await;
    for world in [&world, &second] {
        let (number, row) = (world.iteration, world.row().await);
        assert_eq!(reader.load_iteration(number).await.unwrap(), Some(row), "{number}");
        let progress = frontier.progress(&crawl(), number).await.unwrap();
        assert_comes_to(async || reader.progress(number).await.unwrap(), progress, "its progress").await;
    }
}

/// Read in batches of any size a stream has the same rows in the same order, each once; and a batch
/// stays within its limit.
pub async fn rows_come_once_however_small_the_batches(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    Teller { frontier, documents }.tell().await;
    for stream in Stream::ALL {
        let all = stream.all_of(reader, stream.rows()).await;
        for (position, row) in all.iter().enumerate() {
            assert!(!all[..position].contains(row), "{stream:?}: {row:?} comes twice");
        }
        for limit in [1, 2, 3, 7] {
            let rows = stream.behind(reader, &Filter::default(), None, limit).await.0;
            assert_eq!(rows, all, "{stream:?} in batches of {limit}");
        }
        let small = stream.batch(reader, &Filter::default(), None, 1).await;
        assert!(small.rest == Rest::More && small.rows.len() < all.len(), "{stream:?}: all of it at once");
    }
}

/// From each batch's cursor, stored as text meanwhile, the stream continues with the rows after it:
/// with other limits, and with each filter.
pub async fn a_stored_cursor_goes_on_behind_what_was_read(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    Teller { frontier, documents }.tell().await;
    let filters = [
        Filter::default(),
        Filter::by_iteration(Iteration::FIRST),
        Filter { origin: Some(origin("a.example")), ..Filter::default() },
    ];
    for stream in Stream::ALL {
        stream.all_of(reader, stream.rows()).await;
        for filter in &filters {
            let all = stream.all(reader, filter).await;
            let (mut read, mut after, mut rest) = (0, None, Rest::More);
            while rest == Rest::More {
                let batch = stream.batch(reader, filter, after.as_ref(), 2).await;
                read += batch.rows.len();
                rest = batch.rest;
                after = batch.cursor.map(|cursor| Cursor::new(cursor.to_string()));
                let (behind, _) = stream.behind(reader, filter, after.as_ref(), 5).await;
                assert_eq!(behind, all[read.min(all.len())..], "{stream:?} behind {read} rows, {filter:?}");
            }
            assert_eq!(read, all.len(), "{stream:?}, {filter:?}");
        }
    }
}

/// Rows after a hundred origins without a match are found all the same, possibly after empty
/// batches.
pub async fn what_stands_behind_many_origins_is_found(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    const ORIGINS: usize = 105;
    let world = World::begin(frontier, UNLIMITED).await;
    for number in 0..ORIGINS {
        world.seed(&key(&format!("o{number:03}.example")), &["/"]).await;
    }
    let teller = Teller { frontier, documents };
    teller.tell_more_in(&world, ["y.example", "z.example"]).await;
    for (stream, rows) in [
        (Stream::Pages, 1),
        (Stream::Links, 1),
        (Stream::SeenPages, 1),
        (Stream::SeenLinks, 1),
        (Stream::Log, 1),
        (Stream::Candidates, ORIGINS + 2),
        (Stream::Documents, 1),
        (Stream::Leftovers, 1),
        (Stream::Segments, 1),
    ] {
        stream.all_of(reader, rows).await;
        let by_iteration = stream.behind(reader, &Filter::by_iteration(world.iteration), None, 30).await.0;
        let ended = if stream == Stream::Candidates { 1 } else { rows };
        assert_eq!(by_iteration.len(), ended, "{stream:?}: of all, what came to an end in it");
    }
}

/// From the cursor at the end a stream gives nothing until rows are added, then those rows alone.
pub async fn rows_that_come_later_are_behind_the_end(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    let teller = Teller { frontier, documents };
    let world = teller.tell().await;
    let mut ends = Vec::new();
    for stream in Stream::ALL {
        let before = stream.all_of(reader, stream.rows()).await;
        let (_, end) = stream.behind(reader, &Filter::default(), None, 4).await;
        let (rows, again) = stream.behind(reader, &Filter::default(), end.as_ref(), 4).await;
        assert_eq!(rows, [], "{stream:?}: nothing yet");
        ends.push((stream, before, again));
    }
    teller.tell_more(&world).await;
    for (stream, before, end) in ends {
        let all = stream.all_of(reader, stream.rows() + stream.more_rows()).await;
        assert_eq!(all[..before.len()], before, "{stream:?}: what was there stays where it was");
        let (rows, _) = stream.behind(reader, &Filter::default(), end.as_ref(), 4).await;
        assert_eq!(rows, all[before.len()..], "{stream:?}: what came since");
    }
}

/// Filtered by iteration, origin and URL, alone and together, a stream gives exactly the rows that
/// match, in their order.
pub async fn filters_give_what_they_say((frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader)) {
    Teller { frontier, documents }.tell().await;
    let (first, second) = (Iteration::FIRST, Iteration::FIRST.next());
    let iterations = [None, Some(first), Some(second), Some(second.next())];
    let places = [
        (None, None),
        (Some("a.example"), None),
        (Some("b.example"), None),
        (Some("c.example"), None),
        (Some("nowhere.example"), None),
        (None, Some("https://a.example/")),
        (None, Some("https://a.example/copy")),
        (None, Some("https://b.example/")),
        (None, Some("https://c.example/1")),
        (None, Some("https://b.example/nowhere")),
        (Some("b.example"), Some("https://b.example/new")),
    ];
    for stream in Stream::ALL {
        let all = stream.all_of(reader, stream.rows()).await;
        let mut has_given = 0;
        for iteration in iterations {
            for (host, address) in places {
                let filter = Filter { iteration, origin: host.map(origin), url: address.map(url) };
                let expected: Vec<_> = all.iter().filter(|row| row.is_wanted(&filter)).cloned().collect();
                let rows = stream.behind(reader, &filter, None, 4).await.0;
                assert_eq!(rows, expected, "{stream:?} {filter:?}");
                has_given += usize::from(!expected.is_empty() && expected.len() < all.len());
            }
        }
        assert!(has_given > 5, "{stream:?}: the filters say something");
    }
}

/// A closed iteration keeps the same rows in the same order, whatever comes after it.
pub async fn a_closed_iteration_stays_as_it_was(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    let teller = Teller { frontier, documents };
    let world = teller.tell_first().await;
    teller.close_first(&world).await;
    let filter = Filter::by_iteration(world.iteration);
    let streams = Stream::ALL.into_iter().filter(|stream| stream.stays());
    let mut closed = Vec::new();
    for stream in streams {
        let is_whole = |rows: &Vec<_>| rows.len() >= stream.rows_of_first();
        let rows = until(async || stream.all(reader, &filter).await, is_whole).await;
        assert_eq!(rows.len(), stream.rows_of_first(), "{stream:?}: {rows:#?}");
        assert_eq!(stream.all(reader, &filter).await, rows, "{stream:?} read twice");
        closed.push((stream, rows));
    }
    teller.tell_second().await;
    for (stream, rows) in closed {
        stream.all_of(reader, stream.rows()).await;
        assert_eq!(stream.all(reader, &filter).await, rows, "{stream:?} while the next iteration is under way");
    }
}
