//! From the raw shape to a draft, and where each of its values stands.

use std::collections::HashMap;
use std::fmt::Display;

use dragline_domain::definition::{
    Budget, DoNotCrawl, Draft, Fetch, Key, Mistake, Place, Politeness, Problem, QueryRule, Recrawl, Schedule,
    ScheduleError, Scope, TrapLimits, UrlPattern, UserAgent,
};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::{CrawlUrl, UrlError, UrlRules};
use serde_saphyr::Spanned;

use super::error::{Diagnostic, Diagnostics, Location};
use super::raw::{
    RawBudget, RawDefinition, RawDoNotCrawl, RawFetch, RawPoliteness, RawQueryRule, RawRecrawl, RawSchedule, RawScope,
    RawTraps, Text,
};
use super::units::{duration, memory_size, size};

/// A draft, the places of what was written of it, and what is wrong in its texts, which are left out.
pub(super) struct ReadDraft {
    pub(super) draft: Draft,
    pub(super) locations: Locations,
    pub(super) diagnostics: Diagnostics,
}

/// Where the values stand in the file.
#[derive(Default)]
pub(super) struct Locations(HashMap<Place, Location>);

impl Locations {
    /// Where to point for a problem: the entry, or its key; for a value that is a default, the other key that it is compared with;
    /// the file's start if none of them was written.
    pub(super) fn of(&self, problem: &Problem) -> Location {
        let other = match problem.mistake {
            Mistake::MoreThan { other, .. } => Some(Place::from(other)),
            _ => None,
        };
        [Some(problem.place), Some(problem.place.key.into()), other]
            .into_iter()
            .flatten()
            .find_map(|place| self.0.get(&place).copied())
            .unwrap_or(Location::START)
    }
}

/// Reads every text. Finds all that is wrong in them, not just the first.
pub(super) fn read(raw: RawDefinition) -> ReadDraft {
    let mut reader = Reader::default();
    let rules = raw.strip_query_parameters.map_or_else(UrlRules::default, |names| reader.url_rules(names));
    let seeds = raw.seeds.map(|seeds| reader.texts(Key::Seeds, seeds, |text| seed(text, &rules))).unwrap_or_default();
    let mut draft = Draft::for_seeds(seeds);
    draft.strip_query_parameters = rules;
    put(&mut draft.name, reader.text(Key::Name, raw.name, plainly::<CrawlId>));
    put(&mut draft.user_agent, reader.text(Key::UserAgent, raw.user_agent, user_agent));
    draft.scope = reader.scope(raw.scope.unwrap_or_default());
    draft.budget = reader.budget(raw.budget.unwrap_or_default());
    draft.do_not_crawl = reader.entries(Key::DoNotCrawl, raw.do_not_crawl, |rule: RawDoNotCrawl| DoNotCrawl {
        when: rule.when,
        reason: rule.reason,
    });
    draft.url_query_parameters =
        reader.entries(Key::UrlQueryParameters, raw.url_query_parameters, |rule: RawQueryRule| QueryRule {
            when: rule.when,
            allow: rule.allow,
        });
    draft.traps = reader.traps(raw.traps.unwrap_or_default());
    draft.politeness = reader.politeness(raw.politeness.unwrap_or_default());
    draft.fetch = reader.fetch(raw.fetch.unwrap_or_default());
    draft.recrawl = reader.recrawl(raw.recrawl.unwrap_or_default());
    draft.schedule = raw.schedule.and_then(|raw| reader.schedule(&raw));
    ReadDraft { draft, locations: reader.locations, diagnostics: reader.diagnostics }
}

#[derive(Default)]
struct Reader {
    locations: Locations,
    diagnostics: Diagnostics,
}

