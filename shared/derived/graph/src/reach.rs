//! The distance of pages from the start, and their PageRank.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use rusqlite::{Connection, params};

use crate::error::FileError;

/// The share of a page's rank that its links pass on: the value of Brin and Page (1998).
const DAMPING: f64 = 0.85;

/// The maximum number of rounds. Each shrinks the error by a factor of `DAMPING`, so the tolerance
/// needs fewer.
const ROUNDS_MAX: u32 = 100;

/// Ranks have converged once they change by less than this for an average page.
const TOLERANCE: f64 = 1e-6;

/// Marks a `nofollow` target: it is one click away, and gets no rank.
const NOFOLLOW: u32 = 1 << 31;

/// The links between pages, as ids in a file: by page, each target once. Only the offsets of each
/// URL's links are in memory.
struct Links {
    file: File,
    /// The offset of each URL's first link, counted in links; one more at the end.
    starts: Vec<u32>,
}

/// Computes the depth and rank of all pages. A page that no links from a start lead to has no
/// depth.
pub(crate) fn measure(db: &Connection) -> Result<(), FileError> {
    let mut links = Links::collect(db)?;
    let pages = pages(db, links.starts.len() - 1)?;
    let depths = links.depths(starts(db)?)?;
    let ranks = links.ranks(&pages)?;
    let mut write = db.prepare("UPDATE node SET depth = ?2, rank = ?3 WHERE id = ?1")?;
    for (id, (depth, rank)) in depths.iter().zip(ranks).enumerate() {
        let depth = (*depth != u32::MAX).then_some(*depth);
        let rank = pages.get(id).copied().unwrap_or_default().then_some(rank);
        if depth.is_some() || rank.is_some() {
            write.execute(params![id, depth, rank])?;
        }
    }
    Ok(())
}

/// Returns which ids are pages, or files that visitors may follow links to. Requisites have no
/// rank.
fn pages(db: &Connection, nodes: usize) -> Result<Vec<bool>, FileError> {
    let mut pages = vec![false; nodes];
    let mut statement = db.prepare(
        "SELECT id FROM node n WHERE state IN ('page', 'copy') OR state = 'file' AND (is_start OR EXISTS (
             SELECT 1 FROM edge e JOIN kind k ON k.id = e.kind WHERE e.to_id = n.id AND k.leads_to_page))",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        pages[row.get::<_, usize>(0)?] = true;
    }
    Ok(pages)
}

/// Returns the starts of crawls, and the destinations of their redirects.
fn starts(db: &Connection) -> Result<Vec<u32>, FileError> {
    let mut statement = db.prepare("SELECT DISTINCT lands_on FROM node WHERE is_start ORDER BY 1")?;
    let starts = statement.query_map([], |row| row.get(0))?;
    Ok(starts.collect::<Result<_, _>>()?)
}

