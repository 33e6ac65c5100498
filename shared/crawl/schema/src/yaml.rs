//! A draft of a definition.

use std::collections::BTreeSet;
use std::fmt::Write;

use dragline_domain::content::RepeatedForm;
use dragline_domain::shown::is_control;

use crate::{Kind, LearnedField, LearnedRepeatedField, LearnedRepetition, LearnedSchema, Share};

/// The most types in a definition.
const TYPES_MAX: usize = 100;
/// The most fields of a type.
const FIELDS_MAX: usize = 200;
/// The most fields of all types together.
const FIELDS_OF_ALL_TYPES_MAX: usize = 2_000;
/// A type that occurs on more patterns than this is looked for on all pages.
const PATTERNS_MAX: usize = 8;
/// Structures on a smaller share of a pattern's pages, in percent, are left out.
const MOST_PAGES_PERCENT_MIN: u64 = 50;
/// Rarer fields, in percent, are left out: a draft begins with what matters.
const SHARE_PERCENT_MIN: u64 = 5;
/// The longest type name, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Returns a draft of a definition's section `items:` with the types and fields found on pages:
/// those of structured data, and those of structures that most pages of a pattern repeat. It is
/// meant to be edited.
#[must_use]
pub fn yaml(learned: &LearnedSchema) -> String {
    let mut out = String::new();
    let (mut names, mut fields_left) = (BTreeSet::new(), FIELDS_OF_ALL_TYPES_MAX);
    for (table, of_type) in learned.types().iter().take(TYPES_MAX) {
        let written = |(name, field): (&String, &LearnedField)| {
            let share = Share { having: field.items, of: of_type.items };
            let property = field.property.as_deref().filter(|_| share.percent() >= SHARE_PERCENT_MIN)?;
            let item_type = of_type.name.as_ref().map(|name| format!(", item_type: {}", quoted(name)));
            let place = format!("item: {}{}", quoted(property), item_type.unwrap_or_default());
            Some(format!("      {name}: {{ {place}, kind: {} }}", word(field)))
        };
        let is_valid =
            |name: &str| name.len() <= NAME_BYTES_MAX && !name.starts_with(|first: char| first.is_ascii_digit());
        let fields = of_type.fields.iter().filter(|(name, _)| is_valid(name)).filter_map(written);
        let fields: Vec<String> = fields.take(FIELDS_MAX.min(fields_left)).collect();
        if fields.is_empty() {
            continue;
        }
        fields_left -= fields.len();
        let name = free_name(of_type.name.as_deref().unwrap_or(table), &mut names);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  - type: {}", quoted(&name));
        if let Some(when) = condition(learned, table) {
            let _ = writeln!(out, "    when: {when}");
        }
        let _ = writeln!(out, "    fields:\n{}", fields.join("\n"));
    }
    let mut types_left = TYPES_MAX - names.len();
    for (pattern, each, of_each) in repeated_on_most_pages(learned) {
        let fields = repeated_fields(of_each, FIELDS_MAX.min(fields_left));
        if fields.is_empty() || types_left == 0 {
            continue;
        }
        (types_left, fields_left) = (types_left - 1, fields_left - fields.len());
        let name = free_name(&repeated_name(each, of_each.form), &mut names);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  - type: {}", quoted(&name));
        if learned.page_types().len() > 1 && pattern != "/**" {
            let _ = writeln!(out, "    when: {}", test(pattern));
        }
        let _ = writeln!(out, "    each: {{ css: {} }}\n    fields:\n{}", quoted(each), fields.join("\n"));
    }
    if out.is_empty() { "items: []\n".to_owned() } else { format!("items:\n{out}") }
}

/// Returns the structures that most pages of a pattern repeat, each with the pattern and the
/// selector of its entries.
fn repeated_on_most_pages(learned: &LearnedSchema) -> impl Iterator<Item = (&str, &str, &LearnedRepetition)> {
    learned.page_types().iter().flat_map(|(pattern, page)| {
        let is_on_most = |having: u64| Share { having, of: page.pages }.percent() >= MOST_PAGES_PERCENT_MIN;
        let on_most = page.repeated.iter().filter(move |(_, of_each)| is_on_most(of_each.pages));
        on_most.map(|(each, of_each)| (pattern.as_str(), each.as_str(), of_each))
    })
}

/// Returns a line for each field of the entries, except rare ones.
fn repeated_fields(learned: &LearnedRepetition, fields_max: usize) -> Vec<String> {
    let mut names = BTreeSet::new();
    let share = |field: &LearnedRepeatedField| Share { having: field.entries, of: learned.entries }.percent();
    let written = |field: &LearnedRepeatedField| {
        let place = match (&field.path, &field.css, &field.attribute) {
            (Some(path), ..) => format!("path: {}", quoted(path)),
            (None, Some(css), None) => format!("css: {}", quoted(css)),
            (None, Some(css), Some(attribute)) => {
                format!("css: {}, attribute: {}", quoted(css), quoted(attribute))
            }
            (None, None, None) => "path: .".to_owned(),
            (None, None, Some(attribute)) => format!("path: {}", quoted(&format!("@{attribute}"))),
        };
        let kind = kind_word(field.only_kind().unwrap_or(Kind::Text));
        format!("      {}: {{ {place}, kind: {kind} }}", free_field_name(&field.name, &mut names))
    };
    learned.fields.values().filter(|field| share(field) >= SHARE_PERCENT_MIN).take(fields_max).map(written).collect()
}

