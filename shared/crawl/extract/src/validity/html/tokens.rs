//! Reading a page's tags, texts and errors.

use std::convert::Infallible;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::Doctype;
use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Emitter, Error, ForwardingEmitter, Span, State, Tokenizer};

use super::document::Document;
use super::nesting::{ATTRIBUTES, Nesting};
use crate::validity::flaws::{Flaws, LineColumn, quoted};

/// The most attributes of a tag that are told apart.
const ATTRIBUTES_MAX: usize = 256;

/// A start tag, as far as it matters.
#[derive(Debug, Default)]
pub(super) struct StartTag {
    pub(super) name: String,
    /// Where its `<` is.
    pub(super) at: usize,
    /// Its attributes' names, each once, and where they are.
    names: Vec<(String, usize)>,
    /// Those whose values matter.
    pub(super) id: Option<(String, usize)>,
    /// The values of those that html5ever reads.
    values: Vec<(&'static str, String)>,
    pub(super) is_self_closing: bool,
}

impl StartTag {
    /// Returns the value of one that html5ever reads.
    pub(super) fn value(&self, name: &str) -> &str {
        self.values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|(found, _)| found == name)
    }
}

/// Where flaws of a page go.
#[derive(Debug)]
pub(super) struct Report<'t, 'f> {
    text: &'t str,
    flaws: &'f mut Flaws,
}

impl Report<'_, '_> {
    pub(super) fn add(&mut self, rule: &'static str, at: usize, message: impl FnOnce() -> String) {
        self.flaws.add(rule, || LineColumn::locate(self.text, at), message);
    }

    /// Adds a flaw whose message says where something else is.
    pub(super) fn add_with_first(
        &mut self,
        rule: &'static str,
        at: usize,
        first: usize,
        message: impl FnOnce(&str) -> String,
    ) {
        let text = self.text;
        self.add(rule, at, || {
            let LineColumn { line, column } = LineColumn::locate(text, first);
            message(&format!("{line}:{column}"))
        });
    }
}

/// Passes on what html5gum finds.
pub(super) struct Tokens<'t, 'f> {
    report: Report<'t, 'f>,
    nesting: Nesting,
    document: Document,
    /// The start tag that is being read, if one is.
    tag: StartTag,
    is_in_start_tag: bool,
    next: Option<State>,
    last_error: Option<(Error, usize)>,
}

struct Page<'t, 'f>(CallbackEmitter<Tokens<'t, 'f>, Infallible, usize>);

impl ForwardingEmitter for Page<'_, '_> {
    type Token = Infallible;

    fn inner(&mut self) -> &mut impl Emitter<Token = Infallible> {
        &mut self.0
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        let _ = self.0.emit_current_tag();
        let next = self.0.callback_mut().next.take();
        if next.is_some() {
            self.0.init_string();
        }
        next
    }

    fn emit_eof(&mut self) {
        self.0.emit_eof();
        self.0.callback_mut().finish();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.0.callback_mut().nesting.is_foreign()
    }
}

impl<'t, 'f> Tokens<'t, 'f> {
    pub(super) fn read(text: &'t str, flaws: &'f mut Flaws) {
        let tokens = Self {
            report: Report { text, flaws },
            nesting: Nesting::default(),
            document: Document::default(),
            tag: StartTag::default(),
            is_in_start_tag: false,
            next: None,
            last_error: None,
        };
        let Ok::<_, Infallible>(_) = Tokenizer::new_with_emitter(text, Page(CallbackEmitter::new(tokens))).finish();
    }

    fn error(&mut self, error: Error, at: usize) {
        if error == Error::NoncharacterInInputStream {
            // An error by the standard that no checker reports.
            return;
        }
        // html5gum stands behind the character.
        let at = if is_at_end(error) { self.report.text.len() } else { at.saturating_sub(1) };
        // Some are passed on twice.
        if self.last_error.replace((error, at)) == Some((error, at)) {
            return;
        }
        self.report.add(error.as_str(), at, || error.as_str().replace('-', " "));
    }

