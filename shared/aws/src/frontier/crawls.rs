//! Definitions of crawls, and the origins that joined them.

use dragline_domain::definition::Definition;
use dragline_domain::frontier::{DefinitionPut, put_definition};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::Origin;
use dragline_pipeline::ports::frontier::{CrawlPut, CrawlRow, PutCrawl};

use super::{DynamoFrontier, ROUNDS_MAX};
use crate::dynamo::{Expression, Fields, Item, Role, Write, json, number, text, texts};
use crate::errors::StoreError;
use crate::rows::{self, keys};

const DEFINITION: &str = "definition";
const VERSION: &str = "version";
const JOINED: &str = "joined";

impl DynamoFrontier {
    pub(super) async fn crawl(&self, crawl: &CrawlId) -> Result<Option<CrawlRow>, StoreError> {
        match self.db.get(&keys::crawl(crawl)).await? {
            Some(item) => read(&item),
            None => Ok(None),
        }
    }

    pub(super) async fn put_definition(&self, put: &PutCrawl) -> Result<CrawlPut, StoreError> {
        for _ in 0..ROUNDS_MAX {
            let stored = self.crawl(&put.definition.name).await?;
            let stored = stored.as_ref().map(|row| (row.version, &row.definition));
            match put_definition(stored, put.seen, &put.definition) {
                DefinitionPut::Changed => return Ok(CrawlPut::Changed),
                DefinitionPut::DoneBefore(version) => return Ok(CrawlPut::Stored(version)),
                DefinitionPut::Write(version) => {
                    let write = write_definition(&put.definition, version, put.seen)?;
                    if self.db.write(&write).await?.is_ok() {
                        return Ok(CrawlPut::Stored(version));
                    }
                }
            }
        }
        Err(StoreError::Contended(ROUNDS_MAX))
    }

    pub(super) async fn join(&self, crawl: &CrawlId, origin: &Origin) -> Result<(), StoreError> {
        let update = Expression::new("SET #v = :v, #joined = list_append(if_not_exists(#joined, :none), :new)");
        let update = update.with(":none", texts([])).with(":new", texts([origin.as_str()]));
        let condition = Expression::new("NOT contains(#joined, :origin)").with(":origin", text(origin.as_str()));
        let write = Write::update(Role::Crawl, &keys::crawl(crawl), rows::versioned(update), &Item::new());
        // Refused: it joined before.
        self.db.write(&write.when(condition)).await.map(|_| ())
    }
}

/// The definition; `None` where origins joined a crawl that has none yet.
fn read(item: &Item) -> Result<Option<CrawlRow>, StoreError> {
    let fields = rows::fields(item)?;
    if !fields.has(DEFINITION) {
        return Ok(None);
    }
    let joined = fields.maybe(JOINED, Fields::texts)?.unwrap_or_default();
    let origin = |text: &str| text.parse().map_err(|_| StoreError::Damaged(format!("`{text}` is no origin")));
    Ok(Some(CrawlRow {
        definition: fields.json(DEFINITION)?,
        version: fields.number(VERSION)?,
        joined: joined.into_iter().map(origin).collect::<Result<_, _>>()?,
    }))
}

fn write_definition(definition: &Definition, version: u32, seen: Option<u32>) -> Result<Write, StoreError> {
    let update = Expression::new("SET #v = :v, #definition = :definition, #version = :version")
        .with(":definition", json(definition)?)
        .with(":version", number(version));
    let condition = match seen {
        Some(seen) => Expression::new("#version = :seen").with(":seen", number(seen)),
        None => Expression::new("attribute_not_exists(#version)"),
    };
    let key = keys::crawl(&definition.name);
    Ok(Write::update(Role::Crawl, &key, rows::versioned(update), &Item::new()).when(condition))
}
