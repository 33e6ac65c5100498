//! Whether tags are nested as the standard's tree construction wants it.
//!
//! html5ever's tree builder says what is wrong, but not which element: that is found by comparing
//! what was open before a tag with what is open after it. An end tag of an element that was closed
//! in an error is forgiven, so that one error is one flaw.

use std::collections::HashMap;
use std::rc::Rc;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    CharacterTokens, Doctype, DoctypeToken, EOFToken, EndTag, StartTag as Start, Tag, TagKind, TagToken, Token,
    TokenSink as _, TokenSinkResult,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, QualName, ns};
use html5gum::State;

use super::page::{Node, Page};
use super::tokens::{Report, StartTag};
use crate::tree;
use crate::validity::flaws::quoted;

/// The most names whose end tags are forgiven.
const FORGIVEN_MAX: usize = 1_000;

/// The attributes on which it depends how a tag is read.
pub(super) const ATTRIBUTES: [&str; 5] = ["type", "encoding", "color", "face", "size"];

/// What surrounds an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    Html,
    /// SVG or `MathML`.
    Foreign,
    /// A template, or `noscript`.
    Apart,
}

/// The open elements.
pub(super) struct Nesting {
    builder: TreeBuilder<Rc<Node>, Page>,
    /// The innermost one.
    current: Rc<Node>,
    /// Where the last text is.
    text_at: usize,
    /// Nothing is checked any more: it is nested deeper than pages are.
    is_given_up: bool,
    forgiven: HashMap<String, u32>,
}

impl Default for Nesting {
    fn default() -> Self {
        let options = TreeBuilderOpts { exact_errors: true, scripting_enabled: false, ..TreeBuilderOpts::default() };
        let page = Page::default();
        let current = page.asked.borrow().clone();
        let builder = TreeBuilder::new(page, options);
        Self { builder, current, text_at: 0, is_given_up: false, forgiven: HashMap::new() }
    }
}

/// What a token did.
struct Step {
    /// What html5ever said of it.
    errors: Vec<Error>,
    /// The innermost open element before it.
    before: Rc<Node>,
    /// The elements that it closed, from inside.
    closed: Vec<Rc<Node>>,
    result: TokenSinkResult<Rc<Node>>,
}

/// An error by html5ever, as far as its text tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Error {
    /// A token that cannot be there.
    Unexpected(Place),
    /// The token closes an element before those in it, which are reported themselves.
    OpenElement,
    /// A formatting element is closed before what is in it.
    Misnested,
    Nested,
    SelfClosing,
    TableText,
    Other,
}

/// Where a page is read: the standard's insertion mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Initial,
    HeadNoscript,
    AfterHead,
    Table,
    AfterBody,
    Frames,
    Other,
}

impl Error {
    fn read(message: &str) -> Self {
        match message {
            "Unacknowledged self-closing tag" => Self::SelfClosing,
            "Formatting element not current node" | "Bad open element on </form>" => Self::Misnested,
            "nested heading tags" | "nested forms" | "nested buttons" | "Nested <nobr>" => Self::Nested,
            "Non-space table text" => Self::TableText,
            _ if message.starts_with("Unexpected open") => Self::OpenElement,
            _ if message.starts_with("Unexpected characters") => Self::TableText,
            // Also of a doctype.
            _ => match message.rsplit_once(" in insertion mode ") {
                Some((_, mode)) => Self::Unexpected(match mode {
                    "Initial" => Place::Initial,
                    "InHeadNoscript" => Place::HeadNoscript,
                    "AfterHead" => Place::AfterHead,
                    "InTable" | "InTableBody" | "InRow" | "InColumnGroup" => Place::Table,
                    "AfterBody" | "AfterAfterBody" => Place::AfterBody,
                    "InFrameset" | "AfterFrameset" | "AfterAfterFrameset" => Place::Frames,
                    _ => Place::Other,
                }),
                None => Self::Other,
            },
        }
    }
}

impl Nesting {
    pub(super) fn is_foreign(&self) -> bool {
        self.current.is_foreign()
    }

    /// Hands a token to html5ever. Reports what any token may be the first to show.
    fn process(&mut self, token: Token, at: usize, report: &mut Report<'_, '_>) -> Step {
        let page = &self.builder.sink;
        page.at.set(at);
        page.made.take();
        let result = self.builder.process_token(token, 1);
        // This asks for the name of the innermost element.
        self.builder.adjusted_current_node_present_but_not_in_html_namespace();
        let current = page.asked.borrow().clone();
        let mut errors: Vec<_> = page.errors.take().iter().map(|message| Error::read(message)).collect();
        errors.retain(|error| match error {
            Error::Unexpected(Place::Initial) => {
                report.add("no-doctype", 0, || "the page does not begin with `<!DOCTYPE html>`".to_owned());
                false
            }
            Error::TableText => {
                report.add("misplaced-in-table", self.text_at, || "text in a table, outside of its cells".to_owned());
                false
            }
            _ => true,
        });
        let closed = closed(&self.current, &current);
        self.is_given_up |= current.depth.get() >= tree::DEPTH_MAX;
        let before = std::mem::replace(&mut self.current, current);
        Step { errors, before, closed, result }
    }

