//! The links of a page as one JSON text: an array per link, `[kind, disposition, target]`, followed
//! by the reason if it is blocked, and then (after the reason or `null`) by a bit mask (1 if
//! parameters were removed from the target, 2 for nofollow), and then by the link's text.
//!
//! Kind and disposition are numbers. A target within the page's own origin is its path and query.

use dragline_domain::document::{Disposition, Link, LinkKind, Rel};
use dragline_domain::url::{Origin, Spelling};
use serde::{Deserialize, Serialize};

use crate::db::StoreError;
use crate::db::urls::{restore, shorten};

/// All dispositions, for the table of their names.
pub(crate) const DISPOSITIONS: [Disposition; 12] = [
    Disposition::Follow,
    Disposition::NotAPage,
    Disposition::NoFollow,
    Disposition::OutOfScope,
    Disposition::TooDeep,
    Disposition::Blocked(String::new()),
    Disposition::BeyondBudget,
    Disposition::Later,
    Disposition::Check,
    Disposition::Last,
    Disposition::Framed,
    Disposition::Changed,
];

/// A link as stored.
#[derive(Serialize)]
#[serde(untagged)]
enum PackedLink<'l> {
    Plain(u8, u8, &'l str),
    Blocked(u8, u8, &'l str, &'l str),
    Marked(u8, u8, &'l str, Option<&'l str>, u8),
    Anchored(u8, u8, &'l str, Option<&'l str>, u8, &'l str),
}

/// The bit for a target from which parameters were removed.
const STRIPPED: u8 = 1;

/// The bit for a nofollow link.
const NOFOLLOW: u8 = 2;

fn mark(link: &Link) -> u8 {
    let stripped = if link.spelling.is_whole() { 0 } else { STRIPPED };
    stripped | if link.rel.is_follow() { 0 } else { NOFOLLOW }
}

pub(super) fn pack(origin: &Origin, links: &[Link]) -> Result<String, StoreError> {
    let packed: Vec<PackedLink<'_>> = links
        .iter()
        .map(|link| {
            let (kind, disposition, target) =
                (link.kind.code(), link.disposition.code(), shorten(origin, &link.target));
            let reason =
                if let Disposition::Blocked(reason) = &link.disposition { Some(reason.as_str()) } else { None };
            if let Some(anchor) = &link.anchor {
                return PackedLink::Anchored(kind, disposition, target, reason, mark(link), anchor);
            }
            match (mark(link), reason) {
                (0, None) => PackedLink::Plain(kind, disposition, target),
                (0, Some(reason)) => PackedLink::Blocked(kind, disposition, target, reason),
                (mark, reason) => PackedLink::Marked(kind, disposition, target, reason, mark),
            }
        })
        .collect();
    Ok(serde_json::to_string(&packed)?)
}

/// A link as read: an array of three to six values.
#[derive(Deserialize)]
#[serde(untagged)]
enum UnpackedLink {
    Anchored(u8, u8, String, Option<String>, u8, String),
    Marked(u8, u8, String, Option<String>, u8),
    Blocked(u8, u8, String, String),
    Plain(u8, u8, String),
}

pub(super) fn unpack(origin: &Origin, packed: &str) -> Result<Vec<Link>, StoreError> {
    let damaged = |what: &str| StoreError::Damaged(format!("a stored link has an unknown {what}"));
    let links: Vec<UnpackedLink> = serde_json::from_str(packed)?;
    let restore = |link| {
        let (kind, disposition, target, reason, mark, anchor) = match link {
            UnpackedLink::Anchored(kind, disposition, target, reason, mark, anchor) => {
                (kind, disposition, target, reason, mark, Some(anchor))
            }
            UnpackedLink::Marked(kind, disposition, target, reason, mark) => {
                (kind, disposition, target, reason, mark, None)
            }
            UnpackedLink::Blocked(kind, disposition, target, reason) => {
                (kind, disposition, target, Some(reason), 0, None)
            }
            UnpackedLink::Plain(kind, disposition, target) => (kind, disposition, target, None, 0, None),
        };
        let spelling = if mark & STRIPPED == 0 { Spelling::Whole } else { Spelling::Stripped };
        let rel = if mark & NOFOLLOW == 0 { Rel::Follow } else { Rel::NoFollow };
        let kind = LinkKind::from_code(kind).ok_or_else(|| damaged("kind"))?;
        let disposition = parse_disposition(disposition, reason).ok_or_else(|| damaged("disposition"))?;
        Ok(Link { kind, target: restore(origin, target)?, disposition, spelling, rel, anchor })
    };
    links.into_iter().map(restore).collect()
}

fn parse_disposition(code: u8, reason: Option<String>) -> Option<Disposition> {
    match (code, reason) {
        (0, None) => Some(Disposition::Follow),
        (1, None) => Some(Disposition::NotAPage),
        (2, None) => Some(Disposition::NoFollow),
        (3, None) => Some(Disposition::OutOfScope),
        (4, None) => Some(Disposition::TooDeep),
        (5, Some(reason)) => Some(Disposition::Blocked(reason)),
        (6, None) => Some(Disposition::BeyondBudget),
        (7, None) => Some(Disposition::Later),
        (8, None) => Some(Disposition::Check),
        (9, None) => Some(Disposition::Last),
        (10, None) => Some(Disposition::Framed),
        (11, None) => Some(Disposition::Changed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::url::CrawlUrl;

    use super::*;

    #[test]
    fn links_are_read_back() {
        let origin: Origin = "https://example.org".parse().unwrap();
        let link = |kind, url: &str, disposition| Link {
            kind,
            target: CrawlUrl::try_from(url.to_owned()).unwrap(),
            disposition,
            spelling: Spelling::Whole,
            rel: Rel::Follow,
            anchor: None,
        };
        let anchored = |link, says: &str| Link { anchor: Some(says.to_owned()), ..link };
        let nofollow = |link| Link { rel: Rel::NoFollow, ..link };
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
            nofollow(link(LinkKind::A, "https://other.example/n", Disposition::OutOfScope)),
            nofollow(stripped(link(LinkKind::A, "https://example.org/u", Disposition::NoFollow))),
            anchored(link(LinkKind::A, "https://example.org/v", Disposition::Follow), "a \"name\""),
            anchored(nofollow(link(LinkKind::A, "https://example.org/w", Disposition::Blocked("rule 5".into()))), ""),
        ];
        let packed = pack(&origin, &links).unwrap();
        assert_eq!(
            packed,
            r#"[[1,0,"/a?b=%22"],[4,1,"https://cdn.example/x.png"],[1,2,"/n"],[12,3,"https://other.example/"],[2,4,"/deep"],[1,5,"/no","rule 3: `\"no\"`"],[1,0,"/s",null,1],[1,5,"/t","rule 4",1],[1,3,"https://other.example/n",null,2],[1,2,"/u",null,3],[1,0,"/v",null,0,"a \"name\""],[1,5,"/w","rule 5",2,""]]"#
        );
        assert_eq!(unpack(&origin, &packed).unwrap(), links);
        for disposition in DISPOSITIONS {
            let reason = matches!(disposition, Disposition::Blocked(_)).then(String::new);
            assert_eq!(parse_disposition(disposition.code(), reason), Some(disposition));
        }
    }

    #[test]
    fn damage_is_reported() {
        let origin: Origin = "https://example.org".parse().unwrap();
        for (packed, why) in [
            ("[[1,0]]", "no target"),
            ("[[99,0,\"/a\"]]", "no such kind"),
            ("[[1,99,\"/a\"]]", "no such disposition"),
            ("[[1,5,\"/a\"]]", "blocked without a reason"),
            ("[[1,0,\"a\"]]", "not a URL"),
        ] {
            assert!(unpack(&origin, packed).is_err(), "{why}");
        }
    }
}
