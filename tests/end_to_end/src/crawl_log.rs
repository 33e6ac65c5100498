//! The crawl log, as `dragline export --what log` shows it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// One entry: how one try at a URL ended.
///
/// It has only the fields that tests use; the export has more.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Entry {
    /// The URL to fetch.
    pub url: String,
    /// The outcome's number.
    pub outcome: i16,
    /// The iteration that it belongs to, from 1.
    pub iteration: u64,
    /// Whether this is the URL's last try in its iteration.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// The location of the capture; `None` if no request was sent.
    #[serde(flatten)]
    pub capture: Option<Capture>,
}

/// The location of a record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Capture {
    /// The WARC file, below the data directory.
    pub object: String,
    /// The offset of the record's gzip member.
    pub offset: u64,
    /// The length of that member.
    pub length: u64,
}

/// Reads an export in JSON lines.
///
/// # Panics
/// If a line is not a log entry.
#[must_use]
pub fn parse(jsonl: &str) -> Vec<Entry> {
    let entry =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("not a log entry: {error}: {line}"));
    jsonl.lines().filter(|line| !line.is_empty()).map(entry).collect()
}

/// How each URL ended in an iteration.
///
/// # Panics
/// If a URL ended twice.
#[must_use]
pub fn endings(log: &[Entry], iteration: u64) -> BTreeMap<&str, &Entry> {
    let mut endings = BTreeMap::new();
    for entry in log.iter().filter(|entry| entry.is_final && entry.iteration == iteration) {
        let earlier = endings.insert(entry.url.as_str(), entry);
        assert_eq!(earlier, None, "{} ended twice in iteration {iteration}: {entry:?}", entry.url);
    }
    endings
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"
{"url":"http://a/","outcome":100,"outcome_name":"connection_failed","iteration":1,"depth":0,"final":false}
{"url":"http://a/","outcome":20,"iteration":1,"final":true,"object":"raw/x.warc.gz","offset":5,"length":6}
{"url":"http://a/","outcome":34,"iteration":2,"final":true}
"#;

    #[test]
    fn the_last_try_of_an_iteration_counts() {
        let log = parse(LOG);
        let first = endings(&log, 1);
        assert_eq!(first.len(), 1);
        let capture = Capture { object: "raw/x.warc.gz".to_owned(), offset: 5, length: 6 };
        assert_eq!((first["http://a/"].outcome, &first["http://a/"].capture), (20, &Some(capture)));
        assert_eq!((endings(&log, 2)["http://a/"].outcome, &endings(&log, 2)["http://a/"].capture), (34, &None));
        assert!(endings(&log, 3).is_empty());
    }

    #[test]
    #[should_panic(expected = "http://a/ ended twice in iteration 1")]
    fn a_second_end_is_refused() {
        let log = parse(&LOG.replace("false", "true"));
        let _endings = endings(&log, 1);
    }
}
