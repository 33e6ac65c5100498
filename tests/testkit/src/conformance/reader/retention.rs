//! Pruning: what nothing refers to goes, and whoever reads what is kept sees no difference.

use dragline_domain::frontier::{PartKind, SegmentRow};
use dragline_domain::ids::Iteration;
use dragline_ports::documents::Documents;
use dragline_ports::frontier::Frontier;
use dragline_ports::reader::{Filter, Reader};
use dragline_ports::retention::{Forgetting, PruneMode, PrunedSegments, Pruning, UnusedObject};

use super::super::samples::{at, crawl, key, url};
use super::super::world::{UNLIMITED, World};
use super::story::{Made, Teller, got, place};

/// Runs every behaviour of what is kept on `((frontier, documents, reader, retained), guard)`,
/// which the future given makes over one store.
#[macro_export]
macro_rules! retention_suite {
    ($make:expr) => {
        $crate::retention_suite! { behaviours, $make }
    };
    ($what:ident, $make:expr) => {
        $crate::$what! { reader, $make;
            what_nothing_refers_to_goes_and_the_rest_reads_the_same
            what_a_kept_visit_confirmed_stays
            counting_deletes_nothing
            a_walk_that_died_is_finished_by_the_next
            iterations_are_marked_once_and_listed_newest_first
            nothing_of_a_kept_iteration_goes
            whatever_is_forgotten_is_counted
        }
    };
}

pub(super) const HOST: &str = "a.example";

fn visited(n: u32, path: &str, second: i64) -> Made {
    got(n, &format!("https://{HOST}{path}")).asked_at(at(second))
}

/// Three iterations: `/page` is another each time, `/same` is not, and `/old` is visited only once.
/// Returns their segments.
pub(super) async fn three_iterations(frontier: &impl Frontier, documents: &impl Documents) -> Vec<SegmentRow> {
    let teller = Teller { frontier, documents };
    let origin = key(HOST);
    let mut segments: Vec<SegmentRow> = Vec::new();
    for (number, by) in (1..).zip(["t", "u", "v"]) {
        let world = match by {
            "t" => World::begin(frontier, UNLIMITED).await,
            by => World::begin_by(frontier, by, UNLIMITED).await,
        };
        world.seed_by(&origin, by, &["/page", "/old", "/same"]).await;
        let segment = world.crawl_again_until_idle(&origin, number, i64::try_from(number).unwrap() * 1_000).await;
        let same = |second| visited(1, "/same", second).unchanged_since(at(12), place(&segments[0], 2));
        let made = match by {
            "t" => vec![visited(0, "/page", 10), visited(1, "/old", 11), visited(2, "/same", 12)],
            "u" => vec![visited(0, "/page", 1_010), same(1_012)],
            _ => vec![visited(0, "/page", 2_010), same(2_012)],
        };
        teller.put(&segment, &made).await;
        world.parse(&segment, (0, PartKind::Last), &[]).await;
        world.end(&[&origin]).await;
        segments.push(segment);
    }
    segments
}

/// Everything that is read of an iteration, and of the site as it is now.
pub(super) async fn view(reader: &impl Reader, iteration: Iteration) -> Vec<String> {
    let (all, of) = (Filter::default(), Filter::by_iteration(iteration));
    let mut rows = Vec::new();
    rows.extend(reader.pages(&all, None, 99).await.unwrap().rows.iter().map(|row| format!("{row:?}")));
    rows.extend(reader.links(&all, None, 99).await.unwrap().rows.iter().map(|row| format!("{row:?}")));
    rows.extend(reader.candidates(&all, None, 99).await.unwrap().rows.iter().map(|row| format!("{row:?}")));
    rows.extend(reader.log(&of, None, 99).await.unwrap().rows.iter().map(|row| format!("{row:?}")));
    rows.extend(reader.seen_pages(&of, None, 99).await.unwrap().rows.iter().map(|row| format!("{row:?}")));
    rows.extend(reader.seen_links(&of, None, 99).await.unwrap().rows.iter().map(|row| format!("{row:?}")));
    rows.extend(reader.documents(&of, None, 99).await.unwrap().rows.iter().map(|row| format!("{row:?}")));
    rows
}

fn iteration(number: u32) -> Iteration {
    Iteration::new(number).unwrap()
}

fn unused(segment: &SegmentRow) -> UnusedObject {
    let SegmentRow { id, iteration, object, object_bytes, .. } = segment.clone();
    UnusedObject { segment: id, iteration, object, bytes: object_bytes }
}

pub(super) async fn prune(retained: &impl Pruning, cut: u32, effect: PruneMode) -> PrunedSegments {
    retained.prune_segments(&key(HOST), iteration(cut), None, effect).await.unwrap()
}

