//! Changes between two documents of a URL, and the effect of a visit on the site's current state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::document::{Document, LinkKind, Page};
use crate::frontier::{DocumentStanding, LastDocument, StateChange, VisitPlace};
use crate::item::Item;
use crate::outcome::Outcome;
use crate::shown::count;
use crate::url::CrawlUrl;

/// A part of a URL's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Its status: a page, a redirect, a file of another type, a page that must not be indexed.
    Status,
    /// The title.
    Title,
    /// The main part, if it is known, without the elements that the definition ignores.
    Main,
    /// The visible text, if the main part is not known.
    Text,
    /// The visible text around the main part: a counter, a list of other pages. Alone it does not
    /// count as a change of the page. It is shown as `text`, too.
    Rest,
    /// The items.
    Items,
    /// Its link targets, in any order.
    Links,
    /// Description, language, canonical URL, or directives to crawlers.
    Metadata,
    /// The body of a URL that is not a page.
    Body,
}

impl Part {
    /// All parts with a name of their own, in the order in which they are reported.
    pub const ALL: [Self; 8] =
        [Self::Status, Self::Title, Self::Main, Self::Text, Self::Items, Self::Links, Self::Metadata, Self::Body];

    /// Returns its name as stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Title => "title",
            Self::Main => "main",
            Self::Text | Self::Rest => "text",
            Self::Items => "items",
            Self::Links => "links",
            Self::Metadata => "metadata",
            Self::Body => "body",
        }
    }

    /// Returns the part with this name; `None` if there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }
}

/// A link of a page, whatever its disposition.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PageLink {
    /// How the page makes it.
    pub kind: LinkKind,
    /// The target.
    pub target: CrawlUrl,
}

/// The difference between a document and the previous one. Stored with the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The visit of the previous document.
    pub since: VisitPlace,
    /// The parts that differ, in order; empty if both say the same in other bytes.
    pub parts: Vec<Part>,
    /// Links that only the new document has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links_added: Vec<PageLink>,
    /// Links that only the previous document has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links_removed: Vec<PageLink>,
}

impl Difference {
    /// Compares a document with the previous one, which was stored for the visit `since` with the
    /// outcome `was`.
    #[must_use]
    pub fn between(since: VisitPlace, was: Outcome, before: &Document, now: &Document) -> Self {
        let links = |document: &Document| -> BTreeSet<PageLink> {
            document.links.iter().map(|link| PageLink { kind: link.kind, target: link.target.clone() }).collect()
        };
        let (old_links, new_links) = (links(before), links(now));
        let (old, new) = (before.page.as_ref(), now.page.as_ref());
        let differ = |of: fn(&Page) -> &str| old.map_or("", of) != new.map_or("", of);
        let main = main_differs(before, now);
        let parts = [
            (Part::Status, comparable_code(was) != comparable_code(now.outcome)),
            (Part::Title, old.and_then(|page| page.title.as_ref()) != new.and_then(|page| page.title.as_ref())),
            (Part::Main, main == Some(true)),
            (Part::Text, main.is_none() && differ(|page| &page.text)),
            (Part::Rest, main == Some(false) && differ(|page| &page.text)),
            (Part::Items, is_comparable(before, now) && items(before) != items(now)),
            (Part::Links, old_links != new_links),
            (Part::Metadata, metadata(old) != metadata(new)),
            // Of two files that are not pages, only the digests of their bodies can be compared.
            (Part::Body, was == Outcome::StoredNotRead && now.outcome == was),
        ];
        Self {
            since,
            parts: parts.into_iter().filter_map(|(part, differs)| differs.then_some(part)).collect(),
            links_added: new_links.difference(&old_links).cloned().collect(),
            links_removed: old_links.difference(&new_links).cloned().collect(),
        }
    }
}

impl Difference {
    /// Whether the page itself changed: if its main part is known, the text around it does not
    /// count.
    #[must_use]
    pub fn is_change(&self) -> bool {
        self.parts.iter().any(|part| *part != Part::Rest)
    }
}

/// Whether two pages were parsed in the same way: another version of the program may extract more
/// from the same page.
fn is_comparable(before: &Document, now: &Document) -> bool {
    before.made_by == now.made_by
}

/// Whether the main parts differ; `None` if they cannot be compared.
fn main_differs(before: &Document, now: &Document) -> Option<bool> {
    if !is_comparable(before, now) {
        return None;
    }
    let (old, new) = (before.content.as_deref()?.main.as_ref()?, now.content.as_deref()?.main.as_ref()?);
    Some(if old.compared_sha1.is_empty() || new.compared_sha1.is_empty() {
        old.text != new.text
    } else {
        old.compared_sha1 != new.compared_sha1
    })
}

