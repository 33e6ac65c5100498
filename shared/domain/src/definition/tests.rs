//! What is refused and why, what changes, and what is stored.

use std::time::Duration;

use super::*;
use crate::url::{CrawlUrl, UrlRules};

fn url(text: &str) -> CrawlUrl {
    CrawlUrl::parse(text, &UrlRules::default()).unwrap()
}

fn draft() -> Draft {
    Draft::for_seeds(vec![url("https://example.org/"), url("https://example.org/docs/")])
}

fn pattern(text: &str) -> UrlPattern {
    text.parse().unwrap()
}

fn prefix(text: &str) -> Condition {
    Condition::Path(TextTest::Prefix(text.to_owned()))
}

fn block(when: Condition) -> DoNotCrawl {
    DoNotCrawl { when, reason: "not ours".to_owned() }
}

fn allow(names: &[&str]) -> QueryRule {
    QueryRule { when: None, allow: names.iter().map(|&name| name.to_owned()).collect() }
}

/// One way to change a draft.
type Edit = fn(&mut Draft);

#[test]
fn the_defaults_are_a_definition_named_after_the_host() {
    let definition = Definition::for_seeds(vec![url("https://docs.example.org/a")]).unwrap();
    assert_eq!(definition.name.as_str(), "docs.example.org");
    assert_eq!(definition.scope.within, Within::Origin);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let table: &[(Edit, &str, &str)] = &[
        (|d| d.seeds.clear(), "seeds: no seeds", "nothing could begin"),
        (
            |d| d.scope.exclude = vec![pattern("/x"), pattern("/docs/")],
            "scope.exclude entry 2: the pattern excludes the seed https://example.org/docs/",
            "seeds are not above the rules",
        ),
        (
            |d| d.scope.include = vec![pattern(r"\.pdf$")],
            "scope.include: no pattern includes any of the seeds, such as https://example.org/",
            "nothing could begin",
        ),
        (
            |d| d.do_not_crawl = vec![block(prefix("/x")), block(Condition::Not(Box::new(prefix("/private"))))],
            "do_not_crawl entry 2: every seed is blocked, such as https://example.org/ by \
             do_not_crawl entry 2 (not (path begins with /private)): not ours",
            "nothing would be crawled",
        ),
        (
            |d| {
                d.seeds = vec![url("https://example.org/?a=1")];
                d.url_query_parameters = vec![allow(&["b"])];
            },
            "url_query_parameters: every seed is blocked, such as https://example.org/?a=1 by \
             url_query_parameters: no entry that covers this URL allows all of its parameters",
            "query rules block seeds as well",
        ),
        (
            |d| d.do_not_crawl = vec![block(Condition::Any(vec![]))],
            "do_not_crawl entry 1: an empty list of conditions",
            "whether that holds is a matter of taste",
        ),
        (
            |d| d.do_not_crawl = vec![DoNotCrawl { when: prefix("/x"), reason: "a\nb".to_owned() }],
            "do_not_crawl entry 1: a reason has 1 to 200 characters on one line",
            "it stands in one line of a log",
        ),
        (
            |d| d.url_query_parameters = vec![allow(&["page", ""])],
            "url_query_parameters entry 1: `` is not a valid parameter name",
            "an empty name allows nothing",
        ),
        (
            |d| d.scope.exclude = vec![pattern("/x"); 101],
            "scope.exclude: 101 entries, where 100 are allowed",
            "every list has a limit",
        ),
        (
            |d| d.budget.pages = Some(0),
            "budget.pages: `0` is not between `1` and `1000000000000`",
            "nothing would be crawled",
        ),
        (
            |d| d.politeness.delay = Duration::from_mins(61),
            "politeness.delay: `1h 1m` is not between `0s` and `1h`",
            "a crawl would not end",
        ),
        (
            |d| d.politeness.concurrency = 0,
            "politeness.concurrency: `0` is not between `1` and `256`",
            "nothing would be fetched",
        ),
        (
            |d| d.politeness.hosts_per_domain = 101,
            "politeness.hosts_per_domain: `101` is not between `1` and `100`",
            "each has its place in a row",
        ),
        (
            |d| d.politeness.patience = Duration::ZERO,
            "politeness.patience: `0s` is not between `1s` and `24h`",
            "a server may restart",
        ),
        (
            |d| d.politeness.robots_max_age = Duration::from_hours(25),
            "politeness.robots_max_age: `25h` is not between `1m` and `24h`",
            "RFC 9309 section 2.4",
        ),
        (
            |d| d.fetch.timeout = Duration::from_secs(120),
            "fetch.timeout: `2m` is not between `100ms` and `1m 30s`",
            "a request must end within its lease",
        ),
        (
            |d| d.fetch.timeout = Duration::from_secs(15),
            "fetch.first_byte_timeout: `20s` is more than fetch.timeout, which is `15s`",
            "it could never be reached",
        ),
        (
            |d| d.fetch.decoded_bytes_max = 1 << 20,
            "fetch.body_bytes_max: `10MiB` is more than fetch.decoded_bytes_max, which is `1MiB`",
            "a body without a coding is its own decoded form",
        ),
        (
            |d| d.recrawl.max = Duration::from_mins(30),
            "recrawl.min: `1h` is more than recrawl.max, which is `30m`",
            "no interval would do",
        ),
        (
            |d| d.recrawl.interval = Some(Duration::from_mins(30)),
            "recrawl.min: `1h` is more than recrawl.interval, which is `30m`",
            "the first interval is bounded as well",
        ),
    ];
    for (edit, expected, why) in table {
        let mut draft = draft();
        edit(&mut draft);
        let problems = Definition::new(draft).expect_err(why);
        assert_eq!(problems.to_string(), *expected, "{why}");
    }
}

