//! Types of items: the values that the user wants from pages, and their places.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::validate::problem;
use super::{Condition, ItemMistake, Key, KeyPlace, Mistake, Problem, TextPattern, limits};

/// A type of the user's own items: its pages, and its fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemType {
    /// The items' type.
    #[serde(rename = "type")]
    pub name: String,
    /// The condition for its pages; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// The place of each item, within which its fields are looked for; `None`: a page is one item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Selector>,
    /// Its fields.
    pub fields: Vec<FieldRule>,
}

/// A field: its place, its kind, and the conditions on its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldRule {
    /// The field's name.
    pub name: String,
    /// Its possible places: the first one with a value decides. Empty only for a record of the
    /// element that its fields' places are relative to.
    pub any: Vec<Selector>,
    /// The kind of its value.
    pub kind: FieldKind,
    /// Whether an item may lack it.
    #[serde(default)]
    pub presence: Presence,
    /// The lower bound of a number or an amount of money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// A pattern that must match somewhere in a text, URL or date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<TextPattern>,
}

/// Whether an item may lack a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It may lack it.
    #[default]
    Optional,
    /// It must have it.
    Required,
}

/// The kind of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    /// The first match.
    One(ScalarKind),
    /// Every match.
    List(ScalarKind),
    /// Every match, with its own fields, which are looked for within it.
    Record(Vec<FieldRule>),
}

/// The kind of a single value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalarKind {
    /// A text, with all white space collapsed to single spaces.
    #[default]
    Text,
    /// A number, as `1,234.5`, `1.234,5` or `12 %`.
    Number,
    /// An amount of money, with its currency if it is known.
    Money,
    /// A date, with a time if there is one.
    Date,
    /// An absolute URL of `http` or `https`.
    Url,
    /// A boolean.
    Boolean,
}

impl ScalarKind {
    /// Returns its word in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Money => "money",
            Self::Date => "date",
            Self::Url => "url",
            Self::Boolean => "boolean",
        }
    }

    const fn has_bounds(self) -> bool {
        matches!(self, Self::Number | Self::Money)
    }

    const fn has_pattern(self) -> bool {
        matches!(self, Self::Text | Self::Url | Self::Date)
    }
}

impl FieldKind {
    /// Returns its word in a definition.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::One(word) => word.name(),
            Self::List(_) => "list",
            Self::Record(_) => "record",
        }
    }

    const fn value(&self) -> Option<ScalarKind> {
        match self {
            Self::One(word) | Self::List(word) => Some(*word),
            Self::Record(_) => None,
        }
    }
}

/// A place in a page, or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Selector {
    /// Where to look.
    pub at: SelectorPlace,
    /// A pattern for the part of the text to take: its match, or its first group if it has any.
    /// `None`: all of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<TextPattern>,
}

/// The place where a selector looks. The texts are in the syntax of their kind, which the reader of
/// a definition checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectorPlace {
    /// Elements by a CSS selector.
    Css {
        /// The selector.
        selector: String,
        /// The attribute with the value; `None`: the element's text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attribute: Option<String>,
    },
    /// Elements, or their attributes, by a path like XPath's.
    Path(String),
    /// The text of the page, or of the element that is searched.
    Text,
    /// The page's JSON-LD, by a JSON path.
    JsonLd(String),
    /// JSON in scripts.
    Script {
        /// The scripts, by a CSS selector.
        selector: String,
        /// The part of them, by a JSON path.
        json: String,
    },
    /// The JSON that `each`, or a record's place, selected; by a JSON path.
    Json(String),
    /// The items of the page's structured data, by property names separated by dots.
    Item {
        /// The names, such as `offers.price`.
        property: String,
        /// The required type of the items; `None`: any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item_type: Option<String>,
    },
}

