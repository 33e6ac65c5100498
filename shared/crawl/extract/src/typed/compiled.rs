//! Types with their selectors and paths compiled.

use dragline_definition::selectors::{Css, JsonPath, Path, SelectorError};
use dragline_domain::definition::{
    Condition, FieldKind, FieldRule, ItemType, Presence, ScalarKind, Selector, SelectorPlace, TextPattern,
};
use dragline_domain::url::CrawlUrl;

/// A type.
#[derive(Debug)]
pub(super) struct Type {
    pub(super) name: String,
    when: Option<Condition>,
    pub(super) each: Option<CompiledPlace>,
    pub(super) fields: Vec<Field>,
}

/// A field with its rules.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) any: Vec<CompiledPlace>,
    pub(super) kind: Kind,
    pub(super) presence: Presence,
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) pattern: Option<TextPattern>,
}

#[derive(Debug)]
pub(super) enum Kind {
    One(ScalarKind),
    List(ScalarKind),
    Record(Vec<Field>),
}

/// A place, and its spelling in the definition.
#[derive(Debug)]
pub(super) struct CompiledPlace {
    pub(super) at: At,
    pub(super) regex: Option<TextPattern>,
    pub(super) written: String,
}

#[derive(Debug)]
pub(super) enum At {
    Css { css: Css, attribute: Option<String> },
    Path(Path),
    Text,
    JsonLd(JsonPath),
    Script { selector: String, css: Css, json: JsonPath },
    Json(JsonPath),
    Item { property: Vec<String>, item_type: Option<String> },
}

impl Type {
    pub(super) fn new(item_type: &ItemType) -> Result<Self, SelectorError> {
        Ok(Self {
            name: item_type.name.clone(),
            when: item_type.when.clone(),
            each: item_type.each.as_ref().map(CompiledPlace::new).transpose()?,
            fields: fields(&item_type.fields)?,
        })
    }

    pub(super) fn applies_to(&self, url: &CrawlUrl) -> bool {
        self.when.as_ref().is_none_or(|when| when.matches(url))
    }

    /// Returns all its places, including those of its records.
    pub(super) fn places(&self) -> Vec<&CompiledPlace> {
        let mut places: Vec<&CompiledPlace> = self.each.iter().collect();
        collect(&self.fields, &mut places);
        places
    }
}

/// Recurses as deep as records are nested, which the definition's checks limit.
fn collect<'f>(fields: &'f [Field], places: &mut Vec<&'f CompiledPlace>) {
    for field in fields {
        places.extend(&field.any);
        if let Kind::Record(fields) = &field.kind {
            collect(fields, places);
        }
    }
}

fn fields(rules: &[FieldRule]) -> Result<Vec<Field>, SelectorError> {
    rules.iter().map(Field::new).collect()
}

impl Field {
    fn new(rule: &FieldRule) -> Result<Self, SelectorError> {
        let FieldRule { name, any, kind, presence, min, max, pattern } = rule.clone();
        let kind = match kind {
            FieldKind::One(scalar) => Kind::One(scalar),
            FieldKind::List(scalar) => Kind::List(scalar),
            FieldKind::Record(rules) => Kind::Record(fields(&rules)?),
        };
        let any = any.iter().map(CompiledPlace::new).collect::<Result<_, _>>()?;
        Ok(Self { name, any, kind, presence, min, max, pattern })
    }
}

impl CompiledPlace {
    fn new(selector: &Selector) -> Result<Self, SelectorError> {
        let at = match &selector.at {
            SelectorPlace::Css { selector, attribute } => {
                At::Css { css: Css::parse(selector)?, attribute: attribute.clone() }
            }
            SelectorPlace::Path(path) => At::Path(Path::parse(path)?),
            SelectorPlace::Text => At::Text,
            SelectorPlace::JsonLd(path) => At::JsonLd(JsonPath::parse(path)?),
            SelectorPlace::Script { selector, json } => {
                At::Script { selector: selector.clone(), css: Css::parse(selector)?, json: JsonPath::parse(json)? }
            }
            SelectorPlace::Json(path) => At::Json(JsonPath::parse(path)?),
            SelectorPlace::Item { property, item_type } => {
                At::Item { property: property.split('.').map(str::to_owned).collect(), item_type: item_type.clone() }
            }
        };
        Ok(Self { at, regex: selector.regex.clone(), written: selector.to_string() })
    }
}
