//! An index of the answers, built by reading the files once.

use std::collections::{BTreeMap, HashMap, HashSet};

use dragline_domain::frontier::Sighting;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::warc::{
    DigestCheck, ExtensionName, Extent, OthersReader, OthersRecord, ReadLimits, RecordId, RecordPlace, RecordType,
    RevisitProfile, Sha1Digest, StoredRecord, read_others_request, read_others_response,
};
use jiff::Timestamp;

use crate::archives::{Archives, ImportError, RecordFile};
use crate::left_out::SkipReason;
use crate::revisits::{Bodies, Reference};

/// The most answers of one import: each takes some 200 bytes.
const CAPTURES_MAX: usize = 5_000_000;

/// The most answers of one URL that are imported, the newest: each needs an iteration of its own.
const ROUNDS_MAX: usize = 100;

/// How far the clock of an archive's writer may be ahead, in milliseconds.
const AHEAD_MS_MAX: i64 = 24 * 60 * 60 * 1_000;

/// The most faults of files kept for messages.
const FAULTS_MAX: usize = 20;

/// The lowest valid status.
const STATUS_MIN: u16 = 100;

/// A record's location among all files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RecordLocation {
    pub(crate) file: u32,
    pub(crate) record: RecordPlace,
}

/// The kind of an answer's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A response with its body, or a 304 without one.
    Response,
    /// A response whose body is in another record.
    Revisit(RecordLocation),
    /// A body without a response.
    Resource,
}

/// An archived answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Its URL, normalised by the rules of the crawl.
    pub url: CrawlUrl,
    /// When it was requested.
    pub at: Timestamp,
    pub(crate) kind: Kind,
    pub(crate) place: RecordLocation,
    /// The location of its request; `None` if there is none.
    pub(crate) request: Option<RecordLocation>,
    /// How its URL was found; `None` for archives of other programs.
    pub sighting: Option<Box<Sighting>>,
    /// Its iteration in a crawl by Dragline; `None` for archives of other programs.
    iteration: Option<u32>,
}

/// The answers of archives.
#[derive(Debug, Default)]
pub struct Index {
    /// By URL and time.
    captures: Vec<Capture>,
    /// The number of skipped records, by reason.
    pub left_out: BTreeMap<SkipReason, u64>,
    /// Errors in files: where they become unreadable.
    pub faults: Vec<String>,
    /// The number of records cut short by the end of their file.
    pub cut_short: u64,
    /// The number of bodies that do not match the digest in their record.
    pub mismatched: u64,
    /// The number of records.
    pub records: u64,
}

impl Index {
    /// Reads all records, a body at a time.
    ///
    /// # Errors
    /// Fails if a file cannot be opened, or there are too many answers. Damage within a file is
    /// added to the faults, and the records before it are imported.
    pub fn read(archives: &Archives, rules: &UrlRules, now: Timestamp) -> Result<Self, ImportError> {
        let (found, bodies, requests, iteration, index) = Default::default();
        let mut scan = Scan { rules, now, found, bodies, requests, iteration, index };
        for (number, file) in (0_u32..).zip(&*archives.files) {
            scan.read(number, file)?;
        }
        Ok(scan.finish())
    }

    /// Returns the number of imported answers.
    #[must_use]
    pub fn captures(&self) -> usize {
        self.captures.len()
    }

    /// Returns the URL of the first page: one that a package lists, or else the earliest answer.
    /// `None` without answers.
    #[must_use]
    pub fn first(&self, archives: &Archives, rules: &UrlRules) -> Option<CrawlUrl> {
        let listed = archives.pages.iter().filter_map(|page| CrawlUrl::parse(page, rules).ok());
        let urls: HashSet<&CrawlUrl> = self.captures.iter().map(|capture| &capture.url).collect();
        let earliest = || self.captures.iter().min_by_key(|capture| (capture.at, &capture.place.record.offset));
        let mut listed = listed.filter(|url| urls.contains(url));
        listed.next().or_else(|| earliest().map(|capture| capture.url.clone()))
    }

    /// Skips answers that the crawl has: `visits` are the URLs and times of all its visits.
    pub fn leave_out_known(&mut self, visits: impl Iterator<Item = (CrawlUrl, Timestamp)>) {
        let mut latest: HashMap<CrawlUrl, i64> = HashMap::new();
        let mut known = HashSet::new();
        for (url, at) in visits {
            let at = at.as_millisecond();
            known.insert(visit_digest(&url, at));
            let latest = latest.entry(url).or_insert(at);
            *latest = at.max(*latest);
        }
        let Self { captures, left_out, .. } = self;
        captures.retain(|Capture { url, at, .. }| {
            let at = at.as_millisecond();
            let why = match latest.get(url) {
                _ if known.contains(&visit_digest(url, at)) => SkipReason::Known,
                Some(latest) if *latest > at => SkipReason::Late,
                Some(_) | None => return true,
            };
            *left_out.entry(why).or_default() += 1;
            false
        });
    }

