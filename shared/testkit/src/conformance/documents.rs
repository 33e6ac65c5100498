//! Documents: a segment's set is put once and read back unchanged.

use dragline_domain::document::{
    Directives, Disposition, Document, DocumentState, Link, LinkKind, MadeBy, Page, PageCut,
};
use dragline_domain::frontier::SegmentRow;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::Spelling;
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::frontier::Frontier;
use futures_util::future::join_all;

use super::samples::{key, url};
use super::world::{UNLIMITED, World};

/// Runs every behaviour of a document store on `((frontier, documents), guard)`, which the future given makes; the guard is dropped after
/// the test. With `rejections` before the future, expands to an expression: the names of the behaviours that fail.
#[macro_export]
macro_rules! documents_suite {
    ($make:expr) => {
        $crate::documents_suite! { behaviours, $make }
    };
    ($what:ident, $make:expr) => {
        $crate::$what! { documents, $make;
            documents_come_back_as_they_were
            documents_are_put_once
            of_many_who_put_documents_one_stores_them
            no_documents_are_not_the_same_as_none_yet
        }
    };
}

async fn segments(frontier: &impl Frontier) -> [SegmentRow; 2] {
    let world = World::begin(frontier, UNLIMITED).await;
    let (first, second) = (key("a.example"), key("b.example"));
    for origin in [&first, &second] {
        world.seed(origin, &["/"]).await;
    }
    [world.crawl_until_idle(&first, 1, 0).await, world.crawl_until_idle(&second, 2, 0).await]
}

fn bare(n: u32, path: &str) -> Document {
    Document {
        n,
        url: url(&format!("https://a.example{path}")),
        outcome: Outcome::FileNotFound,
        detail: None,
        state: DocumentState::Processed,
        page: None,
        links: Vec::new(),
        made_by: None,
    }
}

fn full(n: u32) -> Document {
    let link =
        |kind, target: &str, disposition| Link { kind, target: url(target), disposition, spelling: Spelling::Whole };
    let page = Page {
        title: Some("“A” \u{1f577}".into()),
        description: Some(String::new()),
        language: Some("en".into()),
        charset: Some("UTF-8".into()),
        canonical: Some(url("https://elsewhere.example/")),
        directives: Directives { noindex: true, nofollow: false },
        text: "line\nline \u{0}".into(),
        cut: PageCut::TextAndLinks,
    };
    let links = vec![
        link(LinkKind::A, "https://a.example/b?c=d", Disposition::Follow),
        link(LinkKind::Img, "https://b.example/", Disposition::NotAPage),
        link(LinkKind::A, "https://a.example/n", Disposition::NoFollow),
        link(LinkKind::Iframe, "http://a.example/", Disposition::OutOfScope),
        link(LinkKind::Redirect, "https://a.example/d", Disposition::TooDeep),
        link(LinkKind::A, "https://a.example/x", Disposition::Blocked("rule 1: \"x\"".into())),
        link(LinkKind::A, "https://a.example/y", Disposition::BeyondBudget),
        Link { spelling: Spelling::Stripped, ..link(LinkKind::A, "https://a.example/z", Disposition::Follow) },
    ];
    Document {
        page: Some(page),
        links,
        outcome: Outcome::FileIngested,
        made_by: Some(MadeBy::new("html", 1)),
        ..bare(n, "/full?q=%20")
    }
}

/// Every field of a document is kept, whatever its outcome: missing and empty ones, and every kind of disposition.
pub async fn documents_come_back_as_they_were((frontier, documents): &(impl Frontier, impl Documents)) {
    let [segment, _] = segments(frontier).await;
    let stuck = Document {
        state: DocumentState::Stuck,
        detail: Some("it broke: 'x'".into()),
        outcome: Outcome::UnknownError,
        ..bare(2, "/stuck")
    };
    let empty_page = Document { page: Some(Page::default()), ..bare(7, "/empty") };
    // Whether it is a copy of its canonical URL is decided later; until then all of it is kept.
    let copy = Document { outcome: Outcome::NotCanonical, ..full(8) };
    let put = [bare(0, "/"), full(1), stuck, empty_page, copy];
    assert_eq!(documents.put_new(&segment, &put).await.unwrap(), PutDocuments::Stored);
    assert_eq!(documents.load(&segment).await.unwrap(), Some(put.to_vec()));
}

/// The first set wins; later puts get it back.
pub async fn documents_are_put_once((frontier, documents): &(impl Frontier, impl Documents)) {
    let [segment, other] = segments(frontier).await;
    let first = [full(0)];
    assert_eq!(documents.put_new(&segment, &first).await.unwrap(), PutDocuments::Stored);
    let again = documents.put_new(&segment, &[bare(0, "/"), bare(1, "/b")]).await.unwrap();
    assert_eq!(again, PutDocuments::Found(first.to_vec()));
    assert_eq!(documents.load(&segment).await.unwrap(), Some(first.to_vec()));
    assert_eq!(documents.load(&other).await.unwrap(), None, "another segment's");
}

/// Of many concurrent puts of a segment's documents one stores its set, and the others get that set.
pub async fn of_many_who_put_documents_one_stores_them((frontier, documents): &(impl Frontier, impl Documents)) {
    let [segment, _] = segments(frontier).await;
    let sets: Vec<_> = (0..16).map(|number| [bare(number, "/")]).collect();
    let answers = join_all(sets.iter().map(|set| documents.put_new(&segment, set))).await;
    let answers: Vec<PutDocuments> = answers.into_iter().map(Result::unwrap).collect();
    let winners: Vec<_> = sets.iter().zip(&answers).filter(|(_, answer)| **answer == PutDocuments::Stored).collect();
    let [(stored, _)] = winners[..] else { panic!("exactly one stores its set: {answers:?}") };
    let others = answers.iter().filter(|answer| **answer == PutDocuments::Found(stored.to_vec())).count();
    assert_eq!(others, answers.len() - 1, "the others get that set: {answers:?}");
}

/// A segment without documents differs from one that was not parsed.
pub async fn no_documents_are_not_the_same_as_none_yet((frontier, documents): &(impl Frontier, impl Documents)) {
    let [segment, _] = segments(frontier).await;
    assert_eq!(documents.load(&segment).await.unwrap(), None);
    assert_eq!(documents.put_new(&segment, &[]).await.unwrap(), PutDocuments::Stored);
    assert_eq!(documents.load(&segment).await.unwrap(), Some(Vec::new()));
    assert_eq!(documents.put_new(&segment, &[full(0)]).await.unwrap(), PutDocuments::Found(Vec::new()));
}
