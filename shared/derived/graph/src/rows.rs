//! What questions to the graph return. The field names are those of JSON lines and of CSV.

use serde::Serialize;

/// A URL, with what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// The URL.
    pub url: String,
    /// What it is: `page`, `copy`, `file`, `redirect`, `missing`, `failed`, `blocked`, `unvisited`, `outside`.
    pub state: String,
    /// The name of its last outcome; `None` if it has none.
    pub outcome_name: Option<String>,
    /// The status code; `None` if nothing answered.
    pub status: Option<u16>,
    /// `<title>`; `None` if it is no page, or has none.
    pub title: Option<String>,
    /// The fewest clicks from a start; `None` if no way leads there.
    pub depth: Option<u32>,
    /// Its PageRank among the pages of the crawl, of which 1 is the average; `None` if it is no page.
    pub rank: Option<f64>,
    /// How many other pages link to it, or to what redirects to it.
    pub linked_from: u64,
    /// How many URLs it links to.
    pub links_to: u64,
    /// Where its redirects lead in the end; itself if it does not redirect.
    pub lands_on: String,
}

/// Which way a link goes, as seen from the URL that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From another page to it.
    In,
    /// From it.
    Out,
}

/// A link of the site as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteLink {
    /// Which way it goes.
    pub direction: Direction,
    /// The page with the link.
    pub from_url: String,
    /// Its target.
    pub to_url: String,
    /// The link's text; `None` if it has none, or none was kept.
    pub anchor: Option<String>,
    /// The kind of link.
    pub kind: String,
    /// What was done with it.
    pub disposition: String,
    /// What the target is (see [`Node::state`]).
    pub state: String,
    /// The name of the target's last outcome; `None` if it has none.
    pub outcome_name: Option<String>,
    /// Where the target leads, if it redirects; `None` if it does not.
    pub lands_on: Option<String>,
    /// Whether whoever follows it gets nothing.
    pub is_broken: bool,
}

/// A link between two URLs, by the numbers that they have in the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The page with the link.
    pub from: i64,
    /// Its target.
    pub to: i64,
    /// The kind of link.
    pub kind: String,
    /// The link's text; `None` if it has none.
    pub anchor: Option<String>,
}

/// A URL that is broken, and how many links lead there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// The URL.
    pub url: String,
    /// The name of its last outcome.
    pub outcome_name: Option<String>,
    /// The status code; `None` if nothing answered.
    pub status: Option<u16>,
    /// The error; `None` where the status says it all.
    pub detail: Option<String>,
    /// When it was visited last.
    pub last_at: Option<String>,
    /// How many pages link to it.
    pub linked_from: u64,
    /// The pages that link to it, as many as were asked for.
    pub holders: Vec<Holder>,
}

/// A page with a broken link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// The page.
    pub from_url: String,
    /// What it links to: the broken URL, or what redirects there.
    pub to_url: String,
    /// The link's text; `None` if it has none.
    pub anchor: Option<String>,
    /// The kind of link.
    pub kind: String,
}

/// A redirect with what follows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chain {
    /// Where it starts.
    pub url: String,
    /// How many redirects follow one another.
    pub hops: u32,
    /// How it ends: `lands`, `loops`, `too_long`.
    pub ends: String,
    /// How many pages link to its start.
    pub linked_from: u64,
    /// Its steps: of a loop, the last is one of those before.
    pub steps: Vec<Step>,
}

/// A URL of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The URL.
    pub url: String,
    /// The status code; `None` if it was not visited.
    pub status: Option<u16>,
    /// What it is.
    pub state: String,
}

/// A page that no other page links to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Orphan {
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// When it was visited last.
    pub last_at: Option<String>,
    /// Whether a sitemap lists it.
    pub in_sitemap: bool,
}

/// A URL whose contents are those of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Duplicate {
    /// What is the same: `body`, `text`, or `near`: the texts are nearly the same.
    pub of_what: String,
    /// The first URL of those that are alike.
    pub same_as: String,
    /// The URL.
    pub url: String,
    /// In how many of their 64 bits the fingerprints of the two texts differ.
    pub distance: u32,
    /// The URL that the page calls canonical; `None` if it names none.
    pub canonical: Option<String>,
    /// Its title.
    pub title: Option<String>,
}

/// How much there is of everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// URLs that are known or linked to.
    pub urls: u64,
    /// Pages.
    pub pages: u64,
    /// Links.
    pub links: u64,
    /// URLs that are broken and linked to.
    pub broken: u64,
    /// Links to them.
    pub broken_links: u64,
    /// Chains: more than one redirect, or one that leads nowhere.
    pub chains: u64,
    /// Pages that no other page links to.
    pub orphans: u64,
}
