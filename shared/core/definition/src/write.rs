//! Writes definitions as YAML that [`parse`](crate::parse) reads as the same definition.

use std::fmt::Write as _;
use std::time::Duration;

use dragline_domain::definition::{
    AccessRule, Authorization, Definition, Draft, FieldKind, FieldRule, ItemType, Key, LogIn, NotifyRule, PlainHttp,
    Presence, ProgressStep, Quantity, Receiver, RecrawlRule, Referer, ScalarKind, Schedule, SecretReference, Selector,
    SelectorPlace, SetCookies, Slot,
};
use serde::Serialize;
use serde_json::Value;

/// The spaces per level of indentation.
const INDENT: usize = 2;

/// Writes a definition: its name, its seeds, and every key that differs from its default.
///
/// ```
/// let definition = dragline_definition::parse("seeds: [https://example.org/]\nbudget: { pages: 7 }", "crawl.yaml").unwrap();
/// let written = dragline_definition::write(&definition);
/// assert_eq!(written, "name: example.org\nseeds:\n  - https://example.org/\nbudget:\n  pages: 7\n");
/// ```
#[must_use]
pub fn write(definition: &Definition) -> String {
    let mut draft = Draft::clone(definition);
    let mut default = Draft::for_seeds(Vec::new());
    let mut top: Vec<(String, Yaml)> = Vec::new();
    for &key in Key::ALL {
        let Some(value) = value(key.slot(&mut draft)) else { continue };
        let is_default = Some(&value) == self::value(key.slot(&mut default)).as_ref();
        if is_default && !matches!(key, Key::Name | Key::Seeds) {
            continue;
        }
        let entry = (key.word().to_owned(), value);
        match (key.section(), top.iter_mut().find(|(name, _)| Some(name.as_str()) == key.section())) {
            (None, _) => top.push(entry),
            (Some(_), Some((_, Yaml::Map(section)))) => section.push(entry),
            (Some(section), _) => top.push((section.to_owned(), Yaml::Map(vec![entry]))),
        }
    }
    let mut text = String::new();
    Yaml::Map(top).write(&mut text, 0);
    text
}

/// A value to write, with the order of its keys.
#[derive(Clone, Debug, PartialEq)]
enum Yaml {
    /// A number or a word that needs no quotes.
    Plain(String),
    /// A text.
    Text(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Yaml {
    /// Converts a stored value, such as a word or a condition.
    fn from_stored(value: &impl Serialize) -> Self {
        // Definitions are stored as JSON, so this cannot fail.
        Self::from(serde_json::to_value(value).unwrap_or_default())
    }

    fn time(time: Duration) -> Self {
        Self::Text(Quantity::Time(time).to_string())
    }

    fn write(&self, out: &mut String, indent: usize) {
        match self {
            Self::Plain(word) => out.push_str(word),
            Self::Text(text) => out.push_str(&scalar(text)),
            Self::List(entries) => {
                for entry in entries {
                    let _ = write!(out, "{:indent$}- ", "");
                    match entry {
                        Self::Map(keys) => Self::write_keys(keys, out, indent + INDENT, LineStart::Dash),
                        entry => entry.write_inline(out, indent),
                    }
                }
            }
            Self::Map(keys) => Self::write_keys(keys, out, indent, LineStart::LineBreak),
        }
    }

    fn write_keys(keys: &[(String, Self)], out: &mut String, indent: usize, mut after: LineStart) {
        for (key, value) in keys {
            if after == LineStart::LineBreak {
                let _ = write!(out, "{:indent$}", "");
            }
            after = LineStart::LineBreak;
            let _ = write!(out, "{}:", scalar(key));
            if matches!(value, Self::Plain(_) | Self::Text(_)) || value.is_empty() {
                out.push(' ');
            }
            value.write_inline(out, indent);
        }
    }

    /// Writes a value after its key or after the dash of its entry.
    fn write_inline(&self, out: &mut String, indent: usize) {
        match self {
            Self::List(entries) if entries.is_empty() => out.push_str("[]\n"),
            Self::Map(keys) if keys.is_empty() => out.push_str("{}\n"),
            Self::List(_) | Self::Map(_) => {
                out.push('\n');
                self.write(out, indent + INDENT);
            }
            Self::Plain(_) | Self::Text(_) => {
                self.write(out, indent);
                out.push('\n');
            }
        }
    }

    const fn is_empty(&self) -> bool {
        match self {
            Self::List(entries) => entries.is_empty(),
            Self::Map(keys) => keys.is_empty(),
            Self::Plain(_) | Self::Text(_) => false,
        }
    }
}

/// The token before a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineStart {
    LineBreak,
    Dash,
}

impl From<Value> for Yaml {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            Value::Array(entries) => Self::List(entries.into_iter().map(Self::from).collect()),
            Value::Object(keys) => Self::Map(keys.into_iter().map(|(key, value)| (key, value.into())).collect()),
            other => Self::Plain(other.to_string()),
        }
    }
}

