//! Reads types of items.

use std::fmt;

use crate::selectors::{Css, JsonPath, Path, SelectorError};
use dragline_domain::definition::{
    Condition, FieldKind, FieldRule, ItemMistake, ItemType, Key, KeyPlace, Presence, ScalarKind, Selector,
    SelectorPlace, TextPattern,
};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

use super::{Diagnostic, Location, Notes, Text};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawItemType {
    #[serde(rename = "type")]
    name: Text,
    when: Option<Condition>,
    each: Option<Spanned<RawSelector>>,
    fields: RawFields,
}

/// A single place, as under `each` and `any`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSelector {
    css: Option<Text>,
    attribute: Option<Text>,
    path: Option<Text>,
    json_ld: Option<Text>,
    script: Option<Text>,
    json: Option<Text>,
    item: Option<Text>,
    item_type: Option<Text>,
    regex: Option<Text>,
}

/// A field: its place or places, and its rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawField {
    css: Option<Text>,
    attribute: Option<Text>,
    path: Option<Text>,
    json_ld: Option<Text>,
    script: Option<Text>,
    json: Option<Text>,
    item: Option<Text>,
    item_type: Option<Text>,
    regex: Option<Text>,
    any: Option<Spanned<Vec<Spanned<RawSelector>>>>,
    kind: Option<Spanned<Word>>,
    of: Option<Spanned<Word>>,
    required: Option<bool>,
    min: Option<Spanned<f64>>,
    max: Option<Spanned<f64>>,
    pattern: Option<Text>,
    fields: Option<Spanned<RawFields>>,
}

/// The words for kinds.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Text,
    Number,
    Money,
    Date,
    Url,
    Boolean,
    List,
    Record,
}

impl Word {
    const fn scalar(self) -> Option<ScalarKind> {
        match self {
            Self::Text => Some(ScalarKind::Text),
            Self::Number => Some(ScalarKind::Number),
            Self::Money => Some(ScalarKind::Money),
            Self::Date => Some(ScalarKind::Date),
            Self::Url => Some(ScalarKind::Url),
            Self::Boolean => Some(ScalarKind::Boolean),
            Self::List | Self::Record => None,
        }
    }
}

/// Names with fields, in the order of the file.
struct RawFields(Vec<(Text, Spanned<RawField>)>);

impl<'de> Deserialize<'de> for RawFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = RawFields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("keys with values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawFields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(RawFields(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl From<RawField> for (RawSelector, RawRules) {
    fn from(raw: RawField) -> Self {
        let RawField { css, attribute, path, json_ld, script, json, item, item_type, regex, .. } = raw;
        let RawField { any, kind, of, required, min, max, pattern, fields, .. } = raw;
        let selector = RawSelector { css, attribute, path, json_ld, script, json, item, item_type, regex };
        (selector, RawRules { any, kind, of, required, min, max, pattern, fields })
    }
}

struct RawRules {
    any: Option<Spanned<Vec<Spanned<RawSelector>>>>,
    kind: Option<Spanned<Word>>,
    of: Option<Spanned<Word>>,
    required: Option<bool>,
    min: Option<Spanned<f64>>,
    max: Option<Spanned<f64>>,
    pattern: Option<Text>,
    fields: Option<Spanned<RawFields>>,
}

impl RawSelector {
    /// Returns its keys that are present, first the one that decides how it is read.
    fn written(&self) -> Vec<(&'static str, &Text)> {
        let keys = [
            ("css", &self.css),
            ("path", &self.path),
            ("json_ld", &self.json_ld),
            ("script", &self.script),
            ("json", &self.json),
            ("item", &self.item),
            ("regex", &self.regex),
            ("attribute", &self.attribute),
            ("item_type", &self.item_type),
        ];
        keys.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?))).collect()
    }
}

impl Notes {
    /// Reads the types, leaving out invalid fields.
    pub(super) fn item_types(
        &mut self,
        key: Key,
        raw: Option<Spanned<Vec<Spanned<RawItemType>>>>,
    ) -> Option<Vec<ItemType>> {
        let raw = raw?;
        self.locate(key, &raw);
        let item_type = |(entry, raw): (usize, Spanned<RawItemType>)| {
            self.locate(KeyPlace::entry(key, entry), &raw);
            let RawItemType { name, when, each, fields } = raw.value;
            let each = each.and_then(|each| self.selector(&each.value, each.referenced.into()));
            let fields = self.fields(fields);
            let item_type = ItemType { name: name.value, when, each, fields };
            if let Some(mistake) = item_type.name_mistake() {
                self.tell(name.referenced.into(), &mistake);
            }
            item_type
        };
        Some(raw.value.into_iter().enumerate().map(item_type).collect())
    }

