//! The diagnostics that users see, and the completeness of the documentation.

use std::fmt::Write as _;
use std::time::Duration;

use dragline_domain::definition::{
    Condition, Fetch, Key, Politeness, RecrawlRule, RecrawlWord, TextTest, UserAgent, Within,
};
use proptest::prelude::*;

use super::*;

const EXAMPLE: &str = include_str!("../../../../docs/reference/crawl.example.yaml");
const DOCUMENTATION: &str = include_str!("../../../../docs/reference/definition.md");
const RECRAWL: &str = include_str!("../../../../docs/reference/recrawl.md");

fn read(text: &str) -> Definition {
    parse(text, "crawl.yaml").unwrap_or_else(|errors| panic!("{errors}"))
}

/// Invalid files, each for one reason; a file without seeds gets some in its last line.
const BAD: &[(&str, &str)] = &[
    // YAML
    ("an empty file", ""),
    ("not YAML", "seeds: [https://example.org/"),
    ("a tab as indentation", "scope:\n\twithin: host"),
    ("a list instead of keys", "- https://example.org/"),
    ("a second document", "seeds: [https://example.org/]\n---\nname: b"),
    ("an anchor that is not there", "scope:\n  exclude: [*.zip]"),
    ("a merge key", "politeness:\n  <<: { delay: 1s }"),
    ("a tag", "name: !secret a"),
    // Keys
    ("an unknown key that is nearly right", "budget:\n  page: 10"),
    ("an unknown key unlike any other", "plugins: daily"),
    ("a key at the wrong level", "max_depth: 3"),
    ("a key twice", "budget:\n  pages: 1\n  pages: 2"),
    ("a key that is missing", "do_not_crawl:\n  - when: { path: { prefix: /x } }"),
    // Kinds of values
    ("a word for a number", "scope:\n  max_depth: many"),
    ("a negative number", "scope:\n  max_depth: -1"),
    ("a number that is too large for its type", "politeness:\n  concurrency: 70000"),
    ("a text for a list", "scope:\n  include: .pdf"),
    ("a list for a text", "name: [a, b]"),
    ("a text for keys", "budget: 100"),
    ("an unknown word", "scope:\n  within: hosts"),
    // Texts
    ("a duration without unit", "politeness:\n  delay: 2"),
    ("an invalid duration", "budget:\n  duration: soon"),
    ("a month, which has no fixed length", "recrawl:\n  interval: 1mo"),
    ("a size without unit", "fetch:\n  body_bytes_max: 1000"),
    ("an invalid size", "budget:\n  bytes: 10M"),
    ("a bad pattern", "scope:\n  exclude:\n    - '/ok'\n    - '/(a'"),
    ("a pattern that needs look-ahead", "scope:\n  include: ['^(?!.*pdf)']"),
    ("a wildcard instead of a pattern", "scope:\n  exclude: ['*.zip']"),
    ("a bad name", "name: My Crawl"),
    ("a user agent without a name", "user_agent: (hello)"),
    ("an invalid parameter name", "strip_query_parameters: ['a=b']"),
    ("a pattern over two lines", "scope:\n  exclude: [\"a\\nb\"]"),
    ("an entry without a value", "scope:\n  exclude:\n    -"),
    // Seeds
    ("no seeds", "name: a\nseeds: []"),
    ("a seed without scheme", "seeds:\n  - example.org/a"),
    ("a seed with a password, which is not printed", "seeds:\n  - https://me:secret@example.org/"),
    ("a seed of another scheme", "seeds:\n  - ftp://example.org/"),
    ("an exclude that excludes a seed", "scope:\n  exclude: ['^https://example\\.org/$']"),
    ("an include that includes no seed", "scope:\n  include: ['\\.pdf$']"),
    ("a rule that blocks every seed", "do_not_crawl:\n  - when: { host: { suffix: .org } }\n    reason: no"),
    // Conditions
    ("an empty condition", "do_not_crawl:\n  - when: { any: [] }\n    reason: no"),
    (
        "a condition with two keys",
        "do_not_crawl:\n  - when:\n      path: { prefix: /a }\n      host: { equals: b }\n    reason: no",
    ),
    ("an unknown part", "do_not_crawl:\n  - when: { paths: { prefix: /a } }\n    reason: no"),
    ("an unknown test", "do_not_crawl:\n  - when: { path: { starts_with: /a } }\n    reason: no"),
    ("a part without a test", "do_not_crawl:\n  - when: { path: /a }\n    reason: no"),
    ("a test that never holds", "do_not_crawl:\n  - when: { path: { prefix: a } }\n    reason: no"),
    ("a bad pattern in a condition", "do_not_crawl:\n  - reason: no\n    when:\n      path: { regex: '(' }"),
    ("an empty reason", "do_not_crawl:\n  - when: { path: { prefix: /a } }\n    reason: ''"),
    // Schedules
    ("a word for a schedule", "schedule: daily"),
    ("a schedule without times", "schedule:\n  time_zone: UTC"),
    ("a cron expression of four fields", "schedule:\n  cron: '0 8 * *'"),
    ("an hour that does not exist", "schedule:\n  cron: '0 24 * * *'"),
    ("a date that does not exist", "schedule:\n  cron: '0 8 30 2 *'"),
    ("every minute", "schedule:\n  cron: '* * * * *'"),
    ("an unknown time zone", "schedule:\n  cron: '0 8 * * *'\n  time_zone: Bonn"),
    // Notices
    ("a rule for nobody", "access:\n  - headers: { X-Key: 'env:KEY' }"),
    ("a rule that does nothing", "access:\n  - hosts: [a.example]\n    allow_plain: true"),
    ("a value that is written", "access:\n  - hosts: [a.example]\n    headers: { X-Key: abc123 }"),
    ("a field of the client", "access:\n  - hosts: [a.example]\n    headers: { Authorization: 'env:KEY' }"),
    ("two ways to say who", "access:\n  - { hosts: [a.example], basic: 'env:A', bearer: 'env:B' }"),
    ("a log-in without fields", "access:\n  - { hosts: [a.example], login: { url: 'https://a.example/in' } }"),
    (
        "a password in a log-in",
        "access:\n  - { hosts: [a.example], login: { url: 'https://a.example/in', fields: { pass: hunter2 } } }",
    ),
    (
        "a log-in that is no URL",
        "access:\n  - { hosts: [a.example], login: { url: /in, fields: { pass: 'env:PASS' } } }",
    ),
    (
        "no text of members",
        "access:\n  - { hosts: [a.example], login: { url: 'https://a.example/in', fields: { pass: 'env:PASS' }, logged_in: '' } }",
    ),
    ("cookies that are written", "access:\n  - { hosts: [a.example], cookies: 'sid=1' }"),
    ("a URL as a host", "access:\n  - { hosts: ['https://a.example/'], basic: 'env:A' }"),
    ("everybody's hosts", "access:\n  - { hosts: ['*.com'], basic: 'env:A' }"),
    ("a password in a proxy", "access:\n  - { hosts: [a.example], proxy: 'http://u:p@proxy.example:1' }"),
    ("a log-in without a proxy", "access:\n  - { hosts: [a.example], basic: 'env:A', proxy_login: 'env:B' }"),
    ("a receiver of nothing", "notify:\n  - events: [finished]"),
    ("two receivers in one rule", "notify:\n  - { webhook: 'https://example.org/', email: ada@example.org }"),
    ("a secret that is written", "notify:\n  - webhook: https://example.org/\n    secret: whsec_abc"),
    ("a secret without a webhook", "notify:\n  - { email: ada@example.org, secret: 'env:A' }"),
    ("a name instead of an address", "notify:\n  - email: ada"),
    ("an unknown event", "notify:\n  - { email: ada@example.org, events: [done] }"),
    ("progress by the second", "notify:\n  - { email: ada@example.org, progress: 10s }"),
    ("progress without a step", "notify:\n  - { email: ada@example.org, events: [progress] }"),
    ("a test that is none", "notify:\n  - { email: ada@example.org, items: cheap }"),
    ("a test of texts by size", "notify:\n  - { email: ada@example.org, items: price < cheap }"),
    // Where results are written
    ("an address that is written", "sink:\n  postgres: postgres://me:secret@db.example/results"),
    ("an empty directory", "sink:\n  parquet: ''"),
    // Values that do not fit
    ("a budget of nothing", "budget:\n  pages: 0"),
    ("a delay of hours", "politeness:\n  delay: 2h"),
    ("a robots.txt that is kept too long", "politeness:\n  robots_max_age: 2d"),
    ("time limits that contradict each other", "fetch:\n  connect_timeout: 30s\n  timeout: 25s"),
    ("a time limit below a default", "fetch:\n  timeout: 15s"),
    ("a minimum above the maximum", "recrawl:\n  interval: 1d\n  min: 2d\n  max: 12h"),
    ("a bound without an interval", "recrawl:\n  min: 12h"),
    // When known pages are due again
    ("an unknown policy", "recrawl:\n  policy: sometimes\n  interval: 1d"),
    ("a policy that is nearly right", "recrawl:\n  policy: adaptiv\n  interval: 1d"),
    ("a fixed policy without an interval", "recrawl:\n  policy: fixed"),
    ("an interval that no policy asks for", "recrawl:\n  policy: always\n  interval: 1d"),
    ("a minimum of a fixed interval", "recrawl:\n  policy: fixed\n  interval: 1d\n  min: 6h"),
    ("a fixed interval above the maximum", "recrawl:\n  policy: fixed\n  interval: 100d"),
    ("a rule without a condition", "recrawl:\n  rules:\n    - policy: always"),
    ("an empty rule", "recrawl:\n  rules:\n    - {}"),
    ("a rule with only a condition", "recrawl:\n  rules:\n    - when: { path: { prefix: /a } }"),
    ("an unknown policy in a rule", "recrawl:\n  rules:\n    - when: { path: { prefix: /a } }\n      policy: often"),
    ("an unknown key in a rule", "recrawl:\n  rules:\n    - when: { path: { prefix: /a } }\n      intervals: 1d"),
    (
        "a rule whose policy needs an interval",
        "recrawl:\n  rules:\n    - when: { path: { prefix: /a } }\n      policy: adaptive",
    ),
    (
        "a rule whose interval has no effect",
        "recrawl:\n  rules:\n    - when: { path: { prefix: /a } }\n      policy: always\n      interval: 1d",
    ),
    (
        "an invalid interval in a rule",
        "recrawl:\n  rules:\n    - when: { path: { prefix: /a } }\n      interval: often",
    ),
    (
        "a time out of bounds in a rule",
        "recrawl:\n  rules:\n    - when: { path: { prefix: /a } }\n      interval: 2d\n      max: 400d",
    ),
    (
        "a minimum above the interval in a rule",
        "recrawl:\n  interval: 1d\n  rules:\n    - when: { path: { prefix: /a } }\n      interval: 2d\n      min: 3d",
    ),
    (
        "a rule below the minimum for all",
        "recrawl:\n  interval: 1d\n  min: 6h\n  rules:\n    - when: { path: { prefix: /a } }\n      interval: 2h",
    ),
    (
        "a rule above the maximum for all",
        "recrawl:\n  interval: 1d\n  max: 7d\n  rules:\n    - when: { path: { prefix: /a } }\n      interval: 30d",
    ),
    (
        "a test that never holds in a rule",
        "recrawl:\n  rules:\n    - when: { path: { prefix: a } }\n      policy: always",
    ),
    // Types of items
    ("a type without a name", "items:\n  - fields: { a: { css: b } }"),
    ("a type whose name has a space", "items:\n  - { type: My Game, fields: { a: { css: b } } }"),
    ("a type without fields", "items:\n  - { type: Game }"),
    ("a type with no fields", "items:\n  - { type: Game, fields: {} }"),
    ("an unknown key in a type", "items:\n  - { type: Game, fields: { a: { css: b } }, eachs: { css: li } }"),
    ("an unknown key in a field", "items:\n  - type: Game\n    fields:\n      hero: { csss: h1 }"),
    ("a field without a place", "items:\n  - { type: Game, fields: { hero: { kind: text } } }"),
    ("a text for a field", "items:\n  - { type: Game, fields: { hero: h1 } }"),
    ("an invalid name of a field", "items:\n  - { type: Game, fields: { 'the hero': { css: h1 } } }"),
    ("an unknown kind", "items:\n  - { type: Game, fields: { hero: { css: h1, kind: texts } } }"),
    ("two places at once", "items:\n  - { type: Game, fields: { hero: { css: h1, json_ld: $.name } } }"),
    ("a place beside several", "items:\n  - { type: Game, fields: { hero: { css: h1, any: [{ css: h2 }] } } }"),
    ("an attribute of a path", "items:\n  - { type: Game, fields: { hero: { path: //a, attribute: href } } }"),
    ("an attribute alone", "items:\n  - { type: Game, fields: { hero: { attribute: href } } }"),
    ("an attribute of JSON", "items:\n  - { type: Game, fields: { hero: { json_ld: $.a, attribute: href } } }"),
    ("an invalid CSS selector", "items:\n  - type: Game\n    fields:\n      hero:\n        css: 'h1['"),
    ("a pseudo-element", "items:\n  - { type: Game, fields: { hero: { css: 'h1::text' } } }"),
    (
        "an invalid CSS selector among several",
        "items:\n  - { type: Game, fields: { hero: { any: [{ css: h1 }, { css: '>>' }] } } }",
    ),
    ("an invalid place of each", "items:\n  - { type: Game, each: { css: '..' }, fields: { hero: { css: h1 } } }"),
    ("an invalid path", "items:\n  - { type: Game, fields: { hero: { path: '//a/ancestor::b' } } }"),
    ("an invalid JSON path", "items:\n  - { type: Game, fields: { hero: { json_ld: offers.price } } }"),
    ("a script without a path", "items:\n  - { type: Game, fields: { hero: { script: '#data' } } }"),
    ("JSON of nothing", "items:\n  - { type: Game, fields: { hero: { json: $.a } } }"),
    ("an invalid regex", "items:\n  - { type: Game, fields: { hero: { regex: '(' } } }"),
    ("an invalid pattern", "items:\n  - { type: Game, fields: { hero: { css: h1, pattern: '(' } } }"),
    ("a bound that is a word", "items:\n  - { type: Game, fields: { price: { css: b, kind: money, min: low } } }"),
    ("a bound of a text", "items:\n  - { type: Game, fields: { hero: { css: h1, min: 1 } } }"),
    (
        "bounds that nothing fits",
        "items:\n  - { type: Game, fields: { price: { css: b, kind: number, min: 2, max: 1 } } }",
    ),
    ("a pattern of a number", "items:\n  - { type: Game, fields: { price: { css: b, kind: number, pattern: '1' } } }"),
    ("a record without fields", "items:\n  - { type: Game, fields: { rows: { css: tr, kind: record } } }"),
    ("a record with no fields", "items:\n  - { type: Game, fields: { rows: { css: tr, kind: record, fields: {} } } }"),
    (
        "fields without a record",
        "items:\n  - { type: Game, fields: { rows: { css: tr, fields: { a: { css: td } } } } }",
    ),
    ("a list of records", "items:\n  - { type: Game, fields: { rows: { css: tr, kind: list, of: record } } }"),
    ("values of what is no list", "items:\n  - { type: Game, fields: { rows: { css: tr, of: number } } }"),
    ("a field twice", "items:\n  - { type: Game, fields: { a: { css: b }, a: { css: c } } }"),
    (
        "a type twice",
        "items:\n  - { type: Game, fields: { a: { css: b } } }\n  - { type: Game, fields: { a: { css: b } } }",
    ),
    (
        "a test that never holds in a type",
        "items:\n  - { type: Game, when: { path: { prefix: a } }, fields: { a: { css: b } } }",
    ),
    (
        "records in records",
        "items:\n  - { type: A, fields: { a: { kind: record, fields: { a: { kind: record, fields: { a: { kind: record, fields: { a: { kind: record, fields: { a: { css: b } } } } } } } } } } }",
    ),
    (
        "several mistakes in types",
        "items:\n  - type: Game\n    fields:\n      hero: { css: 'h1[', kind: textt }\n      price: { json_ld: price, kind: money }\n      rows: { css: tr, kind: record, fields: { a: { path: '//' } } }",
    ),
    ("several mistakes", "name: A\nscope:\n  exclude: ['(']\npoliteness:\n  delay: 1\n  robots_max_age: 1h"),
];

