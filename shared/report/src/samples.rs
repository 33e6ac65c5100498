//! Rows for tests.

use dragline_domain::outcome::Outcome;
use dragline_ports::reader::LogRow;

/// A final visit.
pub(crate) fn visit(url: &str, outcome: Outcome) -> LogRow {
    LogRow {
        crawl: "docs".to_owned(),
        iteration: 1,
        url: url.to_owned(),
        depth: 0,
        via: None,
        crawl_type: "queued".to_owned(),
        outcome: outcome.code(),
        outcome_name: outcome.name().to_owned(),
        r#final: true,
        tries: 1,
        at: String::new(),
        status: None,
        duration_ms: None,
        first_byte_ms: None,
        remote: None,
        detail: None,
        content_type: None,
        body_bytes: None,
        truncated: None,
        redirects_to: None,
        object: None,
        offset: None,
        length: None,
        agent: String::new(),
    }
}
