//! A stack's tables, bucket and queues, and the tags by which the command finds them.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::ControlFlow;

use crate::{Fresh, clients};
use aws_sdk_dynamodb::types::{AttributeValue, Tag};
use dragline_aws::{
    AwsClients, DynamoFrontier, DynamoReader, DynamoRemaking, DynamoRetained, S3Editions, S3Publications, Table,
};
use dragline_domain::command::Command;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::Selection;
use dragline_domain::ids::CrawlId;
use dragline_domain::remake::RemakeTotals;
use dragline_domain::retention::Retention;
use dragline_local::{MemoryQueue, SystemClock};
use dragline_pipeline::parse::past::{RemakeEnd, remake};
use dragline_pipeline::retention::{PruneTotals, Stores, prune};
use dragline_pipeline::schedule::put;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::queue::Nobody;
use dragline_ports::reader::Reader as _;
use dragline_ports::remaking::Remaking as _;
use dragline_ports::retention::PruneMode;
use dragline_publish::{SiteLimits, SitePublication, publish_site};
use dragline_report::site::ReportStamp;
use dragline_testkit::whole_crawls::{Network, command_in, crawl_in};
use serde_json::Value;

use crate::world::adapters;

/// The most messages that wait in this process's queue.
const MESSAGES_MAX: usize = 10_000;

/// A stack that no other test has.
pub struct EmulatedStack {
    fresh: Fresh,
    frontier: DynamoFrontier,
    commands_url: String,
}

impl EmulatedStack {
    /// Makes a stack.
    ///
    /// # Panics
    /// If no emulator answers.
    pub async fn new() -> Self {
        let stack = Self::without_tags().await;
        let table = stack.fresh.table_names().get(Table::Crawls).to_owned();
        let dynamodb = &stack.fresh.clients().dynamodb;
        let described = dynamodb.describe_table().table_name(table).send().await.unwrap().table.unwrap();
        let tags = [("dragline:commands", stack.commands_url.as_str()), ("dragline:archive", stack.name())];
        let tags = tags.map(|(key, value)| Tag::builder().key(key).value(value).build().unwrap());
        let request = dynamodb.tag_resource().set_resource_arn(described.table_arn).set_tags(Some(tags.to_vec()));
        request.send().await.unwrap();
        stack
    }

    /// Makes a stack without the tags that name its queue and bucket.
    ///
    /// # Panics
    /// If no emulator answers.
    pub async fn without_tags() -> Self {
        Self::over(clients().await).await
    }

    /// Makes a stack without tags that is used by these clients.
    pub async fn over(clients: AwsClients) -> Self {
        let fresh = Fresh::new(clients);
        let frontier = fresh.frontier().await;
        let (_, urls) = fresh.queue().await;
        Self { fresh, frontier, commands_url: urls.commands }
    }

    /// Its name, which is also its bucket's.
    #[must_use]
    pub fn name(&self) -> &str {
        self.fresh.prefix()
    }

    /// Its frontier.
    #[must_use]
    pub fn frontier(&self) -> &DynamoFrontier {
        &self.frontier
    }

    /// Runs one iteration to its end.
    ///
    /// # Panics
    /// If it does not end.
    pub async fn crawl(&self, definition: &Definition) {
        let clock = SystemClock::new();
        let queue = MemoryQueue::new(&clock, MESSAGES_MAX);
        let world = adapters(&self.fresh, &self.frontier, &queue, clock);
        crawl_in(world, queue, Network::default().fetcher(), definition).await;
    }

    /// Carries out a command in this process, and runs what it begins.
    ///
    /// # Panics
    /// If it is refused, or does not end.
    pub async fn command(&self, command: &Command) {
        let clock = SystemClock::new();
        let queue = MemoryQueue::new(&clock, MESSAGES_MAX);
        let world = adapters(&self.fresh, &self.frontier, &queue, clock);
        command_in(world, queue, Network::default().fetcher(), command).await;
    }

    /// Publishes the word index of a crawl, and the report on its newest iteration, as the
    /// publisher does.
    ///
    /// # Panics
    /// If that fails.
    pub async fn publish(&self, crawl: &CrawlId) {
        let (folder, documents) = (tempfile::tempdir().unwrap(), self.fresh.documents());
        let reader = DynamoReader::new(self.frontier.clone(), documents.clone(), crawl.clone());
        let iteration = reader.latest_iteration().await.unwrap().unwrap();
        let making = ReportStamp { program: "test".to_owned(), at: SystemClock::new().now() };
        let publication =
            SitePublication { iteration, folder: folder.path().to_owned(), making, limits: SiteLimits::default() };
        let (editions, publications) = (S3Editions::beside(&documents), S3Publications::beside(&documents));
        publish_site(&reader, &editions, &publications, publication).await.unwrap();
    }

