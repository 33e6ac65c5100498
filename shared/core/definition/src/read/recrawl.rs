//! Reads the rules for fetching known pages again.

use dragline_domain::definition::{Condition, Key, KeyPlace, Mistake, Problem, Recrawl, RecrawlRule, RecrawlWord};
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::{Diagnostic, Notes, Text, duration};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRecrawlRule {
    when: Condition,
    policy: Option<Spanned<RecrawlWord>>,
    interval: Option<Text>,
    min: Option<Text>,
    max: Option<Text>,
}

impl Notes {
    /// Reads the rules of `recrawl`. Each part has its own location.
    pub(super) fn recrawl_rules(
        &mut self,
        key: Key,
        raw: Option<Spanned<Vec<Spanned<RawRecrawlRule>>>>,
    ) -> Option<Vec<RecrawlRule>> {
        let raw = raw?;
        self.locate(key, &raw);
        let rule = |(entry, raw): (usize, Spanned<RawRecrawlRule>)| {
            self.locate(KeyPlace::entry(key, entry), &raw);
            let RawRecrawlRule { when, policy, interval, min, max } = raw.value;
            let mut time =
                |part: Key, raw: Option<Text>| self.text_at(KeyPlace::part(key, entry, part), &raw?, duration);
            let interval = time(Key::RecrawlInterval, interval);
            let min = time(Key::RecrawlMin, min);
            let max = time(Key::RecrawlMax, max);
            let policy = policy.map(|policy| {
                self.locate(KeyPlace::part(key, entry, Key::RecrawlPolicy), &policy);
                policy.value
            });
            RecrawlRule { when, policy, interval, min, max }
        };
        Some(raw.value.into_iter().enumerate().map(rule).collect())
    }

    /// Reports intervals without effect. Only written ones count: the defaults of the others mean
    /// nothing.
    pub(super) fn check_recrawl(&mut self, recrawl: &Recrawl) {
        let location = |key: Key| self.locations.0.get(&key.into()).copied();
        if location(Key::RecrawlInterval).is_some() && recrawl.interval.is_none() {
            // It could not be read, so its effect on the others is unknown.
            return;
        }
        let written = [Key::RecrawlInterval, Key::RecrawlMin].into_iter();
        let idle = written.filter(|key| !recrawl.uses(*key)).filter_map(|key| Some((key, location(key)?)));
        let policy = recrawl.policy.unwrap_or(RecrawlWord::Always);
        let diagnostics = idle.map(|(key, location)| {
            let diagnostic = if recrawl.interval.is_none() {
                Diagnostic::new("this has no effect without `recrawl.interval`")
                    .hint("add an interval, or remove this: without one, every run fetches everything")
            } else {
                Diagnostic::from_problem(&Problem { place: key.into(), mistake: Mistake::NoEffect(policy) })
            };
            (location, diagnostic)
        });
        let diagnostics: Vec<_> = diagnostics.collect();
        self.diagnostics.extend(diagnostics);
    }
}
