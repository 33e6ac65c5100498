//! Crawls: their current definitions and their schedules. Large parts are in rows of their own.

use std::ops::Range;

use dragline_domain::definition::Definition;
use dragline_domain::frontier::{CrawlPut, CrawlStamp, Decided, OriginsJoined, Switch, put_definition as decide_put};
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_domain::url::Origin;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{CrawlRow, Crawls, JoinOrigins, MoveSchedule, PutCrawl};
use jiff::Timestamp;

use super::definitions::{DEFINITION, put_definition};
use super::joining::stamp;
use super::{DynamoFrontier, iterations};
use crate::dynamo::{Expression, Fields, IndexWrites, Item, Role, Write, flag, instant, json, number, text};
use crate::errors::{StoreError, at};
use crate::rows::{self, keys};
use crate::tables::{AGENDA_AT, Index, PARTITION};

const VERSION: &str = "version";

/// The attribute that marks a crawl as switched off; absent otherwise.
const SWITCH: &str = "switch";
const OFF: &str = "off";

impl Crawls for DynamoFrontier {
    async fn put_crawl(&self, put: &PutCrawl) -> PortResult<CrawlPut> {
        at("put crawl", &put.definition.name, async {
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let item = self.db.get(&keys::crawl(&put.definition.name)).await?;
                let before = self.read(&put.definition.name, item.as_ref()).await?;
                let stored = before.as_ref().map(|row| (row.version, &row.definition));
                match decide_put(stored, put.seen, &put.definition) {
                    Decided::Write(CrawlPut::Stored(version)) => {
                        let mut writes = vec![write_spec(put, version)];
                        writes.extend(put_definition(&put.definition, version)?);
                        let is_inside = item.is_some_and(|item| item.contains_key(DEFINITION));
                        let inside = before.as_ref().filter(|_| is_inside);
                        writes.extend(inside.map(keep).transpose()?);
                        // Each time, as earlier versions of this program kept no list.
                        let name = keys::name(&put.definition.name);
                        writes.push(Write::put(Role::Other, &name, rows::row(&name, [])));
                        if self.db.transact(&writes).await?.is_ok() {
                            return Ok(CrawlPut::Stored(version));
                        }
                    }
                    decided => return Ok(decided.outcome()),
                }
            }
        })
        .await
    }

    async fn load_crawl(&self, crawl: &CrawlId) -> PortResult<Option<CrawlRow>> {
        at("load crawl", crawl, self.crawl(crawl)).await
    }

    async fn load_definition(&self, crawl: &CrawlId, version: u32) -> PortResult<Option<Definition>> {
        at("load definition", crawl, async {
            if let Some(definition) = self.definition(crawl, version).await? {
                return Ok(Some(definition));
            }
            // An earlier version of this program kept the newest definition in the crawl's row.
            let current = self.crawl(crawl).await?.filter(|row| row.version == version);
            Ok(current.map(|row| row.definition))
        })
        .await
    }

    async fn load_stamp(&self, crawl: &CrawlId) -> PortResult<Option<CrawlStamp>> {
        at("load stamp", crawl, async {
            let item = self.db.get(&keys::crawl(crawl)).await?;
            item.map_or(Ok(None), |item| stamp(rows::fields(&item)?))
        })
        .await
    }

    async fn load_joined(&self, crawl: &CrawlId, places: Range<u64>) -> PortResult<Vec<Origin>> {
        at("load origins that joined", crawl, self.joined(crawl, places)).await
    }

    async fn join_origins(&self, join: &JoinOrigins) -> PortResult<OriginsJoined> {
        at("join origins", &join.crawl, self.join(join)).await
    }

    async fn switch_off(&self, crawl: &CrawlId) -> PortResult<()> {
        at("switch crawl off", crawl, async {
            let update = Expression::new("SET #switch = :off REMOVE #agenda, #agenda_at").with(":off", text(OFF));
            let write = Write::update(Role::Crawl, &keys::crawl(crawl), update, &Item::new()).if_there();
            // Refused: there is no such crawl.
            self.db.write(&write.indexed(IndexWrites::One)).await.map(|_| ())
        })
        .await
    }

    async fn due_crawls(&self, now: Timestamp, limit: usize) -> PortResult<Vec<CrawlId>> {
        at("list due crawls", now, self.on_agenda(rows::SCHEDULED, now, limit)).await
    }

    async fn move_schedule(&self, passed: &MoveSchedule) -> PortResult<()> {
        at("move schedule", &passed.crawl, async {
            let update = match passed.next {
                Some(next) => scheduled(Expression::new("SET #agenda = :agenda, #agenda_at = :agenda_at"), next),
                None => Expression::new("REMOVE #agenda, #agenda_at"),
            };
            let as_seen = Expression::new("#agenda_at = :seen").with(":seen", instant(passed.seen));
            let write = Write::update(Role::Crawl, &keys::crawl(&passed.crawl), update, &Item::new()).when(as_seen);
            // Refused: somebody else moved it, or switched the crawl off.
            self.db.write(&write.indexed(IndexWrites::Move)).await.map(|_| ())
        })
        .await
    }

    async fn running_crawls(&self, limit: usize) -> PortResult<Vec<CrawlId>> {
        at("list running crawls", "the stack", self.on_agenda(rows::RUNNING, Timestamp::MAX, limit)).await
    }

    async fn mark_handled(&self, crawl: &CrawlId, trigger: &TriggerId, now: Timestamp) -> PortResult<()> {
        at("mark trigger", trigger, async {
            let update = Expression::new("SET #v = :v, #handled = :handled, #expires = :expires");
            let update = update.with(":handled", flag(true)).with(":expires", iterations::trigger_expires(now));
            let key = keys::trigger(crawl, trigger);
            let write = Write::update(Role::Trigger, &key, rows::versioned(update), &Item::new());
            self.db.write(&write).await.map(|_| ())
        })
        .await
    }

    async fn was_handled(&self, crawl: &CrawlId, trigger: &TriggerId) -> PortResult<bool> {
        at("load trigger", trigger, async {
            let Some(item) = self.db.get(&keys::trigger(crawl, trigger)).await? else { return Ok(false) };
            Ok(rows::fields(&item)?.maybe("handled", Fields::flag)?.unwrap_or(false))
        })
        .await
    }
}

