//! A crawl in a data directory over which a server runs: the server does it.

use std::time::Duration;

use dragline_domain::definition::Definition;
use dragline_domain::ids::CrawlId;
use dragline_local::LocalStore;
use serde_json::{Value, json};

use super::interrupt::Interrupts;
use super::run::RunOutcome;
use super::{finish, nothing_to_crawl, stored_crawl};
use crate::args::RunArgs;
use crate::crawl_handle;
use crate::error::{Failure, while_doing};
use crate::exit::Exit;
use crate::location::Directory;
use crate::serve::Client;
use crate::terminal::{Console, plural};

/// How often the server is asked how far it is.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How often that is told.
const TELL_EVERY: u32 = 10;

/// Lets the server of the data directory crawl, and waits until the iteration is over.
///
/// # Errors
/// The arguments are not valid, or the server does not answer or refuses.
pub(super) async fn crawl(client: &Client, run: &RunArgs<'_>, console: &Console) -> Result<Exit, Failure> {
    let crawl = define(client, run).await?;
    let begun = client.call("POST", &format!("/crawls/{crawl}/iterations"), Some(&json!({}))).await?;
    let iteration = begun["iteration"].as_u64().unwrap_or_default();
    console.say(&format!("{crawl}: the server that runs here crawls iteration {iteration}; Ctrl-C leaves it to it"));
    let mut interrupts = Interrupts::listen().map_err(while_doing("listening for Ctrl-C"))?;
    let place = format!("/crawls/{crawl}/progress?iteration={iteration}");
    for look in 1_u32.. {
        tokio::select! {
            () = interrupts.next() => return Ok(Exit::Interrupted),
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        let progress = client.call("GET", &place, None).await?;
        if progress["status"] == "closed" {
            break;
        }
        if look % TELL_EVERY == 0 {
            console.say(&describe(&progress));
        }
    }
    let crawls = crawl_handle::crawls(run.data)?;
    let directory = Directory::locate(run.data, &crawl, &crawls);
    let go_on = directory.command_to_resume();
    finish::finish((run.output, go_on), (&crawl, &directory), RunOutcome::Over, console).await
}

/// Gives the server the definition in the arguments, if there is one, and returns the crawl.
async fn define(client: &Client, run: &RunArgs<'_>) -> Result<CrawlId, Failure> {
    if run.network.allowances().next().is_some() {
        let message = "a server runs over this directory, and what is allowed was decided when it was started";
        return Err(Failure::new(message).with_hint("give `--allow-private` and `--insecure` to `dragline serve`"));
    }
    if run.overrule.is_any_said() || run.network.access.is_any_written() {
        let message =
            "a server runs over this directory, and takes neither rules that overrule a site's nor written values";
        let hint =
            "stop it meanwhile; or, for values, name them by `env:NAME` or `file:PATH`, which the server can read";
        return Err(Failure::new(message).with_hint(hint));
    }
    if !run.sink.places.is_empty() {
        let message = "a server runs over this directory, and keeps its own places up to date";
        return Err(
            Failure::new(message).with_hint("give `--sink` to `dragline serve`, or add `sink` to the definition")
        );
    }
    let (crawl, wanted) = match run.definition()? {
        Some(given) => (given.name.clone(), Some(given)),
        None => change_stored(run)?,
    };
    if let Some(wanted) = wanted {
        let body = json!({"definition": dragline_definition::write(&wanted)});
        client.call("POST", "/crawls", Some(&body)).await?;
    }
    Ok(crawl)
}

/// Returns the stored crawl, and its definition as the arguments change it; `None` if they do not.
fn change_stored(run: &RunArgs<'_>) -> Result<(CrawlId, Option<Definition>), Failure> {
    let failed = crawl_handle::cannot_query(run.data);
    let reading = LocalStore::open_read_only(run.data)?;
    let crawl = stored_crawl(run, &reading.crawls().map_err(&failed)?, run.crawl.as_ref())?;
    let row = reading.load_crawl(&crawl).map_err(failed)?.ok_or_else(|| nothing_to_crawl(run.data))?;
    let wanted = Definition::new(run.change(row.definition.clone().into_draft()))?;
    Ok((crawl, Some(wanted).filter(|wanted| *wanted != row.definition)))
}

/// Describes the progress on one line.
fn describe(progress: &Value) -> String {
    let number = |key: &str| progress[key].as_u64().unwrap_or_default();
    let (crawled, left) = (number("crawled"), number("found").saturating_sub(number("crawled")));
    format!("{} visited, {left} waiting, {} failed", plural(crawled, "URL"), number("failed"))
}
