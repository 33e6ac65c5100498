//! 1, 6 and 11: the links of pages against the site, the counts and the budgets of origins, and the
//! seeds against what was claimed.

use std::collections::{BTreeMap, BTreeSet};

use dragline_domain::definition::Draft;
use dragline_domain::document::Link;
use dragline_domain::ids::Iteration;
use dragline_domain::url::CrawlUrl;
use dragline_ports::frontier::Progress;

use super::{Checked, Evidence, Invariant, Violation};
use crate::faults::Struck;
use crate::web::{Page, PageKind, Site};

/// The most links of a page.
const PAGE_LINKS_MAX: usize = 10_000;

/// The most bytes that the URLs of a page's links take.
const PAGE_LINKS_BYTES_MAX: usize = 2 << 20;

/// How many links of a page are kept in any case.
const KEPT_MIN: usize = 8;

/// The longest text of a link.
const ANCHOR_BYTES_MAX: usize = 256;

/// A page of an iteration, as stored.
struct Stored {
    url: CrawlUrl,
    segment: i64,
    is_cut: bool,
    /// The disposition of each link, and how long its text is.
    links: BTreeMap<CrawlUrl, (String, usize)>,
}

/// 1: every link of each page that was read is stored, unless the page says that some are left out,
/// as it has too many, or those of its segment take more than `links_bytes` together.
///
/// # Errors
/// The database cannot be read.
pub fn every_link_is_recorded(evidence: &Evidence<'_>, site: &Site, links_bytes: usize) -> Checked {
    let stored = stored(evidence, site)?;
    let (mut wrong, mut of_segments) = (Vec::new(), BTreeMap::<i64, (usize, usize)>::new());
    for page in &stored {
        let there = links_of(site, &page.url);
        let (kept, wanted) = of_segments.entry(page.segment).or_default();
        let weigh = |to: &CrawlUrl, text: usize| size_of::<Link>() + to.as_str().len() + text;
        *kept += page.links.iter().map(|(to, (_, text))| weigh(to, *text)).sum::<usize>();
        *wanted += there.iter().map(|to| weigh(to, ANCHOR_BYTES_MAX)).sum::<usize>();
        let strange = page.links.keys().filter(|to| !there.contains(to));
        wrong.extend(strange.map(|to| format!("{} has a stored link to {to}, which it has not", page.url)));
        let missing: Vec<_> = there.iter().filter(|to| !page.links.contains_key(**to)).collect();
        if missing.is_empty() == page.is_cut {
            let (count, url) = (missing.len(), &page.url);
            wrong.push(format!("{url} lacks {count} links, and says that some are left out: {}", page.is_cut));
        }
        if page.links.len() < KEPT_MIN.min(there.len()) {
            wrong.push(format!("{} has {} links of {}", page.url, page.links.len(), there.len()));
        }
    }
    for page in stored.iter().filter(|page| page.is_cut) {
        let there = links_of(site, &page.url);
        let is_too_much = there.len() > PAGE_LINKS_MAX
            || there.iter().map(|to| to.as_str().len()).sum::<usize>() > PAGE_LINKS_BYTES_MAX
            || of_segments.get(&page.segment).is_some_and(|(_, wanted)| *wanted > links_bytes);
        if !is_too_much {
            wrong.push(format!("links of {} are left out, for which there is room", page.url));
        }
    }
    // The first links are kept in any case, whichever those are.
    let most =
        |pages: usize| links_bytes + pages * KEPT_MIN * (size_of::<Link>() + CrawlUrl::LEN_MAX + ANCHOR_BYTES_MAX);
    for (segment, (kept, _)) in of_segments {
        if kept > most(stored.iter().filter(|page| page.segment == segment).count()) {
            wrong.push(format!("the links of segment {segment} take {kept} bytes, of {links_bytes}"));
        }
    }
    Ok(wrong.into_iter().map(|what| Violation { invariant: Invariant::NothingLost, what }).collect())
}

/// 11: no page leads to more other origins than the definition allows, and none to fewer where only
/// that limits them.
///
/// # Errors
/// The database cannot be read.
pub fn pages_lead_to_few_origins(evidence: &Evidence<'_>, site: &Site) -> Checked {
    let budget = &evidence.definition.budget;
    let is_all = budget.pages.is_none() && budget.origins == unlimited().budget.origins;
    let mut wrong = Vec::new();
    for page in stored(evidence, site)? {
        let (mut led_to, mut beyond) = (BTreeSet::new(), BTreeSet::new());
        for to in links_of(site, &page.url) {
            let (own, origin) = (page.url.origin(), to.origin());
            match page.links.get(to).map(|(disposition, _)| disposition.as_str()) {
                Some("follow" | "blocked") if origin != own => _ = led_to.insert(origin),
                Some("beyond_budget") => _ = beyond.insert(origin),
                _ => {}
            }
        }
        let (led_to_few, most) = (led_to.len(), budget.origins_per_page as usize);
        if led_to_few > most || (is_all && !beyond.is_empty() && (led_to_few < most || !led_to.is_disjoint(&beyond))) {
            wrong.push(format!("{} leads to {led_to:?}, of {most} origins; beyond them are {beyond:?}", page.url));
        }
    }
    Ok(wrong.into_iter().map(|what| Violation { invariant: Invariant::BudgetKept, what }).collect())
}

