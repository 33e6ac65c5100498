//! Commands in messages: JSON with one key, the kind of the command.
//!
//! JSON is YAML, so a message is read like a definition file, and its diagnostics have locations
//! and hints.

use std::num::NonZeroU32;

use dragline_domain::command::Command;
use dragline_domain::definition::{Condition, RunsWhere, StackBrowsers, UrlPattern};
use dragline_domain::frontier::{Demand, DemandTooLong, OriginKey, SegmentId, Selection, StatusChange, Visits};
use dragline_domain::ids::{CrawlId, TriggerId, Turn};
use dragline_domain::retention::{PrunePlace, Retention};
use dragline_domain::url::{CrawlUrl, Origin, UrlRules};
use serde::Deserialize;

use crate::error::{DefinitionErrors, Diagnostic, Diagnostics, Location};
use crate::read::{ReadDraft, Text};
use crate::units::duration;
use crate::{check_draft, read, shape};

/// The limit on a message, in bytes.
pub const COMMAND_BYTES_MAX: usize = 256 << 10;

/// The limit on a trigger's name, in bytes: it is part of a key.
const TRIGGER_BYTES_MAX: usize = 128;

/// The name of a message in locations.
const SOURCE: &str = "message";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCommand {
    url: Option<Text>,
    demand: Option<RawDemand>,
    definition: Option<ReadDraft>,
    start: Option<RawStart>,
    reparse: Option<RawReparse>,
    put_crawl: Option<RawPut>,
    pause: Option<RawCrawl>,
    resume: Option<RawCrawl>,
    stop: Option<RawCrawl>,
    remove: Option<RawCrawl>,
    prune: Option<RawPrune>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDemand {
    crawl: Option<Text>,
    urls: Vec<Text>,
    pattern: Option<Text>,
    #[serde(default)]
    skip: Vec<Text>,
    depth: Option<u32>,
    #[serde(default)]
    force: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawReparse {
    crawl: Text,
    r#where: Option<Condition>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStart {
    crawl: Text,
    trigger: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPut {
    definition: ReadDraft,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCrawl {
    crawl: Text,
}

/// The stack itself writes the place to continue from, when an invocation runs out of time.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPrune {
    crawl: Text,
    keep: Option<NonZeroU32>,
    older_than: Option<Text>,
    after: Option<Text>,
    turn: Option<u64>,
    segment: Option<u64>,
}

type CommandResult<T> = Result<T, Diagnostics>;

/// Reads a command from the body of a message.
///
/// # Errors
/// Fails if the command is invalid. Redelivering the message does not help.
pub fn parse_command(body: &str, browsers: StackBrowsers) -> Result<Command, DefinitionErrors> {
    let errors = |found| DefinitionErrors::new(body, SOURCE, found);
    if body.len() > COMMAND_BYTES_MAX {
        let bytes = body.len();
        return Err(errors(at_start(format!(
            "the message has {bytes} bytes, more than a queue takes ({COMMAND_BYTES_MAX}); \
             instead of so many seeds give a page or a sitemap that lists them (`sitemaps: follow`), or several crawls"
        ))));
    }
    let raw: RawCommand = shape::parse(body).map_err(|found| errors(vec![found]))?;
    single_command(raw, RunsWhere::OnStack(browsers)).map_err(errors)
}

/// Returns the one command of a message.
fn single_command(raw: RawCommand, runs: RunsWhere) -> CommandResult<Command> {
    let RawCommand { url: address, demand, definition, start, reparse, put_crawl, pause, resume, stop, remove, prune } =
        raw;
    let change = |change| move |raw: RawCrawl| Ok(Command::Change { crawl: name(&raw.crawl)?, change });
    let mut commands = [
        address.map(|text| url(&text).map(Command::Url)),
        demand.as_ref().map(read_demand),
        definition.map(|read| Ok(Command::Define(Box::new(check_draft(read, Vec::new(), runs)?)))),
        start.map(begin),
        reparse.map(|raw| {
            let selection = Selection::from_condition(
                raw.r#where.map(|condition| check_condition(condition, &raw.crawl)).transpose()?,
            );
            Ok(Command::Reparse { crawl: name(&raw.crawl)?, selection })
        }),
        put_crawl.map(|raw| Ok(Command::PutCrawl(Box::new(check_draft(raw.definition, Vec::new(), runs)?)))),
        pause.map(change(StatusChange::Pause)),
        resume.map(change(StatusChange::Resume)),
        stop.map(change(StatusChange::Stop)),
        remove.map(|raw| Ok(Command::Remove(name(&raw.crawl)?))),
        prune.map(|raw| retain(&raw)),
    ]
    .into_iter()
    .flatten();
    match (commands.next(), commands.next()) {
        (Some(command), None) => command,
        (None, _) => Err(at_start("the message has no command")),
        (Some(_), Some(_)) => Err(at_start("the message has more than one command")),
    }
}

fn begin(raw: RawStart) -> CommandResult<Command> {
    let trigger = raw.trigger.map(|text| trigger(&text)).transpose()?;
    Ok(Command::Start { crawl: name(&raw.crawl)?, trigger })
}

fn retain(raw: &RawPrune) -> CommandResult<Command> {
    let crawl = name(&raw.crawl)?;
    let retention = match (raw.keep, &raw.older_than) {
        (Some(newest), None) => Retention::Newest(newest),
        (None, Some(text)) => {
            let time = duration(&text.value).map_err(|wrong| located(text, Diagnostic::new(wrong.to_string())))?;
            Retention::Within(time)
        }
        _ => return Err(located(&raw.crawl, Diagnostic::new("give either `keep` or `older_than`"))),
    };
    let origin = |text: &Text| {
        let wrong = || located(text, Diagnostic::new("this is not a valid origin"));
        text.value.parse::<Origin>().map_err(|_| wrong())
    };
    let from = match (raw.after.as_ref().map(origin).transpose()?, raw.turn, raw.segment) {
        (None, ..) => None,
        (Some(origin), Some(turn), Some(n)) => {
            let origin = OriginKey { crawl: crawl.clone(), origin };
            Some(PrunePlace::Within(SegmentId { origin, turn: Turn(turn), n }))
        }
        (Some(origin), ..) => Some(PrunePlace::After(origin)),
    };
    Ok(Command::Prune { crawl, retention, from })
}

/// Reads URLs on demand. Without a name, the crawl is that of their host.
fn read_demand(raw: &RawDemand) -> CommandResult<Command> {
    let urls: Vec<CrawlUrl> = raw.urls.iter().map(url).collect::<CommandResult<_>>()?;
    let Some(first) = urls.first() else {
        return Err(vec![(
            Location::START,
            Diagnostic::new("the command names no URL").hint("list them under `urls`"),
        )]);
    };
    let crawl = match &raw.crawl {
        Some(crawl) => name(crawl)?,
        None => CrawlId::for_origin(&first.origin()),
    };
    if raw.crawl.is_none()
        && let Some(other) = urls.iter().position(|url| CrawlId::for_origin(&url.origin()) != crawl)
    {
        let diagnostic = Diagnostic::new(format!("this URL is not of `{crawl}`, as the first one is"));
        return Err(located(&raw.urls[other], diagnostic.hint("name the crawl that visits them all with `crawl`")));
    }
    let pattern = |text: &Text| {
        text.value
            .parse::<UrlPattern>()
            .map_err(|error| located(text, Diagnostic::new(error.to_string()).hint(error.hint())))
    };
    let demand = Demand {
        pattern: raw.pattern.as_ref().map(pattern).transpose()?,
        skip: raw.skip.iter().map(pattern).collect::<CommandResult<_>>()?,
        depth: raw.depth,
        visits: if raw.force { Visits::All } else { Visits::Due },
    };
    let too_long = |error: DemandTooLong| vec![(Location::START, Diagnostic::new(error.to_string()))];
    Ok(Command::Demand { crawl, urls, demand: demand.validate().map_err(too_long)? })
}

/// Returns the condition if it is meaningful. A mistake is reported at the name of its crawl, as
/// conditions have no location.
fn check_condition(condition: Condition, near: &Text) -> CommandResult<Condition> {
    match condition.mistake() {
        None => Ok(condition),
        Some(mistake) => Err(located(near, Diagnostic::new(mistake.to_string()))),
    }
}

/// Reads a URL without stripping parameters, as that depends on its crawl.
fn url(text: &Text) -> CommandResult<CrawlUrl> {
    read::seed(&text.value, &UrlRules::keep_all()).map_err(|diagnostic| located(text, diagnostic))
}

fn name(text: &Text) -> CommandResult<CrawlId> {
    text.value
        .parse()
        .map_err(|error: <CrawlId as std::str::FromStr>::Err| located(text, Diagnostic::new(error.to_string())))
}

fn trigger(text: &Text) -> CommandResult<TriggerId> {
    let is_sound = (1..=TRIGGER_BYTES_MAX).contains(&text.value.len()) && text.value.bytes().all(is_sound_in_a_key);
    if is_sound {
        Ok(TriggerId(text.value.clone()))
    } else {
        let diagnostic = Diagnostic::new("this is not a valid trigger");
        Err(located(text, diagnostic.hint("use 1 to 128 letters, digits and `.`, `_`, `:`, `-`, or leave it out")))
    }
}

const fn is_sound_in_a_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'-')
}

fn located(text: &Text, diagnostic: Diagnostic) -> Diagnostics {
    vec![(text.referenced.into(), diagnostic)]
}

fn at_start(message: impl Into<String>) -> Diagnostics {
    let hint = "send one of `url`, `demand`, `definition`, `start`, `reparse`, `put_crawl`, `pause`, `resume`, `stop`, `remove` and `prune`";
    vec![(Location::START, Diagnostic::new(message).hint(hint))]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dragline_domain::url::CrawlUrl;

    use super::*;

    fn crawl() -> CrawlId {
        "docs".parse().unwrap()
    }

    fn read(body: &str) -> Command {
        parse_command(body, StackBrowsers::Missing).unwrap_or_else(|errors| panic!("{body}: {errors}"))
    }

    #[test]
    fn each_command_is_read() {
        let address = CrawlUrl::parse("https://a.example/b?utm_source=c", &UrlRules::keep_all()).unwrap();
        let trigger = Some(TriggerId("schedule-2026-11-21T08:00:00Z".to_owned()));
        for (body, expected) in [
            (r#"{"url": "https://a.example/b?utm_source=c"}"#, Command::Url(address)),
            (r#"{"start": {"crawl": "docs"}}"#, Command::Start { crawl: crawl(), trigger: None }),
            (
                r#"{"start": {"crawl": "docs", "trigger": "schedule-2026-11-21T08:00:00Z"}}"#,
                Command::Start { crawl: crawl(), trigger },
            ),
            (r#"{"pause": {"crawl": "docs"}}"#, Command::Change { crawl: crawl(), change: StatusChange::Pause }),
            (r#"{"resume": {"crawl": "docs"}}"#, Command::Change { crawl: crawl(), change: StatusChange::Resume }),
            (r#"{"stop": {"crawl": "docs"}}"#, Command::Change { crawl: crawl(), change: StatusChange::Stop }),
            (r#"{"remove": {"crawl": "docs"}}"#, Command::Remove(crawl())),
            (
                r#"{"prune": {"crawl": "docs", "keep": 5}}"#,
                Command::Prune {
                    crawl: crawl(),
                    retention: Retention::Newest(NonZeroU32::new(5).unwrap()),
                    from: None,
                },
            ),
            (
                r#"{"prune": {"crawl": "docs", "older_than": "90d", "after": "https://a.example"}}"#,
                Command::Prune {
                    crawl: crawl(),
                    retention: Retention::Within(Duration::from_hours(90 * 24)),
                    from: Some(PrunePlace::After("https://a.example".parse().unwrap())),
                },
            ),
        ] {
            assert_eq!(read(body), expected, "{body}");
        }
    }

    #[test]
    fn a_definition_is_the_same_as_in_a_file() {
        let definition = r#"{"name": "docs", "seeds": ["https://a.example/"], "budget": {"pages": 7}}"#;
        let expected = Box::new(crate::parse(definition, "crawl.yaml").unwrap());
        assert_eq!(read(&format!(r#"{{"definition": {definition}}}"#)), Command::Define(expected.clone()));
        let put = format!(r#"{{"put_crawl": {{"definition": {definition}}}}}"#);
        assert_eq!(read(&put), Command::PutCrawl(expected));
    }

    #[test]
    fn invalid_commands_are_refused_with_a_location() {
        let long = format!(r#"{{"url": "https://a.example/{}"}}"#, "a".repeat(COMMAND_BYTES_MAX));
        let trigger = format!(r#"{{"start": {{"crawl": "a", "trigger": "{}"}}}}"#, "t".repeat(129));
        for (body, place, message) in [
            ("", "1:1", "the message has no command"),
            ("{}", "1:1", "the message has no command"),
            (
                &*long,
                "1:1",
                "the message has 262173 bytes, more than a queue takes (262144); instead of so many seeds give",
            ),
            ("[]", "1:1", "expected keys with values"),
            ("{\"url\": ", "1:", ""),
            (r#"{"uri": "https://a.example/"}"#, "1:2", "unknown key `uri`"),
            (r#"{"url": "https://a.example/", "delay": 0}"#, "1:", "unknown key `delay`"),
            (
                r#"{"url": "https://a.example/", "stop": {"crawl": "a"}}"#,
                "1:1",
                "the message has more than one command",
            ),
            (r#"{"url": "ftp://a.example/"}"#, "1:9", "only http and https"),
            (r#"{"url": 7}"#, "1:9", ""),
            (r#"{"start": {"crawl": "Docs"}}"#, "1:21", "`Docs` is not a valid crawl name"),
            (r#"{"start": {"crawl": "a", "allow_private": true}}"#, "1:", "unknown key `allow_private`"),
            (r#"{"start": {"crawl": "a", "trigger": "b#c"}}"#, "1:", "this is not a valid trigger"),
            (&trigger, "1:", "this is not a valid trigger"),
            (r#"{"stop": {}}"#, "1:", "the key `crawl` is missing"),
            (r#"{"prune": {"crawl": "a"}}"#, "1:", "give either `keep` or `older_than`"),
            (r#"{"prune": {"crawl": "a", "keep": 1, "older_than": "1d"}}"#, "1:", "give either `keep` or `older_than`"),
            (r#"{"prune": {"crawl": "a", "keep": 0}}"#, "1:", ""),
            (r#"{"prune": {"crawl": "a", "older_than": "90"}}"#, "1:", "the duration `90` has no unit"),
            ("{\"definition\": {\n  \"seeds\": [\"a.example\"]}}", "2:13", "a URL starts with `https://`"),
            (
                "{\"definition\": {\"seeds\": [\"https://a.example/\"],\n \"fetch\": {\"timeout\": \"1h\"}}}",
                "2:",
                "fetch.timeout: `1h` is more than a stack can do",
            ),
            (
                "{\"put_crawl\": {\"definition\": {\"seeds\": [\"https://a.example/\"],\n\n \"fetch\": {\"file_bytes_max\": \"1GiB\"}}}}",
                "3:",
                "fetch.file_bytes_max: `1GiB` is more than a stack can do",
            ),
        ] {
            let errors = parse_command(body, StackBrowsers::Missing).expect_err(body);
            let first = errors.iter().next().expect("never empty");
            let found = format!("{}:{}", first.line, first.column);
            assert!(found.starts_with(place), "{body}: at {found}, not {place}: {}", first.message);
            assert!(first.message.starts_with(message), "{body}: {}", first.message);
        }
    }

    #[test]
    fn an_error_fits_into_one_line_of_a_log() {
        let body = format!("{{\"a\u{1b}[31m\\nb{}\": 1}}", "x".repeat(2_000));
        let line = parse_command(&body, StackBrowsers::Missing).unwrap_err().one_line();
        assert!(line.starts_with("message:1:"), "{line}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert!(line.chars().count() <= 500, "{} characters", line.chars().count());
    }
}
