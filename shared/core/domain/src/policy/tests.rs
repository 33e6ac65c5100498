//! Decisions about URLs, with the explanations for users.

use proptest::prelude::*;

use super::*;
use crate::definition::{Condition, ExternalLinks, Links, QueryRule, TextTest};
use crate::frontier::CHECK_DEPTH;
use crate::url::{Origin, UrlRules};

fn url(text: &str) -> CrawlUrl {
    CrawlUrl::parse(text, &UrlRules::default()).unwrap()
}

fn text(text: &str) -> String {
    text.to_owned()
}

/// Creates a crawl with a rule of every kind.
fn definition() -> Definition {
    let mut draft = Draft::for_seeds(vec![url("https://example.org/")]);
    draft.scope.within = Within::Domain;
    draft.scope.include = vec![r"^https?://[^/]+/$".parse().unwrap(), "example".parse().unwrap()];
    draft.scope.exclude = vec![r"\.zip$".parse().unwrap(), "/login".parse().unwrap()];
    draft.scope.max_depth = Some(5);
    draft.do_not_crawl = vec![
        DoNotCrawl { when: Condition::Host(TextTest::Prefix(text("old."))), reason: text("moved") },
        DoNotCrawl {
            when: Condition::All(vec![
                Condition::Path(TextTest::Prefix(text("/private"))),
                Condition::Not(Box::new(Condition::Path(TextTest::Suffix(text(".pdf"))))),
            ]),
            reason: text("asked to leave it alone"),
        },
    ];
    draft.url_query_parameters = vec![
        QueryRule { when: None, allow: vec![text("page"), text("größe")] },
        QueryRule { when: Some(Condition::Path(TextTest::Equals(text("/search")))), allow: vec![text("q")] },
    ];
    Definition::new(draft).unwrap()
}

#[test]
fn the_first_rule_that_objects_decides() {
    let definition = definition();
    let policy = Policy::compile(&definition).unwrap();
    let allowed = AllowedOrigins::from_definition(&definition);
    let crawl = "to be crawled";
    let excluded = "out of scope: scope.exclude entry 2 (/login) matches";
    let private = "blocked: do_not_crawl entry 2 (path begins with /private and not (path ends with .pdf)): \
                   asked to leave it alone";
    let parameters = "blocked: url_query_parameters: no entry that covers this URL allows all of its parameters";
    let table = [
        ("https://example.org/", 0, crawl, "a seed"),
        ("http://a.b.example.org:8080/x", 5, crawl, "same domain, any host, scheme and port; depth at its limit"),
        (
            "https://example.com/",
            1,
            "out of scope: scope.within (domain): not the domain of any seed",
            "another domain, though a pattern includes it",
        ),
        (
            "https://example.org.evil.net/",
            1,
            "out of scope: scope.within (domain): not the domain of any seed",
            "domains are compared as domains, not as texts",
        ),
        ("https://example.org/login?x", 1, excluded, "anywhere in the URL"),
        (
            "https://example.org/login/a.zip",
            9,
            "out of scope: scope.exclude entry 1 (\\.zip$) matches",
            "the first entry",
        ),
        ("https://example.org/x", 6, "out of scope: scope.max_depth (5): 6 links from a seed", "one link too many"),
        (
            "https://example.org/private/login",
            1,
            excluded,
            "scope goes before do_not_crawl: what does not belong to the crawl is no candidate",
        ),
        ("https://old.example.org/private", 1, "blocked: do_not_crawl entry 1 (host begins with old.): moved", "first"),
        ("https://example.org/private/a", 1, private, "the second"),
        ("https://example.org/private/a.pdf", 1, crawl, "the `not` lets it through"),
        ("https://example.org/Private/a", 1, crawl, "the path's case counts"),
        (
            "https://example.org/a/b/a/b/a",
            1,
            "blocked: traps.segment_repeats_max: a path segment repeats more than 2 times",
            "thrice",
        ),
        ("https://example.org/x?page=2", 1, crawl, "allowed everywhere"),
        ("https://example.org/x?page", 1, crawl, "a name without a value is the same name"),
        ("https://example.org/x?gr%C3%B6%C3%9Fe=1&page=2", 1, crawl, "names are compared decoded"),
        ("https://example.org/x?Page=2", 1, parameters, "letter case counts"),
        ("https://example.org/x?page=2&q=1", 1, parameters, "only /search has it"),
        ("https://example.org/search?q=1", 1, crawl, "the second rule allows it"),
        ("https://example.org/search?q=1&page=2", 1, parameters, "one rule must allow all of them"),
        ("https://example.org/x?&&", 1, crawl, "no parameter at all"),
    ];
    for (address, depth, expected, why) in table {
        assert_eq!(policy.decide(&url(address), depth, &allowed).to_string(), expected, "{address}: {why}");
    }
}

