//! Queries to the link graph: `dragline links`, `broken`, `chains`, `orphans` and `duplicates`.

mod list;
mod text;

use std::ops::ControlFlow;

use dragline_domain::frontier::IterationStatus;
use dragline_domain::url::CrawlUrl;
use dragline_graph::{Broken, Chain, Graph, Malformed, MissingFragment, Node, Unchecked};
use dragline_ports::reader::Reader;
use dragline_ports::row;

pub(crate) use self::list::List;
use crate::args::{BrokenArgs, ChainsArgs, CrawlSource, DuplicatesArgs, LinkDirections, LinksArgs, OrphansArgs};
use crate::crawl_handle::{self, CrawlHandle};
use crate::definition_source::parse_url;
use crate::derived_files;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::terminal::Console;
use crate::url_visits;

/// The number of linking pages per broken link, unless all are requested.
const HOLDERS_SHOWN: u32 = 5;

/// Shows the links to and from a URL.
///
/// # Errors
/// The URL is not valid or not in the graph, there is no such crawl, or it cannot be read.
pub(crate) async fn links(args: &LinksArgs, console: &Console) -> Result<Exit, Failure> {
    // Reports a mistake in the URL before reading anything.
    parse_url(&args.url)?;
    match args.of.which()? {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => show_links(&found, args, console).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => {
            show_links(&crate::stack::find(crawl, stack).await?, args, console).await
        }
    }
}

async fn show_links(found: &CrawlHandle<impl Reader>, args: &LinksArgs, console: &Console) -> Result<Exit, Failure> {
    let graph = derived_files::graph(found, console).await?;
    let url = url_visits::resolve_url(found, &args.url).await?;
    print_links(args, &graph, &node(found, &graph, &url)?)
}

/// Opens the graph of the requested crawl, and returns what it does not cover.
async fn graph_for_source(crawl: CrawlSource<'_>, console: &Console) -> Result<(Graph, Unchecked), Failure> {
    match crawl {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => open_graph(&found, console).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => open_graph(&crate::stack::find(crawl, stack).await?, console).await,
    }
}

async fn open_graph(found: &CrawlHandle<impl Reader>, console: &Console) -> Result<(Graph, Unchecked), Failure> {
    let to_go = urls_to_go(found).await?;
    let graph = derived_files::graph(found, console).await?;
    let unchecked = graph.unchecked(to_go)?;
    Ok((graph, unchecked))
}

/// Returns the number of URLs still to be visited; `None` if the crawl is over.
async fn urls_to_go(found: &CrawlHandle<impl Reader>) -> Result<Option<u64>, Failure> {
    let iteration = found.iteration(None).await?;
    if iteration.status == IterationStatus::Closed {
        return Ok(None);
    }
    let progress = found.reader.progress(iteration.number).await.map_err(|error| found.read_error(error))?;
    Ok(Some(progress.waiting()))
}

/// Reports what an answer does not cover: after the text, or on standard error beside rows.
fn report_unchecked(list: &mut List, unchecked: &Unchecked, console: &Console) {
    for line in unchecked.lines() {
        if list.has_rows() {
            console.say(&line);
        } else {
            list.write_text_after(&format!("{line}\n"));
        }
    }
}

/// Returns the text for an empty list. Emptiness is only certain once the crawl is over.
fn empty_list_text(what: &str, unchecked: &Unchecked) -> String {
    let so_far = if unchecked.may_change() { " so far" } else { "" };
    format!("{what}{so_far}\n")
}

fn node(found: &CrawlHandle<impl Reader>, graph: &Graph, url: &CrawlUrl) -> Result<Node, Failure> {
    let node = graph.node(url.as_str())?;
    node.ok_or_else(|| url_visits::not_known_error(&found.place, &found.crawl, url))
}

