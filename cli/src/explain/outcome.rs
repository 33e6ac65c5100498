//! Explanations of outcomes: `dragline explain --outcome`, and docs/reference/outcomes.md.

use std::fmt::Write;
use std::io;

use dragline_domain::definition::Fetch;
use dragline_domain::missing_page::MissingRule;
use dragline_domain::outcome::{Outcome, OutcomeClass};
use dragline_domain::politeness::{Pace, TRIES_REFUSED_MIN, tries_max};
use dragline_extract::wall::{RULES, Rule};
use serde::Serialize;

use crate::args::Answer;
use crate::terminal::write_json;

/// An explained outcome. The field names are those of `--json`.
#[derive(Debug, Serialize)]
struct ExplainedOutcome {
    outcome: i16,
    outcome_name: &'static str,
    outcome_class: &'static str,
    meaning: &'static str,
    class_meaning: &'static str,
    /// The maximum number of requests for the URL in one iteration, including the first.
    tries_max: u8,
    tries: String,
    cost: &'static str,
    advice: &'static str,
    /// The rules that recognise it, if it is a wall or a soft 404.
    rules: Vec<ExplainedRule>,
}

/// A rule that recognises an answer that is not a real page.
#[derive(Debug, Serialize)]
struct ExplainedRule {
    name: &'static str,
    about: &'static str,
    source: &'static str,
}

fn rules(outcome: Outcome) -> Vec<ExplainedRule> {
    let of_outcome = RULES.iter().filter(|rule| rule.kind.outcome() == outcome);
    let of_walls = of_outcome.map(|Rule { name, about, source, .. }| ExplainedRule { name, about, source });
    let of_missing = MissingRule::ALL.into_iter().filter(|_| outcome == MissingRule::OUTCOME).map(|rule| {
        let (name, about, source) = (rule.name(), rule.subject(), rule.source());
        ExplainedRule { name, about, source }
    });
    of_walls.chain(of_missing).collect()
}

impl ExplainedOutcome {
    fn new(outcome: Outcome) -> Self {
        // The URL was already fetched when parsing it failed.
        let is_of_a_request = outcome != Outcome::UnknownError;
        let retries = Fetch::default().retries;
        let tries_max = if is_of_a_request { tries_max(outcome, retries, &Pace::default()) } else { 1 };
        Self {
            outcome: outcome.code(),
            outcome_name: outcome.name(),
            outcome_class: outcome.class().name(),
            meaning: outcome.meaning(),
            class_meaning: class_meaning(outcome.class()),
            tries_max,
            tries: tries(outcome, tries_max),
            cost: cost(outcome),
            advice: outcome.advice(),
            rules: rules(outcome),
        }
    }

    fn text(&self) -> String {
        let Self { outcome, outcome_name, outcome_class, meaning, class_meaning, tries, cost, advice, rules, .. } =
            self;
        let mut text = format!(
            "{outcome_name} ({outcome})\n\n{meaning}\n\n\
             class:       {outcome_class}: {class_meaning}\n\
             retried:     {tries}\n\
             cost:        {cost}\n\
             what to do:  {advice}\n"
        );
        if !rules.is_empty() {
            text.push_str("\nrecognised by:\n");
        }
        for ExplainedRule { name, about, source } in rules {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name}: {about} ({source})");
        }
        text
    }
}

const fn class_meaning(class: OutcomeClass) -> &'static str {
    match class {
        OutcomeClass::Content => "content was fetched, or is known to be unchanged",
        OutcomeClass::Redirect => "the server named another URL",
        OutcomeClass::Missing => "the server says that there is no such page, or answers as if it did",
        OutcomeClass::Failed => "something went wrong: the URL counts as failed",
        OutcomeClass::Blocked => "a rule of the site or the definition forbids it",
        OutcomeClass::Dismissed => "fetched, then set aside in favour of another URL",
        OutcomeClass::Checked => "asked for, and there",
    }
}

fn tries(outcome: Outcome, tries_max: u8) -> String {
    if tries_max == 1 {
        return "not in this iteration.".to_owned();
    }
    let when = match (outcome.is_refusal(), tries_max) {
        (true, _) => "after 2 s and then 4 s",
        (false, 2) => "after 2 s",
        (false, _) => "after 2 s and then 8 s",
    };
    let more = if outcome.is_refusal() {
        format!(", {TRIES_REFUSED_MIN} while the host refuses more than single URLs")
    } else {
        String::new()
    };
    format!("yes, {when}, or after the delay if that is longer; {tries_max} tries in all{more}.")
}