#[test]
fn every_mistake_is_reported_with_its_location_and_a_hint() {
    let mut told = String::new();
    for (title, text) in BAD {
        let with_seeds = !text.contains("seeds:") && !text.is_empty() && !text.starts_with('-');
        let text = if with_seeds { format!("{text}\nseeds: [https://example.org/]\n") } else { (*text).to_owned() };
        let errors = parse(&text, "crawl.yaml").expect_err(title);
        writeln!(told, "== {title}\n{errors}\n").unwrap();
    }
    insta::assert_snapshot!("bad_definitions", told);
}

#[test]
fn all_mistakes_of_a_file_are_reported_at_once() {
    let text = "\
seeds: [https://example.org/, example.com]
nmae: docs
scope: { within: hosts, max_dept: 3, max_depth: many }
budget:
  pages: [100]
  page:
    - 1
  bytes: 10
politeness:
  delay: 2h
  concurrency: 0
  concurrency: 9
fetch: none
user_agent: (hello)
do_not_crawl:
  - when: { path: { starts_with: /a } }
    reason: no
url_query_parameters:
  - when: { path: { prefix: /a } }
traps: { segments_max: 0 }
";
    let errors = parse(text, "crawl.yaml").unwrap_err();
    let found: Vec<(usize, usize, &str)> =
        errors.iter().map(|error| (error.line, error.column, &*error.message)).collect();
    assert_eq!(
        found,
        [
            (1, 31, "a URL starts with `https://` or `http://`"),
            (2, 1, "unknown key `nmae`"),
            (3, 18, "unknown word `hosts`"),
            (3, 25, "unknown key `max_dept`"),
            (3, 49, "not a whole number, or too large"),
            (5, 10, "expected a text"),
            (6, 3, "unknown key `page`"),
            (8, 10, "the size `10` has no unit"),
            (10, 10, "politeness.delay: `2h` is not between `0s` and `1h`"),
            (11, 16, "politeness.concurrency: `0` is not between `1` and `256`"),
            (12, 3, "the key `concurrency` appears twice"),
            (13, 8, "expected keys with values"),
            (14, 13, "a user agent must begin with a name of letters, digits, `_` and `-`"),
            (16, 21, "`starts_with` is not a valid test"),
            (19, 5, "the key `allow` is missing"),
            (20, 24, "traps.segments_max: `0` is not between `1` and `1000`"),
        ]
    );
    assert!(errors.iter().all(|error| error.hint.is_some() || error.message.contains("is not between")), "{errors}");
}

