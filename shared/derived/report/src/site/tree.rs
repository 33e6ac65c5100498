//! The pages by host and path, and the links between sections of the site.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use dragline_graph::{Graph, GraphError};

use super::rows::shorten_text;
use super::shape::{Branch, Section, SectionLinks, Sections};

/// The maximum number of path parts.
const PARTS_MAX: usize = 6;

/// The maximum number of folders during the count.
const PLACES_MAX: usize = 50_000;

/// The maximum number of folders in the picture, and in one folder.
const SHOWN_MAX: usize = 1000;
const CHILDREN_MAX: usize = 40;

/// The longest name of a folder, in characters.
const NAME_CHARS_MAX: usize = 80;

/// The maximum number of sections whose links are counted.
const SECTIONS_MAX: usize = 40;

/// A folder during the count.
#[derive(Debug, Default)]
struct PathNode {
    pages: u64,
    bytes: u64,
    children: BTreeMap<String, PathNode>,
}

/// Returns the pages by host and path.
pub(crate) fn tree(graph: &Graph) -> Result<Branch, GraphError> {
    let mut root = PathNode::default();
    let mut places = 0;
    let sql = "SELECT url, coalesce(body_bytes, 0) FROM node WHERE state = 'page'";
    graph.each(
        sql,
        [],
        |row| Ok((row.get::<_, String>(0)?, row.get::<_, u64>(1)?)),
        |(url, bytes)| {
            let mut place = &mut root;
            (place.pages, place.bytes) = (place.pages + 1, place.bytes + bytes);
            for part in parts(&url) {
                if !place.children.contains_key(part) {
                    if places == PLACES_MAX {
                        break;
                    }
                    places += 1;
                }
                place = place.children.entry(part.to_owned()).or_default();
                (place.pages, place.bytes) = (place.pages + 1, place.bytes + bytes);
            }
            ControlFlow::Continue(())
        },
    )?;
    // A single host becomes the root.
    let (title, root) = match root.children.len() {
        1 => root.children.pop_first().unwrap_or_default(),
        _ => ("all hosts".to_owned(), root),
    };
    Ok(branch(&title, root, SHOWN_MAX))
}

/// Returns the host and the folders of a URL, without the last part, which is the page's own.
pub(crate) fn parts(url: &str) -> impl Iterator<Item = &str> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.split(['?', '#']).next().unwrap_or(rest);
    let folders = path.rsplit_once('/').map_or(path, |(folders, _)| folders);
    folders.split('/').filter(|part| !part.is_empty()).take(PARTS_MAX)
}

/// Returns the picture of a folder: its largest folders and, in the remaining room, the contents of
/// these in proportion to their size.
fn branch(title: &str, place: PathNode, room: usize) -> Branch {
    let mut below: Vec<_> = place.children.into_iter().collect();
    below.sort_by(|(a_name, a), (b_name, b)| b.pages.cmp(&a.pages).then_with(|| a_name.cmp(b_name)));
    let shown = below.len().min(CHILDREN_MAX).min(room);
    let more = (below.len() - shown) as u64;
    below.truncate(shown);
    let (left, pages) = (u128::try_from(room - shown).unwrap_or(0), u128::from(place.pages.max(1)));
    let children = below.into_iter().map(|(name, child)| {
        let room = usize::try_from(left * u128::from(child.pages) / pages).unwrap_or(0);
        branch(&name, child, room)
    });
    Branch { title: display_name(title), pages: place.pages, bytes: place.bytes, children: children.collect(), more }
}

fn display_name(text: &str) -> String {
    let mut name = match text.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    };
    shorten_text(&mut name);
    name
}

/// Returns the sections of the site: the first folders of each host, or the second ones if there
/// are fewer than three of those.
pub(crate) fn sections(graph: &Graph) -> Result<Sections, GraphError> {
    let depth = match sizes(graph, 2)?.len() {
        0..3 => 3,
        _ => 2,
    };
    let mut largest: Vec<_> = sizes(graph, depth)?.into_iter().collect();
    largest.sort_by(|(a_name, a), (b_name, b)| b.cmp(a).then_with(|| a_name.cmp(b_name)));
    largest.truncate(SECTIONS_MAX);
    let places: BTreeMap<&str, u8> = largest.iter().zip(0..).map(|((name, _), place)| (name.as_str(), place)).collect();
    let edges = edges(graph, depth, &places)?;
    let is_alone = largest.iter().all(|(name, _)| host(name) == largest.first().map_or("", |(first, _)| host(first)));
    let shown =
        |name: &str| if is_alone { name.strip_prefix(host(name)).unwrap_or(name).to_owned() } else { name.to_owned() };
    let nodes = largest.iter().map(|(name, pages)| {
        let path = shown(name);
        Section { title: display_name(if path.is_empty() { "/" } else { &path }), pages: *pages }
    });
    Ok(Sections { nodes: nodes.collect(), edges })
}