fn print_links(args: &LinksArgs, graph: &Graph, node: &Node) -> Result<Exit, Failure> {
    let mut list = List::new(&args.list);
    list.write_text(|colour| text::node(node, colour));
    if args.ways != LinkDirections::Out {
        list.section(&format!("Linked from {}", text::pages(node.linked_from)));
        graph.links_to(&node.url, |link| {
            // People see the target of a redirect by its link.
            let stands_for_its_page = matches!(link.kind.as_str(), "redirect" | "canonical");
            if stands_for_its_page && !list.has_rows() {
                return ControlFlow::Continue(());
            }
            list.add(&link, |colour| text::link(&link, colour))
        })?;
    }
    if args.ways != LinkDirections::In {
        list.section(&format!("Links to {}", text::urls(node.links_to)));
        graph.links_from(&node.url, |link| list.add(&link, |colour| text::link(&link, colour)))?;
    }
    list.finish().map_err(while_writing)?;
    Ok(Exit::Done)
}

/// A broken link, as a row.
struct BrokenRow<'b> {
    url: &'b str,
    outcome_name: Option<&'b str>,
    status: Option<u16>,
    detail: Option<&'b str>,
    last_at: Option<&'b str>,
    from_url: &'b str,
    to_url: &'b str,
    anchor: Option<&'b str>,
    kind: &'b str,
    finding: &'b str,
}

row! { BrokenRow<'b> { url, outcome_name, status, detail, last_at, from_url, to_url, anchor, kind, finding } }

/// Shows broken links and the pages that have them.
///
/// # Errors
/// There is no such crawl, or it cannot be read.
pub(crate) async fn broken(args: &BrokenArgs, console: &Console) -> Result<Exit, Failure> {
    let (graph, unchecked) = graph_for_source(args.of.which()?, console).await?;
    let mut list = List::new(&args.findings.list);
    let holders_max = if list.is_whole() { u32::MAX } else { HOLDERS_SHOWN };
    let mut any = false;
    graph.broken(holders_max, |broken| {
        any = true;
        list.add_all(broken_rows(&broken), |colour| text::broken(&broken, colour))
    })?;
    let counts = graph.counts()?;
    list.write_text_after(&text::broken_total(&counts, &unchecked));
    any |= list_flaws(&graph, &mut list)?;
    report_unchecked(&mut list, &unchecked, console);
    list.finish().map_err(while_writing)?;
    Ok(args.findings.exit(any, &unchecked))
}

fn broken_rows(broken: &Broken) -> impl Iterator<Item = BrokenRow<'_>> {
    broken.holders.iter().map(|holder| BrokenRow {
        url: &broken.url,
        outcome_name: broken.outcome_name.as_deref(),
        status: broken.status,
        detail: broken.detail.as_deref(),
        last_at: broken.last_at.as_deref(),
        from_url: &holder.from_url,
        to_url: &holder.to_url,
        anchor: holder.anchor.as_deref(),
        kind: &holder.kind,
        finding: "broken",
    })
}

/// Returns the row of a link that is wrong whatever its target answers.
const fn flaw_row<'b>(
    url: &'b str,
    (from_url, to_url): (&'b str, &'b str),
    (anchor, kind): (Option<&'b str>, &'b str),
    finding: &'b str,
) -> BrokenRow<'b> {
    BrokenRow {
        url,
        outcome_name: None,
        status: None,
        detail: None,
        last_at: None,
        from_url,
        to_url,
        anchor,
        kind,
        finding,
    }
}

/// Lists malformed references and fragments that name nothing. Returns whether there are any.
fn list_flaws(graph: &Graph, list: &mut List) -> Result<bool, Failure> {
    let mut any = false;
    graph.malformed(|link| {
        if !std::mem::replace(&mut any, true) {
            list.section("Malformed links");
        }
        let Malformed { from_url, written, explanation, anchor, kind, .. } = &link;
        let row = flaw_row(written, (from_url, written), (anchor.as_deref(), kind), "links_malformed");
        list.add(BrokenRow { detail: Some(explanation), ..row }, |colour| text::malformed(&link, colour))
    })?;
    let mut last = None;
    graph.missing_fragments(|link| {
        if last.is_none() {
            list.section("Links to missing places");
        }
        let is_first = last.replace(link.url.clone()).is_none_or(|last| last != link.url);
        let MissingFragment { url, from_url, to_url, anchor, kind } = &link;
        let row = flaw_row(url, (from_url, to_url), (anchor.as_deref(), kind), "fragments_missing");
        list.add(row, |colour| text::missing_fragment(&link, is_first, colour))
    })?;
    Ok(any || last.is_some())
}

