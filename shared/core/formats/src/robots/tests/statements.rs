//! Each testable statement of RFC 9309, sections 2.2 and 2.3. Its examples are in `rfc`.

use super::super::{COPY_AGE_MAX, REDIRECTS_MAX, RobotsFetch, RobotsRecord};
use super::allowed;

/// Section, file, path, whether `FooBot` may fetch it, and the statement.
type Row = (&'static str, &'static str, &'static str, bool, &'static str);

const SYNTAX: &[Row] = &[
    ("2.2", "user-agent:foobot\ndisallow:/a", "/a", false, "no blanks, and no line end at the end"),
    ("2.2", " \tuser-agent\t : foobot \n\tdisallow \t:\t/a\t \n", "/a", false, "blanks may be wherever WS is"),
    ("2.2", "user-agent: foobot\r\ndisallow: /a\r\n", "/a", false, "CRLF ends a line"),
    ("2.2", "user-agent: foobot\rdisallow: /a\r", "/a", false, "so does CR"),
    ("2.2", "user-agent: foobot # us\ndisallow: /a # not here\n", "/a", false, "a comment may end a line"),
    ("2.2", "# a\n  # b\nuser-agent: foobot\n#c\n\n\t\n# # d\ndisallow: /a\n", "/a", false, "or be all of it"),
    (
        "2.2",
        "user-agent: foobot\n\n\nuser-agent: other\n\ndisallow: /a\n\n",
        "/a",
        false,
        "empty lines separate nothing",
    ),
    ("2.2", "user-agent: foobot\ndisallow: /a\n\ndisallow: /b\n", "/b", false, "nor do they between rules"),
    ("2.2", "user-agent: foobot\ndisallow:\n", "/", true, "an empty pattern forbids nothing"),
    ("2.2", "user-agent: foobot\ndisallow: /\nallow:\n", "/", false, "nor does it allow anything"),
    ("2.2", "USER-AGENT: foobot\nDISALLOW: /a\nALLOW: /a/b\n", "/a/b", true, "keys are literals of ABNF: without case"),
    ("2.2", "user-agent: foobot\ndisallow: /ツ\n", "/ツ", false, "patterns are UTF-8"),
];

const USER_AGENT: &[Row] = &[
    ("2.2.1", "user-agent: FOOBOT\ndisallow: /\n", "/", false, "MUST match without case"),
    ("2.2.1", "user-agent: a-b_C\ndisallow: /\n\nuser-agent: foobot\nallow: /\n", "/", true, "a token has - and _"),
    (
        "2.2.1",
        "user-agent: *\ndisallow: /\n\nuser-agent: foobot\ndisallow: /a\n",
        "/b",
        true,
        "obeys its own group alone",
    ),
    (
        "2.2.1",
        "user-agent: foobot\ndisallow: /a\nuser-agent: x\nallow: /\nuser-agent: foobot\ndisallow: /b\n",
        "/a",
        false,
        "MUST combine its groups: the first",
    ),
    (
        "2.2.1",
        "user-agent: foobot\ndisallow: /a\nuser-agent: x\nallow: /\nuser-agent: foobot\ndisallow: /b\n",
        "/b",
        false,
        "and the last",
    ),
    (
        "2.2.1",
        "user-agent: foobot\ndisallow: /a\nuser-agent: foobot\nallow: /a/b\n",
        "/a/b",
        true,
        "and take them as one for 2.2.2",
    ),
    (
        "2.2.1",
        "user-agent: other\nallow: /\n\nuser-agent: *\ndisallow: /a\n",
        "/a",
        false,
        "MUST obey the group of * without its own",
    ),
    ("2.2.1", "user-agent: other\ndisallow: /\n", "/", true, "neither its own group nor *: no rules"),
    ("2.2.1", "", "/", true, "no groups: no rules"),
    ("2.2.1", "sitemap: https://a.example/s.xml\n", "/", true, "other records do not make a group"),
];

