//! The views about canonical links decide as [`CanonicalWay`] does, which decides for the other
//! engine.

use dragline_domain::canonical::{CanonicalWay, Ending, STEPS_MAX, Verdict};
use dragline_domain::doubt::{Doubt, Namers};
use dragline_domain::outcome::Outcome;
use dragline_domain::simhash::{Simhash, TextPrint};
use dragline_domain::url::CrawlUrl;
use proptest::prelude::*;
use rusqlite::{Connection, params};

use super::schema::{FileState, prepare};

/// The last ending of a URL, and its place in the list is the URL.
#[derive(Clone, Copy, Debug)]
struct Last {
    outcome: Outcome,
    /// The place of the URL to which it leads; the URL after the last was never visited.
    leads_to: Option<usize>,
    text: Option<TextPrint>,
    namers: Namers,
}

/// The lowest bits set, as many as this.
const fn bits(count: u32) -> u64 {
    (1 << count) - 1
}

/// Texts that differ in as many bits as the rule's limits, and in one more.
fn any_text() -> impl Strategy<Value = Option<TextPrint>> {
    let print = |(words, differ)| TextPrint { words, simhash: Simhash(bits(differ)) };
    let words = proptest::sample::select(vec![0, 19, 20, 300]);
    proptest::option::weighted(0.9, (words, proptest::sample::select(vec![0, 3, 4, 20, 21, 24, 25])).prop_map(print))
}

fn any_last(urls: usize) -> impl Strategy<Value = Last> {
    let outcomes = [
        (6, Outcome::FileIngested),
        (2, Outcome::NotCanonical),
        (2, Outcome::FileDidNotChange),
        (2, Outcome::TemporaryRedirect),
        (2, Outcome::PermanentRedirect),
        (1, Outcome::FileNotFound),
    ];
    let outcome = proptest::strategy::Union::new_weighted(outcomes.map(|(weight, known)| (weight, Just(known))).into());
    let namers =
        proptest::sample::select(vec![0, 15, 16, 64]).prop_map(|count| Namers(u64::MAX.unbounded_shr(64 - count)));
    let leads_to = proptest::option::weighted(0.8, 0..=urls);
    (outcome, leads_to, any_text(), namers).prop_map(|(outcome, leads_to, text, namers)| Last {
        outcome,
        leads_to,
        text,
        namers,
    })
}

/// A few URLs that lead anywhere, or a chain around the limit of steps.
fn any_site() -> impl Strategy<Value = Vec<Last>> {
    let small = (1_usize..7).prop_flat_map(|urls| proptest::collection::vec(any_last(urls), urls));
    let chain = (STEPS_MAX - 1..STEPS_MAX + 4).prop_flat_map(|urls| {
        let last = any_last(urls).prop_map(|last| Last { text: None, ..last });
        proptest::collection::vec(last, urls).prop_map(|mut chain| {
            let end = chain.len() - 1;
            for (place, last) in chain[..end].iter_mut().enumerate() {
                *last = Last { leads_to: Some(place + 1), outcome: Outcome::TemporaryRedirect, ..*last };
            }
            chain[0].outcome = Outcome::FileIngested;
            chain[end].outcome = Outcome::FileIngested;
            chain
        })
    });
    prop_oneof![3 => small, 1 => chain]
}

fn path(place: usize) -> String {
    format!("/{place:02}")
}

fn url(place: usize) -> CrawlUrl {
    format!("https://a.example{}", path(place)).try_into().unwrap()
}

/// Returns the verdict on the URL at this place by the rule; `None` if it is not asked for.
fn verdict_by_rule(site: &[Last], place: usize) -> Option<Verdict> {
    let ending = |place: usize| {
        let last = site.get(place)?;
        Some(Ending::new(url(place), last.outcome, None, last.leads_to.map(url)).with(last.text, last.namers))
    };
    let page = ending(place).filter(Ending::is_undecided)?;
    let mut way = CanonicalWay::from(page);
    while let Some(next) = way.next().cloned() {
        way.add((0..site.len()).find(|place| url(*place) == next).and_then(ending));
    }
    Some(way.verdict())
}

