//! robots.txt.

use dragline_domain::politeness::DELAY_MAX;
use dragline_formats::robots::{BODY_BYTES_MAX, Robots, RobotsFetch, RobotsPolicy, RobotsRecord};
use dragline_formats::use_preferences::{read_rsl_file, read_tdm_file, rsl_statement, tdm_statement};

use crate::shown::assert_one_line;

/// The most characters shown of a verdict: a pattern, and the words around it.
const VERDICT_CHARS_MAX: usize = 300;

/// The most characters of a statement about use: its limit, and the mark of a cut.
const STATEMENT_CHARS_MAX: usize = 201;

/// Input: a path and query on the first line, and a robots.txt below it.
///
/// Storing and reading back the file does not change its meaning, nor does a comment; robots.txt
/// itself may always be fetched; and what is kept is within its limits.
///
/// # Panics
/// If one of these does not hold.
pub fn robots(data: &[u8]) {
    let line_end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (first, rest) = data.split_at(line_end);
    let path_and_query = String::from_utf8_lossy(first);
    let body = rest.get(1..).unwrap_or_default();

    let record = RobotsRecord::from_fetch(&RobotsFetch::Answered { status: 200, body });
    let stored = serde_json::to_string(&record).expect("texts and numbers");
    assert_eq!(serde_json::from_str::<RobotsRecord>(&stored).ok().as_ref(), Some(&record), "stored and read back");

    // The same bytes as other files that say how pages may be used.
    let of_tdm = tdm_statement(&read_tdm_file(body), &path_and_query);
    let origin = "https://a.example".parse().expect("an origin");
    let of_rsl = rsl_statement(&read_rsl_file(body, &origin), &path_and_query);
    for statement in of_tdm.into_iter().chain(of_rsl) {
        assert_one_line(&statement.text, STATEMENT_CHARS_MAX);
    }

    let commented = [b"# a comment\n", without_mark(body), b"\n# another\n"].concat();
    for token in ["dragline", "Googlebot"] {
        let robots = Robots::parse(body, token);
        let verdict = robots.verdict(&path_and_query);
        assert_one_line(&verdict.to_string(), VERDICT_CHARS_MAX);
        assert!(robots.verdict("/robots.txt").is_allowed());
        assert!(robots.crawl_delay().is_none_or(|delay| delay <= DELAY_MAX));
        for statement in robots.uses(&path_and_query) {
            assert_one_line(&statement.text, STATEMENT_CHARS_MAX);
        }
        if body.len() < BODY_BYTES_MAX / 2 && !has_utf_16_mark(body) {
            let with_comments = Robots::parse(&commented, token);
            let verdict_with_comments = with_comments.verdict(&path_and_query);
            assert_eq!(verdict.is_allowed(), verdict_with_comments.is_allowed(), "comments decide");
            assert_eq!(robots.crawl_delay(), with_comments.crawl_delay());
        }
        assert_eq!(record.policy(token), RobotsPolicy::Rules(robots), "the record means something else");
    }
}

/// What is in UTF-16 has no comment in UTF-8.
fn has_utf_16_mark(body: &[u8]) -> bool {
    body.starts_with(b"\xFF\xFE") || body.starts_with(b"\xFE\xFF")
}

/// A comment before a byte order mark would change the mark's meaning.
fn without_mark(body: &[u8]) -> &[u8] {
    let marks: [&[u8]; 3] = [b"\xEF\xBB\xBF", b"\xEF\xBB", b"\xEF"];
    marks.iter().find_map(|mark| body.strip_prefix(*mark)).unwrap_or(body)
}