#[test]
fn links_out_of_the_crawl_are_checked_if_asked() {
    let links = Links { external: ExternalLinks::Check };
    let check = Definition::new(Draft { links, ..Draft::clone(&definition()) }).unwrap();
    let ignore = definition();
    let far = "out of scope: 21 redirects in a row, and at most 20 are followed";
    for (definition, address, redirects, expected, why) in [
        (&check, "https://other.example/a?v=1", 0, "to be crawled", "another site, with a query"),
        (&check, "https://other.example/a", 20, "to be crawled", "the last redirect"),
        (&check, "https://other.example/a", 21, far, "one more"),
        (&check, "https://other.example/login", 0, "out of scope: scope.exclude entry 2 (/login) matches", "excluded"),
        (
            &check,
            "https://old.example/a",
            0,
            "blocked: do_not_crawl entry 1 (host begins with old.): moved",
            "forbidden",
        ),
        (
            &ignore,
            "https://other.example/a",
            0,
            "out of scope: links.external (ignore): it is not asked whether it is there",
            "not asked for",
        ),
    ] {
        let policy = Policy::compile(definition).unwrap();
        let decision = policy.decide_check(&url(address), CHECK_DEPTH + redirects);
        assert_eq!(decision.to_string(), expected, "{address}: {why}");
    }
}

#[test]
fn requisites_are_visited_on_any_site() {
    let fetch = Definition::new(Draft { requisites: Requisites::Fetch, ..Draft::clone(&definition()) }).unwrap();
    let ignore = definition();
    let crawl = "to be crawled";
    for (definition, address, steps, expected, why) in [
        (
            &fetch,
            "https://cdn.example/a.css?v=1",
            1,
            crawl,
            "another site, not included, with a query that pages must not have",
        ),
        (&fetch, "https://cdn.example/b.css", 5, crawl, "the last of some that follow one another"),
        (
            &fetch,
            "https://cdn.example/c.css",
            6,
            "out of scope: requisites: 6 of them in a row, and at most 5 are visited",
            "one more",
        ),
        (
            &fetch,
            "https://cdn.example/login.png",
            1,
            "out of scope: scope.exclude entry 2 (/login) matches",
            "excluded",
        ),
        (
            &fetch,
            "https://old.example/a.png",
            1,
            "blocked: do_not_crawl entry 1 (host begins with old.): moved",
            "forbidden",
        ),
        (
            &ignore,
            "https://example.org/a.css",
            1,
            "out of scope: requisites (ignore): only pages need it",
            "not asked for",
        ),
    ] {
        let policy = Policy::compile(definition).unwrap();
        assert_eq!(policy.decide_requisite(&url(address), steps).to_string(), expected, "{address}: {why}");
    }
}

#[test]
fn only_matching_urls_are_included() {
    let mut draft = definition().into_draft();
    draft.scope.include.pop();
    let definition = Definition::new(draft).unwrap();
    let policy = Policy::compile(&definition).unwrap();
    let decision = policy.decide(&url("https://example.org/x"), 1, &AllowedOrigins::from_definition(&definition));
    assert_eq!(decision.to_string(), "out of scope: scope.include: no entry matches");
}

#[test]
fn a_query_that_no_rule_covers_is_blocked() {
    let mut draft = definition().into_draft();
    draft.url_query_parameters.remove(0);
    let definition = Definition::new(draft).unwrap();
    let policy = Policy::compile(&definition).unwrap();
    let allowed = AllowedOrigins::from_definition(&definition);
    assert_eq!(
        policy.decide(&url("https://example.org/x?q=1"), 1, &allowed),
        Decision::Blocked(BlockRule::QueryParameters(QueryRefusal::NotCovered))
    );
    assert_eq!(policy.decide(&url("https://example.org/x"), 1, &allowed), Decision::Crawl, "it has no query");
}