#[test]
fn consequences_of_another_mistake_are_not_reported() {
    for (text, expected, why) in [
        ("seeds: [ftp://a.example/]", 1, "but not that there are no seeds"),
        ("seedz: [https://a.example/]", 1, "nor if the key is wrong"),
        (
            "seeds: [https://a.example/]\nfetch:\n  timeout: many\n  connect_timeout: 80s",
            1,
            "not compared with a default",
        ),
        ("seeds: [https://a.example/]\nbudget: { pages: x\nname: b", 1, "what is not YAML ends it"),
    ] {
        let errors = parse(text, "crawl.yaml").unwrap_err();
        assert_eq!(errors.iter().count(), expected, "{why}: {errors}");
    }
}

#[test]
fn yaml_bombs_are_refused() {
    let deep = format!("seeds: {}{}", "[".repeat(10_000), "]".repeat(10_000));
    let wide = format!("seeds: [{}]", "a,".repeat(400_000));
    let aliases = format!("name: &a x\nseeds: [{}]", "*a,".repeat(1_000));
    let long = " ".repeat(TEXT_BYTES_MAX + 1);
    for (text, expected) in [
        (deep, "recursion limit exceeded"),
        (wide, "the file is too large, or nested too deep"),
        (aliases, "the file is too large, or nested too deep"),
        (long, "the file has more than 2097152 bytes"),
    ] {
        let errors = parse(&text, "crawl.yaml").unwrap_err();
        let first = errors.iter().next().unwrap();
        assert!(first.message.contains(expected), "{}", first.message);
    }
}

