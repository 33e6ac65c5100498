//! The examples of RFC 9309, and its statements about them.

use super::super::{Robots, RobotsFetch, RobotsRecord, Verdict};
use super::allowed;

/// Section 5.1, with its groups.
const SIMPLE: &str = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n\
    User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n\
    User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\nUser-Agent: quxbot\n\nEOF\n";

#[test]
fn section_5_1_groups() {
    for (token, path, expected, why) in [
        ("anybot", "/a.gif", false, "everyone: pictures"),
        ("anybot", "/a.gif?x", true, "everyone: the query belongs to the path, so this does not end in .gif"),
        ("anybot", "/example/x", false, "everyone: a directory"),
        ("anybot", "/publications/x", true, "everyone: allowed"),
        ("anybot", "/publications/a.gif", true, "everyone: the longer pattern wins"),
        ("foobot", "/example/page.html", true, "its exception"),
        ("foobot", "/example/allowed.gif", true, "its other exception, unaffected by everyone's group"),
        ("foobot", "/publications/x", false, "nothing else"),
        ("barbot", "/example/page.html", false, "first name of a shared group"),
        ("bazbot", "/example/page.html", false, "second name of it"),
        ("bazbot", "/a.gif", true, "everyone's group is not added to it"),
        ("quxbot", "/example/x", true, "a group without rules allows all"),
    ] {
        assert_eq!(allowed(SIMPLE, token, path), expected, "{token} {path}: {why}");
    }
}

#[test]
fn section_5_2_the_longest_match_wins() {
    let body = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
    assert!(!allowed(body, "foobot", "/example/page/disallowed.gif"));
    assert!(allowed(body, "foobot", "/example/page/other.gif"));
}

#[test]
fn section_2_2_1_groups_of_one_crawler_are_merged() {
    let body = "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: ExampleBot\ndisallow: /baz\n";
    for path in ["/foo", "/bar", "/baz"] {
        assert!(!allowed(body, "examplebot", path), "{path}");
    }
    let everyone = "User-agent: *\nDisallow: /a\n\nUser-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /b\n";
    assert!(!allowed(everyone, "us", "/a") && !allowed(everyone, "us", "/b") && allowed(everyone, "us", "/c"));
}

#[test]
fn section_2_2_2_octets_are_compared_in_one_spelling() {
    // The rows of its table: path in the file, URL as requested.
    for (pattern, url) in [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar"),
        ("/foo/bar?baz=https%3a%2f%2ffoo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/ツ", "/foo/bar/ツ"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/foo/bar/baz", "/foo/bar/%62%61%7a"),
        // Wildcards that reach a query.
        ("/*/print/", "/a?b=/print/"),
        ("/*%2F", "/a?b=%2Fc"),
        ("/a b", "/a%20b"),
    ] {
        let body = format!("User-agent: *\nDisallow: {pattern}\n");
        assert!(!allowed(&body, "us", url), "{pattern} forbids {url}");
    }
    for (pattern, url, why) in [
        ("/a/b", "/a%2Fb", "an encoded slash in a path is another resource"),
        ("/a%2Fb", "/a/b", "the other way round, too"),
        ("/a?b", "/a%3Fb", "an encoded question mark does not start a query"),
        ("/%61%2562", "/ab", "escapes are undone once"),
    ] {
        let body = format!("User-agent: *\nDisallow: {pattern}\n");
        assert!(allowed(&body, "us", url), "{pattern} on {url}: {why}");
    }
}

#[test]
fn section_2_2_2_allow_wins_ties_and_the_file_itself_is_allowed() {
    assert!(allowed("User-agent: *\nDisallow: /a\nAllow: /a\n", "us", "/ab"));
    assert!(allowed("User-agent: *\nDisallow: /\n", "us", "/robots.txt"));
    assert!(!allowed("User-agent: *\nDisallow: /\n", "us", "/robots.txt.bak"));
}

#[test]
fn section_2_2_3_special_characters() {
    for (pattern, url, expected) in [
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", false),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-b.html", true),
        ("/path/foo-%24", "/path/foo-$", false),
        ("/path/foo-%24", "/path/foo-", true),
        ("/this/*/exactly", "/this/path/exactly", false),
        ("/this/path/exactly$", "/this/path/exactly/not", true),
        ("/a # comment", "/a", false),
        ("/a#b", "/ac", false),
    ] {
        let body = format!("User-agent: *\nDisallow: {pattern}\n");
        assert_eq!(allowed(&body, "us", url), expected, "{pattern} on {url}");
    }
}

#[test]
fn section_2_2_4_other_lines_do_not_break_groups() {
    let body = "User-agent: us\nSitemap: https://a.example/s.xml\nCrawl-delay: 1\nUser-agent: them\nDisallow: /\n";
    assert!(!allowed(body, "us", "/") && !allowed(body, "them", "/"));
}

#[test]
fn section_2_5_half_a_mebibyte_is_read() {
    let filler = "#".repeat(99) + "\n";
    let body = format!("User-agent: us\n{}Disallow: /late\n", filler.repeat(5200));
    assert!(body.len() > 500 * 1024, "the rule ends beyond what the RFC asks for");
    assert!(!allowed(&body, "us", "/late"), "it is read");
    let body = format!("User-agent: us\nDisallow: /early\n{}Disallow: /late\n", filler.repeat(5300));
    assert!(!allowed(&body, "us", "/early") && allowed(&body, "us", "/late"), "what is too late is not");
}

#[test]
fn verdicts_name_the_line_that_decided() {
    for (body, path, line, why) in [
        ("User-agent: us\nDisallow: /a\nDisallow: /a/b\n", "/a/b/c", 3, "the longest"),
        ("User-agent: us\r\nDisallow: /a\r\n\r\nAllow: /a\r\n", "/a", 4, "an Allow of the same length, CRLF"),
        ("\u{feff}User-agent: us\rDisallow: /a\r", "/a", 2, "CR, byte order mark"),
        ("User-agent: us\nDisallow: /a\nDisallow: /a\n", "/a", 2, "the first of the same"),
    ] {
        let robots = Robots::parse(body.as_bytes(), "us");
        assert!(matches!(robots.verdict(path), Verdict::Rule(rule) if rule.line == line), "{why}");
    }
}

#[test]
fn verdicts_say_why() {
    let body =
        format!("User-agent: us\nDisallow: /\u{1b}[31m\nDisallow: /{}\nAllow: /ö*.html$ # nice\n", "x".repeat(300));
    let record = RobotsRecord::from_fetch(&RobotsFetch::Answered { status: 200, body: body.as_bytes() });
    let policy = record.policy("us");
    let shown: Vec<String> =
        ["/a", "/%1B[31m", &format!("/{}", "x".repeat(300)), "/öffnungszeiten.html", "/robots.txt"]
            .iter()
            .map(|path| policy.verdict(path).to_string())
            .collect();
    insta::assert_snapshot!(shown.join("\n"));
}