impl Links {
    fn collect(db: &Connection) -> Result<Self, FileError> {
        let mut out = BufWriter::new(tempfile::tempfile()?);
        let nodes: usize = db.query_row("SELECT coalesce(max(id), 0) + 1 FROM node", [], |row| row.get(0))?;
        let mut starts = vec![0; nodes + 1];
        let mut statement = db.prepare(
            "SELECT e.from_id, t.lands_on, d.name = 'no_follow' FROM edge e
             CROSS JOIN node t ON t.id = e.to_id CROSS JOIN disposition d ON d.id = e.disposition
             WHERE e.kind IN (SELECT id FROM kind WHERE name IN ('a', 'area', 'refresh')) AND t.lands_on <> e.from_id ORDER BY e.from_id",
        )?;
        let mut rows = statement.query([])?;
        let mut of_page: Vec<u32> = Vec::new();
        let mut page = 0_usize;
        let mut written = 0_u32;
        let mut flush = |page: usize, of_page: &mut Vec<u32>, starts: &mut Vec<u32>| -> io::Result<()> {
            // Of two links to the same page, the followed one counts, as it sorts first.
            of_page.sort_unstable_by_key(|to| (to & !NOFOLLOW, *to));
            of_page.dedup_by_key(|to| *to & !NOFOLLOW);
            for to in of_page.drain(..) {
                out.write_all(&to.to_le_bytes())?;
                written += 1;
            }
            starts[page + 1] = written;
            Ok(())
        };
        while let Some(row) = rows.next()? {
            let from: usize = row.get(0)?;
            if from != page {
                flush(page, &mut of_page, &mut starts)?;
                page = from;
            }
            of_page.push(row.get::<_, u32>(1)? | if row.get(2)? { NOFOLLOW } else { 0 });
        }
        flush(page, &mut of_page, &mut starts)?;
        // A URL without links starts at the end of the one before.
        for id in 1..starts.len() {
            starts[id] = starts[id].max(starts[id - 1]);
        }
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Self { file, starts })
    }

    /// Returns the fewest clicks from a start to each URL; the maximum number if it cannot be
    /// reached.
    fn depths(&mut self, starts: Vec<u32>) -> io::Result<Vec<u32>> {
        let mut depths = vec![u32::MAX; self.starts.len() - 1];
        let mut level = starts;
        let mut depth = 0;
        let mut of_page = Vec::new();
        while !level.is_empty() {
            level.retain(|id| depths[index(*id)] == u32::MAX);
            level.dedup();
            let mut next = Vec::new();
            for id in &level {
                depths[index(*id)] = depth;
            }
            for id in &level {
                self.read(*id, &mut of_page)?;
                next.extend(of_page.iter().map(|to| to & !NOFOLLOW).filter(|to| depths[index(*to)] == u32::MAX));
            }
            // In the order of the file.
            next.sort_unstable();
            level = next;
            depth += 1;
        }
        Ok(depths)
    }

    /// Reads the links of a page.
    fn read(&mut self, id: u32, to: &mut Vec<u32>) -> io::Result<()> {
        let (start, end) = (self.starts[index(id)], self.starts[index(id) + 1]);
        let mut bytes = vec![0; index(end - start) * 4];
        self.file.seek(SeekFrom::Start(u64::from(start) * 4))?;
        self.file.read_exact(&mut bytes)?;
        to.clear();
        to.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)));
        Ok(())
    }

    /// Returns the PageRank of each page, normalised to an average of 1. Pages without links share
    /// theirs among all.
    fn ranks(&mut self, pages: &[bool]) -> io::Result<Vec<f64>> {
        let count = pages.iter().filter(|is_page| **is_page).count();
        let average = |of: f64| if count == 0 { 0.0 } else { of / f64::from(u32::try_from(count).unwrap_or(u32::MAX)) };
        let mut ranks: Vec<f64> = pages.iter().map(|is_page| f64::from(u8::from(*is_page))).collect();
        for _ in 0..ROUNDS_MAX {
            let mut next = vec![0.0; ranks.len()];
            let mut kept = 0.0;
            self.file.rewind()?;
            let mut file = BufReader::with_capacity(1 << 20, &self.file);
            let mut of_page = Vec::new();
            for (id, rank) in ranks.iter().enumerate() {
                of_page.clear();
                for _ in self.starts[id]..self.starts[id + 1] {
                    let mut bytes = [0; 4];
                    file.read_exact(&mut bytes)?;
                    let to = u32::from_le_bytes(bytes);
                    if to & NOFOLLOW == 0 && pages[index(to)] {
                        of_page.push(to);
                    }
                }
                match u32::try_from(of_page.len()) {
                    Ok(0) | Err(_) => kept += rank,
                    Ok(links) => of_page.iter().for_each(|to| next[index(*to)] += DAMPING * rank / f64::from(links)),
                }
            }
            let to_all = (1.0 - DAMPING) + DAMPING * average(kept);
            let mut changed = 0.0;
            for ((rank, next), is_page) in ranks.iter_mut().zip(next).zip(pages) {
                let next = if *is_page { next + to_all } else { 0.0 };
                changed += (next - *rank).abs();
                *rank = next;
            }
            if average(changed) < TOLERANCE {
                break;
            }
        }
        Ok(ranks)
    }
}

