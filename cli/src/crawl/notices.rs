//! Notices of the crawl, printed as lines above the progress display.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use dragline_domain::url::Origin;
use dragline_ports::error::PortResult;
use dragline_ports::notifier::{Notice, Notifier};
use serde::Serialize;

use crate::terminal::{Console, Form};

/// The maximum number of origins whose notices are remembered. Notices about others may repeat.
const REMEMBERED_MAX: usize = 1_000;

/// Prints notices on standard error.
pub(crate) struct ConsoleNotifier {
    console: Console,
    /// Origins already reported for an unreadable robots.txt, which is retried many times.
    unreadable: Mutex<HashSet<Origin>>,
}

impl ConsoleNotifier {
    /// Returns a notifier that prints to this console.
    pub(crate) fn new(console: Console) -> Self {
        Self { console, unreadable: Mutex::default() }
    }

    /// Returns whether the notice was printed before.
    fn is_repeated(&self, notice: &Notice) -> bool {
        let Notice::RobotsUnreadable { origin, .. } = notice else { return false };
        let mut reported = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        reported.contains(&origin.origin)
            || (reported.len() < REMEMBERED_MAX && !reported.insert(origin.origin.clone()))
    }
}

impl Notifier for ConsoleNotifier {
    async fn notify(&self, notice: Notice, _since: jiff::Timestamp) -> PortResult<()> {
        // The summary says how an iteration ended.
        if !matches!(notice, Notice::IterationClosed(_)) && !self.is_repeated(&notice) {
            let words = notice.words();
            match self.console.form() {
                // Lost content concerns everybody, so these are printed even when quiet.
                Form::Text
                    if matches!(notice, Notice::Stuck { .. } | Notice::Drifted { .. } | Notice::BodyCut { .. }) =>
                {
                    self.console.warn(&words);
                }
                Form::Text => self.console.say(&words),
                Form::Json => self.console.event("notice", &NoticeEvent::new(&notice, &words)),
            }
        }
        Ok(())
    }
}

/// The event `notice`.
#[derive(Serialize)]
struct NoticeEvent<'a> {
    kind: &'static str,
    text: &'a str,
    origin: Option<&'a Origin>,
    reason: Option<&'static str>,
    urls_left: Option<u64>,
}

impl<'a> NoticeEvent<'a> {
    fn new(notice: &'a Notice, text: &'a str) -> Self {
        let kind = notice.kind();
        let origin = match notice {
            Notice::IterationClosed(_)
            | Notice::ReportWritten { .. }
            | Notice::StartSkipped { .. }
            | Notice::UrlsRefused { .. } => None,
            Notice::OriginEnded { origin, .. }
            | Notice::Stuck { origin, .. }
            | Notice::Drifted { origin, .. }
            | Notice::SitemapUseless { origin, .. }
            | Notice::BodyCut { origin, .. }
            | Notice::RobotsUnreadable { origin, .. } => Some(&origin.origin),
            Notice::OriginJoined { origin, .. } => Some(origin),
        };
        match notice {
            Notice::OriginEnded { reason, count, .. } => {
                Self { kind, text, origin, reason: Some(reason.name()), urls_left: Some(*count) }
            }
            _ => Self { kind, text, origin, reason: None, urls_left: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::OriginKey;

    use super::*;
    use crate::terminal::Verbosity;

    #[test]
    fn a_robots_txt_that_stays_unreadable_is_reported_once() {
        let notifier = ConsoleNotifier::new(Console::to_stderr(Verbosity::Quiet, Form::Text));
        let notice = |origin: &str, detail: &str| Notice::RobotsUnreadable {
            origin: OriginKey { crawl: "example".parse().unwrap(), origin: origin.parse().unwrap() },
            detail: detail.to_owned(),
        };
        for (notice, expected, why) in [
            (notice("https://example.org", "503"), false, "the first time"),
            (notice("https://example.org", "timed out"), true, "for another reason, but as unreadable as before"),
            (notice("https://example.com", "503"), false, "another origin"),
        ] {
            assert_eq!(notifier.is_repeated(&notice), expected, "{why}");
        }
    }
}
