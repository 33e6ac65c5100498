//! `dragline crawl`: chooses the crawl, runs its iteration, and reports the result.

mod demanded;
mod display;
mod events;
mod finish;
mod floor;
mod interrupt;
mod notices;
mod origin_stages;
mod past;
mod prepare;
mod progress;
mod run;
mod watch;

use std::path::Path;
use std::sync::Arc;

use dragline_domain::definition::Definition;
use dragline_domain::ids::CrawlId;
use dragline_engine::local_world;
use dragline_engine::room::Room;
use dragline_http::{HttpConfig, HttpFetchers};
use dragline_local::{Allowance, DATABASE, HostSlots, LocalStore, SlottedFetchers, SystemClock, raise_open_files};
use dragline_pipeline::World;
use dragline_ports::archive::Archive;
use dragline_ports::frontier::Iterations;
use dragline_ports::observer::Observer;

use crate::args::{CrawlArgs, CrawlRequest, allowance_flag};
use crate::crawl_handle;
use crate::definition_source::Source;
use crate::error::{Failure, while_doing};
use crate::exit::Exit;
use crate::location::Directory;
use crate::markdown;
use crate::network::Network;
use crate::terminal::Console;

pub(crate) use notices::ConsoleNotifier;
pub(crate) use past::remake_all;

use demanded::DemandedUrls;
use floor::Floor;
use interrupt::Interrupts;
use prepare::{Goal, PreparedIteration};
use run::RunOutcome;
use watch::Watch;

/// Crawls until the iteration is over or interrupted.
///
/// # Errors
/// The iteration could not be finished.
pub(crate) async fn crawl(args: &CrawlArgs, console: &Console) -> Result<Exit, Failure> {
    let data = args.data.as_path();
    let (wish, network) = (args.wish()?, Network::from_args(&args.network)?);
    let mut demanded = match &wish {
        CrawlRequest::Demand(demand) => Some(DemandedUrls::open(args, demand.clone())?),
        CrawlRequest::Crawl | CrawlRequest::Reparse(_) => None,
    };
    let mut given = match &demanded {
        Some(demanded) => demanded.definition(args)?,
        None => described_definition(args)?,
    };
    let needs_crawl = matches!(wish, CrawlRequest::Reparse(_)) || given.is_none() && demanded.is_none();
    if needs_crawl && !data.join(DATABASE).is_file() {
        // Reported before the directory is created.
        return Err(nothing_to_crawl(data));
    }
    let slots = match HostSlots::open_for_user() {
        Ok(slots) => Some(slots),
        Err(error) => {
            console.warn(&format!(
                "crawls of other data directories on this machine may visit the same hosts at once: {error}"
            ));
            None
        }
    };
    let files_max = raise_open_files();
    let mut listening = None;
    loop {
        // Opened anew for each iteration: the queue of an ended one must not leak into the next.
        let store = args.disk.waiting.open(data, console).await?;
        // Only from here on: before, Ctrl-C ends the wait for the directory.
        let interrupts = match &mut listening {
            Some(interrupts) => interrupts,
            none => none.insert(Interrupts::listen().map_err(while_doing("listening for Ctrl-C"))?),
        };
        if let (None, Some(demanded)) = (&given, &mut demanded)
            && is_new(&store, demanded, args).await?
        {
            given = Some(demanded.new_definition(args)?);
        }
        let (crawl, directory) = choose_crawl(&store, given.as_ref(), demanded.as_ref(), args).await?;
        if !matches!(wish, CrawlRequest::Reparse(_)) {
            check_allowances(&store, (&crawl, &directory), args).await?;
        }
        let watch = Arc::new(Watch::new(console.clone()));
        let watcher: Arc<dyn Observer> = watch.clone();
        let world = Arc::new(local_world(&store, ConsoleNotifier::new(console.clone())).watched_by(watcher));
        let PreparedIteration { wanted, iteration, goal } =
            prepare::prepare(&world, (&crawl, &directory), (given.as_ref(), &wish), args, console).await?;
        if let (Some(demanded), Goal::Crawl) = (&mut demanded, goal) {
            demanded.add(&world, &iteration, console).await?;
        }
        let room = Room::divide(files_max, usize::from(wanted.politeness.concurrency), args.disk.origins);
        let spool = store.archive().spool();
        let fetchers = HttpFetchers::new(HttpConfig { spool, ..network.config(&wanted, Some(&room)) });
        let fetchers = SlottedFetchers::new(fetchers, slots.clone(), SystemClock::new());
        for allowance in args.network.allowances() {
            store.allow(&crawl, allowance).await?;
        }
        let (asked, floor) = ((&iteration, &wanted), Floor { data, free_bytes_min: args.disk.keep_free });
        let ended = run::run(&world, fetchers, (&room, &floor), asked, interrupts, (&watch, console)).await?;
        match (goal, ended) {
            (Goal::MakeWay, RunOutcome::Over) => {}
            (_, RunOutcome::AtOnce) => {
                let stored = world.frontier().progress(&iteration.crawl, iteration.number).await?;
                return Ok(finish::at_once(args, &directory, &stored, console));
            }
            (Goal::MakeWay | Goal::Crawl, _) => {
                let exit = finish::finish(args, (&crawl, &directory), ended, console).await?;
                if let (Some(pages), RunOutcome::Over) = (&args.output.markdown, ended) {
                    markdown::write(pages, &directory.path, &crawl, console).await?;
                }
                return Ok(exit);
            }
        }
    }
}

