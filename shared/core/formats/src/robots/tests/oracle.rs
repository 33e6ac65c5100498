//! The matcher of the crate `robotstxt`, a port of Google's, as an oracle; and its known errors.
//!
//! It compares paths with patterns incorrectly after a wildcard, so that part is replaced with the
//! definition: the crate is the oracle for lines, groups and precedence, the definition for
//! patterns.

use proptest::prelude::*;
use robotstxt::DefaultMatcher;
use robotstxt::matcher::{RobotsMatchStrategy, RobotsMatcher};

use super::{allowed, matches_by_definition};

#[derive(Default)]
struct Definition;

impl Definition {
    /// Returns the pattern's length if it matches, or the crate's value for no match.
    fn priority(path: &str, pattern: &str) -> i32 {
        if matches_by_definition(pattern.as_bytes(), path.as_bytes()) {
            pattern.len().try_into().expect("patterns are short here")
        } else {
            -1
        }
    }
}

impl RobotsMatchStrategy for Definition {
    fn match_allow(&self, path: &str, pattern: &str) -> i32 {
        Self::priority(path, pattern)
    }

    fn match_disallow(&self, path: &str, pattern: &str) -> i32 {
        Self::priority(path, pattern)
    }
}

fn oracle_allows(body: &str, token: &str, path: &str) -> bool {
    DefaultMatcher::default().one_agent_allowed_by_robots(body, token, &format!("https://a.example{path}"))
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => "[Uu]ser-agent: (FooBot|foobot|BarBot|FooBot/1|\\*|\\* x|)",
        4 => "Disallow: ?/[ab*$.?]{0,6}\\$?",
        3 => "Allow: ?/[ab*$.?]{0,6}\\$?",
        1 => "(Disallow|Allow): ?[ab*]{0,2}",
        1 => "(# no|junk||allow /a)",
    ]
}

fn file() -> impl Strategy<Value = String> {
    (prop::collection::vec(line(), 0..14), "(\n|\r\n|\r)").prop_map(|(lines, end)| lines.join(&end))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn both_agree(body in file(), path in "/[ab.?$*/]{0,8}") {
        let url = format!("https://a.example{path}");
        let mut oracle = RobotsMatcher::<Definition>::default();
        prop_assert_eq!(allowed(&body, "FooBot", &path), oracle.one_agent_allowed_by_robots(&body, "FooBot", &url));
    }
}

#[test]
fn both_differ_only_in_known_cases() {
    for (body, path, ours, why) in [
        ("\u{feff}User-agent: *\nDisallow: /\n", "/a", false, "it does not drop the byte order mark"),
        (" User-agent *\n Disallow /\n", "/a", false, "it does not find a key in an indented line without a colon"),
        ("User-agent: *\nDisallow: /%61\n", "/a", false, "it does not decode unreserved octets"),
        ("User-agent: *\nDisallow: /a\n", "/%61", false, "it takes URLs as they are"),
        ("User-agent: *\nDisallow: /ä\n", "/ä", false, "it encodes only rules"),
        ("User-agent: *\nDisallow: /ä%41\n", "/ä%41", false, "both spellings at once"),
        ("User-agent: *\nDisallow: /a%b\u{e9}\n", "/a%25b%C3%A9", false, "it loses what follows a lone percent sign"),
        (
            "User-agent: *\nDisallow: /?u=https://b\n",
            "/?u=https%3A%2F%2Fb",
            false,
            "nor does it decode slashes in a query",
        ),
        ("User-agent: *\nDisallow: /a%2A\n", "/a*", false, "nor encoded wildcards"),
        ("User-agent: us\nSitemap: /s\nUser-agent: them\nDisallow: /\n", "/", false, "a sitemap ends its groups"),
        ("User-agent: us\nCrawl-delay: 1\nUser-agent: them\nDisallow: /\n", "/", false, "so does an unknown key"),
        ("User-agent: *\nDisallow: /*.php\n", "/a.b.php", false, "after a wildcard it tries only the first dot"),
        ("User-agent: *\nDisallow: /*?$\n", "/??", false, "and so only the first question mark"),
        ("User-agent: *\nDisallow: /\n", "/robots.txt", true, "it has no exception for the file itself"),
        (
            "User-agent: *\nDisallow: /\nAllow: /a/index.html\n",
            "/a/",
            false,
            "it lets Google's rule for index pages in",
        ),
    ] {
        assert_eq!(allowed(body, "us", path), ours, "{why}: {body:?} on {path}");
        assert_eq!(oracle_allows(body, "us", path), !ours, "no longer: {why}");
    }
}
