//! Finding elements in the stack, and closing them.

use super::{FORGIVEN_MAX, Mode, Nesting, Open, Space};
use crate::validity::flaws::quoted;
use crate::validity::html::names::{is_heading, is_implied_end, is_of_table, is_special, may_stay_open};
use crate::validity::html::tokens::Report;

impl Nesting {
    pub(super) fn in_scope(&self, name: &str, barriers: &[&str]) -> Option<usize> {
        for (index, open) in self.stack.iter().enumerate().rev() {
            if open.is(name) {
                return Some(index);
            }
            if open.ends_scope() || barriers.iter().any(|barrier| open.is(barrier)) {
                return None;
            }
        }
        None
    }

    pub(super) fn heading_in_scope(&self) -> Option<usize> {
        let until = self.stack.iter().rposition(Open::ends_scope).map_or(0, |index| index + 1);
        let found = self.stack[until..].iter().rposition(|open| open.own == Space::Html && is_heading(&open.name));
        found.map(|index| until + index)
    }

    pub(super) fn in_table_scope(&self, name: &str) -> Option<usize> {
        let is_end = |open: &Open| open.is(name) || open.is("table") || open.is("template");
        self.stack.iter().rposition(is_end).filter(|index| self.stack[*index].is(name))
    }

    /// Finds a formatting element since the last element that none reaches into.
    pub(super) fn formatting(&self, name: &str) -> Option<usize> {
        let is_end = |open: &Open| open.is(name) || open.ends_scope() && !open.is("table") && !open.is("select");
        self.stack.iter().rposition(is_end).filter(|index| self.stack[*index].is(name))
    }

    pub(super) fn any(&self, name: &str) -> Option<usize> {
        let is_end = |open: &Open| open.is(name) || open.own == Space::Html && is_special(&open.name);
        self.stack.iter().rposition(is_end).filter(|index| self.stack[*index].is(name))
    }

    pub(super) fn close_item(&mut self, names: &[&str], at: usize, report: &mut Report<'_, '_>) {
        for index in (0..self.stack.len()).rev() {
            let open = &self.stack[index];
            if names.iter().any(|name| open.is(name)) {
                self.close_to(index, names[0], at, report);
                break;
            }
            let is_passed = matches!(open.name.as_str(), "address" | "div" | "p");
            if open.ends_scope() || open.own == Space::Html && is_special(&open.name) && !is_passed {
                break;
            }
        }
        self.close(self.in_scope("p", &["button"]), names[0], at, report);
    }

    pub(super) fn close(&mut self, index: Option<usize>, by: &str, at: usize, report: &mut Report<'_, '_>) {
        if let Some(index) = index {
            self.close_to(index, by, at, report);
        }
    }

    /// Closes an element and what is open in it, and reports what should have been closed before.
    pub(super) fn close_to(&mut self, index: usize, by: &str, at: usize, report: &mut Report<'_, '_>) {
        self.report_unclosed(index + 1, by, at, report);
        while self.stack.len() > index + 1 {
            self.pop_forgiven();
        }
        self.stack.pop();
    }

    pub(super) fn report_unclosed(&self, from: usize, by: &str, at: usize, report: &mut Report<'_, '_>) {
        for open in &self.stack[from..] {
            let is_fine = open.own == Space::Html && (is_implied_end(&open.name) || is_of_table(&open.name));
            // What is misplaced in a table was reported when it began.
            if !is_fine && !matches!(open.mode, Mode::Table | Mode::TableBody | Mode::Row) || open.is("table") {
                let message = |end: &str| format!("{} is not closed before `<{by}>` at {end}", quoted(&open.name));
                report.add_with_first("unclosed-element", open.at, at, message);
            }
        }
    }

    pub(super) fn pop_forgiven(&mut self) {
        if let Some(open) = self.stack.pop()
            && !may_stay_open(&open.name)
        {
            self.forgive(&open.name);
        }
    }

    pub(super) fn forgive(&mut self, name: &str) {
        if let Some(times) = self.forgiven.get_mut(name) {
            *times = times.saturating_add(1);
        } else if self.forgiven.len() < FORGIVEN_MAX {
            self.forgiven.insert(name.to_owned(), 1);
        }
    }

    pub(super) fn stray(&mut self, name: &str, at: usize, report: &mut Report<'_, '_>) {
        match self.forgiven.get_mut(name) {
            Some(times) if *times > 0 => *times -= 1,
            _ => report.add("stray-end-tag", at, || format!("`</{name}>` ends nothing that is open")),
        }
    }
}
