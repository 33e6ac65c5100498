//! The properties of items in a form common to all notations.

mod count;
mod date;
mod money;

use std::collections::BTreeMap;

use dragline_domain::item::{Item, Record, Value};
use serde_json::Number;

pub(crate) use self::date::date;
pub(crate) use self::money::money;
use super::page::{Page, short_name};

/// The most offers of a thing examined.
const OFFERS_MAX: usize = 1_000;

/// Text properties: the property, its names by preference, and the names used within a thing that
/// stands for a value.
const TEXTS: [(&str, &[&str]); 7] = [
    ("name", &["name"]),
    ("headline", &["headline"]),
    ("description", &["description"]),
    ("brand", &["brand", "manufacturer"]),
    ("sku", &["sku"]),
    ("gtin", &["gtin", "gtin13", "gtin14", "gtin12", "gtin8", "isbn"]),
    ("author", &["author", "creator"]),
];

const DATES: [(&str, &[&str]); 5] = [
    ("published", &["datePublished", "uploadDate", "datePosted", "dateCreated"]),
    ("modified", &["dateModified"]),
    ("start", &["startDate"]),
    ("end", &["endDate"]),
    ("valid_until", &["validThrough", "priceValidUntil", "expires"]),
];

/// Returns an item's properties under common names. The offers of its variants count among its
/// prices.
pub(super) fn normal(item: &Item, of_variants: &[Value], page: &Page<'_>) -> BTreeMap<String, Value> {
    let mut normal = BTreeMap::new();
    let fields = |name: &str| item.fields.get(name).map_or(&[][..], |field| field.values.as_slice());
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            normal.entry(name.to_owned()).or_insert(value);
        }
    };
    for (name, properties) in TEXTS {
        set(name, properties.iter().find_map(|property| fields(property).iter().find_map(text)).map(Value::Text));
    }
    for name in ["url", "image"] {
        let url = fields(name).iter().find_map(url);
        set(name, url.map(|url| Value::Text(page.absolute(&url))));
    }
    for (name, properties) in DATES {
        let found =
            properties.iter().find_map(|property| fields(property).iter().find_map(|value| date(&text(value)?)));
        set(name, found.map(Value::Text));
    }
    let durations = ["duration", "totalTime", "timeRequired"];
    let duration = durations.iter().find_map(|name| fields(name).iter().find_map(duration_s));
    set("duration_s", duration.map(|seconds| Value::Number(seconds.into())));
    // A thing may be an offer or a rating itself.
    let own: BTreeMap<&str, &[Value]> =
        item.fields.iter().map(|(name, field)| (name.as_str(), field.values.as_slice())).collect();
    let mut offers: Vec<Fields<'_>> = vec![own.clone()];
    collect(fields("offers"), 0, &mut offers);
    let own_offers = offers.len();
    collect(of_variants, 0, &mut offers);
    let prices = Prices::from_offers(&offers);
    offers.truncate(own_offers);
    set("price", prices.price.map(Value::Number));
    set("price_low", prices.low.map(Value::Number));
    set("price_high", prices.high.map(Value::Number));
    set("currency", prices.currency.map(|code| Value::Text(code.to_owned())));
    let of_offers =
        |name: &'static str| offers.iter().filter_map(|offer| offer.get(name)).flat_map(|values| values.iter());
    let availability = of_offers("availability").find_map(|value| availability(&text_or_id(value)?));
    set("availability", availability.map(Value::Text));
    set("valid_until", of_offers("priceValidUntil").find_map(|value| date(&text(value)?)).map(Value::Text));
    set("sku", of_offers("sku").find_map(text).map(Value::Text));
    let ratings: Vec<Fields<'_>> = [fields("aggregateRating"), fields("reviewRating")]
        .into_iter()
        .flatten()
        .filter_map(as_fields)
        .chain([own])
        .collect();
    for (name, property) in [
        ("rating", "ratingValue"),
        ("rating_best", "bestRating"),
        ("rating_count", "ratingCount"),
        ("review_count", "reviewCount"),
    ] {
        let values = ratings.iter().filter_map(|rating| rating.get(property)).flat_map(|values| values.iter());
        let read = if name.ends_with("_count") { count::count } else { number };
        set(name, values.filter_map(read).next().map(Value::Number));
    }
    normal
}

type Fields<'i> = BTreeMap<&'i str, &'i [Value]>;

fn as_fields(value: &Value) -> Option<Fields<'_>> {
    let Value::Record(record) = value else { return None };
    Some(record.fields.iter().map(|(name, values)| (name.as_str(), values.as_slice())).collect())
}

/// Collects offers and nested ones: of a store, of several conditions.
fn collect<'i>(values: &'i [Value], depth: usize, offers: &mut Vec<Fields<'i>>) {
    for value in values {
        if offers.len() >= OFFERS_MAX {
            return;
        }
        let Some(offer) = as_fields(value) else { continue };
        let (nested, specifications) = (offer.get("offers").copied(), offer.get("priceSpecification").copied());
        // An offer's price takes precedence over its specification.
        let specified = specifications.filter(|_| !offer.contains_key("price"));
        offers.push(offer);
        if depth < 2 {
            for inner in [nested, specified].into_iter().flatten() {
                collect(inner, depth + 1, offers);
            }
        }
    }
}

