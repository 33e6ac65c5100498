//! Conditions and updates: a text with `#names` of attributes and `:values`.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

/// An expression and its values. The names need no list: each `#name` stands for the attribute with
/// that name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Expression {
    text: String,
    values: HashMap<String, AttributeValue>,
}

impl Expression {
    /// Returns the expression with this text.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), values: HashMap::new() }
    }

    /// Adds the value of a `:placeholder`.
    pub(crate) fn with(mut self, placeholder: &str, value: AttributeValue) -> Self {
        self.values.insert(placeholder.to_owned(), value);
        self
    }

    /// Joins two conditions, both of which must hold.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.text = format!("({}) AND ({})", self.text, other.text);
        self.values.extend(other.values);
        self
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the attribute names used in expressions, by their placeholders; `None` if there are
/// none, as DynamoDB then requires them to be omitted.
pub(super) fn names<'e>(
    expressions: impl IntoIterator<Item = Option<&'e Expression>>,
) -> Option<HashMap<String, String>> {
    let mut names = HashMap::new();
    for expression in expressions.into_iter().flatten() {
        for part in expression.text.split('#').skip(1) {
            let name: String = part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            names.insert(format!("#{name}"), name);
        }
    }
    (!names.is_empty()).then_some(names)
}

/// Returns the values of expressions; `None` if there are none.
pub(super) fn values<'e>(
    expressions: impl IntoIterator<Item = Option<&'e Expression>>,
) -> Option<HashMap<String, AttributeValue>> {
    let mut values = HashMap::new();
    for expression in expressions.into_iter().flatten() {
        values.extend(expression.values.clone());
    }
    (!values.is_empty()).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamo::{number, text};

    #[test]
    fn only_mentioned_names_are_sent() {
        let update =
            Expression::new("SET #due = :due ADD #outcome_20 :n").with(":due", number(5)).with(":n", number(1));
        let condition = Expression::new("#state = :state AND attribute_exists(#sk)").with(":state", text("idle"));
        let found = names([Some(&update), Some(&condition), None]).unwrap();
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort();
        let expected = ["due", "outcome_20", "sk", "state"].map(|name| (format!("#{name}"), name.to_owned()));
        assert_eq!(found, expected);
        assert_eq!(values([Some(&update), Some(&condition)]).unwrap().len(), 3);
    }

    #[test]
    fn unmentioned_names_are_omitted() {
        assert_eq!(names([None]), None);
        assert_eq!(values([Some(&Expression::new("attribute_exists(#sk)"))]), None);
    }

    #[test]
    fn joined_conditions_keep_their_grouping() {
        let either = Expression::new("#a = :x OR #b = :x").with(":x", number(1));
        let joined = either.and(Expression::new("#c = :y").with(":y", number(2)));
        assert_eq!(joined.text(), "(#a = :x OR #b = :x) AND (#c = :y)");
    }
}
