//! Probes for soft 404s: once an iteration, a turn requests an address that cannot exist; its
//! answer then identifies missing pages elsewhere too.

use std::hash::Hash;
use std::sync::Arc;

use data_encoding::BASE32_NOPAD;
use dragline_domain::definition::Soft404;
use dragline_domain::frontier::{LastCapture, OriginKey, ReadAs};
use dragline_domain::ids::Iteration;
use dragline_domain::missing_page::{MissingAnswer, MissingPage, MissingSign, TITLE_CHARS_MAX};
use dragline_domain::outcome::Outcome;
use dragline_domain::policy::Decision;
use dragline_domain::politeness::RobotsUse;
use dragline_domain::shown::one_line;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_extract::missing::{find_wall, print_of_missing, print_of_page};
use dragline_extract::wall::Head;
use siphasher::sip128::{Hasher128, SipHasher13};

use super::TurnWork;
use crate::World;
use crate::crawl::outcome::status_outcome;
use crate::crawl::paced::Answer;
use crate::crawl::pacer::Connecting;
use crate::crawl::robots::Robots;
use crate::crawl::send::{Attempt, SentRequest, send};
use dragline_ports::fetcher::{FetchOutcome, FetchRequest, FetchedResponse, Fetchers};

/// The most redirects followed from the address.
const REDIRECTS_MAX: usize = 5;

/// The longest URL kept, in bytes: the whole row is written with every commit.
const TARGET_BYTES_MAX: usize = 1 << 10;

/// The most characters of a reason that are kept.
const REASON_CHARS_MAX: usize = 200;

/// The number of random letters in the address. With 26 of them, no such page exists.
const WORD_LETTERS: usize = 26;

/// What the answer means for other answers.
enum ProbeResult {
    /// A sign of missing pages, and the title of the page if it has one.
    Answer(MissingAnswer, Option<String>),
    LeadsTo(CrawlUrl),
}

impl<W: World, S: Fetchers> TurnWork<W, S> {
    /// Whether to probe the origin before its next page.
    pub(super) fn must_ask_for_missing(&self) -> bool {
        self.context.definition.soft_404 == Soft404::Detect
            && self.context.allowed.contains_origin(&self.origin.origin)
            && matches!(self.robots, Robots::Known(_))
            && self.lease.missing.as_ref().is_none_or(|missing| missing.iteration != self.lease.iteration)
    }

    /// Returns the sign of missing pages, to be stored with a visit whose answer may be one.
    pub(super) fn missing_sign(&self, outcome: Outcome) -> Option<Box<MissingSign>> {
        let is_detected = self.context.definition.soft_404 == Soft404::Detect;
        let may_be = matches!(outcome, Outcome::FileIngested | Outcome::TemporaryRedirect | Outcome::PermanentRedirect);
        let missing = self.lease.missing.as_ref().filter(|_| is_detected && may_be)?;
        match &missing.answer {
            MissingAnswer::Sign(sign) => Some(Box::new(sign.clone())),
            MissingAnswer::Honest | MissingAnswer::Unclear(_) => None,
        }
    }

    /// Whether an answer is that for a missing page although its body is the known one: then it is
    /// stored and read again.
    pub(super) fn is_known_as_missing(&self, url: &CrawlUrl, fetched: &FetchOutcome, last: &LastCapture) -> bool {
        let Ok(response) = &fetched.result else { return false };
        let is_known = response.status == 200 && response.decoded_sha1 == last.decoded_sha1;
        let sign = self.missing_sign(Outcome::FileIngested).filter(|_| is_known);
        let print = || print_of_page(url, &response.headers, &response.readable_body());
        sign.is_some_and(|sign| sign.match_page(url, print).is_some())
    }

    /// Probes the origin, and keeps the result with its lease. Does nothing if the lease would be
    /// too old by then.
    pub(super) async fn ask_for_missing(&mut self) {
        let Some(missing) = self.answer_for_missing().await else { return };
        tracing::info!(origin = %self.origin, ?missing, "asked for an address that cannot exist");
        self.lease.missing = Some(Box::new(missing));
    }

