//! URLs on demand: reads them from the arguments and a file, and adds them to the iteration.

use std::collections::BTreeMap;
use std::path::Path;

use dragline_domain::definition::{Definition, Draft};
use dragline_domain::frontier::{Demand, IterationRow};
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_domain::url::{CrawlUrl, Origin, UrlRules};
use dragline_pipeline::World;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::schedule::{self, SightedUrl};
use dragline_ports::clock::Clock;
use dragline_ports::error::{PortError, PortErrorKind};
use dragline_ports::frontier::SeedResult;

use super::nothing_to_crawl;
use super::run::CliWorld;
use crate::args::RunArgs;
use crate::definition_source::{Source, parse_url};
use crate::error::Failure;
use crate::terminal::{Console, count, plural, safe};
use crate::url_list::{Input, Line};

/// How many URLs are added at a time.
const BATCH: usize = 1_000;

/// How many rejected URLs are named in messages.
const NAMED_MAX: u64 = 10;

/// The demanded URLs: arguments, lines of a file, or both.
pub(super) struct DemandedUrls {
    demand: Demand,
    /// As given: the crawl's rules decide which parameters are stripped.
    urls: Vec<String>,
    input: Option<Input>,
}

impl DemandedUrls {
    /// Opens the sources of URLs that the arguments name.
    ///
    /// # Errors
    /// The file cannot be read, or an argument is not a URL.
    pub(super) fn open(demand: Demand, input: Option<&Path>, source: &Source<'_>) -> Result<Self, Failure> {
        let input = input.map(Input::open).transpose()?;
        let urls = if let Source::Urls(urls) = source { urls.to_vec() } else { Vec::new() };
        urls.iter().try_for_each(|url| parse_url(url).map(drop))?;
        Ok(Self { demand, urls, input })
    }

    /// Returns the crawl named after the host of the URL arguments; `None` if there are none.
    pub(super) fn crawl(&self) -> Option<CrawlId> {
        self.urls.first().and_then(|url| parse_url(url).ok()).map(|url| CrawlId::for_origin(&url.origin()))
    }

    /// Returns the definition of a new crawl for these URLs. The first URL of each origin is a
    /// seed, so that all are in scope.
    ///
    /// # Errors
    /// There is no URL, there are more origins than a crawl may have seeds, or the file cannot be
    /// read.
    pub(super) fn new_definition(&mut self, run: &RunArgs<'_>) -> Result<Definition, Failure> {
        let mut seeds: BTreeMap<Origin, CrawlUrl> = BTreeMap::new();
        let mut first = None;
        let (mut wrong, mut wrong_lines) = (Vec::new(), 0_u64);
        for line in self.lines()? {
            let Line { place, text } = line?;
            match text.and_then(|text| parse_with_rules(&text, &UrlRules::default())) {
                Ok(url) => {
                    first.get_or_insert_with(|| url.origin());
                    seeds.entry(url.origin()).or_insert(url);
                }
                Err(why) => {
                    wrong_lines += 1;
                    if wrong_lines <= NAMED_MAX {
                        wrong.push(with_place(place.as_deref(), &why));
                    }
                }
            }
        }
        let seed = first.and_then(|first| seeds.remove(&first));
        if seed.is_none() {
            return Err(match wrong_lines {
                0 => nothing_to_crawl(run.data),
                _ => no_urls(&wrong, wrong_lines - wrong.len() as u64),
            });
        }
        let draft = Draft::for_seeds(seed.into_iter().chain(seeds.into_values()).collect());
        Ok(Definition::new(run.change(draft))?)
    }

    /// Returns the URL arguments, then the lines of the file.
    fn lines(&mut self) -> Result<impl Iterator<Item = Result<Line, Failure>>, Failure> {
        let urls: Vec<Line> = self.urls.iter().map(|url| Line { place: None, text: Ok(url.clone()) }).collect();
        let lines = self.input.as_mut().map(Input::lines).transpose()?;
        Ok(urls.into_iter().map(Ok).chain(lines.into_iter().flatten()))
    }

