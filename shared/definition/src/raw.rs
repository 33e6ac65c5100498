//! The shape of the YAML: which keys there are, and what kind of value each has.
//!
//! Values that are more than a number or a word stay texts with their places, so that what is wrong in them can be told
//! with a hint, and all at once.

use dragline_domain::definition::{Condition, Within};
use serde::Deserialize;
use serde_saphyr::Spanned;

/// A text and its place.
pub(super) type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDefinition {
    pub(super) name: Option<Text>,
    pub(super) seeds: Option<Spanned<Vec<Text>>>,
    pub(super) scope: Option<RawScope>,
    pub(super) budget: Option<RawBudget>,
    pub(super) do_not_crawl: Option<Spanned<Vec<Spanned<RawDoNotCrawl>>>>,
    pub(super) url_query_parameters: Option<Spanned<Vec<Spanned<RawQueryRule>>>>,
    pub(super) strip_query_parameters: Option<Spanned<Vec<Text>>>,
    pub(super) traps: Option<RawTraps>,
    pub(super) politeness: Option<RawPoliteness>,
    pub(super) fetch: Option<RawFetch>,
    pub(super) user_agent: Option<Text>,
    pub(super) recrawl: Option<RawRecrawl>,
    pub(super) schedule: Option<RawSchedule>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawScope {
    pub(super) within: Option<Spanned<Within>>,
    pub(super) include: Option<Spanned<Vec<Text>>>,
    pub(super) exclude: Option<Spanned<Vec<Text>>>,
    pub(super) max_depth: Option<Spanned<u32>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBudget {
    pub(super) pages: Option<Spanned<u64>>,
    pub(super) pages_per_origin: Option<Spanned<u64>>,
    pub(super) bytes: Option<Text>,
    pub(super) duration: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDoNotCrawl {
    pub(super) when: Condition,
    pub(super) reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawQueryRule {
    pub(super) when: Option<Condition>,
    pub(super) allow: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTraps {
    pub(super) segment_repeats_max: Option<Spanned<u32>>,
    pub(super) segments_max: Option<Spanned<u32>>,
    pub(super) url_bytes_max: Option<Spanned<u32>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPoliteness {
    pub(super) delay: Option<Text>,
    pub(super) concurrency: Option<Spanned<u16>>,
    pub(super) hosts_per_domain: Option<Spanned<u16>>,
    pub(super) patience: Option<Text>,
    pub(super) robots_max_age: Option<Text>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFetch {
    pub(super) connect_timeout: Option<Text>,
    pub(super) first_byte_timeout: Option<Text>,
    pub(super) timeout: Option<Text>,
    pub(super) header_bytes_max: Option<Text>,
    pub(super) body_bytes_max: Option<Text>,
    pub(super) decoded_bytes_max: Option<Text>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRecrawl {
    pub(super) interval: Option<Text>,
    pub(super) min: Option<Text>,
    pub(super) max: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSchedule {
    pub(super) cron: Text,
    pub(super) time_zone: Option<Text>,
}