#[test]
fn control_characters_are_escaped() {
    let text = format!("\"na\\u001b[31mme\": a # {}\nseeds: []", "\u{9b}".repeat(200));
    let shown = parse(&text, "crawl.yaml").unwrap_err().to_string();
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    // The hint lists known words and quotes nothing.
    let quoting = || shown.lines().filter(|line| !line.starts_with("hint: "));
    assert!(quoting().all(|line| line.chars().count() < 200), "{shown}");
}

#[test]
fn credentials_are_never_shown() {
    for (text, why) in [
        ("seeds:\n- https://me:secret@example.org/", "a seed"),
        ("seeds: https://me:secret@example.org/", "a text for a list"),
        ("seeds: [example.org]\n'https://me:secret@example.org/': 1", "a key, which the message quotes"),
    ] {
        let errors = parse(text, "crawl.yaml").unwrap_err();
        assert!(!errors.to_string().contains("secret"), "{why}: {errors}");
        assert!(!errors.one_line().contains("secret"), "{why}");
    }
}

#[test]
fn messages_have_a_maximum_length() {
    let errors = parse(&format!("{}: 1", "k".repeat(900)), "crawl.yaml").unwrap_err();
    let first = errors.iter().next().unwrap();
    assert!(first.message.starts_with("unknown key `kkk") && first.message.ends_with('…'), "{}", first.message);
    assert!(first.message.chars().count() <= 500);
}

