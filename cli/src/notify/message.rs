//! What receivers are sent (docs/reference/notices.md, notice.schema.json).

use dragline_domain::definition::NotifyEvent;
use dragline_domain::ids::CrawlId;
use dragline_formats::warc::Sha1Digest;
use dragline_ports::frontier::NoticeKey;
use dragline_ports::notifier::Notice;
use dragline_report::diff::ItemChange;
use dragline_service::{IterationView, ProgressView};
use jiff::Timestamp;
use serde::Serialize;

/// A message, the same for each receiver and at each try.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Message {
    /// By which a receiver knows that it has it: it is not part of the body.
    #[serde(skip)]
    pub(super) id: String,
    r#type: &'static str,
    /// When it came to be owed.
    timestamp: Timestamp,
    data: MessageData,
}

#[derive(Clone, Debug, Serialize)]
struct MessageData {
    crawl: CrawlId,
    /// It in words, on one line.
    text: String,
    /// All that it says, under its type.
    notice: Details,
}

/// What a message is about.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Details {
    Kept(Notice),
    Derived(Derived),
}

/// What is derived from the state of a crawl.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Derived {
    /// An iteration began.
    IterationStarted(IterationView),
    /// An iteration has come further.
    IterationProgress(ProgressView),
    /// Items came to pass a test.
    ItemsMatched {
        iteration: u32,
        test: String,
        /// How many.
        count: u64,
        /// The first of them.
        items: Vec<MatchedItem>,
    },
    /// The disk is nearly full.
    DiskLow { free_bytes: u64 },
}

/// An item that came to pass a test.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MatchedItem {
    url: String,
    r#type: String,
    item: String,
    field: String,
    old: Option<String>,
    new: Option<String>,
}

