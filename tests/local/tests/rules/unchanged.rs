//! Known bodies: how they are read the next time, and what stays the same.

use dragline_domain::outcome::Outcome;
use dragline_whole_crawls::{Crawled, definition};

use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// The answers to one URL, iteration by iteration: fields and, if any, a body. The last one repeats.
type Answers = &'static [(u16, &'static [&'static str])];

/// A URL's outcome in each iteration, and the text that is shown.
type Ends = &'static [(Outcome, &'static str)];

const HTML: &str = "content-type: text/html";
const BINARY: &str = "content-type: application/octet-stream";
const TAG: &str = "etag: \"1\"";
const NOINDEX: &str = "x-robots-tag: noindex";

const BODY: &str = "<p>text</p>";
const NOINDEX_BODY: &str = "<meta name=robots content=noindex><p>text</p>";
const LATIN: &[u8] = b"<p>caf\xe9</p>";

fn body_of(target: &str) -> &'static [u8] {
    match target {
        "/meta" | "/meta-304" => NOINDEX_BODY.as_bytes(),
        "/charset" => LATIN,
        _ => BODY.as_bytes(),
    }
}

use Outcome::{
    BlockedAtRequestOfRemote as Hidden, FileDidNotChange as Same, FileIngested as Page, FileOfUnknownType as Unknown,
};

const CASES: &[(&str, Answers, Ends, &str)] = &[
    ("/same", &[(200, &[HTML])], &[(Page, "text"), (Same, ""), (Same, "")], "nothing changes"),
    (
        "/typed",
        &[(200, &[BINARY]), (200, &[HTML])],
        &[(Unknown, ""), (Page, "text"), (Same, "")],
        "the type is corrected, and the body is a page",
    ),
    (
        "/untyped",
        &[(200, &[HTML]), (200, &[BINARY])],
        &[(Page, "text"), (Unknown, ""), (Same, "")],
        "the type becomes wrong, and the body is not a page",
    ),
    (
        "/binary",
        &[(200, &[BINARY]), (200, &["content-type: image/png"])],
        &[(Unknown, ""), (Same, "")],
        "none before or after",
    ),
    ("/no-type", &[(200, &[BINARY]), (200, &[])], &[(Unknown, ""), (Page, "text"), (Same, "")], "it looks like a page"),
    (
        "/charset",
        &[(200, &["content-type: text/html; charset=utf-8"]), (200, &["content-type: text/html; charset=latin1"])],
        &[(Page, "caf\u{fffd}"), (Page, "caf\u{e9}"), (Same, "")],
        "the character set is corrected",
    ),
    ("/meta", &[(200, &[HTML])], &[(Hidden, ""), (Hidden, ""), (Hidden, "")], "noindex stays, with the same body"),
    (
        "/meta-304",
        &[(200, &[HTML, TAG]), (304, &[TAG])],
        &[(Hidden, ""), (Hidden, ""), (Hidden, "")],
        "noindex stays, with a 304",
    ),
    (
        "/field",
        &[(200, &[HTML, NOINDEX])],
        &[(Hidden, ""), (Hidden, ""), (Hidden, "")],
        "noindex in the header stays, with the same body",
    ),
    (
        "/field-304",
        &[(200, &[HTML, NOINDEX, TAG]), (304, &[TAG])],
        &[(Hidden, ""), (Hidden, ""), (Hidden, "")],
        "a 304 need not repeat it",
    ),
    (
        "/hides",
        &[(200, &[HTML]), (200, &[HTML, NOINDEX]), (200, &[HTML])],
        &[(Page, "text"), (Hidden, ""), (Page, "text"), (Same, "")],
        "noindex comes and goes over the same body",
    ),
    (
        "/hides-304",
        &[(200, &[HTML, TAG]), (304, &[TAG, NOINDEX]), (200, &[HTML, TAG])],
        &[(Page, "text"), (Hidden, ""), (Page, "text"), (Same, "")],
        "noindex comes with a 304, and goes",
    ),
];

fn answers(asked: &Asked) -> Act {
    let Some((path, answers, ..)) = CASES.iter().find(|case| case.0 == asked.target) else {
        return match asked.target.as_str() {
            "/" => page(&CASES.iter().map(|case| format!("<a href={0}>{0}</a>", case.0)).collect::<String>()),
            _ => answer(404, &[], ""),
        };
    };
    let (status, fields) = answers[asked.earlier.min(answers.len() - 1)];
    assert!(status != 304 || asked.field("if-none-match").is_some(), "{path}: a 304 without a conditional request");
    answer(status, fields, if status == 304 { b"" } else { body_of(path) })
}

#[tokio::test]
async fn a_body_that_is_known_is_read_anew_only_where_it_says_something_else() {
    let site = ScriptedSite::start(answers).await;
    let definition = definition(&[site.url("/")], |_| {});
    let mut crawled = Crawled::once(&definition).await;
    for iteration in 0..4 {
        if iteration > 0 {
            crawled = crawled.again(&definition).await;
        }
        for (path, _, ends, why) in CASES {
            let (outcome, text) = ends[iteration.min(ends.len() - 1)];
            let number = iteration + 1;
            assert_eq!(crawled.row(path).outcome_name, outcome.name(), "iteration {number}, {path}: {why}");
            assert_eq!(crawled.text(path), text, "iteration {number}, {path}: {why}");
            let candidate = crawled.candidates.iter().find(|candidate| candidate.url == *path).unwrap();
            assert_eq!(candidate.last_outcome, Some(outcome.code()), "iteration {number}, {path}: {why}");
        }
        assert_eq!(crawled.row("/same").outcome == Outcome::FileDidNotChange.code(), iteration > 0);
    }
}
