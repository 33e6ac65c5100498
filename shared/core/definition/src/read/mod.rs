//! Reads YAML into a draft, by the description of the keys.
//!
//! Values other than numbers and words are read as texts with their locations, so that all mistakes
//! are reported at once, each with a hint.

mod access;
mod items;
mod main_part;
mod notify;
mod recrawl;

use std::collections::HashMap;
use std::fmt::{self, Display};

use dragline_domain::content::ContentLevel;
use dragline_domain::definition::{
    Canonical, Condition, DoNotCrawl, Draft, ExternalLinks, Feeds, Key, KeyPlace, Mistake, OtherHosts, Problem,
    Quantity, QueryRule, RenderWhen, Requisites, Schedule, ScheduleError, Screenshot, Sitemaps, Slot, Soft404,
    UrlPattern, UserAgent, Within,
};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::{CrawlUrl, UrlError, UrlRules};
use serde::de::{DeserializeSeed, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

use crate::error::{Diagnostic, Diagnostics, Location};
use crate::known::{self, KeyOrSection};
use crate::units::{duration, size};

/// A text and its location.
pub(super) type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDoNotCrawl {
    when: Condition,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQueryRule {
    when: Option<Condition>,
    allow: Vec<String>,
}

/// The result of reading: a draft, the locations of its values, and diagnostics for values that
/// were left out.
pub(super) struct ReadDraft {
    pub(super) draft: Draft,
    pub(super) locations: Locations,
    pub(super) diagnostics: Diagnostics,
    /// Mistakes that may only follow from a value that was left out; reported if none was.
    pub(super) consequences: Diagnostics,
}

impl<'de> Deserialize<'de> for ReadDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut reader = Reader::default();
        Level { section: None, reader: &mut reader }.deserialize(deserializer)?;
        Ok(reader.finish())
    }
}

/// The locations of values in the file.
#[derive(Default)]
pub(super) struct Locations(HashMap<KeyPlace, Location>);

impl Locations {
    /// Returns the location to show for a problem: that of the entry or its key; for a default,
    /// that of the key with which it is compared; the start of the file if none of them is in the
    /// file.
    pub(super) fn locate(&self, problem: &Problem) -> Location {
        let other = match problem.mistake {
            Mistake::MoreThan { other, .. } | Mistake::LessThan { other, .. } => Some(other),
            _ => None,
        };
        let places = problem.place.enclosing().chain(other.into_iter().flat_map(KeyPlace::enclosing));
        let mut known = places.filter_map(|place| self.0.get(&place).copied());
        known.next().unwrap_or(Location::START)
    }
}

/// Collects a draft, key by key.
struct Reader {
    draft: Draft,
    notes: Notes,
    // Values that combine several keys are assembled at the end.
    name: Option<CrawlId>,
    seeds: Option<Spanned<Vec<Text>>>,
    cron: Option<Text>,
    time_zone: Option<Text>,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            draft: Draft::for_seeds(Vec::new()),
            notes: Notes::default(),
            name: None,
            seeds: None,
            cron: None,
            time_zone: None,
        }
    }
}