#[test]
fn the_excerpt_is_the_line_with_that_number() {
    for (line_end, why) in [("\n", "LF"), ("\r\n", "CRLF"), ("\r", "CR alone, which ends a line of YAML, too")] {
        let text = ["name: a", "", "budget: { page: 1 }", "seeds: [https://example.org/]"].join(line_end);
        let shown = parse(&text, "crawl.yaml").unwrap_err().to_string();
        let lines: Vec<&str> = shown.lines().take(2).collect();
        assert_eq!(lines, ["crawl.yaml:3:11: unknown key `page`", "3 | budget: { page: 1 }"], "{why}");
    }
}

#[test]
fn a_value_that_is_written_is_not_shown() {
    for text in [
        "access: [{ hosts: [a.example], headers: { X-Key: hunter2, X-Other: hunter2 } }]",
        "access: [{ hosts: [a.example], hots: 1, basic: 'ada:hunter2' }]",
        "access: [{ hosts: [a.example], login: { url: 'https://a.example/', fields: { pass: hunter2 } } }]",
        "access: [{ hosts: [a.example], cookies: sid=hunter2 }]",
        "notify: [{ webhook: 'https://a.example/', secret: hunter2 }]",
        "sink: { postgres: 'postgres://ada:hunter2@db.example/' }",
    ] {
        let shown = parse(&format!("seeds: [https://a.example/]\n{text}\n"), "crawl.yaml").unwrap_err().to_string();
        let is_named = shown.contains("named, not written") || shown.contains("unknown key");
        assert!(is_named && !shown.contains("hunter2"), "{text}: {shown}");
    }
}

