//! Whether tags are nested as the standard's tree construction wants it.
//!
//! The stack is that of the standard, without `html`, `head` and `body`, whose tags may be missing. After an error the stack goes on as a browser's
//! would, roughly; end tags of elements that were closed in an error are forgiven, so that one error is one flaw.

mod end_tags;
mod scopes;

use std::collections::HashMap;

use html5gum::State;

use crate::tree;
use crate::validity::flaws::quoted;
use crate::validity::html::names::{
    breaks_out, closes_paragraph, ends_scope, is_heading, is_implied_end, is_of_head, is_of_table, is_void,
    may_stay_open,
};
use crate::validity::html::tokens::{Report, StartTag};

/// The most names whose end tags are forgiven.
const FORGIVEN_MAX: usize = 1_000;

/// Where a page is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Start,
    BeforeHead,
    InHead,
    AfterHead,
    InBody,
    AfterBody,
}

/// By which rules the content of an element is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Body,
    Template,
    Table,
    TableBody,
    Row,
    Cell,
    Caption,
    ColumnGroup,
}

/// What surrounds an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    Html,
    /// SVG or `MathML`.
    Foreign,
    /// A template, or `noscript`.
    Apart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Html,
    Foreign,
}

/// An element that is open.
#[derive(Debug)]
struct Open {
    name: String,
    at: usize,
    own: Space,
    inner: Space,
    mode: Mode,
    is_apart: bool,
}

impl Open {
    fn is(&self, name: &str) -> bool {
        self.own == Space::Html && self.name == name
    }

    fn ends_scope(&self) -> bool {
        match self.own {
            Space::Html => ends_scope(&self.name),
            Space::Foreign => self.inner == Space::Html,
        }
    }
}

/// The open elements.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    stack: Vec<Open>,
    phase: Phase,
    has_html: bool,
    is_in_quirks: bool,
    /// Nothing is checked any more: frames, or nested deeper than pages are.
    is_given_up: bool,
    forgiven: HashMap<String, u32>,
}

impl Nesting {
    pub(super) fn is_foreign(&self) -> bool {
        self.stack.last().is_some_and(|open| open.inner == Space::Foreign)
    }

    pub(super) fn around(&self) -> Around {
        match self.stack.last() {
            Some(open) if open.is_apart => Around::Apart,
            Some(open) if open.inner == Space::Foreign => Around::Foreign,
            _ => Around::Html,
        }
    }

    fn mode(&self) -> Mode {
        self.stack.last().map_or(Mode::Body, |open| open.mode)
    }

    pub(super) fn doctype(&mut self, at: usize, is_right: bool, report: &mut Report<'_, '_>) {
        if self.phase != Phase::Start {
            report.add("stray-doctype", at, || "a doctype must come first".to_owned());
            return;
        }
        self.phase = Phase::BeforeHead;
        if !is_right {
            self.is_in_quirks = true;
            report.add("obsolete-doctype", at, || "the doctype must be `<!DOCTYPE html>`".to_owned());
        }
    }

    fn begin(&mut self, report: &mut Report<'_, '_>) {
        if self.phase == Phase::Start {
            self.phase = Phase::BeforeHead;
            self.is_in_quirks = true;
            report.add("no-doctype", 0, || "the page does not begin with `<!DOCTYPE html>`".to_owned());
        }
    }

    /// Handles a text that is not only blanks.
    pub(super) fn text(&mut self, at: usize, report: &mut Report<'_, '_>) {
        self.begin(report);
        if self.is_given_up {
            return;
        }
        let Some(top) = self.stack.last() else {
            if self.phase == Phase::AfterBody {
                report.add("after-body", at, || "text behind the end of the body".to_owned());
            }
            self.phase = Phase::InBody;
            return;
        };
        let is_raw = next_state(&top.name).is_some();
        if !is_raw && matches!(top.mode, Mode::Table | Mode::TableBody | Mode::Row) && top.inner == Space::Html {
            report.add("misplaced-in-table", at, || "text in a table, outside of its cells".to_owned());
        }
    }

    /// Handles a start tag, and returns how the tokenizer has to go on.
    pub(super) fn start_tag(&mut self, tag: &StartTag, report: &mut Report<'_, '_>) -> Option<State> {
        self.begin(report);
        let name = tag.name.as_str();
        if self.is_given_up {
            return if self.is_foreign() { None } else { next_state(name) };
        }
        if self.is_foreign() {
            let is_font = name == "font" && ["color", "face", "size"].iter().any(|attribute| tag.has(attribute));
            if !is_font && !breaks_out(name) {
                self.push_foreign(tag);
                return None;
            }
            report.add("html-in-svg", tag.at, || format!("`<{name}>` ends the SVG or MathML around it"));
            while self.is_foreign() {
                self.pop_forgiven();
            }
        }
        if !self.is_placed(tag, report) {
            return None;
        }
        self.place(tag, report);
        if self.stack.len() >= tree::DEPTH_MAX {
            self.is_given_up = true;
        }
        next_state(name)
    }

