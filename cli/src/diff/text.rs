//! The list as text.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use dragline_domain::change::ChangeKind;
use dragline_report::diff::{ItemChange, ItemChangeKind, LinkChange, LinkChangeKind, PageChange, Span};

use super::Totals;
use crate::terminal::{Colour, Shade, count, safe, unless_closed};

/// The width of the longest kind of change.
const KIND_WIDTH: usize = 9;

/// An entry of the list.
pub(super) trait Line {
    /// Returns the heading of its section; `None` without one.
    fn head(&self) -> Option<&str>;

    /// Returns its kind, and that kind's colour.
    fn kind(&self) -> (&'static str, Option<Shade>);

    /// Returns the rest of the line, escaped.
    fn words(&self) -> String;

    /// Returns the change for a feed; `None` if the entry is not about a page.
    fn page(&self) -> Option<&PageChange>;
}

impl Line for PageChange {
    fn page(&self) -> Option<&PageChange> {
        Some(self)
    }

    fn head(&self) -> Option<&str> {
        None
    }

    fn kind(&self) -> (&'static str, Option<Shade>) {
        let shade = match self.change {
            ChangeKind::New | ChangeKind::Back => Some(Shade::Added),
            ChangeKind::Gone => Some(Shade::Removed),
            ChangeKind::Changed | ChangeKind::Moved => Some(Shade::Changed),
            ChangeKind::OutOfScope | ChangeKind::Unchanged => None,
        };
        (self.change.words(), shade)
    }

    fn words(&self) -> String {
        let url = safe(&self.url);
        let to = self.redirects_to.as_ref().filter(|_| self.change == ChangeKind::Moved);
        let more = match self.change {
            ChangeKind::Gone => format!("  ({})", self.outcome.name()),
            // A moved page has lost all its parts.
            ChangeKind::Moved => String::new(),
            _ if self.changed_parts.is_empty() => String::new(),
            _ => format!("  ({})", self.changed_parts.to_string().replace(',', ", ")),
        };
        let to = to.map_or_else(String::new, |to| format!(" -> {}", safe(to)));
        format!("{url}{to}{more}")
    }
}

impl Line for ItemChange {
    fn page(&self) -> Option<&PageChange> {
        None
    }

    fn head(&self) -> Option<&str> {
        Some(&self.url)
    }

    fn kind(&self) -> (&'static str, Option<Shade>) {
        let shade = match self.change {
            ItemChangeKind::Added => Shade::Added,
            ItemChangeKind::Removed => Shade::Removed,
            ItemChangeKind::Changed => Shade::Changed,
        };
        (self.change.name(), Some(shade))
    }

    fn words(&self) -> String {
        let what = [self.r#type.as_str(), self.item.as_str()].join(" ");
        let value = |value: &Option<String>| {
            value.as_deref().map_or_else(|| "nothing".to_owned(), |value| safe(value).to_string())
        };
        let (old, new) = (value(&self.old), value(&self.new));
        let values = match self.change {
            ItemChangeKind::Added => new,
            ItemChangeKind::Removed => old,
            ItemChangeKind::Changed => format!("{old} → {new}"),
        };
        format!("{}: {} {values}", safe(what.trim_end()), safe(&self.field))
    }
}

impl Line for LinkChange {
    fn page(&self) -> Option<&PageChange> {
        None
    }

    fn head(&self) -> Option<&str> {
        Some(&self.from_url)
    }

    fn kind(&self) -> (&'static str, Option<Shade>) {
        let shade = match self.change {
            LinkChangeKind::Added => Shade::Added,
            LinkChangeKind::Removed => Shade::Removed,
        };
        (self.change.name(), Some(shade))
    }

    fn words(&self) -> String {
        format!("{:<9}  {}", self.kind.name(), safe(&self.to_url))
    }
}

/// Writes the list as text, line by line.
pub(super) struct Text<W: Write> {
    out: BufWriter<W>,
    colour: Colour,
    /// The last heading.
    head: Option<String>,
    /// The first error. Nothing is written after it.
    failed: Option<io::Error>,
}

impl<W: Write> Text<W> {
    /// Returns an empty list.
    pub(super) fn new(out: W, colour: Colour) -> Self {
        Self { out: BufWriter::new(out), colour, head: None, failed: None }
    }