fn host(section: &str) -> &str {
    section.split('/').next().unwrap_or(section)
}

/// Returns the section of a URL: its first parts.
fn section(url: &str, depth: usize) -> String {
    parts(url).take(depth).collect::<Vec<_>>().join("/")
}

/// Returns the number of pages of each section.
fn sizes(graph: &Graph, depth: usize) -> Result<BTreeMap<String, u64>, GraphError> {
    let mut sizes = BTreeMap::new();
    let sql = "SELECT url FROM node WHERE state = 'page'";
    graph.each(
        sql,
        [],
        |row| row.get::<_, String>(0),
        |url| {
            let name = section(&url, depth);
            if sizes.len() < PLACES_MAX || sizes.contains_key(&name) {
                *sizes.entry(name).or_insert(0) += 1;
            }
            ControlFlow::Continue(())
        },
    )?;
    Ok(sizes)
}

/// Returns the links between sections. Needs one byte of memory per URL.
fn edges(graph: &Graph, depth: usize, places: &BTreeMap<&str, u8>) -> Result<Vec<SectionLinks>, GraphError> {
    const NONE: u8 = u8::MAX;
    let mut of_node: Vec<u8> = Vec::new();
    graph.each(
        "SELECT id, url FROM node WHERE state = 'page'",
        [],
        |row| Ok((row.get::<_, usize>(0)?, row.get::<_, String>(1)?)),
        |(id, url)| {
            if of_node.len() <= id {
                of_node.resize(id + 1, NONE);
            }
            if let Some(place) = of_node.get_mut(id) {
                *place = places.get(section(&url, depth).as_str()).copied().unwrap_or(NONE);
            }
            ControlFlow::Continue(())
        },
    )?;
    let mut counts = BTreeMap::new();
    let at = |id: usize| of_node.get(id).copied().filter(|place| *place != NONE);
    graph.each(
        "SELECT e.from_id, t.lands_on FROM edge e JOIN kind k ON k.id = e.kind JOIN node t ON t.id = e.to_id
         WHERE k.leads_to_page AND k.name NOT IN ('redirect', 'canonical')",
        [],
        |row| Ok((row.get::<_, usize>(0)?, row.get::<_, usize>(1)?)),
        |(from, to)| {
            if let (Some(from), Some(to)) = (at(from), at(to))
                && from != to
            {
                *counts.entry((from, to)).or_insert(0) += 1;
            }
            ControlFlow::Continue(())
        },
    )?;
    Ok(counts.into_iter().map(|((from, to), links)| SectionLinks { from: from.into(), to: to.into(), links }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_in_the_folders_of_its_path() {
        for (url, expected, why) in [
            ("https://a.example/", "a.example", "the start page"),
            ("https://a.example/news", "a.example", "its last part is its own"),
            ("https://a.example/news/", "a.example/news", "a folder's page is in the folder"),
            ("https://a.example/news/2026/x.html?y=/z", "a.example/news/2026", "a query is no path"),
            ("https://a.example/1/2/3/4/5/6/7/x", "a.example/1/2/3/4/5", "up to a limit"),
        ] {
            assert_eq!(parts(url).collect::<Vec<_>>().join("/"), expected, "{why}");
        }
    }

    #[test]
    fn the_largest_folders_are_shown() {
        let place = |pages, children| PathNode { pages, bytes: 0, children };
        let many = (1..=60).map(|pages| (format!("p{pages}"), place(pages, BTreeMap::new()))).collect();
        let shown = branch("all", place(100, many), 1000);
        assert_eq!((shown.children.len(), shown.more, shown.children[0].pages), (40, 20, 60));
    }
}
