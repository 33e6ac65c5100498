//! The crawl log, as `dragline export --what log` shows it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// One entry: how one try at a URL ended.
///
/// Only what the tests look at; the export has more.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Entry {
    /// What was to be fetched.
    pub url: String,
    /// The outcome's number.
    pub outcome: i16,
    /// The run that it belongs to, from 1.
    pub iteration: u64,
    /// Whether this is how the URL ended in its iteration; else it was tried again.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// Where the capture is stored; absent where no request was sent.
    #[serde(flatten)]
    pub capture: Option<Capture>,
}

/// Where a record is stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Capture {
    /// The WARC file, below the data directory.
    pub object: String,
    /// Where the record's gzip member starts.
    pub offset: u64,
    /// How long that member is.
    pub length: u64,
}

/// Reads an export in JSON lines.
///
/// # Panics
/// A line is no log entry.
#[must_use]
pub fn parse(jsonl: &str) -> Vec<Entry> {
    let entry = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("no log entry: {error}: {line}"));
    jsonl.lines().filter(|line| !line.is_empty()).map(entry).collect()
}

/// How each URL ended in an iteration.
///
/// # Panics
/// A URL ended twice: an end is an end.
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