    /// Adds a line, and returns whether to go on.
    pub(super) fn add(&mut self, line: &impl Line) -> ControlFlow<()> {
        match self.write(line) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn write(&mut self, line: &impl Line) -> io::Result<()> {
        let indent = match line.head() {
            None => "",
            Some(head) => {
                if self.head.as_deref() != Some(head) {
                    writeln!(self.out, "{}", self.colour.paint(Shade::Head, &safe(head)))?;
                    self.head = Some(head.to_owned());
                }
                "  "
            }
        };
        let (kind, shade) = line.kind();
        // Padded before it is coloured: escape sequences have no width.
        let gap = " ".repeat(KIND_WIDTH.saturating_sub(kind.len()) + 2);
        let kind = shade.map_or_else(|| kind.to_owned(), |shade| self.colour.paint(shade, kind));
        writeln!(self.out, "{indent}{kind}{gap}{}", line.words())
    }

    /// Writes the totals, and returns the first error. A closed pipe is not an error.
    pub(super) fn finish(mut self, span: Span, totals: &Totals) -> io::Result<()> {
        let written = match self.failed.take() {
            Some(failed) => Err(failed),
            None => writeln!(self.out, "{}", summary_line(span, totals)).and_then(|()| self.out.flush()),
        };
        unless_closed(written)
    }
}

/// Returns the last line, preceded by an empty one unless nothing else was written.
fn summary_line(span: Span, totals: &Totals) -> String {
    let compared = format!("iteration {} compared with {}", span.to(), span.from());
    let found: Vec<_> = totals.counts().map(|(number, kind)| format!("{} {kind}", count(number))).collect();
    if found.is_empty() {
        format!("{compared}: nothing changed")
    } else {
        format!("\n{compared}: {}", found.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::change::Part;
    use dragline_domain::document::LinkKind;
    use dragline_domain::frontier::{IterationRow, Reserve};
    use dragline_domain::ids::{Iteration, TriggerId};
    use dragline_domain::outcome::Outcome;
    use jiff::Timestamp;

    use super::*;

    fn page(path: &str, change: ChangeKind, parts: &[Part], outcome: Outcome) -> PageChange {
        PageChange {
            url: format!("https://example.org{path}"),
            change,
            changed_parts: parts.iter().copied().collect(),
            redirects_to: (change == ChangeKind::Moved).then(|| "https://example.org/new\u{1b}[2J".to_owned()),
            iteration: 3,
            at: Timestamp::UNIX_EPOCH,
            status: Some(200),
            outcome,
        }
    }

    fn link(from: &str, change: LinkChangeKind, kind: LinkKind, to: &str) -> LinkChange {
        LinkChange { from_url: from.to_owned(), change, kind, to_url: to.to_owned() }
    }

    fn span() -> Span {
        let (crawl, at, trigger) = ("docs".parse().unwrap(), Timestamp::UNIX_EPOCH, TriggerId("t".to_owned()));
        let latest = IterationRow::begin(crawl, Iteration::new(3).unwrap(), trigger, Reserve::default(), at, None, at);
        Span::choose(Iteration::new(1), Iteration::new(3), &latest).unwrap()
    }

    /// Returns the lines and the totals.
    fn text<L: Line>(lines: &[L], count: impl Fn(&mut Totals, &L), colour: Colour) -> String {
        let (mut out, mut totals) = (Vec::new(), Totals::default());
        let mut text = Text::new(&mut out, colour);
        for line in lines {
            assert!(text.add(line).is_continue());
            count(&mut totals, line);
        }
        text.finish(span(), &totals).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn pages_are_listed_with_what_changed() {
        use Part::{Text as TextPart, Title};
        let pages = [
            page("/a", ChangeKind::New, &[], Outcome::FileIngested),
            page("/b\u{1b}[2J", ChangeKind::Changed, &[Title, TextPart], Outcome::FileIngested),
            page("/c", ChangeKind::Moved, &[Part::Status, Title, TextPart, Part::Links], Outcome::PermanentRedirect),
            page("/d", ChangeKind::Gone, &[], Outcome::FileNotFound),
            page("/e", ChangeKind::Back, &[], Outcome::FileDidNotChange),
            page("/f", ChangeKind::Unchanged, &[], Outcome::FileDidNotChange),
        ];
        let count = |totals: &mut Totals, page: &PageChange| totals.add_page(page.change);
        insta::assert_snapshot!(text(&pages, count, Colour::Off), @r"
        new        https://example.org/a
        changed    https://example.org/b\u{1b}[2J  (title, text)
        moved      https://example.org/c -> https://example.org/new\u{1b}[2J
        gone       https://example.org/d  (file_not_found)
        back       https://example.org/e
        unchanged  https://example.org/f

        iteration 3 compared with 1: 1 new, 1 changed, 1 moved, 1 gone, 1 back, 1 unchanged
        ");
        let coloured = text(&pages[..1], count, Colour::On);
        assert_eq!(coloured.lines().next(), Some("\u{1b}[32mnew\u{1b}[0m        https://example.org/a"));
        assert_eq!(text(&[], count, Colour::Off), "iteration 3 compared with 1: nothing changed\n");
    }

    #[test]
    fn links_are_listed_by_page() {
        use LinkChangeKind::{Added, Removed};
        let links = [
            link("https://example.org/", Added, LinkKind::A, "https://example.org/a"),
            link("https://example.org/", Removed, LinkKind::Canonical, "https://example.org/\u{1b}[2J"),
            link("https://example.org/b", Removed, LinkKind::Img, "https://example.org/b.png"),
        ];
        let count = |totals: &mut Totals, link: &LinkChange| totals.add_link(link.change);
        insta::assert_snapshot!(text(&links, count, Colour::Off), @r"
        https://example.org/
          added      a          https://example.org/a
          removed    canonical  https://example.org/\u{1b}[2J
        https://example.org/b
          removed    img        https://example.org/b.png

        iteration 3 compared with 1: 1 added, 2 removed
        ");
    }

    #[test]
    fn unchanged_pages_are_not_differences() {
        let mut totals = Totals::default();
        totals.add_page(ChangeKind::Unchanged);
        assert!(!totals.has_differences());
        totals.add_page(ChangeKind::Back);
        assert!(totals.has_differences());
        let mut totals = Totals::default();
        totals.add_link(LinkChangeKind::Removed);
        assert!(totals.has_differences());
    }
}
