//! `dragline crawl`: chooses the crawl, runs its iteration, and reports the result.

mod beside;
mod demanded;
mod display;
mod events;
mod finish;
mod floor;
mod interrupt;
mod origin_stages;
mod past;
mod prepare;
mod progress;
mod request;
mod run;
mod watch;

use std::io;
use std::path::Path;
use std::sync::Arc;

use dragline_domain::definition::Draft;
use dragline_domain::frontier::Selection;
use dragline_domain::ids::CrawlId;
use dragline_engine::local_world;
use dragline_engine::room::Room;
use dragline_http::HttpConfig;
use dragline_local::{Allowance, DATABASE, HostSlots, LocalStore, SlottedFetchers, SystemClock, raise_open_files};
use dragline_pipeline::World;
use dragline_ports::archive::Archive;
use dragline_ports::fetcher::Fetchers;
use dragline_ports::frontier::Iterations;

use crate::args::{CrawlArgs, NetworkArgs, RunArgs, allowance_flag};
use crate::bare_host;
use crate::crawl_handle;
use crate::error::{Failure, while_doing};
use crate::exit::Exit;
use crate::location::Directory;
use crate::markdown;
use crate::network::Network;
use crate::notify::{CliNotifier, Sender};
use crate::rendering;
use crate::serve::{Client, DirectoryCrawls, backend};
use crate::sink::{self, Sinks};
use crate::telemetry::{Telemetry, end_measuring};
use crate::terminal::Console;

pub(crate) use past::remake_all;

pub(crate) use floor::{Floor, SpaceGuard};
pub(crate) use interrupt::Interrupts;
use prepare::{Goal, PreparedIteration};
use request::Request;
use run::RunOutcome;
use watch::Watch;

/// Crawls, or visits URLs on demand, until the iteration is over or interrupted.
///
/// # Errors
/// The arguments are not valid, or the iteration could not be finished.
pub(crate) async fn crawl(args: &CrawlArgs, console: &Console) -> Result<Exit, Failure> {
    let targets = bare_host::complete_urls(&args.targets, &args.network, console).await?;
    let run = args.run(&targets)?;
    let request = Request::from_args(args, &run)?;
    if let (Request::Crawl, Some(server)) = (&request, Client::for_server(run.data)) {
        return beside::crawl(&server, &run, console).await;
    }
    carry_out(request, &run, console).await
}

/// Rebuilds the current documents of a crawl until the iteration is over or interrupted.
///
/// # Errors
/// The arguments are not valid, or the iteration could not be finished.
pub(crate) async fn reparse(run: &RunArgs<'_>, selection: Selection, console: &Console) -> Result<Exit, Failure> {
    carry_out(Request::Reparse(selection), run, console).await
}

async fn carry_out(request: Request, run: &RunArgs<'_>, console: &Console) -> Result<Exit, Failure> {
    let network = Network::from_args(&run.network)?;
    let telemetry = Telemetry::from_environment(&network.config(&Draft::for_seeds(Vec::new()), None), console);
    let ended = Box::pin(run_iterations(request, run, (&network, &telemetry), console)).await;
    telemetry.end().await;
    ended
}