    pub(super) fn doctype(&mut self, doctype: Doctype, at: usize, is_right: bool, report: &mut Report<'_, '_>) {
        if self.is_given_up {
            return;
        }
        let errors = self.process(DoctypeToken(doctype), at, report).errors;
        if errors.iter().any(|error| matches!(error, Error::Unexpected(_))) {
            report.add("stray-doctype", at, || "a doctype must come first".to_owned());
        } else if !is_right {
            report.add("obsolete-doctype", at, || "the doctype must be `<!DOCTYPE html>`".to_owned());
        }
    }

    /// Handles a text; `at` is its first character that is not blank, if there is one.
    pub(super) fn text(&mut self, at: Option<usize>, report: &mut Report<'_, '_>) {
        if self.is_given_up {
            return;
        }
        self.text_at = at.unwrap_or(self.text_at);
        let text = StrTendril::from_char(if at.is_some() { 'x' } else { ' ' });
        let errors = self.process(CharacterTokens(text), self.text_at, report).errors;
        if errors.contains(&Error::Unexpected(Place::AfterBody)) {
            report.add("after-body", self.text_at, || "text behind the end of the body".to_owned());
        }
    }

    /// Handles a start tag. Returns what surrounds it, and how the tokenizer has to go on.
    pub(super) fn start_tag(&mut self, tag: &StartTag, report: &mut Report<'_, '_>) -> (Around, Option<State>) {
        let name = tag.name.as_str();
        if self.is_given_up {
            return (Around::Html, next_state(name));
        }
        let step = self.process(tag_token(Start, name, tag.is_self_closing, attributes(tag)), tag.at, report);
        let made = self.builder.sink.made.take().filter(|made| made.is(name));
        let is_misplaced = self.report_start(tag, &step, report);
        if is_misplaced && made.is_none() {
            self.forgive(name);
        }
        let around = match &made {
            Some(made) if made.is_apart.get() => Around::Apart,
            Some(made) if made.is_foreign() => Around::Foreign,
            _ => Around::Html,
        };
        if let Some(made) = made {
            // What is misplaced in a table may be closed with it.
            let is_in_table = is_misplaced && made.parent.borrow().as_ref().is_some_and(|parent| parent.is("table"));
            made.needs_end.set(!is_in_table && (made.is_foreign() || !may_stay_open(name)));
        }
        let is_raw = matches!(step.result, TokenSinkResult::RawData(_) | TokenSinkResult::Plaintext);
        (around, is_raw.then(|| next_state(name)).flatten())
    }

    /// Reports what is wrong with a start tag. Returns whether it cannot be there.
    fn report_start(&mut self, tag: &StartTag, step: &Step, report: &mut Report<'_, '_>) -> bool {
        let (name, at) = (tag.name.as_str(), tag.at);
        let is_alike = |node: &Node| !node.is_foreign() && (node.is(name) || is_heading(name) && is_heading_node(node));
        if step.errors.contains(&Error::SelfClosing) {
            report.add("self-closing", at, || format!("`<{name}/>` is not closed: HTML ignores the slash"));
        }
        let is_link = name == "a" && step.closed.iter().any(|node| is_alike(node));
        let misplaced = step.errors.iter().find_map(|error| match error {
            Error::Unexpected(place) if !is_link && *place != Place::Frames => Some(*place),
            _ => None,
        });
        // The content of `select` is not checked.
        let misplaced = misplaced.filter(|_| !step.before.and_around().any(|node| node.is("select")));
        if let Some(place) = misplaced {
            let (rule, message) = match place {
                _ if matches!(name, "html" | "head" | "body") => ("stray-start-tag", "cannot be here"),
                _ if step.before.is_foreign() => ("html-in-svg", "ends the SVG or MathML around it"),
                Place::Table => ("misplaced-in-table", "in a table, outside of its cells or rows"),
                Place::HeadNoscript => ("misplaced-in-head", "cannot be in a `noscript` of the head"),
                Place::AfterHead => ("between-head-and-body", "between head and body"),
                Place::AfterBody => ("after-body", "behind the end of the body"),
                Place::Initial | Place::Frames | Place::Other => ("stray-start-tag", "cannot be here"),
            };
            report.add(rule, at, || format!("`<{name}>` {message}"));
        }
        if (is_link || step.errors.contains(&Error::Nested))
            && let Some(outer) = step.before.and_around().find(|node| is_alike(node))
        {
            let kind = &outer.name.local;
            let message = |first: &str| format!("`<{name}>` in the `{kind}` of {first}");
            report.add_with_first("nested-element", at, outer.at, message);
            self.forgive(kind);
            if name != "form" {
                outer.needs_end.set(false);
            }
        }
        for node in step.closed.iter().filter(|node| node.needs_end.get()) {
            // What is in a link that is ended by another one goes on behind it.
            if !is_link && (misplaced.is_none() || !node.is_foreign()) {
                report_unclosed(node, name, at, report);
            }
            self.forgive(&node.name.local);
        }
        misplaced.is_some()
    }

