//! Notices on the console.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use dragline_domain::url::Origin;
use dragline_ports::notifier::Notice;
use serde::Serialize;

use crate::terminal::{Console, Form};

/// The maximum number of notices that are remembered as printed. Others may be printed again.
const REMEMBERED_MAX: usize = 10_000;

/// Whose notices are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// Somebody who watches one crawl, above the display of its progress.
    Watcher,
    /// The log of a server with many crawls.
    Server,
}

/// Prints notices on standard error.
pub(super) struct NoticePrinter {
    console: Console,
    audience: Audience,
    /// What was printed: a notice that cannot be sent, and a robots.txt that cannot be read, come
    /// again and again.
    printed: Mutex<HashSet<String>>,
}

impl NoticePrinter {
    pub(super) fn new(console: Console, audience: Audience) -> Self {
        Self { console, audience, printed: Mutex::default() }
    }

    /// Returns whether the notice with this id was printed before, or one that says the same.
    fn is_repeated(&self, id: &str, notice: &Notice) -> bool {
        let id = match notice {
            Notice::RobotsUnreadable { origin, .. } => origin.origin.to_string(),
            _ => id.to_owned(),
        };
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        printed.contains(&id) || (printed.len() < REMEMBERED_MAX && !printed.insert(id))
    }

    /// Prints a notice with this id, unless it was printed before.
    pub(super) fn print(&self, id: &str, notice: &Notice) {
        if self.is_repeated(id, notice) {
            return;
        }
        let words = notice.words();
        match (self.audience, self.console.form()) {
            (Audience::Server, _) => self.console.say(&format!("{}: {words}", notice.crawl())),
            // The summary says how an iteration ended.
            (Audience::Watcher, _) if matches!(notice, Notice::IterationClosed(_)) => {}
            // Lost content concerns everybody, so these are printed even when quiet.
            (Audience::Watcher, Form::Text)
                if matches!(notice, Notice::Stuck { .. } | Notice::Drifted { .. } | Notice::BodyCut { .. }) =>
            {
                self.console.warn(&words);
            }
            (Audience::Watcher, Form::Text) => self.console.say(&words),
            (Audience::Watcher, Form::Json) => self.console.event("notice", &NoticeEvent::new(notice, &words)),
        }
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
    fn a_notice_is_printed_once() {
        let printer = NoticePrinter::new(Console::to_stderr(Verbosity::Quiet, Form::Text), Audience::Watcher);
        let origin = |origin: &str| OriginKey { crawl: "example".parse().unwrap(), origin: origin.parse().unwrap() };
        let robots = |origin_name: &str, detail: &str| Notice::RobotsUnreadable {
            origin: origin(origin_name),
            detail: detail.to_owned(),
        };
        let stuck = || Notice::Stuck { origin: origin("https://example.org"), detail: "/a".to_owned() };
        for (id, notice, expected, why) in [
            ("1", robots("https://example.org", "503"), false, "the first time"),
            ("2", robots("https://example.org", "timed out"), true, "for another reason, but as unreadable as before"),
            ("3", robots("https://example.com", "503"), false, "another origin"),
            ("4", stuck(), false, "another notice"),
            ("4", stuck(), true, "it could not be sent, and comes again"),
            ("5", stuck(), false, "another one of its kind"),
        ] {
            assert_eq!(printer.is_repeated(id, &notice), expected, "{why}");
        }
    }
}
