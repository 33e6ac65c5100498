//! Refused definitions with the reasons, changes, and the stored form.

use std::time::Duration;

use super::*;
use crate::content::ContentLevel;
use crate::url::{CrawlUrl, UrlRules};
use crate::use_preferences::Purpose;

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

fn recrawl_rule(path: &str, policy: Option<RecrawlWord>, interval: Option<Duration>) -> RecrawlRule {
    RecrawlRule { when: prefix(path), policy, interval, min: None, max: None }
}

/// A change to a draft.
type Edit = fn(&mut Draft);

#[test]
fn the_defaults_are_a_definition_named_after_the_host() {
    let definition = Definition::for_seeds(vec![url("https://docs.example.org/a")]).unwrap();
    assert_eq!(definition.name.as_str(), "docs.example.org");
    assert_eq!(definition.scope.within, Within::Site);
}

#[test]
fn senseless_values_are_refused() {
    let table: &[(Edit, &str, &str)] = &[
        (|d| d.seeds.clear(), "seeds: no seeds", "nothing could begin"),
        (
            |d| d.scope.exclude = vec![pattern("/x"), pattern("/docs/")],
            "scope.exclude entry 2: the pattern excludes the seed https://example.org/docs/",
            "rules apply to seeds too",
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
            "whether an empty list holds is ambiguous",
        ),
        (
            |d| d.do_not_crawl = vec![DoNotCrawl { when: prefix("/x"), reason: "a\nb".to_owned() }],
            "do_not_crawl entry 1: a reason must have 1 to 200 characters on one line",
            "it appears on one line of a log",
        ),
        (
            |d| d.url_query_parameters = vec![allow(&["page", ""])],
            "url_query_parameters entry 1: `` is not a valid parameter name",
            "an empty name allows nothing",
        ),
        (
            |d| d.scope.exclude = vec![pattern("/x"); 101],
            "scope.exclude: 101 entries, but at most 100 are allowed",
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
            "each has a place in a stored row",
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
            |d| d.fetch.timeout = Duration::from_secs(3_601),
            "fetch.timeout: `1h 1s` is not between `100ms` and `1h`",
            "a lease must last longer",
        ),
        (
            |d| (d.fetch.timeout, d.fetch.first_byte_timeout) = (Duration::from_secs(200), Duration::from_secs(91)),
            "fetch.first_byte_timeout: `1m 31s` is not between `100ms` and `1m 30s`",
            "no server takes that long to begin",
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
            |d| {
                d.recrawl.interval = Some(Duration::from_hours(2));
                d.recrawl.max = Duration::from_mins(30);
            },
            "recrawl.interval: `2h` is more than recrawl.max, which is `30m`\n\
             recrawl.min: `1h` is more than recrawl.max, which is `30m`",
            "no interval would be valid",
        ),
        (
            |d| d.recrawl.rules = vec![recrawl_rule("/x", Some(RecrawlWord::Always), None); 101],
            "recrawl.rules: 101 entries, but at most 100 are allowed",
            "every list has a limit",
        ),
        (
            |d| {
                d.do_not_crawl = vec![block(Condition::Any(vec![prefix("/x"); 600]))];
                let when = Condition::Any(vec![prefix("/x"); 600]);
                d.recrawl.rules = vec![RecrawlRule { when, ..recrawl_rule("/x", Some(RecrawlWord::Always), None) }];
            },
            "recrawl.rules entry 1: 1200 entries, but at most 1000 are allowed",
            "tests of all conditions count together",
        ),
        (
            |d| d.recrawl.policy = Some(RecrawlWord::Fixed),
            "recrawl.policy: `fixed` needs an interval",
            "nothing to count from",
        ),
        (
            |d| d.recrawl.rules = vec![recrawl_rule("/x", None, Some(Duration::from_secs(59)))],
            "recrawl.rules entry 1, interval: `59s` is not between `1m` and `365d`",
            "the bounds of the key hold in a rule",
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
fn all_problems_are_reported_in_the_order_of_the_keys() {
    let mut draft = draft();
    draft.fetch.timeout = Duration::ZERO;
    draft.budget.pages = Some(0);
    let problems = Definition::new(draft).unwrap_err();
    let places: Vec<_> = problems.iter().map(|problem| problem.place.to_string()).collect();
    assert_eq!(places, ["budget.pages", "fetch.connect_timeout", "fetch.first_byte_timeout", "fetch.timeout"]);
}

#[test]
fn a_rule_may_block_one_of_two_seeds() {
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
    assert_eq!(problems.to_string(), "do_not_crawl entry 2: 1200 entries, but at most 1000 are allowed");
}

#[test]
fn tests_with_a_constant_result_are_refused() {
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
        (Scheme(Prefix(text("http"))), false, "both schemes begin like this"),
        (Scheme(Equals(text("http"))), true, "one of the two"),
        (Scheme(Suffix(text("s"))), true, "the other one"),
        (Port(Equals(text("70000"))), false, "too large"),
        (Port(Equals(text("080"))), false, "ports are written without zeros in front"),
        (Port(Prefix(text("80"))), true, "odd, but possible"),
        (Port(Contains(text("http"))), false, "not a digit"),
        (Url(Prefix(text("example.org/"))), false, "every URL begins with its scheme"),
        (Url(Prefix(text("https://example.org/a"))), true, "a section of a site"),
        (Path(Regex(pattern("^$"))), true, "patterns are only run, not analysed"),
    ];
    for (condition, expected, why) in table {
        assert_eq!(condition.mistake().is_none(), expected, "{condition}: {why}");
    }
}

/// Sets a key to another valid value.
fn edit(key: Key, draft: &mut Draft) {
    match key.slot(draft) {
        Slot::Name(name) => *name = "other".parse().unwrap(),
        Slot::Seeds(seeds) => seeds.truncate(1),
        Slot::Sitemaps(sitemaps) => *sitemaps = Sitemaps::Follow,
        Slot::Feeds(feeds) => *feeds = Feeds::Follow,
        Slot::Requisites(requisites) => *requisites = Requisites::Fetch,
        Slot::ExternalLinks(links) => *links = ExternalLinks::Check,
        Slot::Canonical(canonical) => *canonical = Canonical::Ignore,
        Slot::Soft404(soft_404) => *soft_404 = Soft404::Detect,
        Slot::RenderWhen(when) => *when = RenderWhen::Auto,
        Slot::OtherHosts(hosts) => *hosts = OtherHosts::All,
        Slot::Screenshot(what) => *what = Screenshot::View,
        Slot::Selector(selector) => *selector = Some("main".parse().unwrap()),
        Slot::Purpose(purpose) => *purpose = Some(Purpose::AiTrain),
        Slot::Within(within) => *within = Within::Domain,
        Slot::Patterns(patterns) => patterns.push(pattern(if key == Key::ScopeInclude { "." } else { "/x" })),
        Slot::Blocks(rules) => rules.push(block(prefix("/x"))),
        Slot::QueryRules(rules) => rules.push(allow(&["a"])),
        Slot::Parameters(rules) => *rules = UrlRules::new(["ref"]).unwrap(),
        Slot::MainRules(rules) => rules.push(MainRule { include: vec!["main".to_owned()], ..MainRule::default() }),
        Slot::Count(number) | Slot::Size(number) => number.set(number.get().map_or(5, |number| number + 1)).unwrap(),
        Slot::Time(time) => {
            time.set(time.get().map_or(Duration::from_hours(24), |time| time + Duration::from_millis(1)));
        }
        Slot::UserAgent(agent) => *agent = "ShelfBot".parse().unwrap(),
        Slot::Line(line) => {
            let text = if key == Key::IdentityDirectory { "https://bot.example" } else { "Example" };
            *line = Some(text.parse().unwrap());
        }
        Slot::Hostname(name) => *name = Some("example.org".parse().unwrap()),
        Slot::Content(level) => *level = ContentLevel::Full,
        Slot::ItemTypes(types) => types.push(ItemType {
            name: "Game".to_owned(),
            when: None,
            each: None,
            fields: vec![items_tests::field("hero", items_tests::css("h1"))],
        }),
        Slot::RecrawlWord(word) => *word = Some(RecrawlWord::Always),
        Slot::RecrawlRules(rules) => rules.push(recrawl_rule("/x", Some(RecrawlWord::Always), None)),
        Slot::NotifyRules(rules) => rules.push(NotifyRule {
            receiver: Receiver::Email("ada@example.org".parse().unwrap()),
            events: vec![NotifyEvent::Finished],
            progress: Some(ProgressStep::Percent(10)),
            items: Some("price < 100".parse().unwrap()),
        }),
        Slot::AccessRules(rules) => {
            let authorization = Some(Authorization::Basic("env:LOGIN".parse().unwrap()));
            rules.push(AccessRule { authorization, ..AccessRule::for_hosts(vec!["a.example".parse().unwrap()]) });
        }
        Slot::Reference(reference) => *reference = Some("env:DATABASE_URL".parse().unwrap()),
        Slot::Cron(schedule) => *schedule = Some(Schedule::new("0 9 * * *", "UTC").unwrap()),
        Slot::TimeZone(schedule) => *schedule = Some(Schedule::new("0 8 * * *", "Europe/Berlin").unwrap()),
    }
}

#[test]
fn every_key_is_compared_and_its_change_has_an_effect() {
    let mut old = draft();
    old.schedule = Some(Schedule::new("0 8 * * *", "UTC").unwrap());
    // To leave room for a larger value.
    old.traps.url_bytes_max = 1_024;
    // Where it is found matters only with a key.
    old.identity.key = Some("env:IDENTITY_KEY".parse().unwrap());
    assert_eq!(changes(&old, &old), []);
    for &key in Key::ALL {
        let mut new = old.clone();
        edit(key, &mut new);
        let how_only = [
            "politeness.",
            "fetch.",
            "user_agent",
            "archive.",
            "content",
            "canonical",
            "soft_404",
            "render.",
            "purpose",
            "items",
            "main",
            "recrawl.",
            "schedule.",
            "access",
            "notify",
            "sink.",
            "identity.",
            "user",
        ]
        .iter()
        .any(|start| key.name().starts_with(start));
        assert_eq!(key.effect(), if how_only { Effect::HowOnly } else { Effect::WhichUrls }, "{key}");
        assert_eq!(changes(&old, &new), [key]);
        let checked = |draft: &Draft| Definition::new(draft.clone()).unwrap();
        let is_adopted = how_only || [Key::ScopeExclude, Key::DoNotCrawl].contains(&key);
        assert_eq!(outgrown(&old, &new), if is_adopted { vec![] } else { vec![key] }, "{key}");
        let mixed = checked(&old).adopting(&checked(&new));
        assert_eq!(*mixed, if is_adopted { new } else { old.clone() }, "{key}");
    }
}

#[test]
fn only_further_exclusions_are_adopted_at_once() {
    let excluding = |patterns: &[&str], rules: &[&str]| {
        let mut draft = draft();
        draft.scope.exclude = patterns.iter().map(|text| pattern(text)).collect();
        draft.do_not_crawl = rules.iter().map(|path| block(prefix(path))).collect();
        Definition::new(draft).unwrap()
    };
    let old = excluding(&["/a"], &["/x"]);
    for (new, expected, mixed, why) in [
        (excluding(&["/a", "/b"], &["/x", "/y"]), &[][..], excluding(&["/a", "/b"], &["/x", "/y"]), "more of both"),
        (excluding(&["/b", "/a"], &["/x"]), &[], excluding(&["/a", "/b"], &["/x"]), "in another order"),
        (excluding(&["/b"], &["/x"]), &[Key::ScopeExclude], excluding(&["/a", "/b"], &["/x"]), "one is gone"),
        (excluding(&["/a"], &[]), &[Key::DoNotCrawl], old.clone(), "one of the others is gone"),
    ] {
        assert_eq!(outgrown(&old, &new), expected, "{why}");
        assert_eq!(old.adopting(&new), mixed, "{why}");
    }
}

#[test]
fn a_number_too_large_for_its_field_changes_nothing() {
    let mut draft = draft();
    let Slot::Count(concurrency) = Key::PolitenessConcurrency.slot(&mut draft) else { panic!("a count") };
    assert!(concurrency.set(u64::from(u16::MAX) + 1).is_err());
    assert_eq!(concurrency.get(), Some(1));
    concurrency.set(7).unwrap();
    let Slot::Count(depth) = Key::ScopeMaxDepth.slot(&mut draft) else { panic!("a count") };
    assert_eq!(depth.get(), None);
    depth.set(0).unwrap();
    assert_eq!((draft.politeness.concurrency, draft.scope.max_depth), (7, Some(0)));
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
        (minimal.replace("\"format\":1", "\"format\":2"), "a definition of format 2, but this version reads only 1"),
        (minimal.replace("[\"https://example.org/\"]", "[]"), "seeds: no seeds"),
    ];
    for (json, expected) in refused {
        assert_eq!(serde_json::from_str::<Definition>(&json).unwrap_err().to_string(), expected);
    }
}

#[test]
fn conditions_are_stored_as_written() {
    let condition = Condition::Any(vec![prefix("/x"), Condition::Port(TextTest::Equals("8080".to_owned()))]);
    let json = serde_json::to_string(&condition).unwrap();
    assert_eq!(json, r#"{"any":[{"path":{"prefix":"/x"}},{"port":{"equals":"8080"}}]}"#);
}

#[test]
fn quantities_are_shown_as_written() {
    let table = [
        (Quantity::Bytes(0), "0B"),
        (Quantity::Bytes(1_000), "1000B"),
        (Quantity::Bytes(1_536), "1536B"),
        (Quantity::Bytes(10 << 20), "10MiB"),
        (Quantity::Bytes(1 << 50), "1024TiB"),
        (Quantity::Time(Duration::from_millis(1_500)), "1s 500ms"),
        (Quantity::Time(Duration::from_hours(24)), "24h"),
        (Quantity::Time(Duration::from_hours(36)), "36h"),
        (Quantity::Time(Duration::from_hours(48)), "2d"),
        (Quantity::Time(Duration::from_hours(365 * 24)), "365d"),
        (Quantity::Time(Duration::MAX), "18446744073709551615s"),
        (Quantity::Count(7), "7"),
    ];
    for (quantity, expected) in table {
        assert_eq!(quantity.to_string(), expected);
    }
}
