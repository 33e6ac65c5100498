//! What the tests share: a nasty page beside good ones, and checks of a crawl of it.

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_domain::definition::Draft;
use dragline_domain::outcome::Outcome;
use dragline_formats::robots::ROBOTS_PATH;
use dragline_formats::warc::Truncation;
use dragline_testkit::hostile::{HostileSite, Step};
use dragline_testkit::whole_crawls::{Crawled, Network, definition};

/// The path of the nasty page on each site.
pub(crate) const NASTY: &str = "/nasty";

/// The time limit of one request in these crawls, plus a second for a busy machine's scheduling.
const REQUEST_TAKES_AT_MOST: Duration = Duration::from_secs(4);

/// A way to misbehave, and the expected result.
pub(crate) struct Case {
    /// The name, shown when the case fails.
    pub(crate) what: &'static str,
    /// What the server does.
    pub(crate) steps: Vec<Step>,
    /// The expected outcome of the URL.
    pub(crate) outcome: Outcome,
    /// Why its body is truncated, as stored; `None` if it is whole or there is none.
    pub(crate) truncated: Option<&'static str>,
}

/// A case whose response is whole or missing.
pub(crate) fn case(what: &'static str, outcome: Outcome, steps: Vec<Step>) -> Case {
    Case { what, steps, outcome, truncated: None }
}

/// A case whose response is stored truncated.
pub(crate) fn cut(what: &'static str, outcome: Outcome, truncated: &'static str, steps: Vec<Step>) -> Case {
    Case { what, steps, outcome, truncated: Some(truncated) }
}

/// Limits that good pages meet on a busy machine, but short enough for tests.
pub(crate) fn tight(draft: &mut Draft) {
    draft.fetch.connect_timeout = Duration::from_secs(2);
    draft.fetch.first_byte_timeout = Duration::from_secs(1);
    draft.fetch.timeout = Duration::from_secs(3);
    draft.fetch.header_bytes_max = 16 << 10;
    draft.fetch.body_bytes_max = 1 << 20;
    draft.fetch.decoded_bytes_max = 4 << 20;
}

/// Crawls one site for each case, all at once, and checks every outcome.
pub(crate) async fn judge(cases: Vec<Case>, change: impl FnOnce(&mut Draft)) -> Crawled {
    let mut sites = Vec::new();
    for case in &cases {
        sites.push(HostileSite::beside_good_pages(vec![(NASTY.to_owned(), case.steps.clone())]).await);
    }
    let witness = HostileSite::beside_good_pages(Vec::new()).await;
    let seeds: Vec<String> = [&witness].into_iter().chain(&sites).map(|site| site.url("/")).collect();
    let crawled = Crawled::once(&definition(&seeds, |draft| {
        tight(draft);
        change(draft);
    }))
    .await;
    for (case, site) in cases.iter().zip(&sites) {
        let row = crawled.row(&site.url(NASTY));
        let ended = (row.outcome, row.truncated.map(Truncation::token));
        assert_eq!(ended, (case.outcome, case.truncated), "{}: {:?}", case.what, row.detail);
        let asked = site.targets().iter().filter(|target| *target == NASTY).count();
        assert_eq!(asked, usize::from(row.tries), "{}: requests are those of the log", case.what);
        let took = Duration::from_millis(row.duration_ms.unwrap_or_default());
        assert!(took <= REQUEST_TAKES_AT_MOST, "{}: {took:?}", case.what);
        assert_unharmed(&crawled, site, case.what);
        assert_accounted(&crawled, site, case.what);
    }
    assert_eq!(crawled.progress.origins_open, 0, "every origin is closed");
    assert!(!crawled.every_record().is_empty(), "stored records can be read");
    crawled
}

/// Checks that the server saw no more requests than the archive and the log tell of. Requests for
/// robots.txt without an answer are in neither.
#[track_caller]
pub(crate) fn assert_accounted(crawled: &Crawled, site: &HostileSite, why: &str) {
    let told = crawled.requests_told();
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for target in site.targets().into_iter().filter(|target| target != ROBOTS_PATH) {
        *seen.entry(site.url(&target)).or_default() += 1;
    }
    for (url, seen) in seen {
        let told = told.get(&url).copied().unwrap_or_default();
        assert!(seen <= told, "{why}: the server saw {seen} requests for {url}, {told} are told of");
    }
}

/// Checks that the pages beside the nasty one were fetched.
#[track_caller]
pub(crate) fn assert_unharmed(crawled: &Crawled, site: &HostileSite, why: &str) {
    for target in ["/", "/good/before", "/good/after"] {
        let row = crawled.row(&site.url(target));
        assert_eq!(row.outcome, Outcome::FileIngested, "{target} beside {why}: {:?}", row.detail);
    }
}

/// A network where the names in certificates and redirects resolve to this machine, and these roots
/// are trusted.
pub(crate) fn trusting(roots: Vec<dragline_http::Certificate>) -> Network {
    Network { extra_roots: roots, ..Network::default() }
}