    fn attribute(&mut self, name: &[u8], at: usize) {
        if !self.is_in_start_tag {
            return;
        }
        let name = String::from_utf8_lossy(name).into_owned();
        if self.tag.has(&name) {
            self.report.add("duplicate-attribute", at, || format!("duplicate attribute {}", quoted(&name)));
        }
        if self.tag.names.len() < ATTRIBUTES_MAX {
            if name == "id" && !self.tag.has("id") {
                self.tag.id = Some((String::new(), at));
            }
            self.tag.names.push((name, at));
        }
    }

    fn value(&mut self, value: &[u8]) {
        let Some((name, _)) = self.tag.names.last().filter(|_| self.is_in_start_tag) else { return };
        let value = String::from_utf8_lossy(value);
        match name.as_str() {
            "id" => {
                if let Some((id, _)) = self.tag.id.as_mut().filter(|(id, _)| id.is_empty()) {
                    *id = value.into_owned();
                }
            }
            name => {
                if let Some(known) = ATTRIBUTES.into_iter().find(|known| *known == name) {
                    self.tag.values.push((known, value.into_owned()));
                }
            }
        }
    }
}

/// Whether an error is only known when the page ends.
const fn is_at_end(error: Error) -> bool {
    matches!(
        error,
        Error::EofBeforeTagName
            | Error::EofInCdata
            | Error::EofInComment
            | Error::EofInDoctype
            | Error::EofInScriptHtmlCommentLikeText
            | Error::EofInTag
    )
}

impl Callback<Infallible, usize> for Tokens<'_, '_> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, span: Span<usize>) -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = StartTag {
                    name: String::from_utf8_lossy(name).into_owned(),
                    at: span.start,
                    ..StartTag::default()
                };
                self.is_in_start_tag = true;
            }
            CallbackEvent::AttributeName { name } => self.attribute(name, span.start),
            CallbackEvent::AttributeValue { value } => self.value(value),
            CallbackEvent::CloseStartTag { self_closing } => {
                self.is_in_start_tag = false;
                self.tag.is_self_closing = self_closing;
                let (around, next) = self.nesting.start_tag(&self.tag, &mut self.report);
                self.next = next;
                self.document.start_tag(&self.tag, around, &mut self.report);
            }
            CallbackEvent::EndTag { name } => {
                self.is_in_start_tag = false;
                let name = String::from_utf8_lossy(name);
                self.nesting.end_tag(&name, span.start, &mut self.report);
                self.document.end_tag(&name, &mut self.report);
            }
            CallbackEvent::String { value } => {
                let first = value.iter().position(|byte| !byte.is_ascii_whitespace());
                self.nesting.text(first.map(|first| span.start + first), &mut self.report);
                if first.is_some() {
                    self.document.text();
                }
            }
            CallbackEvent::Comment { .. } => {}
            CallbackEvent::Doctype { name, public_identifier, system_identifier, force_quirks } => {
                let is_html = name.eq_ignore_ascii_case(b"html") && public_identifier.is_none() && !force_quirks;
                let is_right = is_html && matches!(system_identifier, None | Some(b"about:legacy-compat"));
                let text = |bytes: &[u8]| StrTendril::from_slice(&String::from_utf8_lossy(bytes));
                let doctype = Doctype {
                    name: Some(text(name)).filter(|name| !name.is_empty()),
                    public_id: public_identifier.map(text),
                    system_id: system_identifier.map(text),
                    force_quirks,
                };
                self.nesting.doctype(doctype, span.start, is_right, &mut self.report);
            }
            CallbackEvent::Error(error) => self.error(error, span.start),
        }
        None
    }
}

impl Tokens<'_, '_> {
    fn finish(&mut self) {
        self.nesting.finish(&mut self.report);
        self.document.finish(&mut self.report);
    }
}