impl Reader {
    /// Reads the value of a key. An empty key keeps its default.
    fn value<'de, A: MapAccess<'de>>(&mut self, key: Key, map: &mut A) -> Result<(), A::Error> {
        let notes = &mut self.notes;
        match key.slot(&mut self.draft) {
            Slot::Name(_) => self.name = notes.text(key, map.next_value()?, plainly),
            Slot::Seeds(_) => self.seeds = map.next_value()?,
            Slot::Sitemaps(field) => put(field, notes.word(key, map.next_value::<Option<Spanned<Sitemaps>>>()?)),
            Slot::Feeds(field) => put(field, notes.word(key, map.next_value::<Option<Spanned<Feeds>>>()?)),
            Slot::Requisites(field) => put(field, notes.word(key, map.next_value::<Option<Spanned<Requisites>>>()?)),
            Slot::ExternalLinks(field) => {
                put(field, notes.word(key, map.next_value::<Option<Spanned<ExternalLinks>>>()?));
            }
            Slot::Canonical(field) => put(field, notes.word(key, map.next_value::<Option<Spanned<Canonical>>>()?)),
            Slot::Soft404(field) => put(field, notes.word(key, map.next_value::<Option<Spanned<Soft404>>>()?)),
            Slot::RenderWhen(field) => put(field, notes.word(key, map.next_value::<Option<Spanned<RenderWhen>>>()?)),
            Slot::OtherHosts(field) => put(field, notes.word(key, map.next_value::<Option<Spanned<OtherHosts>>>()?)),
            Slot::Screenshot(field) => put(field, notes.word(key, map.next_value::<Option<Spanned<Screenshot>>>()?)),
            Slot::Selector(field) => put(field, notes.text(key, map.next_value()?, main_part::selector).map(Some)),
            Slot::Within(field) => put(field, notes.word(key, map.next_value::<Option<Spanned<Within>>>()?)),
            Slot::Patterns(field) => put(field, notes.texts(key, map.next_value()?, pattern)),
            Slot::Blocks(field) => {
                let block = |rule: RawDoNotCrawl| DoNotCrawl { when: rule.when, reason: rule.reason };
                put(field, notes.rules(key, map.next_value()?, block));
            }
            Slot::QueryRules(field) => {
                let query_rule = |rule: RawQueryRule| QueryRule { when: rule.when, allow: rule.allow };
                put(field, notes.rules(key, map.next_value()?, query_rule));
            }
            Slot::Parameters(field) => put(field, notes.url_rules(key, map.next_value()?)),
            Slot::Count(field) => {
                if let Some(count) = notes.word(key, map.next_value()?) {
                    field.set(count).unwrap_or_else(|_| notes.too_large(key, Quantity::Count(count)));
                }
            }
            Slot::Size(field) => {
                if let Some(bytes) = notes.text(key, map.next_value()?, size) {
                    field.set(bytes).unwrap_or_else(|_| notes.too_large(key, Quantity::Bytes(bytes)));
                }
            }
            Slot::Time(field) => {
                if let Some(time) = notes.text(key, map.next_value()?, duration) {
                    field.set(time);
                }
            }
            Slot::UserAgent(field) => put(field, notes.text(key, map.next_value()?, user_agent)),
            Slot::Line(field) => put(field, notes.text(key, map.next_value()?, plainly).map(Some)),
            Slot::Hostname(field) => put(field, notes.text(key, map.next_value()?, plainly).map(Some)),
            Slot::Content(field) => put(field, notes.word(key, map.next_value::<Option<Spanned<ContentLevel>>>()?)),
            Slot::ItemTypes(field) => put(field, notes.item_types(key, map.next_value()?)),
            Slot::MainRules(field) => put(field, notes.main_rules(key, map.next_value()?)),
            Slot::Purpose(field) => {
                if let Some(word) = notes.word(key, map.next_value()?) {
                    *field = Some(word);
                }
            }
            Slot::RecrawlWord(field) => {
                if let Some(word) = notes.word(key, map.next_value()?) {
                    *field = Some(word);
                }
            }
            Slot::RecrawlRules(field) => put(field, notes.recrawl_rules(key, map.next_value()?)),
            Slot::AccessRules(field) => put(field, notes.access_rules(key, map.next_value()?)),
            Slot::NotifyRules(field) => put(field, notes.notify_rules(key, map.next_value()?)),
            Slot::Reference(field) => put(field, notes.text(key, map.next_value()?, access::reference).map(Some)),
            Slot::Cron(_) => self.cron = map.next_value()?,
            Slot::TimeZone(_) => self.time_zone = map.next_value()?,
        }
        Ok(())
    }

