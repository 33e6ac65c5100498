//! End tags.

use super::{Nesting, Phase, Space};
use crate::validity::flaws::quoted;
use crate::validity::html::names::{is_block, is_formatting, is_heading, is_implied_end, is_of_table, may_stay_open};
use crate::validity::html::tokens::Report;

impl Nesting {
    /// Handles an end tag.
    pub(in crate::validity::html) fn end_tag(&mut self, name: &str, at: usize, report: &mut Report<'_, '_>) {
        self.begin(report);
        if self.is_given_up {
            return;
        }
        for index in (0..self.stack.len()).rev().take_while(|index| self.stack[*index].own == Space::Foreign) {
            if self.stack[index].name == name {
                return self.close_to(index, &format!("/{name}"), at, report);
            }
            if self.stack[index].inner == Space::Html {
                break;
            }
        }
        self.end_tag_of_html(name, at, report);
    }

    pub(super) fn end_tag_of_html(&mut self, name: &str, at: usize, report: &mut Report<'_, '_>) {
        let is_in_noscript = self.phase == Phase::InHead && self.stack.last().is_some_and(|top| top.is("noscript"));
        if is_in_noscript && name != "noscript" {
            return;
        }
        let index = match name {
            "html" | "body" | "head" => return self.end_of_part(name, at, report),
            "p" => self.in_scope("p", &["button"]),
            "li" => self.in_scope("li", &["ol", "ul"]),
            "dd" | "dt" => self.in_scope(name, &[]),
            "template" => self.stack.iter().rposition(|open| open.is("template")),
            "table" => self.in_table_scope(name),
            _ if is_of_table(name) => self.in_table_scope(name),
            _ if is_heading(name) => self.heading_in_scope(),
            _ if is_formatting(name) => return self.end_of_formatting(name, at, report),
            _ if is_block(name) => self.in_scope(name, &[]),
            _ => self.any(name),
        };
        let Some(index) = index else { return self.stray(name, at, report) };
        if self.stack[index].name != name {
            let open = self.stack[index].name.clone();
            report.add("stray-end-tag", at, || format!("`</{name}>` ends `{open}`"));
        }
        if name == "form" {
            let is_last =
                self.stack[index + 1..].iter().all(|open| open.own == Space::Html && is_implied_end(&open.name));
            if !is_last {
                self.report_unclosed(index + 1, "/form", at, report);
                self.stack.remove(index);
                return;
            }
        }
        self.close_to(index, &format!("/{name}"), at, report);
    }

    fn end_of_part(&mut self, name: &str, at: usize, report: &mut Report<'_, '_>) {
        let is_right = match name {
            "head" => matches!(self.phase, Phase::BeforeHead | Phase::InHead),
            "body" => self.phase != Phase::AfterBody,
            _ => true,
        };
        if !is_right || self.stack.iter().any(|open| open.is("template")) {
            return self.stray(name, at, report);
        }
        for index in (0..self.stack.len()).rev() {
            if !may_stay_open(&self.stack[index].name) {
                let open = &self.stack[index];
                let message = |end: &str| format!("{} is not closed before `</{name}>` at {end}", quoted(&open.name));
                report.add_with_first("unclosed-element", open.at, at, message);
            }
            self.pop_forgiven();
        }
        self.phase = if name == "head" { Phase::AfterHead } else { Phase::AfterBody };
    }

    fn end_of_formatting(&mut self, name: &str, at: usize, report: &mut Report<'_, '_>) {
        let Some(index) = self.formatting(name) else { return self.stray(name, at, report) };
        if index + 1 < self.stack.len() {
            let (inner, inner_at) = self.stack.last().map(|top| (top.name.clone(), top.at)).unwrap_or_default();
            let message = |first: &str| format!("`</{name}>` before {} of {first} is closed", quoted(&inner));
            report.add_with_first("misnested", at, inner_at, message);
        }
        self.stack.remove(index);
    }
}
