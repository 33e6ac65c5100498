//! The keys in docs/reference/definition.md: generated from their description, and checked against
//! the program's behaviour.

use std::fmt::Write as _;

use dragline_domain::definition::{
    Effect, Hostname, Key, KeyDefault, Line, Quantity, STACK_MAXIMA, UserAgent, ValueKind, changes, limits,
    product_token,
};
use dragline_domain::ids::CrawlId;
use dragline_domain::recrawl::RecrawlRules;
use dragline_domain::url::UrlRules;

use super::{Definition, parse};

const FILE: &str = include_str!("../../../../docs/reference/definition.md");
/// The marks around generated keys: the first lists the sections and top-level keys that follow.
const BEGIN: &str = "<!-- keys: ";
const END: &str = "<!-- end of keys -->";

/// Returns the file with its keys replaced by their description.
fn page(file: &str) -> String {
    let mut parts = file.split(BEGIN);
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (names, rest) = part.split_once(" -->\n").expect("the names end on their line");
        let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("{names}: no `{END}`"));
        let names: Vec<&str> = names.split(' ').collect();
        write!(page, "{BEGIN}{} -->\n\n", names.join(" ")).unwrap();
        for key in Key::ALL.iter().filter(|key| names.contains(&top(**key))) {
            page += &section(*key);
        }
        page += END;
        page += after;
    }
    page
}

/// Returns the top-level word of a key: the key itself, or its section.
fn top(key: Key) -> &'static str {
    key.section().unwrap_or_else(|| key.word())
}

fn section(key: Key) -> String {
    let mut section = format!("### `{key}`\n\n");
    for line in key.meaning() {
        writeln!(section, "{line}").unwrap();
    }
    writeln!(section, "\n- Value: {}", value(key.kind())).unwrap();
    if let Some((_, max)) = STACK_MAXIMA.iter().find(|(of, _)| *of == key) {
        writeln!(section, "- On a stack: at most {}", format_quantity(*max)).unwrap();
    }
    writeln!(section, "- Default: {}", default(key.default())).unwrap();
    let example = write_key(key, key.example());
    let is_block = example.contains('\n');
    if !is_block {
        writeln!(section, "- Example: `{example}`").unwrap();
    }
    if let Some(flag) = key.flag() {
        writeln!(section, "- Flag of `dragline crawl`: `--{}`", flag.name).unwrap();
    }
    if key.effect() == Effect::HowOnly {
        writeln!(section, "- A change takes effect at once").unwrap();
    }
    if is_block {
        writeln!(section, "\n```yaml\n{example}\n```").unwrap();
    }
    section.push('\n');
    section
}

/// Writes a key and its value as YAML, in its section.
fn write_key(key: Key, value: &str) -> String {
    let space = if value.starts_with('\n') { "" } else { " " };
    format!("{}:{space}{value}", key.word())
}

fn value(kind: ValueKind) -> String {
    match kind {
        ValueKind::Name => format!(
            "text, 1 to {} of `a-z`, `0-9`, `.`, `_`, `-`, beginning with a letter or digit",
            CrawlId::LEN_MAX
        ),
        ValueKind::Seeds(max) => format!("list of 1 to {} URLs of `http` or `https`", grouped(max)),
        ValueKind::Within
        | ValueKind::Sitemaps
        | ValueKind::Feeds
        | ValueKind::Requisites
        | ValueKind::ExternalLinks
        | ValueKind::Content
        | ValueKind::Canonical
        | ValueKind::Soft404
        | ValueKind::RenderWhen
        | ValueKind::OtherHosts
        | ValueKind::Screenshot
        | ValueKind::Purpose
        | ValueKind::RecrawlWord => "one word".to_owned(),
        ValueKind::Selector => format!("[CSS selector](#places-and-kinds), 1 to {} bytes", grouped(limits::SELECTOR_BYTES_MAX)),
        ValueKind::Patterns(max) => format!("list of up to {} patterns", grouped(max)),
        ValueKind::Blocks(max) => format!(
            "list of up to {} rules, each with `when` (a [condition](#conditions)) and `reason` (1 to {} characters on one line)",
            grouped(max),
            limits::REASON_CHARS_MAX
        ),
        ValueKind::QueryRules(max) => format!(
            "list of up to {} rules, each with `allow` (a list of up to {} parameter names, decoded, letter case counts) and, if it is \
             not for all URLs, `when` (a [condition](#conditions))",
            grouped(max),
            limits::PARAMETERS_MAX
        ),
        ValueKind::Parameters(max) => format!("list of up to {} parameter names", grouped(max)),
        ValueKind::Count(_) => format!("whole number, {}", bounds(kind)),
        ValueKind::Size(_) => format!("size, {}", bounds(kind)),
        ValueKind::Time(_) => format!("duration, {}", bounds(kind)),
        ValueKind::UserAgent => format!(
            "text, 1 to {} ASCII characters, beginning with a name of letters, digits, `_` and `-`",
            UserAgent::LEN_MAX
        ),
        ValueKind::Line => format!("text, 1 to {} characters on one line", grouped(Line::CHARS_MAX)),
        ValueKind::Hostname => {
            format!("text, 1 to {} letters, digits, `-`, and single dots between them", Hostname::LEN_MAX)
        }
        ValueKind::ItemTypes(max) => format!(
            "list of up to {} types, each with `type` (1 to {} letters and digits), `fields` (up to {}, with those of records), and, if it is \
             not for all pages, `when` (a [condition](#conditions))",
            grouped(max),
            limits::ITEM_NAME_LEN_MAX,
            limits::FIELDS_MAX
        ),
        ValueKind::MainRules(max) => format!(
            "list of up to {} rules, each with at least one of `include`, `exclude` and `ignore` (lists of up to {} [CSS selectors](#places-and-kinds) in all) \
             and, if it is not for all pages, `when` (a [condition](#conditions))",
            grouped(max),
            limits::MAIN_SELECTORS_MAX
        ),
        ValueKind::RecrawlRules(max) => format!(
            "list of up to {} rules, each with `when` (a [condition](#conditions)) and at least one of `policy`, `interval`, `min` and `max`",
            grouped(max)
        ),
        ValueKind::AccessRules(max) => format!(
            "list of up to {} rules, each with `hosts` (a list) and any of `when` (a [condition](#conditions)), `headers` (fields, each with a \
             reference), `cookies`, `basic` or `bearer`, `client_certificate`, `accept_language`, `referer`, `proxy`, `proxy_login` and `allow_plain`",
            grouped(max)
        ),
        ValueKind::NotifyRules(max) => format!(
            "list of up to {} rules, each with `webhook` (a URL; with it, `secret`) or `email`, and any of `events` (a list), `progress` \
             (percent or duration), `items` (a field, `<`, `<=`, `>`, `>=`, `=` or `!=`, and a value) and, with it, `item_type`",
            grouped(max)
        ),
        ValueKind::Reference => "`env:NAME` or `file:PATH`: a variable or a file that holds it".to_owned(),
        ValueKind::Cron => "text, a cron expression of five fields: minute, hour, day of month, month, day of week (0 to 7 or `SUN` to \
                            `SAT`; 0 and 7 are Sunday)"
            .to_owned(),
        ValueKind::TimeZone => "text, a name of the IANA time zone database".to_owned(),
    }
}