    /// Adds the URLs to an iteration in batches, and starts it. Without URLs, the definition's
    /// seeds are added.
    ///
    /// # Errors
    /// The file cannot be read, or the store failed.
    pub(super) async fn add(
        &mut self,
        world: &CliWorld,
        iteration: &IterationRow,
        console: &Console,
    ) -> Result<(), Failure> {
        let contexts = Contexts::default();
        let context = contexts.for_iteration(world.frontier(), &iteration.crawl, iteration.number).await?;
        if self.urls.is_empty() && self.input.is_none() {
            self.urls = context.definition.seeds.iter().map(|seed| seed.as_str().to_owned()).collect();
        }
        let (demand, began) = (self.demand.clone(), world.clock().now());
        let mut counts = Counts::default();
        let mut lines = self.lines()?.peekable();
        let mut batches = 0_u32..;
        while lines.peek().is_some() {
            let mut urls = Vec::with_capacity(BATCH);
            for line in lines.by_ref().take(BATCH) {
                let Line { place, text } = line?;
                let url =
                    text.clone().and_then(|text| parse_with_rules(&text, &context.definition.strip_query_parameters));
                let sound =
                    url.and_then(|url| schedule::in_scope(&context, &url).map_err(|refusal| refusal.to_string()));
                match sound {
                    Ok(url) => urls.push(SightedUrl::seed(url, &context.definition)),
                    Err(why) => counts.reject(place.as_deref(), &why, console),
                }
            }
            let trigger = TriggerId(format!("demand-{began}-{}", batches.next().unwrap_or_default()));
            let named = urls.len() as u64;
            let added = schedule::add(world, &context, &trigger, iteration, Some(&demand), urls).await?;
            if added.seeded == SeedResult::IterationOver {
                let why = "the iteration ended while URLs were being added to it";
                return Err(PortError::new(PortErrorKind::Unavailable, "add URLs", &iteration.crawl, why).into());
            }
            counts.queued += added.queued;
            counts.not_due += added.not_due;
            counts.known += named.saturating_sub(added.queued + added.not_due);
        }
        drop(lines);
        schedule::go_on(world, &contexts, iteration.clone()).await?;
        console.say(&counts.words());
        Ok(())
    }
}

/// Returns the error for a list without a valid URL: its first lines, with the place and error of
/// each, and the number of further lines.
pub(super) fn no_urls(lines: &[String], more: u64) -> Failure {
    let more = if more > 0 { format!("; and {} more", count(more)) } else { String::new() };
    Failure::new(format!("nothing to crawl: no line is a URL: {}{more}", lines.join("; ")))
        .with_hint("write one URL a line, with `https://` or `http://`")
}

/// Prefixes a line's error with its place.
fn with_place(place: Option<&str>, why: &str) -> String {
    place.map_or_else(|| why.to_owned(), |place| format!("{place}: {why}"))
}

fn parse_with_rules(text: &str, rules: &UrlRules) -> Result<CrawlUrl, String> {
    CrawlUrl::parse(text, rules).map_err(|error| format!("`{}` cannot be crawled: {error}", safe(text)))
}

/// How many URLs were added, known or rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    queued: u64,
    not_due: u64,
    /// Already in the iteration, or named twice.
    known: u64,
    left_out: u64,
}

impl Counts {
    /// Counts a rejected URL, and prints the reason for the first ones.
    fn reject(&mut self, place: Option<&str>, why: &str, console: &Console) {
        self.left_out += 1;
        if self.left_out <= NAMED_MAX {
            console.say(&with_place(place, why));
        }
    }

    fn words(self) -> String {
        let mut words = format!("{} queued", plural(self.queued, "URL"));
        for (urls, what) in [
            (self.not_due, "not due (--force visits them)"),
            (self.known, "named twice, or in this iteration already"),
            (self.left_out, "left out"),
        ] {
            if urls > 0 {
                words = format!("{words}; {} {what}", count(urls));
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_url_is_accounted_for() {
        for (counts, expected) in [
            (Counts { queued: 1, ..Counts::default() }, "1 URL queued"),
            (
                Counts { queued: 12_345, not_due: 2, known: 3, left_out: 4 },
                "12,345 URLs queued; 2 not due (--force visits them); 3 named twice, or in this iteration already; 4 left out",
            ),
        ] {
            assert_eq!(counts.words(), expected);
        }
    }
}
