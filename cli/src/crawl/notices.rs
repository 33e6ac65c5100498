//! Notices of the crawl, as lines above the progress display.

use dragline_domain::frontier::LeftoverReason;
use dragline_pipeline::ports::error::PortResult;
use dragline_pipeline::ports::notifier::{Notice, Notifier};

use crate::terminal::{Talk, plural, safe};

/// Says notices on standard error.
pub(super) struct TalkNotifier(pub(super) Talk);

impl Notifier for TalkNotifier {
    async fn notify(&self, notice: Notice) -> PortResult<()> {
        if let Some(line) = line(&notice) {
            self.0.say(&line);
        }
        Ok(())
    }
}

/// A notice on one line; absent for what the summary says.
fn line(notice: &Notice) -> Option<String> {
    match notice {
        Notice::IterationClosed(_) => None,
        Notice::OriginEnded { origin, reason, count: left } => {
            Some(format!("{}: {}; {} left over", origin.origin, why(*reason), plural(*left, "URL")))
        }
        Notice::Stuck { origin, detail } => Some(format!("{}: not understood: {}", origin.origin, safe(detail))),
        Notice::OriginJoined { from, origin } => {
            Some(format!("{origin} joined the crawl: {} redirects there for good", from.origin))
        }
        Notice::RobotsUnreadable { origin, detail } => Some(format!("{}: {}", origin.origin, safe(detail))),
    }
}

/// Why an origin ended with work left.
pub(crate) const fn why(reason: LeftoverReason) -> &'static str {
    match reason {
        LeftoverReason::Stopped => "stopped",
        LeftoverReason::OriginGivenUp => "given up after too many failures",
        LeftoverReason::RobotsUnreadable => "given up, as its robots.txt could not be read",
        LeftoverReason::BudgetExhausted => "the budget of the crawl is spent",
        LeftoverReason::OriginBudgetExhausted => "its budget of pages is spent",
        LeftoverReason::Stuck => "given up, as nothing came of it again and again",
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::OriginKey;

    use super::*;

    #[test]
    fn notices_are_said_on_one_harmless_line() {
        let origin = OriginKey { crawl: "example".parse().unwrap(), origin: "https://example.org".parse().unwrap() };
        let joined = "https://www.example.org".parse().unwrap();
        for (notice, expected) in [
            (
                Notice::OriginEnded { origin: origin.clone(), reason: LeftoverReason::OriginGivenUp, count: 1_234 },
                "https://example.org: given up after too many failures; 1,234 URLs left over",
            ),
            (
                Notice::Stuck { origin: origin.clone(), detail: "https://example.org/a\u{1b}[2J".to_owned() },
                "https://example.org: not understood: https://example.org/a\\u{1b}[2J",
            ),
            (
                Notice::OriginJoined { from: origin.clone(), origin: joined },
                "https://www.example.org joined the crawl: https://example.org redirects there for good",
            ),
            (
                Notice::RobotsUnreadable { origin, detail: "robots.txt answered 503".to_owned() },
                "https://example.org: robots.txt answered 503",
            ),
        ] {
            assert_eq!(line(&notice).as_deref(), Some(expected));
        }
    }
}