fn bounds(kind: ValueKind) -> String {
    let (min, max) = kind.bounds().expect("numbers, sizes and times have bounds");
    format!("{} to {}", format_quantity(min), format_quantity(max))
}

fn format_quantity(quantity: Quantity) -> String {
    match quantity {
        Quantity::Count(count) => grouped(count),
        other => other.to_string(),
    }
}

/// Formats a number with a comma before every three digits: `10,000`.
fn grouped(number: impl ToString + Copy) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn default(default: KeyDefault) -> String {
    match default {
        KeyDefault::Value(value) => format!("`{value}`"),
        KeyDefault::Nothing(meaning) | KeyDefault::Derived(meaning) => meaning.to_owned(),
        KeyDefault::Required => "none: must be given".to_owned(),
    }
}

/// Returns a definition with the examples of all keys, but with one key changed or left out.
fn examples_but(but: Option<(Key, Option<&str>)>) -> String {
    let mut text = String::new();
    let mut section = None;
    for &key in Key::ALL {
        if key.section() != section {
            section = key.section();
            section.iter().for_each(|name| writeln!(text, "{name}:").unwrap());
        }
        let value = match but {
            Some((other, value)) if other == key => value,
            _ => Some(key.example()),
        };
        let indent = if section.is_some() { "  " } else { "" };
        value.iter().for_each(|value| writeln!(text, "{indent}{}", write_key(key, value)).unwrap());
    }
    text
}

fn read(text: &str) -> Definition {
    parse(text, "crawl.yaml").unwrap_or_else(|errors| panic!("{errors}\n\n{text}"))
}

#[test]
fn the_documentation_matches_the_descriptions_of_keys() {
    let file = FILE.replace("\r\n", "\n");
    let page = page(&file);
    for &key in Key::ALL {
        let count = page.matches(&format!("\n### `{key}`\n")).count();
        assert_eq!(count, 1, "`{key}` stands {count} times: name `{}` in one `{BEGIN}…` of the file", top(key));
    }
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/reference/definition.md"), &page).unwrap();
        return;
    }
    let differs = page.lines().zip(file.lines()).find(|(expected, found)| expected != found);
    assert!(
        file == page,
        "run this test with INSTA_UPDATE=always to write docs/reference/definition.md anew: {differs:?}"
    );
}

#[test]
fn the_examples_of_all_keys_differ_from_the_defaults() {
    let definition = read(&examples_but(None));
    let defaults = read("seeds: [https://example.com/]");
    assert_eq!(changes(&defaults, &definition), Key::ALL, "an example shows nothing, or is not read");
}

