//! Making items: examining the places of each field, and checking the values.

use std::collections::{BTreeMap, HashSet};

use dom_query::NodeRef;
use dragline_definition::selectors::{JsonPath, PathValue};
use dragline_domain::definition::{Presence, ScalarKind};
use dragline_domain::item::{self, Item, Misfit, Notation, Record, Value as ItemValue};
use selectors::context::SelectorCaches;
use serde_json::Value;

use super::compiled::{At, CompiledPlace, Field, Kind, Type};
use super::find::{self, MATCHES_MAX};
use super::path::{self, Order};
use super::sources::Sources;
use super::text::{self, SEARCHED_BYTES_MAX, VALUE_BYTES_MAX};
use super::trace::{FieldResult, FieldTrace, TriedPlace};
use super::work::{Work, cost_of_bytes};
use super::{MISFITS_MAX, Outcome, PageParts, ROWS_MAX, TRACES_MAX, Tracing, kinds};

/// The most characters of a displayed value.
const RAW_CHARS_MAX: usize = 200;

/// The part of the page in which fields are looked for.
#[derive(Clone, Copy)]
struct Scope<'p> {
    node: NodeRef<'p>,
    json: Option<&'p Value>,
}

/// A match in a place.
enum Match<'p> {
    Node(NodeRef<'p>),
    Json(&'p Value),
    Text(String),
}

/// The position of a field, for display.
#[derive(Clone, Copy)]
struct FieldPosition<'n> {
    item_type: &'n str,
    item: usize,
    /// The names of the enclosing fields, each followed by a dot; empty for a field of the item
    /// itself.
    lead: &'n str,
}

pub(super) struct Evaluation<'p> {
    page: &'p PageParts<'p>,
    sources: &'p Sources<'p>,
    tracing: Tracing,
    caches: SelectorCaches,
    order: Order,
    work: Work,
    outcome: Outcome,
}

impl<'p> Evaluation<'p> {
    pub(super) fn new(page: &'p PageParts<'p>, sources: &'p Sources<'p>, tracing: Tracing) -> Self {
        let mut work = Work::new();
        if sources.was_cut {
            work.cut();
        }
        let (caches, order, outcome) = (SelectorCaches::default(), Order::default(), Outcome::default());
        Self { page, sources, tracing, caches, order, work, outcome }
    }

    pub(super) fn finish(self) -> Outcome {
        Outcome { was_cut: self.work.was_cut(), ..self.outcome }
    }

    pub(super) fn item_type(&mut self, item_type: &Type) {
        let page = Scope { node: self.page.document.root(), json: None };
        let Some(each) = &item_type.each else {
            self.item(item_type, 1, page);
            return;
        };
        let matches = self.matches(each, page);
        let scopes = self.scopes(matches, page);
        for (place, scope) in scopes.into_iter().enumerate() {
            let misfits = self.outcome.misfits.len();
            if !self.item(item_type, place + 1, scope) {
                self.forget_missing(misfits);
            }
        }
    }

    /// Makes an item from a scope. Returns whether there was anything.
    fn item(&mut self, item_type: &Type, item: usize, scope: Scope<'p>) -> bool {
        let at = FieldPosition { item_type: &item_type.name, item, lead: "" };
        let fields = self.fields(&item_type.fields, at, scope);
        if fields.is_empty() {
            return false;
        }
        let field = |(name, values)| (name, item::Field { values, from: vec![Notation::Definition] });
        let fields = fields.into_iter().map(field).collect();
        self.outcome.items.push(Item { types: vec![item_type.name.clone()], fields, ..Item::default() });
        true
    }

    fn fields(
        &mut self,
        fields: &[Field],
        at: FieldPosition<'_>,
        scope: Scope<'p>,
    ) -> BTreeMap<String, Vec<ItemValue>> {
        let mut made = BTreeMap::new();
        for field in fields {
            let values = self.field(field, at, scope);
            if !values.is_empty() {
                made.insert(field.name.clone(), values);
            }
        }
        made
    }

    /// Drops misfits about missing fields: a row in which nothing was found is not one, such as a
    /// table's heading row.
    fn forget_missing(&mut self, since: usize) {
        let rest = self.outcome.misfits.split_off(since);
        self.outcome.misfits.extend(rest.into_iter().filter(|misfit| misfit.value.is_some()));
    }