/// The prices of a thing's offers.
#[derive(Debug, Default)]
struct Prices {
    price: Option<Number>,
    low: Option<Number>,
    high: Option<Number>,
    currency: Option<&'static str>,
}

impl Prices {
    fn from_offers(offers: &[Fields<'_>]) -> Self {
        let mut found = Self::default();
        let mut of_text = None;
        let mut all: Vec<Number> = Vec::new();
        // Prices in different currencies cannot be compared.
        for offer in offers {
            let first = |name: &str| offer.get(name).and_then(|values| values.iter().find_map(amount));
            let code = offer.get("priceCurrency").into_iter().flat_map(|values| values.iter()).find_map(code);
            let (price, low, high) = (first("price"), first("lowPrice"), first("highPrice"));
            if price.is_none() && low.is_none() && high.is_none() {
                found.currency = found.currency.or(code);
                continue;
            }
            if code.is_some() && found.currency.is_some() && code != found.currency {
                continue;
            }
            found.currency = found.currency.or(code);
            for (number, currency) in [price, low.clone(), high.clone()].into_iter().flatten() {
                of_text = of_text.or(currency);
                all.push(number);
            }
            found.price = found.price.or_else(|| {
                offer.get("price").and_then(|values| values.iter().find_map(amount)).map(|(price, _)| price)
            });
        }
        found.currency = found.currency.or(of_text);
        all.sort_by(|a, b| as_f64(a).total_cmp(&as_f64(b)));
        if let (Some(low), Some(high)) = (all.first(), all.last())
            && (as_f64(low) < as_f64(high) || found.price.is_none())
        {
            found.low = Some(low.clone());
            found.high = Some(high.clone()).filter(|_| all.len() > 1);
            // With several prices, the price is the lowest one ("from").
            found.price = Some(low.clone());
        }
        found
    }
}

fn as_f64(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::INFINITY)
}

fn amount(value: &Value) -> Option<(Number, Option<&'static str>)> {
    match value {
        Value::Number(number) => Some((number.clone(), None)),
        Value::Money(money) => Some((money.amount.clone(), money.currency.as_deref().and_then(money::code))),
        Value::Text(text) => {
            let found = money(text)?;
            Some((found.amount, found.currency.as_deref().and_then(money::code)))
        }
        Value::Bool(_) | Value::Record(_) => None,
    }
}

fn code(value: &Value) -> Option<&'static str> {
    let text = text(value)?;
    money::code(&text).or_else(|| money::currency(&text))
}

/// Returns a number from a rating: `4,5`, `4.5/5`.
fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::Text(text) => {
            let text = text.split(['/', ' ', '\u{a0}']).next().unwrap_or_default();
            money(text).map(|money| money.amount).filter(|_| !text.contains('%'))
        }
        _ => None,
    }
}

/// Returns a value as text; for a thing, its name.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Record(record) => first_text(record, &["name", "headline", "@value"]),
        Value::Bool(_) | Value::Money(_) => None,
    }
}

fn text_or_id(value: &Value) -> Option<String> {
    match value {
        Value::Record(Record { id: Some(id), .. }) => Some(id.clone()),
        value => text(value),
    }
}

fn url(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Record(record) => first_text(record, &["url", "contentUrl"]).or_else(|| record.id.clone()),
        _ => None,
    }
}

fn first_text(record: &Record, names: &[&str]) -> Option<String> {
    let values = names.iter().filter_map(|name| record.fields.get(*name)).flatten();
    values.into_iter().find_map(|value| match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    })
}

/// Reads a duration; Open Graph gives it in seconds.
fn duration_s(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::Text(text) => date::duration_s(text).or_else(|| text.trim().parse().ok()),
        _ => None,
    }
    .filter(|seconds| *seconds >= 0)
}

/// Returns the availability in schema.org's terms: `InStock`.
fn availability(text: &str) -> Option<String> {
    let name = short_name(text.trim());
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    const NAMES: [&str; 13] = [
        "BackOrder",
        "Discontinued",
        "InStock",
        "InStoreOnly",
        "LimitedAvailability",
        "MadeToOrder",
        "OnlineOnly",
        "OutOfStock",
        "PreOrder",
        "PreSale",
        "Reserved",
        "SoldOut",
        "Unavailable",
    ];
    let known = NAMES.iter().find(|name| name.eq_ignore_ascii_case(&plain)).copied();
    let known = known.or(match plain.as_str() {
        "available" | "availableforpurchase" | "yes" => Some("InStock"),
        "oos" | "notavailable" | "no" => Some("OutOfStock"),
        "preorders" | "availablefororder" => Some("PreOrder"),
        "backordered" => Some("BackOrder"),
        _ => None,
    });
    // An unknown term is better than none, but a sentence is not.
    known
        .map(str::to_owned)
        .or_else(|| (!name.is_empty() && name.len() < 40 && !name.contains([' ', '/'])).then(|| name.to_owned()))
}