#[test]
fn a_key_that_is_left_out_has_its_documented_default() {
    let empty = read("seeds: [https://docs.example.org:8080/]");
    for &key in Key::ALL {
        let without = examples_but(Some((key, None)));
        match key.default() {
            KeyDefault::Value(value) => {
                let with = examples_but(Some((key, Some(value))));
                assert_eq!(read(&without), read(&with), "`{key}`");
            }
            KeyDefault::Nothing(_) => {
                assert_eq!(key.amount(&empty), None, "`{key}`");
                assert_eq!(key.entries(&empty).unwrap_or(0), 0, "`{key}`");
                assert!(key != Key::ScheduleCron || empty.schedule.is_none());
            }
            KeyDefault::Derived(_) => match key {
                Key::Name => assert_eq!(empty.name.as_str(), "docs.example.org-8080"),
                Key::StripQueryParameters => assert_eq!(empty.strip_query_parameters, UrlRules::default()),
                Key::RecrawlPolicy => {
                    for (interval, same) in [("", "always"), ("interval: 1d", "adaptive")] {
                        let read_with = |policy: &str| {
                            let text = format!("seeds: [https://example.org/]\nrecrawl:\n  {policy}\n  {interval}");
                            RecrawlRules::new(&read(&text))
                        };
                        assert_eq!(read_with(""), read_with(&format!("policy: {same}")), "`{interval}`");
                    }
                }
                Key::UserAgent => assert_eq!(product_token(empty.user_agent.as_str()), "Dragline"),
                _ => panic!("`{key}`: how is its default checked?"),
            },
            KeyDefault::Required => assert!(parse(&without, "crawl.yaml").is_err(), "`{key}`"),
        }
    }
}

#[test]
fn the_documented_words_are_accepted() {
    let within = |definition: Definition| definition.scope.within.to_string();
    let policy = |definition: Definition| definition.recrawl.policy.map(|word| word.to_string()).unwrap_or_default();
    type ReadWord = fn(Definition) -> String;
    let content = |definition: Definition| definition.content.to_string();
    let sitemaps = |definition: Definition| definition.sitemaps.to_string();
    let feeds = |definition: Definition| definition.feeds.to_string();
    let requisites = |definition: Definition| definition.requisites.to_string();
    let external = |definition: Definition| definition.links.external.to_string();
    let canonical = |definition: Definition| definition.canonical.to_string();
    let soft_404 = |definition: Definition| definition.soft_404.to_string();
    let render = |definition: Definition| definition.render.when.to_string();
    let hosts = |definition: Definition| definition.render.other_hosts.to_string();
    let screenshot = |definition: Definition| definition.render.screenshot.to_string();
    let purpose = |definition: Definition| definition.purpose.map(|word| word.to_string()).unwrap_or_default();
    let table: [(Key, &str, ReadWord); 13] = [
        (Key::Sitemaps, "", sitemaps),
        (Key::Feeds, "", feeds),
        (Key::Requisites, "", requisites),
        (Key::LinksExternal, "", external),
        (Key::ScopeWithin, "", within),
        (Key::Content, "", content),
        (Key::Canonical, "", canonical),
        (Key::Soft404, "", soft_404),
        (Key::RenderWhen, "", render),
        (Key::RenderOtherHosts, "", hosts),
        (Key::RenderScreenshot, "", screenshot),
        (Key::Purpose, "", purpose),
        (Key::RecrawlPolicy, "\n  rules: RULES\n  interval: 1d", policy),
    ];
    for (key, rest, read_word) in table {
        // An interval without effect is a mistake, so a rule uses it.
        let rest = rest.replace("RULES", "[{ when: { path: { prefix: /a } }, policy: fixed }]");
        let text = |word: &str| format!("seeds: [https://example.org/]\n{}{rest}", single_key_file(key, word));
        let words = key.meaning().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let words: Vec<&str> = words.map(|(word, _)| word).collect();
        let read: Vec<String> = words.iter().map(|word| read_word(read(&text(word)))).collect();
        assert_eq!(words, read, "{key}");
        let told = parse(&text("everything"), "crawl.yaml").unwrap_err().to_string();
        assert!(told.ends_with(&format!("known here: {}", words.join(", "))), "{told}");
    }
}

#[test]
fn documented_bounds_are_enforced() {
    for &key in Key::ALL {
        let Some((min, max)) = key.kind().bounds() else { continue };
        for (quantity, is_within) in [(min, true), (max, true), (above(max), false)] {
            let text = format!("seeds: [https://example.org/docs/]\n{}", single_key_file(key, &quantity.to_string()));
            let refused = parse(&text, "crawl.yaml").err().map(|errors| errors.to_string()).unwrap_or_default();
            let told = format!("{key}: `{quantity}` is not between `{min}` and `{max}`");
            assert_eq!(refused.contains(&told), !is_within, "`{key}: {quantity}`: {refused}");
        }
    }
}

fn above(max: Quantity) -> Quantity {
    match max {
        Quantity::Count(max) => Quantity::Count(max + 1),
        Quantity::Bytes(max) => Quantity::Bytes(max + 1),
        Quantity::Time(max) => Quantity::Time(max + std::time::Duration::from_millis(1)),
    }
}

/// Returns a file with a single key in its section.
fn single_key_file(key: Key, value: &str) -> String {
    let line = write_key(key, value);
    key.section().map_or_else(|| line.clone(), |section| format!("{section}:\n  {line}"))
}
