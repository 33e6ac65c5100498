//! From captures to documents.

pub(crate) mod budget;
mod changed;
mod demand;
pub(crate) mod document;
pub(crate) mod earlier;
mod link_room;
pub(crate) mod links;
pub(crate) mod remade;
mod rendered;
mod uses;
mod waiting;

use std::sync::Arc;

use dragline_domain::document::Document;
use dragline_domain::frontier::{SegmentRow, Task};

use self::document::{make_document, stuck_document};
use self::earlier::EarlierDocuments;
use self::link_room::LinkRoom;
use crate::World;
use crate::context::{Contexts, CrawlContext};
use crate::parse::read::Trust;
use crate::parse::read::records::Capture;
use crate::parse::tell::{sitemaps, stuck};
use crate::parse::{joining, lasting};
use dragline_ports::clock::Clock;
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};

/// Returns the documents of the segment's captures: those that an earlier parse put, or else new
/// ones. If they extend the scope, the context is replaced, and they are remade.
pub(crate) async fn documents(
    world: &impl World,
    contexts: &Contexts,
    context: &mut Arc<CrawlContext>,
    task: &Task,
    segment: &SegmentRow,
    (captures, earlier): (&Arc<Vec<Capture>>, &Arc<EarlierDocuments>),
    trust: Trust,
) -> PortResult<Vec<Document>> {
    if let Some(documents) = world.documents().load(segment).await? {
        return Ok(documents);
    }
    let mut documents = if task.visits() {
        let made = make_documents(world, context, segment, captures, earlier, trust).await?;
        if joining::join_refreshed(world, contexts, context, segment, captures, &made).await? {
            make_documents(world, context, segment, captures, earlier, trust).await?
        } else {
            made
        }
    } else {
        remade::documents(world, context, captures, earlier).await?
    };
    match task {
        Task::Demand => demand::leave_what_is_not_demanded(context.definition.feeds, captures, &mut documents),
        Task::Import => demand::leave_all(&mut documents),
        Task::Crawl | Task::Reparse(_) => {}
    }
    // The waiting URLs differ from try to try: they are checked before the documents are put, and
    // never after.
    budget::keep_to_budget(world, context, segment, &mut documents).await?;
    if task.visits() {
        Box::pin(waiting::let_suspects_wait(world, context, segment, &mut documents)).await?;
    }
    if *task == Task::Crawl && trust == Trust::Full {
        Box::pin(changed::visit_what_changed(world, context, segment, captures, &mut documents)).await?;
    }
    if task.visits() {
        sitemaps::tell_sitemaps(world, contexts, segment, captures, &documents).await?;
    }
    loop {
        stuck::tell_stuck(world, contexts, context, segment, &documents).await?;
        match world.documents().put_new(segment, &documents).await {
            Ok(PutDocuments::Stored) => return Ok(documents),
            Ok(PutDocuments::Found(documents)) => return Ok(documents),
            Err(error) if error.kind == PortErrorKind::TooLarge && lasting::leave_largest(&mut documents, captures) => {
                tracing::warn!(segment = %segment.id, %error, "the largest documents are left out");
            }
            Err(error) => return Err(error),
        }
    }
}

/// Makes the document of every capture. After half the time of a parse, further captures stay
/// unread: the rest of the time is needed to store the others.
async fn make_documents(
    world: &impl World,
    context: &Arc<CrawlContext>,
    segment: &SegmentRow,
    captures: &Arc<Vec<Capture>>,
    earlier: &Arc<EarlierDocuments>,
    trust: Trust,
) -> PortResult<Vec<Document>> {
    let reads_until = world.clock().monotonic() + world.timing().parse / 2;
    let (row, mut room) = (Arc::new(segment.clone()), LinkRoom::new(world.timing().links_bytes));
    let mut documents = Vec::with_capacity(captures.len());
    for (n, capture) in (0..).zip(&**captures) {
        let document = if capture.response.is_none() {
            make_document(context, segment, n, capture, earlier.for_capture(capture), trust)
        } else if world.clock().monotonic() > reads_until {
            stuck_document(n, capture, "not read: the pages before it took too long")
        } else {
            let (own, row, all, known) =
                (Arc::clone(context), Arc::clone(&row), Arc::clone(captures), Arc::clone(earlier));
            let made = tokio::task::spawn_blocking(move || {
                let capture = &all[n as usize];
                make_document(&own, &row, n, capture, known.for_capture(capture), trust)
            });
            made.await.map_err(|error| PortError::new(PortErrorKind::Other, "parse", &segment.id, error.to_string()))?
        };
        documents.push(room.keep(document, capture.visit.sighting.read_as));
    }
    Ok(documents)
}