fn items(document: &Document) -> &[Item] {
    document.content.as_deref().map_or(&[], |content| &content.items)
}

/// Whether a page is a copy of its canonical URL is decided on reading, so it does not count as a
/// change.
const fn comparable_code(outcome: Outcome) -> i16 {
    match outcome {
        Outcome::NotCanonical | Outcome::Duplicate | Outcome::NeedsScript => Outcome::FileIngested.code(),
        other => other.code(),
    }
}

type Metadata<'p> = (Option<&'p str>, Option<&'p str>, Option<&'p CrawlUrl>, bool, bool);

fn metadata(page: Option<&Page>) -> Option<Metadata<'_>> {
    page.map(|page| {
        let Page { description, language, canonical, directives, .. } = page;
        (description.as_deref(), language.as_deref(), canonical.as_ref(), directives.noindex, directives.nofollow)
    })
}

/// The effect of a visit on the current state of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The URL shows something for the first time.
    New,
    /// It shows something else.
    Changed,
    /// It was a page, and now redirects.
    Moved,
    /// It is no longer shown: gone, or forbidden by its server.
    Gone,
    /// It is no longer shown, as the definition now leaves it out. Whether it exists was not
    /// checked.
    OutOfScope,
    /// It is shown again.
    Back,
    /// It shows the same as before.
    Unchanged,
}

impl ChangeKind {
    /// All kinds, in the order in which they are reported.
    pub const ALL: [Self; 7] =
        [Self::New, Self::Changed, Self::Moved, Self::Gone, Self::OutOfScope, Self::Back, Self::Unchanged];