    /// Handles what depends on the phase of the document. Returns whether the element is still to be placed.
    fn is_placed(&mut self, tag: &StartTag, report: &mut Report<'_, '_>) -> bool {
        let (name, at) = (tag.name.as_str(), tag.at);
        let is_outside = self.stack.is_empty();
        match name {
            "html" | "head" | "body" => {
                let is_right = is_outside
                    && match name {
                        "html" => self.phase == Phase::BeforeHead && !std::mem::replace(&mut self.has_html, true),
                        "head" => self.phase == Phase::BeforeHead,
                        _ => matches!(self.phase, Phase::BeforeHead | Phase::InHead | Phase::AfterHead),
                    };
                match name {
                    _ if !is_right => {
                        report.add("stray-start-tag", at, || format!("`<{name}>` cannot be here"));
                    }
                    "head" => self.phase = Phase::InHead,
                    "body" => self.phase = Phase::InBody,
                    _ => {}
                }
                return false;
            }
            "frameset" | "frame" => {
                self.is_given_up = true;
                return false;
            }
            _ => {}
        }
        if self.phase == Phase::InHead && self.stack.last().is_some_and(|top| top.is("noscript")) {
            let is_right = matches!(name, "basefont" | "bgsound" | "link" | "meta" | "noframes" | "style");
            if !is_right {
                report.add("misplaced-in-head", at, || format!("`<{name}>` cannot be in a `noscript` of the head"));
            }
            return is_right;
        }
        if is_outside {
            match self.phase {
                Phase::Start | Phase::BeforeHead | Phase::InHead if is_of_head(name) => self.phase = Phase::InHead,
                Phase::AfterHead if is_of_head(name) && name != "noscript" => {
                    report.add("between-head-and-body", at, || format!("`<{name}>` between head and body"));
                }
                Phase::AfterBody => {
                    report.add("after-body", at, || format!("`<{name}>` behind the end of the body"));
                    self.phase = Phase::InBody;
                }
                _ => self.phase = Phase::InBody,
            }
        }
        true
    }

    fn place(&mut self, tag: &StartTag, report: &mut Report<'_, '_>) {
        let (name, at) = (tag.name.as_str(), tag.at);
        if is_of_table(name) {
            self.table_part(name, at, report);
            return;
        }
        if self.mode() == Mode::ColumnGroup && name != "template" {
            self.stack.pop();
        }
        if matches!(self.mode(), Mode::Table | Mode::TableBody | Mode::Row) {
            match name {
                "style" | "script" | "template" => {}
                _ => {
                    report.add("misplaced-in-table", at, || format!("`<{name}>` in a table, outside of its cells"));
                    match name {
                        "form" => return,
                        "table" => self.end_tag_of_html("table", at, report),
                        _ => {}
                    }
                }
            }
        }
        if closes_paragraph(name) || name == "table" && !self.is_in_quirks {
            self.close(self.in_scope("p", &["button"]), name, at, report);
        } else if name == "table"
            && let Some(paragraph) = self.in_scope("p", &["button"])
        {
            // Whether it ends depends on the doctype, which is wrong already.
            while self.stack.len() > paragraph {
                self.pop_forgiven();
            }
        }
        match name {
            "li" => self.close_item(&["li"], at, report),
            "dd" | "dt" => self.close_item(&["dd", "dt"], at, report),
            "option" if self.stack.last().is_some_and(|top| top.is("option")) => drop(self.stack.pop()),
            "optgroup" => {
                while self.stack.last().is_some_and(|top| top.is("option") || top.is("optgroup")) {
                    self.stack.pop();
                }
            }
            "rb" | "rtc" | "rp" | "rt" if self.in_scope("ruby", &[]).is_some() => {
                while self.stack.last().is_some_and(|top| {
                    is_implied_end(&top.name)
                        && top.own == Space::Html
                        && (name.len() != 2 || name == "rb" || top.name != "rtc")
                }) {
                    self.stack.pop();
                }
            }
            "image" => report.add("stray-start-tag", at, || "`<image>` is not an element; it is `<img>`".to_owned()),
            "a" | "nobr" | "button" => {
                let outer = if name == "button" { self.in_scope(name, &[]) } else { self.formatting(name) };
                self.nested(outer, name, at, report);
            }
            "form" => {
                let outer = self.stack.iter().rposition(|open| open.is("form") || open.is("template"));
                if let Some(outer) = outer.filter(|outer| self.stack[*outer].is("form")) {
                    let message = |first: &str| format!("a `form` in the one of {first}");
                    report.add_with_first("nested-element", at, self.stack[outer].at, message);
                    self.forgive("form");
                    return;
                }
            }
            _ if is_heading(name) => {
                let outer = self
                    .stack
                    .len()
                    .checked_sub(1)
                    .filter(|top| self.stack[*top].own == Space::Html && is_heading(&self.stack[*top].name));
                self.nested(outer, name, at, report);
            }
            _ => {}
        }
        if is_void(name) {
            return;
        }
        if matches!(name, "svg" | "math") {
            self.push_foreign(tag);
            return;
        }
        if tag.is_self_closing {
            report.add("self-closing", at, || format!("`<{name}/>` is not closed: HTML ignores the slash"));
        }
        self.push(name, at);
    }