#[test]
fn reach_depends_on_what_a_url_shares_with_a_seed() {
    use Within::{Domain, Host, Origin as SameOrigin, Site};
    let table = [
        (SameOrigin, "https://www.example.co.uk/a", true, "the seed's own"),
        (SameOrigin, "http://www.example.co.uk/", false, "another scheme"),
        (SameOrigin, "https://www.example.co.uk:8443/", false, "another port"),
        (SameOrigin, "https://www.example.co.uk.net/", false, "another host that begins alike"),
        (Site, "https://www.example.co.uk/", true, "the seed's own"),
        (Site, "http://www.example.co.uk/", true, "by http"),
        (Site, "https://example.co.uk/", true, "without www"),
        (Site, "http://example.co.uk/", true, "both at once"),
        (Site, "https://www.example.co.uk:8443/", false, "another port may be another service"),
        (Site, "https://docs.example.co.uk/", false, "another host"),
        (Site, "https://www.www.example.co.uk/", false, "www once"),
        (Site, "https://localhost:8000/", true, "the same port"),
        (Site, "http://www.localhost:8000/", false, "no part of a single name is taken away"),
        (Host, "http://www.example.co.uk:8080/", true, "any scheme and port"),
        (Host, "https://example.co.uk/", false, "another host"),
        (Domain, "https://example.co.uk/", true, "the domain itself"),
        (Domain, "http://a.b.example.co.uk:81/", true, "any host below it"),
        (Domain, "https://other.co.uk/", false, "`co.uk` is a suffix, not a domain"),
        (Domain, "http://localhost:8000/", true, "a host without a domain stands for itself"),
        (SameOrigin, "http://localhost:8001/", false, "another port of the second seed"),
    ];
    for (within, address, expected, why) in table {
        let mut draft = Draft::for_seeds(vec![url("https://www.example.co.uk/"), url("http://localhost:8000/")]);
        draft.scope.within = within;
        assert_eq!(AllowedOrigins::from_draft(&draft).contains(&url(address)), expected, "{within} {address}: {why}");
    }
}

#[test]
fn an_added_origin_counts_like_a_seeds_origin() {
    let draft = Draft::for_seeds(vec![url("https://example.org/")]);
    let seeds_only = AllowedOrigins::from_draft(&draft);
    let moved = url("https://new.example.org/a");
    assert!(!seeds_only.contains(&moved));
    let added: Origin = "https://new.example.org".parse().unwrap();
    let both = seeds_only.and([added]);
    assert!(both.contains(&moved) && both.contains(&url("https://example.org/")));
}

#[test]
fn a_site_is_at_home_where_it_began_or_moved() {
    let draft = Draft::for_seeds(vec![url("https://example.org/")]);
    let [seed, other]: [Origin; 2] =
        ["https://example.org", "https://www.example.org"].map(|text| text.parse().unwrap());
    let allowed = AllowedOrigins::from_draft(&draft);
    assert!(allowed.is_home(&seed) && !allowed.is_home(&other) && allowed.contains_origin(&other));
    assert!(allowed.and([other.clone()]).is_home(&other), "a seed redirects there");
    let twin = |one: &str, other: &str| url(one).is_twin_of(&url(other));
    assert!(twin("https://example.org/a?b", "http://www.example.org/a?b"));
    assert!(
        !twin("https://example.org/a", "https://example.org/a")
            && !twin("https://example.org/a", "http://example.org/b")
    );
}

#[test]
fn a_trap_is_reported_by_the_first_exceeded_limit() {
    let repeats = Some(Trap::SegmentRepeats { max: 2 });
    let segments = Some(Trap::Segments { max: 20 });
    let bytes = Some(Trap::UrlBytes { max: 200 });
    let path = |count: usize| (0..count).map(|n| format!("/{n}")).collect::<String>();
    let filled = |len: usize| format!("/{}", "a".repeat(len - "https://example.org/".len()));
    let table = [
        (text("/"), None, "no segment"),
        (text("/a/a"), None, "twice is fine"),
        (text("/a/a/a"), repeats, "thrice is not"),
        (text("/a/b/a/c/a/"), repeats, "nor if others stand between"),
        (text("/a/A/%61a"), None, "three different segments"),
        (text("/a/a?a/a/a"), None, "the query has no segments"),
        (text("////"), repeats, "empty segments pile up as well"),
        (path(20), None, "at the limit"),
        (format!("{}/", path(20)), None, "a trailing slash adds none"),
        (path(21), segments, "one too many"),
        (text("/a").repeat(21), segments, "the count goes before repetition"),
        (filled(200), None, "at the limit"),
        (filled(201), bytes, "a byte too long"),
        (format!("{}?", path(90)), bytes, "length goes before the count"),
    ];
    let limits = TrapLimits { url_bytes_max: 200, ..TrapLimits::default() };
    for (path, expected, why) in table {
        let url = url(&format!("https://example.org{path}"));
        assert_eq!(trap(&url, &limits), expected, "{path}: {why}");
    }
}

