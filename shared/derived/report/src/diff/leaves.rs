//! The leaves of JSON values, so that a change deep inside is shown as that change alone.

use std::collections::BTreeMap;

use serde_json::Value;

/// Larger values are shown as a whole.
const ENDS_MAX: usize = 500;

/// The member with the properties of a thing in stored items.
const FIELDS: &str = "fields";

/// Returns the leaves of a value by their paths from a column: `has_variant[1].offers.price`. A
/// list of one element is not numbered. `None` if it is not JSON, or has too many leaves.
pub(super) fn leaves(column: &str, json: &str) -> Option<BTreeMap<String, String>> {
    let mut ends = BTreeMap::new();
    let mut open = vec![(column.to_owned(), serde_json::from_str(json).ok()?)];
    while let Some((way, value)) = open.pop() {
        match value {
            Value::Array(values) if values.len() == 1 => {
                open.extend(values.into_iter().map(|value| (way.clone(), value)));
            }
            Value::Array(values) => {
                open.extend(values.into_iter().enumerate().map(|(n, value)| (format!("{way}[{}]", n + 1), value)));
            }
            Value::Object(members) => open.extend(members.into_iter().map(|(name, value)| {
                let way = if name == FIELDS { way.clone() } else { format!("{way}.{name}") };
                (way, value)
            })),
            Value::String(text) => drop(ends.insert(way, text)),
            value => drop(ends.insert(way, value.to_string())),
        }
        if ends.len() + open.len() > ENDS_MAX {
            return None;
        }
    }
    Some(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_leaf_has_its_path() {
        let group = r#"[{"fields":{"offers":[{"fields":{"price":["1.90"]},"types":["Offer"]}]}},{"fields":{"color":["red","blue"]}}]"#;
        let expected = "v[1].offers.price=1.90 v[1].offers.types=Offer v[2].color[1]=red v[2].color[2]=blue";
        let many = format!("[{}0]", "0,".repeat(ENDS_MAX));
        for (json, expected, reason) in [
            (group, Some(expected), "things in things"),
            ("[1, null]", Some("v[1]=1 v[2]=null"), "what is no text"),
            ("[]", Some(""), "nothing"),
            ("[1", None, "no JSON"),
            (&many, None, "too many"),
        ] {
            let told = leaves("v", json)
                .map(|ends| ends.iter().map(|(way, end)| format!("{way}={end}")).collect::<Vec<_>>().join(" "));
            assert_eq!(told.as_deref(), expected, "{reason}");
        }
    }
}
