//! The net change of several successive visits of a URL.

use std::fmt;

use dragline_domain::change::{ChangeKind, Part, VisitChange};
use dragline_domain::outcome::Outcome;
use dragline_ports::reader::LogRow;
use dragline_ports::row::{Cell, ColumnKind, Field};

/// A set of the parts of a page, in one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartSet(u8);

impl PartSet {
    /// Returns whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether the set contains a part.
    #[must_use]
    pub const fn contains(self, part: Part) -> bool {
        self.0 & bit(part) != 0
    }

    /// Returns the union of the sets.
    #[must_use]
    pub const fn union(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    /// Returns the names of the parts, in order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Part::ALL.into_iter().filter(move |part| self.contains(*part)).map(Part::name)
    }
}

impl fmt::Display for PartSet {
    /// Writes the names, separated by commas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().collect::<Vec<_>>().join(","))
    }
}

/// The names, separated by commas; missing if there are none.
impl Field for PartSet {
    const KINDS: &'static [ColumnKind] = &[ColumnKind::Text];

    fn cells(self) -> impl Iterator<Item = Option<Cell>> {
        (!self.is_empty()).then(|| self.to_string()).cells()
    }
}

const fn bit(part: Part) -> u8 {
    match part {
        Part::Status => 1,
        Part::Title => 1 << 1,
        Part::Main => 1 << 2,
        Part::Text | Part::Rest => 1 << 3,
        Part::Items => 1 << 4,
        Part::Links => 1 << 5,
        Part::Metadata => 1 << 6,
        Part::Body => 1 << 7,
    }
}

impl FromIterator<Part> for PartSet {
    fn from_iter<I: IntoIterator<Item = Part>>(parts: I) -> Self {
        Self(parts.into_iter().fold(0, |bits, part| bits | bit(part)))
    }
}

/// What a visit found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitResult {
    /// A redirect.
    Redirect,
    /// Anything else.
    Page,
    /// The same as the previous visit.
    AsBefore,
}

/// The change that one visit of a URL found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its effect on the current state of the site.
    pub kind: ChangeKind,
    /// The parts that differ from the previous document.
    pub parts: PartSet,
    /// What the visit found.
    pub shows: VisitResult,
}

impl Step {
    /// Returns the change of a visit; `None` if it was retried or had no lasting effect.
    #[must_use]
    pub fn from_row(row: &LogRow) -> Option<Self> {
        let VisitChange { kind, parts } = row.change.as_ref().filter(|_| row.r#final)?;
        let shows = match row.outcome {
            Outcome::PermanentRedirect | Outcome::TemporaryRedirect => VisitResult::Redirect,
            Outcome::FileDidNotChange => VisitResult::AsBefore,
            _ => VisitResult::Page,
        };
        Some(Self { kind: *kind, parts: parts.iter().copied().collect(), shows })
    }
}

/// The state of a URL before the first visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InitialState {
    /// It had never been shown.
    Absent,
    /// It had been shown, but was not any more.
    Hidden,
    /// It was shown.
    Shown,
    /// It was shown, and redirected.
    Redirected,
}

/// The net change of the visits of a URL between two iterations. Takes a few bytes.
///
/// The log has no digests, so a page that changed and changed back counts as changed, in the parts
/// that did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Net {
    before: InitialState,
    standing: ShownState,
    /// Whether it redirects now, or did when last shown.
    redirects: bool,
    differs: bool,
    parts: PartSet,
}

/// Whether the URL is shown after the visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShownState {
    Shown,
    Hidden,
    /// The definition excludes it.
    OutOfScope,
}

impl Net {
    /// Returns the net change with this visit added to the earlier ones, if any.
    #[must_use]
    pub fn add(net: Option<Self>, step: Step) -> Self {
        net.unwrap_or_else(|| Self::initial(step)).then(step)
    }

    /// Returns the net change before any visit. The kind of the first visit tells the URL's state.
    fn initial(first: Step) -> Self {
        let redirects = first.shows == VisitResult::Redirect;
        let (before, redirects) = match first.kind {
            ChangeKind::New => (InitialState::Absent, false),
            ChangeKind::Back => (InitialState::Hidden, false),
            ChangeKind::Changed | ChangeKind::Unchanged if redirects => (InitialState::Redirected, true),
            ChangeKind::Changed
            | ChangeKind::Moved
            | ChangeKind::Gone
            | ChangeKind::OutOfScope
            | ChangeKind::Unchanged => (InitialState::Shown, false),
        };
        let standing = match before {
            InitialState::Absent | InitialState::Hidden => ShownState::Hidden,
            InitialState::Shown | InitialState::Redirected => ShownState::Shown,
        };
        Self { before, standing, redirects, differs: false, parts: PartSet::default() }
    }