async fn run_iterations(
    mut request: Request,
    run: &RunArgs<'_>,
    (network, telemetry): (&Network, &Telemetry),
    console: &Console,
) -> Result<Exit, Failure> {
    let sinks = Sinks::for_run(&run.sink, run.data)?;
    let mut given = request.definition(run)?;
    if request.needs_crawl(given.as_ref()) && !run.data.join(DATABASE).is_file() {
        // Reported before the directory is created.
        return Err(nothing_to_crawl(run.data));
    }
    let slots = open_slots(console);
    let files_max = raise_open_files();
    let mut listening = None;
    loop {
        // Opened anew for each iteration: the queue of an ended one must not leak into the next.
        let store = run.disk.waiting.open(run.data, console).await?;
        // Only from here on: before, Ctrl-C ends the wait for the directory.
        let interrupts = match &mut listening {
            Some(interrupts) => interrupts,
            none => none.insert(Interrupts::listen().map_err(while_doing("listening for Ctrl-C"))?),
        };
        let crawls = store.crawls().await?;
        let crawl = request.choose_crawl(run, &mut given, &crawls)?;
        let directory = Directory::locate(run.data, &crawl, &crawls);
        let go_on = request.command_to_resume(run, &directory);
        if request.is_online() {
            check_allowances(&store, (&crawl, &directory), &run.network, &go_on).await?;
        }
        let browsers = rendering::browsers();
        // Before an iteration begins, if it is known by then what is wanted.
        if let Some(given) = given.as_ref().filter(|_| request.is_online()) {
            rendering::check(&browsers, given, console).await?;
        }
        let watch = Arc::new(Watch::new(console.clone()));
        let watcher = telemetry.observer_beside(watch.clone());
        let sender = Sender::new(&run.notify, run.data, network.config(&Draft::for_seeds(Vec::new()), None))?;
        let world = Arc::new(local_world(&store, CliNotifier::sending(console, &sender)).watched_by(watcher));
        let telling = sender.watch(Arc::clone(&world), run.data, run.disk.keep_free);
        let PreparedIteration { wanted, iteration, goal } =
            prepare::prepare(&world, (&crawl, &directory), (given.as_ref(), &request), run, console).await?;
        // A mistake is said before anything is crawled.
        let destinations = sinks.destinations(&wanted)?;
        if goal == Goal::Crawl {
            request.add_urls(&world, &iteration, console).await?;
        }
        let room = Room::divide(files_max, usize::from(wanted.politeness.concurrency), run.disk.origins);
        let spool = store.archive().spool();
        let fetchers =
            network.fetchers(HttpConfig { spool, arriving: watch.arriving(), ..network.config(&wanted, Some(&room)) });
        if request.is_online() {
            network.check_access(&fetchers, &wanted).await?;
            network.tell_proxy(wanted.seeds.first(), console);
        }
        if request.is_online() && given.is_none() {
            rendering::check(&browsers, &wanted, console).await?;
        }
        let fetchers =
            SlottedFetchers::new(fetchers, slots.clone(), SystemClock::new()).rendering_by(Arc::clone(&browsers));
        for allowance in run.network.allowances() {
            store.allow(&crawl, allowance).await?;
        }
        let (asked, floor) = ((&iteration, &wanted), Floor { data: run.data, free_bytes_min: run.disk.keep_free });
        let crawls = || DirectoryCrawls::new(run.data, run.network.arguments(), console);
        let measuring = telemetry.measure(|| backend(Arc::clone(&world), crawls()));
        let ended = run::run(&world, fetchers, (&room, &floor), asked, interrupts, (&watch, console)).await?;
        browsers.close().await;
        end_measuring(measuring).await;
        telling.end().await;
        match (goal, ended) {
            (Goal::MakeWay, RunOutcome::Over) => {}
            (_, RunOutcome::AtOnce) => {
                let stored = world.frontier().progress(&iteration.crawl, iteration.number).await?;
                return Ok(finish::at_once(run.output, &go_on, &stored, console));
            }
            (Goal::MakeWay | Goal::Crawl, _) => {
                let exit = finish::finish((run.output, go_on), (&crawl, &directory), ended, console).await?;
                if let (Some(pages), RunOutcome::Over) = (&run.output.markdown, ended) {
                    markdown::write(pages, &directory.path, &crawl, console).await?;
                }
                return tokio::select! {
                    () = interrupts.next() => Ok(Exit::Interrupted),
                    written = sink::write_all(destinations, (run.data, &crawl), console) => written.map(|()| exit),
                };
            }
        }
    }
}

/// Opens the slots of hosts that all crawls of this user share. Warns if that is not possible.
pub(crate) fn open_slots(console: &Console) -> Option<HostSlots> {
    let warn = |error: io::Error| {
        console.warn(&format!(
            "crawls of other data directories on this machine may visit the same hosts at once: {error}"
        ));
    };
    HostSlots::open_for_user().map_err(warn).ok()
}

/// Refuses to resume without a flag that the crawl had before. Otherwise all known URLs at private
/// addresses would end as blocked, and those on servers with untrusted certificates as failed.
async fn check_allowances(
    store: &LocalStore,
    (crawl, directory): (&CrawlId, &Directory),
    network: &NetworkArgs,
    go_on: &str,
) -> Result<(), Failure> {
    for allowance in Allowance::ALL {
        if store.was_allowed(crawl, allowance).await? && !network.allowances().any(|now| now == allowance) {
            return Err(allowed_before(directory, allowance, go_on));
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

/// Returns the crawl of this name in the run's data directory, or the only one if no name is given.
///
/// # Errors
/// There is no such crawl, or there are several and none is named.
fn stored_crawl(run: &RunArgs<'_>, crawls: &[CrawlId], named: Option<&CrawlId>) -> Result<CrawlId, Failure> {
    crawl_handle::choose(run.data, crawls, named)?.ok_or_else(|| nothing_to_crawl(run.data))
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