impl From<ItemChange> for MatchedItem {
    fn from(change: ItemChange) -> Self {
        let ItemChange { url, r#type, item, field, old, new, .. } = change;
        Self { url, r#type, item, field, old, new }
    }
}

impl MatchedItem {
    /// Returns it in words.
    fn words(&self) -> String {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
        format!(
            "{} {}: {} {} → {} ({})",
            self.r#type,
            self.item,
            self.field,
            value(&self.old),
            value(&self.new),
            self.url
        )
    }
}

impl Message {
    /// Returns the message of a notice that came to be owed at `since`.
    pub(super) fn from_notice(notice: Notice, since: Timestamp) -> Self {
        let crawl = notice.crawl().clone();
        let named = format!("{crawl} {} {}", NoticeKey::from_notice(&notice), since.as_millisecond());
        let (r#type, text) = (notice.kind(), notice.words());
        let data = MessageData { crawl, text, notice: Details::Kept(notice) };
        Self { id: message_id(&named), r#type, timestamp: since, data }
    }

    /// Returns a message about the state of a crawl. `name` distinguishes it from others of the
    /// crawl, and is the same whenever it is made again.
    pub(super) fn derived(crawl: &CrawlId, name: &str, at: Timestamp, derived: Derived) -> Self {
        let id = message_id(&format!("{crawl} {name}"));
        let (r#type, text) = match &derived {
            Derived::IterationStarted(view) => ("iteration_started", format!("iteration {} began", view.iteration)),
            Derived::IterationProgress(view) => {
                let ProgressView { iteration, crawled, found, failed, .. } = view;
                let text =
                    format!("iteration {}: {crawled} of {found} URLs visited, {failed} failed", iteration.iteration);
                ("iteration_progress", text)
            }
            Derived::ItemsMatched { iteration, test, count, .. } => {
                let items = if *count == 1 { "1 item has".to_owned() } else { format!("{count} items have") };
                ("items_matched", format!("iteration {iteration}: {items} {test} now"))
            }
            Derived::DiskLow { free_bytes } => {
                ("disk_low", format!("the disk has {} free", crate::terminal::bytes(*free_bytes)))
            }
        };
        let data = MessageData { crawl: crawl.clone(), text, notice: Details::Derived(derived) };
        Self { id, r#type, timestamp: at, data }
    }

    /// Returns the crawl that it is about.
    pub(super) const fn crawl(&self) -> &CrawlId {
        &self.data.crawl
    }

    /// Returns its text, on one line.
    pub(super) fn text(&self) -> &str {
        &self.data.text
    }

    /// Returns it for people: its text, and a line for each item.
    pub(super) fn letter(&self) -> String {
        let mut letter = format!("{}: {}\n", self.data.crawl, self.data.text);
        if let Details::Derived(Derived::ItemsMatched { count, items, .. }) = &self.data.notice {
            letter.push('\n');
            for item in items {
                letter.push_str(&dragline_domain::shown::one_line(&item.words(), 500));
                letter.push('\n');
            }
            if *count > items.len() as u64 {
                letter.push_str(&format!("and {} more: `dragline diff --what items`\n", count - items.len() as u64));
            }
        }
        letter
    }

    /// Returns its body as JSON.
    pub(super) fn body(&self) -> String {
        // Texts and numbers can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn message_id(named: &str) -> String {
    format!("msg_{}", Sha1Digest::compute(named.as_bytes()))
}

/// Returns the event of a notice.
pub(super) const fn event_of_notice(notice: &Notice) -> NotifyEvent {
    match notice {
        Notice::IterationClosed(_) | Notice::ReportWritten { .. } => NotifyEvent::Finished,
        Notice::StartSkipped { .. } => NotifyEvent::Skipped,
        Notice::Stuck { .. } => NotifyEvent::Stuck,
        Notice::Drifted { .. } => NotifyEvent::Drifted,
        Notice::OriginEnded { .. } | Notice::RobotsUnreadable { .. } => NotifyEvent::GivenUp,
        Notice::OriginJoined { .. }
        | Notice::UrlsRefused { .. }
        | Notice::SitemapUseless { .. }
        | Notice::BodyCut { .. } => NotifyEvent::Warning,
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::change::ChangeKind;
    use dragline_domain::frontier::{IterationRow, LeftoverReason, OriginKey, Reserve};
    use dragline_domain::ids::{Iteration, TriggerId};
    use dragline_ports::fetcher::BodyLimit;
    use dragline_ports::frontier::Progress;
    use dragline_ports::notifier::ClosedIteration;
    use serde_json::Value;

    use super::*;

    const SCHEMA: &str = include_str!("../../../docs/reference/notice.schema.json");

    fn row() -> IterationRow {
        let (crawl, at, trigger) = ("docs".parse().unwrap(), Timestamp::UNIX_EPOCH, TriggerId("t".into()));
        IterationRow::begin(crawl, Iteration::FIRST, trigger, Reserve::default(), at, None, at)
    }

    /// A message of each type.
    fn messages() -> Vec<Message> {
        let origin = || OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() };
        let mut closed = ClosedIteration::from(row());
        closed.row.closed_at = Some(Timestamp::UNIX_EPOCH);
        closed.changes = [(ChangeKind::New, 3)].into();
        let detail = || "words".to_owned();
        let notices = [
            Notice::IterationClosed(closed),
            Notice::StartSkipped { trigger: TriggerId("t".into()), running: row() },
            Notice::OriginEnded { origin: origin(), reason: LeftoverReason::OriginGivenUp, count: 2 },
            Notice::Stuck { origin: origin(), detail: detail() },
            Notice::Drifted { origin: origin(), detail: detail() },
            Notice::SitemapUseless { origin: origin(), detail: detail() },
            Notice::RobotsUnreadable { origin: origin(), detail: detail() },
            Notice::BodyCut { origin: origin(), url: "https://a.example/".into(), limit: BodyLimit::Received },
            Notice::OriginJoined { from: origin(), origin: origin().origin, count: 1 },
            Notice::UrlsRefused { crawl: "docs".parse().unwrap(), urls: 2, detail: detail() },
        ];
        let view = IterationView::from(&row());
        let item = MatchedItem {
            url: "https://a.example/".to_owned(),
            r#type: "Product".to_owned(),
            item: "Chair".to_owned(),
            field: "price".to_owned(),
            old: None,
            new: Some("99".to_owned()),
        };
        let derived = [
            Derived::IterationStarted(view),
            Derived::IterationProgress(ProgressView::new(&row(), &Progress::default())),
            Derived::ItemsMatched { iteration: 1, test: "price < 100".to_owned(), count: 7, items: vec![item] },
            Derived::DiskLow { free_bytes: 1 << 30 },
        ];
        let (crawl, at) = ("docs".parse().unwrap(), Timestamp::UNIX_EPOCH);
        let derived = derived.map(|derived| Message::derived(&crawl, "name", at, derived));
        notices.map(|notice| Message::from_notice(notice, at)).into_iter().chain(derived).collect()
    }

    #[test]
    fn messages_are_as_the_schema_says() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let validator = jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap();
        for message in messages() {
            let body: Value = serde_json::from_str(&message.body()).unwrap();
            let flaws: Vec<String> = validator.iter_errors(&body).map(|error| error.to_string()).collect();
            assert_eq!(flaws, [""; 0], "{body}");
            let kinds: Vec<&String> = body["data"]["notice"].as_object().unwrap().keys().collect();
            assert_eq!(kinds, [body["type"].as_str().unwrap()], "{body}");
            assert!(!validator.is_valid(&serde_json::json!({"type": body["type"]})), "not everything is valid");
        }
    }

    #[test]
    fn an_id_is_that_of_what_happened() {
        let stuck = |detail: &str| {
            let origin = OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() };
            Notice::Stuck { origin, detail: detail.to_owned() }
        };
        let id = |detail, second| Message::from_notice(stuck(detail), Timestamp::from_second(second).unwrap()).id;
        assert_eq!(id("a", 1), id("a", 1), "sent again");
        assert_ne!(id("a", 1), id("b", 1), "another page");
        assert_ne!(id("a", 1), id("a", 2), "another time");
    }

    #[test]
    fn a_letter_lists_the_items() {
        let letters: Vec<String> = messages().iter().map(Message::letter).collect();
        let letter = letters.iter().find(|letter| letter.contains("Chair")).unwrap();
        insta::assert_snapshot!(letter, @r"
        docs: iteration 1: 7 items have price < 100 now

        Product Chair: price none → 99 (https://a.example/)
        and 6 more: `dragline diff --what items`
        ");
    }
}