impl Reader {
    fn scope(&mut self, raw: RawScope) -> Scope {
        Scope {
            within: self.value(Key::ScopeWithin, raw.within).unwrap_or_default(),
            include: raw.include.map(|list| self.texts(Key::ScopeInclude, list, pattern)).unwrap_or_default(),
            exclude: raw.exclude.map(|list| self.texts(Key::ScopeExclude, list, pattern)).unwrap_or_default(),
            max_depth: self.value(Key::ScopeMaxDepth, raw.max_depth),
        }
    }

    fn budget(&mut self, raw: RawBudget) -> Budget {
        Budget {
            pages: self.value(Key::BudgetPages, raw.pages),
            pages_per_origin: self.value(Key::BudgetPagesPerOrigin, raw.pages_per_origin),
            bytes: self.text(Key::BudgetBytes, raw.bytes, size),
            duration: self.text(Key::BudgetDuration, raw.duration, duration),
        }
    }

    fn traps(&mut self, raw: RawTraps) -> TrapLimits {
        let mut traps = TrapLimits::default();
        put(&mut traps.segment_repeats_max, self.value(Key::TrapsSegmentRepeatsMax, raw.segment_repeats_max));
        put(&mut traps.segments_max, self.value(Key::TrapsSegmentsMax, raw.segments_max));
        put(&mut traps.url_bytes_max, self.value(Key::TrapsUrlBytesMax, raw.url_bytes_max));
        traps
    }

    fn politeness(&mut self, raw: RawPoliteness) -> Politeness {
        let mut politeness = Politeness::default();
        put(&mut politeness.delay, self.text(Key::PolitenessDelay, raw.delay, duration));
        put(&mut politeness.concurrency, self.value(Key::PolitenessConcurrency, raw.concurrency));
        let hosts = self.value(Key::PolitenessHostsPerDomain, raw.hosts_per_domain);
        put(&mut politeness.hosts_per_domain, hosts);
        put(&mut politeness.patience, self.text(Key::PolitenessPatience, raw.patience, duration));
        put(&mut politeness.robots_max_age, self.text(Key::PolitenessRobotsMaxAge, raw.robots_max_age, duration));
        politeness
    }

    fn fetch(&mut self, raw: RawFetch) -> Fetch {
        let mut fetch = Fetch::default();
        put(&mut fetch.connect_timeout, self.text(Key::FetchConnectTimeout, raw.connect_timeout, duration));
        put(&mut fetch.first_byte_timeout, self.text(Key::FetchFirstByteTimeout, raw.first_byte_timeout, duration));
        put(&mut fetch.timeout, self.text(Key::FetchTimeout, raw.timeout, duration));
        put(&mut fetch.header_bytes_max, self.text(Key::FetchHeaderBytesMax, raw.header_bytes_max, memory_size));
        put(&mut fetch.body_bytes_max, self.text(Key::FetchBodyBytesMax, raw.body_bytes_max, memory_size));
        put(&mut fetch.decoded_bytes_max, self.text(Key::FetchDecodedBytesMax, raw.decoded_bytes_max, size));
        fetch
    }

    fn recrawl(&mut self, raw: RawRecrawl) -> Recrawl {
        if raw.interval.is_none() {
            for bound in [&raw.min, &raw.max].into_iter().flatten() {
                let diagnostic = Diagnostic::new("this means nothing without `recrawl.interval`")
                    .hint("add an interval, or remove this: without one, every run fetches everything");
                self.diagnostics.push((bound.referenced.into(), diagnostic));
            }
        }
        let interval = self.text(Key::RecrawlInterval, raw.interval, duration);
        let mut recrawl = Recrawl { interval, ..Recrawl::default() };
        put(&mut recrawl.min, self.text(Key::RecrawlMin, raw.min, duration));
        put(&mut recrawl.max, self.text(Key::RecrawlMax, raw.max, duration));
        recrawl
    }

