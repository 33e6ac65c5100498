//! The links of a page as one JSON text: an array for each link, `[kind, fate, target]`, behind it the reason where it is blocked, and behind that (or
//! behind `null`) 1 where parameters were taken out of the target.
//!
//! Kind and fate are their numbers. A target within the page's own origin is its path and query.

use dragline_domain::document::{Link, LinkFate, LinkKind};
use dragline_domain::url::{Origin, Spelling};
use serde::{Deserialize, Serialize};

use crate::db::StoreError;
use crate::db::urls::{restore, shorten};

/// Every fate there is, for the table of their names.
pub(crate) const FATES: [LinkFate; 7] = [
    LinkFate::Follow,
    LinkFate::NotAPage,
    LinkFate::NoFollow,
    LinkFate::OutOfScope,
    LinkFate::TooDeep,
    LinkFate::Blocked(String::new()),
    LinkFate::BeyondBudget,
];

/// A link as it is stored.
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
            let (kind, fate, target) = (link.kind.code(), link.fate.code(), shorten(origin, &link.target));
            let reason = if let LinkFate::Blocked(reason) = &link.fate { Some(reason.as_str()) } else { None };
            match (link.spelling, reason) {
                (Spelling::Whole, None) => Packed::Plain(kind, fate, target),
                (Spelling::Whole, Some(reason)) => Packed::Blocked(kind, fate, target, reason),
                (Spelling::Stripped, reason) => Packed::Stripped(kind, fate, target, reason, 1),
            }
        })
        .collect();
    Ok(serde_json::to_string(&packed)?)
}

/// A link as it is read: three values, four or five.
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
        let (kind, fate, target, reason, spelling) = match link {
            Unpacked::Stripped(kind, fate, target, reason, _) => (kind, fate, target, reason, Spelling::Stripped),
            Unpacked::Blocked(kind, fate, target, reason) => (kind, fate, target, Some(reason), Spelling::Whole),
            Unpacked::Plain(kind, fate, target) => (kind, fate, target, None, Spelling::Whole),
        };
        let kind = LinkKind::from_code(kind).ok_or_else(|| damaged("kind"))?;
        let fate = fate_of(fate, reason).ok_or_else(|| damaged("fate"))?;
        Ok(Link { kind, target: restore(origin, target)?, fate, spelling })
    };
    links.into_iter().map(restore).collect()
}

fn fate_of(code: u8, reason: Option<String>) -> Option<LinkFate> {
    match (code, reason) {
        (0, None) => Some(LinkFate::Follow),
        (1, None) => Some(LinkFate::NotAPage),
        (2, None) => Some(LinkFate::NoFollow),
        (3, None) => Some(LinkFate::OutOfScope),
        (4, None) => Some(LinkFate::TooDeep),
        (5, Some(reason)) => Some(LinkFate::Blocked(reason)),
        (6, None) => Some(LinkFate::BeyondBudget),
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
        let link = |kind, url: &str, fate| Link {
            kind,
            target: CrawlUrl::try_from(url.to_owned()).unwrap(),
            fate,
            spelling: Spelling::Whole,
        };
        let stripped = |link| Link { spelling: Spelling::Stripped, ..link };
        let links = vec![
            link(LinkKind::A, "https://example.org/a?b=%22", LinkFate::Follow),
            link(LinkKind::Img, "https://cdn.example/x.png", LinkFate::NotAPage),
            link(LinkKind::A, "https://example.org/n", LinkFate::NoFollow),
            link(LinkKind::Canonical, "https://other.example/", LinkFate::OutOfScope),
            link(LinkKind::Area, "https://example.org/deep", LinkFate::TooDeep),
            link(LinkKind::A, "https://example.org/no", LinkFate::Blocked("rule 3: `\"no\"`".into())),
            stripped(link(LinkKind::A, "https://example.org/s", LinkFate::Follow)),
            stripped(link(LinkKind::A, "https://example.org/t", LinkFate::Blocked("rule 4".into()))),
        ];
        let packed = pack(&origin, &links).unwrap();
        assert_eq!(
            packed,
            r#"[[1,0,"/a?b=%22"],[4,1,"https://cdn.example/x.png"],[1,2,"/n"],[12,3,"https://other.example/"],[2,4,"/deep"],[1,5,"/no","rule 3: `\"no\"`"],[1,0,"/s",null,1],[1,5,"/t","rule 4",1]]"#
        );
        assert_eq!(unpack(&origin, &packed).unwrap(), links);
        for fate in FATES {
            let reason = matches!(fate, LinkFate::Blocked(_)).then(String::new);
            assert_eq!(fate_of(fate.code(), reason), Some(fate));
        }
    }

    #[test]
    fn damage_is_told() {
        let origin: Origin = "https://example.org".parse().unwrap();
        for (packed, why) in [
            ("[[1,0]]", "no target"),
            ("[[99,0,\"/a\"]]", "no such kind"),
            ("[[1,9,\"/a\"]]", "no such fate"),
            ("[[1,5,\"/a\"]]", "blocked, and nobody knows why"),
            ("[[1,0,\"a\"]]", "no URL"),
        ] {
            assert!(unpack(&origin, packed).is_err(), "{why}");
        }
    }
}
