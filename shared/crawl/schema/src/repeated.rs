//! Repeated structures on pages of one pattern: lists, tables, labels with values.

use std::collections::{BTreeMap, BTreeSet};

use dragline_domain::content::{Repeated, RepeatedField, RepeatedForm};
use dragline_domain::definition::ScalarKind;
use dragline_domain::shown::one_line;
use serde::{Deserialize, Serialize};

use crate::Kind;
use crate::learned::{add_examples, add_url, take_rarest};
use crate::limits::{EXAMPLE_CHARS_MAX, FIELDS_OF_REPEATED_MAX, NAME_BYTES_MAX};

/// What was learned about a repeated structure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedRepetition {
    /// Its form; the first if pages differ.
    pub form: RepeatedForm,
    /// The number of pages that have it.
    pub pages: u64,
    /// The number of entries on all of them.
    pub entries: u64,
    /// The fields of its entries, by place: a path by its label, or a CSS selector, with `@` before
    /// the name of an attribute.
    pub fields: BTreeMap<String, LearnedRepeatedField>,
    /// The number of fields of pages that were left out.
    pub fields_left_out: u64,
    /// Examples of pages that have it.
    pub urls: BTreeSet<String>,
}

/// What was learned about a field of the entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedRepeatedField {
    /// Its name; the alphabetically first if there are several.
    pub name: String,
    /// The CSS selector below the entry; `None` if it is the entry itself. The alphabetically first
    /// if there are several.
    pub css: Option<String>,
    /// The attribute with the value; `None` if the value is the text.
    pub attribute: Option<String>,
    /// The same place as a path, by the label beside it; `None` without a label.
    pub path: Option<String>,
    /// The number of pages that have it.
    pub pages: u64,
    /// The number of entries that have it.
    pub entries: u64,
    /// The number of pages on which all values have this kind.
    pub kinds: BTreeMap<Kind, u64>,
    /// Example values, one from each page, on one line and safe to print to a terminal.
    pub examples: BTreeSet<String>,
}

impl LearnedRepetition {
    /// Returns the structure of one page, with its selector; `None` if the selector is too long to
    /// keep.
    pub(crate) fn from_repeated(repeated: &Repeated, url: &str) -> Option<(String, Self)> {
        let each = Some(&repeated.each).filter(|each| each.len() <= NAME_BYTES_MAX)?.clone();
        let mut learned = Self {
            form: repeated.form,
            pages: 1,
            entries: u64::from(repeated.entries),
            fields: BTreeMap::new(),
            fields_left_out: 0,
            urls: BTreeSet::new(),
        };
        add_url(&mut learned.urls, url);
        for field in &repeated.fields {
            match LearnedRepeatedField::from_field(field) {
                // A page names each place once.
                Some((place, field)) => drop(learned.fields.entry(place).or_insert(field)),
                None => learned.fields_left_out += 1,
            }
        }
        learned.compact();
        Some((each, learned))
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.form = self.form.min(other.form);
        self.pages += other.pages;
        self.entries += other.entries;
        self.fields_left_out += other.fields_left_out;
        add_examples(&mut self.urls, other.urls);
        for (place, field) in other.fields {
            match self.fields.get_mut(&place) {
                Some(known) => known.merge(field),
                None => {
                    self.fields.insert(place, field);
                }
            }
        }
        self.compact();
    }

    fn compact(&mut self) {
        for (_, left) in take_rarest(&mut self.fields, FIELDS_OF_REPEATED_MAX, |field| field.entries) {
            self.fields_left_out += left.pages;
        }
    }
}

impl LearnedRepeatedField {
    fn from_field(field: &RepeatedField) -> Option<(String, Self)> {
        let attribute = field.attribute.as_ref().map(|name| format!("@{name}")).unwrap_or_default();
        let css = field.css.as_deref().unwrap_or_default();
        let place = field.path.clone().unwrap_or_else(|| format!("{css}{attribute}"));
        let learned = Self {
            name: field.name.clone(),
            css: field.css.clone(),
            attribute: field.attribute.clone(),
            path: field.path.clone(),
            pages: 1,
            entries: u64::from(field.entries),
            kinds: BTreeMap::from([(kind(field.kind), 1)]),
            examples: BTreeSet::from([one_line(&field.example, EXAMPLE_CHARS_MAX)]),
        };
        let is_short =
            place.len() <= NAME_BYTES_MAX && css.len() <= NAME_BYTES_MAX && field.name.len() <= NAME_BYTES_MAX;
        is_short.then_some((place, learned))
    }