/// Returns a text as it is, or quoted if YAML or one of its readers might misread it. Always on one
/// line, for those who write parts of a definition themselves.
///
/// ```
/// use dragline_definition::scalar;
/// assert_eq!(scalar("https://example.org/"), "https://example.org/");
/// assert_eq!(scalar("a: #b\n"), r##""a: #b\U0000000a""##);
/// ```
#[must_use]
pub fn scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '*');
    // A colon without a following space is part of the text.
    let (begins, rest) = text.split_once("://").map_or(("", text), |(scheme, rest)| (scheme, rest));
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') || is_amount(text);
    let means_more = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let has_meaning = means_more.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_word && !has_meaning && begins.chars().chain(rest.chars()).all(is_plain) {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            ' '..='~' | '\u{a0}'..'\u{2000}' => quoted.push(char),
            // Invisible characters and line ends are written as code points; other characters are
            // too, as that does no harm.
            char => _ = write!(quoted, "\\U{:08x}", u32::from(char)),
        }
    }
    quoted + "\""
}

/// Whether a text is a number with a unit, such as `20GiB`. Without one it would be a number.
fn is_amount(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < text.len() && ["ms", "s", "m", "h", "d", "B", "KiB", "MiB", "GiB", "TiB"].contains(&unit)
}

/// Returns the value of a field; `None` if it has none.
fn value(slot: Slot<'_>) -> Option<Yaml> {
    let list = |entries: Vec<Yaml>| Some(Yaml::List(entries));
    match slot {
        Slot::Name(name) => Some(Yaml::from_stored(name)),
        Slot::Seeds(seeds) => Some(Yaml::from_stored(seeds)),
        Slot::Within(word) => Some(Yaml::from_stored(word)),
        Slot::Sitemaps(word) => Some(Yaml::from_stored(word)),
        Slot::Feeds(word) => Some(Yaml::from_stored(word)),
        Slot::Requisites(word) => Some(Yaml::from_stored(word)),
        Slot::ExternalLinks(word) => Some(Yaml::from_stored(word)),
        Slot::Canonical(word) => Some(Yaml::from_stored(word)),
        Slot::Soft404(word) => Some(Yaml::from_stored(word)),
        Slot::RenderWhen(word) => Some(Yaml::from_stored(word)),
        Slot::OtherHosts(word) => Some(Yaml::from_stored(word)),
        Slot::Screenshot(word) => Some(Yaml::from_stored(word)),
        Slot::Selector(selector) => selector.as_ref().map(Yaml::from_stored),
        Slot::Purpose(word) => word.as_ref().map(Yaml::from_stored),
        Slot::Content(word) => Some(Yaml::from_stored(word)),
        Slot::UserAgent(text) => Some(Yaml::from_stored(text)),
        Slot::Patterns(patterns) => Some(Yaml::from_stored(patterns)),
        Slot::Parameters(names) => Some(Yaml::from_stored(names)),
        Slot::Blocks(rules) => {
            let rule =
                |when, reason: &str| map([("when", Some(when)), ("reason", Some(Yaml::Text(reason.to_owned())))]);
            list(rules.iter().map(|block| rule(Yaml::from_stored(&block.when), &block.reason)).collect())
        }
        Slot::QueryRules(rules) => {
            let rules = rules.iter().map(|rule| {
                map([
                    ("when", rule.when.as_ref().map(Yaml::from_stored)),
                    ("allow", Some(Yaml::from_stored(&rule.allow))),
                ])
            });
            list(rules.collect())
        }
        Slot::Count(number) => number.get().map(|count| Yaml::Plain(count.to_string())),
        Slot::Size(number) => number.get().map(|bytes| Yaml::Text(Quantity::Bytes(bytes).to_string())),
        Slot::Time(time) => time.get().map(Yaml::time),
        Slot::Line(line) => line.as_ref().map(Yaml::from_stored),
        Slot::Hostname(hostname) => hostname.as_ref().map(Yaml::from_stored),
        Slot::ItemTypes(types) => list(types.iter().map(item_type).collect()),
        Slot::MainRules(rules) => {
            let selectors = |of: &Vec<String>| (!of.is_empty()).then(|| Yaml::from_stored(of));
            let rules = rules.iter().map(|rule| {
                map([
                    ("when", rule.when.as_ref().map(Yaml::from_stored)),
                    ("include", selectors(&rule.include)),
                    ("exclude", selectors(&rule.exclude)),
                    ("ignore", selectors(&rule.ignore)),
                ])
            });
            list(rules.collect())
        }
        Slot::RecrawlWord(word) => word.as_ref().map(Yaml::from_stored),
        Slot::RecrawlRules(rules) => list(rules.iter().map(recrawl_rule).collect()),
        Slot::AccessRules(rules) => list(rules.iter().map(access_rule).collect()),
        Slot::NotifyRules(rules) => list(rules.iter().map(notify_rule).collect()),
        Slot::Reference(reference) => reference.as_ref().map(Yaml::from_stored),
        Slot::Cron(schedule) => schedule.as_ref().map(|schedule| Yaml::Text(schedule.cron().to_owned())),
        Slot::TimeZone(schedule) => {
            let zone = schedule.as_ref().map(Schedule::time_zone);
            zone.filter(|zone| *zone != Schedule::TIME_ZONE).map(|zone| Yaml::Text(zone.to_owned()))
        }
    }
}