    fn finish(self) -> ReadDraft {
        let Self { mut draft, mut notes, name, seeds, cron, time_zone } = self;
        let rules = &draft.strip_query_parameters;
        let seeds = notes.texts(Key::Seeds, seeds, |text| seed(text, rules)).unwrap_or_default();
        draft.name = name.unwrap_or_else(|| Draft::for_seeds(seeds.first().cloned().into_iter().collect()).name);
        draft.seeds = seeds;
        draft.schedule = cron.and_then(|cron| notes.schedule(&cron, time_zone.as_ref()));
        notes.check_recrawl(&draft.recrawl);
        ReadDraft {
            draft,
            locations: notes.locations,
            diagnostics: notes.diagnostics,
            consequences: notes.consequences,
        }
    }
}

/// The locations and diagnostics collected so far.
#[derive(Default)]
struct Notes {
    locations: Locations,
    diagnostics: Diagnostics,
    consequences: Diagnostics,
}

impl Notes {
    fn locate<T>(&mut self, place: impl Into<KeyPlace>, raw: &Spanned<T>) -> Location {
        let location = Location::from(raw.referenced);
        self.locations.0.insert(place.into(), location);
        location
    }

    /// Takes a number or a word, which needs no further parsing.
    fn word<T>(&mut self, key: Key, raw: Option<Spanned<T>>) -> Option<T> {
        let raw = raw?;
        self.locate(key, &raw);
        Some(raw.value)
    }

    /// Reads a text; `None` if it is absent or invalid.
    fn text<T>(&mut self, key: Key, raw: Option<Text>, read: impl Fn(&str) -> Result<T, Diagnostic>) -> Option<T> {
        self.text_at(key.into(), &raw?, read)
    }

    /// Reads the texts of a list, leaving out invalid ones.
    fn texts<T>(
        &mut self,
        key: Key,
        raw: Option<Spanned<Vec<Text>>>,
        read: impl Fn(&str) -> Result<T, Diagnostic>,
    ) -> Option<Vec<T>> {
        let raw = raw?;
        self.locate(key, &raw);
        let entries = raw.value.into_iter().enumerate();
        Some(entries.filter_map(|(entry, text)| self.text_at(KeyPlace::entry(key, entry), &text, &read)).collect())
    }

    fn text_at<T>(&mut self, place: KeyPlace, raw: &Text, read: impl Fn(&str) -> Result<T, Diagnostic>) -> Option<T> {
        let location = self.locate(place, raw);
        match read(&raw.value) {
            Ok(value) => Some(value),
            Err(diagnostic) => {
                self.diagnostics.push((location, diagnostic));
                None
            }
        }
    }

    /// Reads the rules of a list.
    fn rules<R, T>(
        &mut self,
        key: Key,
        raw: Option<Spanned<Vec<Spanned<R>>>>,
        rule: impl Fn(R) -> T,
    ) -> Option<Vec<T>> {
        let raw = raw?;
        self.locate(key, &raw);
        let located = |(entry, raw): (usize, Spanned<R>)| {
            self.locate(KeyPlace::entry(key, entry), &raw);
            rule(raw.value)
        };
        Some(raw.value.into_iter().enumerate().map(located).collect())
    }

    fn url_rules(&mut self, key: Key, names: Option<Spanned<Vec<Text>>>) -> Option<UrlRules> {
        let location = Location::from(names.as_ref()?.referenced);
        // First each one alone, so that every mistake has its own location.
        let patterns = self.texts(key, names, |text| match UrlRules::new([text]) {
            Ok(_) => Ok(text.to_owned()),
            Err(error) => Err(Diagnostic::new(error.to_string())),
        })?;
        match UrlRules::new(patterns) {
            Ok(rules) => Some(rules),
            Err(error) => {
                let hint = "the beginning of names, such as `utm_*`, stands for many";
                self.diagnostics.push((location, Diagnostic::new(error.to_string()).hint(hint)));
                None
            }
        }
    }

    /// Reports a number that does not even fit its field, as being out of bounds.
    fn too_large(&mut self, key: Key, value: Quantity) {
        let Some(mistake) = key.kind().mistake(value) else { return };
        let problem = Problem { place: key.into(), mistake };
        self.diagnostics.push((self.locations.locate(&problem), Diagnostic::from_problem(&problem)));
    }

