//! The figures of the link graph for a page: its rank, and the anchor texts of links to it.

use std::ops::ControlFlow;

use dragline_graph::{Graph, GraphError};

use crate::entry::LinkFigures;

/// The maximum number of different anchor texts per page: the most frequent ones.
const ANCHORS_MAX: u32 = 20;

/// Collects anchor texts once for all pages, the most frequent first: most links of a site are the
/// same on every page.
const COLLECT: &str = "
    CREATE TEMP TABLE IF NOT EXISTS said (id INTEGER, links INTEGER, anchor INTEGER, PRIMARY KEY (id, links, anchor)) WITHOUT ROWID;
    DELETE FROM said;
    INSERT INTO said
        SELECT t.lands_on, -count(*), e.anchor
        FROM edge e CROSS JOIN kind k ON k.id = e.kind CROSS JOIN node t ON t.id = e.to_id
        WHERE e.anchor IS NOT NULL AND k.leads_to_page AND t.lands_on <> e.from_id
        GROUP BY t.lands_on, e.anchor;";

/// Access to the link figures of all pages.
pub(crate) struct LinkFiguresReader<'g>(&'g Graph);

impl<'g> LinkFiguresReader<'g> {
    pub(crate) fn load(graph: &'g Graph) -> Result<Self, GraphError> {
        graph.prepare(COLLECT)?;
        Ok(Self(graph))
    }

    /// Returns the figures of a page; the defaults if the graph does not know it.
    pub(crate) fn page_figures(&self, url: &str) -> Result<LinkFigures, GraphError> {
        let mut standing = LinkFigures::default();
        self.0.each(
            "SELECT coalesce(rank, 0), linked_from FROM node WHERE url = ?",
            [url],
            |row| Ok((row.get(0)?, row.get(1)?)),
            |(rank, linked_from)| {
                (standing.rank, standing.linked_from) = (rank, linked_from);
                ControlFlow::Continue(())
            },
        )?;
        self.0.each(
            "SELECT a.text FROM node n CROSS JOIN said s ON s.id = n.id JOIN anchor a ON a.id = s.anchor
             WHERE n.url = ?1 ORDER BY s.links, a.text LIMIT ?2",
            (url, ANCHORS_MAX),
            |row| row.get(0),
            |text| {
                standing.anchors.push(text);
                ControlFlow::Continue(())
            },
        )?;
        Ok(standing)
    }
}