fn access_rule(rule: &AccessRule) -> Yaml {
    let (basic, bearer) = match &rule.authorization {
        Some(Authorization::Basic(secret)) => (Some(secret), None),
        Some(Authorization::Bearer(secret)) => (None, Some(secret)),
        None => (None, None),
    };
    let headers = rule.headers.iter().map(|field| (field.name.to_string(), Yaml::from_stored(&field.value)));
    let reference = |secret: Option<&SecretReference>| secret.map(Yaml::from_stored);
    let session = (rule.set_cookies == SetCookies::Kept).then(|| Yaml::Text("session".to_owned()));
    map([
        ("hosts", Some(Yaml::from_stored(&rule.hosts))),
        ("when", rule.when.as_ref().map(Yaml::from_stored)),
        ("allow_plain", (rule.plain == PlainHttp::Allowed).then_some(Yaml::Plain("true".to_owned()))),
        ("headers", (!rule.headers.is_empty()).then(|| Yaml::Map(headers.collect()))),
        ("cookies", reference(rule.cookies.as_ref()).or(session)),
        ("login", rule.log_in.as_deref().map(log_in)),
        ("basic", reference(basic)),
        ("bearer", reference(bearer)),
        ("client_certificate", reference(rule.client_certificate.as_ref())),
        ("accept_language", rule.accept_language.as_ref().map(Yaml::from_stored)),
        ("referer", (rule.referer != Referer::None).then(|| Yaml::Text(rule.referer.name().to_owned()))),
        ("proxy", rule.proxy.as_ref().map(|proxy| Yaml::from_stored(&proxy.url))),
        ("proxy_login", reference(rule.proxy.as_ref().and_then(|proxy| proxy.login.as_ref()))),
    ])
}

fn log_in(log_in: &LogIn) -> Yaml {
    let fields = log_in.fields.iter().map(|field| (field.name.clone(), Yaml::from_stored(&field.value)));
    let text = |text: &Option<String>| text.clone().map(Yaml::Text);
    map([
        ("url", Some(Yaml::Text(log_in.url.to_string()))),
        ("page", log_in.page.as_ref().map(|page| Yaml::Text(page.to_string()))),
        ("fields", Some(Yaml::Map(fields.collect()))),
        ("logged_in", text(&log_in.logged_in)),
        ("logged_out", text(&log_in.logged_out)),
    ])
}