    fn merge(&mut self, other: Self) {
        self.name = std::mem::take(&mut self.name).min(other.name);
        self.css = self.css.take().min(other.css);
        self.attribute = self.attribute.take().min(other.attribute);
        self.path = self.path.take().min(other.path);
        self.pages += other.pages;
        self.entries += other.entries;
        for (kind, pages) in other.kinds {
            *self.kinds.entry(kind).or_default() += pages;
        }
        add_examples(&mut self.examples, other.examples);
    }

    /// Returns the only kind; `None` if there are several.
    #[must_use]
    pub fn only_kind(&self) -> Option<Kind> {
        let mut kinds = self.kinds.keys();
        kinds.next().copied().filter(|_| kinds.next().is_none())
    }
}

const fn kind(kind: ScalarKind) -> Kind {
    match kind {
        ScalarKind::Text => Kind::Text,
        ScalarKind::Number => Kind::Number,
        ScalarKind::Money => Kind::Money,
        ScalarKind::Date => Kind::Date,
        ScalarKind::Url => Kind::Url,
        ScalarKind::Boolean => Kind::Bool,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use dragline_definition::parse;
    use dragline_domain::document::Document;

    use super::*;
    use crate::text::tests::{document, documents, learn_all};
    use crate::{LearnedSchema, Pairs, drift, text, yaml};

    /// The repeated structures of a page, by their selectors.
    type PageRepetitions<'f> = &'f [(&'f str, &'f [RepeatedField])];

    /// Returns a field of three entries. `place` is written as in the learned schema.
    fn field(place: &str, name: &str, kind: ScalarKind, example: &str) -> RepeatedField {
        let is_path = place.starts_with("//");
        let (css, attribute) = place.split_once('@').map_or((place, None), |(css, name)| (css, Some(name.to_owned())));
        RepeatedField {
            name: name.to_owned(),
            css: if is_path { Some("dd".to_owned()) } else { Some(css.to_owned()).filter(|css| !css.is_empty()) },
            attribute: attribute.filter(|_| !is_path),
            path: is_path.then(|| place.to_owned()),
            kind,
            entries: 3,
            example: example.to_owned(),
        }
    }

    pub(crate) fn page(path: &str, repeated: PageRepetitions<'_>) -> Document {
        let mut document = document(path, "", "");
        let form = |each: &str| match each {
            each if each.contains("tr") => RepeatedForm::Table,
            each if each.contains("dl") => RepeatedForm::Pairs,
            _ => RepeatedForm::List,
        };
        let repeated = repeated.iter().map(|(each, fields)| Repeated {
            form: form(each),
            each: (*each).to_owned(),
            entries: 3,
            fields: fields.to_vec(),
        });
        document.content.get_or_insert_default().repeated = repeated.collect();
        document
    }

    fn pages(count: usize, repeated: PageRepetitions<'_>) -> Vec<Document> {
        (1..=count).map(|n| page(&format!("/list/{n}"), repeated)).collect()
    }

    fn card() -> Vec<RepeatedField> {
        vec![
            field("a@href", "link", ScalarKind::Url, "https://shop.example/p/1"),
            field("h3 > a", "title", ScalarKind::Text, "Chair"),
            field("span.price", "price", ScalarKind::Money, "5 €"),
        ]
    }

    fn shop() -> LearnedSchema {
        let facts = [
            field("//dt[.='It\\ \"is\"']/following-sibling::dd[1]", "it_is", ScalarKind::Date, "2024-01-01"),
            field("", "text", ScalarKind::Text, "all \u{1b}[2J"),
            field("@id", "text", ScalarKind::Number, "7"),
        ];
        let row = [field("td:nth-child(1)", "name", ScalarKind::Text, "A")];
        let mut all = pages(3, &[("li.product-card", &card()), ("main > table > tbody > tr:has(> td)", &row)]);
        all.push(page("/list/4", &[("li.product-card", &[field("h3 > a", "name", ScalarKind::Number, "7")])]));
        all.push(page("/list/5", &[("ul.seldom > li", &card())]));
        all.push(page("/", &[("body > dl", &facts)]));
        learn_all(&all)
    }

    #[test]
    fn people_see_what_pages_repeat() {
        insta::assert_snapshot!(text(&shop()));
    }

    #[test]
    fn a_definition_begins_with_what_most_pages_repeat() {
        let yaml = yaml(&shop());
        let text = format!("seeds: [https://shop.example/]\n{yaml}");
        let definition = parse(&text, "crawl.yaml").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let names: Vec<&str> = definition.items.iter().map(|item_type| item_type.name.as_str()).collect();
        assert_eq!(names, ["Facts", "ProductCard", "Row"], "that of one page in five is left out");
        insta::assert_snapshot!(yaml);
    }

    #[test]
    fn significant_changes_of_repeated_structures_are_reported() {
        let (card, other) = (card(), [field("b", "name", ScalarKind::Text, "A")]);
        let shorter = [card[0].clone(), card[1].clone()];
        let (card, other) = (card.as_slice(), other.as_slice());
        let (with, without): (PageRepetitions<'_>, PageRepetitions<'_>) =
            (&[("li.card", card)], &[("li.other", other)]);
        let (both, less): (PageRepetitions<'_>, PageRepetitions<'_>) =
            (&[("li.card", card), ("li.other", other)], &[("li.card", &shorter)]);
        let gone = "`li.card` is gone from /list/*: 8 of 8, now 0 of 8";
        let new = "`li.other` is new on /list/*: 0 of 8, now 8 of 8";
        for (before, now, expected, why) in [
            ((8, with), (8, with), vec![], "nothing changed"),
            ((8, with), (8, without), vec![gone, new], "another list"),
            ((8, with), (8, both), vec![new], "one more"),
            ((8, with), (8, &[][..]), vec![gone], "none is left"),
            ((8, &[][..]), (8, with), vec![], "pages that were made without looking for lists"),
            ((4, with), (8, without), vec![], "four pages before say nothing"),
            ((8, with), (4, without), vec![], "four pages now say nothing"),
            (
                (8, with),
                (8, less),
                vec!["price (`span.price`) is gone from `li.card` on /list/*: 24 of 24, now 0 of 24"],
                "a field is gone",
            ),
            (
                (8, less),
                (8, with),
                vec!["price (`span.price`) is new in `li.card` on /list/*: 0 of 24, now 24 of 24"],
                "a field is new",
            ),
        ] {
            let (before, now) = (pages(before.0, before.1), pages(now.0, now.1));
            let told: Vec<String> =
                drift(&learn_all(&before), &learn_all(&now)).iter().map(ToString::to_string).collect();
            assert_eq!(told, expected, "{why}");
            let mut pairs = Pairs::default();
            before.iter().zip(&now).for_each(|(before, now)| pairs.add(before, now));
            let drifts = pairs.drifts();
            let changed = if drifts.is_empty() { 0 } else { 8 };
            assert_eq!(pairs.pages_with(&drifts), changed, "{why}");
        }
    }

    #[test]
    fn made_up_lists_do_not_take_more_memory() {
        let mut learned = LearnedSchema::default();
        for n in 0..400 {
            let fields: Vec<RepeatedField> =
                (0..60).map(|place| field(&format!("b.f{place}x{}", n % 7), "name", ScalarKind::Text, "A")).collect();
            let fields = fields.as_slice();
            learned.learn(&page(
                &format!("/{}/{n}", "abcdefghijkl".get(n % 12..).unwrap()),
                &[("li.always", fields), (&format!("li.n{n}"), fields)],
            ));
            let of_patterns = || learned.page_types().values();
            let fields = || of_patterns().flat_map(|page| page.repeated.values()).map(|of_each| of_each.fields.len());
            assert!(of_patterns().all(|page| page.repeated.len() <= crate::limits::REPEATED_OF_PATTERN_MAX));
            assert!(fields().max() <= Some(FIELDS_OF_REPEATED_MAX));
            assert!(fields().sum::<usize>() <= crate::limits::FIELDS_OF_ALL_REPEATED_MAX);
        }
        let left_out: u64 = learned.page_types().values().map(|page| page.repeated_left_out).sum();
        assert!(left_out > 0, "it says that something is missing");
        let json = serde_json::to_string(&learned).unwrap();
        assert_eq!(serde_json::from_str::<LearnedSchema>(&json).unwrap(), learned);
    }

    #[test]
    fn the_stored_form_without_lists_is_unchanged() {
        let json = serde_json::to_string(&learn_all(&documents("Product", 2, r#""name":"A""#))).unwrap();
        assert!(!json.contains("repeated"), "{json}");
    }
}
