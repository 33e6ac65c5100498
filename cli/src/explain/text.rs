//! Explanations of URLs as text. Everything from pages is escaped.

use dragline_domain::frontier::IterationStatus;
use dragline_domain::outcome::Outcome;
use dragline_domain::use_preferences::UseStatement;
use dragline_service::explained::{Explanation, LastOutcome, RuleKind, StoredUrl, UrlState};

use crate::terminal::{plural, safe};

/// Returns the answer as text of several lines.
pub(super) fn text(explanation: &Explanation) -> String {
    let mut text = match explanation.blocked_by {
        None => format!("{}: would be crawled\n", explanation.url),
        Some(kind) => format!("{}: would not be crawled, because of its {}\n", explanation.url, kind.name()),
    };
    let mut line = |line: &str| text.extend(["  ", line, "\n"]);
    line(&safe(&explanation.rule));
    if let Some(given) = &explanation.given {
        line(&format!("given as {}", safe(given)));
    }
    explanation.uses.iter().for_each(|statement| line(&said(statement)));
    let depth = explanation.crawl.as_ref().and_then(|crawl| crawl.depth);
    if let (true, Some(max), None) = (explanation.allowed, explanation.max_depth, depth) {
        line(&format!("provided that it is at most {max} links away from a seed (scope.max_depth)"));
    }
    if let Some(crawl) = &explanation.crawl {
        text.push_str(&stored(crawl, explanation.blocked_by));
    }
    text
}

/// Returns a statement about the use of a page with its meaning.
fn said(statement: &UseStatement) -> String {
    format!("use: {}", safe(&statement.with_meaning()))
}

/// Returns lines of text. The part about the next visit depends on whether a rule blocks the
/// URL.
fn stored(crawl: &StoredUrl, blocked_by: Option<RuleKind>) -> String {
    let over = if crawl.status == IterationStatus::Closed.name() { "over" } else { crawl.status };
    let mut text = format!("in the crawl {}, whose iteration {} is {over}:\n", crawl.name, crawl.iteration);
    let mut line = |line: &str| text.extend(["  ", line, "\n"]);
    match (crawl.depth, &crawl.via) {
        (None, _) => line("it is not known: it is no seed, and no page that was read links to it"),
        (Some(_), None) => line("a seed, or listed like one"),
        (Some(depth), Some(via)) => {
            line(&format!("found {} from a seed, on {}", plural(u64::from(depth), "link"), safe(via)));
        }
    }
    if let Some(LastOutcome { iteration, at, outcome_name, status, detail, .. }) = &crawl.last {
        let status = status.map_or_else(String::new, |status| format!(", status {status}"));
        let detail = detail.as_deref().map_or_else(String::new, |detail| format!(": {}", safe(detail)));
        line(&format!("last ended in iteration {iteration}, at {at}: {outcome_name}{status}{detail}"));
        if *outcome_name == Outcome::NeedsScript.name() {
            line("`--render auto` runs its scripts in a browser (docs/guide/rendering.md)");
        }
    }
    crawl.uses.iter().for_each(|statement| line(&said(statement)));
    match crawl.standing {
        UrlState::Unknown | UrlState::Ended => {}
        UrlState::Waits => line(&format!("it waits for its turn in iteration {}", crawl.iteration)),
        UrlState::LeftOver(reason) => {
            line(&format!("left over in iteration {}: {}", crawl.iteration, reason.words()));
        }
        UrlState::NotQueued if crawl.last.is_some() => {
            line(&format!("not visited in iteration {}: it was not due, or its turn did not come", crawl.iteration));
        }
        UrlState::NotQueued => line("never visited: no turn of it has come within the budget"),
    }
    match (crawl.depth, &crawl.due_at) {
        (None, _) => {}
        _ if blocked_by.is_some() => line("not visited again while this rule holds"),
        (Some(_), None) => line("due in every iteration"),
        (Some(_), Some(at)) => line(&format!("due again in an iteration that begins after {at}")),
    }
    if let Some(at) = crawl.next_iteration_at {
        line(&format!("its schedule begins the next iteration at {at}"));
    }
    if let Some(pages) = crawl.budget_pages {
        let spent = if crawl.budget_spent { "; the last one spent it" } else { "" };
        line(&format!("each iteration requests up to {}{spent}", plural(pages, "page")));
    }
    line(if crawl.private_addresses { "private addresses are allowed" } else { "private addresses are not allowed" });
    text
}

#[cfg(test)]
mod tests {
    use dragline_domain::definition::{Definition, Draft};
    use dragline_domain::use_preferences::{Purpose, UseSource, UseStand, UseStands};
    use dragline_service::explained::{Ruling, Verdict};

    use super::*;

    #[test]
    fn the_answer_in_words() {
        let asked = "https://example.org/a?utm_source=mail#top";
        let blocked =
            Verdict::Blocked { by: RuleKind::RobotsTxt, rule: "robots.txt line 2: `Disallow: /\u{1b}`".to_owned() };
        let allowed = Verdict::Crawl { robots: "no rule of robots.txt matches".to_owned() };
        let url = crate::definition_source::parse_url(asked).unwrap();
        let definition = |max_depth| {
            let mut draft = Draft::for_seeds(vec![url.clone()]);
            draft.scope.max_depth = max_depth;
            Definition::new(draft).unwrap()
        };
        let blocked = Ruling { verdict: blocked, uses: Vec::new() };
        let says =
            UseStands::NOTHING.with(Purpose::Search, UseStand::Allowed).with(Purpose::AiTrain, UseStand::Reserved);
        let signal = "line 3: Content-Signal: search=yes, ai-train=no";
        let allowed = Ruling { verdict: allowed, uses: vec![UseStatement::new(UseSource::Robots, signal, says)] };
        insta::assert_snapshot!(text(&Explanation::new(asked, &url, blocked.clone(), &definition(Some(3)))), @r"
        https://example.org/a: would not be crawled, because of its robots.txt
          robots.txt line 2: `Disallow: /\u{1b}`
          given as https://example.org/a?utm_source=mail#top
        ");
        insta::assert_snapshot!(text(&Explanation::new(url.as_str(), &url, allowed, &definition(Some(3)))), @r"
        https://example.org/a: would be crawled
          no rule of robots.txt matches
          use: robots.txt: line 3: Content-Signal: search=yes, ai-train=no (search allowed, ai-train reserved)
          provided that it is at most 3 links away from a seed (scope.max_depth)
        ");
        let json = serde_json::to_string(&Explanation::new(url.as_str(), &url, blocked, &definition(None))).unwrap();
        insta::assert_snapshot!(json, @r#"{"url":"https://example.org/a","allowed":false,"blocked_by":"robots_txt","rule":"robots.txt line 2: `Disallow: /\u001b`","max_depth":null}"#);
    }
}