    async fn answer_for_missing(&mut self) -> Option<MissingPage> {
        let iteration = self.lease.iteration;
        let unclear = |status, why: &str| {
            let answer = MissingAnswer::Unclear(one_line(why, REASON_CHARS_MAX));
            Some(MissingPage { iteration, status, url: None, title: None, answer })
        };
        let asked = self.origin.origin.url_at(&impossible_path(&self.origin, iteration));
        let Ok(asked) = asked else { return unclear(None, "no valid URL") };
        let mut url = asked.clone();
        let mut status = None;
        for _ in 0..=REDIRECTS_MAX {
            if let Some(why) = self.must_not_be_asked(&url) {
                return unclear(status, &why);
            }
            let sent = self.send_for_missing(&url).await?;
            let response = match &sent.fetched.result {
                Ok(response) => response,
                Err(failure) => return unclear(status, &failure.detail),
            };
            status = Some(response.status);
            let told = interpret(&asked, &url, response);
            self.segments.asides.push(Answer { url: url.clone(), at: sent.at, fetched: sent.fetched });
            match told {
                ProbeResult::Answer(answer, title) => {
                    let is_short = url.as_str().len() <= TARGET_BYTES_MAX;
                    let url = (is_short && url != asked).then_some(url);
                    return Some(MissingPage { iteration, status, url, title, answer });
                }
                ProbeResult::LeadsTo(target) if target.origin() != self.origin.origin => {
                    return unclear(status, "a redirect to another origin");
                }
                ProbeResult::LeadsTo(target) => url = target,
            }
        }
        unclear(status, "too many redirects")
    }

    /// Returns why a URL must not be requested; `None` if it may be. Its scope does not matter, as
    /// it is not a page of the crawl.
    fn must_not_be_asked(&self, url: &CrawlUrl) -> Option<String> {
        if let Decision::Blocked(rule) = self.context.decide(url, 0, 0, ReadAs::Typed) {
            return Some(rule.to_string());
        }
        let Robots::Known(policy) = &self.robots else { return Some("no robots.txt".to_owned()) };
        let verdict = policy.verdict(url.path_and_query());
        (!verdict.is_allowed()).then(|| verdict.to_string())
    }

    /// Makes a request at the origin's pace; `None` if the lease would be too old by then.
    async fn send_for_missing(&mut self, url: &CrawlUrl) -> Option<SentRequest> {
        let clock = self.world.clock();
        let latest_start = self.latest_start();
        let start = self.pacer.start_in_time(clock, latest_start).await?;
        let request = FetchRequest {
            watch: Some(Arc::new(Connecting::new(Arc::clone(&self.pacer), Arc::clone(&self.world)))),
            session: self.session_for(url),
            ..FetchRequest::new(url.clone(), self.context.limits().reading_all())
        };
        let sent = send(clock, &*self.fetcher, &self.pacer, (start, latest_start), request, Attempt::First).await;
        let sent = sent.ok()?;
        self.lease.pace = self.pacer.pace();
        self.lease.robots = RobotsUse::Used;
        self.segments.requests_aside += 1 + u64::from(sent.resends);
        Some(sent)
    }
}

/// Returns the address to request from an origin in an iteration: the same one for every worker.
fn impossible_path(origin: &OriginKey, iteration: Iteration) -> String {
    let mut hasher = SipHasher13::new();
    (origin.origin.to_string(), iteration).hash(&mut hasher);
    let word = BASE32_NOPAD.encode(&hasher.finish128().as_bytes()).to_ascii_lowercase();
    format!("/{}", word.chars().take(WORD_LETTERS).collect::<String>())
}

