//! The Open Graph protocol (`ogp.me`).

use std::collections::BTreeMap;

use dragline_domain::item::{Record, Value};
use serde::Serialize;

use super::budget::{Budget, FIELDS_MAX};
use super::page::Page;

/// The protocol's own vocabularies, with the prefixes that pages use without declaring them.
const NAMESPACES: [(&str, &str); 8] = [
    ("og", "http://ogp.me/ns#"),
    ("article", "http://ogp.me/ns/article#"),
    ("book", "http://ogp.me/ns/book#"),
    ("music", "http://ogp.me/ns/music#"),
    ("product", "http://ogp.me/ns/product#"),
    ("profile", "http://ogp.me/ns/profile#"),
    ("video", "http://ogp.me/ns/video#"),
    ("website", "http://ogp.me/ns/website#"),
];

/// A page's Open Graph description.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OpenGraph {
    /// The declared or used vocabularies: URLs by prefix.
    pub namespace: BTreeMap<String, String>,
    /// Prefixed names with values, in page order.
    pub properties: Vec<(String, String)>,
}

/// Whether a name has a prefix of the protocol.
pub(super) fn is_known(name: &str) -> bool {
    name.split_once(':').is_some_and(|(prefix, _)| NAMESPACES.iter().any(|(known, _)| *known == prefix))
}

/// Reads a page's properties; `None` if there are none.
pub(super) fn read(page: &Page<'_>, budget: &mut Budget) -> Option<OpenGraph> {
    let declared = declared(page, budget);
    let mut found = OpenGraph::default();
    for meta in &page.metas {
        let names = meta.attr("property").or_else(|| meta.attr("name"));
        let (Some(names), Some(content)) = (names, meta.attr("content")) else { continue };
        for name in names.split_ascii_whitespace() {
            let Some((written, rest)) = split(name) else { continue };
            // Another prefix for the protocol is replaced by the usual one; names in other
            // vocabularies stay.
            let (prefix, namespace) = match declared.get(written) {
                Some(url) => (usual_prefix(url).unwrap_or(written), url.as_str()),
                None => match NAMESPACES.iter().find(|(prefix, _)| *prefix == written) {
                    Some((prefix, url)) => (*prefix, *url),
                    None => continue,
                },
            };
            let Some(content) = budget.text(&content) else { continue };
            found.namespace.entry(prefix.to_owned()).or_insert_with(|| namespace.to_owned());
            found.properties.push((format!("{prefix}:{}", budget.clipped(rest)), content));
        }
    }
    for (prefix, url) in declared {
        let prefix = usual_prefix(&url).map_or(prefix, str::to_owned);
        found.namespace.entry(prefix).or_insert(url);
    }
    (!found.properties.is_empty()).then_some(found)
}

/// Splits a name into its prefix and the rest; full URLs of the protocol get its prefix.
fn split(name: &str) -> Option<(&str, &str)> {
    if let Some((url, rest)) = name.split_once('#')
        && let Some(prefix) = usual_prefix(url)
    {
        return Some((prefix, rest));
    }
    name.split_once(':')
}

/// Returns the protocol's prefix for a vocabulary.
fn usual_prefix(url: &str) -> Option<&'static str> {
    NAMESPACES.iter().find(|(_, namespace)| is_same(namespace, url)).map(|(prefix, _)| *prefix)
}

/// Whether two URLs name the same vocabulary: people vary the scheme and leave out the last
/// character.
fn is_same(one: &str, other: &str) -> bool {
    let core = |url: &str| url.split_once("://").map(|(_, rest)| rest.trim_end_matches(['#', '/']).to_owned());
    core(one) == core(other)
}

/// Returns the page's declared prefixes, from the elements where people declare those of the
/// protocol.
fn declared(page: &Page<'_>, budget: &mut Budget) -> BTreeMap<String, String> {
    let mut prefixes = BTreeMap::new();
    let head = page.metas.first().and_then(dom_query::NodeRef::parent);
    for element in page.root.iter().chain(&head) {
        let Some(prefix) = element.attr("prefix") else { continue };
        let mut words = prefix.split_ascii_whitespace();
        while let (Some(name), Some(url)) = (words.next(), words.next()) {
            if !budget.value() {
                return prefixes;
            }
            prefixes.insert(name.trim_end_matches(':').to_owned(), budget.clipped(url).to_owned());
        }
    }
    prefixes
}

/// Returns the schema.org type for a type of the protocol; `None` for a page that is not about one
/// thing.
fn schema_type(og_type: &str) -> Option<&'static str> {
    let og_type = og_type.trim().to_ascii_lowercase();
    Some(match og_type.as_str() {
        "article" | "og:article" => "Article",
        "blog" => "Blog",
        "book" | "books.book" => "Book",
        "business.business" | "company" => "LocalBusiness",
        "event" => "Event",
        "music.album" => "MusicAlbum",
        "music.playlist" => "MusicPlaylist",
        "music.song" | "song" => "MusicRecording",
        "place" | "place.location" => "Place",
        "profile" => "Person",
        "recipe" => "Recipe",
        "restaurant.restaurant" => "Restaurant",
        "video.episode" => "TVEpisode",
        "video.movie" | "movie" => "Movie",
        "video.tv_show" | "tv_show" => "TVSeries",
        _ if og_type.starts_with("product") || og_type == "og:product" => "Product",
        _ if og_type.starts_with("video") => "VideoObject",
        _ => return None,
    })
}

