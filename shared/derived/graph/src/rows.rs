//! The results of queries to the graph.

use dragline_ports::{fields, row};
use serde::Serialize;

/// A URL of the graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// The URL.
    pub url: String,
    /// Its state: `page`, `copy`, `file`, `redirect`, `missing`, `failed`, `blocked`, `unvisited`,
    /// `outside`.
    pub state: String,
    /// The name of its last outcome; `None` if it has none.
    pub outcome_name: Option<String>,
    /// The status code; `None` without an answer.
    pub status: Option<u16>,
    /// `<title>`; `None` if it has none, or is not a page.
    pub title: Option<String>,
    /// The fewest clicks from a start; `None` if it cannot be reached.
    pub depth: Option<u32>,
    /// Its PageRank among the pages of the crawl, whose average is 1; `None` if it is not a page.
    pub rank: Option<f64>,
    /// How many other pages link to it, or to a redirect that leads to it.
    pub linked_from: u64,
    /// How many URLs it links to.
    pub links_to: u64,
    /// The destination of its redirects; itself if it does not redirect.
    pub lands_on: String,
}

/// The direction of a link, as seen from the requested URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From another page to it.
    In,
    /// From it.
    Out,
}

fields! { Text Direction => |direction| if direction == Self::In { "in" } else { "out" }.to_owned().into(); }

/// A link of the current site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteLink {
    /// Which way it goes.
    pub direction: Direction,
    /// The page with the link.
    pub from_url: String,
    /// Its target.
    pub to_url: String,
    /// The anchor text; `None` if it has none, or none was kept.
    pub anchor: Option<String>,
    /// The kind of link.
    pub kind: String,
    /// Its disposition.
    pub disposition: String,
    /// The target's state (see [`Node::state`]).
    pub state: String,
    /// The name of the target's last outcome; `None` if it has none.
    pub outcome_name: Option<String>,
    /// The destination of the target's redirects; `None` if it does not redirect.
    pub lands_on: Option<String>,
    /// Whether visitors who follow it get nothing.
    pub is_broken: bool,
    /// The fragment of this use of the link, without its `#`; `None` if it has none that names an
    /// element.
    pub fragment: Option<String>,
    /// The part of the page with this use: `header`, `nav`, `main`, `aside`, `footer`; `None`
    /// outside of all, and for links other than `<a>` and `<area>`.
    pub part: Option<String>,
    /// Its `rel`, as written; `None` if it has none.
    pub rel: Option<String>,
    /// The alternative text of the picture in it; `None` if there is none.
    pub alt: Option<String>,
}

/// A link between two URLs, by their ids in the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The page with the link.
    pub from: i64,
    /// Its target.
    pub to: i64,
    /// The kind of link.
    pub kind: String,
    /// The anchor text; `None` if it has none.
    pub anchor: Option<String>,
}

/// A broken URL with links to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// The URL.
    pub url: String,
    /// The name of its last outcome.
    pub outcome_name: Option<String>,
    /// The status code; `None` without an answer.
    pub status: Option<u16>,
    /// The error; `None` if the status says it all.
    pub detail: Option<String>,
    /// The time of the last visit.
    pub last_at: Option<String>,
    /// How many pages link to it.
    pub linked_from: u64,
    /// The pages that link to it, up to the requested number.
    pub holders: Vec<LinkingPage>,
}

/// A page with a broken link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkingPage {
    /// The page.
    pub from_url: String,
    /// Its target: the broken URL, or a redirect that leads to it.
    pub to_url: String,
    /// The anchor text; `None` if it has none.
    pub anchor: Option<String>,
    /// The kind of link.
    pub kind: String,
}

/// A reference of a page that is not a valid URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Malformed {
    /// The page.
    pub from_url: String,
    /// The reference, as written.
    pub written: String,
    /// The name of what is wrong.
    pub why: String,
    /// What is wrong, in a few words.
    pub explanation: String,
    /// The text of the link; `None` if it has none.
    pub anchor: Option<String>,
    /// The kind of link that it would be.
    pub kind: String,
}

/// A link whose fragment names nothing in its target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingFragment {
    /// Where the link ends, with the fragment.
    pub url: String,
    /// The page with the link.
    pub from_url: String,
    /// Its target: the same, or a redirect that leads there.
    pub to_url: String,
    /// The text of the link; `None` if it has none.
    pub anchor: Option<String>,
    /// The kind of link.
    pub kind: String,
}

/// A chain of redirects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chain {
    /// Its start.
    pub url: String,
    /// The number of redirects.
    pub hops: u32,
    /// Its end: `lands`, `loops`, `too_long`.
    pub ends: String,
    /// How many pages link to its start.
    pub linked_from: u64,
    /// Its steps. The last step of a loop repeats an earlier one.
    pub steps: Vec<Step>,
}

/// A URL of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The URL.
    pub url: String,
    /// The status code; `None` if it was not visited.
    pub status: Option<u16>,
    /// Its state.
    pub state: String,
    /// Its last outcome, which says of a redirect whether it is permanent; `None` if it was not
    /// visited.
    pub outcome_name: Option<String>,
}

row! { SiteLink { direction, from_url, to_url, anchor, kind, disposition, state, outcome_name, lands_on, is_broken, fragment, part, rel, alt } }

/// A page that no other page links to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// The time of the last visit.
    pub last_at: Option<String>,
    /// Whether a sitemap lists it.
    pub in_sitemap: bool,
}

row! { Orphan { url, title, last_at, in_sitemap } }

/// A URL with the same content as another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// What is the same: `body`, `text`, or `near` for nearly the same text.
    pub of_what: String,
    /// The first URL of the group.
    pub same_as: String,
    /// The URL.
    pub url: String,
    /// The number of differing bits in the 64-bit fingerprints of the two texts.
    pub distance: u32,
    /// The canonical URL in the page; `None` if it names none.
    pub canonical: Option<String>,
    /// Its title.
    pub title: Option<String>,
}

row! { Duplicate { of_what, same_as, url, distance, canonical, title } }

/// The totals of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// URLs that are known or linked to.
    pub urls: u64,
    /// Pages.
    pub pages: u64,
    /// Links.
    pub links: u64,
    /// Broken URLs with links to them.
    pub broken: u64,
    /// Links to them.
    pub broken_links: u64,
    /// Chains: more than one redirect, or one that loops or is too long.
    pub chains: u64,
    /// Pages that no other page links to.
    pub orphans: u64,
}
