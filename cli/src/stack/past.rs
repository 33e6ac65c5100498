//! `dragline reparse --all` on a deployed stack: this process does the work, with the user's own
//! rights.

use std::sync::Arc;

use dragline_aws::{DynamoFrontier, S3Archive, S3Documents, S3Editions, S3Publications};
use dragline_domain::definition::{Definition, UserAgent, changes};
use dragline_domain::frontier::{IterationStatus, Selection};
use dragline_local::{SystemClock, SystemRng};
use dragline_pipeline::{Adapters, World, schedule};
use dragline_ports::clock::Clock;
use dragline_ports::frontier::{CrawlRow, Crawls, Iterations};
use dragline_ports::queue::Nobody;
use dragline_ports::remaking::Remaking;
use dragline_publish::publish_again;
use dragline_report::site::ReportStamp;

use super::{Deployed, DeployedError};
use crate::args::{RunArgs, StackName};
use crate::derived_files;
use crate::error::{Failure, while_doing, while_writing};
use crate::exit::Exit;
use crate::location::CrawlLocation;
use crate::notify::CliNotifier;
use crate::past::{self, Report};
use crate::terminal::Console;

/// The ports over a stack. No messages are sent, as no step waits for any.
type StackWorld = Adapters<DynamoFrontier, S3Archive, S3Documents, Nobody, CliNotifier, SystemClock, SystemRng>;

/// Rebuilds the documents of all iterations of a crawl of a stack, publishes the derived data
/// again, and prints a report on standard output.
///
/// # Errors
/// There is no such stack or crawl, one of its iterations is not over, the definition is not valid,
/// or AWS refused something or did not answer.
pub(crate) async fn remake_all(
    run: &RunArgs<'_>,
    stack: StackName,
    selection: Selection,
    console: &Console,
) -> Result<Exit, Failure> {
    let given = run.definition()?;
    let Some(crawl) = given.as_ref().map(|given| given.name.clone()).or_else(|| run.crawl.clone()) else {
        return Err(stack.which_crawl_error());
    };
    let deployed = Deployed::find(stack.clone()).await?;
    let found = deployed.crawl(&crawl).await?;
    let (world, place) = (stack_world(&deployed, console), CrawlLocation::Stack(stack.clone()));
    let latest = world.frontier().latest_iteration(&crawl).await.map_err(DeployedError::from)?;
    let latest = latest.ok_or_else(|| place.not_begun_error(&crawl))?;
    if latest.status != IterationStatus::Closed {
        // Checked before the definition is stored, as the open iteration would adopt it.
        return Err(place.not_over_error(&crawl));
    }
    if let Some(given) = given {
        store(&world, &given).await?;
    }
    let remaking = deployed.stack.remaking(Arc::new(SystemRng));
    let (job, done) = past::remake_all(&world, &remaking, (&crawl, &place), selection, console).await?;
    console.say(&format!("{crawl}: publishing its items, its word index and its report again"));
    let documents = deployed.stack.documents(Arc::new(SystemRng));
    let (editions, publications) = (S3Editions::beside(&documents), S3Publications::beside(&documents));
    let folder = tempfile::tempdir().map_err(while_doing("making a folder for the word index"))?;
    let program = concat!("dragline ", env!("CARGO_PKG_VERSION")).to_owned();
    let making = ReportStamp { program, at: SystemClock::new().now() };
    let published = publish_again(&found.reader, &editions, &publications, &crawl, (folder.path(), making)).await;
    published.map_err(DeployedError::from)?;
    derived_files::remove(&place, &crawl)?;
    remaking.end_remake(&crawl, &job).await.map_err(DeployedError::from)?;
    let report = Report { place, crawl, done };
    report.print(run.output.answer(), console).map_err(while_writing)?;
    Ok(report.exit())
}

fn stack_world(deployed: &Deployed, console: &Console) -> StackWorld {
    let (stack, rng) = (&deployed.stack, || Arc::new(SystemRng));
    let notifier = CliNotifier::printing(console);
    let (frontier, archive, documents) = (stack.frontier(rng()), stack.archive(rng()), stack.documents(rng()));
    Adapters::new(frontier, archive, documents, Nobody, notifier, (SystemClock::new(), SystemRng))
}

/// Stores a changed definition as `put` does. If it has no user agent, it keeps that of the stored
/// one.
async fn store(world: &impl World, given: &Definition) -> Result<(), Failure> {
    let Some(CrawlRow { definition: stored, .. }) =
        world.frontier().load_crawl(&given.name).await.map_err(DeployedError::from)?
    else {
        return Ok(());
    };
    let mut draft = given.clone().into_draft();
    if draft.user_agent == UserAgent::default() {
        draft.user_agent = stored.user_agent.clone();
    }
    let wanted = Definition::new(draft)?;
    if !changes(&stored, &wanted).is_empty() {
        schedule::put(world, &wanted).await.map_err(DeployedError::from)?;
    }
    Ok(())
}
