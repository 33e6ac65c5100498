//! The printed form of a document.

use std::fmt::Write as _;

use dragline_domain::content::Content;
use dragline_domain::item::Item;
use dragline_domain::rendering::PageGist;
use dragline_domain::url::CrawlUrl;
use dragline_extract::Look;
use dragline_extract::typed::{FieldResult, FieldTrace};
use serde::{Serialize, Serializer};

use crate::terminal::{Align, Colour, Width, plural, safe, table};

/// The longest value in a table, in characters.
const VALUE_CHARS_MAX: usize = 60;

/// The printed document.
pub(super) struct ExtractedPage<'l> {
    pub(super) url: &'l CrawlUrl,
    pub(super) look: &'l Look,
    pub(super) content: &'l Content,
}

#[derive(Serialize)]
struct Record<'l> {
    url: &'l CrawlUrl,
    title: Option<&'l str>,
    description: Option<&'l str>,
    language: Option<&'l str>,
    text: &'l str,
    content: &'l Content,
    fields: &'l [FieldTrace],
    structured: Option<&'l dragline_extract::items::Markup>,
}

impl Serialize for ExtractedPage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let page = &self.look.extracted.page;
        let record = Record {
            url: self.url,
            title: page.title.as_deref(),
            description: page.description.as_deref(),
            language: page.language.as_deref(),
            text: &page.text,
            content: self.content,
            fields: &self.look.fields,
            structured: self.look.markup.as_ref(),
        };
        record.serialize(serializer)
    }
}

impl ExtractedPage<'_> {
    /// Returns the text for people: the items, then the sources of the fields in the definition's
    /// types.
    pub(super) fn text(&self, form: (Width, Colour)) -> String {
        let mut text = format!("{}\n", self.url);
        if let Some(title) = &self.look.extracted.page.title {
            let _ = writeln!(text, "{}", safe(title));
        }
        if let Some(main) = &self.content.main {
            let (words, percent, taken) = (plural(main.words.into(), "word"), main.kept_percent, main.taken.meaning());
            let _ = writeln!(
                text,
                "\nmain part: {words}, {percent} % of the text without navigation and the like; it is {taken}"
            );
        }
        if let Some(sent) = self.content.rendering.as_ref().and_then(|rendering| rendering.served.as_ref()) {
            let _ = write!(text, "\n{}\n", changes_text(sent, &super::gist(self.look), form));
        }
        if self.content.items.is_empty() {
            text.push_str("\nno items\n");
        }
        for item in &self.content.items {
            let _ = write!(text, "\n{}\n", item_text(item, form));
        }
        if !self.look.fields.is_empty() {
            let _ = write!(text, "\n{}\n", fields_text(&self.look.fields, form));
        }
        for misfit in &self.content.misfits {
            let _ = write!(text, "\n{}", safe(&misfit.to_string()));
        }
        if !self.content.misfits.is_empty() {
            text.push('\n');
        }
        text
    }
}

/// Returns a table of what scripts change.
fn changes_text(sent: &PageGist, shown: &PageGist, form: (Width, Colour)) -> String {
    let rows = [
        ("title", text_of(sent.title.as_deref()), text_of(shown.title.as_deref())),
        (
            "canonical",
            text_of(sent.canonical.as_ref().map(CrawlUrl::as_str)),
            text_of(shown.canonical.as_ref().map(CrawlUrl::as_str)),
        ),
        ("words", sent.words.to_string(), shown.words.to_string()),
        ("links to pages", sent.links.to_string(), shown.links.to_string()),
        ("noindex", yes_or_no(sent.noindex), yes_or_no(shown.noindex)),
    ];
    let rows = rows.map(|(name, sent, shown)| [name.to_owned(), sent, shown]);
    table([("", Align::Left), ("as sent", Align::Left), ("in a browser", Align::Left)], &rows, form)
}

fn text_of(text: Option<&str>) -> String {
    text.map_or_else(|| "none".to_owned(), short)
}

fn yes_or_no(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

fn item_text(item: &Item, form: (Width, Colour)) -> String {
    let columns = item.columns();
    let from = |column: &str| {
        // Values that all notations share have no field of their own.
        let field = item.fields.iter().find(|(name, _)| column.starts_with(&name.to_lowercase()));
        field.map_or_else(
            || "normalised".to_owned(),
            |(_, field)| field.from.iter().map(|notation| notation.name()).collect::<Vec<_>>().join(", "),
        )
    };
    let rows: Vec<[String; 3]> =
        columns.iter().map(|(name, cell)| [name.clone(), short(&cell.to_string()), from(name)]).collect();
    let heads =
        [(item.types.first().map_or("item", String::as_str), Align::Left), ("", Align::Left), ("from", Align::Left)];
    table(heads, &rows, form)
}

fn fields_text(fields: &[FieldTrace], form: (Width, Colour)) -> String {
    let rows: Vec<[String; 4]> = fields
        .iter()
        .map(|field| {
            let tried = field.tried.iter().map(|tried| format!("{} ({})", tried.place, tried.matches));
            let found = match &field.found {
                FieldResult::Values(1) => "found".to_owned(),
                FieldResult::Values(values) => format!("{values} values"),
                FieldResult::Nothing => "nothing".to_owned(),
                FieldResult::Misfit(rule) => format!("does not fit {rule}"),
            };
            let name = format!("{} {}: {}", field.item_type, field.item, field.field);
            let raw = field.raw.as_deref().map(short).unwrap_or_default();
            [name, found, raw, tried.collect::<Vec<_>>().join(", ")]
        })
        .collect();
    let left = |head| (head, Align::Left);
    table([left("field"), left("result"), left("text"), left("places (matches)")], &rows, form)
}

/// Shortens a value to one line of limited length.
fn short(value: &str) -> String {
    let line = value.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(VALUE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
