//! What is known of all crawls: their names, and where their definitions came from.

use dragline_domain::ids::CrawlId;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};

use super::DynamoFrontier;
use crate::dynamo::{Expression, Fields, Role, Write, number, text};
use crate::errors::at;
use crate::rows::{self, keys};
use crate::tables::SORT;

/// The attribute with the version of the definition that a link is about.
const VERSION: &str = "version";

/// The attribute with the call that gave a crawl a file as its definition; absent if none did.
const CALL: &str = "call";

/// The maximum size of a call, in bytes: a row holds 400 KB.
const CALL_BYTES_MAX: usize = 64 << 10;

impl DynamoFrontier {
    /// Returns the names of all crawls, in order.
    ///
    /// # Errors
    /// Fails if DynamoDB does, or a row is damaged.
    pub async fn crawls(&self) -> PortResult<Vec<CrawlId>> {
        at("list crawls", "the stack", async {
            let rows = self.db.all(keys::names()).await?;
            rows.iter().map(|row| Fields(row).parsed(SORT)).collect()
        })
        .await
    }

    /// Returns the crawls that were given a file as their definition, in order.
    ///
    /// # Errors
    /// Fails if DynamoDB does, or a row is damaged.
    pub async fn linked_crawls(&self) -> PortResult<Vec<CrawlId>> {
        at("list links", "the stack", async {
            let rows = self.db.all(keys::links()).await?;
            let linked = rows.iter().filter(|row| row.contains_key(CALL));
            linked.map(|row| Fields(row).parsed(SORT)).collect()
        })
        .await
    }

    /// Returns the call that gave a crawl a file as its definition, as it was put; `None` if none
    /// did.
    ///
    /// # Errors
    /// Fails if DynamoDB does, or the row is damaged.
    pub async fn load_link(&self, crawl: &CrawlId) -> PortResult<Option<String>> {
        at("load a link", crawl, async {
            let Some(row) = self.db.get(&keys::link(crawl)).await? else { return Ok(None) };
            Ok(rows::fields(&row)?.maybe(CALL, Fields::text)?.map(str::to_owned))
        })
        .await
    }

    /// Puts the call that gave a crawl this version of its definition as a file, or that none did.
    /// What is there of a later version stays.
    ///
    /// # Errors
    /// Fails if DynamoDB does, or the call is too long.
    pub async fn put_link(&self, crawl: &CrawlId, version: u32, call: Option<&str>) -> PortResult<()> {
        if call.is_some_and(|call| call.len() > CALL_BYTES_MAX) {
            let why = format!("it is longer than {CALL_BYTES_MAX} bytes");
            return Err(PortError::new(PortErrorKind::TooLarge, "put a link", crawl.to_string(), why));
        }
        at("put a link", crawl, async {
            let key = keys::link(crawl);
            let call = call.map(|call| (CALL, text(call)));
            let row = rows::row(&key, [(VERSION, number(version))].into_iter().chain(call));
            let not_after = Expression::new("attribute_not_exists(#version) OR #version <= :version");
            let write = Write::put(Role::Other, &key, row).when(not_after.with(":version", number(version)));
            // Refused: the definition was changed meanwhile, and that change keeps its own.
            self.db.write(&write).await.map(|_| ())
        })
        .await
    }
}
