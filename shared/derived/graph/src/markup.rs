//! What pages' markup tells: writes it beside the links, and checks it against other pages.

use dragline_domain::document::LinkKind;
use dragline_domain::language::{HreflangFault, hreflang_fault};
use dragline_domain::markup::{AnchorSet, MalformedReason, Markup, PagePart};
use dragline_ports::reader::PageRow;
use rusqlite::{Connection, params};

use crate::error::FileError;
use crate::nodes::GraphWriter;

/// Writes the reasons for malformed references.
pub(crate) fn name_reasons(db: &Connection) -> Result<(), FileError> {
    for why in MalformedReason::ALL {
        let row = params![why.name(), why.explanation(), why.is_hint()];
        db.execute("INSERT INTO malformed_reason VALUES (?, ?, ?)", row)?;
    }
    Ok(())
}

impl GraphWriter {
    /// Adds what the markup of a page tells, instead of what was added before.
    pub(crate) fn add_markup(&mut self, id: i64, row: &PageRow) -> Result<(), FileError> {
        for table in ["malformed", "link_use", "own_fragment", "page_language", "undescribed_picture"] {
            self.db.prepare_cached(&format!("DELETE FROM {table} WHERE from_id = ?"))?.execute([id])?;
        }
        self.db.prepare_cached("DELETE FROM page_anchor WHERE id = ?")?.execute([id])?;
        let Some(markup) = row.markup.as_deref() else { return Ok(()) };
        let Markup { h1, undescribed, undescribed_links, anchors, malformed, languages, uses: _, is_cut: _ } = markup;
        let sql = "UPDATE node SET has_markup = 1, h1 = ?2, undescribed = ?3 WHERE id = ?1";
        self.db.prepare_cached(sql)?.execute(params![id, h1, undescribed])?;
        for place in undescribed_links {
            let sql = "INSERT OR IGNORE INTO undescribed_picture VALUES (?, ?)";
            self.db.prepare_cached(sql)?.execute(params![id, place])?;
        }
        if let Some(anchors) = anchors {
            let sql = "INSERT INTO page_anchor VALUES (?, ?)";
            self.db.prepare_cached(sql)?.execute(params![id, String::from(anchors.clone())])?;
        }
        for (n, link) in malformed.iter().enumerate() {
            let sql = "INSERT INTO malformed VALUES (?, ?, ?, ?, ?, ?)";
            let row = params![id, n, link.kind.code(), link.written, link.why.name(), link.text];
            self.db.prepare_cached(sql)?.execute(row)?;
        }
        for (n, language) in languages.iter().enumerate() {
            let fault = hreflang_fault(&language.code).map(HreflangFault::explanation);
            let sql = "INSERT INTO page_language VALUES (?, ?, ?, ?, ?, ?)";
            self.db.prepare_cached(sql)?.execute(params![id, n, language.link, language.code, fault, language.page])?;
        }
        self.add_uses(id, markup)
    }

    fn add_uses(&mut self, id: i64, markup: &Markup) -> Result<(), FileError> {
        for (n, used) in markup.uses.iter().enumerate() {
            let text = self.anchor_of(used.text.as_deref())?;
            let Some(place) = used.link else {
                let sql = "INSERT INTO own_fragment VALUES (?, ?, ?, ?)";
                self.db.prepare_cached(sql)?.execute(params![id, n, used.fragment, text])?;
                continue;
            };
            let (rel, alt) = (self.anchor_of(used.rel.as_deref())?, self.anchor_of(used.alt.as_deref())?);
            let part = used.part.map(PagePart::name);
            let sql = "INSERT INTO link_use VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
            self.db.prepare_cached(sql)?.execute(params![id, place, n, used.fragment, part, rel, alt, text])?;
        }
        Ok(())
    }

    fn anchor_of(&mut self, text: Option<&str>) -> Result<Option<i64>, FileError> {
        text.map(|text| self.anchor(text)).transpose()
    }
}

/// Finds the fragments that name nothing in the page where their link ends. A page is only judged
/// if all of it was read; a file, a failing URL and one that was not visited is not.
pub(crate) fn check_fragments(db: &Connection) -> Result<(), FileError> {
    let mut used = db.prepare(
        "SELECT l.id AS target, u.fragment, u.from_id, u.place, u.n, u.text FROM link_use u
         JOIN edge e ON e.from_id = u.from_id AND e.place = u.place JOIN node t ON t.id = e.to_id JOIN node l ON l.id = t.lands_on
         WHERE u.fragment IS NOT NULL AND l.state IN ('page', 'copy') AND e.kind IN (?1, ?2)
         UNION ALL
         SELECT o.from_id, o.fragment, o.from_id, NULL, o.n, o.text FROM own_fragment o WHERE o.fragment IS NOT NULL
         ORDER BY 1, 2",
    )?;
    let mut anchors = db.prepare("SELECT hashes FROM page_anchor WHERE id = ?")?;
    let mut write = db.prepare("INSERT INTO fragment_missing VALUES (?, ?, ?, ?, ?)")?;
    let mut rows = used.query([LinkKind::A.code(), LinkKind::Area.code()])?;
    let mut known: Option<(i64, Option<AnchorSet>)> = None;
    while let Some(row) = rows.next()? {
        let (target, fragment): (i64, String) = (row.get(0)?, row.get(1)?);
        if known.as_ref().is_none_or(|(id, _)| *id != target) {
            let hashes: Option<String> = anchors.query([target])?.next()?.map(|row| row.get(0)).transpose()?;
            known = Some((target, hashes.and_then(|hashes| AnchorSet::try_from(hashes).ok())));
        }
        if let Some((_, Some(anchors))) = &known
            && !anchors.has(&fragment)
        {
            let (from, place, text): (i64, Option<i64>, Option<i64>) = (row.get(2)?, row.get(3)?, row.get(5)?);
            write.execute(params![target, fragment, from, place, text])?;
        }
    }
    Ok(())
}
