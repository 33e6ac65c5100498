//! 16 and 17: what is shown of the site, and what is reported of it as changed, against what its
//! servers say.
//!
//! A [`State`] is carried from iteration to iteration: it says what must be shown, by the site's
//! own truth and the visits in the log.

mod canonical;
mod changes;
mod shown;
mod step;
mod visits;

use std::collections::{BTreeMap, BTreeSet};

use dragline_domain::url::CrawlUrl;

use super::{Evidence, Invariant, Violation};
use crate::faults::Struck;
use crate::rules::Rules;
use crate::web::{Content, Leads, Site};

use shown::{Shown, shown};
use step::{Change, Step, step};
use visits::{Entry, Visit, visits};

/// What a crawl must show after an iteration.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Every URL that ever showed something.
    known: BTreeMap<CrawlUrl, Known>,
    /// Every URL that ever ended.
    ended: BTreeSet<CrawlUrl>,
    /// URLs that rules withdrew.
    withdrawn: BTreeMap<CrawlUrl, u32>,
    /// URLs whose capture was lost after its document was put: nobody knows what was there before,
    /// and what is shown has no body.
    lost: BTreeSet<CrawlUrl>,
    /// Whether something was given up in any iteration.
    has_gaps: bool,
}

/// What a URL showed when it was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    content: Content,
    is_shown: bool,
    /// What was done with each of its links.
    links: Links,
}

/// Links, each with its disposition.
type Links = BTreeMap<(Leads, CrawlUrl), String>;

/// What the servers and the definition say in an iteration.
#[derive(Clone, Copy)]
pub struct Truth<'a> {
    /// The editions until now; the last one is served.
    pub editions: &'a [Site],
    /// The rules of the iteration.
    pub rules: &'a Rules,
    /// The faults that struck until now.
    pub struck: &'a Struck,
}

/// 16 and 17: after an iteration each URL that was visited in it shows what a fresh crawl would
/// show, or what it showed before where nothing was learned; the others are as they were, but links
/// are decided by the rules in force, and what these exclude is gone. The log reports each change
/// between the two states once. Returns the new state.
///
/// # Errors
/// The database cannot be read.
pub fn state_is_fresh(
    evidence: &Evidence<'_>,
    truth: &Truth<'_>,
    before: &State,
) -> rusqlite::Result<(Vec<Violation>, State)> {
    let visits = visits(evidence)?;
    let mut shown = shown(evidence)?;
    let Step { mut after, changes, wrong } = step(evidence, truth, before, &visits);
    let gaps = gaps(evidence)?;
    after.has_gaps |= gaps > 0;
    shown.retain(|url, _| !after.lost.contains(url));
    let mut wrong = wrong;
    wrong.extend(compare(evidence, &mut after, &shown));
    // A budget leaves some URLs for later, and so does whatever is given up. What was decided on
    // again in an object that was lost leaves no trace.
    let place = format!("/{}/", evidence.iteration.number());
    let is_whole = !evidence.lost.iter().any(|object| object.contains(&place));
    if gaps == 0 && is_whole && evidence.definition.budget == Default::default() {
        wrong.extend(overlooked(truth, &after, &visits, &shown));
    }
    let fresh = wrong.into_iter().map(|what| Violation { invariant: Invariant::CurrentStateIsFresh, what });
    let reported = changes::each_is_reported_once(&after, &changes, &visits);
    Ok((fresh.chain(reported).collect(), after))
}

/// What the database showed at some time.
#[derive(Clone, Debug, Default)]
pub struct ShownBefore(BTreeMap<CrawlUrl, Shown>);

/// Reads what the database shows now.
///
/// # Errors
/// The database cannot be read.
pub fn shown_now(evidence: &Evidence<'_>) -> rusqlite::Result<ShownBefore> {
    shown(evidence).map(ShownBefore)
}

/// 16: documents that are made again show what they showed before. Only what is done with their
/// links may differ, by the rules in force; that counts in the state from then on, which is
/// returned.
///
/// # Errors
/// The database cannot be read.
pub fn state_is_kept(
    evidence: &Evidence<'_>,
    before: &ShownBefore,
    state: &State,
) -> rusqlite::Result<(Vec<Violation>, State)> {
    let (was, is) = (&before.0, shown(evidence)?);
    let mut wrong: Vec<String> =
        was.keys().filter(|url| !is.contains_key(url)).map(|url| format!("{url} is gone")).collect();
    for (url, shown) in &is {
        if !was.get(url).is_some_and(|was| was.says_the_same(shown)) {
            wrong.push(format!("{url} is shown as {shown:?}, and was as {:?}", was.get(url)));
        }
    }
    let mut state = state.clone();
    for (url, shown) in is {
        if let Some(known) = state.known.get_mut(&url) {
            known.links = shown.links;
        }
    }
    let violation = |what| Violation { invariant: Invariant::CurrentStateIsFresh, what: format!("made again: {what}") };
    Ok((wrong.into_iter().map(violation).collect(), state))
}