    /// Reads fields and sorts them by name: their order means nothing, and is lost when a
    /// definition is sent as JSON.
    fn fields(&mut self, raw: RawFields) -> Vec<FieldRule> {
        let mut fields: Vec<_> = raw.0.into_iter().filter_map(|(name, field)| self.field(name, field)).collect();
        fields.sort_by(|a, b| a.name.cmp(&b.name));
        fields
    }

    fn field(&mut self, name: Text, raw: Spanned<RawField>) -> Option<FieldRule> {
        let told_before = self.mistake_count();
        let location = Location::from(name.referenced);
        let (place, rules) = raw.value.into();
        let RawRules { any, kind, of, required, min, max, pattern, fields } = rules;
        let at = |raw: Option<Location>| raw.unwrap_or(location);
        let pattern_at = at(pattern.as_ref().map(|raw| raw.referenced.into()));
        let bounds_at = at(min.as_ref().or(max.as_ref()).map(|raw| raw.referenced.into()));
        let fields_at = at(fields.as_ref().map(|raw| raw.referenced.into()));

        let kind = self.kind(kind, of, fields, location);
        let any = self.places(&place, any, location);
        let pattern = pattern.and_then(|raw| self.text_pattern(&raw));
        let presence = if required == Some(true) { Presence::Required } else { Presence::Optional };
        let (min, max) = (min.map(|raw| raw.value), max.map(|raw| raw.value));
        let rule = FieldRule { name: name.value, any, kind: kind?, presence, min, max, pattern };
        // A mistake in the whole rule may only follow from a part that was left out.
        if self.mistake_count() == told_before
            && let Some(mistake) = rule.mistake()
        {
            let location = match mistake {
                ItemMistake::Bounds(_) | ItemMistake::EndlessBound | ItemMistake::CrossedBounds { .. } => bounds_at,
                ItemMistake::Pattern(_) => pattern_at,
                ItemMistake::NoFields => fields_at,
                _ => location,
            };
            self.tell(location, &mistake);
        }
        (self.mistake_count() == told_before).then_some(rule)
    }

    /// Creates a kind from its word, the word for a list's values, and a record's fields.
    fn kind(
        &mut self,
        kind: Option<Spanned<Word>>,
        of: Option<Spanned<Word>>,
        fields: Option<Spanned<RawFields>>,
        location: Location,
    ) -> Option<FieldKind> {
        let told = |notes: &mut Self, at: Location, message: &str, hint: &str| {
            notes.diagnostics.push((at, Diagnostic::new(message).hint(hint)));
            None
        };
        let word = kind.as_ref().map_or(Word::Text, |kind| kind.value);
        if let (Some(of), false) = (&of, matches!(word, Word::List)) {
            return told(self, of.referenced.into(), "`of` is for the kind `list`", "add `kind: list`, or remove it");
        }
        match (word, fields) {
            (Word::Record, Some(fields)) => Some(FieldKind::Record(self.fields(fields.value))),
            (Word::Record, None) => {
                let at = kind.map_or(location, |kind| kind.referenced.into());
                told(self, at, "a record has `fields`", "name what is wanted of it: `fields: { name: { css: b } }`")
            }
            (_, Some(fields)) => {
                let hint = "add `kind: record`, which makes a record of every match";
                told(self, fields.referenced.into(), "`fields` are for the kind `record`", hint)
            }
            (Word::List, None) => match of {
                None => Some(FieldKind::List(ScalarKind::Text)),
                Some(of) => match of.value.scalar() {
                    Some(scalar) => Some(FieldKind::List(scalar)),
                    None => {
                        let hint = "the kind `record` alone has every match";
                        told(self, of.referenced.into(), "a list is of single values", hint)
                    }
                },
            },
            (word, None) => word.scalar().map(FieldKind::One),
        }
    }

    /// Reads a field's places: its own, or those under `any`.
    fn places(
        &mut self,
        own: &RawSelector,
        any: Option<Spanned<Vec<Spanned<RawSelector>>>>,
        location: Location,
    ) -> Vec<Selector> {
        let own_at = own.written().first().map(|(_, text)| Location::from(text.referenced));
        match (own_at, any) {
            (None, None) => Vec::new(),
            (Some(_), None) => self.selector(own, location).into_iter().collect(),
            (None, Some(any)) => {
                let places = any.value.into_iter();
                places.filter_map(|raw| self.selector(&raw.value, raw.referenced.into())).collect()
            }
            (Some(at), Some(_)) => {
                let diagnostic = Diagnostic::new("a field has one place, or `any` with several");
                self.diagnostics.push((at, diagnostic.hint("move it into the list under `any`")));
                Vec::new()
            }
        }
    }

