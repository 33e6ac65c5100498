//! The outcome of one URL, as a line of text or as a JSON object.

use std::borrow::Cow;
use std::time::Duration;

use dragline_domain::capture::{Finality, Visit};
use dragline_domain::outcome::{Outcome, OutcomeClass};
use dragline_domain::url::CrawlUrl;
use dragline_ports::fetcher::{FetchOutcome, FetchedResponse};
use jiff::Timestamp;
use serde::Serialize;

use crate::terminal::{Colour, Shade, bytes, duration, safe};

/// The maximum length of a media type that is shown, in characters.
const TYPE_CHARS_MAX: usize = 60;

/// An outcome, with the field names of the exports.
#[derive(Debug, Serialize)]
struct OutcomeFields<'a> {
    outcome: i16,
    outcome_name: &'static str,
    outcome_class: &'static str,
    detail: Option<&'a str>,
    #[serde(skip)]
    class: OutcomeClass,
}

impl<'a> OutcomeFields<'a> {
    const fn new(outcome: Outcome, detail: Option<&'a str>) -> Self {
        let class = outcome.class();
        Self { outcome: outcome.code(), outcome_name: outcome.name(), outcome_class: class.name(), detail, class }
    }

    /// Returns the outcome, its reason, and the URL.
    fn words(&self, more: &str, url: &CrawlUrl, colour: Colour) -> String {
        let name = match self.class {
            OutcomeClass::Failed => Cow::Owned(colour.paint(Shade::Error, self.outcome_name)),
            _ => Cow::Borrowed(self.outcome_name),
        };
        let detail = self.detail.unwrap_or_default();
        let why = match (detail, more) {
            ("", "") => String::new(),
            ("", more) => format!(" ({more})"),
            (detail, "") => format!(" ({})", safe(detail)),
            (detail, more) => format!(" ({}; {more})", safe(detail)),
        };
        format!("{name}{why}  {}", safe(url.as_str()))
    }
}

/// A finished visit. The fields are those of the event `request`.
#[derive(Debug, Serialize)]
pub(super) struct VisitEvent<'a> {
    url: &'a CrawlUrl,
    started_at: Timestamp,
    status: Option<u16>,
    content_type: Option<String>,
    body_bytes: Option<u64>,
    duration_ms: Option<u64>,
    #[serde(flatten)]
    ended: OutcomeFields<'a>,
    tries: u8,
    is_final: bool,
}

impl<'a> VisitEvent<'a> {
    /// Returns the event of a visit.
    pub(super) fn new(url: &'a CrawlUrl, at: Timestamp, visit: &'a Visit, fetched: Option<&FetchOutcome>) -> Self {
        let answer = fetched.and_then(|fetched| fetched.result.as_ref().ok());
        Self {
            url,
            started_at: at,
            status: answer.map(|answer| answer.status),
            content_type: answer.and_then(media_type),
            body_bytes: answer.map(|answer| answer.body.len_bytes()),
            duration_ms: fetched.map(|fetched| u64::try_from(fetched.elapsed.as_millis()).unwrap_or(u64::MAX)),
            ended: OutcomeFields::new(visit.outcome, visit.detail.as_deref()),
            tries: visit.tries,
            is_final: visit.finality == Finality::Final,
        }
    }

    /// Returns the line of a visit: status, type, size, duration, outcome with its reason, URL.
    pub(super) fn line(&self, colour: Colour) -> String {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let status = or_none(self.status.map(|status| status.to_string()));
        let content_type = or_none(self.content_type.as_deref().map(|name| safe(name).into_owned()));
        let size = or_none(self.body_bytes.map(bytes));
        let time = or_none(self.duration_ms.map(|time| duration(Duration::from_millis(time))));
        let more = if self.is_final { "" } else { "will be retried" };
        format!("{status:>3}  {content_type:<16} {size:>10}  {time:>8}  {}", self.ended.words(more, self.url, colour))
    }
}

/// The outcome of a URL after its body was parsed. The fields are those of the event `read`.
#[derive(Debug, Serialize)]
pub(super) struct ReadEvent<'a> {
    url: &'a CrawlUrl,
    #[serde(flatten)]
    ended: OutcomeFields<'a>,
}

impl<'a> ReadEvent<'a> {
    /// Returns the event of a parsed URL.
    pub(super) const fn new(url: &'a CrawlUrl, outcome: Outcome, detail: Option<&'a str>) -> Self {
        Self { url, ended: OutcomeFields::new(outcome, detail) }
    }

    /// Returns the outcome with its reason and the URL, in the columns of a visit.
    pub(super) fn line(&self, colour: Colour) -> String {
        let nothing = "-";
        format!(
            "{nothing:>3}  {:<16} {nothing:>10}  {nothing:>8}  {}",
            "(parsed)",
            self.ended.words("", self.url, colour)
        )
    }
}

/// Returns the media type of a response, without parameters.
fn media_type(answer: &FetchedResponse) -> Option<String> {
    let essence = answer.headers.content_type()?.essence;
    Some(essence.chars().take(TYPE_CHARS_MAX).collect())
}

