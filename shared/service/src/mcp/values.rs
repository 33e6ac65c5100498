//! The values that arguments of tools have, with their limits.

use std::borrow::Cow;
use std::fmt;

use dragline_domain::ids::CrawlId;
use rmcp::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// A number of things that an answer has at most: `DEFAULT` if it is not said, and from 1 to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit<const DEFAULT: usize, const MAX: usize>(usize);

impl<const DEFAULT: usize, const MAX: usize> Limit<DEFAULT, MAX> {
    pub(super) const fn number(self) -> usize {
        self.0
    }
}

impl<const DEFAULT: usize, const MAX: usize> Default for Limit<DEFAULT, MAX> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl<'de, const DEFAULT: usize, const MAX: usize> Deserialize<'de> for Limit<DEFAULT, MAX> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = usize::deserialize(from)?;
        if (1..=MAX).contains(&number) {
            return Ok(Self(number));
        }
        Err(D::Error::custom(format!("{number} is not between 1 and {MAX}")))
    }
}

impl<const DEFAULT: usize, const MAX: usize> JsonSchema for Limit<DEFAULT, MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("Limit{DEFAULT}To{MAX}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": MAX, "default": DEFAULT })
    }
}

/// How many things come before those of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offset(usize);

impl Offset {
    /// So many that no list or text has more.
    const MAX: usize = 100_000_000;

    pub(super) const fn number(self) -> usize {
        self.0
    }
}

impl<'de> Deserialize<'de> for Offset {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = usize::deserialize(from)?;
        if number <= Self::MAX {
            return Ok(Self(number));
        }
        Err(D::Error::custom(format!("{number} is more than {}", Self::MAX)))
    }
}

impl JsonSchema for Offset {
    fn schema_name() -> Cow<'static, str> {
        "Offset".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "maximum": Self::MAX, "default": 0 })
    }
}

/// A number of an iteration, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(u32);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match u32::deserialize(from)? {
            0 => Err(D::Error::custom("iterations are counted from 1")),
            number => Ok(Self(number)),
        }
    }
}

impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": u32::MAX })
    }
}

/// A text of 1 to `CHARS_MAX` characters, none of which is a control character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text<const CHARS_MAX: usize>(String);

/// A URL.
pub(super) type UrlText = Text<2_048>;

impl<const CHARS_MAX: usize> Text<CHARS_MAX> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const CHARS_MAX: usize> fmt::Display for Text<CHARS_MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de, const CHARS_MAX: usize> Deserialize<'de> for Text<CHARS_MAX> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        if text.is_empty() || text.chars().nth(CHARS_MAX).is_some() {
            return Err(D::Error::custom(format!("a text does not have 1 to {CHARS_MAX} characters")));
        }
        if text.chars().any(char::is_control) {
            return Err(D::Error::custom("a text has a control character"));
        }
        Ok(Self(text))
    }
}

impl<const CHARS_MAX: usize> JsonSchema for Text<CHARS_MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("Text{CHARS_MAX}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": CHARS_MAX })
    }
}

/// The name of a crawl.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(super) struct Name(pub(super) CrawlId);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl JsonSchema for Name {
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]*$", "maxLength": CrawlId::LEN_MAX })
    }
}