const RULES: &[Row] = &[
    ("2.2.2", "user-agent: foobot\ndisallow: /A\n", "/a", true, "SHOULD mind case"),
    ("2.2.2", "user-agent: foobot\ndisallow: /b\n", "/a/b", true, "MUST begin at the path's first octet"),
    (
        "2.2.2",
        "user-agent: foobot\nallow: /a/b\ndisallow: /a\n",
        "/a/b/c",
        true,
        "MUST use the most specific: it is first",
    ),
    ("2.2.2", "user-agent: foobot\ndisallow: /a\nallow: /a/b\n", "/a/b/c", true, "it is last"),
    ("2.2.2", "user-agent: foobot\nallow: /a\ndisallow: /a/b\n", "/a/b/c", false, "it forbids"),
    (
        "2.2.2",
        "user-agent: foobot\nallow: /a*\ndisallow: /aa\n",
        "/aab",
        true,
        "specific is what has most octets, with * as one of them; a tie",
    ),
    (
        "2.2.2",
        "user-agent: foobot\ndisallow: /a\ndisallow: /a\nallow: /a\n",
        "/a",
        true,
        "however often: of equal ones allow SHOULD be used",
    ),
    ("2.2.2", "user-agent: foobot\ndisallow: /a\n", "/b", true, "no match: allowed"),
    (
        "2.2.2",
        "user-agent: foobot\n\nuser-agent: *\ndisallow: /\n",
        "/",
        false,
        "no rule ends a group: foobot is in that of *",
    ),
    ("2.2.2", "user-agent: *\ndisallow: /\nuser-agent: foobot\n", "/", true, "a group without rules: allowed"),
    (
        "2.2.2",
        "user-agent: foobot\ndisallow: /robots.txt\n",
        "/robots.txt",
        true,
        "robots.txt is allowed, whatever is said",
    ),
    (
        "2.2.2",
        "user-agent: foobot\ndisallow: /ä\n",
        "/%C3%A4",
        false,
        "octets beyond ASCII MUST be encoded: in the file",
    ),
    ("2.2.2", "user-agent: foobot\ndisallow: /%c3%a4\n", "/ä", false, "in the URL"),
    (
        "2.2.2",
        "user-agent: foobot\ndisallow: /a[b]@\n",
        "/a%5Bb%5D%40",
        false,
        "reserved octets MUST be encoded: in the file",
    ),
    ("2.2.2", "user-agent: foobot\ndisallow: /a%5bb%5D%40\n", "/a[b]@", false, "in the URL"),
    (
        "2.2.2",
        "user-agent: foobot\ndisallow: /a-b.c_d~e\n",
        "/%61%2Db%2Ec%5fd%7Ee",
        false,
        "unreserved octets MUST be unencoded: in the URL",
    ),
    ("2.2.2", "user-agent: foobot\ndisallow: /%61%2Db%2Ec%5fd%7Ee\n", "/a-b.c_d~e", false, "in the file"),
    ("2.2.2", "user-agent: foobot\ndisallow: /a%2Fb\n", "/a/b", true, "reserved ones MUST NOT"),
    ("2.2.2", "user-agent: foobot\ndisallow: /a/b\n", "/a/", true, "matches only if the pattern's end is reached"),
    ("2.2.2", "disallow: /\nuser-agent: foobot\ndisallow: /a\n", "/b", true, "SHOULD ignore rules before any group"),
    ("2.2.2", "disallow: /\nallow: /a\n", "/b", true, "even if there is no group at all"),
];

const SPECIAL: &[Row] = &[
    ("2.2.3", "user-agent: foobot\ndisallow: /a#b\n", "/a", false, "# begins a comment"),
    ("2.2.3", "user-agent: foobot\nallow: / # disallow: /\n", "/", true, "to the line's end"),
    (
        "2.2.3",
        "user-agent: foobot\nallow: /this/path/exactly$\ndisallow: /\n",
        "/this/path/exactly",
        true,
        "$ is the end",
    ),
    (
        "2.2.3",
        "user-agent: foobot\nallow: /this/path/exactly$\ndisallow: /\n",
        "/this/path/exactly/",
        false,
        "and nothing behind it",
    ),
    ("2.2.3", "user-agent: foobot\ndisallow: /this/*/exactly\n", "/this//exactly", false, "* is not one"),
    ("2.2.3", "user-agent: foobot\ndisallow: /this/*/exactly\n", "/this/a/b/exactly", false, "or any characters"),
    ("2.2.3", "user-agent: foobot\ndisallow: /a%23b\n", "/a%23b", false, "an encoded # is a character"),
    ("2.2.3", "user-agent: foobot\ndisallow: /a%24\n", "/a$b", false, "so is an encoded $"),
    ("2.2.3", "user-agent: foobot\ndisallow: /a%2A\n", "/a*", false, "so is an encoded *"),
    ("2.2.3", "user-agent: foobot\ndisallow: /a%2A\n", "/ab", true, "and nothing else"),
];

