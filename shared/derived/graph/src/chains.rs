//! Chains of redirects, and the counts of links.

use dragline_domain::canonical::STEPS_MAX;
use rusqlite::{Connection, params};

use crate::error::FileError;

/// The end of a chain of redirects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// A URL that does not redirect.
    Lands,
    /// A URL that it has passed before.
    Loops,
    /// None within as many steps as browsers take.
    TooLong,
}

impl End {
    const fn name(self) -> &'static str {
        match self {
            Self::Lands => "lands",
            Self::Loops => "loops",
            Self::TooLong => "too_long",
        }
    }
}

/// Follows every redirect to its destination. A loop or an overlong chain lands on its start.
pub(crate) fn follow(db: &Connection) -> Result<(), FileError> {
    db.execute("UPDATE node SET lands_on = id", [])?;
    let mut starts = db.prepare("SELECT id FROM node WHERE redirects_to IS NOT NULL")?;
    let mut next = db.prepare("SELECT redirects_to FROM node WHERE id = ?")?;
    let mut write = db.prepare("UPDATE node SET lands_on = ?2, hops = ?3, chain = ?4 WHERE id = ?1")?;
    let mut rows = starts.query([])?;
    while let Some(row) = rows.next()? {
        let start: i64 = row.get(0)?;
        let mut way = vec![start];
        let end = loop {
            let Some(to) = next.query_row([way[way.len() - 1]], |row| row.get::<_, Option<i64>>(0))? else {
                break End::Lands;
            };
            if way.contains(&to) {
                way.push(to);
                break End::Loops;
            }
            if way.len() > STEPS_MAX {
                break End::TooLong;
            }
            way.push(to);
        };
        let lands_on = if end == End::Lands { way[way.len() - 1] } else { start };
        write.execute(params![start, lands_on, way.len() - 1, end.name()])?;
    }
    // Visitors who follow a link to a loop get nothing.
    db.execute("UPDATE node SET is_broken = 1 WHERE chain IN ('loops', 'too_long')", [])?;
    Ok(())
}

/// Counts, for each URL, the other pages that link to it, and for each page the pages that it links
/// to.
pub(crate) fn count_links(db: &Connection) -> Result<(), FileError> {
    // A link to a redirect also counts for the redirect's destination. Redirects and canonical
    // links are not links of a visitor, nor are sitemap entries.
    db.execute_batch(
        "UPDATE node SET linked_from = c.pages FROM (
             SELECT e.to_id, count(DISTINCT e.from_id) AS pages FROM edge e JOIN kind k ON k.id = e.kind
             WHERE e.from_id <> e.to_id AND k.name NOT IN ('redirect', 'canonical', 'sitemap', 'sitemap_file') GROUP BY e.to_id) c WHERE c.to_id = node.id;
         UPDATE node SET linked_from = (
             SELECT count(DISTINCT e.from_id) FROM (
                 SELECT node.id UNION ALL SELECT t.id FROM node t WHERE t.lands_on = node.id AND t.redirects_to IS NOT NULL) t
             JOIN edge e ON e.to_id = t.id JOIN kind k ON k.id = e.kind
             WHERE e.from_id <> node.id AND k.name NOT IN ('redirect', 'canonical', 'sitemap', 'sitemap_file'))
         WHERE id IN (SELECT t.lands_on FROM node t WHERE t.redirects_to IS NOT NULL);
         UPDATE node SET links_to = c.pages FROM (
             SELECT e.from_id, count(DISTINCT e.to_id) AS pages FROM edge e JOIN kind k ON k.id = e.kind
             WHERE e.from_id <> e.to_id AND k.name IN ('a', 'area', 'refresh') GROUP BY e.from_id) c WHERE c.from_id = node.id;
         WITH listed AS MATERIALIZED (
             SELECT DISTINCT to_id AS id FROM edge WHERE kind IN (SELECT id FROM kind WHERE name IN ('sitemap', 'sitemap_file')))
         UPDATE node SET in_sitemap = 1 WHERE id IN (
             SELECT id FROM listed
             UNION SELECT t.lands_on FROM listed JOIN node t USING (id) WHERE t.redirects_to IS NOT NULL);",
    )?;
    Ok(())
}
