//! `dragline crawl`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use dragline_domain::content::ContentLevel;
use dragline_domain::definition::{
    Canonical, Draft, ExternalLinks, Feeds, Key, RenderWhen, Requisites, Sitemaps, Soft404, UrlPattern, Within,
};
use dragline_domain::ids::CrawlId;
use dragline_domain::use_preferences::Purpose;
use dragline_engine::begin::Abandon;

use super::{
    Answer, DemandArgs, NetworkArgs, NotifyArgs, OverruleArgs, RunArgs, SinkArgs, data_directory, key, values,
};
use crate::definition_source::Source;
use crate::error::Failure;
use crate::open_directory::WaitArgs;
use crate::terminal::{Form, Verbosity};

/// Crawl a site, resume a crawl, or crawl again
#[derive(Debug, Args)]
#[command(
    long_about = "Crawl a site, resume a crawl, or crawl again.\n\n\
                  An unfinished iteration resumes where it was interrupted; after a finished one, the next iteration begins. \
                  Without a URL or a crawl.yaml, this runs the crawl in the data directory as it was last defined; if there are several, --crawl \
                  says which. Each definition has a name, by default after its first seed's host, and a directory holds any number of crawls. Options override \
                  the keys of crawl.yaml. With a URL, keys that no option names have their defaults, whatever the last run had; without one, they stay. Politeness, fetch limits and the user agent can change at any time. A change to which URLs \
                  are crawled has to wait until the iteration is finished; --abandon ends it early.",
    after_help = "\
Examples:
  dragline crawl example.org
  dragline crawl https://example.org --max-pages 500 --exclude '\\.zip$'
  dragline crawl crawl.yaml --data example-data
  dragline crawl                            resume, or crawl again
  dragline crawl --crawl docs               the same, if the directory holds several crawls
  dragline crawl -v                         the same, with a line for each URL
  dragline crawl -i urls.txt --depth 0      visit these URLs now, and nothing else
  dragline crawl https://example.org/news/ --pattern /news/ --force
  dragline crawl https://example.org --markdown pages
  dragline crawl https://example.org --requisites fetch   pages as they look, for `dragline archive`
  dragline crawl --quiet --json > summary.json
  dragline crawl --progress json 2> events.jsonl

Ctrl-C stops the crawl cleanly: requests under way are finished and stored. A second Ctrl-C stops it at once; nothing that is stored is lost."
)]
pub(crate) struct CrawlArgs {
    /// Where to begin: URLs, or one crawl.yaml [default: the crawl in the data directory]
    #[arg(value_name = "URL|crawl.yaml")]
    pub(crate) targets: Vec<String>,
    /// The definition to crawl by
    #[arg(long, short = 'f', value_name = "crawl.yaml", conflicts_with = "targets")]
    definition: Option<PathBuf>,
    /// The directory where crawls are stored [default: `$DRAGLINE_DATA`, or dragline-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The crawl to resume, if the directory holds several; with a URL or crawl.yaml, the name of
    /// its crawl [default: as `name` says, or after the first seed's host]
    #[arg(long, value_name = "NAME")]
    crawl: Option<CrawlId>,
    /// End the unfinished iteration as it stands, and begin the next one with the changed
    /// definition
    #[arg(long)]
    abandon: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    disk: DiskArgs,
    #[command(flatten)]
    pub(crate) demand: DemandArgs,
    #[command(flatten)]
    overrides: Overrides,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    overrule: OverruleArgs,
    #[command(flatten)]
    notify: NotifyArgs,
    #[command(flatten)]
    sink: SinkArgs,
}

/// How a run treats this machine: the data directory, its disk, and how much it does at once.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DiskArgs {
    /// Stop cleanly when the disk of the data directory has less free space than this, such as
    /// `2GiB`; `0B` for no limit
    #[arg(long, value_name = "SIZE", value_parser = values::size, default_value = "1GiB")]
    pub(crate) keep_free: u64,
    /// The most sites that are visited at the same time [default: as many as there is room for in
    /// memory and files]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) origins: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) waiting: WaitArgs,
}