/// Returns an unused field name that a definition accepts.
fn free_field_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let letters = name.chars().filter(|char| char.is_ascii_alphanumeric() || *char == '_');
    let letters: String = letters.skip_while(|char| !char.is_ascii_alphabetic()).take(NAME_BYTES_MAX - 4).collect();
    let letters = if letters.is_empty() { "field".to_owned() } else { letters };
    let numbered = (2..).map(|number| format!("{letters}_{number}"));
    let free = [letters.clone()].into_iter().chain(numbered).find(|name| !taken.contains(name)).unwrap_or(letters);
    taken.insert(free.clone());
    free
}

/// Returns a name for the entries: the last class of their selector, or else one by their form.
fn repeated_name(each: &str, form: RepeatedForm) -> String {
    let class = each.rsplit_once('.').map(|(_, last)| last.split([' ', ':', '>', '+']).next().unwrap_or(last));
    let words = class.unwrap_or_default().split(|char: char| !char.is_ascii_alphanumeric());
    let name: String =
        words.filter_map(|word| Some(format!("{}{}", word.get(..1)?.to_ascii_uppercase(), word.get(1..)?))).collect();
    let of_form = match form {
        RepeatedForm::List => "Entry",
        RepeatedForm::Table => "Row",
        RepeatedForm::Pairs => "Facts",
    };
    if name.is_empty() { of_form.to_owned() } else { name }
}

/// Returns an unused type name that a definition accepts.
fn free_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let short = name.rsplit(['/', '#', ':']).next().unwrap_or(name);
    let letters = short.chars().filter(char::is_ascii_alphanumeric);
    let letters: String = letters.skip_while(char::is_ascii_digit).take(NAME_BYTES_MAX - 4).collect();
    let letters = if letters.is_empty() { "Thing".to_owned() } else { letters };
    let numbered = (2..).map(|number| format!("{letters}{number}"));
    let free = [letters.clone()].into_iter().chain(numbered).find(|name| !taken.contains(name)).unwrap_or(letters);
    taken.insert(free.clone());
    free
}

/// Returns the condition on pages for a type; `None` if it occurs on all of them, or on too many
/// page types.
fn condition(learned: &LearnedSchema, table: &str) -> Option<String> {
    let pages = learned.page_types();
    let having: Vec<&str> =
        pages.iter().filter(|(_, page)| page.types.contains_key(table)).map(|(pattern, _)| pattern.as_str()).collect();
    if having.is_empty() || having.len() == pages.len() || having.len() > PATTERNS_MAX || having.contains(&"/**") {
        return None;
    }
    let tests: Vec<String> = having.into_iter().map(test).collect();
    Some(match tests.as_slice() {
        [only] => only.clone(),
        several => format!("{{ any: [{}] }}", several.join(", ")),
    })
}

fn test(pattern: &str) -> String {
    if !pattern.contains('*') {
        return format!("{{ path: {{ equals: {} }} }}", quoted(pattern));
    }
    let parts = regex::escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^/]+");
    format!("{{ path: {{ regex: {} }} }}", quoted(&format!("^{parts}$")))
}

const fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "boolean",
        Kind::Number => "number",
        Kind::Money => "money",
        Kind::Date => "date",
        Kind::Url => "url",
        Kind::List => "list",
        Kind::Text => "text",
    }
}

/// Returns a kind that can hold all values: a value of another kind would not fit.
fn word(field: &LearnedField) -> &'static str {
    match field.only_kind() {
        Some(kind) => kind_word(kind),
        None if field.kinds.contains_key(&Kind::List) => kind_word(Kind::List),
        None => kind_word(Kind::Text),
    }
}

/// Quotes a text as a YAML scalar, whatever it contains.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            char if is_control(char) || !(' '..'\u{d7ff}').contains(&char) => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(char));
            }
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use dragline_definition::parse;

    use super::*;
    use crate::text::tests::{document, documents, learn_all};

    fn is_accepted(yaml: &str) {
        let text = format!("seeds: [https://shop.example/]\n{yaml}");
        assert!(parse(&text, "crawl.yaml").map_err(|errors| panic!("{errors}\n{text}")).is_ok());
    }

    #[test]
    fn a_definition_with_it_is_accepted() {
        let mut all = documents("Product", 6, r#""name":"A","price":7,"brand":{"fields":{"name":["B"]}}"#);
        all.push(document("/", "", ""));
        all.push(document("/about", "Organization", r#""url":"https://a.example/""#));
        let yaml = yaml(&learn_all(&all));
        is_accepted(&yaml);
        insta::assert_snapshot!(yaml);
    }

    #[test]
    fn a_draft_with_made_up_names_is_accepted() {
        for (item_type, fields, why) in [
            ("", "", "no items"),
            ("日本", r#""日本":"a""#, "no ASCII letters"),
            ("https://x.example/#A-b 'c'", r#""a: b#c'":"x""#, "characters of YAML"),
            (r#"A\u0085\u007f\ufeff😀\""#, r#""x\u0000y":"x\u2028""#, "characters that YAML does not allow"),
            ("9Lives", r#""9lives":"x""#, "digits first"),
            ("A", r#""a.b":1,"c":true,"d":[1,2],"id":"x","url":"y""#, "dots, lists and common names"),
        ] {
            let document = document("/p/a(b)+[c]'", item_type, fields);
            let yaml = yaml(&learn_all(&[document]));
            is_accepted(&yaml);
            assert!(!yaml.contains(|char: char| char != '\n' && is_control(char)), "{why}");
        }
    }
}