    fn schedule(&mut self, cron: &Text, time_zone: Option<&Text>) -> Option<Schedule> {
        self.locate(Key::ScheduleCron, cron);
        match Schedule::new(&cron.value, time_zone.map_or(Schedule::TIME_ZONE, |zone| zone.value.as_str())) {
            Ok(schedule) => Some(schedule),
            Err(error) => {
                let is_zone = matches!(error, ScheduleError::TimeZone(_));
                let at = time_zone.filter(|_| is_zone).unwrap_or(cron);
                let diagnostic = Diagnostic::new(error.to_string()).hint(schedule_hint(&error));
                self.diagnostics.push((at.referenced.into(), diagnostic));
                None
            }
        }
    }
}

/// The keys of one level: the top level of the file, or a section.
struct Level<'r> {
    section: Option<&'static str>,
    reader: &'r mut Reader,
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        // A section may be empty, as a key may have no value.
        match self.section {
            Some(_) => deserializer.deserialize_option(self),
            None => deserializer.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys with values")
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(known) = map.next_key_seed(Word { section: self.section })? {
            match known {
                KeyOrSection::Key(key) => self.reader.value(key, &mut map)?,
                KeyOrSection::Section(section) => {
                    map.next_value_seed(Level { section: Some(section), reader: &mut *self.reader })?;
                }
            }
        }
        if self.section == Key::ScheduleCron.section() && self.reader.cron.is_none() {
            return Err(A::Error::missing_field(Key::ScheduleCron.word()));
        }
        Ok(())
    }
}

/// A key as written, which must be known at its level.
struct Word {
    section: Option<&'static str>,
}

impl<'de> DeserializeSeed<'de> for Word {
    type Value = KeyOrSection;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<KeyOrSection, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Word {
    type Value = KeyOrSection;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<KeyOrSection, E> {
        known::find(self.section, word).ok_or_else(|| E::unknown_field(word, known::words(self.section)))
    }
}

/// Replaces a default with the written value, if there is one.
fn put<T>(field: &mut T, written: Option<T>) {
    if let Some(written) = written {
        *field = written;
    }
}

fn plainly<T: std::str::FromStr<Err: Display>>(text: &str) -> Result<T, Diagnostic> {
    text.parse().map_err(|error: T::Err| Diagnostic::new(error.to_string()))
}

fn user_agent(text: &str) -> Result<UserAgent, Diagnostic> {
    plainly(text).map_err(|diagnostic| diagnostic.hint(format!("for example `{}`", Key::UserAgent.example())))
}

fn pattern(text: &str) -> Result<UrlPattern, Diagnostic> {
    text.parse().map_err(|error: dragline_domain::definition::PatternError| {
        Diagnostic::new(error.to_string()).hint(error.hint())
    })
}

const fn schedule_hint(error: &ScheduleError) -> &'static str {
    match error {
        ScheduleError::Cron { .. } => {
            "write minute, hour, day of month, month and day of week: `0 8 * * *` is every day at 08:00"
        }
        ScheduleError::TimeZone(_) => "write a name of the IANA database, such as `Europe/Berlin`",
        ScheduleError::TooOften { .. } => "begin less often; while an iteration runs, no other begins anyway",
        ScheduleError::Never => "use a date that exists",
    }
}

pub(super) fn seed(text: &str, rules: &UrlRules) -> Result<CrawlUrl, Diagnostic> {
    CrawlUrl::parse(text, rules).map_err(|error| match error {
        UrlError::NoScheme { suggestion: Some(suggestion) } => {
            Diagnostic::new("a URL starts with `https://` or `http://`").hint(format!("did you mean `{suggestion}`?"))
        }
        UrlError::Scheme => Diagnostic::new(error.to_string()).hint("seeds start with `https://` or `http://`"),
        _ => Diagnostic::new(error.to_string()),
    })
}