/// What a run prints.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print the summary to standard output as one JSON object
    #[arg(long)]
    json: bool,
    /// Print errors only
    #[arg(long, short, conflicts_with = "progress")]
    quiet: bool,
    /// How to report progress on standard error
    #[arg(long, value_name = "FORM", default_value = "auto")]
    progress: Progress,
    /// Afterwards, write each page of the site as it is now into this directory as Markdown; makes
    /// `content` full
    #[arg(long, value_name = "DIR")]
    pub(crate) markdown: Option<PathBuf>,
}

impl OutputArgs {
    /// Returns the form of the summary.
    pub(crate) const fn answer(&self) -> Answer {
        Answer::from_flag(self.json)
    }

    /// Returns how much to print.
    pub(crate) const fn verbosity(&self, verbose: u8) -> Verbosity {
        match (self.quiet, verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, _) => Verbosity::Urls,
        }
    }

    /// Returns the form of the output on standard error.
    pub(crate) const fn form(&self) -> Form {
        match self.progress {
            Progress::Auto => Form::Text,
            Progress::Json => Form::Json,
        }
    }
}

/// How progress is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Progress {
    /// A live display on a terminal; elsewhere, a line every ten seconds
    Auto,
    /// Nothing but events, one JSON object per line (docs/reference/commands.md)
    Json,
}

impl CrawlArgs {
    /// Returns the arguments of the run, with these targets in place of those that were typed.
    ///
    /// # Errors
    /// A definition is among several arguments.
    pub(crate) fn run<'a>(&'a self, targets: &'a [String]) -> Result<RunArgs<'a>, Failure> {
        Ok(RunArgs {
            source: Source::from_args(self.definition.as_deref(), targets)?,
            data: data_directory(self.data.as_deref()),
            crawl: self.crawl.clone(),
            abandon: if self.abandon { Abandon::Unfinished } else { Abandon::Nothing },
            overrides: self.overrides.clone(),
            network: self.network.clone(),
            overrule: self.overrule.clone(),
            output: &self.output,
            disk: self.disk,
            notify: self.notify.clone(),
            sink: self.sink.clone(),
        })
    }
}

/// Options that override a key of the definition. Each key describes its own flag.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Definition")]
pub(super) struct Overrides {
    #[arg(long, value_name = "N", help = key::help(Key::BudgetPages))]
    max_pages: Option<u64>,
    #[arg(long, value_name = "N", help = key::help(Key::ScopeMaxDepth))]
    max_depth: Option<u32>,
    #[arg(long, value_name = "TIME", value_parser = values::duration, help = key::help(Key::BudgetDuration))]
    max_time: Option<Duration>,
    #[arg(long, value_name = "WORD", value_parser = values::within(), help = key::help(Key::ScopeWithin))]
    within: Option<Within>,
    #[arg(long, value_name = "TIME", value_parser = values::duration, help = key::help(Key::PolitenessDelay))]
    delay: Option<Duration>,
    #[arg(long, value_name = "N", help = key::help(Key::PolitenessConcurrency))]
    concurrency: Option<u16>,
    #[arg(long, value_name = "N", help = key::help(Key::FetchRetries))]
    retries: Option<u8>,
    #[arg(long, value_name = "LEVEL", value_parser = values::content(), help = key::help(Key::Content))]
    content: Option<ContentLevel>,
    #[arg(long, value_name = "WORD", value_parser = values::sitemaps(), help = key::help(Key::Sitemaps))]
    sitemaps: Option<Sitemaps>,
    #[arg(long, value_name = "WORD", value_parser = values::feeds(), help = key::help(Key::Feeds))]
    feeds: Option<Feeds>,
    #[arg(long, value_name = "WORD", value_parser = values::requisites(), help = key::help(Key::Requisites))]
    requisites: Option<Requisites>,
    #[arg(long, help = key::help(Key::LinksExternal))]
    check_external: bool,
    #[arg(long, value_name = "WORD", value_parser = values::canonical(), help = key::help(Key::Canonical))]
    canonical: Option<Canonical>,
    #[arg(long, value_name = "WORD", value_parser = values::soft_404(), help = key::help(Key::Soft404))]
    soft_404: Option<Soft404>,
    #[arg(long, value_name = "WORD", value_parser = values::render(), help = key::help(Key::RenderWhen))]
    render: Option<RenderWhen>,
    #[arg(long, value_name = "WORD", value_parser = values::purpose(), help = key::help(Key::Purpose))]
    purpose: Option<Purpose>,
    #[arg(long, value_name = "RE", value_parser = values::pattern, help = key::help(Key::ScopeInclude))]
    include: Vec<UrlPattern>,
    #[arg(long, value_name = "RE", value_parser = values::pattern, help = key::help(Key::ScopeExclude))]
    exclude: Vec<UrlPattern>,
}