proptest! {
    /// The decision is the same each time, also by a policy that is compiled anew; excluded URLs
    /// are never crawled, and crawled URLs are within reach.
    #[test]
    fn decisions_are_predictable(
        host in prop::sample::select(vec!["example.org", "www.example.org", "old.example.org", "example.net"]),
        path in "(/(a|b|login|private|x\\.zip|search)){0,6}",
        query in prop::option::of("(page|q|r)=[0-9]{1,2}(&(page|q)=1)?"),
        depth in 0_u32..8,
    ) {
        let definition = definition();
        let policy = Policy::compile(&definition).unwrap();
        let again = Policy::compile(&definition).unwrap();
        let allowed = AllowedOrigins::from_definition(&definition);
        let url = url(&format!("https://{host}/{path}{}", query.map(|q| format!("?{q}")).unwrap_or_default()));
        let decision = policy.decide(&url, depth, &allowed);
        prop_assert_eq!(decision, policy.decide(&url, depth, &allowed));
        prop_assert_eq!(decision, again.decide(&url, depth, &allowed));
        prop_assert!(!decision.to_string().contains('\n'));
        if definition.scope.exclude.iter().any(|pattern| pattern.is_match(url.as_str())) {
            prop_assert_ne!(decision, Decision::Crawl);
        }
        if decision == Decision::Crawl {
            prop_assert!(allowed.contains(&url) && depth <= 5);
            prop_assert!(!definition.do_not_crawl.iter().any(|rule| rule.when.matches(&url)));
        }
    }
}

#[test]
fn a_seed_is_never_a_trap() {
    let [seed, other] = ["https://example.org/a/b/a/b/a", "https://example.org/b/a/b/a/b"].map(url);
    let definition = Definition::new(Draft::for_seeds(vec![seed.clone()])).unwrap();
    let (policy, allowed) = (Policy::compile(&definition).unwrap(), AllowedOrigins::from_definition(&definition));
    assert_eq!(policy.decide(&seed, 0, &allowed), Decision::Crawl, "whoever gives it wants it");
    assert!(matches!(policy.decide(&other, 0, &allowed), Decision::Blocked(BlockRule::Trap(_))), "another is one");
}

#[test]
fn links_of_pages_are_out_of_scope_where_only_sitemaps_count() {
    let mut draft = Draft::for_seeds(vec![url("https://example.org/")]);
    (draft.sitemaps, draft.scope.max_depth) = (Sitemaps::Only, Some(3));
    let definition = Definition::new(draft).unwrap();
    let (policy, allowed) = (Policy::compile(&definition).unwrap(), AllowedOrigins::from_definition(&definition));
    let page = url("https://example.org/a");
    let decide = |depth| policy.decide(&page, depth, &allowed).to_string();
    assert_eq!(decide(0), "to be crawled", "a sitemap lists it, or it is a seed");
    assert_eq!(decide(1), "out of scope: sitemaps (only): no sitemap lists it");
}

#[test]
fn a_sitemap_or_feed_need_not_be_included() {
    let mut draft = Draft::for_seeds(vec![url("https://example.org/")]);
    draft.scope.within = Within::Domain;
    draft.scope.include = vec!["^https://example.org/$".parse().unwrap()];
    draft.scope.exclude = vec!["/old/".parse().unwrap()];
    draft.scope.max_depth = Some(0);
    draft.do_not_crawl =
        vec![DoNotCrawl { when: Condition::Host(TextTest::Prefix(text("old."))), reason: text("moved") }];
    let definition = Definition::new(draft).unwrap();
    let (policy, allowed) = (Policy::compile(&definition).unwrap(), AllowedOrigins::from_definition(&definition));
    for (address, indexes, expected, why) in [
        ("https://example.org/s.xml", 0, "to be crawled", "no pattern has to match"),
        ("https://www.example.org/s.xml", 5, "to be crawled", "nor is depth one of its rules"),
        (
            "https://example.org/s.xml",
            6,
            "out of scope: 6 sitemap indexes in a row, and at most 5 are followed",
            "an endless chain",
        ),
        (
            "https://elsewhere.test/s.xml",
            0,
            "out of scope: scope.within (domain): not the domain of any seed",
            "of another site",
        ),
        ("https://example.org/old/s.xml", 0, "out of scope: scope.exclude entry 1 (/old/) matches", "excluded"),
        (
            "https://old.example.org/s.xml",
            0,
            "blocked: do_not_crawl entry 1 (host begins with old.): moved",
            "forbidden",
        ),
    ] {
        let decision = policy.decide_sitemap(&url(address), indexes, &allowed);
        assert_eq!(decision.to_string(), expected, "{address}: {why}");
        let of_feed = policy.decide_feed(&url(address), indexes, &allowed);
        let expected = expected.replace(
            "sitemap indexes in a row, and at most 5 are followed",
            "further parts of a feed in a row, and at most 5 are read",
        );
        assert_eq!(of_feed.to_string(), expected, "{address}: {why}, as for a feed");
    }
}