/// Converts an id to an index.
fn index(id: u32) -> usize {
    usize::try_from(id).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// Returns a graph of pages with these links. The first page is the start; redirects lead to
    /// the pages with these ids.
    fn graph(pages: u32, links: &[(u32, u32)], redirects: &[u32]) -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("tables.sql")).unwrap();
        db.execute_batch(
            "INSERT INTO kind VALUES (1, 'a', 1); INSERT INTO disposition VALUES (1, 'follow'), (2, 'no_follow');",
        )
        .unwrap();
        let node = |id: u32, state: &str, lands_on: u32| {
            let sql = "INSERT INTO node (id, url, host, state, lands_on, is_start) VALUES (?1, ?1, '', ?2, ?3, ?1 = 1)";
            db.execute(sql, params![id, state, lands_on]).unwrap();
        };
        (1..=pages).for_each(|id| node(id, "page", id));
        redirects.iter().zip(pages + 1..).for_each(|(to, id)| node(id, "redirect", *to));
        for (place, (from, to)) in links.iter().enumerate() {
            db.execute("INSERT INTO edge VALUES (?1, ?2, ?3, 1, 1, NULL)", params![from, place, to]).unwrap();
        }
        db
    }

    fn measured(db: &Connection) -> BTreeMap<u32, (Option<u32>, Option<f64>)> {
        measure(db).unwrap();
        let mut statement = db.prepare("SELECT id, depth, rank FROM node").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn clicks_are_counted_through_redirects() {
        // 1 -> 2 -> 3, 1 -> redirect 6 -> 4; no links to 5.
        let found = measured(&graph(5, &[(1, 2), (2, 3), (1, 6), (3, 1), (5, 1)], &[4]));
        let depths: Vec<Option<u32>> = (1..=6).map(|id| found[&id].0).collect();
        assert_eq!(depths, [Some(0), Some(1), Some(2), Some(1), None, None], "a redirect is no page of its own");
        assert!(found[&6].1.is_none(), "and has no rank");
    }

    #[test]
    fn nofollow_links_are_clicks_but_pass_no_rank() {
        let db = graph(3, &[(1, 2), (1, 3)], &[]);
        db.execute("UPDATE edge SET disposition = 2 WHERE to_id = 3", []).unwrap();
        let found = measured(&db);
        assert_eq!(found[&3].0, Some(1));
        assert!(found[&2].1 > found[&3].1, "{found:?}");
    }

    proptest! {
        #[test]
        fn depths_and_ranks_match_a_plain_computation(
            pages in 1_u32..12,
            links in prop::collection::vec((0_u32..12, 0_u32..12), 0..40),
        ) {
            let links: Vec<(u32, u32)> = links.iter().map(|(from, to)| (from % pages + 1, to % pages + 1)).collect();
            let found = measured(&graph(pages, &links, &[]));
            let targets: BTreeSet<(u32, u32)> = links.into_iter().filter(|(from, to)| from != to).collect();
            let mut depths = BTreeMap::from([(1, 0)]);
            for depth in 0..pages {
                for (from, to) in &targets {
                    if depths.get(from) == Some(&depth) {
                        depths.entry(*to).or_insert(depth + 1);
                    }
                }
            }
            let mut ranks: BTreeMap<u32, f64> = (1..=pages).map(|id| (id, 1.0)).collect();
            let count = |from| f64::from(u32::try_from(targets.iter().filter(|(page, _)| *page == from).count()).unwrap());
            for _ in 0..200 {
                let kept: f64 = ranks.iter().filter(|(id, _)| count(**id) == 0.0).map(|(_, rank)| rank).sum();
                let of = |id| {
                    let passed = targets.iter().filter(|(_, to)| *to == id).map(|(from, _)| ranks[from] / count(*from));
                    (1.0 - DAMPING) + DAMPING * (kept / f64::from(pages) + passed.sum::<f64>())
                };
                ranks = (1..=pages).map(|id| (id, of(id))).collect();
            }
            for id in 1..=pages {
                prop_assert_eq!(found[&id].0, depths.get(&id).copied());
                prop_assert!((found[&id].1.unwrap() - ranks[&id]).abs() < 1e-3, "{:?} {:?}", found, ranks);
            }
        }
    }
}
