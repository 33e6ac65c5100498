//! What sites say about the use of their pages: in headers, in pages, in robots.txt and the licence
//! that it names, and in `/.well-known/tdmrep.json` (`docs/reference/use.md`).
//!
//! None of these forms is a standard of the IETF or W3C yet. Each is read leniently towards what
//! reserves: a statement that cannot be read as a whole counts as far as it can be.

mod expression;
mod rsl;
mod tdm;

use dragline_domain::use_preferences::{UseSource, UseStands, UseStatement, add_statements};

pub use self::expression::{content_signal, content_usage};
pub use self::rsl::{RSL_FILE_BYTES_MAX, apply_licence, read_rsl_file, rsl_statement};
pub use self::tdm::{TDM_FILE_BYTES_MAX, TDM_PATH, TDM_RESERVATION, read_tdm_file, tdm_reservation, tdm_statement};

use crate::directives::{Described, uses_in_field, uses_in_meta};
use crate::http_fields::Headers;

/// The field of an answer's header, and the line of robots.txt, with the vocabulary of the IETF.
pub const CONTENT_USAGE: &str = "Content-Usage";

/// The line of robots.txt with Cloudflare's content signals, which is also sent as a field.
pub const CONTENT_SIGNAL: &str = "Content-Signal";

/// Returns what an answer's header says of its use to the crawler with this product token.
#[must_use]
pub fn header_statements(headers: &Headers, product_token: &str) -> Vec<UseStatement> {
    let is_picture = headers.content_type().is_some_and(|kind| kind.essence.starts_with("image/"));
    let described = if is_picture { Described::Picture } else { Described::Other };
    let mut statements = Vec::new();
    for (name, value) in headers.iter() {
        let value = crate::http_fields::text(value);
        let says = if name.eq_ignore_ascii_case("x-robots-tag") {
            uses_in_field(&value, product_token, described)
        } else if name.eq_ignore_ascii_case(CONTENT_USAGE) {
            Some(content_usage(&value))
        } else if name.eq_ignore_ascii_case(CONTENT_SIGNAL) {
            Some(content_signal(&value))
        } else if name.eq_ignore_ascii_case(TDM_RESERVATION) {
            tdm_reservation(&value).map(UseStands::of_mining)
        } else {
            None
        };
        let statement = says.map(|says| UseStatement::new(UseSource::Header, &format!("{name}: {value}"), says));
        add_statements(&mut statements, statement);
    }
    statements
}

/// Returns what a page's `<meta>` elements, given as pairs of name and content, say of its use to
/// the crawler with this product token.
pub fn page_statements<'v>(metas: impl Iterator<Item = (&'v str, &'v str)>, product_token: &str) -> Vec<UseStatement> {
    let mut statements = Vec::new();
    for (name, content) in metas {
        let says = if name.eq_ignore_ascii_case(TDM_RESERVATION) {
            tdm_reservation(content).map(UseStands::of_mining)
        } else {
            uses_in_meta(name, content, product_token)
        };
        let text = format!("<meta name={name} content=\"{content}\">");
        add_statements(&mut statements, says.map(|says| UseStatement::new(UseSource::Page, &text, says)));
    }
    statements
}

#[cfg(test)]
mod tests {
    use dragline_domain::use_preferences::{Purpose, UseStand, combined};
    use proptest::prelude::*;

    use super::*;

    const MINING: UseStands = UseStands::of_mining(UseStand::Reserved);

    #[test]
    fn headers_say_how_their_answer_may_be_used() {
        let html = ("content-type", "text/html");
        let training = UseStands::NOTHING.with(Purpose::AiTrain, UseStand::Reserved);
        for (fields, texts, says, why) in [
            (vec![html], vec![], UseStands::NOTHING, "nothing"),
            (vec![("X-Robots-Tag", "noindex")], vec![], UseStands::NOTHING, "nothing about use"),
            (vec![html, ("X-Robots-Tag", "noai")], vec!["X-Robots-Tag: noai"], MINING, "no model"),
            (vec![("x-robots-tag", "otherbot: noai")], vec![], UseStands::NOTHING, "another crawler"),
            (
                vec![html, ("x-robots-tag", "noimageai")],
                vec!["x-robots-tag: noimageai"],
                UseStands::NOTHING,
                "of its pictures: recorded",
            ),
            (
                vec![("content-type", "image/png"), ("x-robots-tag", "noimageai")],
                vec!["x-robots-tag: noimageai"],
                MINING,
                "a picture",
            ),
            (vec![("tdm-reservation", "1")], vec!["tdm-reservation: 1"], MINING, "mining is reserved"),
            (
                vec![("TDM-Reservation", "0")],
                vec!["TDM-Reservation: 0"],
                UseStands::of_mining(UseStand::Allowed),
                "mining is not",
            ),
            (vec![("tdm-reservation", "maybe")], vec![], UseStands::NOTHING, "neither"),
            (vec![("Content-Usage", "train-ai=n")], vec!["Content-Usage: train-ai=n"], training, "no training"),
            (vec![("content-signal", "ai-train=no")], vec!["content-signal: ai-train=no"], training, "no training"),
            (
                vec![("Content-Usage", "train-ai=y"), ("Content-Usage", "train-ai=n")],
                vec!["Content-Usage: train-ai=y", "Content-Usage: train-ai=n"],
                training,
                "the most restrictive of two",
            ),
        ] {
            let said = header_statements(&fields.into_iter().collect(), "Dragline");
            assert_eq!(said.iter().map(|said| said.text.as_str()).collect::<Vec<_>>(), texts, "{why}");
            assert_eq!(combined(&said), says, "{why}");
        }
    }

    #[test]
    fn pages_say_how_they_may_be_used() {
        for (metas, texts, says, why) in [
            (vec![("robots", "noindex")], vec![], UseStands::NOTHING, "nothing about use"),
            (vec![("robots", "noai")], vec!["<meta name=robots content=\"noai\">"], MINING, "no model"),
            (vec![("dragline", "noai")], vec!["<meta name=dragline content=\"noai\">"], MINING, "for us"),
            (vec![("otherbot", "noai")], vec![], UseStands::NOTHING, "for another"),
            (
                vec![("tdm-reservation", "1")],
                vec!["<meta name=tdm-reservation content=\"1\">"],
                MINING,
                "mining is reserved",
            ),
        ] {
            let said = page_statements(metas.into_iter(), "Dragline");
            assert_eq!(said.iter().map(|said| said.text.as_str()).collect::<Vec<_>>(), texts, "{why}");
            assert_eq!(combined(&said), says, "{why}");
        }
    }

    proptest! {
        #[test]
        fn any_field_is_read(name in "(x-robots-tag|content-usage|content-signal|tdm-reservation)", value in "\\PC{0,80}") {
            let headers = Headers::from_iter([(name.as_str(), value.as_bytes())]);
            let said = header_statements(&headers, "Dragline");
            prop_assert!(said.len() <= 1 && said.iter().all(|said| said.text.chars().count() <= 201));
        }

        #[test]
        fn more_text_takes_no_reservation_back(before in "[a-z=;, \"(]{0,20}", after in "[a-z=;,\\\\ \")]{0,20}") {
            let clean = |text: &str| text.replace(['"', '(', '\\'], "");
            let value = format!("{},train-ai=n,{after}", clean(&before));
            prop_assert_eq!(content_usage(&value).ai_train, Some(UseStand::Reserved), "{}", value);
        }
    }
}