const OTHERS: &[Row] = &[
    (
        "2.2.4",
        "user-agent: foobot\nsitemap: /s\ndisallow: /\n",
        "/",
        false,
        "other records MUST NOT interfere: in a group",
    ),
    ("2.2.4", "user-agent: foobot\nsitemap: /s\nuser-agent: other\ndisallow: /\n", "/", false, "between its names"),
    ("2.2.4", "user-agent: foobot\ndisallow: /a\nhost: a.example\ndisallow: /b\n", "/b", false, "between its rules"),
    (
        "2.3.1.5",
        "user-agent: foobot\n\0\u{1b}\u{feff}:::\ndisallow: /a\n",
        "/a",
        false,
        "MUST try each line, and use what can be parsed",
    ),
    ("2.3.1.5", "<html>\nuser-agent: foobot\ndisallow: /a\n</html>\n", "/a", false, "whatever is around it"),
];

#[test]
fn files_are_interpreted_by_the_statements() {
    for (section, body, path, expected, statement) in [SYNTAX, USER_AGENT, RULES, SPECIAL, OTHERS].concat() {
        assert_eq!(allowed(body, "FooBot", path), expected, "{section}, {statement}: {body:?} on {path}");
    }
}

#[test]
fn section_2_3_1_access_results() {
    let body = b"user-agent: *\ndisallow: /a\n".as_slice();
    let answered = |status| RobotsFetch::Answered { status, body };
    for (section, fetch, a_allowed, b_allowed, statement) in [
        ("2.3.1.1", answered(200), false, true, "downloaded: MUST follow its rules"),
        ("2.3.1.1", answered(206), false, true, "any 2xx is a download"),
        ("2.3.1.2", RobotsFetch::TooManyRedirects, true, true, "more than five redirects: MAY be taken as unavailable"),
        ("2.3.1.3", answered(400), true, true, "unavailable: MAY access any resource"),
        ("2.3.1.3", answered(401), true, true, "even if it asks for a password"),
        ("2.3.1.3", answered(403), true, true, "or forbids the file"),
        ("2.3.1.3", answered(404), true, true, "or has none"),
        ("2.3.1.3", answered(499), true, true, "up to the last of them"),
        ("2.3.1.3", answered(430), false, false, "as Shopify says it"),
        ("2.3.1.3", answered(429), false, false, "MAY: but one that asks for a later try is not used against it"),
        ("2.3.1.4", answered(500), false, false, "unreachable: MUST assume that all is disallowed"),
        ("2.3.1.4", answered(503), false, false, "even if it is temporary"),
        ("2.3.1.4", answered(599), false, false, "up to the last of them"),
        ("2.3.1.4", RobotsFetch::Failed { detail: "time-out" }, false, false, "errors of the network, too"),
    ] {
        let policy = RobotsRecord::from_fetch(&fetch).policy("FooBot");
        let found = (policy.verdict("/a").is_allowed(), policy.verdict("/b").is_allowed());
        assert_eq!(found, (a_allowed, b_allowed), "{section}, {statement}");
        assert!(policy.verdict("/robots.txt").is_allowed(), "{section}, {statement}: it can be asked for again");
    }
    assert_eq!(REDIRECTS_MAX, 5, "2.3.1.2: SHOULD follow at least five");
    assert_eq!(COPY_AGE_MAX.as_secs(), 24 * 60 * 60, "2.4: SHOULD NOT use a copy for more than a day");
}

#[test]
fn a_name_with_digits_selects_only_that_crawler() {
    const BODY: &str =
        "user-agent: bot2\ndisallow: /two\n\nuser-agent: bot\ndisallow: /one\n\nuser-agent: *\ndisallow: /all\n";
    for (token, path, expected, why) in [
        ("bot2", "/two", false, "its own group"),
        ("Bot2", "/two", false, "in any case"),
        ("bot2", "/one", true, "the group of another"),
        ("bot2", "/all", true, "and not everyone's"),
        ("bot", "/one", false, "its own group"),
        ("bot", "/two", true, "the group of another, which a name cut off at the digit would be its own"),
        ("bot3", "/all", false, "everyone's"),
        ("bot3", "/one", true, "not that of a shorter name"),
    ] {
        assert_eq!(allowed(BODY, token, path), expected, "{token} {path}: {why}");
    }
    assert!(
        !allowed("user-agent: 2bot/7 (x)\ndisallow: /\n", "2bot", "/"),
        "a name that begins with a digit, with a version"
    );
}