#[cfg(test)]
pub(super) mod tests {
    use dragline_domain::capture::CrawlType;
    use dragline_domain::frontier::{Sighting, UrlHistory};
    use dragline_formats::http_fields::Headers;
    use dragline_ports::fetcher::FetchFailureKind;

    use super::*;

    pub(in crate::crawl) fn url(path: &str) -> CrawlUrl {
        CrawlUrl::try_from(format!("https://example.org{path}")).unwrap()
    }

    pub(in crate::crawl) fn visit() -> Visit {
        Visit {
            sighting: Sighting::SEED,
            redirects: 0,
            crawl_type: CrawlType::Queued,
            tries: 1,
            outcome: Outcome::FileIngested,
            finality: Finality::Final,
            detail: None,
            exchange: None,
            known: UrlHistory::default(),
            demand: None,
            missing: None,
            uses: Vec::new(),
        }
    }

    pub(in crate::crawl) fn answered(status: u16, body: &'static [u8]) -> FetchOutcome {
        let mut fetched = unanswered();
        fetched.result = Ok(FetchedResponse {
            status,
            protocol: None,
            reason: String::new(),
            headers: Headers::from_iter([("content-type", "Text/HTML; charset=utf-8")]),
            body: body.into(),
            truncated: None,
            decoded_sha1: [0; 20],
            decoded_bytes: body.len() as u64,
        });
        fetched
    }

    pub(in crate::crawl) fn unanswered() -> FetchOutcome {
        FetchOutcome::failed(FetchFailureKind::Connect, "refused", Duration::from_millis(45))
    }

    #[test]
    fn a_visit_is_one_harmless_line() {
        let (page, failure) = (answered(200, b"0123456789"), unanswered());
        let broken = answered(500, b"");
        let mut odd = answered(200, b"");
        if let Ok(answer) = &mut odd.result {
            answer.headers = Headers::from_iter([("content-type", "text/\x1b[2J")]);
        }
        for (fetched, outcome, finality, detail, expected) in [
            (
                Some(&page),
                Outcome::FileIngested,
                Finality::Final,
                None,
                "200  text/html              10 B      45ms  file_ingested  https://example.org/a",
            ),
            (
                Some(&broken),
                Outcome::ServerInternalError,
                Finality::Final,
                Some("status 500 \u{1b}[31mno"),
                "500  text/html               0 B      45ms  server_internal_error (status 500 \\u{1b}[31mno)  https://example.org/a",
            ),
            (
                Some(&failure),
                Outcome::ConnectionFailed,
                Finality::Retried,
                Some("refused"),
                "  -  -                         -      45ms  connection_failed (refused; will be retried)  https://example.org/a",
            ),
            (
                None,
                Outcome::BlockedByRobotsTxt,
                Finality::Final,
                Some("Disallow: /a"),
                "  -  -                         -         -  blocked_by_robots_txt (Disallow: /a)  https://example.org/a",
            ),
        ] {
            let mut visit = visit();
            (visit.outcome, visit.finality, visit.detail) = (outcome, finality, detail.map(str::to_owned));
            let url = url("/a");
            let line = VisitEvent::new(&url, Timestamp::UNIX_EPOCH, &visit, fetched).line(Colour::Off);
            assert_eq!(line, expected);
        }
        let url = url("/a");
        assert!(
            !VisitEvent::new(&url, Timestamp::UNIX_EPOCH, &visit(), Some(&odd)).line(Colour::Off).contains('\u{1b}')
        );
        let read = ReadEvent::new(&url, Outcome::NotCanonical, Some("of https://example.org/b"));
        assert_eq!(
            read.line(Colour::Off),
            "  -  (parsed)                  -         -  not_canonical (of https://example.org/b)  https://example.org/a"
        );
    }

    #[test]
    fn only_failures_are_coloured() {
        let url = url("/");
        for (outcome, expected) in [(Outcome::FileNotFound, false), (Outcome::ServerInternalError, true)] {
            assert_eq!(ReadEvent::new(&url, outcome, None).line(Colour::On).contains('\u{1b}'), expected, "{outcome}");
        }
    }

    #[test]
    fn every_field_of_a_visits_object_has_one_type() {
        let (url, visit, failure, page) = (url("/"), visit(), unanswered(), answered(200, b"four"));
        let event =
            |fetched| serde_json::to_value(VisitEvent::new(&url, Timestamp::UNIX_EPOCH, &visit, fetched)).unwrap();
        assert_eq!(
            event(Some(&page)),
            serde_json::json!({
                "url": "https://example.org/", "started_at": "1970-01-01T00:00:00Z", "status": 200,
                "content_type": "text/html", "body_bytes": 4, "duration_ms": 45, "outcome": 20,
                "outcome_name": "file_ingested", "outcome_class": "content", "detail": null, "tries": 1, "is_final": true,
            })
        );
        let absent = |event: serde_json::Value, keys: &[&str]| keys.iter().all(|key| event[key].is_null());
        assert!(absent(event(Some(&failure)), &["status", "content_type", "body_bytes"]), "no answer");
        assert!(absent(event(None), &["status", "content_type", "body_bytes", "duration_ms"]), "no request");
    }
}