fn notify_rule(rule: &NotifyRule) -> Yaml {
    let text = |text: String| Some(Yaml::Text(text));
    let (webhook, secret, email) = match &rule.receiver {
        Receiver::Webhook { url, secret } => (text(url.to_string()), secret.as_ref().map(Yaml::from_stored), None),
        Receiver::Email(address) => (None, None, text(address.as_str().to_owned())),
    };
    map([
        ("webhook", webhook),
        ("secret", secret),
        ("email", email),
        ("events", (!rule.events.is_empty()).then(|| Yaml::from_stored(&rule.events))),
        (
            "progress",
            rule.progress.map(|step| match step {
                ProgressStep::Percent(percent) => Yaml::Text(format!("{percent}%")),
                ProgressStep::Minutes(minutes) => Yaml::time(Duration::from_secs(60 * u64::from(minutes))),
            }),
        ),
        ("items", rule.items.as_ref().and_then(|test| text(test.to_string()))),
        ("item_type", rule.items.as_ref().and_then(|test| test.item_type.clone()).and_then(text)),
    ])
}

/// Returns a map of the keys that have a value.
fn map<'k>(keys: impl IntoIterator<Item = (&'k str, Option<Yaml>)>) -> Yaml {
    Yaml::Map(keys.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect())
}

fn recrawl_rule(rule: &RecrawlRule) -> Yaml {
    map([
        ("when", Some(Yaml::from_stored(&rule.when))),
        ("policy", rule.policy.as_ref().map(Yaml::from_stored)),
        ("interval", rule.interval.map(Yaml::time)),
        ("min", rule.min.map(Yaml::time)),
        ("max", rule.max.map(Yaml::time)),
    ])
}

fn item_type(item_type: &ItemType) -> Yaml {
    map([
        ("type", Some(Yaml::Text(item_type.name.clone()))),
        ("when", item_type.when.as_ref().map(Yaml::from_stored)),
        ("each", item_type.each.as_ref().map(|each| map(selector(each)))),
        ("fields", Some(fields(&item_type.fields))),
    ])
}

fn fields(fields: &[FieldRule]) -> Yaml {
    Yaml::Map(fields.iter().map(|rule| (rule.name.clone(), field(rule))).collect())
}

fn field(rule: &FieldRule) -> Yaml {
    let word = |kind: ScalarKind| (kind != ScalarKind::default()).then(|| Yaml::from_stored(&kind));
    let (kind, of_entries, inner) = match &rule.kind {
        FieldKind::One(kind) => (word(*kind), None, None),
        FieldKind::List(kind) => (Some(Yaml::Text("list".to_owned())), word(*kind), None),
        FieldKind::Record(inner) => (Some(Yaml::Text("record".to_owned())), None, Some(fields(inner))),
    };
    let (place, any) = match &rule.any[..] {
        [] => (Vec::new(), None),
        [only] => (selector(only), None),
        several => (Vec::new(), Some(Yaml::List(several.iter().map(|place| map(selector(place))).collect()))),
    };
    let rules = [
        ("any", any),
        ("kind", kind),
        ("of", of_entries),
        ("required", (rule.presence == Presence::Required).then(|| Yaml::Plain("true".to_owned()))),
        ("min", rule.min.as_ref().map(Yaml::from_stored)),
        ("max", rule.max.as_ref().map(Yaml::from_stored)),
        ("pattern", rule.pattern.as_ref().map(Yaml::from_stored)),
        ("fields", inner),
    ];
    map(place.into_iter().chain(rules))
}