impl Selector {
    fn texts(&self) -> Vec<&str> {
        match &self.at {
            SelectorPlace::Css { selector, attribute } => {
                std::iter::once(&**selector).chain(attribute.as_deref()).collect()
            }
            SelectorPlace::Path(text) | SelectorPlace::JsonLd(text) | SelectorPlace::Json(text) => vec![text],
            SelectorPlace::Text => Vec::new(),
            SelectorPlace::Script { selector, json } => vec![selector, json],
            SelectorPlace::Item { property, item_type } => {
                std::iter::once(&**property).chain(item_type.as_deref()).collect()
            }
        }
    }

    /// Returns its mistake, apart from the syntax of its texts.
    #[must_use]
    pub fn mistake(&self) -> Option<ItemMistake> {
        if self.texts().iter().any(|text| text.trim().is_empty()) {
            return Some(ItemMistake::EmptySelector);
        }
        let too_long = self.texts().into_iter().map(str::len).find(|&bytes| bytes > limits::SELECTOR_BYTES_MAX);
        match (&self.at, &self.regex) {
            (SelectorPlace::Text, None) => Some(ItemMistake::NoSelector),
            _ => too_long.map(ItemMistake::SelectorTooLong),
        }
    }
}

/// Shows it as written, for people: `css: time, attribute: datetime`.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            SelectorPlace::Css { selector, attribute: None } => write!(f, "css: {selector}")?,
            SelectorPlace::Css { selector, attribute: Some(name) } => write!(f, "css: {selector}, attribute: {name}")?,
            SelectorPlace::Path(path) => write!(f, "path: {path}")?,
            SelectorPlace::Text => {}
            SelectorPlace::JsonLd(path) => write!(f, "json_ld: {path}")?,
            SelectorPlace::Script { selector, json } => write!(f, "script: {selector}, json: {json}")?,
            SelectorPlace::Json(path) => write!(f, "json: {path}")?,
            SelectorPlace::Item { property, item_type: None } => write!(f, "item: {property}")?,
            SelectorPlace::Item { property, item_type: Some(name) } => {
                write!(f, "item: {property}, item_type: {name}")?;
            }
        }
        match (&self.at, &self.regex) {
            (SelectorPlace::Text, Some(regex)) => write!(f, "regex: {regex}"),
            (_, Some(regex)) => write!(f, ", regex: {regex}"),
            (_, None) => Ok(()),
        }
    }
}

impl FieldRule {
    /// Returns its own mistake, without those of a record's fields.
    #[must_use]
    pub fn mistake(&self) -> Option<ItemMistake> {
        let is_record = matches!(self.kind, FieldKind::Record(_));
        if !is_field_name(&self.name) {
            return Some(ItemMistake::FieldName(printable_name(&self.name)));
        }
        if self.any.is_empty() && !is_record {
            return Some(ItemMistake::NoSelector);
        }
        if self.any.len() > limits::SELECTORS_MAX {
            return Some(ItemMistake::TooManySelectors(self.any.len()));
        }
        if matches!(&self.kind, FieldKind::Record(fields) if fields.is_empty()) {
            return Some(ItemMistake::NoFields);
        }
        self.any.iter().find_map(Selector::mistake).or_else(|| self.rules_mistake())
    }

    fn rules_mistake(&self) -> Option<ItemMistake> {
        let value = self.kind.value();
        let bounds = [self.min, self.max];
        let has_bounds = bounds.iter().any(Option::is_some);
        if has_bounds && !value.is_some_and(ScalarKind::has_bounds) {
            return Some(ItemMistake::Bounds(self.kind.name()));
        }
        if bounds.iter().flatten().any(|bound| !bound.is_finite()) {
            return Some(ItemMistake::EndlessBound);
        }
        if self.pattern.is_some() && !value.is_some_and(ScalarKind::has_pattern) {
            return Some(ItemMistake::Pattern(self.kind.name()));
        }
        match bounds {
            [Some(min), Some(max)] if min > max => {
                Some(ItemMistake::CrossedBounds { min: min.to_string(), max: max.to_string() })
            }
            _ => None,
        }
    }
}