/// Refuses to resume without a flag that the crawl had before. Otherwise all known URLs at private
/// addresses would end as blocked, and those on servers with untrusted certificates as failed.
async fn check_allowances(
    store: &LocalStore,
    (crawl, directory): (&CrawlId, &Directory),
    args: &CrawlArgs,
) -> Result<(), Failure> {
    for allowance in Allowance::ALL {
        if store.was_allowed(crawl, allowance).await? && !args.network.allowances().any(|now| now == allowance) {
            return Err(allowed_before(directory, allowance, &args.command_to_resume(directory)));
        }
    }
    Ok(())
}

/// Returns the error for a crawl that was allowed something in its last run, and is not allowed it
/// now. `go_on` resumes it, without the flag.
fn allowed_before(directory: &Directory, allowance: Allowance, go_on: &str) -> Failure {
    let what = match allowance {
        Allowance::PrivateAddresses => "connect to private addresses",
        Allowance::UncheckedCertificates => "connect to servers without checking their certificates",
    };
    let (crawl, data) = (directory.quoted_crawl(), directory.path.display());
    Failure::new(format!("the crawl {crawl}in {data} was allowed to {what} before, but is not now"))
        .with_hint(format!("allow it again: `{go_on} {}`", allowance_flag(allowance)))
}

/// Returns the error for arguments with neither a URL nor a stored crawl to resume.
fn nothing_to_crawl(data: &Path) -> Failure {
    let message = format!("nothing to crawl: no URL was given, and there is no crawl in {}", data.display());
    Failure::new(message).with_hint("give a URL to start from: `dragline crawl https://example.org`")
}

/// Returns the crawl to run and its place among the crawls of the data directory. A given
/// definition names the crawl.
async fn choose_crawl(
    store: &LocalStore,
    given: Option<&Definition>,
    demanded: Option<&DemandedUrls>,
    args: &CrawlArgs,
) -> Result<(CrawlId, Directory), Failure> {
    let (data, crawls) = (args.data.as_path(), store.crawls().await?);
    let is_reparse = matches!(args.wish()?, CrawlRequest::Reparse(_));
    let crawl = match given {
        // A crawl must exist to have documents.
        Some(given) if is_reparse => crawl_handle::choose(data, &crawls, Some(&given.name))?,
        Some(given) => Some(given.name.clone()),
        None => crawl_handle::choose(data, &crawls, crawl_in_args(demanded, args).as_ref())?,
    };
    let crawl = crawl.ok_or_else(|| nothing_to_crawl(data))?;
    let directory = Directory::locate(data, &crawl, &crawls);
    Ok((crawl, directory))
}

/// Returns the crawl that the arguments name, directly or by the host of a demanded URL; `None` if
/// they name none.
fn crawl_in_args(demanded: Option<&DemandedUrls>, args: &CrawlArgs) -> Option<CrawlId> {
    args.crawl.clone().or_else(|| demanded.and_then(DemandedUrls::crawl))
}

/// Returns whether the demanded URLs need a new crawl, as the directory has none for them.
async fn is_new(store: &LocalStore, demanded: &DemandedUrls, args: &CrawlArgs) -> Result<bool, Failure> {
    let crawls = store.crawls().await?;
    Ok(match crawl_in_args(Some(demanded), args) {
        Some(name) => !crawls.contains(&name),
        None => crawls.is_empty(),
    })
}

/// Returns the definition that the arguments describe; `None` to use a stored one.
pub(crate) fn described_definition(args: &CrawlArgs) -> Result<Option<Definition>, Failure> {
    let draft = Source::choose(&args.targets, Path::is_file)?.draft()?;
    let definition = |draft| Definition::new(args.change(draft));
    Ok(draft.map(definition).transpose()?)
}

#[cfg(test)]
mod tests {
    use dragline_domain::definition::Key;

    use super::*;

    #[test]
    fn what_keeps_a_crawl_from_running_is_reported_with_a_hint() {
        let alone = Directory { path: "news".into(), crawl: None, cache: None };
        let among_others = Directory { crawl: Some("docs".parse().unwrap()), ..alone.clone() };
        let go_on = |directory: &Directory| directory.command_to_resume();
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let failures = [
            nothing_to_crawl(&alone.path),
            demanded::no_urls(&lines(&["urls.txt:2: `x` cannot be crawled: why"]), 0),
            demanded::no_urls(&lines(&["a:1: why", "a:3: why"]), 1_234),
            prepare::outgrown(&[Key::ScopeExclude, Key::BudgetPages], &go_on(&alone)),
            allowed_before(&alone, Allowance::UncheckedCertificates, &go_on(&alone)),
            allowed_before(&among_others, Allowance::PrivateAddresses, &go_on(&among_others)),
        ];
        insta::assert_snapshot!(failures.map(|failure| failure.shown()).join("\n\n"), @r"
        error: nothing to crawl: no URL was given, and there is no crawl in news
        hint: give a URL to start from: `dragline crawl https://example.org`

        error: nothing to crawl: no line is a URL: urls.txt:2: `x` cannot be crawled: why
        hint: write one URL a line, with `https://` or `http://`

        error: nothing to crawl: no line is a URL: a:1: why; a:3: why; and 1,234 more
        hint: write one URL a line, with `https://` or `http://`

        error: the definition changed (scope.exclude, budget.pages), but its last iteration is not finished
        hint: finish it as it was defined: `dragline crawl --data news`
        hint: or end it as it stands and begin the next one: add `--abandon`

        error: the crawl in news was allowed to connect to servers without checking their certificates before, but is not now
        hint: allow it again: `dragline crawl --data news --insecure`

        error: the crawl `docs` in news was allowed to connect to private addresses before, but is not now
        hint: allow it again: `dragline crawl --data news --crawl docs --allow-private`
        ");
    }
}
