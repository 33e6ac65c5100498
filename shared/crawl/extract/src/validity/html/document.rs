//! Rules for a document as a whole: ids, title, main.

use std::collections::HashMap;

use super::nesting::Around;
use super::tokens::{Report, StartTag};
use crate::validity::flaws::quoted;

/// The most ids that are remembered, and the most bytes of one.
const IDS_MAX: usize = 100_000;
const ID_BYTES_MAX: usize = 1_024;

/// What is known of the document so far.
#[derive(Debug, Default)]
pub(super) struct Document {
    ids: HashMap<String, usize>,
    main: Option<usize>,
    title: Title,
    is_frameset: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Title {
    #[default]
    None,
    /// It has begun here, and there was no text in it yet.
    Empty(usize),
    Filled,
}

impl Document {
    pub(super) fn start_tag(&mut self, tag: &StartTag, around: Around, report: &mut Report<'_, '_>) {
        // What is in a template belongs to other documents; what is in noscript is only there where
        // scripts are not run.
        if around == Around::Apart {
            return;
        }
        self.is_frameset |= tag.name == "frameset";
        if let Some((id, at)) = &tag.id {
            self.id(id, *at, report);
        }
        if around == Around::Foreign {
            return;
        }
        match tag.name.as_str() {
            "title" if self.title == Title::None => self.title = Title::Empty(tag.at),
            "main" if !tag.has("hidden") => match self.main {
                None => self.main = Some(tag.at),
                Some(first) => {
                    let message = |first: &str| format!("more than one visible `main`, the first at {first}");
                    report.add_with_first("second-main", tag.at, first, message);
                }
            },
            _ => {}
        }
    }

    fn id(&mut self, id: &str, at: usize, report: &mut Report<'_, '_>) {
        if id.is_empty() {
            report.add("bad-id", at, || "an id must not be empty".to_owned());
        } else if id.bytes().any(|byte| byte.is_ascii_whitespace()) {
            report.add("bad-id", at, || format!("an id must not have blanks in it: {}", quoted(id)));
        }
        if id.is_empty() || id.len() > ID_BYTES_MAX {
            return;
        }
        if let Some(first) = self.ids.get(id).copied() {
            let message = |first: &str| format!("duplicate id {}, first at {first}", quoted(id));
            report.add_with_first("duplicate-id", at, first, message);
        } else if self.ids.len() < IDS_MAX {
            self.ids.insert(id.to_owned(), at);
        }
    }

    pub(super) fn text(&mut self) {
        if let Title::Empty(_) = self.title {
            self.title = Title::Filled;
        }
    }

    pub(super) fn end_tag(&mut self, name: &str, report: &mut Report<'_, '_>) {
        if let Title::Empty(at) = self.title
            && name == "title"
        {
            report.add("empty-title", at, || "the title is empty".to_owned());
            self.title = Title::Filled;
        }
    }

    pub(super) fn finish(&self, report: &mut Report<'_, '_>) {
        if self.title == Title::None && !self.is_frameset {
            report.add("no-title", 0, || "the page has no title".to_owned());
        }
    }
}