    fn field(&mut self, field: &Field, at: FieldPosition<'_>, scope: Scope<'p>) -> Vec<ItemValue> {
        let mut tried = Vec::new();
        if let Kind::Record(fields) = &field.kind {
            let scopes = self.record_scopes(field, scope, &mut tried);
            return self.records(field, fields, at, scopes, tried);
        }
        let (scalar, is_list) = match field.kind {
            Kind::List(scalar) => (scalar, true),
            Kind::One(scalar) => (scalar, false),
            Kind::Record(_) => return Vec::new(),
        };
        let mut raws = Vec::new();
        for place in &field.any {
            let matches = self.matches(place, scope);
            tried.push(TriedPlace { place: place.written.clone(), matches: matches.len() });
            raws = self.texts(place, scalar, matches, is_list);
            if !raws.is_empty() {
                break;
            }
        }
        let raw = raws.first().map(|raw| shorten(raw));
        let mut seen = HashSet::new();
        let mut values = Vec::new();
        let mut broken = None;
        for raw in raws.iter().filter(|raw| seen.insert(raw.as_str())) {
            match fitting(field, scalar, raw, self.page.base) {
                Ok(value) => values.push(value),
                Err(rule) => {
                    broken = broken.or_else(|| Some(rule.clone()));
                    self.misfit(field, at, rule, Some(shorten(raw)));
                }
            }
        }
        if raws.is_empty() && field.presence == Presence::Required {
            broken = Some("required".to_owned());
            self.misfit(field, at, "required".to_owned(), None);
        }
        self.trace(field, at, tried, raw, broken, values.len());
        values
    }

