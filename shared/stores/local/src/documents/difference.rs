//! Differences between successive documents: the changed parts as words, and links as JSON arrays
//! of `[kind, target]`.

use dragline_domain::change::{Difference, PageLink, Part};
use dragline_domain::document::LinkKind;
use dragline_domain::url::Origin;
use rusqlite::params;

use super::{Owner, read_place};
use crate::db::urls::{restore, shorten};
use crate::db::values::NamedColumns;
use crate::db::{Db, StoreError, VisitId};

/// The stored name of the text around a main part.
const REST: &str = "rest";

/// Puts the difference of a document; nothing if the earlier document is gone.
pub(super) fn put(db: &Db, id: VisitId, owner: &Owner<'_>, difference: &Difference) -> Result<(), StoreError> {
    let Some(since) = owner.visit_id(db, &difference.since)? else { return Ok(()) };
    let stored = |part: &Part| if *part == Part::Rest { REST } else { part.name() };
    let parts: Vec<&str> = difference.parts.iter().map(stored).collect();
    let packed = |links: &[PageLink]| {
        let links: Vec<_> = links.iter().map(|link| (link.kind.code(), shorten(owner.origin, &link.target))).collect();
        serde_json::to_string(&links)
    };
    let (added, removed) = (packed(&difference.links_added)?, packed(&difference.links_removed)?);
    let sql = "INSERT INTO difference (id, since_id, parts, links_added, links_removed) VALUES (?1, ?2, ?3, ?4, ?5)";
    db.execute(sql, params![id, since, parts.join(","), added, removed])?;
    Ok(())
}

/// Reads the difference of a document.
pub(super) fn read(row: &NamedColumns<'_>, origin: &Origin) -> Result<Option<Difference>, StoreError> {
    let Some(since) = read_place(row, ["since_id", "since_iteration", "since_turn", "since_segment"])? else {
        return Ok(None);
    };
    let parts: String = row.get("parts")?;
    let part = |name: &str| {
        let part = if name == REST { Some(Part::Rest) } else { Part::from_name(name) };
        part.ok_or_else(|| StoreError::Damaged(format!("a page has no part `{name}`")))
    };
    let parts = parts.split(',').filter(|name| !name.is_empty()).map(part).collect::<Result<_, _>>()?;
    let links = |packed: String| -> Result<Vec<PageLink>, StoreError> {
        let links: Vec<(u8, String)> = serde_json::from_str(&packed)?;
        let link = |(kind, target)| {
            let unknown = || StoreError::Damaged("a stored link has an unknown kind".to_owned());
            Ok(PageLink { kind: LinkKind::from_code(kind).ok_or_else(unknown)?, target: restore(origin, target)? })
        };
        links.into_iter().map(link).collect()
    };
    let (links_added, links_removed) = (links(row.get("links_added")?)?, links(row.get("links_removed")?)?);
    Ok(Some(Difference { since, parts, links_added, links_removed }))
}