impl Overrides {
    /// Returns the draft with these overrides.
    pub(super) fn apply(&self, mut draft: Draft) -> Draft {
        draft.budget.pages = self.max_pages.or(draft.budget.pages);
        draft.scope.max_depth = self.max_depth.or(draft.scope.max_depth);
        draft.budget.duration = self.max_time.or(draft.budget.duration);
        draft.scope.within = self.within.unwrap_or(draft.scope.within);
        draft.politeness.delay = self.delay.unwrap_or(draft.politeness.delay);
        draft.politeness.concurrency = self.concurrency.unwrap_or(draft.politeness.concurrency);
        draft.fetch.retries = self.retries.unwrap_or(draft.fetch.retries);
        draft.content = self.content.unwrap_or(draft.content);
        draft.sitemaps = self.sitemaps.unwrap_or(draft.sitemaps);
        draft.feeds = self.feeds.unwrap_or(draft.feeds);
        draft.requisites = self.requisites.unwrap_or(draft.requisites);
        if self.check_external {
            draft.links.external = ExternalLinks::Check;
        }
        draft.canonical = self.canonical.unwrap_or(draft.canonical);
        draft.soft_404 = self.soft_404.unwrap_or(draft.soft_404);
        draft.render.when = self.render.unwrap_or(draft.render.when);
        draft.purpose = self.purpose.or(draft.purpose);
        if !self.include.is_empty() {
            draft.scope.include.clone_from(&self.include);
        }
        if !self.exclude.is_empty() {
            draft.scope.exclude.clone_from(&self.exclude);
        }
        draft
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::definition::changes;
    use dragline_domain::url::{CrawlUrl, UrlRules};

    use super::*;

    #[test]
    fn each_flag_overrides_its_key_and_no_other() {
        let seed = CrawlUrl::parse("https://example.org/", &UrlRules::default()).unwrap();
        let draft = Draft::for_seeds(vec![seed]);
        let pattern = || vec!["docs".parse().unwrap()];
        let none = Overrides::default;
        for (overrides, keys) in [
            (none(), vec![]),
            (Overrides { max_pages: Some(5), ..none() }, vec![Key::BudgetPages]),
            (Overrides { max_depth: Some(0), ..none() }, vec![Key::ScopeMaxDepth]),
            (Overrides { max_time: Some(Duration::from_mins(30)), ..none() }, vec![Key::BudgetDuration]),
            (Overrides { within: Some(Within::Domain), ..none() }, vec![Key::ScopeWithin]),
            (Overrides { delay: Some(Duration::ZERO), ..none() }, vec![Key::PolitenessDelay]),
            (Overrides { concurrency: Some(4), ..none() }, vec![Key::PolitenessConcurrency]),
            (Overrides { retries: Some(0), ..none() }, vec![Key::FetchRetries]),
            (Overrides { content: Some(ContentLevel::Full), ..none() }, vec![Key::Content]),
            (Overrides { sitemaps: Some(Sitemaps::Follow), ..none() }, vec![Key::Sitemaps]),
            (Overrides { feeds: Some(Feeds::Follow), ..none() }, vec![Key::Feeds]),
            (Overrides { requisites: Some(Requisites::Fetch), ..none() }, vec![Key::Requisites]),
            (Overrides { check_external: true, ..none() }, vec![Key::LinksExternal]),
            (Overrides { canonical: Some(Canonical::Ignore), ..none() }, vec![Key::Canonical]),
            (Overrides { soft_404: Some(Soft404::Detect), ..none() }, vec![Key::Soft404]),
            (Overrides { render: Some(RenderWhen::Always), ..none() }, vec![Key::RenderWhen]),
            (Overrides { purpose: Some(Purpose::AiTrain), ..none() }, vec![Key::Purpose]),
            (Overrides { include: pattern(), ..none() }, vec![Key::ScopeInclude]),
            (Overrides { exclude: pattern(), ..none() }, vec![Key::ScopeExclude]),
        ] {
            assert_eq!(changes(&draft, &overrides.apply(draft.clone())), keys, "{overrides:?}");
        }
    }
}