#[test]
fn every_problem_is_told_in_the_order_of_the_keys() {
    let mut draft = draft();
    draft.fetch.timeout = Duration::ZERO;
    draft.budget.pages = Some(0);
    let problems = Definition::new(draft).unwrap_err();
    let places: Vec<_> = problems.iter().map(|problem| problem.place.to_string()).collect();
    assert_eq!(places, ["budget.pages", "fetch.connect_timeout", "fetch.first_byte_timeout", "fetch.timeout"]);
}

#[test]
fn a_rule_that_blocks_one_seed_of_two_is_meant_so() {
    let mut draft = draft();
    draft.do_not_crawl = vec![block(prefix("/docs"))];
    assert!(Definition::new(draft).is_ok());
}

#[test]
fn conditions_are_bounded() {
    let nested =
        |depth: usize| (1..depth).fold(prefix("/x"), |inner, _| Condition::Any(vec![Condition::All(vec![inner])]));
    let mut deep = draft();
    deep.do_not_crawl = vec![block(nested(8))];
    assert!(Definition::new(deep.clone()).is_ok(), "15 levels");
    deep.do_not_crawl = vec![block(nested(9))];
    let problems = Definition::new(deep).unwrap_err();
    assert_eq!(problems.to_string(), "do_not_crawl entry 1: conditions are nested more than 16 deep");

    let mut wide = draft();
    wide.do_not_crawl = vec![block(Condition::Any(vec![prefix("/x"); 600])); 2];
    let problems = Definition::new(wide).unwrap_err();
    assert_eq!(problems.to_string(), "do_not_crawl entry 2: 1200 entries, where 1000 are allowed");
}

