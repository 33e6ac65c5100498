//! What the database shows of the site.

use std::collections::BTreeMap;

use dragline_domain::url::CrawlUrl;

use super::{Evidence, Links};
use crate::web::Leads;

/// A row of the view `page`, with its rows of the view `link`.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) outcome: i64,
    pub(super) title: Option<String>,
    /// With single spaces.
    pub(super) text: String,
    pub(super) depth: u32,
    pub(super) links: Links,
}

impl Shown {
    /// Whether both say the same, whatever is done with their links.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let says = |shown: &Self| (shown.outcome, shown.title.clone(), shown.text.clone(), shown.depth);
        says(self) == says(other) && self.links.keys().eq(other.links.keys())
    }
}

fn url(text: String) -> CrawlUrl {
    CrawlUrl::try_from(text).expect("a stored URL")
}

/// Reads both views.
pub(super) fn shown(evidence: &Evidence<'_>) -> rusqlite::Result<BTreeMap<CrawlUrl, Shown>> {
    let name = evidence.definition.name.to_string();
    let mut statement = evidence
        .database
        .prepare("SELECT url, outcome, title, ifnull(text, ''), depth FROM page WHERE crawl = ?1 ORDER BY url")?;
    let pages = statement.query_map([&name], |row| {
        let text: String = row.get(3)?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (outcome, title, depth) = (row.get(1)?, row.get(2)?, row.get(4)?);
        Ok((url(row.get(0)?), Shown { outcome, title, text, depth, links: Links::new() }))
    })?;
    let mut pages: BTreeMap<CrawlUrl, Shown> = pages.collect::<rusqlite::Result<_>>()?;
    let mut statement =
        evidence.database.prepare("SELECT from_url, to_url, kind, disposition FROM link WHERE crawl = ?1")?;
    let links = statement.query_map([&name], |row| {
        let leads = match row.get::<_, String>(2)?.as_str() {
            "canonical" => Leads::Canonical,
            "redirect" => Leads::Redirect,
            _ => Leads::A,
        };
        Ok((url(row.get(0)?), (leads, url(row.get(1)?)), row.get::<_, String>(3)?))
    })?;
    for link in links {
        let (from, link, disposition) = link?;
        // Two rows of one link are as wrong as a link too many.
        let other = pages.get_mut(&from).and_then(|page| page.links.insert(link, disposition));
        if let (Some(page), Some(other)) = (pages.get_mut(&from), other) {
            page.text.push_str(&format!(" and a link twice, once {other}"));
        }
    }
    Ok(pages)
}
