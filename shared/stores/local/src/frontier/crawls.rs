//! Definitions of crawls, and their schedules.

use std::ops::Range;

use dragline_domain::definition::Definition;
use dragline_domain::frontier::{
    CrawlPut, CrawlStamp, Decided, OriginsJoined, Switch, join_origins as decide_join, put_definition,
};
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_domain::url::Origin;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{CrawlRow, Crawls, JoinOrigins, MoveSchedule, PutCrawl};
use jiff::Timestamp;

use super::SqliteFrontier;
use crate::db::{Db, StoreError};

impl Crawls for SqliteFrontier {
    async fn put_crawl(&self, put: &PutCrawl) -> PortResult<CrawlPut> {
        let request = put.clone();
        self.run("put crawl", &put.definition.name, move |db| put_crawl(db, &request)).await
    }

    async fn load_crawl(&self, crawl: &CrawlId) -> PortResult<Option<CrawlRow>> {
        let id = crawl.clone();
        self.run("load crawl", crawl, move |db| db.crawl(&id)).await
    }

    async fn load_definition(&self, crawl: &CrawlId, version: u32) -> PortResult<Option<Definition>> {
        let id = crawl.clone();
        self.run("load definition", crawl, move |db| db.definition(&id, version)).await
    }

    async fn load_stamp(&self, crawl: &CrawlId) -> PortResult<Option<CrawlStamp>> {
        let id = crawl.clone();
        self.run("load stamp", crawl, move |db| db.crawl_stamp(&id)).await
    }

    async fn load_joined(&self, crawl: &CrawlId, places: Range<u64>) -> PortResult<Vec<Origin>> {
        let id = crawl.clone();
        self.run("load origins that joined", crawl, move |db| match db.crawl_id(&id)? {
            Some(crawl) => db.joined(crawl, &places),
            None => Ok(Vec::new()),
        })
        .await
    }

    async fn join_origins(&self, join: &JoinOrigins) -> PortResult<OriginsJoined> {
        let request = join.clone();
        self.run("join origins", &join.crawl, move |db| join_origins(db, &request)).await
    }

    async fn switch_off(&self, crawl: &CrawlId) -> PortResult<()> {
        let id = crawl.clone();
        self.run("switch crawl off", crawl, move |db| switch_off(db, &id)).await
    }

    async fn due_crawls(&self, now: Timestamp, limit: usize) -> PortResult<Vec<CrawlId>> {
        self.run("list due crawls", &now, move |db| db.due_crawls(now, limit)).await
    }

    async fn move_schedule(&self, passed: &MoveSchedule) -> PortResult<()> {
        let request = passed.clone();
        self.run("move schedule", &passed.crawl, move |db| move_schedule(db, &request)).await
    }

    async fn running_crawls(&self, limit: usize) -> PortResult<Vec<CrawlId>> {
        self.run("list running crawls", &"the store", move |db| db.running_crawls(limit)).await
    }

    async fn mark_handled(&self, crawl: &CrawlId, trigger: &TriggerId, _now: Timestamp) -> PortResult<()> {
        let (id, handled) = (crawl.clone(), trigger.clone());
        self.run("mark trigger", trigger, move |db| db.mark_handled(db.ensure_crawl(&id)?, &handled)).await
    }

    async fn was_handled(&self, crawl: &CrawlId, trigger: &TriggerId) -> PortResult<bool> {
        let (id, asked) = (crawl.clone(), trigger.clone());
        self.run("load trigger", trigger, move |db| match db.crawl_id(&id)? {
            Some(crawl) => db.was_handled(crawl, &asked),
            None => Ok(false),
        })
        .await
    }
}

fn put_crawl(db: &Db, put: &PutCrawl) -> Result<CrawlPut, StoreError> {
    let stored = db.crawl(&put.definition.name)?;
    let stored = stored.as_ref().map(|row| (row.version, &row.definition));
    let decided = put_definition(stored, put.seen, &put.definition);
    if let Decided::Write(CrawlPut::Stored(version)) = decided {
        db.put_definition(put, version)?;
    }
    Ok(decided.outcome())
}

fn join_origins(db: &Db, join: &JoinOrigins) -> Result<OriginsJoined, StoreError> {
    let (Some(id), Some(stamp)) = (db.crawl_id(&join.crawl)?, db.crawl_stamp(&join.crawl)?) else {
        return Ok(OriginsJoined::Changed);
    };
    let decided = decide_join(stamp, join.seen);
    if let Decided::Write(OriginsJoined::Joined) = decided {
        (stamp.joined..).zip(&join.origins).try_for_each(|(place, origin)| db.put_joined(id, origin, place))?;
    }
    Ok(decided.outcome())
}

fn switch_off(db: &Db, crawl: &CrawlId) -> Result<(), StoreError> {
    match db.crawl_id(crawl)? {
        Some(id) => db.put_switch(id, Switch::Off),
        None => Ok(()),
    }
}

fn move_schedule(db: &Db, passed: &MoveSchedule) -> Result<(), StoreError> {
    let (Some(id), Some(row)) = (db.crawl_id(&passed.crawl)?, db.crawl(&passed.crawl)?) else { return Ok(()) };
    match row.switch.moved(passed.seen, passed.next) {
        Some(switch) => db.put_switch(id, switch),
        None => Ok(()),
    }
}
