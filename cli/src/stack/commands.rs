//! The commands that send messages to a stack.

use std::io::{self, Write};
use std::path::Path;

use dragline_domain::definition::Definition;
use dragline_domain::frontier::{Demand, Selection, StatusChange};
use dragline_domain::ids::CrawlId;
use dragline_local::SystemClock;
use dragline_ports::clock::Clock;
use dragline_ports::queue::PruneCommand;
use jiff::Timestamp;

use super::message::{DefinitionFile, DemandMessage, Message};
use super::{Deployed, DeployedError};
use crate::args::{ChangeArgs, PruneArgs, PutArgs, StackName, StartArgs};
use crate::definition_source::{parse_url, read_text};
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::terminal::Console;
use crate::url_list::{Input, Line};

/// The maximum number of URL bytes in a message. SQS allows 256 KiB, including the rest of the
/// command.
const MESSAGE_URL_BYTES_MAX: usize = 200 << 10;

/// Begins an iteration of the crawl, URL or definition in the arguments.
///
/// # Errors
/// The argument is not valid, the stack has no such crawl, or the command cannot be sent.
pub(crate) async fn start(args: &StartArgs, console: &Console) -> Result<Exit, Failure> {
    if let Some(demand) = args.demand.demand()? {
        return demand_urls(args, &demand, console).await;
    }
    let (crawl, message) = match (&args.definition, args.target.as_deref().unwrap_or_default()) {
        (Some(path), _) => with_definition(path, |file| Ok((file.definition.name.clone(), file.begin_message()?)))?,
        (None, url) if url.contains("://") => {
            (CrawlId::for_origin(&parse_url(url)?.origin()), Message::Url(url.to_owned()))
        }
        (None, name) => {
            let crawl: CrawlId = name.parse()?;
            (crawl.clone(), Message::Start { crawl })
        }
    };
    let stack = Deployed::find(args.stack.name()?).await?;
    if let Message::Start { crawl } = &message {
        stack.crawl(crawl).await?;
    }
    send(&stack, &crawl, &message).await?;
    console.hint(&status_hint(&crawl, &stack.name));
    Ok(Exit::Done)
}

/// Sends demanded URLs, in as many messages as needed.
async fn demand_urls(args: &StartArgs, demand: &Demand, console: &Console) -> Result<Exit, Failure> {
    let target = args.target.as_deref();
    let (crawl, first) = match target {
        Some(url) if url.contains("://") => (None, Some(url.to_owned())),
        Some(name) => (Some(name.parse::<CrawlId>()?), None),
        None => (None, None),
    };
    let mut input = args.demand.input.as_deref().map(Input::open).transpose()?;
    if first.is_none() && input.is_none() {
        let hint = "name one, or a file of them with `--input`";
        return Err(Failure::new("no URL is named").with_hint(hint));
    }
    let stack = Deployed::find(args.stack.name()?).await?;
    if let Some(crawl) = &crawl {
        stack.crawl(crawl).await?;
    }
    let lines = input.as_mut().map(Input::lines).transpose()?;
    let lines = lines.into_iter().flatten().map(|line| line.map(Line::into_url));
    let mut urls = first.into_iter().map(|url| Ok(Ok(url))).chain(lines).peekable();
    // Without a crawl's name, each crawl gets its own messages, in the order of the URLs.
    while let Some(next) = urls.next() {
        let Some(url) = url_or_warn(next?, console) else { continue };
        let of = |url: &str| parse_url(url).map(|url| CrawlId::for_origin(&url.origin()));
        let own = match &crawl {
            Some(crawl) => crawl.clone(),
            None => of(&url)?,
        };
        let (mut bytes, mut batch) = (url.len(), vec![url]);
        while let Some(Ok(Ok(next))) = urls.peek() {
            bytes += next.len() + 3;
            if bytes > MESSAGE_URL_BYTES_MAX || (crawl.is_none() && of(next).ok().as_ref() != Some(&own)) {
                break;
            }
            if let Some(Ok(Ok(next))) = urls.next() {
                batch.push(next);
            }
        }
        send(&stack, &own, &Message::Demand(DemandMessage::new(crawl.clone(), batch, demand))).await?;
        console.hint(&status_hint(&own, &stack.name));
    }
    Ok(Exit::Done)
}

/// Returns the URL, or prints why it is not valid.
fn url_or_warn(url: Result<String, String>, console: &Console) -> Option<String> {
    url.map_err(|why| console.say(&why)).ok()
}

/// Tells the stack to rebuild the documents of a crawl.
///
/// # Errors
/// The stack has no such crawl, or the command cannot be sent.
pub(crate) async fn reparse(
    crawl: &CrawlId,
    stack: StackName,
    selection: Selection,
    console: &Console,
) -> Result<Exit, Failure> {
    let stack = Deployed::find(stack).await?;
    stack.crawl(crawl).await?;
    send(&stack, crawl, &Message::reparse(crawl.clone(), selection)).await?;
    console.hint(&status_hint(crawl, &stack.name));
    Ok(Exit::Done)
}

