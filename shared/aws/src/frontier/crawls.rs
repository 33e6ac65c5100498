//! Definitions of crawls, and the origins that joined them.

use dragline_domain::definition::Definition;
use dragline_domain::frontier::{CrawlPut, Decided, Switch, put_definition};
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_domain::url::Origin;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{CrawlRow, Crawls, MoveSchedule, PutCrawl};
use jiff::Timestamp;

use super::{DynamoFrontier, iterations};
use crate::dynamo::{Expression, Fields, IndexWrites, Item, Role, Write, flag, instant, json, number, text, texts};
use crate::errors::{StoreError, at};
use crate::rows::{self, keys};
use crate::tables::{AGENDA_AT, Index, PARTITION};

const DEFINITION: &str = "definition";
const VERSION: &str = "version";
const JOINED: &str = "joined";

/// Exists only while the crawl is switched off, and says so.
const SWITCH: &str = "switch";
const OFF: &str = "off";

impl Crawls for DynamoFrontier {
    async fn put_crawl(&self, put: &PutCrawl) -> PortResult<CrawlPut> {
        at("put crawl", &put.definition.name, async {
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let before = self.crawl(&put.definition.name).await?;
                let stored = before.as_ref().map(|row| (row.version, &row.definition));
                match put_definition(stored, put.seen, &put.definition) {
                    Decided::Write(CrawlPut::Stored(version)) => {
                        let mut writes = vec![write_definition(put, version)?];
                        writes.extend(before.as_ref().map(keep).transpose()?);
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
            // If it is replaced between the two reads, the second one finds it.
            if let Some(current) = self.crawl(crawl).await?.filter(|row| row.version == version) {
                return Ok(Some(current.definition));
            }
            let kept = self.db.get(&keys::past_definition(crawl, version)).await?;
            kept.map(|item| rows::fields(&item)?.json(DEFINITION)).transpose()
        })
        .await
    }

    async fn join_origin(&self, crawl: &CrawlId, origin: &Origin) -> PortResult<()> {
        at("join origin", origin, async {
            let update = Expression::new("SET #v = :v, #joined = list_append(if_not_exists(#joined, :none), :new)");
            let update = update.with(":none", texts([])).with(":new", texts([origin.as_str()]));
            let condition = Expression::new("NOT contains(#joined, :origin)").with(":origin", text(origin.as_str()));
            let write = Write::update(Role::Crawl, &keys::crawl(crawl), rows::versioned(update), &Item::new());
            // Refused: it joined before.
            self.db.write(&write.when(condition)).await.map(|_| ())
        })
        .await
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
    pub(super) async fn crawl(&self, crawl: &CrawlId) -> Result<Option<CrawlRow>, StoreError> {
        match self.db.get(&keys::crawl(crawl)).await? {
            Some(item) => read(&item),
            None => Ok(None),
        }
    }

    /// Returns the crawls that need this kind of attention by then, the earliest first.
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

/// Reads the definition; `None` where origins joined a crawl that has none yet.
fn read(item: &Item) -> Result<Option<CrawlRow>, StoreError> {
    let fields = rows::fields(item)?;
    if !fields.has(DEFINITION) {
        return Ok(None);
    }
    let switch = match fields.maybe(SWITCH, Fields::text)? {
        Some(OFF) => Switch::Off,
        None => Switch::On { next: fields.maybe_instant(AGENDA_AT)? },
        Some(other) => return Err(StoreError::Damaged(format!("a crawl is switched `{other}`"))),
    };
    let joined = fields.maybe(JOINED, Fields::texts)?.unwrap_or_default();
    let origin = |text: &str| text.parse().map_err(|_| StoreError::Damaged(format!("`{text}` is not an origin")));
    Ok(Some(CrawlRow {
        definition: fields.json(DEFINITION)?,
        version: fields.number(VERSION)?,
        joined: joined.into_iter().map(origin).collect::<Result<_, _>>()?,
        switch,
    }))
}

/// Keeps a definition that is replaced, for the iterations that began with it.
fn keep(before: &CrawlRow) -> Result<Write, StoreError> {
    let key = keys::past_definition(&before.definition.name, before.version);
    Ok(Write::put(Role::Other, &key, rows::row(&key, [(DEFINITION, json(&before.definition)?)])))
}

/// Writes a definition and switches its crawl on.
fn write_definition(put: &PutCrawl, version: u32) -> Result<Write, StoreError> {
    let (set, remove) = match put.next {
        Some(_) => (", #agenda = :agenda, #agenda_at = :agenda_at", "#switch"),
        None => ("", "#switch, #agenda, #agenda_at"),
    };
    let text = format!("SET #v = :v, #definition = :definition, #version = :version{set} REMOVE {remove}");
    let update = Expression::new(text).with(":definition", json(&put.definition)?).with(":version", number(version));
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
    Ok(write.indexed(IndexWrites::Move))
}

fn scheduled(update: Expression, next: Timestamp) -> Expression {
    rows::agenda(rows::SCHEDULED, next)
        .into_iter()
        .fold(update, |update, (name, value)| update.with(&format!(":{name}"), value))
}
