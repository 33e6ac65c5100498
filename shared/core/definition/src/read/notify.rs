//! Reads the rules for notices.

use dragline_domain::definition::{
    ItemTest, Key, KeyPlace, MailAddress, NotifyEvent, NotifyRule, ProgressStep, ProgressStepError, Receiver,
    SecretReference,
};
use dragline_domain::url::{CrawlUrl, UrlRules};
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::access::reference;
use super::{Diagnostic, Notes, Text, duration, plainly, seed};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawNotifyRule {
    webhook: Option<Text>,
    secret: Option<Text>,
    email: Option<Text>,
    #[serde(default)]
    events: Vec<NotifyEvent>,
    progress: Option<Text>,
    items: Option<Text>,
    item_type: Option<String>,
}

impl Notes {
    /// Reads the rules of `notify`. One that is not valid is left out, and reported at its
    /// location.
    pub(super) fn notify_rules(
        &mut self,
        key: Key,
        raw: Option<Spanned<Vec<Spanned<RawNotifyRule>>>>,
    ) -> Option<Vec<NotifyRule>> {
        let raw = raw?;
        self.locate(key, &raw);
        let rules = raw.value.into_iter().enumerate();
        Some(rules.filter_map(|(entry, raw)| self.notify_rule(KeyPlace::entry(key, entry), raw)).collect())
    }

    fn notify_rule(&mut self, place: KeyPlace, raw: Spanned<RawNotifyRule>) -> Option<NotifyRule> {
        let location = self.locate(place, &raw);
        let RawNotifyRule { webhook, secret, email, events, progress, items, item_type } = raw.value;
        let mistake = match (&webhook, &email) {
            (None, None) => Some("the rule has no receiver: add `webhook` or `email`"),
            (Some(_), Some(_)) => Some("the rule has two receivers: write a rule for each"),
            (None, Some(_)) if secret.is_some() => Some("`secret` signs requests to a `webhook`, and there is none"),
            _ if progress.is_none() && events.contains(&NotifyEvent::Progress) => {
                Some("`progress` says how often that is told, such as `progress: 10%`")
            }
            _ if item_type.is_some() && items.is_none() => Some("`item_type` without `items`"),
            _ => None,
        };
        if let Some(mistake) = mistake {
            self.diagnostics.push((location, Diagnostic::new(mistake)));
            return None;
        }
        let url: Option<CrawlUrl> = self.part(place, webhook, |text| seed(text, &UrlRules::default()));
        let secret: Option<SecretReference> = self.part(place, secret, reference);
        let email: Option<MailAddress> = self.part(place, email, plainly);
        let progress = self.part(place, progress, progress_step);
        let items: Option<ItemTest> = self.part(place, items, plainly);
        let receiver = match (url, email) {
            (Some(url), _) => Receiver::Webhook { url, secret },
            (None, Some(email)) => Receiver::Email(email),
            // It was not valid.
            (None, None) => return None,
        };
        Some(NotifyRule { receiver, events, progress, items: items.map(|test| ItemTest { item_type, ..test }) })
    }

    /// Reads a part of a rule, whose mistakes have its own location.
    pub(super) fn part<T>(
        &mut self,
        place: KeyPlace,
        raw: Option<Text>,
        read: impl Fn(&str) -> Result<T, Diagnostic>,
    ) -> Option<T> {
        self.text_at(place, &raw?, read)
    }
}

fn progress_step(text: &str) -> Result<ProgressStep, Diagnostic> {
    let step = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse().map_err(|_| ProgressStepError).and_then(ProgressStep::from_percent),
        None => duration(text).map_err(|_| ProgressStepError).and_then(ProgressStep::from_time),
    };
    step.map_err(|error| Diagnostic::new(error.to_string()))
}