/// Returns the keys of a selector.
fn selector(selector: &Selector) -> Vec<(&'static str, Option<Yaml>)> {
    let text = |text: &String| Some(Yaml::Text(text.clone()));
    let mut keys = match &selector.at {
        SelectorPlace::Css { selector, attribute } => {
            vec![("css", text(selector)), ("attribute", attribute.as_ref().and_then(text))]
        }
        SelectorPlace::Path(path) => vec![("path", text(path))],
        SelectorPlace::Text => Vec::new(),
        SelectorPlace::JsonLd(path) => vec![("json_ld", text(path))],
        SelectorPlace::Script { selector, json } => vec![("script", text(selector)), ("json", text(json))],
        SelectorPlace::Json(path) => vec![("json", text(path))],
        SelectorPlace::Item { property, item_type } => {
            vec![("item", text(property)), ("item_type", item_type.as_ref().and_then(text))]
        }
    };
    keys.push(("regex", selector.regex.as_ref().map(Yaml::from_stored)));
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    const EXAMPLE: &str = include_str!("../../../../docs/reference/crawl.example.yaml");

    fn read(text: &str) -> Definition {
        parse(text, "crawl.yaml").unwrap_or_else(|errors| panic!("{errors}\n{text}"))
    }

    #[test]
    fn a_written_definition_is_read_back_unchanged() {
        let seeds = "seeds: [https://example.org/]\n";
        let items = r"
items:
  - type: Thing
    when: { any: [{ path: { prefix: '/a:-b' } }, { not: { host: { equals: 'no' } } }] }
    each: { css: article, regex: 'x(\d+)' }
    fields:
      title: { css: h1 }
      'no': { css: 'a[href]', attribute: href, kind: url, required: true, pattern: '^https' }
      price: { any: [{ item: offers.price, item_type: Product }, { json_ld: '$.price' }], kind: money, min: 1, max: 2.5 }
      tags: { path: '//a', kind: list, of: text }
      dates: { path: '//time', kind: list, of: date }
      seen: { regex: 'seen (\w+)', kind: boolean }
      data: { script: 'script#data', json: '$.a' }
      parts: { css: li, kind: record, fields: { name: { css: b }, n: { css: i, kind: number } } }
";
        let cases = [
            (EXAMPLE.to_owned(), "every key"),
            (seeds.to_owned(), "none but the seeds"),
            (format!("{seeds}{items}"), "items with fields in an order of their own"),
            (
                format!(
                    "{seeds}politeness: {{ delay: 1500ms, patience: 90s }}\nbudget: {{ duration: 36h, bytes: 1000001B }}"
                ),
                "odd amounts",
            ),
            (format!("{seeds}strip_query_parameters: []"), "a list that is emptied"),
            (format!("{seeds}schedule: {{ cron: '0 8 * * *' }}"), "a schedule without a time zone"),
            (
                format!(
                    "{seeds}do_not_crawl: [{{ when: {{ query: {{ contains: '%C3=' }} }}, reason: \"- yes: #1 é\u{202e}\\\\ \\\" '\" }}]"
                ),
                "texts that mean something in YAML",
            ),
            (
                format!(
                    "{seeds}main: [{{ include: [main] }}, {{ when: {{ path: {{ equals: / }} }}, exclude: ['.a, .b'] }}]"
                ),
                "rules without conditions",
            ),
            ("seeds: ['http://[::1]:8080/a?b=c&d=%20', 'https://example.org/~a/']".to_owned(), "odd seeds"),
        ];
        for (text, why) in cases {
            let definition = read(&text);
            let written = write(&definition);
            assert_eq!(read(&written), definition, "{why}:\n{written}");
            assert_eq!(write(&read(&written)), written, "{why}");
        }
    }

    #[test]
    fn a_definition_is_written_as_people_write_it() {
        insta::assert_snapshot!(write(&read(EXAMPLE)));
    }

    #[test]
    fn texts_with_another_meaning_in_yaml_are_quoted() {
        for (text, expected, why) in [
            ("docs", "docs", "a word"),
            ("https://example.org/a-b_c", "https://example.org/a-b_c", "a URL"),
            ("https://example.org/?a=b", "\"https://example.org/?a=b\"", "marks that mean nothing here, to be safe"),
            ("20GiB", "20GiB", "an amount"),
            ("12", "\"12\"", "a text of digits"),
            ("1e3", "\"1e3\"", "a number to some"),
            ("No", "\"No\"", "false to some"),
            ("", "\"\"", "nothing"),
            ("a: b", "\"a: b\"", "a key to some"),
            ("*a", "\"*a\"", "an alias"),
            ("a\nb", "\"a\\U0000000ab\"", "two lines"),
        ] {
            assert_eq!(scalar(text), expected, "{why}");
        }
    }
}