    /// Handles an end tag.
    pub(super) fn end_tag(&mut self, name: &str, at: usize, report: &mut Report<'_, '_>) {
        if self.is_given_up {
            return;
        }
        let Step { errors, before, closed, .. } = self.process(tag_token(EndTag, name, false, Vec::new()), at, report);
        let own = closed.iter().rposition(|node| node.is(name) || is_heading(name) && is_heading_node(node));
        let is_misnested = errors.contains(&Error::Misnested);
        if is_misnested {
            let inner = quoted(&before.name.local);
            let message = |first: &str| format!("`</{name}>` before {inner} of {first} is closed");
            report.add_with_first("misnested", at, before.at, message);
            if let Some(left) = before.and_around().find(|node| node.is(name)) {
                left.needs_end.set(false);
            }
        } else if let Some(own) = own {
            let own = &closed[own];
            if !own.is(name) {
                report.add("stray-end-tag", at, || format!("`</{name}>` ends `{}`", own.name.local));
            }
        } else if errors.iter().any(|error| matches!(error, Error::Unexpected(_) | Error::Other)) {
            self.stray(name, at, report);
        }
        for (index, node) in closed.iter().enumerate().filter(|(_, node)| node.needs_end.get()) {
            if Some(index) != own {
                if !is_misnested {
                    report_unclosed(node, &format!("/{name}"), at, report);
                }
                self.forgive(&node.name.local);
            }
        }
    }

    pub(super) fn finish(&mut self, report: &mut Report<'_, '_>) {
        if self.is_given_up {
            return;
        }
        let Step { before, .. } = self.process(EOFToken, 0, report);
        for node in before.and_around().filter(|node| node.needs_end.get()) {
            report.add("unclosed-element", node.at, || format!("{} is not closed", quoted(&node.name.local)));
        }
    }

    fn stray(&mut self, name: &str, at: usize, report: &mut Report<'_, '_>) {
        match self.forgiven.get_mut(name) {
            Some(times) if *times > 0 => *times -= 1,
            _ => report.add("stray-end-tag", at, || format!("`</{name}>` ends nothing that is open")),
        }
    }

    fn forgive(&mut self, name: &str) {
        let name = name.to_ascii_lowercase();
        if self.forgiven.len() < FORGIVEN_MAX || self.forgiven.contains_key(&name) {
            let times = self.forgiven.entry(name).or_default();
            *times = times.saturating_add(1);
        }
    }
}

/// Returns the elements that are open before and not after, from inside.
fn closed(before: &Rc<Node>, after: &Rc<Node>) -> Vec<Rc<Node>> {
    let is_closed = |node: &Rc<Node>| !after.and_around().any(|open| Rc::ptr_eq(&open, node));
    before.and_around().take_while(is_closed).collect()
}

fn report_unclosed(node: &Node, by: &str, at: usize, report: &mut Report<'_, '_>) {
    let message = |end: &str| format!("{} is not closed before `<{by}>` at {end}", quoted(&node.name.local));
    report.add_with_first("unclosed-element", node.at, at, message);
}

/// Returns the attributes of a tag that html5ever reads.
fn attributes(tag: &StartTag) -> Vec<Attribute> {
    let attribute = |name: &&str| Attribute {
        name: QualName::new(None, ns!(), LocalName::from(*name)),
        value: StrTendril::from_slice(tag.value(name)),
    };
    ATTRIBUTES.iter().filter(|name| tag.has(name)).map(attribute).collect()
}

fn tag_token(kind: TagKind, name: &str, self_closing: bool, attrs: Vec<Attribute>) -> Token {
    TagToken(Tag { kind, name: LocalName::from(name), self_closing, attrs, had_duplicate_attributes: false })
}

fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

fn is_heading_node(node: &Node) -> bool {
    !node.is_foreign() && is_heading(&node.name.local)
}

/// Elements whose end tag may be missing.
fn may_stay_open(name: &str) -> bool {
    matches!(
        name,
        "body"
            | "caption"
            | "colgroup"
            | "dd"
            | "dt"
            | "head"
            | "html"
            | "li"
            | "optgroup"
            | "option"
            | "p"
            | "rb"
            | "rp"
            | "rt"
            | "rtc"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
    )
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
