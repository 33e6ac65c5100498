use dragline_domain::address::AddressPolicy::{self, AllowPrivate, PublicOnly};
use dragline_domain::definition::Definition;
use dragline_domain::url::UrlRules;
use dragline_domain::use_preferences::{Purpose, RslAnswer, RslTerms, UseStand, UseStands};
use dragline_formats::robots::{RobotsFetch, RobotsRecord};
use dragline_pipeline::crawl::RefusedAddress;
use dragline_ports::frontier::CrawlRow;

use super::verdict::{RuleKind, Verdict, before_robots, by_robots};
use super::*;

const SPEC: &str = r"
seeds: [https://example.org/]
scope:
  exclude: ['\.zip$']
  max_depth: 3
traps:
  segments_max: 4
do_not_crawl:
  - when: { path: { prefix: /cgi/ } }
    reason: costs the site a lot
url_query_parameters:
  - allow: [page]
";

const ROBOTS: &[u8] =
    b"User-agent: *\nDisallow: /private/\nAllow: /private/open\n\nUser-agent: ShelfBot\nDisallow: /shelf/\n";

fn url(text: &str) -> CrawlUrl {
    CrawlUrl::parse(text, &UrlRules::default()).unwrap()
}

fn context(definition: Definition) -> CrawlContext {
    CrawlContext::new(CrawlRow::first(definition)).unwrap()
}

fn verdict(context: &CrawlContext, url: &CrawlUrl, addresses: AddressPolicy) -> Verdict {
    let robots = Ok(RobotsRecord::from_fetch(&RobotsFetch::Answered { status: 200, body: ROBOTS }));
    before_robots(context, (url, SEED), addresses).unwrap_or_else(|| by_robots(&robots, "Dragline", url))
}

#[test]
fn the_first_rule_that_objects_decides() {
    let context = context(dragline_definition::parse(SPEC, "crawl.yaml").unwrap());
    for (asked, kind, rule) in [
        ("https://example.org/", None, "no rule of robots.txt matches"),
        ("https://example.org/private/open", None, "robots.txt line 3: `Allow: /private/open`"),
        ("https://example.org/robots.txt", None, "robots.txt itself may always be fetched"),
        ("https://example.org/a?page=2", None, "no rule of robots.txt matches"),
        ("https://example.com/", Some(RuleKind::Scope), "scope.within (site): not the site of any seed"),
        ("https://example.org/cgi/a.zip", Some(RuleKind::Scope), r"scope.exclude entry 1 (\.zip$) matches"),
        (
            "https://example.org/cgi/b/c/d/e",
            Some(RuleKind::Trap),
            "traps.segments_max: the path has more than 4 segments",
        ),
        (
            "https://example.org/cgi/a?b=1",
            Some(RuleKind::DoNotCrawl),
            "do_not_crawl entry 1 (path begins with /cgi/): costs the site a lot",
        ),
        (
            "https://example.org/private/?b=1",
            Some(RuleKind::QueryParameters),
            "url_query_parameters: no entry that covers this URL allows all of its parameters",
        ),
        ("https://example.org/private/a", Some(RuleKind::RobotsTxt), "robots.txt line 2: `Disallow: /private/`"),
        ("https://example.org/shelf/a", None, "no rule of robots.txt matches"),
    ] {
        let expected = match kind {
            None => Verdict::Crawl { robots: rule.to_owned() },
            Some(by) => Verdict::Blocked { by, rule: rule.to_owned() },
        };
        assert_eq!(verdict(&context, &url(asked), PublicOnly), expected, "{asked}");
    }
}

#[test]
fn private_addresses_go_before_robots_txt() {
    for (asked, addresses, expected) in [
        ("http://127.0.0.1/private/", PublicOnly, Some("no connection to 127.0.0.1: loopback address")),
        ("http://2130706433/", PublicOnly, Some("no connection to 127.0.0.1: loopback address")),
        ("http://[::ffff:10.0.0.1]/", PublicOnly, Some("no connection to ::ffff:10.0.0.1: private address")),
        ("http://localhost:8080/", PublicOnly, Some("no connection to localhost: loopback name")),
        (
            "http://169.254.169.254/latest/",
            PublicOnly,
            Some("no connection to 169.254.169.254: cloud metadata address"),
        ),
        ("http://127.0.0.1/", AllowPrivate, None),
        ("http://localhost:8080/", AllowPrivate, None),
        ("https://example.org/", PublicOnly, None),
    ] {
        let url = url(asked);
        let context = context(Definition::for_seeds(vec![url.clone()]).unwrap());
        let verdict = verdict(&context, &url, addresses);
        let found = match &verdict {
            Verdict::Blocked { by: RuleKind::PrivateAddress, rule } => Some(rule.as_str()),
            _ => None,
        };
        assert_eq!(found, expected, "{asked}");
    }
}

#[tokio::test]
async fn what_robots_txt_reserves_goes_after_what_it_forbids() {
    const RESERVED: &[u8] = b"User-agent: *\nDisallow: /private/\nContent-Usage: / train-ai=n\n";
    let record = || RobotsRecord::from_fetch(&RobotsFetch::Answered { status: 200, body: RESERVED });
    for (asked, purpose, blocked_by, said, why) in [
        ("/a", None, None, 1, "no purpose is claimed: it is only said"),
        ("/a", Some(Purpose::Search), None, 1, "another purpose"),
        ("/a", Some(Purpose::AiTrain), Some(RuleKind::UseReserved), 1, "this one is reserved"),
        ("/private/a", Some(Purpose::AiTrain), Some(RuleKind::RobotsTxt), 1, "a rule forbids it already"),
    ] {
        let mut draft = Definition::for_seeds(vec![url("https://example.org/")]).unwrap().into_draft();
        draft.purpose = purpose;
        let context = context(Definition::new(draft).unwrap());
        let robots = async || Ok::<_, std::convert::Infallible>(Ok(record()));
        let url = url(&format!("https://example.org{asked}"));
        let licence = async |_: &RobotsPolicy, _: &CrawlUrl| unreachable!("there is none");
        let Ok(ruling) = ruling(&context, (&url, SEED), PublicOnly, robots, licence).await;
        let by = match ruling.verdict {
            Verdict::Blocked { by, .. } => Some(by),
            Verdict::Crawl { .. } => None,
        };
        assert_eq!((by, ruling.uses.len()), (blocked_by, said), "{why}");
    }
}

#[tokio::test]
async fn a_licence_is_asked_for_if_it_may_reserve_the_purpose() {
    const ROBOTS: &[u8] = b"License: https://example.org/l.xml\nLicense: https://rights.example/l.xml\n";
    const OWN: &[u8] = b"License: https://example.org/l.xml\n";
    let mining = RslTerms { location: "/".to_owned(), says: UseStands::of_mining(UseStand::Reserved) };
    let free = RslTerms { location: "/".to_owned(), says: UseStands::of_mining(UseStand::Allowed) };
    for (body, purpose, answer, is_allowed, said, why) in [
        (OWN, None, None, true, 1, "without a purpose the line is told"),
        (OWN, Some(Purpose::Archive), None, true, 1, "no licence speaks of archives"),
        (OWN, Some(Purpose::AiTrain), Some(RslAnswer::Rules(vec![free.clone()])), true, 1, "the file allows it"),
        (OWN, Some(Purpose::AiTrain), Some(RslAnswer::Rules(vec![mining])), false, 1, "the file reserves it"),
        (OWN, Some(Purpose::AiTrain), Some(RslAnswer::Missing), false, 1, "the line does"),
        (OWN, Some(Purpose::Search), Some(RslAnswer::Unreadable("x".to_owned())), false, 2, "who knows what it says"),
        (ROBOTS, Some(Purpose::AiTrain), Some(RslAnswer::Rules(vec![free])), false, 2, "another line does"),
    ] {
        let mut draft = Definition::for_seeds(vec![url("https://example.org/")]).unwrap().into_draft();
        draft.purpose = purpose;
        let context = context(Definition::new(draft).unwrap());
        let record = RobotsRecord::from_fetch(&RobotsFetch::Answered { status: 200, body });
        let robots = async || Ok::<_, std::convert::Infallible>(Ok(record));
        let licence = async |_: &RobotsPolicy, at: &CrawlUrl| {
            assert_eq!(at.as_str(), "https://example.org/l.xml");
            Ok(Some(answer.expect(why)))
        };
        let Ok(ruling) = ruling(&context, (&url("https://example.org/a"), SEED), PublicOnly, robots, licence).await;
        assert_eq!((ruling.verdict.is_allowed(), ruling.uses.len()), (is_allowed, said), "{why}");
    }
}

#[test]
fn a_robots_txt_that_cannot_be_read_forbids_everything() {
    let record = |status| Ok(RobotsRecord::from_fetch(&RobotsFetch::Answered { status, body: b"" }));
    let url = url("https://example.org/a");
    for (robots, allowed) in [
        (record(404), true),
        (record(503), false),
        (Err(RefusedAddress("no connection to 10.0.0.1: private address".to_owned())), false),
    ] {
        assert_eq!(by_robots(&robots, "Dragline", &url).is_allowed(), allowed, "{robots:?}");
    }
}
