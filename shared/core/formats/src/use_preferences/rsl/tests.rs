use dragline_domain::use_preferences::combined;
use proptest::prelude::*;

use super::UseStand::{Allowed, Reserved};
use super::*;

/// What is said of search, input and training.
type Said = [Option<UseStand>; 3];

const Y: Option<UseStand> = Some(Allowed);
const N: Option<UseStand> = Some(Reserved);

fn origin() -> Origin {
    "https://a.example".parse().unwrap()
}

fn file(contents: &str) -> String {
    format!(r#"<?xml version="1.0"?><rsl xmlns="https://rslstandard.org/rsl">{contents}</rsl>"#)
}

fn said(body: &str, path: &str) -> Option<Said> {
    let statement = rsl_statement(&read_rsl_file(body.as_bytes(), &origin()), path)?;
    assert_eq!(statement.says.archive, None, "no word speaks of archives");
    Some([statement.says.search, statement.says.ai_input, statement.says.ai_train])
}

#[test]
fn a_licence_says_what_may_be_used() {
    let table: [(&str, Said, &str); 31] = [
        (r#"<permits type="usage">all</permits>"#, [Y, Y, Y], "everything, for nothing"),
        ("", [Y, Y, Y], "without a list all is permitted"),
        (r#"<permits type="usage">search</permits>"#, [Y, N, N], "a list is complete"),
        (r#"<permits type="usage">search ai-input</permits>"#, [Y, Y, N], "two words"),
        ("<permits type=\"usage\">\n search,\tAI-Input </permits>", [Y, Y, N], "as some write it"),
        (r#"<permits type="usage">ai-all</permits>"#, [N, Y, Y], "all of models"),
        (r#"<permits type="usage">ai-index</permits>"#, [N, N, N], "an index of a model is not enough"),
        (r#"<permits type="usage"/>"#, [N, N, N], "an empty list permits nothing"),
        (r#"<permits type="usage">reading</permits>"#, [N, N, N], "nor does a word that nobody knows"),
        (r#"<prohibits type="usage">ai-train</prohibits>"#, [Y, Y, N], "the rest is permitted"),
        (r#"<prohibits type="usage">ai-all</prohibits>"#, [Y, N, N], "all of models"),
        (r#"<prohibits type="usage">all</prohibits>"#, [N, N, N], "everything"),
        (r#"<prohibits type="usage">ai-index</prohibits>"#, [Y, N, Y], "no input without an index"),
        (r#"<prohibits type="usage">train-ai</prohibits>"#, [Y, Y, N], "the word of another vocabulary"),
        (r#"<prohibits type="usage">ai-voices</prohibits>"#, [N, N, N], "who knows what that prohibits"),
        (r#"<prohibits type="usage"/>"#, [Y, Y, Y], "an empty list prohibits nothing"),
        ("<prohibits>ai-train</prohibits>", [Y, Y, N], "without a type"),
        (
            r#"<permits type="usage">all</permits><prohibits type="usage">ai-train</prohibits>"#,
            [Y, Y, N],
            "what is prohibited goes before",
        ),
        (r#"<payment type="free"/>"#, [Y, Y, Y], "free"),
        (r#"<payment type="crawl"><amount currency="USD">1</amount></payment>"#, [N, N, N], "a price"),
        (r#"<payment type="attribution"/>"#, [N, N, N], "credit is a condition, too"),
        ("<payment/>", [N, N, N], "a price that nobody tells"),
        (r#"<permits type="usage">search</permits><payment type="use"/>"#, [N, N, N], "a price of what is permitted"),
        (r#"<permits type="user">non-commercial</permits>"#, [N, N, N], "only some users"),
        (r#"<permits type="user">commercial non-commercial</permits>"#, [Y, Y, Y], "all of them"),
        (r#"<prohibits type="geo">DE</prohibits>"#, [N, N, N], "not everywhere"),
        (r#"<reporting type="telemetry" profile="https://a.example/"/>"#, [N, N, N], "a report is wanted"),
        (r#"<legal type="warranty">ownership</legal>"#, [Y, Y, Y], "what is no condition"),
        (r#"<x:prohibits xmlns:x="urn:x" type="usage">all</x:prohibits>"#, [Y, Y, Y], "an element of somebody else"),
        (r#"<legal><prohibits type="usage">all</prohibits></legal>"#, [Y, Y, Y], "not a term of the licence"),
        (
            r#"<permits type="usage">sea&#114;ch<!-- a --><![CDATA[ ai-train]]></permits>"#,
            [Y, N, Y],
            "all ways to write text",
        ),
    ];
    for (licence, expected, why) in table {
        let body = file(&format!(r#"<content url="/"><license>{licence}</license></content>"#));
        assert_eq!(said(&body, "/page"), Some(expected), "{licence}: {why}");
    }
}

#[test]
fn the_terms_of_a_content_are_those_of_all_its_licences() {
    let search = r#"<license><permits type="usage">search</permits></license>"#;
    let training = r#"<license><permits type="usage">ai-train</permits><payment type="training"/></license>"#;
    let no_input = r#"<license><prohibits type="usage">ai-input</prohibits></license>"#;
    for (content, expected, why) in [
        (format!(r#"<content url="/">{search}{training}</content>"#), [Y, N, N], "search is free, training is not"),
        (format!(r#"<content url="/">{search}{no_input}</content>"#), [Y, N, Y], "either grants something"),
        (r#"<content url="/"/>"#.to_owned(), [None, N, N], "without one, as the line of robots.txt"),
        (format!(r#"<content url="/" server="https://b.example/">{search}</content>"#), [N, N, N], "a token first"),
        (format!(r#"<content url="/" server="">{search}</content>"#), [Y, N, N], "no server"),
        (
            format!(r#"<content url="/">{search}</content><content url="/">{no_input}</content>"#),
            [Y, N, N],
            "twice: the more restrictive",
        ),
        (format!(r#"<rsl:content xmlns:rsl="r" url="/">{search}</rsl:content>"#), [Y, N, N], "with a prefix"),
    ] {
        assert_eq!(said(&file(&content), "/page"), Some(expected), "{content}: {why}");
    }
    let prefixed = r#"<r:rsl xmlns:r="https://rslstandard.org/rsl"><r:content url="/"><r:license><r:prohibits>all</r:prohibits></r:license></r:content></r:rsl>"#;
    assert_eq!(said(prefixed, "/"), Some([N, N, N]), "a prefix throughout");
}

#[test]
fn the_longest_url_of_a_content_decides() {
    let content = |url: &str, word: &str| {
        format!(r#"<content url="{url}"><license><prohibits type="usage">{word}</prohibits></license></content>"#)
    };
    let body = file(
        &[
            content("/", "ai-train"),
            content("https://a.example/news/*", "ai-input"),
            content("https://b.example/news/today", "all"),
            content("//a.example:443/open", "reading"),
            content("https://*.example/wild", "search"),
            content("pictures/?a=1&amp;b", "all"),
            content("/exact$", "all"),
        ]
        .concat(),
    );
    for (path, expected, why) in [
        ("/page", [Y, Y, N], "all of it"),
        ("/news/1", [Y, N, Y], "a URL of this host"),
        ("/news/today", [Y, N, Y], "not one of another"),
        ("/open", [N, N, N], "without a scheme"),
        ("/wild", [N, Y, Y], "of all hosts"),
        ("/pictures/?a=1&b", [N, N, N], "without a slash, escaped"),
        ("/exact", [N, N, N], "an end"),
        ("/exactly", [Y, Y, N], "not at it"),
    ] {
        assert_eq!(said(&body, path), Some(expected), "{path}: {why}");
    }
    assert_eq!(said(&file(&content("/news/", "all")), "/page"), None, "nothing is said of the rest");
    let everything = said(&file(&content("", "all")), "/page");
    assert_eq!(everything, Some([N, N, N]), "without a URL it is about everything");
}

#[test]
fn what_cannot_be_read_reserves() {
    let licence = r#"<content url="/"><license/></content>"#;
    let many = file(&licence.repeat(CONTENTS_MAX + 1));
    let long = file(&format!(r#"<content url="/{}"><license/></content>"#, "a".repeat(LOCATIONS_BYTES_MAX)));
    let huge = file(&" ".repeat(RSL_FILE_BYTES_MAX));
    let page = format!("<!doctype html><html>{}", " ".repeat(RSL_FILE_BYTES_MAX));
    let deep = file(&"<a>".repeat(60_000));
    let declared = format!(
        r#"<!DOCTYPE rsl [<!ENTITY a "all">]><rsl>{}</rsl>"#,
        r#"<content url="/"><license><permits>&a;</permits></license></content>"#
    );
    for (body, expected, why) in [
        ("", "missing", "nothing"),
        ("Not found", "missing", "a text"),
        (page.as_str(), "missing", "a page in the place of a missing file"),
        ("<rss><channel/></rss>", "missing", "a feed"),
        ("<<", "missing", "no XML at all"),
        ("<rsl/>", "read", "an empty file says nothing"),
        ("\u{feff} <rsl></rsl>", "read", "with a mark"),
        ("<rsl><content", "unreadable", "it broke off in a tag"),
        (r#"<rsl><content url="/">"#, "unreadable", "it broke off"),
        ("<rsl></content></rsl>", "unreadable", "ends that do not match"),
        (r#"<rsl><content url="&b;"/></rsl>"#, "unreadable", "an entity in a URL"),
        (r#"<rsl><content url="https://a b/"/></rsl>"#, "unreadable", "a host that is none"),
        (declared.as_str(), "unreadable", "an entity in a list"),
        (many.as_str(), "unreadable", "too many contents"),
        (long.as_str(), "unreadable", "too long"),
        (huge.as_str(), "unreadable", "too large"),
        (deep.as_str(), "unreadable", "too deep"),
    ] {
        let answer = read_rsl_file(body.as_bytes(), &origin());
        let found = match answer {
            RslAnswer::Missing => "missing",
            RslAnswer::Rules(_) => "read",
            RslAnswer::Unreadable(_) => "unreadable",
        };
        assert_eq!(found, expected, "{why}");
        let said = said(body, "/anything");
        assert_eq!(said, (expected == "unreadable").then_some([N, N, N]), "{why}");
    }
}

#[test]
fn a_file_takes_the_place_of_the_line_that_names_it() {
    let robots = crate::robots::Robots::parse(b"License: /l.xml\nLicense: https://b.example/", "Dragline");
    let free = file(r#"<content url="/open/"><license><permits>all</permits></license></content>"#);
    let mining = UseStands::of_mining(Reserved);
    for (body, path, count, says, why) in [
        (
            free.as_str(),
            "/open/a",
            2,
            combined(&[]).and(mining).with(Purpose::Search, Allowed),
            "the other line stands",
        ),
        (free.as_str(), "/b", 1, mining, "of which the file says nothing"),
        ("", "/b", 2, mining, "without a file, both lines stand"),
        ("<rsl>", "/b", 3, mining.with(Purpose::Search, Reserved), "nor does one that cannot be read permit"),
    ] {
        let mut statements = robots.uses(path);
        apply_licence(&mut statements, &robots.licences()[0], &read_rsl_file(body.as_bytes(), &origin()), path);
        assert_eq!((statements.len(), combined(&statements)), (count, says), "{body:?} {path}: {why}");
    }
}

proptest! {
    #[test]
    fn any_file_is_read(body in "[<>/a-z&;\"= ]{0,120}", path in "/[a-z*$%]{0,12}") {
        let whole = format!("<rsl><content url=\"/\"><license>{body}");
        let _ = rsl_statement(&read_rsl_file(whole.as_bytes(), &origin()), &path);
        let _ = rsl_statement(&read_rsl_file(body.as_bytes(), &origin()), &path);
    }

    #[test]
    fn more_licences_lift_no_prohibition(before in "(<license><permits>(all|search)</permits></license>){0,3}") {
        let licence = "<license><prohibits>ai-train</prohibits></license>";
        let body = file(&format!(r#"<content url="/">{before}{licence}{before}</content>"#));
        prop_assert_eq!(said(&body, "/").unwrap()[2], N);
    }
}
