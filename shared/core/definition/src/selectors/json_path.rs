//! JSON paths (RFC 9535), without features that could take longer than a few passes over the
//! document.

use crate::selectors::scan::{brackets_depth, without_quoted};
use crate::selectors::{SelectorError, check_length};

/// The limit on the nesting of brackets: filters with brackets for precedence.
const DEPTH_MAX: usize = 6;

const HINT: &str = "write a JSON path such as `$.offers.price`, `$.list[0].name` or `$..sku`, in quotes";

/// A compiled JSON path.
#[derive(Clone, Debug)]
pub struct JsonPath(serde_json_path::JsonPath);

impl JsonPath {
    /// Compiles a path.
    ///
    /// # Errors
    /// Fails, with a hint, if the path does not parse or is not supported.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        check_length(text)?;
        let plain = without_quoted(text);
        refuse(&plain)?;
        let parsed = serde_json_path::JsonPath::parse(text);
        parsed.map(Self).map_err(|error| {
            let hint =
                if plain.starts_with('$') { HINT } else { "a JSON path begins with `$`, such as `$.offers.price`" };
            SelectorError::new(
                format!("`{text}` is not a valid JSON path, from character {}", error.position() + 1),
                hint,
            )
        })
    }

    /// Returns the compiled path.
    #[must_use]
    pub const fn path(&self) -> &serde_json_path::JsonPath {
        &self.0
    }
}

fn refuse(plain: &str) -> Result<(), SelectorError> {
    let refused = |message: &str, hint| Err(SelectorError::new(message, hint));
    if brackets_depth(plain) > DEPTH_MAX {
        return refused("brackets are nested too deep", HINT);
    }
    if plain.matches("..").count() > 1 {
        return refused("more than one `..` is not supported", "name the keys between them");
    }
    if let Some((_, filter)) = plain.split_once('?') {
        if filter.contains("..") && filter.contains('@') && filter.find("..") < filter.find(']') {
            return refused("`..` in a filter is not supported", "name the keys, such as `@.type`");
        }
        if filter.contains('$') {
            return refused("`$` in a filter is not supported", "compare with a value, such as `@.type == 'Offer'`");
        }
    }
    for function in ["match(", "search(", "length(", "count(", "value("] {
        if plain.contains(function) {
            return refused("functions in JSON paths are not supported", "write `regex` or `pattern` beside the path");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_refused_with_a_reason() {
        for (text, expected, why) in [
            ("", "`` is not a valid JSON path, from character 1", "nothing is not a path"),
            ("offers.price", "`offers.price` is not a valid JSON path, from character 1", "without the root"),
            ("$.a[", "`$.a[` is not a valid JSON path, from character 4", "a bracket is open"),
            ("$..a..b", "more than one `..` is not supported", "it takes time by the square"),
            ("$[?@..a]", "`..` in a filter is not supported", "each level would go through all below it"),
            ("$[?@.a == $.b]", "`$` in a filter is not supported", "it would be looked for again for each element"),
            ("$[?length(@.a) > 1]", "functions in JSON paths are not supported", "they may take long"),
            ("$[?((((((1==1))))))]", "brackets are nested too deep", "parsing may take time by the power"),
        ] {
            assert_eq!(JsonPath::parse(text).unwrap_err().message, expected, "{text}: {why}");
        }
        for text in ["$", "$.a.b[0]['c d']", "$..sku", "$[?@.type == 'a..$count(']", "$.a[?(@.b > 1)].c", "$[1:3]"] {
            assert!(JsonPath::parse(text).is_ok(), "{text}");
        }
    }
}