#[test]
fn tests_with_a_foregone_result_are_refused() {
    use Condition::{Host, Path, Port, Query, Scheme, Url};
    use TextTest::{Contains, Equals, Prefix, Regex, Suffix};
    let text = |text: &str| text.to_owned();
    let table = [
        (Path(Prefix(text(""))), false, "holds for every URL"),
        (Path(Prefix(text("/"))), false, "holds for every URL"),
        (Path(Equals(text("/"))), true, "the start page alone"),
        (Path(Prefix(text("private"))), false, "paths begin with a slash"),
        (Path(Contains(text("private"))), true, "anywhere in it"),
        (Path(Contains(text("a?b"))), false, "the query is not part of it"),
        (Path(Contains(text("été"))), false, "URLs are percent-encoded"),
        (Path(Contains(text("a b"))), false, "URLs are percent-encoded"),
        (Path(Suffix(text("#top"))), false, "fragments are dropped"),
        (Host(Equals(text("Example.org"))), false, "hosts are in lower case"),
        (Host(Equals(text("https://example.org"))), false, "a host is not a URL"),
        (Host(Suffix(text(".example.org"))), true, "every host below it"),
        (Query(Prefix(text("?a"))), false, "the question mark is not part of it"),
        (Query(Contains(text("?"))), true, "a query may have one"),
        (Scheme(Equals(text("ftp"))), false, "never crawled"),
        (Scheme(Prefix(text("http"))), false, "both begin so"),
        (Scheme(Equals(text("http"))), true, "one of the two"),
        (Scheme(Suffix(text("s"))), true, "the other one"),
        (Port(Equals(text("70000"))), false, "too large"),
        (Port(Equals(text("080"))), false, "ports are written without zeros in front"),
        (Port(Prefix(text("80"))), true, "odd, but possible"),
        (Port(Contains(text("http"))), false, "no digit"),
        (Url(Prefix(text("example.org/"))), false, "every URL begins with its scheme"),
        (Url(Prefix(text("https://example.org/a"))), true, "a section of a site"),
        (Path(Regex(pattern("^$"))), true, "patterns are not understood, only run"),
    ];
    for (condition, expected, why) in table {
        assert_eq!(condition.mistake().is_none(), expected, "{condition}: {why}");
    }
}

#[test]
fn every_key_is_compared_and_says_what_its_change_means() {
    let edits: &[(Key, Edit)] = &[
        (Key::Name, |d| d.name = "other".parse().unwrap()),
        (Key::Seeds, |d| d.seeds.truncate(1)),
        (Key::ScopeWithin, |d| d.scope.within = Within::Domain),
        (Key::ScopeInclude, |d| d.scope.include.push(pattern("a"))),
        (Key::ScopeExclude, |d| d.scope.exclude.push(pattern("b"))),
        (Key::ScopeMaxDepth, |d| d.scope.max_depth = Some(3)),
        (Key::BudgetPages, |d| d.budget.pages = Some(1)),
        (Key::BudgetPagesPerOrigin, |d| d.budget.pages_per_origin = Some(1)),
        (Key::BudgetBytes, |d| d.budget.bytes = Some(1)),
        (Key::BudgetDuration, |d| d.budget.duration = Some(Duration::from_secs(1))),
        (Key::DoNotCrawl, |d| d.do_not_crawl.push(block(prefix("/x")))),
        (Key::UrlQueryParameters, |d| d.url_query_parameters.push(allow(&["a"]))),
        (Key::StripQueryParameters, |d| d.strip_query_parameters = UrlRules::new(["ref"]).unwrap()),
        (Key::TrapsSegmentRepeatsMax, |d| d.traps.segment_repeats_max += 1),
        (Key::TrapsSegmentsMax, |d| d.traps.segments_max += 1),
        (Key::TrapsUrlBytesMax, |d| d.traps.url_bytes_max -= 1),
        (Key::PolitenessDelay, |d| d.politeness.delay *= 2),
        (Key::PolitenessConcurrency, |d| d.politeness.concurrency = 2),
        (Key::PolitenessHostsPerDomain, |d| d.politeness.hosts_per_domain = 2),
        (Key::PolitenessPatience, |d| d.politeness.patience *= 2),
        (Key::PolitenessRobotsMaxAge, |d| d.politeness.robots_max_age *= 2),
        (Key::FetchConnectTimeout, |d| d.fetch.connect_timeout /= 2),
        (Key::FetchFirstByteTimeout, |d| d.fetch.first_byte_timeout /= 2),
        (Key::FetchTimeout, |d| d.fetch.timeout /= 2),
        (Key::FetchHeaderBytesMax, |d| d.fetch.header_bytes_max *= 2),
        (Key::FetchBodyBytesMax, |d| d.fetch.body_bytes_max *= 2),
        (Key::FetchDecodedBytesMax, |d| d.fetch.decoded_bytes_max *= 2),
        (Key::UserAgent, |d| d.user_agent = "ShelfBot".parse().unwrap()),
        (Key::RecrawlInterval, |d| d.recrawl.interval = Some(Duration::from_hours(24))),
        (Key::RecrawlMin, |d| d.recrawl.min *= 2),
        (Key::RecrawlMax, |d| d.recrawl.max *= 2),
        (Key::ScheduleCron, |d| d.schedule = Some(Schedule::new("0 9 * * *", "UTC").unwrap())),
        (Key::ScheduleTimeZone, |d| d.schedule = Some(Schedule::new("0 8 * * *", "Europe/Berlin").unwrap())),
    ];
    assert_eq!(edits.iter().map(|(key, _)| *key).collect::<Vec<_>>(), Key::ALL, "a key is not tried");
    let mut old = draft();
    old.schedule = Some(Schedule::new("0 8 * * *", "UTC").unwrap());
    assert_eq!(changes(&old, &old), []);
    for (key, edit) in edits {
        let mut new = old.clone();
        edit(&mut new);
        let how_only =
            ["politeness.", "fetch.", "user_agent", "schedule."].iter().any(|start| key.name().starts_with(start));
        let effect = if how_only { Effect::HowOnly } else { Effect::WhichUrls };
        assert_eq!(changes(&old, &new), [Change { key: *key, effect }]);
        let checked = |draft: &Draft| Definition::new(draft.clone()).unwrap();
        let mixed = checked(&old).in_the_manner_of(&checked(&new));
        assert_eq!(*mixed, if how_only { new } else { old.clone() }, "{key:?}");
    }
}

