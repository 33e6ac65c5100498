//! A members' area whose sessions end at random.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use dragline_domain::definition::Definition;
use dragline_domain::outcome::Outcome;
use dragline_testkit::members::{self, Arrived, LOG_IN_PATH, Reply, ScriptedFetcher};
use dragline_testkit::whole_crawls::{Crawled, definition};

const ORIGIN: &str = "https://members.example";

const PAGES: u64 = 20;

const FORM: &str = "<form method=post action=/session><input name=user></form>";

/// The servers' memory: how many pages each session has left, and what is drawn next.
struct Area(Mutex<(Vec<u64>, u64)>);

impl Area {
    const fn new(seed: u64) -> Self {
        Self(Mutex::new((Vec::new(), seed)))
    }

    fn answer(&self, asked: &Arrived) -> Reply {
        let mut area = self.0.lock().unwrap();
        let (sessions, dice) = &mut *area;
        // Knuth's linear congruential generator, of which the upper bits are good.
        let mut draw = |sides: u64| {
            *dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*dice >> 33) % sides
        };
        let session = asked.cookie.as_deref().and_then(|cookie| cookie.strip_prefix("sid=")?.parse::<usize>().ok());
        match asked.url.path() {
            "/robots.txt" => Reply { status: 404, ..Reply::default() },
            "/login" => Reply::page(FORM),
            LOG_IN_PATH => {
                // Of three sessions, one is over before it shows anything but the page after the
                // form.
                sessions.push(1 + if draw(3) == 0 { 0 } else { draw(8) });
                Reply::to(303, "/welcome").with_cookie(&format!("sid={}", sessions.len() - 1))
            }
            path => match session.and_then(|number| sessions.get_mut(number)).filter(|left| **left > 0) {
                Some(left) => {
                    *left -= 1;
                    let links: String = (0..PAGES).map(|n| format!("<a href=/p/{n}>page</a>")).collect();
                    Reply::page(format!("<title>{path}</title>{links}<p>Words for members at {path}"))
                }
                None => match draw(3) {
                    0 => Reply::to(302, &format!("/login?next={path}")),
                    1 => Reply { status: 401, body: "Who are you?".to_owned(), ..Reply::default() },
                    _ => Reply::page(FORM),
                },
            },
        }
    }
}

fn fetcher(definition: &Definition, seed: u64) -> ScriptedFetcher {
    let area = Area::new(seed);
    ScriptedFetcher::new(definition, move |asked| area.answer(asked))
}

/// The outcomes of the newest iteration, which must be one for each URL.
fn outcomes(crawl: &Crawled, why: &str) -> BTreeMap<String, Outcome> {
    let last: Vec<_> = crawl.log.iter().filter(|row| row.r#final).collect();
    let ended: BTreeMap<_, _> = last.iter().map(|row| (row.url.clone(), row.outcome)).collect();
    assert_eq!(ended.len(), last.len(), "{why}: each URL ends once");
    let known: BTreeSet<&str> = crawl.candidates.iter().map(|row| row.url.as_str()).collect();
    assert_eq!(ended.keys().map(String::as_str).collect::<BTreeSet<_>>(), known, "{why}: each URL ends");
    ended
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_strangers_see_takes_no_page_s_place_however_sessions_end() {
    let definition = definition(&[format!("{ORIGIN}/")], |draft| draft.access = members::definition(ORIGIN).access);
    let (mut kept, mut lost) = (0, 0);
    for seed in 0..12 {
        let first = Crawled::by(fetcher(&definition, seed), &definition).await;
        let mut shown = outcomes(&first, &format!("seed {seed}"));
        shown.retain(|_, outcome| *outcome == Outcome::FileIngested);
        let second = first.again_by(fetcher(&definition, !seed), &definition).await;
        for (path, outcome) in outcomes(&second, &format!("seed {seed}, again")) {
            let text = second.shown(&path).and_then(|page| page.text.clone());
            let is_known = shown.contains_key(&path) || outcome == Outcome::FileIngested;
            let expected = is_known.then(|| format!("Words for members at {path}"));
            assert!(
                text.as_deref().is_none_or(|text| expected.as_deref().is_some_and(|words| text.contains(words))),
                "seed {seed}, {path}: {outcome:?}, {text:?}"
            );
            assert_eq!(text.is_some(), is_known, "seed {seed}, {path}: {outcome:?}");
            kept += u32::from(shown.contains_key(&path) && outcome == Outcome::LoggedOut);
            lost += u32::from(outcome == Outcome::LoggedOut);
        }
    }
    assert!(kept > 0 && lost > kept, "pages were refused that were known, and others: {kept} of {lost}");
}