/// Returns the schema.org property for a property of the protocol; the last part is its name on a
/// nested thing.
fn schema_property(name: &str) -> Option<&'static str> {
    Some(match name {
        "og:title" => "name",
        "og:description" => "description",
        "og:url" => "url",
        "og:locale" => "inLanguage",
        "article:author" | "book:author" => "author",
        "article:published_time" | "book:release_date" | "music:release_date" | "video:release_date" => "datePublished",
        "article:modified_time" => "dateModified",
        "article:expiration_time" => "expires",
        "article:section" => "articleSection",
        "article:publisher" => "publisher",
        "article:tag" | "book:tag" | "video:tag" => "keywords",
        "book:isbn" => "isbn",
        "music:album" => "inAlbum",
        "music:duration" | "video:duration" => "duration",
        "music:musician" => "byArtist",
        "music:creator" => "creator",
        "product:brand" | "og:brand" => "brand",
        "product:category" => "category",
        "product:condition" | "og:condition" => "itemCondition",
        "product:ean" | "product:gtin" | "product:upc" | "product:isbn" => "gtin",
        "product:mfr_part_no" => "mpn",
        "product:retailer_item_id" | "product:retailer_part_no" => "sku",
        "profile:first_name" => "givenName",
        "profile:last_name" => "familyName",
        "profile:gender" => "gender",
        "profile:username" => "alternateName",
        "video:actor" => "actor",
        "video:director" => "director",
        "video:series" => "partOfSeries",
        _ => return None,
    })
}

/// Returns the offer's property for a property of the protocol.
fn offer_property(name: &str) -> Option<&'static str> {
    Some(match name {
        "product:price:amount" | "og:price:amount" | "product:sale_price:amount" => "price",
        "product:price:currency" | "og:price:currency" | "product:sale_price:currency" => "priceCurrency",
        "product:availability" | "og:availability" => "availability",
        _ => return None,
    })
}

/// Makes a record of the thing that the page is about; `None` if it is not about one.
pub(super) fn record(graph: &OpenGraph, budget: &mut Budget) -> Option<Record> {
    let of = |wanted: &str| graph.properties.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let has_price = of("product:price:amount").or_else(|| of("og:price:amount")).is_some();
    let kind = match of("og:type") {
        Some(og_type) => schema_type(og_type).or_else(|| has_price.then_some("Product"))?,
        None if has_price => "Product",
        None => return None,
    };
    let mut record = Record { types: vec![kind.to_owned()], ..Record::default() };
    let mut offer = Record { types: vec!["Offer".to_owned()], ..Record::default() };
    for (name, value) in &graph.properties {
        let (target, property) = match (offer_property(name), schema_property(name)) {
            (Some(property), _) => (&mut offer, property),
            (None, Some("name")) if kind == "Article" => (&mut record, "headline"),
            (None, Some(property)) => (&mut record, property),
            (None, None) if name == "og:type" => continue,
            (None, None) => match structured(name) {
                Some((property, part)) => {
                    add_structured(&mut record, property, part, value, budget);
                    continue;
                }
                None => (&mut record, name.as_str()),
            },
        };
        if target.fields.len() >= FIELDS_MAX && !target.fields.contains_key(property) {
            budget.is_cut = true;
            continue;
        }
        if let Some(value) = budget.text_value(value) {
            let values = target.fields.entry(property.to_owned()).or_default();
            // An offer has one price; for a sale it is the lower one, which comes last.
            if offer_property(name).is_some() {
                values.clear();
            }
            values.push(value);
        }
    }
    if !offer.fields.is_empty() {
        record.fields.insert("offers".to_owned(), vec![Value::Record(offer)]);
    }
    Some(record)
}

/// Splits a name such as `og:image:width` into the property and the part of its value.
fn structured(name: &str) -> Option<(&'static str, &str)> {
    let rest = name.strip_prefix("og:")?;
    let (property, part) = rest.split_once(':').unwrap_or((rest, "url"));
    let property = match property {
        "image" => "image",
        "video" => "video",
        "audio" => "audio",
        _ => return None,
    };
    Some((property, part))
}

/// Adds a part to the preceding picture, video or sound, or begins another one.
fn add_structured(record: &mut Record, property: &str, part: &str, value: &str, budget: &mut Budget) {
    let Some(value) = budget.text_value(value) else { return };
    let part = match part {
        "secure_url" => "contentUrl",
        "type" => "encodingFormat",
        "alt" => "caption",
        other => other,
    };
    let values = record.fields.entry(property.to_owned()).or_default();
    let begins = part == "url";
    match values.last_mut() {
        // `og:image:url` is a synonym of `og:image`.
        Some(Value::Text(url)) if begins && Value::Text(url.clone()) == value => {}
        Some(Value::Record(last)) if begins && last.fields.get("url") == Some(&vec![value.clone()]) => {}
        Some(last) if !begins => {
            if let Value::Text(url) = last {
                let kind = match property {
                    "image" => "ImageObject",
                    "video" => "VideoObject",
                    _ => "AudioObject",
                };
                let fields = BTreeMap::from([("url".to_owned(), vec![Value::Text(std::mem::take(url))])]);
                *last = Value::Record(Record { types: vec![kind.to_owned()], id: None, fields });
            }
            if let Value::Record(last) = last
                && last.fields.len() < FIELDS_MAX
            {
                last.fields.entry(part.to_owned()).or_insert_with(|| vec![value]);
            }
        }
        _ if begins || part == "contentUrl" => values.push(value),
        _ => {}
    }
    if values.is_empty() {
        record.fields.remove(property);
    }
}