/// Returns how many origins of the iteration left something over, or ended early.
///
/// # Errors
/// The database cannot be read.
pub fn gaps(evidence: &Evidence<'_>) -> rusqlite::Result<u64> {
    evidence.number(
        "SELECT count(*) FROM inbox b JOIN origin o ON o.id = b.origin_id JOIN crawl c ON c.id = o.crawl_id
         JOIN lease l ON l.origin_id = b.origin_id
         WHERE c.name = ?1 AND b.iteration = ?2 AND (l.ending IS NOT NULL OR ifnull(json_extract(b.record, '$.counters.unreadable'), 0) > 0
             OR EXISTS (SELECT 1 FROM leftover v WHERE v.origin_id = o.id AND v.iteration = ?2))",
    )
}

/// Compares what must be shown with what is. Where a budget decides about links, what is shown
/// counts from then on.
fn compare(evidence: &Evidence<'_>, after: &mut State, shown: &BTreeMap<CrawlUrl, Shown>) -> Vec<String> {
    let must: BTreeMap<&CrawlUrl, &Known> = after.known.iter().filter(|(_, known)| known.is_shown).collect();
    let mut wrong = Vec::new();
    for url in shown.keys().filter(|url| !must.contains_key(url)) {
        wrong.push(format!("{url} is shown and should not be"));
    }
    let is_cut = evidence.definition.budget.pages.is_some();
    for (url, known) in must.iter().filter(|(url, _)| !after.lost.contains(**url)) {
        let Some(shown) = shown.get(*url) else {
            wrong.push(format!("{url} is not shown and should be"));
            continue;
        };
        let outcome = canonical::outcome(url, known, &must);
        if (shown.outcome, &shown.title) != (outcome, &known.content.title) {
            let should = (outcome, &known.content.title);
            wrong.push(format!("{url} is shown as {:?}, and should be as {should:?}", (shown.outcome, &shown.title)));
        }
        let text = if outcome == canonical::COPY { "" } else { known.content.text.as_str() };
        if shown.text != text {
            wrong.push(format!("{url} is shown with the text `{}`, and should be with `{text}`", shown.text));
        }
        let is_left = |link| is_cut && shown.links.get(link).is_some_and(|disposition| disposition == "beyond_budget");
        let differs = |(link, disposition)| shown.links.get(link) != Some(disposition) && !is_left(link);
        if shown.links.len() != known.links.len() || known.links.iter().any(differs) {
            wrong
                .push(format!("{url} is shown with the links {:?}, and should be with {:?}", shown.links, known.links));
        }
    }
    for (url, shown) in shown {
        if let Some(known) = after.known.get_mut(url) {
            known.links.clone_from(&shown.links);
        }
    }
    wrong
}

/// Finds what the iteration should have seen to and has not.
fn overlooked(truth: &Truth<'_>, after: &State, visits: &[Visit], shown: &BTreeMap<CrawlUrl, Shown>) -> Vec<String> {
    let rules = truth.rules;
    let ended: BTreeSet<&CrawlUrl> =
        visits.iter().filter(|visit| visit.entry == Entry::Ended).map(|visit| &visit.url).collect();
    let mut wrong = Vec::new();
    for (url, shown) in shown.iter().filter(|(url, _)| !ended.contains(url)) {
        let ruling = rules.ruling(url, shown.depth);
        if ruling.name() != "follow" && !rules.is_seed(url) {
            wrong.push(format!("{url} is shown, although by the rules it is {}", ruling.name()));
        }
        for ((leads, to), disposition) in &shown.links {
            let ruling = rules.ruling_of_link(*leads, to, shown.depth);
            if ruling.name() != disposition {
                wrong.push(format!("{url} has a link to {to} that is {disposition}, by the rules {}", ruling.name()));
            }
        }
    }
    for (url, shown) in shown {
        let followed = shown.links.iter().filter(|(_, disposition)| *disposition == "follow").map(|((_, to), _)| to);
        for to in followed.filter(|to| !after.has_gaps && !after.ended.contains(to)) {
            wrong.push(format!("{url} has a link to {to} that is followed, and was never visited"));
        }
    }
    for (url, depth) in &after.withdrawn {
        if !ended.contains(url) && rules.ruling(url, *depth).name() == "follow" {
            wrong.push(format!("{url} is allowed again, and was not visited"));
        }
    }
    wrong
}

/// The parts in which two contents differ, as they are stored.
type Parts = Vec<&'static str>;