    /// Returns a digest of these answers, independent of how they are divided among files.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut digest = Sha1Digest::compute(b"");
        for Capture { url, at, .. } in &self.captures {
            let link = [digest.as_bytes().as_slice(), &visit_digest(url, at.as_millisecond())].concat();
            digest = Sha1Digest::compute(&link);
        }
        digest.to_hex()
    }

    /// Returns the answers in rounds: the first one of each URL, then the second one of those that
    /// have two, and so on. A URL is visited once in an iteration, so each round makes one. The
    /// rounds of a crawl by Dragline are its iterations.
    #[must_use]
    pub fn into_rounds(mut self) -> (Vec<HashMap<CrawlUrl, Capture>>, BTreeMap<SkipReason, u64>) {
        if self.captures.iter().all(|capture| capture.iteration.is_some()) {
            return self.into_iterations();
        }
        let mut rounds: Vec<HashMap<CrawlUrl, Capture>> = Vec::new();
        for of_url in self.captures.chunk_by(|one, other| one.url == other.url) {
            let crowd = of_url.len().saturating_sub(ROUNDS_MAX);
            if crowd > 0 {
                *self.left_out.entry(SkipReason::Crowd).or_default() += crowd as u64;
            }
            for (round, capture) in of_url.iter().skip(crowd).enumerate() {
                if rounds.len() == round {
                    rounds.push(HashMap::new());
                }
                rounds[round].insert(capture.url.clone(), capture.clone());
            }
        }
        (rounds, self.left_out)
    }

    /// Returns the last answer of each URL in each iteration: earlier ones were tried again.
    fn into_iterations(mut self) -> (Vec<HashMap<CrawlUrl, Capture>>, BTreeMap<SkipReason, u64>) {
        let mut iterations: BTreeMap<u32, HashMap<CrawlUrl, Capture>> = BTreeMap::new();
        for capture in self.captures {
            let iteration = iterations.entry(capture.iteration.unwrap_or_default()).or_default();
            if iteration.insert(capture.url.clone(), capture).is_some() {
                *self.left_out.entry(SkipReason::Retried).or_default() += 1;
            }
        }
        let crowd = iterations.len().saturating_sub(ROUNDS_MAX);
        let left_out: usize = iterations.values().take(crowd).map(HashMap::len).sum();
        if left_out > 0 {
            self.left_out.insert(SkipReason::Crowd, left_out as u64);
        }
        (iterations.into_values().skip(crowd).collect(), self.left_out)
    }
}

/// Returns the iteration of a file by Dragline; `None` for files of other programs.
fn dragline_iteration(warcinfo: &StoredRecord) -> Option<u32> {
    warcinfo.fields.get("Dragline-Format")?;
    let block = String::from_utf8_lossy(&warcinfo.block);
    let part = block.lines().find_map(|line| line.strip_prefix("isPartOf:"))?;
    part.rsplit_once('-')?.1.trim().parse().ok()
}

fn visit_digest(url: &CrawlUrl, at_ms: i64) -> [u8; 20] {
    *Sha1Digest::compute(format!("{at_ms} {url}").as_bytes()).as_bytes()
}

/// An answer whose body and request are not linked yet.
struct Answer {
    capture: Capture,
    reference: Option<Reference>,
    /// Its own id, and those of the records that it refers to.
    ids: Vec<RecordId>,
}

/// A request; found by its answer's id or its own.
#[derive(Clone, Copy)]
struct Request {
    place: RecordLocation,
    is_get: bool,
}

struct Scan<'s> {
    rules: &'s UrlRules,
    now: Timestamp,
    found: Vec<Answer>,
    bodies: Bodies,
    requests: HashMap<RecordId, Request>,
    /// The iteration of the current file, if Dragline wrote it.
    iteration: Option<u32>,
    index: Index,
}