/// Of two dropped iterations only the last good documents and what is compared with them stay.
pub async fn what_nothing_refers_to_goes_and_the_rest_reads_the_same(
    (frontier, documents, reader, retained): &(impl Frontier, impl Documents, impl Reader, impl Pruning),
) {
    let segments = three_iterations(frontier, documents).await;
    let before = view(reader, iteration(3)).await;
    assert!(before.len() > 8, "{before:?}");
    let pruned = prune(retained, 2, PruneMode::Delete).await;
    assert_eq!(pruned.unused, [unused(&segments[1])], "in the first, `/old` and the body of `/same` are referred to");
    assert_eq!((pruned.kept, pruned.after), (2, None));
    assert_eq!(view(reader, iteration(3)).await, before);
    retained.forget_objects(&[segments[1].id.clone()]).await.unwrap();
    assert_eq!(view(reader, iteration(3)).await, before);
    assert_eq!(documents.load(&segments[2]).await.unwrap().unwrap().len(), 1, "those of the kept iteration");
    let old = documents.load(&segments[0]).await.unwrap().unwrap();
    assert!(old.iter().any(|document| document.url == url(&format!("https://{HOST}/old"))), "{old:?}");
    let visits = reader.log(&Filter::by_iteration(iteration(2)), None, 99).await.unwrap().rows;
    assert!(visits.iter().all(|visit| visit.record.is_none()), "no record of the second is left: {visits:?}");
    let stored = reader.segments(&Filter::default(), None, 99).await.unwrap().rows;
    let stored: Vec<_> = stored.into_iter().map(|segment| segment.object).collect();
    assert_eq!(stored, [segments[0].object.clone(), segments[2].object.clone()], "the object of the second is gone");
}

/// A count finds the same, and everything is as it was.
pub async fn counting_deletes_nothing(
    (frontier, documents, reader, retained): &(impl Frontier, impl Documents, impl Reader, impl Pruning),
) {
    three_iterations(frontier, documents).await;
    let all = async || [view(reader, iteration(1)).await, view(reader, iteration(2)).await].concat();
    let before = all().await;
    let counted = prune(retained, 2, PruneMode::Count).await;
    assert_eq!(all().await, before);
    assert_eq!(prune(retained, 2, PruneMode::Delete).await, counted, "as it was counted");
    assert_ne!(all().await, before);
}

/// Until objects are recorded as gone they are found again.
pub async fn a_walk_that_died_is_finished_by_the_next(
    (frontier, documents, _, retained): &(impl Frontier, impl Documents, impl Reader, impl Pruning),
) {
    let segments = three_iterations(frontier, documents).await;
    for _died in 0..2 {
        assert_eq!(
            prune(retained, 2, PruneMode::Delete).await.unused,
            [unused(&segments[1])],
            "its object may be there"
        );
    }
    let gone = [segments[1].id.clone()];
    for _repeated in 0..2 {
        retained.forget_objects(&gone).await.unwrap();
    }
    let after = prune(retained, 2, PruneMode::Delete).await;
    assert_eq!((after.unused, after.visits, after.kept), (Vec::new(), 0, 2), "nothing is left to do");
}

/// The first time stands, and iterations that are kept have none.
pub async fn iterations_are_marked_once_and_listed_newest_first(
    (frontier, documents, reader, retained): &(impl Frontier, impl Documents, impl Reader, impl Pruning),
) {
    assert_eq!(retained.list_iterations(&crawl()).await.unwrap(), [], "there is none");
    three_iterations(frontier, documents).await;
    for (cut, second) in [(1, 5_000), (2, 6_000), (2, 7_000)] {
        retained.mark_pruned(&crawl(), iteration(cut), at(second)).await.unwrap();
    }
    let rows = retained.list_iterations(&crawl()).await.unwrap();
    let marks: Vec<_> = rows.iter().map(|row| (row.number.number(), row.pruned_at)).collect();
    assert_eq!(marks, [(3, None), (2, Some(at(6_000))), (1, Some(at(5_000)))]);
    assert_eq!(reader.load_iteration(iteration(2)).await.unwrap().unwrap().pruned_at, Some(at(6_000)));
}

/// Segments of later iterations are not even looked at.
pub async fn nothing_of_a_kept_iteration_goes(
    (frontier, documents, reader, retained): &(impl Frontier, impl Documents, impl Reader, impl Pruning),
) {
    three_iterations(frontier, documents).await;
    let (second, third) = (view(reader, iteration(2)).await, view(reader, iteration(3)).await);
    let pruned = prune(retained, 1, PruneMode::Delete).await;
    assert_eq!((pruned.unused, pruned.kept), (Vec::new(), 2), "`/old` and `/same` stay, and with them their object");
    assert_eq!((view(reader, iteration(2)).await, view(reader, iteration(3)).await), (second, third));
}

/// Whoever keeps something that was made of rows sees that URLs were forgotten meanwhile: by a
/// number, which nothing else changes.
pub async fn whatever_is_forgotten_is_counted(
    (frontier, documents, reader, retained): &(impl Frontier, impl Documents, impl Reader, impl Pruning + Forgetting),
) {
    three_iterations(frontier, documents).await;
    prune(retained, 1, PruneMode::Delete).await;
    let mut before = reader.times_forgotten().await.unwrap();
    assert_eq!(before, 0, "nothing was forgotten");
    for path in ["/old", "/page"] {
        retained.forget_urls(&crawl(), &[url(&format!("https://{HOST}{path}"))]).await.unwrap();
        let times = reader.times_forgotten().await.unwrap();
        assert!(times > before, "{path}: {times}");
        assert_eq!(reader.times_forgotten().await.unwrap(), times, "reading changes nothing");
        before = times;
    }
}