impl DynamoFrontier {
    async fn crawl(&self, crawl: &CrawlId) -> Result<Option<CrawlRow>, StoreError> {
        let item = self.db.get(&keys::crawl(crawl)).await?;
        self.read(crawl, item.as_ref()).await
    }

    /// Reads a crawl's row and its definition; `None` if either is missing.
    async fn read(&self, crawl: &CrawlId, item: Option<&Item>) -> Result<Option<CrawlRow>, StoreError> {
        let Some(item) = item else { return Ok(None) };
        let fields = rows::fields(item)?;
        let Some(version) = fields.maybe_number(VERSION)? else { return Ok(None) };
        let switch = match fields.maybe(SWITCH, Fields::text)? {
            Some(OFF) => Switch::Off,
            None => Switch::On { next: fields.maybe_instant(AGENDA_AT)? },
            Some(other) => return Err(StoreError::Damaged(format!("a crawl is switched `{other}`"))),
        };
        let definition = if fields.has(DEFINITION) {
            fields.json(DEFINITION)?
        } else {
            let stored = self.definition(crawl, version).await?;
            stored.ok_or_else(|| StoreError::Damaged(format!("version {version} of the definition is missing")))?
        };
        Ok(Some(CrawlRow { definition, version, switch }))
    }

    /// Returns the crawls that need this kind of attention by `until`, the earliest first.
    async fn on_agenda(&self, kind: &str, until: Timestamp, limit: usize) -> Result<Vec<CrawlId>, StoreError> {
        let (mut crawls, mut start) = (Vec::new(), None);
        loop {
            let (items, next) = self.db.indexed(Index::AGENDA, kind, until, limit - crawls.len(), start).await?;
            for item in &items {
                crawls.push(Fields(item).parsed(PARTITION)?);
            }
            start = next;
            if crawls.len() >= limit || start.is_none() {
                return Ok(crawls);
            }
        }
    }
}

/// Moves a definition that an earlier version of this program kept in the crawl's row to a row of
/// its own, for the iterations that began with it.
fn keep(before: &CrawlRow) -> Result<Write, StoreError> {
    let key = keys::definition(&before.definition.name, before.version);
    Ok(Write::put(Role::Other, &key, rows::row(&key, [(DEFINITION, json(&before.definition)?)])))
}

/// Sets the current version, and switches the crawl on.
fn write_spec(put: &PutCrawl, version: u32) -> Write {
    let (set, remove) = match put.next {
        Some(_) => (", #agenda = :agenda, #agenda_at = :agenda_at", "#switch"),
        None => ("", "#switch, #agenda, #agenda_at"),
    };
    let text = format!("SET #v = :v, #version = :version{set} REMOVE #definition, {remove}");
    let update = Expression::new(text).with(":version", number(version));
    let update = match put.next {
        Some(next) => scheduled(update, next),
        None => update,
    };
    let condition = match put.seen {
        Some(seen) => Expression::new("#version = :seen").with(":seen", number(seen)),
        None => Expression::new("attribute_not_exists(#version)"),
    };
    let key = keys::crawl(&put.definition.name);
    let write = Write::update(Role::Crawl, &key, rows::versioned(update), &Item::new()).when(condition);
    write.indexed(IndexWrites::Move)
}

fn scheduled(update: Expression, next: Timestamp) -> Expression {
    rows::agenda(rows::SCHEDULED, next)
        .into_iter()
        .fold(update, |update, (name, value)| update.with(&format!(":{name}"), value))
}