    /// Prunes a crawl down to this many iterations, as the scheduler does, resting after each
    /// batch.
    ///
    /// # Panics
    /// If that fails.
    pub async fn prune(&self, crawl: &CrawlId, kept: NonZeroU32) -> PruneTotals {
        let (archive, retained) =
            (self.fresh.archive_there(), DynamoRetained::new(self.frontier.clone(), self.fresh.documents()));
        let stores = Stores { retained: &retained, origins: &self.frontier, archive: &archive, queue: &Nobody };
        let (retention, now) = (Retention::Newest(kept), SystemClock::new().now());
        let (mut all, mut from) = (PruneTotals::default(), None);
        loop {
            let rest = || ControlFlow::Break(());
            let (some, place) = prune(&stores, crawl, retention, PruneMode::Delete, now, from, rest).await.unwrap();
            all.cut = some.cut;
            all.objects += some.objects;
            all.kept += some.kept;
            match place {
                Some(place) => from = Some(place),
                None => return all,
            }
        }
    }

    /// Makes the documents of all iterations again, by the stored definition.
    ///
    /// # Errors
    /// The ports'.
    ///
    /// # Panics
    /// If an iteration is open, or somebody else makes them again.
    pub async fn remake(&self, crawl: &CrawlId) -> PortResult<RemakeTotals> {
        let clock = SystemClock::new();
        let queue = MemoryQueue::new(&clock, MESSAGES_MAX);
        let world = adapters(&self.fresh, &self.frontier, &queue, clock);
        let remaking = DynamoRemaking::new(self.frontier.clone(), self.fresh.documents());
        let ended = remake(&world, &remaking, crawl, Selection::All, "test", |_| ()).await?;
        let RemakeEnd::Through(job, done) = ended else { panic!("{ended:?}") };
        remaking.end_remake(crawl, &job).await?;
        Ok(done)
    }

    /// Stores a definition.
    ///
    /// # Panics
    /// If that fails.
    pub async fn put(&self, definition: &Definition) {
        let clock = SystemClock::new();
        let queue = MemoryQueue::new(&clock, MESSAGES_MAX);
        put(&adapters(&self.fresh, &self.frontier, &queue, clock), definition).await.unwrap();
    }

    /// Everything that is stored, apart from definitions: rows, and the digests of objects' bytes.
    /// What an iteration counts is only ever added to, so a number of it that came to zero means
    /// the same as one that is not there, and is left out.
    ///
    /// # Panics
    /// If it cannot be read.
    pub async fn dump(&self) -> BTreeMap<String, String> {
        let (mut all, names) = (BTreeMap::new(), self.fresh.table_names());
        for table in [Table::Crawls, Table::Frontier, Table::Candidates, Table::Log] {
            let scan = self.fresh.clients().dynamodb.scan().table_name(names.get(table));
            for item in scan.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await.unwrap() {
                let key = format!("{table:?} {:?} {:?}", item["pk"], item["sk"]);
                if !key.contains("\"spec") {
                    let is_counts = key.contains("\"counts#");
                    let is_said =
                        |value: &AttributeValue| !(is_counts && value.as_n().is_ok_and(|number| number == "0"));
                    let said: BTreeMap<_, _> = item.into_iter().filter(|(_, value)| is_said(value)).collect();
                    all.insert(key, format!("{said:?}"));
                }
            }
        }
        let listed = self.fresh.clients().s3.list_objects_v2().bucket(self.name()).into_paginator().send();
        for page in listed.collect::<Result<Vec<_>, _>>().await.unwrap() {
            for object in page.contents() {
                all.insert(object.key().unwrap().to_owned(), object.e_tag().unwrap().to_owned());
            }
        }
        all
    }

    /// Receives the next command sent to it, and the id of its message.
    ///
    /// # Panics
    /// If none arrives within twenty seconds.
    pub async fn next_command(&self) -> (Value, String) {
        let sqs = &self.fresh.clients().sqs;
        let request = sqs.receive_message().queue_url(&self.commands_url).wait_time_seconds(20);
        let received = request.send().await.unwrap().messages.unwrap_or_default();
        let message = received.into_iter().next().expect("a message within twenty seconds");
        let handle = message.receipt_handle.unwrap();
        sqs.delete_message().queue_url(&self.commands_url).receipt_handle(handle).send().await.unwrap();
        (serde_json::from_str(&message.body.unwrap()).unwrap(), message.message_id.unwrap())
    }
}
