//! Who makes documents again: one job at a time, while no iteration is open.

use std::slice::from_ref;

use dragline_domain::remake::{RemakeState, RemakeTotals};
use dragline_ports::documents::Documents;
use dragline_ports::frontier::Frontier;
use dragline_ports::reader::Reader;
use dragline_ports::remaking::{RemakeBegun, Remaking, ReplaceResult, Replacement};
use dragline_ports::retention::{Forgetting, Pruning};

use super::super::samples::crawl;
use super::super::world::{UNLIMITED, World};
use super::remaking::{begin, first, job, remade, replace, state};
use super::retention::{three_iterations, view};

/// It is stored with what was made, by crawl.
pub async fn how_far_it_has_come_is_known_until_it_is_over(
    (frontier, documents, _, remaking, _): &(
        impl Frontier,
        impl Documents,
        impl Reader,
        impl Remaking,
        impl Pruning + Forgetting,
    ),
) {
    let segments = three_iterations(frontier, documents).await;
    let begun = RemakeState::begin(job(3));
    assert_eq!(begin(remaking).await, begun, "nobody began");
    for segment in &segments[..2] {
        replace(remaking, segment, &[]).await;
        assert_eq!(begin(remaking).await, state(segment));
    }
    let of_other = remaking.begin_remake(&"other".parse().unwrap(), &job(3)).await.unwrap();
    assert_eq!(of_other, RemakeBegun::From(begun.clone()), "of another crawl");
    assert_eq!(begin(remaking).await, state(&segments[1]), "which changes nothing here");
    for _repeated in 0..2 {
        remaking.end_remake(&crawl(), &job(3)).await.unwrap();
    }
    let after = state(&segments[2]);
    let late = remaking.replace(Replacement { segment: &segments[2], visits: &[], state: &after }).await.unwrap();
    assert_eq!(late, ReplaceResult::Superseded, "it is over");
    assert_eq!(begin(remaking).await, begun, "the next begins anew");
}

/// A segment is counted once, by the try that found it as it was.
pub async fn what_was_counted_first_counts(
    (frontier, documents, _, remaking, _): &(
        impl Frontier,
        impl Documents,
        impl Reader,
        impl Remaking,
        impl Pruning + Forgetting,
    ),
) {
    let segments = three_iterations(frontier, documents).await;
    let segment = &segments[0];
    begin(remaking).await;
    let visit_made = remade(segment, 0, &first(documents, segment).await);
    replace(remaking, segment, from_ref(&visit_made)).await;
    let later =
        RemakeState { done: RemakeTotals { remade: 2, different: 7, ..RemakeTotals::default() }, ..state(segment) };
    let again = Replacement { segment, visits: from_ref(&visit_made), state: &later };
    assert_eq!(remaking.replace(again).await.unwrap(), ReplaceResult::Done(state(segment).done));
    assert_eq!(begin(remaking).await, state(segment));
}

/// Whoever is at the first is told, and writes nothing.
pub async fn another_job_takes_the_place_of_the_first(
    (frontier, documents, reader, remaking, _): &(
        impl Frontier,
        impl Documents,
        impl Reader,
        impl Remaking,
        impl Pruning + Forgetting,
    ),
) {
    let segments = three_iterations(frontier, documents).await;
    begin(remaking).await;
    replace(remaking, &segments[0], &[]).await;
    let second = remaking.begin_remake(&crawl(), &job(4)).await.unwrap();
    assert_eq!(second, RemakeBegun::From(RemakeState::begin(job(4))), "from its beginning");
    let before = view(reader, segments[1].iteration).await;
    let (visit, state) = (remade(&segments[1], 0, &first(documents, &segments[1]).await), state(&segments[1]));
    let late = Replacement { segment: &segments[1], visits: from_ref(&visit), state: &state };
    assert_eq!(remaking.replace(late).await.unwrap(), ReplaceResult::Superseded);
    remaking.end_remake(&crawl(), &job(3)).await.unwrap();
    assert_eq!(view(reader, segments[1].iteration).await, before);
    let state = RemakeState { job: job(4), ..state };
    let own = Replacement { segment: &segments[1], visits: from_ref(&visit), state: &state };
    assert_eq!(remaking.replace(own).await.unwrap(), ReplaceResult::Done(state.done), "the second goes on");
    assert_ne!(view(reader, segments[1].iteration).await, before);
}

/// While one is open nothing is replaced; once it is over the work goes on where it was.
pub async fn an_iteration_goes_first(
    (frontier, documents, reader, remaking, _): &(
        impl Frontier,
        impl Documents,
        impl Reader,
        impl Remaking,
        impl Pruning + Forgetting,
    ),
) {
    let segments = three_iterations(frontier, documents).await;
    begin(remaking).await;
    replace(remaking, &segments[0], &[]).await;
    let world = World::begin_by(frontier, "w", UNLIMITED).await;
    let open = world.iteration;
    let before = view(reader, segments[1].iteration).await;
    let (visit, state_of) = (remade(&segments[1], 0, &first(documents, &segments[1]).await), state(&segments[1]));
    let late = Replacement { segment: &segments[1], visits: from_ref(&visit), state: &state_of };
    assert_eq!(remaking.replace(late).await.unwrap(), ReplaceResult::Busy(open));
    assert_eq!(view(reader, segments[1].iteration).await, before);
    assert_eq!(remaking.begin_remake(&crawl(), &job(3)).await.unwrap(), RemakeBegun::Busy(open));
    world.end(&[]).await;
    assert_eq!(begin(remaking).await, state(&segments[0]));
    replace(remaking, &segments[1], from_ref(&visit)).await;
    assert_ne!(view(reader, segments[1].iteration).await, before);
}
