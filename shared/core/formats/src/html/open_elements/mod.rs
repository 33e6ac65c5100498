//! The open elements, which decide on the visibility of a text.
//!
//! The stack of a tree builder without its tree. Start tags implicitly end the same elements as in
//! HTML (`<p>`, `<li>`, `<td>`), and end tags reach as far. It differs where a tree builder moves
//! nodes: misplaced text in a table counts as inside it, and a `<b>` that ended with its paragraph
//! is not reopened in the next.

mod role;

pub(super) use self::role::{Name, Role};

use dragline_domain::markup::PagePart;

use super::Syntax;
use super::foreign::Namespace;
use super::hiding::{OwnVisibility, VisibilityState};
use super::tag::{Closing, Element};

/// The depth beyond which elements are only counted. Browsers do not build deeper trees either.
const DEPTH_MAX: usize = 512;

/// An open element.
#[derive(Clone, Copy, Debug)]
struct Open {
    name: Name,
    own: OwnVisibility,
    seen: VisibilityState,
    namespace: Namespace,
    part: Option<PagePart>,
}

/// The open elements, the outermost first.
#[derive(Debug)]
pub(super) struct OpenElements {
    syntax: Syntax,
    stack: Vec<Open>,
    /// Whether a form's end tag is still to come. Until then no other form begins, even if an
    /// element around it has ended it.
    awaits_end_of_form: bool,
    /// How many more are open beyond the limit.
    beyond: usize,
    /// The number of elements on the stack in each group of names, and with each role: usually
    /// none, so that there is nothing to search.
    groups: [u16; 256],
    roles: [u16; Role::COUNT],
}

impl OpenElements {
    pub(super) const fn new(syntax: Syntax) -> Self {
        Self {
            syntax,
            stack: Vec::new(),
            awaits_end_of_form: false,
            beyond: 0,
            groups: [0; 256],
            roles: [0; Role::COUNT],
        }
    }

    /// Returns the visibility of text here.
    pub(super) fn visibility(&self) -> VisibilityState {
        self.stack.last().map_or(VisibilityState::WHOLLY, |open| open.seen)
    }

    /// Returns the part of the page that this place is in; `None` outside of all.
    pub(super) fn page_part(&self) -> Option<PagePart> {
        self.stack.last().and_then(|open| open.part)
    }

    /// Handles a start tag, and returns the visibility of its element.
    pub(super) fn start(
        &mut self,
        name: Name,
        element: Element,
        namespace: Namespace,
        closing: Closing,
        own: OwnVisibility,
    ) -> VisibilityState {
        let name = if namespace == Namespace::Html { name } else { name.as_foreign(foreign_role(element)) };
        let is_html = self.syntax == Syntax::Html && namespace == Namespace::Html;
        if name.role() == Role::Root || is_html && self.is_ignored(name.role()) {
            return self.visibility();
        }
        if is_html {
            self.make_way(name);
            self.awaits_end_of_form |= name.role() == Role::Form;
        }
        let seen = self.visibility().child(own, name.role());
        if closing == Closing::Open && !name.role().is_void() {
            let around = self.page_part();
            let part = name.role().page_part().map_or(around, |part| Some(part.within(around)));
            self.push(Open { name, own, seen, namespace, part });
        }
        seen
    }

    /// Handles an end tag, and returns the visibility of its element; for a stray tag, that of this
    /// place.
    pub(super) fn end(&mut self, name: Name) -> VisibilityState {
        if name.role() == Role::Root || name.role().is_void() {
            return self.visibility();
        }
        if self.beyond > 0 {
            self.beyond -= 1;
            return self.visibility();
        }
        self.awaits_end_of_form &= name.role() != Role::Form;
        let is_known = self.groups[name.group()] > 0 || self.has(Role::Heading) && name.role() == Role::Heading;
        let found = if is_known { self.opened_by(name) } else { None };
        let Some(at) = found else { return self.visibility() };
        let seen = self.stack[at].seen;
        match (self.syntax, name.role()) {
            (Syntax::Html, Role::Form) => {
                self.end_implied(at + 1);
                self.take_out(at);
            }
            (Syntax::Html, role) if role.is_formatting() => self.end_formatting(at),
            _ => self.truncate(at),
        }
        seen
    }