/// Stores the endings, each also as what its URL shows now.
fn store(site: &[Last]) -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    prepare(&mut connection, FileState::Empty).unwrap();
    let crawl = "INSERT INTO crawl (id, name) VALUES (1, 'a');
                 INSERT INTO agent (id, name) VALUES (1, 'Dragline');
                 INSERT INTO origin (id, crawl_id, origin) VALUES (1, 1, 'https://a.example');
                 INSERT INTO segment (id, origin_id, turn, n, iteration, token, state, object, object_bytes, entries,
                                      committed_at, attempts)
                 VALUES (1, 1, 1, 1, 1, '', '', '', 0, 0, '', 0);";
    connection.execute_batch(crawl).unwrap();
    for (place, last) in site.iter().enumerate() {
        let (id, code) = (1 << 24 | place, last.outcome.code());
        connection
            .execute(
                "INSERT INTO visit (id, crawl_type, agent_id, origin_id, iteration, url, depth, redirects, outcome,
                                    is_final, tries, at)
                 VALUES (?1, 'queued', 1, 1, 1, ?2, 0, 0, ?3, 1, 1, 0)",
                params![id, url(place).as_str(), code],
            )
            .unwrap();
        if let Some(to) = last.leads_to {
            let sql = "INSERT INTO redirect (id, to_url, is_permanent, information_source) VALUES (?1, ?2, 0, '')";
            connection.execute(sql, params![id, url(to).as_str()]).unwrap();
        }
        let (words, simhash) = last.text.map(|text| (text.words, text.simhash.0.cast_signed())).unzip();
        let sql = "INSERT INTO document (id, url, outcome, state, words, simhash) VALUES (?1, ?2, ?3, '', ?4, ?5)";
        connection.execute(sql, params![id, path(place), code, words, simhash]).unwrap();
        connection
            .execute(
                "INSERT INTO known_url (origin_id, path_query, queued_in, claimed_by, first_seen, depth, document_id,
                                        document_outcome, standing, named_by)
                 VALUES (1, ?1, 1, '', 0, 0, ?2, ?3, 'shown', ?4)",
                params![path(place), id, code, last.namers.0.cast_signed()],
            )
            .unwrap();
    }
    connection
}

/// Returns the verdicts in a view, by place; `None` for URLs that are not in it.
fn verdicts_in(view: &str, connection: &Connection, site: &[Last]) -> Vec<Option<Verdict>> {
    let mut verdicts = vec![None; site.len()];
    let mut statement = connection.prepare(&format!("SELECT id, is_copy, doubt FROM {view}")).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let doubt: Option<String> = row.get("doubt").unwrap();
        let doubt = doubt.map(|name| Doubt::ALL.into_iter().find(|doubt| doubt.name() == name).unwrap());
        let verdict = if row.get("is_copy").unwrap() { Verdict::Copy } else { Verdict::Stands(doubt) };
        verdicts[row.get::<_, usize>("id").unwrap() & 0xFF_FFFF] = Some(verdict);
    }
    verdicts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_views_and_the_rule_agree(site in any_site()) {
        let by_rule: Vec<_> = (0..site.len()).map(|place| verdict_by_rule(&site, place)).collect();
        prop_assert_eq!(verdicts_in("canonical", &store(&site), &site), by_rule);
        // What a URL shows is never that it did not change.
        let shown = |last: &Last| match last.outcome {
            Outcome::FileDidNotChange => Last { outcome: Outcome::FileIngested, ..*last },
            _ => *last,
        };
        let site: Vec<_> = site.iter().map(shown).collect();
        let by_rule: Vec<_> = (0..site.len()).map(|place| verdict_by_rule(&site, place)).collect();
        prop_assert_eq!(verdicts_in("shown_canonical", &store(&site), &site), by_rule);
    }
}
