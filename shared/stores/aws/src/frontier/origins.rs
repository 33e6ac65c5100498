//! Origins that take part in an iteration, and the seeds that open them.

use dragline_domain::frontier::{Counts, Inbox, OriginKey, OriginRows, PART_CHUNKS_MAX, SeedRefused, seed};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::Origin;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Origins, SeedOrigin, SeedResult};

use super::DynamoFrontier;
use super::current::{PairedRows, pair};
use super::iterations::TRIGGER_KNOWN;
use crate::dynamo::{Fields, Role};
use crate::errors::{StoreError, at};
use crate::meter::capacity::ReadKind;
use crate::rows::{chunk, counts, inbox, iteration, keys, lease, seeding};
use crate::tables::SORT;

impl Origins for DynamoFrontier {
    async fn seed_origin(&self, request: &SeedOrigin) -> PortResult<SeedResult> {
        at("seed origin", &request.origin, async {
            StoreError::check_size("chunks of seeds", request.chunks.len(), PART_CHUNKS_MAX)?;
            let SeedOrigin { origin, iteration: number, add, .. } = request;
            let beside = [keys::iteration(&origin.crawl, *number), keys::seeding(origin, *number, &request.seeding)];
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let Some((rows, [row, marked])) = self.read_current([origin].into(), beside.each_ref()).await? else {
                    continue;
                };
                let Some(row) = row else { return Ok(SeedResult::IterationOver) };
                let (row, before) = (iteration::read(&row)?, rows.get(origin));
                let mark = seeding::mark(marked.as_ref());
                let (after, opened) = match seed(before, &row, mark, &request.seeding, add) {
                    Ok(seeded) => seeded,
                    Err(SeedRefused::Already) => return Ok(SeedResult::Already),
                    Err(SeedRefused::IterationOver) => return Ok(SeedResult::IterationOver),
                };
                if before.is_none() {
                    self.list(origin).await?;
                }
                let mut writes = vec![
                    seeding::put(origin, *number, &request.seeding, add.now, TRIGGER_KNOWN),
                    inbox::add(origin, before.map(|rows| &rows.inbox), &after.inbox),
                ];
                writes.extend(counts::add(origin, *number, &Counts::from_change(before, &after)));
                for seeds in &request.chunks {
                    writes.push(chunk::put(origin, seeds)?);
                }
                if let Some(opened) = &opened {
                    let old = before.map(|rows| &rows.lease);
                    writes.push(lease::replace(origin, old, &after.lease, self.lease_grace)?);
                    writes.push(iteration::open(&row, opened));
                }
                match self.db.transact(&writes).await? {
                    Ok(()) => return Ok(SeedResult::Added),
                    Err(refused)
                        if refused.by(Role::Chunk) && !refused.by(Role::Seeding) && !refused.by(Role::Inbox) =>
                    {
                        return Err(StoreError::Damaged("there are seeds without a mark".to_owned()));
                    }
                    // Somebody opened, closed or seeded it meanwhile.
                    Err(_) => {}
                }
            }
        })
        .await
    }

    async fn list_origins(&self, crawl: &CrawlId, after: Option<&Origin>, limit: usize) -> PortResult<Vec<Origin>> {
        at("list origins", crawl, self.origins(crawl, after, limit)).await
    }

    /// Returns both rows of an origin.
    async fn load_origin(&self, origin: &OriginKey) -> PortResult<Option<OriginRows>> {
        at("load origin", origin, async {
            let [lease, inbox] = [keys::lease(origin), keys::inbox(origin)];
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let found = self.db.get_all(vec![lease.clone(), inbox.clone()], ReadKind::Consistent).await?;
                if let PairedRows::AtRest(rows) = pair(found.get(&lease), found.get(&inbox))? {
                    return Ok(rows);
                }
            }
        })
        .await
    }

    /// Returns only the inbox. While somebody holds the lease, only the holder opens or closes it.
    async fn load_inbox(&self, origin: &OriginKey) -> PortResult<Option<Inbox>> {
        at("load inbox", origin, async {
            self.db.get(&keys::inbox(origin)).await?.as_ref().map(inbox::read).transpose()
        })
        .await
    }
}

impl DynamoFrontier {
    pub(super) async fn origins(
        &self,
        crawl: &CrawlId,
        after: Option<&Origin>,
        limit: usize,
    ) -> Result<Vec<Origin>, StoreError> {
        let mut range = keys::listed_after(crawl, after);
        let mut origins = Vec::new();
        while origins.len() < limit {
            let page = self.db.first(&range, limit - origins.len(), ReadKind::Consistent).await?;
            for item in &page.items {
                origins.push(keys::origin_listed(Fields(item).text(SORT)?)?);
            }
            let Some(next) = page.next else { break };
            range.after = Some(next);
        }
        Ok(origins)
    }
}
