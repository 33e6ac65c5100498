//! Parsers of argument values.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use dragline_definition::Diagnostic;
use dragline_domain::content::ContentLevel;
use dragline_domain::definition::{
    Canonical, Condition, Feeds, RenderWhen, Requisites, Sitemaps, Soft404, UrlPattern, UserAgent, Within,
};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::{NoSuchOutcome, Outcome};
use dragline_domain::use_preferences::Purpose;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Parses a duration with its unit, such as `500ms` or `1s`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    dragline_definition::duration(text).map_err(|wrong| with_hint(&wrong))
}

/// Parses a size in bytes with its unit, such as `2GiB`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    dragline_definition::size(text).map_err(|wrong| with_hint(&wrong))
}

fn with_hint(wrong: &Diagnostic) -> String {
    match &wrong.hint {
        Some(hint) => format!("{wrong}; {hint}"),
        None => wrong.to_string(),
    }
}

/// Returns a parser of iteration numbers.
pub(super) fn iteration() -> impl TypedValueParser<Value = Iteration> {
    clap::value_parser!(u32).range(1..).try_map(|number| Iteration::new(number).ok_or("iterations are counted from 1"))
}

/// Parses a regular expression over whole URLs.
pub(super) fn pattern(text: &str) -> Result<UrlPattern, String> {
    text.parse().map_err(|error: dragline_domain::definition::PatternError| format!("{error}; {}", error.hint()))
}

/// Parses a time, or a day, which means midnight UTC.
pub(super) fn instant(text: &str) -> Result<Timestamp, String> {
    let of_day = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok().map(|day| day.timestamp());
    let instant = text.parse().ok().or_else(of_day);
    instant.ok_or_else(|| "write a day or a time with its zone, such as 2026-11-27 or 2026-11-27T08:00:00Z".to_owned())
}

/// Parses a condition over URLs, in the syntax of `when` in a definition.
pub(super) fn condition(text: &str) -> Result<Condition, String> {
    dragline_definition::condition(text, "condition").map_err(|errors| errors.one_line())
}

/// Returns a parser of content levels.
pub(super) fn content() -> impl TypedValueParser<Value = ContentLevel> {
    name_parser([ContentLevel::Text, ContentLevel::Items, ContentLevel::Full], ContentLevel::name)
}

/// Returns a parser of the reaches of a crawl.
pub(super) fn within() -> impl TypedValueParser<Value = Within> {
    name_parser([Within::Origin, Within::Site, Within::Host, Within::Domain], Within::name)
}

/// Returns a parser of the modes for sitemaps.
pub(super) fn sitemaps() -> impl TypedValueParser<Value = Sitemaps> {
    name_parser([Sitemaps::Ignore, Sitemaps::Follow, Sitemaps::Only], Sitemaps::name)
}

/// Returns a parser of the modes for feeds.
pub(super) fn feeds() -> impl TypedValueParser<Value = Feeds> {
    name_parser([Feeds::Ignore, Feeds::Follow], Feeds::name)
}

/// Returns a parser of the modes for page requisites.
pub(super) fn requisites() -> impl TypedValueParser<Value = Requisites> {
    name_parser([Requisites::Ignore, Requisites::Fetch], Requisites::name)
}

/// Returns a parser of the modes for soft 404s.
pub(super) fn soft_404() -> impl TypedValueParser<Value = Soft404> {
    name_parser([Soft404::Ignore, Soft404::Detect], Soft404::name)
}

/// Returns a parser of the words for which pages are rendered.
pub(super) fn render() -> impl TypedValueParser<Value = RenderWhen> {
    name_parser([RenderWhen::Never, RenderWhen::Auto, RenderWhen::Always], RenderWhen::name)
}

/// Returns a parser of the purposes of a crawl.
pub(super) fn purpose() -> impl TypedValueParser<Value = Purpose> {
    name_parser(Purpose::ALL, Purpose::name)
}

/// Returns a parser of the modes for canonical links.
pub(super) fn canonical() -> impl TypedValueParser<Value = Canonical> {
    name_parser([Canonical::Obey, Canonical::Ignore], Canonical::name)
}

/// Returns a parser of the values in `all`, by name.
fn name_parser<T, const N: usize>(all: [T; N], label: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let named = PossibleValuesParser::new(all.map(label));
    named.try_map(move |name| all.into_iter().find(|one| label(*one) == name).ok_or("none of these names"))
}

/// Parses an outcome's number or name.
pub(super) fn outcome(text: &str) -> Result<Outcome, String> {
    text.parse().map_err(|error: NoSuchOutcome| format!("{error}; docs/reference/outcomes.md lists them all"))
}

/// Parses the value of the `User-Agent` header.
pub(super) fn user_agent(text: &str) -> Result<UserAgent, String> {
    text.parse().map_err(|error: dragline_domain::definition::UserAgentError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (text, expected, why) in [
            ("0s", Some(0), "no delay"),
            ("500ms", Some(500), "below a second"),
            ("1.5s", Some(1_500), "a fraction"),
            ("1m 30s", Some(90_000), "two units"),
            ("1", None, "no unit"),
            ("", None, "empty"),
            ("-1s", None, "negative"),
            ("fast", None, "not a number"),
        ] {
            assert_eq!(duration(text).ok(), expected.map(Duration::from_millis), "{text}: {why}");
        }
        assert_eq!(duration("2"), Err("the duration `2` has no unit; did you mean `2s`?".to_owned()));
    }
}