    /// Ends SVG and `MathML` because HTML began in them.
    pub(super) fn leave_foreign(&mut self) {
        let is_html = |open: &Open| open.namespace == Namespace::Html;
        self.truncate(self.stack.iter().rposition(is_html).map_or(0, |at| at + 1));
    }

    fn has(&self, role: Role) -> bool {
        self.roles[role as usize] > 0
    }

    /// Whether a start tag is ignored here: a form in a form, a part of a table outside of one.
    fn is_ignored(&self, role: Role) -> bool {
        match role {
            Role::Form => self.awaits_end_of_form && !self.has(Role::Template),
            Role::Caption | Role::Cell | Role::ColumnGroup | Role::Row | Role::RowGroup => {
                !self.has(Role::Table) && !self.has(Role::Template)
            }
            _ => false,
        }
    }

    /// Ends the elements that a start tag implicitly ends.
    fn make_way(&mut self, name: Name) {
        if name.role().ends_paragraph() && self.has(Role::Paragraph) {
            self.end_nearest(|role| role == Role::Paragraph, |role| role.is_scope() || role == Role::Button);
        }
        let is_item_scope = |role: Role| role.is_special() && !matches!(role, Role::Division | Role::Paragraph);
        match name.role() {
            Role::ListItem | Role::DescriptionItem | Role::Button | Role::Anchor if !self.has(name.role()) => {}
            Role::ListItem => self.end_nearest(|role| role == Role::ListItem, is_item_scope),
            Role::DescriptionItem => self.end_nearest(|role| role == Role::DescriptionItem, is_item_scope),
            Role::Heading => self.end_last(|role| role == Role::Heading),
            Role::Button => self.end_nearest(|role| role == Role::Button, Role::is_scope),
            Role::Option => self.end_last(|role| role == Role::Option),
            Role::OptionGroup => {
                self.end_last(|role| role == Role::Option);
                self.end_last(|role| role == Role::OptionGroup);
            }
            Role::RubyPart | Role::RubyParenthesis
                if self.nearest(|open| open.name.role() == Role::Ruby, Role::is_scope).is_some() =>
            {
                self.end_implied(0);
            }
            Role::Anchor => {
                let is_marker = |role: Role| matches!(role, Role::Caption | Role::Cell | Role::Marker | Role::Template);
                if let Some(at) = self.nearest(|open| open.name.role() == Role::Anchor, is_marker) {
                    self.end_formatting(at);
                }
            }
            Role::Table => {
                let is_of_table = |role| matches!(role, Role::Table | Role::RowGroup | Role::ColumnGroup | Role::Row);
                if self.stack.last().is_some_and(|open| is_of_table(open.name.role())) {
                    self.end_nearest(|role| role == Role::Table, |_| false);
                }
            }
            Role::Caption | Role::ColumnGroup | Role::RowGroup => self.clear_to(|role| role == Role::Table),
            Role::Row => self.clear_to(|role| matches!(role, Role::Table | Role::RowGroup)),
            Role::Cell => self.clear_to(|role| matches!(role, Role::Table | Role::RowGroup | Role::Row)),
            _ => {}
        }
    }

