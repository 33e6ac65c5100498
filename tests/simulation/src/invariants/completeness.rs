//! 10: the crawl found what there is to find, and nothing else.

use std::collections::BTreeSet;

use dragline_domain::url::CrawlUrl;

use super::{Checked, Evidence, Invariant, Violation};
use crate::web::Site;

/// 10: the URLs with final outcomes are those that an independent walk of the site reaches. For runs without a budget, a stop or origins
/// given up; where depth is limited, for runs of one origin.
///
/// # Errors
/// The database cannot be read.
pub fn everything_in_reach_is_found(evidence: &Evidence<'_>, site: &Site) -> Checked {
    let definition = evidence.definition;
    let reach = site.reach(definition.user_agent.product_token(), definition.scope.max_depth);
    let finals = evidence.texts(
        "SELECT DISTINCT l.url FROM crawl_log l JOIN origin o ON o.id = l.origin_id JOIN crawl c ON c.id = o.crawl_id
         WHERE c.name = ?1 AND l.iteration = ?2 AND l.is_final",
    )?;
    let finals: BTreeSet<String> = finals.into_iter().collect();
    let missed = reach.certain.iter().filter(|url| !finals.contains(url.as_str()));
    let possible: BTreeSet<&str> = reach.possible.iter().map(CrawlUrl::as_str).collect();
    let strange = finals.iter().filter(|url| !possible.contains(url.as_str()));
    let missed = missed.map(|url| format!("{url} is within reach and has no outcome"));
    let strange = strange.map(|url| format!("{url} has an outcome and is not within reach"));
    Ok(missed.chain(strange).map(|what| Violation { invariant: Invariant::ReachFound, what }).collect())
}