    /// Returns its name as stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Moved => "moved",
            Self::Gone => "gone",
            Self::OutOfScope => "out_of_scope",
            Self::Back => "back",
            Self::Unchanged => "unchanged",
        }
    }

    /// Returns its name for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::OutOfScope => "out of scope",
            other => other.name(),
        }
    }

    /// Returns the kind with this name; `None` if there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the effect of a visit with this outcome, from the previous document and the visit's
    /// state change. `None` if there is none, or if it hides a URL that was not shown.
    #[must_use]
    pub fn classify(before: Option<&LastDocument>, change: &StateChange, outcome: Outcome) -> Option<Self> {
        let was_shown = before.is_some_and(|before| before.standing == DocumentStanding::Shown);
        match (before, change) {
            (_, StateChange::Kept) => None,
            (_, StateChange::Hidden(_)) => was_shown.then_some(match outcome {
                Outcome::BlockedUrlByLocalPolicy => Self::OutOfScope,
                _ => Self::Gone,
            }),
            (None, StateChange::Confirmed | StateChange::Shown { .. }) => Some(Self::New),
            (Some(_), _) if !was_shown => Some(Self::Back),
            (Some(_), StateChange::Confirmed) => Some(Self::Unchanged),
            (Some(before), StateChange::Shown { outcome, changed_at, .. }) => {
                let redirects = |outcome| matches!(outcome, Outcome::PermanentRedirect | Outcome::TemporaryRedirect);
                Some(match changed_at {
                    _ if redirects(*outcome) && !redirects(before.outcome) => Self::Moved,
                    Some(_) => Self::Changed,
                    None => Self::Unchanged,
                })
            }
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// Returns the number of changes by kind, for people: `12 new, 3 changed, 1 gone`. `None` if there
/// are none.
#[must_use]
pub fn changes_in_words(changes: &BTreeMap<ChangeKind, u64>) -> Option<String> {
    let found = changes.iter().filter(|(kind, urls)| **kind != ChangeKind::Unchanged && **urls > 0);
    let found: Vec<_> = found.map(|(kind, urls)| format!("{} {kind}", count(*urls))).collect();
    match (found.is_empty(), changes.is_empty()) {
        (true, true) => None,
        (true, false) => Some("nothing changed".to_owned()),
        (false, _) => Some(found.join(", ")),
    }
}

/// The change by a visit, as logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisitChange {
    /// Its effect on the current state.
    pub kind: ChangeKind,
    /// The parts that differ from the previous document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

impl VisitChange {
    /// Returns the names of the parts, separated by commas; empty if there are none.
    #[must_use]
    pub fn part_names(&self) -> String {
        self.parts.iter().map(|part| part.name()).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use ChangeKind::{Back, Changed, Gone, Moved, New, OutOfScope, Unchanged};

    use super::*;
    use crate::content::{Content, MainPart};
    use crate::document::{Directives, Disposition, ExtractorVersion, Link, Rel};
    use crate::frontier::{LinkDecisions, RulesDigest};
    use crate::ids::{Iteration, Turn};
    use crate::url::Spelling;

    const PLACE: VisitPlace = VisitPlace { iteration: Iteration::FIRST, turn: Turn(1), segment: 0, n: 3 };

    fn url(path: &str) -> CrawlUrl {
        CrawlUrl::try_from(format!("https://a.example{path}")).unwrap()
    }

    fn link(path: &str, disposition: Disposition) -> Link {
        Link {
            kind: LinkKind::A,
            target: url(path),
            disposition,
            spelling: Spelling::Whole,
            rel: Rel::Follow,
            anchor: None,
        }
    }

    /// Creates a page with a main part and a text around it.
    fn with_main(main: &str, text: &str, items: usize) -> Document {
        let item = Item { types: vec!["Thing".into()], id: None, fields: BTreeMap::new(), normal: BTreeMap::new() };
        page(|document, page| {
            page.text = text.into();
            let main = MainPart { text: main.into(), compared_sha1: main.into(), ..MainPart::default() };
            document.content =
                Some(Box::new(Content { main: Some(main), items: vec![item; items], ..Content::default() }));
        })
    }

    #[test]
    fn text_around_a_known_main_part_is_no_change() {
        use Outcome::FileIngested;
        use Part::{Items, Main, Rest, Text};
        let page_now = || with_main("m", "m 1", 0);
        let other_version = |mut document: Document| {
            document.made_by = Some(ExtractorVersion::new("html", 1));
            document
        };
        for (before, now, expected, is_change, why) in [
            (page_now(), page_now(), vec![], false, "the same"),
            (page_now(), with_main("m", "m 2", 0), vec![Rest], false, "a counter"),
            (page_now(), with_main("n", "n 1", 0), vec![Main], true, "what people read"),
            (page_now(), with_main("m", "m 2", 1), vec![Rest, Items], true, "an item"),
            (page_now(), other_version(page_now()), vec![], false, "made by another version"),
            (page_now(), other_version(with_main("n", "m 1", 1)), vec![], false, "which makes more of the same text"),
            (page_now(), other_version(with_main("m", "m 2", 0)), vec![Text], true, "then the text decides"),
        ] {
            let difference = Difference::between(PLACE, FileIngested, &before, &now);
            assert_eq!((&difference.parts, difference.is_change()), (&expected, is_change), "{why}");
        }
    }

    fn page(change: impl FnOnce(&mut Document, &mut Page)) -> Document {
        let mut document = Document::bare(0, url("/"), Outcome::FileIngested);
        let mut page = Page { title: Some("T".into()), text: "text".into(), ..Page::default() };
        document.links = vec![link("/a", Disposition::Follow), link("/b", Disposition::Follow)];
        change(&mut document, &mut page);
        Document { page: Some(page), ..document }
    }

    #[test]
    fn documents_are_compared_part_by_part() {
        use Outcome::{BlockedAtRequestOfRemote, FileIngested, NotCanonical, PermanentRedirect, StoredNotRead};
        use Part::{Body, Links, Metadata, Status, Text, Title};
        let same = || page(|_, _| {});
        let of = |outcome| Document::bare(0, url("/"), outcome);
        let cases: [(Outcome, Document, Document, &[Part], &str); 13] = [
            (FileIngested, same(), same(), &[], "other bytes, such as a comment"),
            (FileIngested, same(), page(|_, page| page.title = None), &[Title], "no title"),
            (FileIngested, same(), page(|_, page| page.text.push('!')), &[Text], "another text"),
            (FileIngested, same(), page(|document, _| document.links.reverse()), &[], "the order of links"),
            (
                FileIngested,
                same(),
                page(|document, _| document.links[0].disposition = Disposition::TooDeep),
                &[],
                "what is done with a link is the definition's, not the page's",
            ),
            (
                FileIngested,
                same(),
                page(|document, _| document.links[0].anchor = Some("other words".into())),
                &[],
                "what a link says is part of the text, if it is shown",
            ),
            (FileIngested, same(), page(|document, _| _ = document.links.pop()), &[Links], "a link fewer"),
            (FileIngested, same(), page(|_, page| page.language = Some("en".into())), &[Metadata], "its language"),
            (NotCanonical, same(), same(), &[], "whether it is a copy is decided on reading"),
            (
                FileIngested,
                same(),
                page(|document, page| {
                    document.outcome = BlockedAtRequestOfRemote;
                    page.directives = Directives { noindex: true, nofollow: false };
                    page.text.clear();
                }),
                &[Status, Text, Metadata],
                "it asks for noindex now",
            ),
            (FileIngested, same(), of(PermanentRedirect), &[Status, Title, Text, Links, Metadata], "it redirects now"),
            (StoredNotRead, of(StoredNotRead), of(StoredNotRead), &[Body], "another file"),
            (StoredNotRead, of(StoredNotRead), same(), &[Status, Title, Text, Links, Metadata], "a page now"),
        ];
        for (was, before, now, expected, why) in cases {
            assert_eq!(Difference::between(PLACE, was, &before, &now).parts, expected, "{why}");
        }
    }

    #[test]
    fn links_added_and_removed_are_named_once() {
        let before = page(|_, _| {});
        let now = page(|document, _| {
            let follow = |path| link(path, Disposition::Follow);
            document.links = vec![follow("/b"), follow("/c"), follow("/c"), link("/d", Disposition::OutOfScope)];
        });
        let Difference { links_added, links_removed, .. } =
            Difference::between(PLACE, Outcome::FileIngested, &before, &now);
        let paths = |links: &[PageLink]| links.iter().map(|link| link.target.path().to_owned()).collect::<Vec<_>>();
        assert_eq!((paths(&links_added), paths(&links_removed)), (vec!["/c".into(), "/d".into()], vec!["/a".into()]));
    }

    #[test]
    fn the_effect_of_a_visit_follows_from_its_changes() {
        let links = LinkDecisions { by: RulesDigest(1), depth: 0 };
        let before = |outcome, standing| Some(LastDocument { place: PLACE, outcome, standing, links });
        let shown = |outcome, changed: bool| StateChange::Shown {
            place: PLACE,
            outcome,
            links,
            changed_at: changed.then_some(Timestamp::UNIX_EPOCH),
        };
        let page = Outcome::FileIngested;
        let moved = Outcome::PermanentRedirect;
        for (before, change, expected, why) in [
            (None, shown(page, true), Some(New), "the first good visit"),
            (None, StateChange::Kept, None, "it failed, and never showed anything"),
            (None, StateChange::Hidden(DocumentStanding::Gone), None, "it was never there"),
            (before(page, DocumentStanding::Shown), shown(page, true), Some(Changed), "another text"),
            (before(page, DocumentStanding::Shown), shown(page, false), Some(Unchanged), "the same in other bytes"),
            (before(page, DocumentStanding::Shown), StateChange::Confirmed, Some(Unchanged), "304"),
            (before(page, DocumentStanding::Shown), StateChange::Kept, None, "it failed"),
            (before(page, DocumentStanding::Shown), StateChange::Hidden(DocumentStanding::Gone), Some(Gone), "404"),
            (
                before(page, DocumentStanding::Shown),
                StateChange::Hidden(DocumentStanding::Withdrawn),
                Some(Gone),
                "robots.txt forbids it",
            ),
            (before(page, DocumentStanding::Gone), StateChange::Hidden(DocumentStanding::Gone), None, "reported once"),
            (before(page, DocumentStanding::Gone), StateChange::Confirmed, Some(Back), "304 after a 404"),
            (before(page, DocumentStanding::Withdrawn), shown(page, true), Some(Back), "allowed again"),
            (before(page, DocumentStanding::Shown), shown(moved, true), Some(Moved), "the page is elsewhere now"),
            (before(moved, DocumentStanding::Shown), shown(moved, true), Some(Changed), "it redirects elsewhere"),
            (before(moved, DocumentStanding::Shown), shown(page, true), Some(Changed), "a page again"),
        ] {
            assert_eq!(ChangeKind::classify(before.as_ref(), &change, Outcome::BlockedByRobotsTxt), expected, "{why}");
        }
        let (left_out, change) = (Outcome::BlockedUrlByLocalPolicy, StateChange::Hidden(DocumentStanding::Withdrawn));
        let of_left_out = |before: Option<LastDocument>| ChangeKind::classify(before.as_ref(), &change, left_out);
        assert_eq!(
            of_left_out(before(page, DocumentStanding::Shown)),
            Some(OutOfScope),
            "nobody looked whether it is gone"
        );
        assert_eq!(of_left_out(before(page, DocumentStanding::Withdrawn)), None, "reported once");
        for kind in ChangeKind::ALL {
            assert_eq!(ChangeKind::from_name(kind.name()), Some(kind));
        }
        for part in Part::ALL {
            assert_eq!(Part::from_name(part.name()), Some(part));
        }
    }

    #[test]
    fn changes_are_counted_in_words() {
        for (changes, expected, why) in [
            (
                &[(Gone, 1), (New, 1_200), (OutOfScope, 63), (Unchanged, 7)][..],
                Some("1,200 new, 1 gone, 63 out of scope"),
                "in order",
            ),
            (&[(Unchanged, 7)], Some("nothing changed"), "all is as it was"),
            (&[], None, "nobody knows"),
        ] {
            let changes = changes.iter().copied().collect();
            assert_eq!(changes_in_words(&changes).as_deref(), expected, "{why}");
        }
    }
}
