//! 10: the crawl found what there is to find, and nothing else.

use std::collections::BTreeSet;

use dragline_domain::url::CrawlUrl;

use super::{Checked, Evidence, Invariant, Violation};
use crate::web::Site;

/// 10: the URLs with final outcomes are those that an independent walk of the site reaches, breadth
/// first, and where depth is limited each is stored with its depth. For runs without a budget, a
/// stop or origins given up.
///
/// # Errors
/// The database cannot be read.
pub fn everything_in_reach_is_found(evidence: &Evidence<'_>, site: &Site) -> Checked {
    let definition = evidence.definition;
    let reach = site.reach(definition);
    let finals = evidence.texts(
        "SELECT DISTINCT l.url FROM crawl_log l JOIN origin o ON o.id = l.origin_id JOIN crawl c ON c.id = o.crawl_id
         WHERE c.name = ?1 AND l.iteration = ?2 AND l.is_final",
    )?;
    let finals: BTreeSet<String> = finals.into_iter().collect();
    let missed = reach.certain.keys().filter(|url| !finals.contains(url.as_str()));
    let possible: BTreeSet<&str> = reach.possible.keys().map(CrawlUrl::as_str).collect();
    let strange = finals.iter().filter(|url| !possible.contains(url.as_str()));
    let missed = missed.map(|url| format!("{url} is within reach and has no outcome"));
    let strange = strange.map(|url| format!("{url} has an outcome and is not within reach"));
    let depths = if definition.scope.max_depth.is_some() { stored_depths(evidence)? } else { Vec::new() };
    let wrong = depths.into_iter().filter_map(|(url, depth)| {
        let (shortest, longest) = (reach.possible.get(&url)?, reach.certain.get(&url)?);
        let is_right = (shortest..=longest).contains(&&depth);
        (!is_right).then(|| format!("{url} is stored at depth {depth}, and is {shortest} links from a seed"))
    });
    Ok(missed.chain(strange).chain(wrong).map(|what| Violation { invariant: Invariant::ReachFound, what }).collect())
}

/// The depth of every URL that was claimed in the iteration.
fn stored_depths(evidence: &Evidence<'_>) -> rusqlite::Result<Vec<(CrawlUrl, u32)>> {
    let sql = "SELECT o.origin || k.path_query, k.depth FROM crawl_candidate k JOIN origin o ON o.id = k.origin_id JOIN crawl c ON c.id = o.crawl_id
               WHERE c.name = ?1 AND k.queued_in = ?2";
    let mut statement = evidence.database.prepare(sql)?;
    let rows = statement.query_map(evidence.crawl_and_iteration(), |row| {
        Ok((CrawlUrl::try_from(row.get::<_, String>(0)?).expect("a stored URL"), row.get(1)?))
    })?;
    rows.collect()
}
