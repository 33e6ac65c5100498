//! The report of an import, as text and as JSON.

use std::collections::BTreeMap;
use std::path::Path;

use dragline_domain::ids::CrawlId;
use dragline_import::{Archives, Index, SkipReason};
use serde::Serialize;

use crate::terminal::{Console, count, plural, safe};

/// The result of an import. The field names are those of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    data: &'a Path,
    crawl: &'a CrawlId,
    files: usize,
    records: u64,
    answers: u64,
    /// The number of skipped records by reason.
    pub(super) left_out: BTreeMap<String, u64>,
    cut_short: u64,
    digests_wrong: u64,
    pub(super) faults: Vec<String>,
    /// The iterations with the imported answers.
    pub(super) iterations: Vec<u32>,
    /// The number of answers imported by this run.
    pub(super) taken: u64,
}

impl<'a> Report<'a> {
    pub(super) fn new((data, crawl): (&'a Path, &'a CrawlId), archives: &Archives, index: &Index) -> Self {
        Self {
            data,
            crawl,
            files: archives.files(),
            records: index.records,
            answers: index.captures() as u64,
            left_out: by_reason(&index.left_out),
            cut_short: index.cut_short,
            digests_wrong: index.mismatched,
            faults: index.faults.clone(),
            iterations: Vec::new(),
            taken: 0,
        }
    }

    /// Prints the contents and the faults of the archives.
    pub(super) fn print_faults(&self, console: &Console) {
        let (records, files) = (plural(self.records, "record"), plural(self.files as u64, "WARC file"));
        console.say(&format!("read {records} in {files}: {}", plural(self.answers, "answer")));
        for fault in &self.faults {
            console.warn(&format!("{}; what is in front of it is taken", safe(fault)));
        }
        if let Some(remedy) = remedy(&self.faults) {
            console.hint(remedy);
        }
        for (number, what) in [
            (self.cut_short, "cut short where its file ends, and taken as far as it came"),
            (self.digests_wrong, "taken although its body does not have the digest that is stated"),
        ] {
            if number > 0 {
                console.warn(&format!("{} {what}", plural(number, "record")));
            }
        }
    }

    /// Returns whether the archives had no faults.
    pub(super) const fn is_all_well(&self) -> bool {
        self.faults.is_empty() && self.cut_short == 0 && self.digests_wrong == 0
    }
}

/// Part of the fault's message for a file whose records are not compressed one by one.
const MANY_IN_ONE: &str = "more than one record";

const RECOMPRESS: &str = "compress the file record by record: `warcio recompress OLD NEW`";

/// Returns a remedy for the faults; `None` if none is known.
pub(super) fn remedy(faults: &[String]) -> Option<&'static str> {
    faults.iter().any(|fault| fault.contains(MANY_IN_ONE)).then_some(RECOMPRESS)
}

pub(super) fn by_reason(left_out: &BTreeMap<SkipReason, u64>) -> BTreeMap<String, u64> {
    left_out.iter().map(|(why, number)| (why.to_string(), *number)).collect()
}

/// Describes how many records were skipped and why; `None` if none was.
pub(super) fn describe_skipped(left_out: &BTreeMap<SkipReason, u64>) -> Option<String> {
    let parts: Vec<String> = left_out.iter().map(|(why, number)| format!("{} {why}", count(*number))).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
