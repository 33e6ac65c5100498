//! From the state before an iteration to the one after it, by the visits in the log and what the
//! servers say.

use dragline_domain::outcome::Outcome;
use dragline_domain::url::{CrawlUrl, Origin};

use super::{Entry, Evidence, Known, Links, Parts, State, Truth, Visit};
use crate::rules::{Rules, Ruling};
use crate::web::{Content, ContentKind, Leads, Says};

/// What an iteration must lead to.
pub(super) struct Step {
    pub(super) after: State,
    pub(super) changes: Vec<Change>,
    /// Visits that cannot have ended as the log says.
    pub(super) wrong: Vec<String>,
}

/// What is to be reported of a URL.
pub(super) struct Change {
    pub(super) url: CrawlUrl,
    pub(super) kind: &'static str,
    pub(super) parts: Parts,
}

pub(super) fn step(evidence: &Evidence<'_>, truth: &Truth<'_>, before: &State, visits: &[Visit]) -> Step {
    let mut step = Step { after: before.clone(), changes: Vec::new(), wrong: Vec::new() };
    for visit in visits {
        match visit.entry {
            Entry::Ended => step.ended(evidence, truth, visit),
            Entry::TriedAgain => {}
            Entry::MadeAgain => {
                if let Some(known) = step.after.known.get_mut(&visit.url) {
                    known.links = decided(truth.rules, &known.content, visit.depth);
                }
            }
        }
    }
    step
}

impl Step {
    fn ended(&mut self, evidence: &Evidence<'_>, truth: &Truth<'_>, visit: &Visit) {
        let url = &visit.url;
        self.after.ended.insert(url.clone());
        self.after.withdrawn.remove(url);
        if visit.is_stand_in(evidence) {
            self.after.lost.insert(url.clone());
        }
        let says = match learned(evidence, truth, visit) {
            Ok(says) => says,
            Err(what) => return self.wrong.push(format!("{url} {what}")),
        };
        if visit.outcome == i64::from(Outcome::BlockedUrlByLocalPolicy.code()) {
            self.after.withdrawn.insert(url.clone(), visit.depth);
        }
        let known = self.after.known.get_mut(url);
        let change = match (says, known) {
            (Says::Nothing, _) | (Says::Gone | Says::Forbidden, None) => None,
            (Says::Gone | Says::Forbidden, Some(known)) => {
                let is_left_out = visit.outcome == i64::from(Outcome::BlockedUrlByLocalPolicy.code());
                let kind = if is_left_out { "out_of_scope" } else { "gone" };
                std::mem::replace(&mut known.is_shown, false).then_some((kind, Parts::new()))
            }
            (Says::Content(content), known) => {
                let change = match known.as_deref() {
                    None => ("new", Parts::new()),
                    Some(known) => (kind_of(known, &content), differing(&known.content, &content)),
                };
                let links = decided(truth.rules, &content, visit.depth);
                self.after.known.insert(url.clone(), Known { content, is_shown: true, links });
                Some(change)
            }
        };
        self.changes.extend(change.map(|(kind, parts)| Change { url: url.clone(), kind, parts }));
    }
}

fn kind_of(known: &Known, now: &Content) -> &'static str {
    if !known.is_shown {
        "back"
    } else if known.content == *now {
        "unchanged"
    } else if now.redirects() && !known.content.redirects() {
        "moved"
    } else {
        "changed"
    }
}

/// The parts in which two contents differ, in the order in which they are reported.
fn differing(was: &Content, now: &Content) -> Parts {
    let metadata = |content: &Content| {
        let canonical = content.links.iter().find(|(leads, _)| *leads == Leads::Canonical).cloned();
        let is_page = matches!(content.kind, ContentKind::Page | ContentKind::NoIndex);
        is_page.then_some((canonical, content.kind == ContentKind::NoIndex))
    };
    let parts = [
        ("status", was.kind != now.kind),
        ("title", was.title != now.title),
        ("text", was.text != now.text),
        ("links", was.links != now.links),
        ("metadata", metadata(was) != metadata(now)),
        ("body", was.kind == ContentKind::File && now.kind == was.kind && was.number != now.number),
    ];
    parts.into_iter().filter_map(|(part, differs)| differs.then_some(part)).collect()
}

/// What is done with each link of a page that is this many links from a seed.
fn decided(rules: &Rules, content: &Content, depth: u32) -> Links {
    let links = content.links.iter();
    links.map(|(leads, to)| ((*leads, to.clone()), rules.ruling_of_link(*leads, to, depth).name().to_owned())).collect()
}

/// What a visit can have found out, or why it cannot have ended as the log says.
fn learned(evidence: &Evidence<'_>, truth: &Truth<'_>, visit: &Visit) -> Result<Says, &'static str> {
    let token = evidence.definition.user_agent.product_token();
    let [earlier @ .., site] = truth.editions else { return Err("is of no site") };
    let url = &visit.url;
    if visit.is_stuck {
        return Ok(Says::Nothing);
    }
    if visit.is_stand_in(evidence) {
        return Ok(site.says(url));
    }
    if visit.was_sent {
        return match (site.says(url), visit.status) {
            (Says::Nothing, _) => Ok(Says::Nothing),
            (_, None) if truth.struck.broke_a_connection() => Ok(Says::Nothing),
            (_, None) => Err("is logged as unanswered, although its server answers"),
            (says, Some(_)) => Ok(says),
        };
    }
    let outcome = i16::try_from(visit.outcome).ok().and_then(Outcome::from_code);
    match outcome {
        Some(Outcome::BlockedUrlByLocalPolicy) => match truth.rules.ruling(url, visit.depth) {
            Ruling::Follow => Err("is logged as excluded, although the rules allow it"),
            _ => Ok(Says::Forbidden),
        },
        Some(Outcome::BlockedByRobotsTxt) => {
            // A copy of an earlier robots.txt counts while the current one cannot be read, or was
            // read by a worker that died.
            let is_away = !has_read_robots(evidence, &url.origin()) || !truth.struck.only_delayed();
            let forbade = earlier.iter().any(|site| site.forbids(token, url));
            let forbids = site.forbids(token, url) || is_away && forbade;
            forbids.then_some(Says::Forbidden).ok_or("is logged as forbidden, although its robots.txt allows it")
        }
        _ => Ok(Says::Nothing),
    }
}

/// Whether an origin's robots.txt was read in the iteration.
fn has_read_robots(evidence: &Evidence<'_>, origin: &Origin) -> bool {
    let since = evidence.accesses.iter().skip(evidence.accesses_before);
    let mut of_origin = since.filter(|access| access.is_robots_txt() && access.url.origin() == *origin);
    of_origin.any(|access| access.response().is_some_and(|response| matches!(response.status, 200 | 404)))
}