    fn schedule(&mut self, raw: &RawSchedule) -> Option<Schedule> {
        let zone = raw.time_zone.as_ref();
        let time_zone = zone.map_or("UTC", |zone| zone.value.as_str());
        match Schedule::new(&raw.cron.value, time_zone) {
            Ok(schedule) => Some(schedule),
            Err(error) => {
                let is_zone = matches!(error, ScheduleError::TimeZone(_));
                let at = zone.filter(|_| is_zone).unwrap_or(&raw.cron);
                self.diagnostics
                    .push((at.referenced.into(), Diagnostic::new(error.to_string()).hint(schedule_hint(&error))));
                None
            }
        }
    }

    fn url_rules(&mut self, names: Spanned<Vec<Text>>) -> UrlRules {
        let location = Location::from(names.referenced);
        // Each alone first, so that every mistake has its own place.
        let patterns = self.texts(Key::StripQueryParameters, names, |text| match UrlRules::new([text]) {
            Ok(_) => Ok(text.to_owned()),
            Err(error) => Err(Diagnostic::new(error.to_string())),
        });
        UrlRules::new(patterns).unwrap_or_else(|error| {
            let hint = "the beginning of names, such as `utm_*`, stands for many";
            self.diagnostics.push((location, Diagnostic::new(error.to_string()).hint(hint)));
            UrlRules::default()
        })
    }

    /// A value that needs no reading; only its place is noted.
    fn value<T>(&mut self, key: Key, raw: Option<Spanned<T>>) -> Option<T> {
        let raw = raw?;
        self.locations.0.insert(key.into(), raw.referenced.into());
        Some(raw.value)
    }

    /// A text; absent if it was not written, or if it is wrong.
    fn text<T>(&mut self, key: Key, raw: Option<Text>, read: impl Fn(&str) -> Result<T, Diagnostic>) -> Option<T> {
        self.read_at(key.into(), &raw?, read)
    }

    /// The texts of a list, without those that are wrong.
    fn texts<T>(&mut self, key: Key, raw: Spanned<Vec<Text>>, read: impl Fn(&str) -> Result<T, Diagnostic>) -> Vec<T> {
        self.locations.0.insert(key.into(), raw.referenced.into());
        let entries = raw.value.into_iter().enumerate();
        entries.filter_map(|(entry, text)| self.read_at(Place::entry(key, entry), &text, &read)).collect()
    }

    fn read_at<T>(&mut self, place: Place, raw: &Text, read: impl Fn(&str) -> Result<T, Diagnostic>) -> Option<T> {
        let location = Location::from(raw.referenced);
        self.locations.0.insert(place, location);
        match read(&raw.value) {
            Ok(value) => Some(value),
            Err(diagnostic) => {
                self.diagnostics.push((location, diagnostic));
                None
            }
        }
    }

    /// The entries of a list of rules.
    fn entries<R, T>(&mut self, key: Key, raw: Option<Spanned<Vec<Spanned<R>>>>, rule: impl Fn(R) -> T) -> Vec<T> {
        let Some(raw) = raw else { return Vec::new() };
        self.locations.0.insert(key.into(), raw.referenced.into());
        let entries = raw.value.into_iter().enumerate();
        entries
            .map(|(entry, raw)| {
                self.locations.0.insert(Place::entry(key, entry), raw.referenced.into());
                rule(raw.value)
            })
            .collect()
    }
}

/// Replaces a default by what was written, if anything was.
fn put<T>(field: &mut T, written: Option<T>) {
    if let Some(written) = written {
        *field = written;
    }
}

fn plainly<T: std::str::FromStr<Err: Display>>(text: &str) -> Result<T, Diagnostic> {
    text.parse().map_err(|error: T::Err| Diagnostic::new(error.to_string()))
}

fn user_agent(text: &str) -> Result<UserAgent, Diagnostic> {
    plainly(text).map_err(|diagnostic| diagnostic.hint("for example `ShelfBot/1.0 (+https://example.org/bot)`"))
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
        ScheduleError::TooOften { .. } => "begin less often; an iteration that still runs is not begun again anyway",
        ScheduleError::Never => "name a day that comes",
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