impl Scan<'_> {
    fn read(&mut self, number: u32, file: &RecordFile) -> Result<(), ImportError> {
        let opened = file.open_at(0).map_err(|source| ImportError::File { path: file.path().to_owned(), source })?;
        self.iteration = None;
        for read in OthersReader::new(opened, ReadLimits::default()) {
            let OthersRecord { record, place, extent } = match read {
                Ok(read) => read,
                Err(error) => {
                    if self.index.faults.len() < FAULTS_MAX {
                        self.index.faults.push(format!("{}: {error}", file.name));
                    }
                    break;
                }
            };
            self.index.records += 1;
            if matches!(extent, Extent::CutShort { .. }) {
                self.index.cut_short += 1;
            }
            let place = RecordLocation { file: number, record: place };
            let taken = match &record.record_type {
                RecordType::WarcInfo => {
                    self.iteration = dragline_iteration(&record);
                    Ok(())
                }
                RecordType::Request => {
                    self.add_request(&record, place);
                    Ok(())
                }
                RecordType::Response
                    if self.iteration.is_some() && record.extension(ExtensionName::VISIT).is_none() =>
                {
                    // A visit with the same answer refers to it.
                    self.bodies.add(&record, place);
                    Err(SkipReason::NotAVisit)
                }
                RecordType::Response => self.add(&record, place, Kind::Response),
                RecordType::Revisit => match record.profile() {
                    // Its body is the one known for the URL at that time.
                    Some(RevisitProfile::ServerNotModified) => self.add(&record, place, Kind::Response),
                    Some(RevisitProfile::IdenticalPayload) => self.add(&record, place, Kind::Revisit(place)),
                    None => Err(SkipReason::OtherKind),
                },
                RecordType::Metadata => Err(SkipReason::Metadata),
                RecordType::Resource => self.add(&record, place, Kind::Resource),
                RecordType::Other(_) => Err(SkipReason::OtherKind),
            };
            if let Err(why) = taken {
                *self.index.left_out.entry(why).or_default() += 1;
            }
            if self.found.len() > CAPTURES_MAX {
                return Err(ImportError::TooMany { what: "answers", max: CAPTURES_MAX });
            }
        }
        Ok(())
    }

    fn add_request(&mut self, record: &StoredRecord, place: RecordLocation) {
        let is_get = read_others_request(record).is_none_or(|request| request.method == "GET");
        for id in record.id().into_iter().chain(record.concurrent_to()) {
            self.requests.entry(id).or_insert(Request { place, is_get });
        }
    }

    fn add(&mut self, record: &StoredRecord, place: RecordLocation, kind: Kind) -> Result<(), SkipReason> {
        if record.fields.get("WARC-Segment-Number").is_some() {
            return Err(SkipReason::OtherKind);
        }
        let url = record.target_uri().and_then(|uri| CrawlUrl::parse(uri, self.rules).ok());
        let url = url.ok_or(SkipReason::NotOfTheWeb)?;
        let is_past = |at: &Timestamp| at.as_millisecond() - self.now.as_millisecond() <= AHEAD_MS_MAX;
        let at = record.date().filter(is_past).ok_or(SkipReason::NoDate)?;
        if kind != Kind::Resource {
            match read_others_response(record) {
                Ok(response) if response.message.status >= STATUS_MIN => {
                    self.index.mismatched += u64::from(matches!(response.digest, DigestCheck::Mismatch { .. }));
                }
                // The answer with the body provides the head.
                Err(_) if matches!(kind, Kind::Revisit(_)) => {}
                Ok(_) | Err(_) => return Err(SkipReason::NoAnswer),
            }
        }
        let reference = matches!(kind, Kind::Revisit(_)).then(|| Reference::from_record(record));
        if reference.is_none() && record.record_type != RecordType::Revisit {
            self.bodies.add(record, place);
        }
        let ids = record.id().into_iter().chain(record.concurrent_to()).collect();
        let visit = record.extension(ExtensionName::VISIT).filter(|_| self.iteration.is_some());
        let sighting = visit.and_then(|visit| serde_json::from_str(visit).ok());
        let capture = Capture { url, at, kind, place, request: None, sighting, iteration: self.iteration };
        self.found.push(Answer { capture, reference, ids });
        Ok(())
    }

    /// Links answers with their requests and bodies, once all files are read.
    fn finish(self) -> Index {
        let Self { found, bodies, requests, mut index, .. } = self;
        let mut leave_out = |why| *index.left_out.entry(why).or_default() += 1;
        for Answer { mut capture, reference, ids } in found {
            let request = ids.iter().find_map(|id| requests.get(id));
            if request.is_some_and(|request| !request.is_get) {
                leave_out(SkipReason::OtherMethod);
                continue;
            }
            capture.request = request.map(|request| request.place);
            if let Some(reference) = reference {
                let Some(body) = bodies.find(&reference) else {
                    leave_out(SkipReason::BodyElsewhere);
                    continue;
                };
                capture.kind = Kind::Revisit(body);
            }
            index.captures.push(capture);
        }
        let key = |capture: &Capture| (capture.url.clone(), capture.at.as_millisecond());
        index.captures.sort_by_cached_key(key);
        let before = index.captures.len();
        index.captures.dedup_by(|later, earlier| key(later) == key(earlier));
        let twice = (before - index.captures.len()) as u64;
        if twice > 0 {
            index.left_out.insert(SkipReason::Twice, twice);
        }
        index
    }
}