/// 11: links opened no more origins than the definition allows, but for those that parses opened at
/// the same time. A parse that was interrupted goes on later with what it had found.
///
/// # Errors
/// The database cannot be read.
pub fn few_origins_are_opened(evidence: &Evidence<'_>, struck: &Struck) -> Checked {
    let most = evidence.definition.budget.origins;
    let opened = evidence.number(&format!("SELECT count(*) {OPENED} AND o.joined IS NULL"))?;
    let seeds: BTreeSet<_> = evidence.definition.seeds.iter().map(CrawlUrl::origin).collect();
    let by_links = opened.saturating_sub(seeds.len() as u64);
    let interrupted = struck.parses_interrupted as u64;
    let wrong = by_links > most.saturating_mul(PARSERS + interrupted);
    let what = format!("{by_links} origins were opened, of {most}, while {interrupted} parses were interrupted");
    Ok(wrong.then_some(Violation { invariant: Invariant::BudgetKept, what }).into_iter().collect())
}

/// How many parsers there are.
const PARSERS: u64 = 2;

const OPENED: &str = "FROM inbox b JOIN origin o ON o.id = b.origin_id JOIN crawl c ON c.id = o.crawl_id
    WHERE c.name = ?1 AND b.iteration = ?2";

/// 6: the links that were not followed are counted by reason, as their documents say. Those of a
/// shorter way were counted before.
///
/// # Errors
/// The database cannot be read.
pub fn links_are_counted(evidence: &Evidence<'_>, progress: &Progress) -> Checked {
    let counted = |disposition: &str| {
        evidence.number(&format!(
            "SELECT count(*) FROM document_link k JOIN visit v ON v.id = k.id
             WHERE k.crawl = ?1 AND k.iteration = ?2 AND k.disposition = '{disposition}' AND v.crawl_type <> 'reparse'"
        ))
    };
    let parser = &progress.parser;
    let mut wrong = Vec::new();
    for (disposition, said) in [
        ("beyond_budget", parser.links_beyond_budget),
        ("out_of_scope", parser.links_out_of_scope),
        ("too_deep", parser.links_too_deep),
        ("no_follow", parser.links_nofollow),
    ] {
        let counted = counted(disposition)?;
        if counted != said {
            wrong.push(format!("links that are {disposition}: {counted} are stored, progress says {said}"));
        }
    }
    Ok(wrong.into_iter().map(|what| Violation { invariant: Invariant::ProgressEqualsLog, what }).collect())
}

/// 1: every seed was claimed, and something at each origin that joined.
///
/// # Errors
/// The database cannot be read.
pub fn seeds_and_joined_are_claimed(evidence: &Evidence<'_>) -> Checked {
    let claimed = "SELECT o.origin || k.path_query FROM crawl_candidate k JOIN origin o ON o.id = k.origin_id JOIN crawl c ON c.id = o.crawl_id
                   WHERE c.name = ?1 AND k.queued_in = ?2";
    let claimed: BTreeSet<String> = evidence.texts(claimed)?.into_iter().collect();
    let seeds = evidence.definition.seeds.iter().filter(|seed| !claimed.contains(seed.as_str()));
    let seeds = seeds.map(|seed| format!("{seed} is a seed, and was not claimed"));
    let joined = evidence.texts(
        "SELECT o.origin || ' joined, and nothing of it was claimed' FROM origin o JOIN crawl c ON c.id = o.crawl_id
         WHERE c.name = ?1 AND o.joined IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM crawl_candidate k WHERE k.origin_id = o.id AND k.queued_in = ?2)",
    )?;
    Ok(seeds.chain(joined).map(|what| Violation { invariant: Invariant::NothingLost, what }).collect())
}

/// Whether links are judged in this iteration. In later ones documents are made again, or
/// confirmed, and the state is judged instead.
pub(crate) fn are_judged(evidence: &Evidence<'_>) -> bool {
    evidence.iteration == Iteration::FIRST && evidence.lost.is_empty()
}

fn unlimited() -> Draft {
    Draft::for_seeds(Vec::new())
}

/// Where a page's links lead, in order, each once.
fn links_of<'s>(site: &'s Site, url: &CrawlUrl) -> Vec<&'s CrawlUrl> {
    let Some(Page { kind: PageKind::Html { links, .. }, .. }) = site.page(url) else { return Vec::new() };
    let mut seen = BTreeSet::new();
    links.iter().filter(|to| seen.insert(*to)).collect()
}

/// The pages of the iteration that were read, with their ordinary links. What a site in editions
/// has is judged by its state.
fn stored(evidence: &Evidence<'_>, site: &Site) -> rusqlite::Result<Vec<Stored>> {
    let sql = "SELECT d.id, v.url, d.cut IN ('links', 'text_and_links') FROM visit v JOIN document d ON d.id = v.id
               JOIN origin o ON o.id = v.origin_id JOIN crawl c ON c.id = o.crawl_id
               WHERE c.name = ?1 AND v.iteration = ?2 AND v.crawl_type <> 'reparse' AND d.cut IS NOT NULL AND d.state = 'processed'
                     AND v.truncated IS NULL";
    let mut statement = evidence.database.prepare(sql)?;
    let pages = statement.query_map(evidence.crawl_and_iteration(), |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, bool>(2)?))
    })?;
    let sql = "SELECT to_url, disposition, ifnull(length(CAST(anchor AS BLOB)), 0) FROM document_link WHERE id = ?1 AND kind = 'a'";
    let mut statement = evidence.database.prepare(sql)?;
    let mut stored = Vec::new();
    let url = |text: String| CrawlUrl::try_from(text).expect("a stored URL");
    for page in pages {
        let (id, own, is_cut) = page?;
        let own = url(own);
        if !matches!(site.page(&own), Some(Page { kind: PageKind::Html { .. }, .. })) {
            continue;
        }
        let links = statement.query_map([id], |row| Ok((url(row.get(0)?), (row.get(1)?, row.get(2)?))))?;
        stored.push(Stored { url: own, segment: id >> 24, is_cut, links: links.collect::<rusqlite::Result<_>>()? });
    }
    Ok(stored)
}