#[test]
fn seeds_alone_are_a_definition() {
    let definition = read("seeds: [https://docs.example.org/a]");
    assert_eq!(definition, Definition::for_seeds(definition.seeds.clone()).unwrap());
    assert_eq!(definition.name.as_str(), "docs.example.org");
    assert_eq!(definition.user_agent, UserAgent::default());
}

#[test]
fn keys_without_a_value_keep_their_defaults() {
    let definition = read("seeds: [https://example.org/]\nscope:\nbudget:\n  pages:\ndo_not_crawl:\nfetch: {}\n");
    assert_eq!(definition, read("seeds: [https://example.org/]"));
}

#[test]
fn the_example_has_every_key_with_the_documented_values() {
    let definition = read(EXAMPLE);
    assert_eq!(definition.scope.within, Within::Host);
    assert_eq!(definition.scope.max_depth, Some(12));
    assert_eq!(definition.budget.bytes, Some(20 << 30));
    assert_eq!(definition.fetch, Fetch::default());
    assert_eq!(definition.politeness, Politeness { bytes_per_second: Some(2 << 20), ..Politeness::default() });
    assert_eq!(definition.do_not_crawl[0].when, Condition::Path(TextTest::Prefix("/cgi-bin/".to_owned())));
    assert_eq!(definition.recrawl.interval, Some(Duration::from_hours(24)));
    let of_rules = |rule: &RecrawlRule| (rule.policy, rule.interval, rule.max);
    assert_eq!(
        definition.recrawl.rules.iter().map(of_rules).collect::<Vec<_>>(),
        [
            (Some(RecrawlWord::Fixed), Some(Duration::from_hours(1)), None),
            (None, Some(Duration::from_hours(30 * 24)), Some(Duration::from_hours(90 * 24))),
        ]
    );
    let schedule = definition.schedule.as_ref().unwrap();
    assert_eq!((schedule.cron(), schedule.time_zone()), ("0 8 * * *", "Europe/Berlin"));
    for key in Key::ALL {
        let last = key.name().rsplit('.').next().unwrap();
        let written = EXAMPLE.lines().any(|line| line.trim_start().starts_with(&format!("{last}:")));
        assert!(written, "`{key}` is not in the example");
    }
}