    fn then(self, step: Step) -> Self {
        match step.kind {
            ChangeKind::Gone => return Self { standing: ShownState::Hidden, ..self },
            ChangeKind::OutOfScope => return Self { standing: ShownState::OutOfScope, ..self },
            _ => {}
        }
        let redirects = match step.shows {
            VisitResult::Redirect => true,
            VisitResult::Page => false,
            VisitResult::AsBefore => self.redirects,
        };
        let is_other = match step.kind {
            ChangeKind::Changed | ChangeKind::Moved => true,
            // Only text around the main part differs.
            ChangeKind::Unchanged => false,
            _ => !step.parts.is_empty(),
        };
        let (differs, parts) = (self.differs || is_other, self.parts.union(step.parts));
        Self { standing: ShownState::Shown, redirects, differs, parts, ..self }
    }

    /// Returns the net change with the parts that really differ.
    #[must_use]
    pub fn with_parts(self, parts: PartSet) -> Self {
        Self { parts, ..self }
    }

    /// Returns the net change without a change of content.
    #[must_use]
    pub fn unchanged(self) -> Self {
        Self { differs: false, parts: PartSet::default(), ..self }
    }

    /// Returns the kind of change; `None` if the URL was and is not shown, or did not change.
    #[must_use]
    pub fn kind(self) -> Option<ChangeKind> {
        Some(match (self.before, self.standing) {
            (InitialState::Absent | InitialState::Hidden, ShownState::Hidden | ShownState::OutOfScope) => return None,
            (InitialState::Absent, ShownState::Shown) => ChangeKind::New,
            (InitialState::Hidden, ShownState::Shown) => ChangeKind::Back,
            (InitialState::Shown | InitialState::Redirected, ShownState::Hidden) => ChangeKind::Gone,
            (InitialState::Shown | InitialState::Redirected, ShownState::OutOfScope) => ChangeKind::OutOfScope,
            (InitialState::Shown, ShownState::Shown) if self.redirects && self.parts.contains(Part::Status) => {
                ChangeKind::Moved
            }
            (InitialState::Shown | InitialState::Redirected, ShownState::Shown) if self.differs => ChangeKind::Changed,
            (InitialState::Shown | InitialState::Redirected, ShownState::Shown) => ChangeKind::Unchanged,
        })
    }

