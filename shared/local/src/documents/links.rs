//! The links of a page as one JSON text: an array per link, `[kind, disposition, target]`, followed by the reason if it is blocked, and then (after
//! the reason or `null`) by 1 if parameters were removed from the target.
//!
//! Kind and disposition are numbers. A target within the page's own origin is its path and query.

use dragline_domain::document::{Disposition, Link, LinkKind};
use dragline_domain::url::{Origin, Spelling};
use serde::{Deserialize, Serialize};

use crate::db::StoreError;
use crate::db::urls::{restore, shorten};

/// All dispositions, for the table of their names.
pub(crate) const DISPOSITIONS: [Disposition; 7] = [
    Disposition::Follow,
    Disposition::NotAPage,
    Disposition::NoFollow,
    Disposition::OutOfScope,
    Disposition::TooDeep,
    Disposition::Blocked(String::new()),
    Disposition::BeyondBudget,
];

/// A link as stored.
#[derive(Serialize)]
#[serde(untagged)]
enum Packed<'l> {
    Plain(u8, u8, &'l str),
    Blocked(u8, u8, &'l str, &'l str),
    Stripped(u8, u8, &'l str, Option<&'l str>, u8),
}

pub(super) fn pack(origin: &Origin, links: &[Link]) -> Result<String, StoreError> {
    let packed: Vec<Packed<'_>> = links
        .iter()
        .map(|link| {
            let (kind, disposition, target) =
                (link.kind.code(), link.disposition.code(), shorten(origin, &link.target));
            let reason =
                if let Disposition::Blocked(reason) = &link.disposition { Some(reason.as_str()) } else { None };
            match (link.spelling, reason) {
                (Spelling::Whole, None) => Packed::Plain(kind, disposition, target),
                (Spelling::Whole, Some(reason)) => Packed::Blocked(kind, disposition, target, reason),
                (Spelling::Stripped, reason) => Packed::Stripped(kind, disposition, target, reason, 1),
            }
        })
        .collect();
    Ok(serde_json::to_string(&packed)?)
}

/// A link as read: three to five values.
#[derive(Deserialize)]
#[serde(untagged)]
enum Unpacked {
    Stripped(u8, u8, String, Option<String>, serde::de::IgnoredAny),
    Blocked(u8, u8, String, String),
    Plain(u8, u8, String),
}

pub(super) fn unpack(origin: &Origin, packed: &str) -> Result<Vec<Link>, StoreError> {
    let damaged = |what: &str| StoreError::Damaged(format!("a stored link has an unknown {what}"));
    let links: Vec<Unpacked> = serde_json::from_str(packed)?;
    let restore = |link| {
        let (kind, disposition, target, reason, spelling) = match link {
            Unpacked::Stripped(kind, disposition, target, reason, _) => {
                (kind, disposition, target, reason, Spelling::Stripped)
            }
            Unpacked::Blocked(kind, disposition, target, reason) => {
                (kind, disposition, target, Some(reason), Spelling::Whole)
            }
            Unpacked::Plain(kind, disposition, target) => (kind, disposition, target, None, Spelling::Whole),
        };
        let kind = LinkKind::from_code(kind).ok_or_else(|| damaged("kind"))?;
        let disposition = disposition_of(disposition, reason).ok_or_else(|| damaged("disposition"))?;
        Ok(Link { kind, target: restore(origin, target)?, disposition, spelling })
    };
    links.into_iter().map(restore).collect()
}

fn disposition_of(code: u8, reason: Option<String>) -> Option<Disposition> {
    match (code, reason) {
        (0, None) => Some(Disposition::Follow),
        (1, None) => Some(Disposition::NotAPage),
        (2, None) => Some(Disposition::NoFollow),
        (3, None) => Some(Disposition::OutOfScope),
        (4, None) => Some(Disposition::TooDeep),
        (5, Some(reason)) => Some(Disposition::Blocked(reason)),
        (6, None) => Some(Disposition::BeyondBudget),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::url::CrawlUrl;

    use super::*;

    #[test]
    fn links_come_back_as_they_were() {
        let origin: Origin = "https://example.org".parse().unwrap();
        let link = |kind, url: &str, disposition| Link {
            kind,
            target: CrawlUrl::try_from(url.to_owned()).unwrap(),
            disposition,
            spelling: Spelling::Whole,
        };
        let stripped = |link| Link { spelling: Spelling::Stripped, ..link };
        let links = vec![
            link(LinkKind::A, "https://example.org/a?b=%22", Disposition::Follow),
            link(LinkKind::Img, "https://cdn.example/x.png", Disposition::NotAPage),
            link(LinkKind::A, "https://example.org/n", Disposition::NoFollow),
            link(LinkKind::Canonical, "https://other.example/", Disposition::OutOfScope),
            link(LinkKind::Area, "https://example.org/deep", Disposition::TooDeep),
            link(LinkKind::A, "https://example.org/no", Disposition::Blocked("rule 3: `\"no\"`".into())),
            stripped(link(LinkKind::A, "https://example.org/s", Disposition::Follow)),
            stripped(link(LinkKind::A, "https://example.org/t", Disposition::Blocked("rule 4".into()))),
        ];
        let packed = pack(&origin, &links).unwrap();
        assert_eq!(
            packed,
            r#"[[1,0,"/a?b=%22"],[4,1,"https://cdn.example/x.png"],[1,2,"/n"],[12,3,"https://other.example/"],[2,4,"/deep"],[1,5,"/no","rule 3: `\"no\"`"],[1,0,"/s",null,1],[1,5,"/t","rule 4",1]]"#
        );
        assert_eq!(unpack(&origin, &packed).unwrap(), links);
        for disposition in DISPOSITIONS {
            let reason = matches!(disposition, Disposition::Blocked(_)).then(String::new);
            assert_eq!(disposition_of(disposition.code(), reason), Some(disposition));
        }
    }

    #[test]
    fn damage_is_reported() {
        let origin: Origin = "https://example.org".parse().unwrap();
        for (packed, why) in [
            ("[[1,0]]", "no target"),
            ("[[99,0,\"/a\"]]", "no such kind"),
            ("[[1,9,\"/a\"]]", "no such disposition"),
            ("[[1,5,\"/a\"]]", "blocked without a reason"),
            ("[[1,0,\"a\"]]", "not a URL"),
        ] {
            assert!(unpack(&origin, packed).is_err(), "{why}");
        }
    }
}