/// A chain, as a row. URLs do not contain spaces, so spaces separate the steps.
struct ChainRow<'c> {
    url: &'c str,
    hops: u32,
    ends: &'c str,
    linked_from: u64,
    lands_on: Option<&'c str>,
    state: Option<&'c str>,
    steps: String,
}

row! { ChainRow<'c> { url, hops, ends, linked_from, lands_on, state, steps } }

impl<'c> From<&'c Chain> for ChainRow<'c> {
    fn from(chain: &'c Chain) -> Self {
        let last = chain.steps.last().filter(|_| chain.ends == "lands");
        Self {
            url: &chain.url,
            hops: chain.hops,
            ends: &chain.ends,
            linked_from: chain.linked_from,
            lands_on: last.map(|last| last.url.as_str()),
            state: last.map(|last| last.state.as_str()),
            steps: chain.steps.iter().map(|step| step.url.as_str()).collect::<Vec<_>>().join(" "),
        }
    }
}

/// Shows chains of redirects.
///
/// # Errors
/// There is no such crawl, or it cannot be read.
pub(crate) async fn chains(args: &ChainsArgs, console: &Console) -> Result<Exit, Failure> {
    let (graph, unchecked) = graph_for_source(args.of.which()?, console).await?;
    // Readers do not follow requisites, so these are not part of a chain.
    let unchecked = Unchecked { requisites: 0, ..unchecked };
    let mut list = List::new(&args.findings.list);
    let mut any = false;
    graph.chains(args.hops, |chain| {
        any = true;
        list.add(ChainRow::from(&chain), |colour| text::chain(&chain, colour))
    })?;
    if !any {
        list.write_text_after(&empty_list_text("no chains of redirects", &unchecked));
    }
    report_unchecked(&mut list, &unchecked, console);
    list.finish().map_err(while_writing)?;
    Ok(args.findings.exit(any, &unchecked))
}

/// Shows pages without links to them.
///
/// # Errors
/// There is no such crawl, or it cannot be read.
pub(crate) async fn orphans(args: &OrphansArgs, console: &Console) -> Result<Exit, Failure> {
    let (graph, unchecked) = graph_for_source(args.of.which()?, console).await?;
    let unchecked = Unchecked { requisites: 0, ..unchecked };
    let mut list = List::new(&args.list);
    let mut any = false;
    graph.orphans(|orphan| {
        any = true;
        list.add(&orphan, |_| text::orphan(&orphan))
    })?;
    if !any {
        list.write_text_after(&empty_list_text("every page is linked to", &unchecked));
    }
    report_unchecked(&mut list, &unchecked, console);
    list.finish().map_err(while_writing)?;
    Ok(Exit::Done)
}

/// Shows URLs with identical content.
///
/// # Errors
/// There is no such crawl, or it cannot be read.
pub(crate) async fn duplicates(args: &DuplicatesArgs, console: &Console) -> Result<Exit, Failure> {
    let (graph, unchecked) = graph_for_source(args.of.which()?, console).await?;
    let unchecked = Unchecked { requisites: 0, ..unchecked };
    let mut list = List::new(&args.list);
    let mut group = None;
    graph.duplicates(|duplicate| {
        let is_first = group.as_ref() != Some(&(duplicate.of_what.clone(), duplicate.same_as.clone()));
        group = Some((duplicate.of_what.clone(), duplicate.same_as.clone()));
        list.add(&duplicate, |colour| text::duplicate(&duplicate, is_first, colour))
    })?;
    if group.is_none() {
        list.write_text_after(&empty_list_text("no two URLs have the same contents", &unchecked));
    }
    report_unchecked(&mut list, &unchecked, console);
    list.finish().map_err(while_writing)?;
    Ok(Exit::Done)
}