impl ItemType {
    /// Returns the mistake in its name.
    #[must_use]
    pub fn name_mistake(&self) -> Option<ItemMistake> {
        (!is_type_name(&self.name)).then(|| ItemMistake::TypeName(printable_name(&self.name)))
    }
}

/// Returns the problems of types, apart from their number and their conditions.
pub(super) fn problems(types: &[ItemType]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut fields = 0;
    for (entry, item_type) in types.iter().enumerate() {
        let mut tell = |path: &str, mistake: ItemMistake| {
            let mistake = Mistake::Item { path: path.to_owned(), mistake };
            problems.push(problem(KeyPlace::entry(Key::Items, entry), mistake));
        };
        let name = printable_name(&item_type.name);
        let is_double = types[..entry].iter().any(|other| other.name == item_type.name);
        let each = item_type.each.as_ref().and_then(Selector::mistake);
        let no_fields = item_type.fields.is_empty().then_some(ItemMistake::NoFields);
        let double = is_double.then(|| ItemMistake::Double(name.clone()));
        for mistake in [item_type.name_mistake(), double, each, no_fields].into_iter().flatten() {
            tell(&name, mistake);
        }
        let mut walk = FieldWalk { found: Vec::new(), fields: 0 };
        walk.level(&name, &item_type.fields, 1, Json::from_selectors(item_type.each.as_slice()));
        walk.found.into_iter().for_each(|(path, mistake)| tell(&path, mistake));
        if walk.fields > limits::FIELDS_MAX {
            tell(&name, ItemMistake::TooManyFields { count: walk.fields, max: limits::FIELDS_MAX });
        }
        let before = fields;
        fields += walk.fields;
        if before <= limits::FIELDS_OF_ALL_TYPES_MAX && fields > limits::FIELDS_OF_ALL_TYPES_MAX {
            tell(&name, ItemMistake::TooManyFields { count: fields, max: limits::FIELDS_OF_ALL_TYPES_MAX });
        }
    }
    problems
}

/// Whether a place has selected JSON, as `json` alone requires.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Json {
    Selected,
    None,
}

impl Json {
    fn from_selectors(selectors: &[Selector]) -> Self {
        let is_json = |selector: &Selector| !matches!(selector.at, SelectorPlace::Css { .. } | SelectorPlace::Path(_));
        if selectors.iter().any(is_json) { Self::Selected } else { Self::None }
    }
}

struct FieldWalk {
    found: Vec<(String, ItemMistake)>,
    fields: usize,
}

impl FieldWalk {
    fn level(&mut self, path: &str, fields: &[FieldRule], depth: usize, json: Json) {
        if depth > limits::RECORDS_DEPTH_MAX {
            self.found.push((path.to_owned(), ItemMistake::TooDeep));
            return;
        }
        self.fields += fields.len();
        // A list that is far too long is cut, as the check takes quadratic time.
        for (place, field) in fields.iter().enumerate().take(limits::FIELDS_MAX) {
            let path = format!("{path}.{}", printable_name(&field.name));
            let double = fields[..place].iter().any(|other| other.name == field.name);
            let double = double.then(|| ItemMistake::Double(printable_name(&field.name)));
            let is_alone = |selector: &Selector| matches!(selector.at, SelectorPlace::Json(_));
            let no_json = (json == Json::None && field.any.iter().any(is_alone)).then_some(ItemMistake::NoJson);
            self.found.extend(field.mistake().or(double).or(no_json).map(|mistake| (path.clone(), mistake)));
            if let FieldKind::Record(fields) = &field.kind {
                let within = if field.any.is_empty() { json } else { Json::from_selectors(&field.any) };
                let within = if json == Json::Selected { json } else { within };
                self.level(&path, fields, depth + 1, within);
            }
        }
    }
}

fn is_type_name(name: &str) -> bool {
    name.len() <= limits::ITEM_NAME_LEN_MAX
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_field_name(name: &str) -> bool {
    name.len() <= limits::ITEM_NAME_LEN_MAX
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns an arbitrary name, short and on one line.
fn printable_name(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(limits::ITEM_NAME_LEN_MAX).collect()
}