#[test]
fn a_stored_definition_is_read_back_and_checked_again() {
    let mut full = draft();
    full.scope.include = vec![pattern("^https:")];
    full.do_not_crawl = vec![block(Condition::All(vec![prefix("/x"), Condition::Not(Box::new(prefix("/x/y")))]))];
    full.url_query_parameters = vec![allow(&["page"])];
    full.budget.duration = Some(Duration::from_hours(1));
    let definition = Definition::new(full).unwrap();
    let json = serde_json::to_string(&definition).unwrap();
    assert_eq!(serde_json::from_str::<Definition>(&json).unwrap(), definition);

    let minimal = r#"{"format":1,"definition":{"name":"a","seeds":["https://example.org/"]}}"#;
    let read: Definition = serde_json::from_str(minimal).unwrap();
    assert_eq!(read.fetch, Fetch::default(), "fields that an older version did not know take their defaults");

    let refused = [
        (minimal.replace("\"format\":1", "\"format\":2"), "a definition of format 2, where 1 is known"),
        (minimal.replace("[\"https://example.org/\"]", "[]"), "seeds: no seeds"),
    ];
    for (json, expected) in refused {
        assert_eq!(serde_json::from_str::<Definition>(&json).unwrap_err().to_string(), expected);
    }
}

#[test]
fn conditions_are_stored_as_they_are_written() {
    let condition = Condition::Any(vec![prefix("/x"), Condition::Port(TextTest::Equals("8080".to_owned()))]);
    let json = serde_json::to_string(&condition).unwrap();
    assert_eq!(json, r#"{"any":[{"path":{"prefix":"/x"}},{"port":{"equals":"8080"}}]}"#);
}

#[test]
fn quantities_are_shown_as_they_are_written() {
    let table = [
        (Quantity::Bytes(0), "0B"),
        (Quantity::Bytes(1_000), "1000B"),
        (Quantity::Bytes(1_536), "1536B"),
        (Quantity::Bytes(10 << 20), "10MiB"),
        (Quantity::Bytes(1 << 50), "1048576GiB"),
        (Quantity::Time(Duration::from_millis(1_500)), "1s 500ms"),
        (Quantity::Time(Duration::MAX), "18446744073709551615s"),
        (Quantity::Count(7), "7"),
    ];
    for (quantity, expected) in table {
        assert_eq!(quantity.to_string(), expected);
    }
}