    fn selector(&mut self, raw: &RawSelector, location: Location) -> Option<Selector> {
        let told_before = self.mistake_count();
        let written = raw.written();
        let (key, text) = *written.first().or_else(|| {
            self.tell(location, &ItemMistake::NoSelector);
            None
        })?;
        // The keys that may stand beside it.
        let beside: &[&str] = match key {
            "css" => &["attribute", "regex"],
            "script" => &["json", "regex"],
            "item" => &["item_type", "regex"],
            _ => &["regex"],
        };
        if let Some((other, at)) = written[1..].iter().find(|(other, _)| !beside.contains(other)) {
            let (message, hint) = match (key, *other) {
                ("path", "attribute") => {
                    ("`attribute` goes with `css`".to_owned(), "end the path with `/@` and the attribute's name")
                }
                (_, "attribute") => ("`attribute` goes with `css`".to_owned(), "add `css` to select the element"),
                (_, "item_type") => ("`item_type` goes with `item`".to_owned(), "add `item` with a property's name"),
                _ => {
                    let message = format!("`{key}` and `{other}` are two places");
                    (message, "put them into a list under `any`: the first one that has anything decides")
                }
            };
            self.diagnostics.push((at.referenced.into(), Diagnostic::new(message).hint(hint)));
            return None;
        }
        let value = text.value.clone();
        let place = match key {
            "css" => {
                self.check(text, Css::parse);
                let attribute = raw.attribute.as_ref().map(|name| name.value.to_ascii_lowercase());
                SelectorPlace::Css { selector: value, attribute }
            }
            "path" => {
                self.check(text, Path::parse);
                SelectorPlace::Path(value)
            }
            "json_ld" => {
                self.check(text, JsonPath::parse);
                SelectorPlace::JsonLd(value)
            }
            "script" => {
                self.check(text, Css::parse);
                match &raw.json {
                    Some(json) => {
                        self.check(json, JsonPath::parse);
                        SelectorPlace::Script { selector: value, json: json.value.clone() }
                    }
                    None => {
                        let diagnostic = Diagnostic::new("`script` needs `json`, which says what in it");
                        let hint = "add a JSON path: `json: $.props.title`; or write `css` and `regex` for its text";
                        self.diagnostics.push((text.referenced.into(), diagnostic.hint(hint)));
                        return None;
                    }
                }
            }
            "json" => {
                self.check(text, JsonPath::parse);
                SelectorPlace::Json(value)
            }
            "item" => {
                let item_type = raw.item_type.as_ref().map(|name| name.value.clone());
                SelectorPlace::Item { property: value, item_type }
            }
            "regex" => SelectorPlace::Text,
            _ => {
                self.tell(text.referenced.into(), &ItemMistake::NoSelector);
                return None;
            }
        };
        let regex = match &raw.regex {
            Some(regex) => Some(self.text_pattern(regex)?),
            None => None,
        };
        let selector = Selector { at: place, regex };
        if self.mistake_count() > told_before {
            return None;
        }
        if let Some(mistake) = selector.mistake() {
            self.tell(text.referenced.into(), &mistake);
            return None;
        }
        Some(selector)
    }

    /// Reports a text that does not parse.
    fn check<T>(&mut self, raw: &Text, parse: fn(&str) -> Result<T, SelectorError>) {
        if let Err(SelectorError { message, hint }) = parse(&raw.value) {
            self.diagnostics.push((raw.referenced.into(), Diagnostic::new(message).hint(hint)));
        }
    }

    fn text_pattern(&mut self, raw: &Text) -> Option<TextPattern> {
        match raw.value.parse::<TextPattern>() {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                self.diagnostics.push((raw.referenced.into(), Diagnostic::new(error.to_string()).hint(error.hint())));
                None
            }
        }
    }

    fn tell(&mut self, location: Location, mistake: &ItemMistake) {
        let told = (location, Diagnostic::new(mistake.to_string()).hint(mistake.hint()));
        if *mistake == ItemMistake::NoSelector { self.consequences.push(told) } else { self.diagnostics.push(told) }
    }

    /// Returns the number of mistakes so far.
    const fn mistake_count(&self) -> usize {
        self.diagnostics.len() + self.consequences.len()
    }
}