#[test]
fn the_documented_message_is_the_real_one() {
    let shown = parse("seeds: [https://example.org/]\nbudget:\n  page: 100\n", "crawl.yaml").unwrap_err();
    assert!(DOCUMENTATION.contains(&format!("```text\n{shown}\n```")), "{shown}");
}

#[test]
fn the_documented_examples_are_valid() {
    let mut tried = 0;
    for block in [DOCUMENTATION, RECRAWL].into_iter().flat_map(|page| page.split("```yaml\n").skip(1)) {
        let block = block.split("```").next().unwrap();
        let text = match block.split_once(':').unwrap().0 {
            // The example of a key in a section.
            "rules" => {
                let nested: String = block.lines().map(|line| format!("  {line}\n")).collect();
                format!("recrawl:\n{nested}\nseeds: [https://example.org/]")
            }
            "seeds" => block.to_owned(),
            "when" => {
                let nested: String = block.lines().map(|line| format!("    {line}\n")).collect();
                format!("do_not_crawl:\n  - reason: an example\n{nested}\nseeds: [https://example.org/]")
            }
            _ => format!("{block}\nseeds: [https://example.org/]"),
        };
        read(&text);
        tried += 1;
    }
    assert!(tried >= 4, "{tried}");
}

proptest! {
    /// Any file yields a definition or at least one error, with a location in the file.
    #[test]
    fn every_text_yields_a_definition_or_errors(
        lines in prop::collection::vec("( {0,4})(seeds|scope|when|all|not|path|delay|- |\\[|\\{|&a |\\*a |'|\\|)?:? ?[ -~\u{80}-\u{ff}]{0,12}", 0..12),
    ) {
        let text = lines.join("\n");
        if let Err(errors) = parse(&text, "crawl.yaml") {
            prop_assert!(errors.iter().count() > 0);
            for error in errors.iter() {
                prop_assert!(error.line >= 1 && error.column >= 1 && error.line <= lines.len() + 1, "{}", error);
                prop_assert!(!error.message.contains('\n'));
            }
        }
    }
}