    fn record_scopes(&mut self, field: &Field, scope: Scope<'p>, tried: &mut Vec<TriedPlace>) -> Vec<Scope<'p>> {
        if field.any.is_empty() {
            return vec![scope];
        }
        for place in &field.any {
            let matches = self.matches(place, scope);
            tried.push(TriedPlace { place: place.written.clone(), matches: matches.len() });
            let scopes = self.scopes(matches, scope);
            if !scopes.is_empty() {
                return scopes;
            }
        }
        Vec::new()
    }

    fn records(
        &mut self,
        field: &Field,
        fields: &[Field],
        at: FieldPosition<'_>,
        scopes: Vec<Scope<'p>>,
        tried: Vec<TriedPlace>,
    ) -> Vec<ItemValue> {
        let lead = format!("{}{}.", at.lead, field.name);
        let mut records = Vec::new();
        for scope in scopes {
            let misfits = self.outcome.misfits.len();
            let fields = self.fields(fields, FieldPosition { lead: &lead, ..at }, scope);
            if fields.is_empty() {
                self.forget_missing(misfits);
            } else {
                records.push(ItemValue::Record(Record { types: Vec::new(), id: None, fields }));
            }
        }
        let is_missing = records.is_empty() && field.presence == Presence::Required;
        let broken = is_missing.then(|| "required".to_owned());
        if let Some(rule) = broken.clone() {
            self.misfit(field, at, rule, None);
        }
        self.trace(field, at, tried, None, broken, records.len());
        records
    }

    fn misfit(&mut self, field: &Field, at: FieldPosition<'_>, rule: String, value: Option<String>) {
        if self.outcome.misfits.len() == MISFITS_MAX {
            self.work.cut();
            return;
        }
        let name = format!("{}{}", at.lead, field.name);
        self.outcome.misfits.push(Misfit { item_type: at.item_type.to_owned(), field: name, rule, value });
    }

    fn trace(
        &mut self,
        field: &Field,
        at: FieldPosition<'_>,
        tried: Vec<TriedPlace>,
        raw: Option<String>,
        broken: Option<String>,
        values: usize,
    ) {
        if self.tracing == Tracing::Off || self.outcome.traces.len() == TRACES_MAX {
            return;
        }
        let found = match (broken, values) {
            (Some(rule), _) => FieldResult::Misfit(rule),
            (None, 0) => FieldResult::Nothing,
            (None, values) => FieldResult::Values(values),
        };
        let (item_type, name) = (at.item_type.to_owned(), format!("{}{}", at.lead, field.name));
        self.outcome.traces.push(FieldTrace { item_type, item: at.item, field: name, tried, raw, found });
    }

    /// Returns the matches of a place.
    fn matches(&mut self, place: &CompiledPlace, scope: Scope<'p>) -> Vec<Match<'p>> {
        let sources = self.sources;
        match &place.at {
            At::Css { css, .. } => {
                let nodes = find::select(scope.node, css, &mut self.caches, &mut self.work);
                nodes.into_iter().map(Match::Node).collect()
            }
            At::Path(path) => {
                let nodes = path::walk(scope.node, path, &mut self.order, &mut self.work);
                nodes.into_iter().map(Match::Node).collect()
            }
            At::Text => match scope.json.and_then(Value::as_str) {
                Some(text) => vec![Match::Text(text.to_owned())],
                None => vec![Match::Text(text::collect(scope.node, SEARCHED_BYTES_MAX, &mut self.work))],
            },
            At::JsonLd(path) => self.in_json(path, sources.json_ld.iter().copied()),
            At::Script { selector, json, .. } => self.in_json(json, sources.scripts(selector)),
            At::Json(path) => self.in_json(path, scope.json),
            At::Item { property, item_type } => {
                let is_of_type = |types: &[String]| item_type.as_ref().is_none_or(|wanted| types.contains(wanted));
                let mut found: Vec<&'p Value> =
                    sources.items.iter().filter(|(types, _)| is_of_type(types)).map(|(_, value)| value).collect();
                for name in property {
                    found = found.into_iter().flat_map(flat).filter_map(|value| value.get(name)).collect();
                }
                self.limited(found.into_iter().flat_map(flat).map(Match::Json).collect())
            }
        }
    }

    fn in_json(&mut self, path: &JsonPath, values: impl IntoIterator<Item = &'p Value>) -> Vec<Match<'p>> {
        let mut found = Vec::new();
        for value in values {
            if !self.work.spend(size(value).saturating_mul(2)) {
                break;
            }
            found.extend(path.path().query(value).into_iter().flat_map(flat).map(Match::Json));
            if found.len() > MATCHES_MAX {
                break;
            }
        }
        self.limited(found)
    }

    fn limited(&mut self, mut found: Vec<Match<'p>>) -> Vec<Match<'p>> {
        if found.len() > MATCHES_MAX {
            self.work.cut();
            found.truncate(MATCHES_MAX);
        }
        found
    }

    /// Returns the scopes for nested fields, one for each match.
    fn scopes(&mut self, matches: Vec<Match<'p>>, around: Scope<'p>) -> Vec<Scope<'p>> {
        if matches.len() > ROWS_MAX {
            self.work.cut();
        }
        let scope = |found| match found {
            Match::Node(node) => Some(Scope { node, ..around }),
            Match::Json(json) => Some(Scope { json: Some(json), ..around }),
            Match::Text(_) => None,
        };
        matches.into_iter().take(ROWS_MAX).filter_map(scope).collect()
    }

    /// Returns the non-empty texts of matches: all of them, or the first one.
    fn texts(
        &mut self,
        place: &CompiledPlace,
        scalar: ScalarKind,
        matches: Vec<Match<'p>>,
        is_list: bool,
    ) -> Vec<String> {
        let mut texts = Vec::new();
        for found in matches {
            let text = match found {
                Match::Node(node) => self.read_text(place, node),
                Match::Json(Value::String(text)) => Some(text.clone()),
                Match::Json(Value::Null) => None,
                Match::Json(value) => Some(value.to_string()),
                Match::Text(text) => Some(text),
            };
            let Some(text) = text else { continue };
            if !self.work.spend(1 + cost_of_bytes(text.len())) {
                break;
            }
            let mut parts: Vec<&str> = match &place.regex {
                Some(regex) => regex.matches(&text).take(if is_list { MATCHES_MAX } else { 1 }).collect(),
                None => vec![&text],
            };
            parts.retain(|part| !part.trim().is_empty());
            for part in parts {
                if part.len() > VALUE_BYTES_MAX {
                    self.work.cut();
                }
                texts.push(normal(scalar, text::cut(part, VALUE_BYTES_MAX)));
                if !is_list {
                    return texts;
                }
                if texts.len() == MATCHES_MAX {
                    self.work.cut();
                    return texts;
                }
            }
        }
        texts
    }

    fn read_text(&mut self, place: &CompiledPlace, node: NodeRef<'p>) -> Option<String> {
        let attribute = match &place.at {
            At::Css { attribute, .. } => attribute.as_ref(),
            At::Path(path) => match &path.taken {
                PathValue::Attribute(name) => Some(name),
                PathValue::OwnText => return Some(text::own_text(node)),
                PathValue::Element => None,
            },
            _ => None,
        };
        match attribute {
            Some(name) => node.attr(name).map(|value| value.to_string()),
            None => {
                let bytes_max = if place.regex.is_some() { SEARCHED_BYTES_MAX } else { VALUE_BYTES_MAX };
                Some(text::collect(node, bytes_max, &mut self.work))
            }
        }
    }
}

/// Normalises a text for comparison: values that differ only in this are the same.
fn normal(scalar: ScalarKind, text: &str) -> String {
    if scalar == ScalarKind::Text { text::collapse(text) } else { text.trim().to_owned() }
}

/// Flattens lists in JSON into their values.
fn flat(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(values) => values.iter().collect(),
        value => vec![value],
    }
}

/// Counts the values in JSON. Its parser limits the depth.
fn size(value: &Value) -> u64 {
    1 + match value {
        Value::Array(values) => values.iter().map(size).sum(),
        Value::Object(values) => values.values().map(size).sum(),
        _ => 0,
    }
}

/// Converts a text to a value.
///
/// # Errors
/// Returns the broken rule, as written in a definition.
fn fitting(field: &Field, scalar: ScalarKind, raw: &str, base: &url::Url) -> Result<ItemValue, String> {
    let value = kinds::value(scalar, raw, base).ok_or_else(|| format!("kind: {}", scalar.name()))?;
    let amount = match &value {
        ItemValue::Number(number) => number.as_f64(),
        ItemValue::Money(money) => money.amount.as_f64(),
        _ => None,
    };
    if let (Some(amount), Some(min)) = (amount, field.min)
        && amount < min
    {
        return Err(format!("min: {min}"));
    }
    if let (Some(amount), Some(max)) = (amount, field.max)
        && amount > max
    {
        return Err(format!("max: {max}"));
    }
    match (&field.pattern, &value) {
        (Some(pattern), ItemValue::Text(text)) if !pattern.is_match(text) => Err(format!("pattern: {pattern}")),
        _ => Ok(value),
    }
}

/// Returns the beginning of a value, for display.
fn shorten(raw: &str) -> String {
    raw.chars().take(RAW_CHARS_MAX).collect()
}