    /// Returns the changed parts of a page that existed before; none if it is new or gone.
    #[must_use]
    pub fn parts(self) -> PartSet {
        match self.kind() {
            Some(ChangeKind::Changed | ChangeKind::Moved | ChangeKind::Back) => self.parts,
            _ => PartSet::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use ChangeKind::{Back, Changed, Gone, Moved, New, OutOfScope, Unchanged};
    use Part::{Links, Status, Text, Title};

    use super::*;
    use crate::samples::visit;

    /// A visit with this change, in these parts, that found a page; a redirect if it moved.
    fn step(kind: ChangeKind, parts: &[Part]) -> Step {
        let shows = if kind == Moved { VisitResult::Redirect } else { VisitResult::Page };
        Step { kind, parts: parts.iter().copied().collect(), shows }
    }

    /// The same for a visit that found a redirect.
    fn redirect(kind: ChangeKind, parts: &[Part]) -> Step {
        Step { shows: VisitResult::Redirect, ..step(kind, parts) }
    }

    /// A visit that found the same as the previous one.
    fn same(kind: ChangeKind) -> Step {
        Step { shows: VisitResult::AsBefore, ..step(kind, &[]) }
    }

    /// Steps, their net change and its parts, and why.
    type Case<'a> = (&'a [Step], Option<ChangeKind>, &'a [Part], &'a str);

    #[test]
    fn steps_are_combined() {
        let cases: [Case<'_>; 26] = [
            (&[step(New, &[])], Some(New), &[], "one step is what it is"),
            (&[step(Changed, &[Text])], Some(Changed), &[Text], "one step"),
            (&[step(Changed, &[])], Some(Changed), &[], "the one before could not be read"),
            (&[step(Moved, &[Status, Text])], Some(Moved), &[Status, Text], "one step"),
            (&[step(Gone, &[])], Some(Gone), &[], "one step"),
            (&[step(Back, &[Title])], Some(Back), &[Title], "one step, with what differs from when it was last shown"),
            (&[same(Unchanged)], Some(Unchanged), &[], "one step"),
            (
                &[step(New, &[]), step(Changed, &[Text])],
                Some(New),
                &[],
                "it was not there before, whatever it said first",
            ),
            (&[step(New, &[]), step(Gone, &[])], None, &[], "as if it had never been"),
            (&[step(New, &[]), step(Gone, &[]), step(Back, &[Text])], Some(New), &[], "it stayed after all"),
            (&[step(New, &[]), step(Moved, &[Status])], Some(New), &[], "a new redirect"),
            (&[step(Gone, &[]), same(Back)], Some(Unchanged), &[], "it came back as it was"),
            (&[step(Gone, &[]), step(Back, &[Text])], Some(Changed), &[Text], "it came back with another text"),
            (
                &[step(Gone, &[]), redirect(Back, &[Status, Text])],
                Some(Moved),
                &[Status, Text],
                "it came back as a redirect",
            ),
            (&[step(Back, &[]), step(Gone, &[])], None, &[], "it is as gone as before"),
            (&[step(Changed, &[Text]), step(OutOfScope, &[])], Some(OutOfScope), &[], "nobody looks for it any more"),
            (&[step(New, &[]), step(OutOfScope, &[])], None, &[], "as if it had never been"),
            (&[step(Back, &[Text]), step(Changed, &[Title])], Some(Back), &[Title, Text], "all that differs"),
            (&[step(Back, &[]), step(Moved, &[Status])], Some(Back), &[Status], "something is there again"),
            (&[step(Changed, &[Title]), step(Changed, &[Links])], Some(Changed), &[Title, Links], "both parts"),
            (&[step(Changed, &[Text]), same(Unchanged)], Some(Changed), &[Text], "it stays changed"),
            (&[step(Changed, &[Text]), step(Gone, &[])], Some(Gone), &[], "what it said last does not matter"),
            (&[step(Moved, &[Status]), step(Gone, &[])], Some(Gone), &[], "the redirect is gone, too"),
            (
                &[step(Moved, &[Status, Text]), step(Changed, &[Status, Text])],
                Some(Changed),
                &[Status, Text],
                "a page again; whether as before is not logged",
            ),
            (
                &[redirect(Changed, &[Links]), step(Changed, &[Status]), step(Moved, &[Status])],
                Some(Changed),
                &[Status, Links],
                "it redirected before, too",
            ),
            (
                &[step(Moved, &[Status]), redirect(Changed, &[Links])],
                Some(Moved),
                &[Status, Links],
                "it redirects elsewhere",
            ),
        ];
        for (steps, kind, parts, why) in cases {
            let net = steps.iter().fold(None, |net, step| Some(Net::add(net, *step))).unwrap();
            assert_eq!(net.kind(), kind, "{why}");
            assert_eq!(net.parts(), parts.iter().copied().collect(), "{why}");
        }
        assert!(size_of::<Net>() <= 8, "many are remembered at once");
    }

    #[test]
    fn a_step_is_read_from_a_row_of_the_log() {
        let row = |outcome, kind: Option<ChangeKind>, parts: &[Part]| LogRow {
            change: kind.map(|kind| VisitChange { kind, parts: parts.to_vec() }),
            ..visit("https://a.example/", outcome)
        };
        let page = Outcome::FileIngested;
        let moved = redirect(Moved, &[Status, Links]);
        let retried = LogRow { r#final: false, ..row(page, Some(New), &[]) };
        for (row, expected, why) in [
            (row(page, Some(New), &[]), Some(step(New, &[])), "a page"),
            (row(Outcome::TemporaryRedirect, Some(Moved), &[Status, Links]), Some(moved), "a redirect"),
            (row(Outcome::FileDidNotChange, Some(Unchanged), &[]), Some(same(Unchanged)), "304"),
            (row(Outcome::ServerInternalError, None, &[]), None, "it failed"),
            (retried, None, "what counts is how it ended"),
        ] {
            assert_eq!(Step::from_row(&row), expected, "{why}");
        }
        let parts: PartSet = [Text, Status].into_iter().collect();
        assert_eq!(parts.names().collect::<Vec<_>>(), ["status", "text"], "in order");
    }
}
