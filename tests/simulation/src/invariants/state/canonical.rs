//! Whether a page is a copy of its canonical URL, by where each URL leads that is shown.

use std::collections::{BTreeMap, BTreeSet};

use dragline_domain::doubt::{Doubt, Namers};
use dragline_domain::outcome::Outcome;
use dragline_domain::simhash::TextPrint;
use dragline_domain::url::CrawlUrl;

use super::Known;
use crate::web::ContentKind;

/// The outcome of a copy, as it is stored.
pub(super) const COPY: i64 = Outcome::NotCanonical.code() as i64;

/// The outcome with which a URL must be shown.
pub(super) fn outcome(url: &CrawlUrl, known: &Known, shown: &BTreeMap<&CrawlUrl, &Known>) -> i64 {
    let outcome = match known.content.kind {
        ContentKind::Page if is_copy(url, shown) => Outcome::NotCanonical,
        ContentKind::Page => Outcome::FileIngested,
        ContentKind::NoIndex | ContentKind::NoIndexFile => Outcome::BlockedAtRequestOfRemote,
        ContentKind::File => Outcome::StoredNotRead,
        ContentKind::Moved => Outcome::PermanentRedirect,
        ContentKind::Elsewhere => Outcome::TemporaryRedirect,
    };
    i64::from(outcome.code())
}

/// A page is a copy if where it leads reaches another page whose text is like it. Among pages that
/// lead to each other the first one stands. The sites are too small for a URL that many pages name.
fn is_copy(url: &CrawlUrl, shown: &BTreeMap<&CrawlUrl, &Known>) -> bool {
    let mut way: BTreeSet<&CrawlUrl> = BTreeSet::new();
    let (mut here, mut comes_back, mut text) = (url, false, None);
    while let Some(known) = shown.get(here) {
        if known.content.kind == ContentKind::Page {
            let own = TextPrint::new(&known.content.text);
            if Doubt::from_texts(text, Namers::default(), Some(own)).is_some() {
                break;
            }
            text = Some(own);
        }
        if !way.insert(here) {
            comes_back = here == url;
            break;
        }
        let next = known.content.stands_at().filter(|to| known.content.redirects() || *to != here);
        let Some(next) = next else { break };
        here = next;
    }
    let pages: Vec<&&CrawlUrl> = way
        .iter()
        .filter(|url| shown.get(**url).is_some_and(|known| known.content.kind == ContentKind::Page))
        .collect();
    pages.len() > 1 && !(comes_back && pages.first() == Some(&&url))
}