    /// Returns the element that an end tag ends.
    fn opened_by(&self, name: Name) -> Option<usize> {
        let is_same = |open: &Open| open.name.is_same(name);
        if self.syntax == Syntax::Xhtml {
            return self.stack.iter().rposition(is_same);
        }
        match name.role() {
            Role::Heading => self.nearest(|open| open.name.role() == Role::Heading, Role::is_scope),
            Role::Paragraph => self.nearest(is_same, |role| role.is_scope() || role == Role::Button),
            Role::ListItem => self.nearest(is_same, |role| role.is_scope() || role == Role::List),
            Role::Caption | Role::Cell | Role::ColumnGroup | Role::Row | Role::RowGroup | Role::Table => {
                self.nearest(is_same, |role| matches!(role, Role::Table | Role::Template))
            }
            Role::Inline
            | Role::Ruby
            | Role::Fallback
            | Role::DataList
            | Role::Option
            | Role::OptionGroup
            | Role::RubyPart
            | Role::RubyParenthesis => self.nearest(is_same, Role::is_special),
            _ => self.nearest(is_same, Role::is_scope),
        }
    }

    /// Returns the innermost element that matches, unless one that bars the search comes first.
    fn nearest(&self, is: impl Fn(&Open) -> bool, bars: impl Fn(Role) -> bool) -> Option<usize> {
        let found = self.stack.iter().rposition(|open| is(open) || bars(open.name.role()))?;
        is(&self.stack[found]).then_some(found)
    }

    fn end_nearest(&mut self, is: impl Fn(Role) -> bool, bars: impl Fn(Role) -> bool) {
        if let Some(at) = self.nearest(|open| is(open.name.role()), bars) {
            self.truncate(at);
        }
    }

    fn end_last(&mut self, is: impl Fn(Role) -> bool) {
        if self.stack.last().is_some_and(|open| is(open.name.role())) {
            self.truncate(self.stack.len() - 1);
        }
    }

    /// Ends the innermost elements that need no end tag, down to this position.
    fn end_implied(&mut self, from: usize) {
        let stays = self.stack[from..].iter().rposition(|open| !open.name.role().has_implied_end());
        self.truncate(from + stays.map_or(0, |last| last + 1));
    }

    /// Ends everything open in the innermost matching part of a table.
    fn clear_to(&mut self, is: impl Fn(Role) -> bool) {
        if let Some(at) = self.nearest(|open| is(open.name.role()), |role| role == Role::Template) {
            self.truncate(at + 1);
        }
    }

    fn push(&mut self, open: Open) {
        if self.stack.len() < DEPTH_MAX {
            self.groups[open.name.group()] += 1;
            self.roles[open.name.role() as usize] += 1;
            self.stack.push(open);
        } else {
            self.beyond += 1;
        }
    }

    fn truncate(&mut self, depth: usize) {
        for open in self.stack.drain(depth..) {
            self.groups[open.name.group()] -= 1;
            self.roles[open.name.role() as usize] -= 1;
        }
        self.beyond = 0;
    }

    /// Ends a formatting element as the "adoption agency algorithm" does: with the inline elements
    /// in it; a block in it stays open, but is no longer inside it.
    fn end_formatting(&mut self, at: usize) {
        if !self.stack[at + 1..].iter().any(|open| open.name.role().is_special()) {
            self.truncate(at);
            return;
        }
        let lifted = self.take_out(at);
        let mut seen = if at == 0 { VisibilityState::WHOLLY } else { self.stack[at - 1].seen };
        if lifted.seen != seen {
            for open in &mut self.stack[at..] {
                seen = seen.child(open.own, open.name.role());
                open.seen = seen;
            }
        }
    }

    /// Ends one element for the following tags; the elements in it stay.
    fn take_out(&mut self, at: usize) -> Open {
        let open = self.stack.remove(at);
        self.groups[open.name.group()] -= 1;
        self.roles[open.name.role() as usize] -= 1;
        open
    }
}

/// Returns the role of an element of SVG or `MathML`: none, unless it contains HTML.
const fn foreign_role(element: Element) -> Role {
    match element {
        Element::Annotation | Element::ForeignObject | Element::MathText | Element::SvgDesc | Element::Title => {
            Role::Marker
        }
        _ => Role::Inline,
    }
}
