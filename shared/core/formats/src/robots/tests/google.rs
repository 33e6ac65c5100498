//! The known behaviour of Google's parser for malformed files, and for cases that the RFC leaves
//! open.

use super::allowed;

/// For the crawler `FooBot`: a file, a path, whether it may be fetched, and why.
const CASES: &[(&str, &str, bool, &str)] = &[
    ("", "/", true, "an empty file"),
    ("user-agent: FooBot\ndisallow: /\n", "/x/y", false, "the plainest rule"),
    ("foo: FooBot\nbar: /\n", "/x/y", true, "keys that mean nothing"),
    ("user-agent FooBot\ndisallow /\n", "/x/y", false, "colons forgotten"),
    ("  user-agent FooBot\n\t disallow /  \n", "/x/y", false, "colons forgotten, lines indented"),
    ("user-agent: FooBot\ndisallow / /b\n", "/", true, "three words without a colon are not a rule"),
    ("user-agent: FooBot\n: /\n", "/", true, "a colon without a key is not a rule"),
    ("USER-AGENT: FooBot\nALLOW: /x/\nDISALLOW: /\n", "/x/y", true, "keys in capitals"),
    ("uSeR-aGeNt: FooBot\nAlLoW: /x/\ndIsAlLoW: /\n", "/a/b", false, "keys in both"),
    ("User-Agent: FOO\nDisallow: /\nUser-Agent: FOOBOT\nAllow: /\n", "/", true, "names ignore case"),
    ("useragent: FooBot\ndissallow: /\n", "/", false, "misspelt"),
    ("user agent: FooBot\ndissalow: /\n", "/", false, "misspelt"),
    ("user-agent: FooBot\ndisalow: /\n", "/", false, "misspelt"),
    ("user-agent: FooBot\ndiasllow: /\n", "/", false, "misspelt"),
    ("user-agent: FooBot\ndisallaw: /\n", "/", false, "misspelt"),
    ("user-agent: FooBot\ndisalllow: /\n", "/", true, "misspelt in an unusual way"),
    ("user-agent: FooBot/2.1\ndisallow: /\n", "/", false, "a name with a version"),
    ("user-agent: FooBot Images\ndisallow: /\n", "/", false, "a name up to its space"),
    ("user-agent: FooBotImages\ndisallow: /\n", "/", true, "a longer name is another"),
    ("user-agent: Foo\ndisallow: /\n", "/", true, "so is a shorter one"),
    ("user-agent:\ndisallow: /\n", "/", true, "no name at all"),
    ("user-agent: * baz\ndisallow: /\n", "/", false, "a star and more is everyone"),
    ("user-agent: *baz\ndisallow: /\n", "/", true, "a star and a name is nobody"),
    ("allow: /foo/bar/\n\nuser-agent: FooBot\ndisallow: /\n", "/foo/bar/", false, "a rule before all groups"),
    ("user-agent: FooBot\ndisallow: /\nallow: /x/\nuser-agent: BarBot\nallow: /y/\n", "/y/", false, "the next group"),
    (
        "user-agent: BazBot\n\nuser-agent: FooBot\nallow: /z/\ndisallow: /\n",
        "/z/",
        true,
        "an empty line does not end a group",
    ),
    ("user-agent: *\ndisallow: /\nuser-agent: FooBot\ndisallow:\n", "/", true, "an empty rule of our own"),
    ("user-agent: *\ndisallow: /\nuser-agent: FooBot\n", "/", true, "a group of our own without rules"),
    ("user-agent: FooBot\nuser-agent: *\ndisallow: /\n", "/", false, "a group for us and everyone"),
    ("user-agent: *\nallow: /\nuser-agent: BarBot\ndisallow: /\n", "/", true, "everyone's group"),
    ("user-agent: BarBot\ndisallow: /\n", "/", true, "no group for us"),
    ("user-agent: FooBot\ndisallow: /X/\n", "/x/y", true, "case counts in paths"),
    ("user-agent: FooBot\ndisallow: \nallow: \n", "/", true, "two empty rules"),
    ("user-agent: FooBot\ndisallow: /\nallow: /\n", "/", true, "a tie"),
    ("user-agent: FooBot\ndisallow: /x\nallow: /x/\n", "/x", false, "a slash makes a pattern longer"),
    ("user-agent: FooBot\ndisallow: /x\nallow: /x/\n", "/x/", true, "and match less"),
    ("user-agent: FooBot\nallow: /page\ndisallow: /*.html\n", "/page.html", false, "six octets against seven"),
    ("user-agent: FooBot\nallow: /x/page.\ndisallow: /*.html\n", "/x/page.html", true, "eight against seven"),
    ("user-agent: FooBot\ndisallow: /\nallow: /$\n", "/", true, "the root alone"),
    ("user-agent: FooBot\ndisallow: /\nallow: /$\n", "/page.html", false, "and nothing else"),
    (
        "user-agent: FooBot\ndisallow: /\nallow: /foo?a=b&c=http://d.e?f&g\n",
        "/foo?a=b&c=http://d.e?f&g",
        true,
        "a URL in a query",
    ),
    ("user-agent: FooBot\ndisallow: /foo/quz#qux\nallow: /\n", "/foo/quz", false, "a comment ends a pattern"),
    ("user-agent: FooBot\n# disallow: /\n", "/", true, "a rule in a comment"),
    ("user-agent: FooBot\ndisallow: https://foo.example/x\n", "/x", true, "a whole URL is not a path"),
    ("\u{feff}user-agent: FooBot\ndisallow: /\n", "/", false, "a byte order mark"),
    ("user-agent: FooBot\n\u{feff}disallow: /\n", "/", true, "a mark in the middle spoils its line"),
    ("user-agent: FooBot\rdisallow: /\r", "/", false, "lines that end in CR"),
    ("user-agent: FooBot\r\ndisallow: /", "/", false, "lines that end in CRLF, the last in nothing"),
    ("<!doctype html>\n<title>Not found</title>\n<p>user-agent: *</p>\n<p>disallow: /</p>", "/", true, "a web page"),
];

#[test]
fn files_are_interpreted_as_by_google() {
    for (body, path, expected, why) in CASES {
        assert_eq!(allowed(body, "FooBot", path), *expected, "{why}: {body:?} on {path}");
    }
}

#[test]
fn an_invalid_token_means_everyone() {
    let body = "user-agent:\nallow: /\nuser-agent: *\ndisallow: /\n";
    for token in ["", "Foo Bar", "FooBot/1.0", "ツ"] {
        assert!(!allowed(body, token, "/"), "{token:?}");
    }
}

#[test]
fn a_line_is_read_up_to_eight_times_the_longest_url() {
    let long = format!("/x/{}", "a".repeat(8 * 2083));
    let body = format!("user-agent: FooBot\ndisallow: {long}/qux\ndisallow: /y\n");
    assert!(allowed(&body, "FooBot", "/x/"), "the cut rule is still a long one");
    assert!(!allowed(&body, "FooBot", &format!("{long}/fux")), "which matches by what is left of it");
    assert!(!allowed(&body, "FooBot", "/y"), "and the next line is whole");
}
