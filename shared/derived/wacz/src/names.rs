//! The names and the `warcinfo` of merged WARC files.

use dragline_domain::definition::Hostname;
use dragline_domain::ids::CrawlId;
use dragline_formats::warc::WarcInfo;

use crate::package::About;

const END: &str = ".warc.gz";

/// The name of a machine that must not be named.
const NO_HOSTNAME: &str = "localhost";

/// Returns the name of a file: crawl, time, serial number and machine, as WARC 1.1 suggests (annex
/// C).
pub(crate) fn file_name(about: &About<'_>, number: u32, stored: &WarcInfo) -> String {
    let time = about.created.strftime("%Y%m%d%H%M%S");
    let hostname = stored.hostname.as_deref().and_then(|name| name.parse::<Hostname>().ok());
    let hostname = hostname.as_ref().map_or(NO_HOSTNAME, Hostname::as_str);
    format!("{}-{time}-{number:05}-{hostname}{END}", about.crawl)
}

/// Returns whether a file may have this name. Older versions only put the number after the crawl.
pub(crate) fn is_file_name(crawl: &CrawlId, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(crawl.as_str()).and_then(|rest| rest.strip_prefix('-')) else { return false };
    let Some(rest) = rest.strip_suffix(END) else { return false };
    let is_number = |text: &str, digits: usize| text.len() >= digits && text.bytes().all(|byte| byte.is_ascii_digit());
    match rest.splitn(3, '-').collect::<Vec<_>>()[..] {
        [number] => is_number(number, 5),
        [time, number, hostname] => {
            time.len() == 14 && is_number(time, 14) && is_number(number, 5) && hostname.parse::<Hostname>().is_ok()
        }
        _ => false,
    }
}

/// Returns whether `isPartOf` names the crawl or one of its iterations.
pub(crate) fn is_part_of(crawl: &CrawlId, whole: &str) -> bool {
    match whole.strip_prefix(crawl.as_str()) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('-').is_some_and(|number| number.parse::<u32>().is_ok()),
        None => false,
    }
}

/// Returns the `warcinfo` of a file, based on that of its first segment.
pub(crate) fn describe(about: &About<'_>, filename: &str, stored: &WarcInfo) -> WarcInfo {
    let collections = stored.is_part_of.iter().filter(|whole| !is_part_of(about.crawl, whole)).cloned();
    WarcInfo {
        filename: Some(filename.to_owned()),
        software: about.software.to_owned(),
        is_part_of: [about.crawl.to_string()].into_iter().chain(collections).collect(),
        ..stored.clone()
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn names_are_recognised_and_tell_the_origin_of_a_file() {
        let crawl = CrawlId::try_from("docs".to_owned()).unwrap();
        let created = Timestamp::from_second(1_700_000_000).unwrap();
        let about = About { crawl: &crawl, created, software: "Dragline/1" };
        for (hostname, expected, why) in [
            (None, "docs-20231114221320-00007-localhost.warc.gz", "it is not said"),
            (Some("c1.example.org"), "docs-20231114221320-00007-c1.example.org.warc.gz", "from the definition"),
            (Some("../c1"), "docs-20231114221320-00007-localhost.warc.gz", "a crafted object"),
            (Some("c-1"), "docs-20231114221320-00007-c-1.warc.gz", "a hyphen of its own"),
        ] {
            let stored = WarcInfo { hostname: hostname.map(str::to_owned), ..WarcInfo::default() };
            let name = file_name(&about, 7, &stored);
            assert_eq!(name, expected, "{why}");
            assert!(is_file_name(&crawl, &name), "{why}");
        }
        for (name, why) in [
            ("docs.warc.gz", "no number"),
            ("docs2-00000.warc.gz", "another crawl"),
            ("docs-2023-00000-a.warc.gz", "a year is no time"),
            ("docs-20231114221320-00007.warc.gz", "no machine"),
            ("docs-20231114221320-00007-a.warc", "not compressed"),
        ] {
            assert!(!is_file_name(&crawl, name), "{name}: {why}");
        }
    }

    #[test]
    fn a_file_is_part_of_its_crawl_and_of_the_collections_of_its_first_segment() {
        let crawl = CrawlId::try_from("docs".to_owned()).unwrap();
        let about = About { crawl: &crawl, created: Timestamp::UNIX_EPOCH, software: "Dragline/2" };
        let stored = WarcInfo {
            filename: Some("1-0-t.warc.gz".to_owned()),
            software: "Dragline/1".to_owned(),
            operator: Some("Example".to_owned()),
            is_part_of: vec!["docs-3".to_owned(), "docs-and-more".to_owned()],
            ..WarcInfo::default()
        };
        let expected = WarcInfo {
            filename: Some("a".to_owned()),
            software: "Dragline/2".to_owned(),
            is_part_of: vec!["docs".to_owned(), "docs-and-more".to_owned()],
            ..stored.clone()
        };
        assert_eq!(describe(&about, "a", &stored), expected);
    }
}