/// Returns the meaning of an answer from the address `asked`, or from a URL to which it redirected.
fn interpret(asked: &CrawlUrl, url: &CrawlUrl, response: &FetchedResponse) -> ProbeResult {
    let head = Head { url, status: response.status, headers: &response.headers };
    let is_redirected = !url.path_and_query().contains(asked.path().trim_start_matches('/'));
    let wall = find_wall(asked, &head, &response.readable_body()).map(|wall| wall.detail_of_file());
    let answer = match (wall, status_outcome(response)) {
        (Some(wall), _) => Err(wall),
        (None, Outcome::FileNotFound | Outcome::FileGone) => Ok((MissingAnswer::Honest, None)),
        (None, Outcome::TemporaryRedirect | Outcome::PermanentRedirect) => {
            match response.redirect_target(url, &UrlRules::keep_all()) {
                Some(target) => return ProbeResult::LeadsTo(target),
                None => Err("a redirect to nowhere".to_owned()),
            }
        }
        (None, Outcome::FileIngested) if is_redirected => Ok((MissingAnswer::Sign(MissingSign::redirect(url)), None)),
        (None, Outcome::FileIngested) => {
            let print = print_of_missing(url, &response.headers, &response.readable_body());
            print.map(|(print, title)| {
                let title = Some(one_line(&title, TITLE_CHARS_MAX)).filter(|title| !title.is_empty());
                (MissingAnswer::Sign(MissingSign::Page(print)), title)
            })
        }
        (None, _) => Err(format!("status {}", response.status)),
    };
    match answer {
        Ok((answer, title)) => ProbeResult::Answer(answer, title),
        Err(why) => ProbeResult::Answer(MissingAnswer::Unclear(one_line(&why, REASON_CHARS_MAX)), None),
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::ids::CrawlId;

    use super::*;

    const ASKED: &str = "/abcdefgh";

    fn url(path: &str) -> CrawlUrl {
        CrawlUrl::try_from(format!("https://a.example{path}")).unwrap()
    }

    fn response(status: u16, fields: &[(&str, &str)], body: &'static str) -> FetchedResponse {
        FetchedResponse {
            status,
            reason: String::new(),
            protocol: None,
            headers: fields.iter().copied().collect(),
            body: body.into(),
            truncated: None,
            decoded_sha1: [0; 20],
            decoded_bytes: body.len() as u64,
        }
    }

    #[test]
    fn the_probes_answer_gives_the_sign_of_missing_pages() {
        const SORRY: &str = "<title>Shop</title>Sorry, there is no such page in this shop.";
        let html = ("content-type", "text/html");
        for (path, status, fields, body, expected, why) in [
            (ASKED, 404, &[html][..], SORRY, "Honest", "it says so"),
            (ASKED, 410, &[html], "", "Honest", "the same"),
            (ASKED, 200, &[html], SORRY, "Sign(Page", "it says something else"),
            ("/abcdefgh/", 200, &[html], SORRY, "Sign(Page", "by another spelling"),
            ("/", 200, &[html], SORRY, "Sign(Redirect", "it leads home"),
            ("/", 200, &[html], "", "Sign(Redirect", "whatever is there"),
            (ASKED, 200, &[html], "<div id=app></div><script src=a.js></script>", "Unclear", "a shell"),
            (ASKED, 403, &[html], "", "Unclear", "it is refused"),
            (ASKED, 500, &[html], "", "Unclear", "it failed"),
            (ASKED, 403, &[("cf-mitigated", "challenge")], "", "Unclear", "a wall"),
            (ASKED, 302, &[("location", "/login?next=/abcdefgh")], "", "Unclear", "a redirect to a wall"),
            (ASKED, 302, &[], "", "Unclear", "a redirect to nowhere"),
            (
                "/login",
                200,
                &[html],
                "<title>Log in</title><input type=password>",
                "Unclear",
                "a form that it leads to",
            ),
        ] {
            let said = match interpret(&url(ASKED), &url(path), &response(status, fields, body)) {
                ProbeResult::Answer(answer, _) => format!("{answer:?}"),
                ProbeResult::LeadsTo(target) => target.to_string(),
            };
            assert!(said.starts_with(expected), "{path} {status}: {why}: {said}");
        }
        let led = interpret(&url(ASKED), &url(ASKED), &response(301, &[("location", "/")], ""));
        assert!(matches!(led, ProbeResult::LeadsTo(target) if target == url("/")));
    }

    #[test]
    fn the_probed_address_is_the_same_for_every_worker() {
        let key = |origin: &str| OriginKey {
            crawl: CrawlId::try_from("c".to_owned()).unwrap(),
            origin: CrawlUrl::try_from(origin.to_owned()).unwrap().origin(),
        };
        let (first, next) = (Iteration::FIRST, Iteration::FIRST.next());
        let path = impossible_path(&key("https://a.example/"), first);
        assert_eq!(path, impossible_path(&key("https://a.example/"), first));
        assert_eq!(path.len(), 1 + WORD_LETTERS);
        assert!(
            path.strip_prefix('/')
                .is_some_and(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
        );
        for (origin, iteration, why) in
            [("https://a.example/", next, "another iteration"), ("http://a.example/", first, "another origin")]
        {
            assert_ne!(path, impossible_path(&key(origin), iteration), "{why}");
        }
    }
}
