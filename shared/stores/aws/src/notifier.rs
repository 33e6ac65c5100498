//! The [`Notifier`] over SNS: a line for people as the subject, JSON for programs as the body.

use aws_sdk_sns::types::MessageAttributeValue;
use dragline_domain::frontier::OriginKey;
use dragline_ports::error::PortResult;
use dragline_ports::notifier::{ClosedIteration, Notice, Notifier};
use serde_json::{Value, json};

use crate::AwsClients;
use crate::errors::StoreError;

/// The version of the body's format.
const FORMAT: u32 = 1;

/// The most characters that SNS accepts in a subject.
const SUBJECT_CHARS_MAX: usize = 100;

/// Publishes notices to a topic. The attribute `kind` is for filters of subscriptions.
#[derive(Clone, Debug)]
pub struct SnsNotifier {
    client: aws_sdk_sns::Client,
    topic_arn: String,
}

impl SnsNotifier {
    /// Returns the notifier of the topic with this ARN.
    #[must_use]
    pub fn new(clients: &AwsClients, topic_arn: &str) -> Self {
        Self { client: clients.sns.clone(), topic_arn: topic_arn.to_owned() }
    }

    async fn publish(&self, notice: &Notice) -> Result<(), StoreError> {
        let kind = MessageAttributeValue::builder().data_type("String").string_value(notice.kind()).build();
        let kind = kind.map_err(|e| StoreError::Damaged(e.to_string()))?;
        let request = self.client.publish().topic_arn(&self.topic_arn).subject(subject(notice));
        let request = request.message(body(notice).to_string()).message_attributes("kind", kind);
        request.send().await.map(|_| ()).map_err(|e| StoreError::request("Publish", e))
    }
}

impl Notifier for SnsNotifier {
    async fn notify(&self, notice: Notice, _since: jiff::Timestamp) -> PortResult<()> {
        self.publish(&notice).await.map_err(|e| e.at("notify", notice.kind()))
    }
}

fn subject(notice: &Notice) -> String {
    printable(&format!("Dragline: {}: {}", notice.crawl(), notice.words()))
}

/// Reduces a text to a valid SNS subject: a limited number of visible ASCII characters and spaces.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).take(SUBJECT_CHARS_MAX - 1).collect()
}

fn body(notice: &Notice) -> Value {
    let mut body = match notice {
        Notice::IterationClosed(ClosedIteration {
            row,
            changes,
            leftovers,
            links_beyond_budget,
            origins_joined,
            bodies_cut,
            stuck,
        }) => {
            json!({
                "crawl": row.crawl, "iteration": row.number, "started_at": row.started_at, "closed_at": row.closed_at,
                "changes": changes, "leftovers": leftovers, "links_beyond_budget": links_beyond_budget,
                "origins_joined": origins_joined, "bodies_cut": bodies_cut, "stuck": stuck,
            })
        }
        Notice::ReportWritten { crawl, iteration, place, findings } => json!({
            "crawl": crawl, "iteration": iteration, "report": place.uri, "link": place.link, "findings": findings,
        }),
        Notice::StartSkipped { trigger, running } => json!({
            "crawl": running.crawl, "iteration": running.number, "trigger": trigger,
        }),
        Notice::OriginEnded { origin, reason, count } => with(origin, &json!({ "reason": reason, "count": count })),
        Notice::Stuck { origin, detail }
        | Notice::Drifted { origin, detail }
        | Notice::SitemapUseless { origin, detail }
        | Notice::RobotsUnreadable { origin, detail } => with(origin, &json!({ "detail": detail })),
        Notice::BodyCut { origin, url, limit } => with(origin, &json!({ "url": url, "limit": limit.name() })),
        Notice::UrlsRefused { crawl, urls, detail } => json!({ "crawl": crawl, "urls": urls, "detail": detail }),
        Notice::OriginJoined { from, origin, count } => {
            json!({ "crawl": from.crawl, "from": from.origin, "origin": origin, "count": count })
        }
    };
    body["format"] = FORMAT.into();
    body["kind"] = notice.kind().into();
    body
}

fn with(origin: &OriginKey, more: &Value) -> Value {
    let mut body = json!({ "crawl": origin.crawl, "origin": origin.origin });
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name.as_str()] = value.clone();
    }
    body
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dragline_domain::frontier::LeftoverReason;
    use dragline_domain::ids::Iteration;
    use dragline_ports::publications::ReportPlace;

    use super::*;

    fn origin() -> OriginKey {
        OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() }
    }

    #[test]
    fn a_notice_names_its_event_and_subject() {
        let notice = Notice::OriginEnded { origin: origin(), reason: LeftoverReason::Stopped, count: 7 };
        assert_eq!(subject(&notice), "Dragline: docs: https://a.example: stopped; 7 URLs left over");
        let expected = json!({
            "format": 1, "kind": "origin_ended", "crawl": "docs", "origin": "https://a.example",
            "reason": "stopped", "count": 7,
        });
        assert_eq!(body(&notice), expected);
    }

    #[test]
    fn a_report_notice_has_its_place_and_summary() {
        let (uri, link) = ("s3://archive/reports/docs/3.html".to_owned(), "https://console.example/x".to_owned());
        let notice = Notice::ReportWritten {
            crawl: "docs".parse().unwrap(),
            iteration: Iteration::new(3).unwrap(),
            place: ReportPlace { uri, link },
            findings: BTreeMap::from([("broken".to_owned(), 2)]),
        };
        let told = subject(&notice);
        assert_eq!(told, "Dragline: docs: the report on iteration 3 is written: https://console.example/x");
        let expected = json!({
            "format": 1, "kind": "report_written", "crawl": "docs", "iteration": 3,
            "report": "s3://archive/reports/docs/3.html", "link": "https://console.example/x", "findings": {"broken": 2},
        });
        assert_eq!(body(&notice), expected);
    }

    #[test]
    fn a_subject_is_one_short_line_of_ascii() {
        for (text, expected, why) in [
            ("a\nb\u{1b}[31m", "a?b?[31m".to_owned(), "no control characters"),
            ("ü", "?".to_owned(), "no letters beyond ASCII"),
            (&"x".repeat(200), "x".repeat(99), "less than a hundred"),
        ] {
            assert_eq!(printable(text), expected, "{why}");
        }
    }
}
