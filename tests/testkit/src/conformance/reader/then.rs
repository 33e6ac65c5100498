//! What iterations saw of a page that did not change: the document that was current then.

use dragline_domain::document::{Disposition, Document, LinkKind};
use dragline_domain::frontier::{PartKind, SegmentRow};
use dragline_domain::ids::Iteration;
use dragline_ports::documents::Documents;
use dragline_ports::frontier::Frontier;
use dragline_ports::reader::{Filter, Reader};
use dragline_ports::retention::{PruneMode, Pruning};

use super::super::samples::{at, key};
use super::super::world::{UNLIMITED, World};
use super::retention::{HOST, prune, view};
use super::rows::ALL;
use super::story::{Made, Teller, got, place};

const PAGE: &str = "https://a.example/page";

/// A page with this title and a link.
fn page(second: i64, title: &str, to: &str) -> Made {
    got(0, PAGE).asked_at(at(second)).titled(title).link(
        LinkKind::A,
        &format!("https://{HOST}{to}"),
        Disposition::Follow,
    )
}

/// Runs an iteration in which the page is the only entry.
async fn iterate(frontier: &impl Frontier, documents: &impl Documents, number: u32, made: Made) -> SegmentRow {
    let (origin, by) = (key(HOST), format!("t{number}"));
    let world = World::begin_by(frontier, &by, UNLIMITED).await;
    world.seed_by(&origin, &by, &["/page"]).await;
    let segment = world.crawl_again_until_idle(&origin, number.into(), 1_000 * i64::from(number)).await;
    Teller { frontier, documents }.put(&segment, &[made]).await;
    world.parse(&segment, (0, PartKind::Last), &[]).await;
    world.end(&[&origin]).await;
    segment
}

/// An answer with the body of the first visit, of which the document of this segment was made.
fn same(second: i64, of: &SegmentRow) -> Made {
    got(0, PAGE).asked_at(at(second)).unchanged_since(at(1_000), place(of, 0))
}

async fn stored(documents: &impl Documents, segment: &SegmentRow) -> Document {
    documents.load(segment).await.unwrap().unwrap().swap_remove(0)
}

/// A page that did not change has the title, text and links of the document that was current when
/// it was visited: of one that was made again of the same body before, and not of one that came
/// later. A document that the visit put itself goes first.
pub async fn an_unchanged_page_shows_what_it_did_then(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    let first = iterate(frontier, documents, 1, page(1_000, "first", "/1")).await;
    let of_first = stored(documents, &first).await;
    iterate(frontier, documents, 2, same(2_000, &first)).await;
    let again = iterate(frontier, documents, 3, page(3_000, "made again", "/2").made_again_of(&of_first)).await;
    iterate(frontier, documents, 4, same(4_000, &again)).await;
    let own = page(5_000, "by other rules", "/3").of_body(&of_first).document();
    let decided_again = iterate(frontier, documents, 5, same(5_000, &again).with_document(own)).await;
    iterate(frontier, documents, 6, same(6_000, &decided_again)).await;
    iterate(frontier, documents, 7, page(7_000, "another", "/4")).await;
    for (number, title, to, why) in [
        (1, Some("first"), "/1", "it was new"),
        (2, Some("first"), "/1", "it was as in the first"),
        (3, None, "/2", "it was not visited, and its document was made again"),
        (4, Some("made again"), "/2", "it was as it had been made again"),
        (5, Some("by other rules"), "/3", "the visit put a document of its own"),
        (6, Some("by other rules"), "/3", "it was as that says"),
        (7, Some("another"), "/4", "it changed"),
    ] {
        let filter = Filter::by_iteration(Iteration::new(number).unwrap());
        let pages = reader.seen_pages(&filter, None, ALL).await.unwrap().rows;
        let pages: Vec<_> =
            pages.iter().map(|row| (row.url.as_str(), row.title.as_deref(), row.text.as_deref())).collect();
        let text = format!("what {PAGE} says\nin two lines");
        let shown = title.map(|title| (PAGE, Some(title), Some(text.as_str())));
        assert_eq!(pages, shown.into_iter().collect::<Vec<_>>(), "iteration {number}: {why}");
        let links = reader.seen_links(&filter, None, ALL).await.unwrap().rows;
        let links: Vec<_> = links.into_iter().map(|row| (row.iteration, row.from_url, row.to_url)).collect();
        assert_eq!(links, [(number, PAGE.to_owned(), format!("https://{HOST}{to}"))], "iteration {number}: {why}");
    }
}

/// What a kept iteration found unchanged stays as it shows it: also a document that a visit of a
/// dropped one put though it found the page unchanged, and that nothing else refers to.
pub async fn what_a_kept_visit_confirmed_stays(
    (frontier, documents, reader, retained): &(impl Frontier, impl Documents, impl Reader, impl Pruning),
) {
    let first = iterate(frontier, documents, 1, page(1_000, "first", "/1")).await;
    let of_first = stored(documents, &first).await;
    let own = page(2_000, "by other rules", "/2").of_body(&of_first).document();
    let decided_again = iterate(frontier, documents, 2, same(2_000, &first).with_document(own)).await;
    iterate(frontier, documents, 3, same(3_000, &decided_again)).await;
    iterate(frontier, documents, 4, page(4_000, "another", "/4")).await;
    let third = Iteration::new(3).unwrap();
    let before = view(reader, third).await;
    assert!(before.iter().any(|row| row.contains("by other rules")), "{before:#?}");
    let pruned = prune(retained, 2, PruneMode::Delete).await;
    assert_eq!(view(reader, third).await, before);
    assert_eq!(pruned.kept, 2, "the body, and the document that was made of it later");
}
