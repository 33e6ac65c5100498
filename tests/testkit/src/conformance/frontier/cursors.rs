//! The cursors of walks through all origins.

use dragline_domain::frontier::{OriginCursor, Reserve, StatusChange, Walk};
use dragline_ports::frontier::{CursorMoved, Frontier, MoveCursor};

use super::super::samples::{crawl, key, origin};
use super::super::world::{UNLIMITED, World};

use CursorMoved::{Elsewhere, Moved};
use OriginCursor::{Done, NotBegun};

fn after(host: &str) -> OriginCursor {
    OriginCursor::After(origin(host))
}

async fn go<F: Frontier>(world: &World<'_, F>, walk: Walk, seen: &OriginCursor, to: &OriginCursor) -> CursorMoved {
    let (seen, to) = (seen.clone(), to.clone());
    let moved = MoveCursor { crawl: crawl(), iteration: world.iteration, walk, seen, to };
    world.frontier.move_cursor(&moved).await.unwrap()
}

/// A cursor moves only from where the caller saw it. The move may be repeated; of two callers with
/// the same work the second is told.
pub async fn a_cursor_moves_from_where_it_was_seen(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let (a, b, c) = (after("a.example"), after("b.example"), after("c.example"));
    for walk in Walk::ALL {
        assert_eq!(world.row().await.cursors.get(walk), &NotBegun, "at the beginning");
        for (seen, to, expected, stands, why) in [
            (&NotBegun, &b, Moved, &b, "the first part"),
            (&NotBegun, &a, Elsewhere, &b, "another worker did the first part"),
            (&NotBegun, &b, Moved, &b, "the answer was lost"),
            (&b, &c, Moved, &c, "another part"),
            (&b, &Done, Elsewhere, &c, "another worker did the next part"),
            (&c, &Done, Moved, &Done, "the last one"),
            (&c, &NotBegun, Elsewhere, &Done, "another worker did the last part"),
            (&Done, &NotBegun, Moved, &NotBegun, "anew"),
            (&b, &c, Elsewhere, &NotBegun, "this worker slept for a whole round"),
        ] {
            assert_eq!(go(&world, walk, seen, to).await, expected, "{walk:?}: {why}");
            assert_eq!(world.row().await.cursors.get(walk), stands, "{walk:?}: {why}");
        }
    }
    let (number, walk) = (world.iteration.next(), Walk::Seeds);
    let other = MoveCursor { crawl: crawl(), iteration: number, walk, seen: NotBegun, to: b };
    assert_eq!(frontier.move_cursor(&other).await.unwrap(), Elsewhere, "there is no such iteration");
    assert_eq!(frontier.load_iteration(&crawl(), number).await.unwrap(), None, "and none was made");
}

/// Each walk has its own cursor, and nothing else that happens to the iteration moves it.
pub async fn cursors_of_several_walks_are_told_apart(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let stands = [after("a.example"), after("b.example"), Done, after("c.example")];
    for (walk, to) in Walk::ALL.into_iter().zip(&stands) {
        assert_eq!(go(&world, walk, &NotBegun, to).await, Moved);
    }
    let check = async |why: &str| {
        let cursors = world.row().await.cursors;
        assert_eq!(Walk::ALL.map(|walk| cursors.get(walk).clone()), stands, "{why}");
    };
    check("each where it was put").await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    check("an origin opened").await;
    world.take(&origin, 1, 0).await;
    check("a lease was taken that reserves nothing").await;
    frontier.change_status(&crawl(), world.iteration, StatusChange::Stop).await.unwrap();
    frontier.return_token(&crawl(), world.iteration).await.unwrap();
    check("it was stopped, and the token returned").await;
}

/// Taking a lease that reserves budget restarts the search for holders, which has not seen the new
/// one.
pub async fn whoever_reserves_lets_the_search_for_holders_begin_anew(frontier: &impl Frontier) {
    let world = World::begin(frontier, Reserve { pages: Some(2), bytes: None }).await;
    let origins = [key("a.example"), key("b.example")];
    for origin in &origins {
        world.seed(origin, &["/"]).await;
    }
    let one = Reserve { pages: Some(1), bytes: None };
    for ((origin, by), searched) in origins.iter().zip([1, 2]).zip([after("a.example"), Done]) {
        assert_eq!(go(&world, Walk::Holders, &NotBegun, &searched).await, Moved);
        assert_eq!(go(&world, Walk::Leftovers, &NotBegun, &searched).await, Moved);
        world.try_take(origin, by, 0, one).await.unwrap();
        let cursors = world.row().await.cursors;
        assert_eq!((cursors.get(Walk::Holders), cursors.get(Walk::Leftovers)), (&NotBegun, &searched), "{origin}");
        assert_eq!(
            go(&world, Walk::Holders, &searched, &Done).await,
            Elsewhere,
            "the search has not seen the new holder"
        );
        assert_eq!(go(&world, Walk::Leftovers, &searched, &NotBegun).await, Moved);
    }
}
