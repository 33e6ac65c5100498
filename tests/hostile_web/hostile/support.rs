//! What the groups share: a nasty page beside good ones, and the judgement on a crawl of it.

use std::time::Duration;

use dragline_domain::definition::Draft;
use dragline_domain::outcome::Outcome;
use dragline_testkit::hostile::{HostileSite, Step};
use dragline_whole_crawls::{Crawled, Network, definition};

/// Where the nasty page of each site is.
pub(crate) const NASTY: &str = "/nasty";

/// How long the limits of these crawls let one request take, and a second for a busy machine's scheduling on top.
const REQUEST_TAKES_AT_MOST: Duration = Duration::from_secs(4);

/// A way to misbehave, and what must become of it.
pub(crate) struct Case {
    /// Told when it fails.
    pub(crate) what: &'static str,
    /// What the server does.
    pub(crate) steps: Vec<Step>,
    /// How the URL must end.
    pub(crate) outcome: Outcome,
    /// Why its body is not whole, as stored; absent if it is, or if there is none.
    pub(crate) truncated: Option<&'static str>,
}

/// A way to misbehave whose response is whole, or is none.
pub(crate) fn case(what: &'static str, outcome: Outcome, steps: Vec<Step>) -> Case {
    Case { what, steps, outcome, truncated: None }
}

/// A way to misbehave of which a part is kept.
pub(crate) fn cut(what: &'static str, outcome: Outcome, truncated: &'static str, steps: Vec<Step>) -> Case {
    Case { what, steps, outcome, truncated: Some(truncated) }
}

/// Limits that a good page keeps on a busy machine, and that no test waits for long.
pub(crate) fn tight(draft: &mut Draft) {
    draft.fetch.connect_timeout = Duration::from_secs(2);
    draft.fetch.first_byte_timeout = Duration::from_secs(1);
    draft.fetch.timeout = Duration::from_secs(3);
    draft.fetch.header_bytes_max = 16 << 10;
    draft.fetch.body_bytes_max = 1 << 20;
    draft.fetch.decoded_bytes_max = 4 << 20;
}

/// Crawls a site for each case, all of them at once, and checks every ending.
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
        let ended = (row.outcome_name.as_str(), row.truncated.as_deref());
        assert_eq!(ended, (case.outcome.name(), case.truncated), "{}: {:?}", case.what, row.detail);
        let took = Duration::from_millis(row.duration_ms.unwrap_or_default());
        assert!(took <= REQUEST_TAKES_AT_MOST, "{}: {took:?}", case.what);
        assert_unharmed(&crawled, site, case.what);
    }
    assert_eq!(crawled.progress.origins_open, 0, "every origin is closed");
    assert!(crawled.read_every_record() > 0, "what is kept can be read");
    crawled
}

/// Checks that the pages beside the nasty one were got.
#[track_caller]
pub(crate) fn assert_unharmed(crawled: &Crawled, site: &HostileSite, why: &str) {
    for target in ["/", "/good/before", "/good/after"] {
        let row = crawled.row(&site.url(target));
        assert_eq!(row.outcome_name, Outcome::FileIngested.name(), "{target} beside {why}: {:?}", row.detail);
    }
}

/// A network where the names of certificates and redirects lead to this machine, and these roots are trusted.
pub(crate) fn trusting(roots: Vec<dragline_http::Certificate>) -> Network {
    Network { extra_roots: roots, ..Network::default() }
}