    /// Reports an element in another one of its kind, which it ends.
    fn nested(&mut self, outer: Option<usize>, name: &str, at: usize, report: &mut Report<'_, '_>) {
        let Some(outer) = outer else { return };
        let of = self.stack[outer].name.clone();
        let message = |first: &str| format!("`<{name}>` in the `{of}` of {first}");
        report.add_with_first("nested-element", at, self.stack[outer].at, message);
        self.stack.remove(outer);
        self.forgive(&of);
    }

    fn table_part(&mut self, name: &str, at: usize, report: &mut Report<'_, '_>) {
        loop {
            match (self.mode(), name) {
                (Mode::Cell, _) => {
                    let cell = self.stack.iter().rposition(|open| open.is("td") || open.is("th"));
                    self.close_to(cell.unwrap_or(0), name, at, report);
                }
                (Mode::Caption, _) => {
                    let caption = self.stack.iter().rposition(|open| open.is("caption"));
                    self.close_to(caption.unwrap_or(0), name, at, report);
                }
                (Mode::ColumnGroup | Mode::Template, "col") => return,
                (Mode::ColumnGroup, _) => drop(self.stack.pop()),
                (Mode::Row, "td" | "th") => return self.push_in(&["tr"], name, at),
                (Mode::Row, _) => self.clear_through(&["tr"]),
                (Mode::TableBody, "tr") => return self.push_in(&["tbody", "thead", "tfoot"], name, at),
                (Mode::TableBody, "td" | "th") => {
                    report.add("misplaced-in-table", at, || format!("`<{name}>` outside of a row"));
                    self.push_in(&["tbody", "thead", "tfoot"], "tr", at);
                }
                (Mode::TableBody, _) => self.clear_through(&["tbody", "thead", "tfoot"]),
                (Mode::Table, "caption" | "colgroup" | "tbody" | "thead" | "tfoot") => {
                    return self.push_in(&["table"], name, at);
                }
                (Mode::Table, "col") => return self.push_in(&["table"], "colgroup", at),
                (Mode::Table, _) => self.push_in(&["table"], "tbody", at),
                (Mode::Template, _) => return self.push(name, at),
                (Mode::Body, _) => {
                    report.add("stray-start-tag", at, || format!("`<{name}>` outside of a table"));
                    return self.forgive(name);
                }
            }
        }
    }

    /// Opens an element directly in the innermost one of these names.
    fn push_in(&mut self, names: &[&str], name: &str, at: usize) {
        while self.stack.last().is_some_and(|top| !names.iter().any(|name| top.is(name))) {
            self.pop_forgiven();
        }
        self.push(name, at);
    }

    fn clear_through(&mut self, names: &[&str]) {
        while self.stack.last().is_some_and(|top| !names.iter().any(|name| top.is(name))) {
            self.pop_forgiven();
        }
        self.stack.pop();
    }

    fn push(&mut self, name: &str, at: usize) {
        let mode = match name {
            "table" => Mode::Table,
            "tbody" | "thead" | "tfoot" => Mode::TableBody,
            "tr" => Mode::Row,
            "td" | "th" => Mode::Cell,
            "caption" => Mode::Caption,
            "colgroup" => Mode::ColumnGroup,
            "template" => Mode::Template,
            _ => self.mode(),
        };
        let is_apart = matches!(name, "template" | "noscript") || self.around() == Around::Apart;
        let (own, inner) = (Space::Html, Space::Html);
        self.stack.push(Open { name: name.to_owned(), at, own, inner, mode, is_apart });
    }

    fn push_foreign(&mut self, tag: &StartTag) {
        if tag.is_self_closing {
            return;
        }
        let inner = match tag.name.as_str() {
            "foreignobject" | "desc" | "title" | "mi" | "mo" | "mn" | "ms" | "mtext" => Space::Html,
            "annotation-xml" if matches!(tag.encoding.as_str(), "text/html" | "application/xhtml+xml") => Space::Html,
            _ => Space::Foreign,
        };
        let mode = if inner == Space::Html { Mode::Body } else { self.mode() };
        let is_apart = self.around() == Around::Apart;
        self.stack.push(Open { name: tag.name.clone(), at: tag.at, own: Space::Foreign, inner, mode, is_apart });
        self.is_given_up |= self.stack.len() >= tree::DEPTH_MAX;
    }

    pub(super) fn finish(&mut self, report: &mut Report<'_, '_>) {
        self.begin(report);
        if self.is_given_up {
            return;
        }
        for open in self.stack.iter().rev().filter(|open| !may_stay_open(&open.name)) {
            report.add("unclosed-element", open.at, || format!("{} is not closed", quoted(&open.name)));
        }
    }
}

fn next_state(name: &str) -> Option<State> {
    match name {
        "title" | "textarea" => Some(State::RcData),
        "script" => Some(State::ScriptData),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => Some(State::RawText),
        "plaintext" => Some(State::PlainText),
        _ => None,
    }
}