const fn cost(outcome: Outcome) -> &'static str {
    match (outcome.is_refusal(), outcome.costs_patience()) {
        _ if matches!(outcome, Outcome::BlockedByChallenge) => {
            "time: if the host challenges more than single URLs, its delay rises to at least 2 s and doubles each time."
        }
        (true, _) => {
            "time: if the host refuses more than single URLs, its delay rises to at least 2 s and doubles each time. After some minutes, it also costs patience."
        }
        (false, true) => {
            "patience, if there was no answer: after five such failures in a row, a page that worked is requested once more; if that fails, too, the origin is given up."
        }
        (false, false) => "nothing beyond the request, if there was one.",
    }
}

/// Prints the meaning of an outcome on standard output.
///
/// # Errors
/// It cannot be written.
pub(super) fn print(mut out: impl io::Write, outcome: Outcome, answer: Answer) -> io::Result<()> {
    let explained = ExplainedOutcome::new(outcome);
    match answer {
        Answer::Text => out.write_all(explained.text().as_bytes()),
        Answer::Json => write_json(out, &explained),
    }
}

/// Returns the text of docs/reference/outcomes.md.
#[cfg_attr(not(test), expect(dead_code, reason = "used by a test, which checks and writes the file"))]
fn page() -> String {
    let mut page = "\
# Outcomes

Each URL of an iteration ends with one outcome. Exports and tables contain its number and its name; `dragline explain --outcome`, with either of them, prints what is described here.
A URL that is retried has a line in the log for each try. The last one is final.

A test of the command (`cli/src/explain/outcome.rs`) writes this file from `shared/core/domain/src/outcome.rs`. Change it there.
"
    .to_owned();
    for explained in Outcome::ALL.iter().map(|&outcome| ExplainedOutcome::new(outcome)) {
        let ExplainedOutcome {
            outcome,
            outcome_name,
            outcome_class,
            meaning,
            class_meaning,
            tries,
            cost,
            advice,
            rules,
            ..
        } = explained;
        // Writing to a string cannot fail.
        let _ = write!(
            page,
            "\n## {outcome} `{outcome_name}`\n\n{meaning}\n\n\
             - Class: `{outcome_class}`: {class_meaning}.\n\
             - Retried: {tries}\n\
             - Cost: {cost}\n\
             - What to do: {advice}\n"
        );
        if !rules.is_empty() {
            page.push_str("- Recognised by one of these rules, whose name is in the detail. What one looks at is documented, or was seen, where it says.\n");
        }
        for ExplainedRule { name, about, source } in rules {
            let _ = writeln!(page, "  - `{name}`: {about} ({source}).");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../../../docs/reference/outcomes.md");

    #[test]
    fn the_documentation_matches_the_command() {
        let page = page();
        if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/outcomes.md");
            std::fs::write(path, &page).unwrap();
            return;
        }
        let differs = page.lines().zip(FILE.lines()).find(|(expected, found)| expected != found);
        assert!(
            FILE == page,
            "run this test with INSTA_UPDATE=always to rewrite docs/reference/outcomes.md: {differs:?}"
        );
    }

    #[test]
    fn an_outcome_is_explained() {
        let text = |outcome| ExplainedOutcome::new(outcome).text();
        insta::assert_snapshot!(text(Outcome::RateLimited), @"
        rate_limited (49)

        The server received too many requests: status 429, 420 or 430, 403 or 413 with a Retry-After, or `ENHANCE_YOUR_CALM` over HTTP/2.

        class:       failed: something went wrong: the URL counts as failed
        retried:     yes, after 2 s and then 4 s, or after the delay if that is longer; 3 tries in all, 6 while the host refuses more than single URLs.
        cost:        time: if the host refuses more than single URLs, its delay rises to at least 2 s and doubles each time. After some minutes, it also costs patience.
        what to do:  Raise `politeness.delay`, or ask the site's owner for more; then crawl again.
        ");
        for (outcome, tries_max, why) in [
            (Outcome::FileNotFound, 1, "the answer is definite"),
            (Outcome::ConnectionFailed, 3, "it may be a fluke"),
            (Outcome::UnknownError, 1, "it was fetched, and the parser broke"),
            (Outcome::RateLimited, 3, "while it is refused alone"),
            (Outcome::ServerInternalError, 2, "a broken page, most likely"),
        ] {
            assert_eq!(ExplainedOutcome::new(outcome).tries_max, tries_max, "{outcome}: {why}");
        }
    }
}