/// Stores a definition.
///
/// # Errors
/// The definition is not valid, or the command cannot be sent.
pub(crate) async fn put(args: &PutArgs, console: &Console) -> Result<Exit, Failure> {
    let (crawl, message, said) = with_definition(args.definition(), |file| {
        let said = schedule(file.definition, SystemClock::new().now());
        Ok((file.definition.name.clone(), file.put_message()?, said))
    })?;
    let stack = Deployed::find(args.stack.name()?).await?;
    send(&stack, &crawl, &message).await?;
    match said {
        Some(said) => console.say(&format!("{crawl}: {said}")),
        None => {
            console.hint(&format!(
                "it has no schedule; begin an iteration with `dragline start {crawl}{}`",
                stack.name.flag()
            ));
        }
    }
    Ok(Exit::Done)
}

/// Pauses, resumes or stops the running iteration of a crawl.
///
/// # Errors
/// The stack has no such crawl, or the command cannot be sent.
pub(crate) async fn change(args: &ChangeArgs, change: StatusChange, console: &Console) -> Result<Exit, Failure> {
    send_to_crawl(args, Message::change(args.crawl.clone(), change), console).await
}

/// Switches a crawl off.
///
/// # Errors
/// The stack has no such crawl, or the command cannot be sent.
pub(crate) async fn remove(args: &ChangeArgs, console: &Console) -> Result<Exit, Failure> {
    send_to_crawl(args, Message::Remove { crawl: args.crawl.clone() }, console).await
}

/// Tells the stack to prune a crawl.
///
/// # Errors
/// The stack has no such crawl, or the command cannot be sent.
pub(crate) async fn prune(args: &PruneArgs, console: &Console) -> Result<Exit, Failure> {
    let Some((name, crawl)) = args.deployed() else { return Ok(Exit::Done) };
    let stack = Deployed::find(name.clone()).await?;
    stack.crawl(crawl).await?;
    send(&stack, crawl, &Message::Prune(PruneCommand::new(crawl.clone(), args.retention(), None))).await?;
    console.hint(&status_hint(crawl, &stack.name));
    Ok(Exit::Done)
}

/// Sends a message about a crawl of the stack.
async fn send_to_crawl(args: &ChangeArgs, message: Message, console: &Console) -> Result<Exit, Failure> {
    let stack = Deployed::find(args.stack.name()?).await?;
    stack.crawl(&args.crawl).await?;
    send(&stack, &args.crawl, &message).await?;
    console.hint(&status_hint(&args.crawl, &stack.name));
    Ok(Exit::Done)
}

/// Reads a definition from a file, and passes it to `make`.
fn with_definition<T>(
    path: &Path,
    make: impl FnOnce(&DefinitionFile<'_>) -> Result<T, DeployedError>,
) -> Result<T, Failure> {
    let text = read_text(path)?;
    let definition = dragline_definition::parse(&text, &path.display().to_string())?;
    Ok(make(&DefinitionFile { path, text: &text, definition: &definition })?)
}

/// Sends a message and prints its id, which is in the scheduler's log.
async fn send(stack: &Deployed, crawl: &CrawlId, message: &Message) -> Result<(), Failure> {
    let id = stack.stack.send_command(&message.body()).await.map_err(DeployedError::from)?;
    writeln!(io::stdout().lock(), "{crawl}: sent to the stack `{}` as message {id}", stack.name).map_err(while_writing)
}

/// Returns a hint with the command that shows the effect.
fn status_hint(crawl: &CrawlId, stack: &StackName) -> String {
    format!("this takes effect in a few seconds; to see it: `dragline status {crawl} --stack {stack}`")
}

/// Describes the scheduled start of the next iteration; `None` without a schedule.
fn schedule(definition: &Definition, now: Timestamp) -> Option<String> {
    let schedule = definition.schedule.as_ref()?;
    let (cron, zone) = (schedule.cron(), schedule.time_zone());
    Some(match schedule.next_after(now) {
        Some(next) => format!("the next iteration begins at {next}, as scheduled by `{cron}` in {zone}"),
        None => format!("its schedule, `{cron}` in {zone}, begins no further iteration"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_time_of_a_schedule_is_shown() {
        let now: Timestamp = "2026-11-21T09:00:00Z".parse().unwrap();
        let said = |schedule: &str| {
            let text = format!("seeds: [https://a.example/]\n{schedule}");
            next_runs(&text, now)
        };
        for (text, expected, why) in [
            ("", None, "no schedule"),
            (
                "schedule: {cron: '0 8 * * *'}",
                Some("the next iteration begins at 2026-11-22T08:00:00Z, as scheduled by `0 8 * * *` in UTC"),
                "daily, and today's time is over",
            ),
            (
                "schedule: {cron: '0 12 * * *', time_zone: Europe/Berlin}",
                Some(
                    "the next iteration begins at 2026-11-21T11:00:00Z, as scheduled by `0 12 * * *` in Europe/Berlin",
                ),
                "today, shown in UTC",
            ),
        ] {
            assert_eq!(said(text).as_deref(), expected, "{why}");
        }
    }

    fn next_runs(text: &str, now: Timestamp) -> Option<String> {
        schedule(&dragline_definition::parse(text, "crawl.yaml").unwrap(), now)
    }
}
