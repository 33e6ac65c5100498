//! A robots.txt that broke off: the received lines that are obeyed.

use robotstxt::RobotsParseHandler;

use super::text;

/// Returns the part of an incomplete robots.txt that can be obeyed; `None` if it has no rule.
///
/// The received part must never allow more than the whole would, as far as that can be known:
/// - A last line without its end is only kept if it forbids something: cut, it forbids more.
/// - `User-agent` lines without a rule after them are left out, with everything that follows: such
///   a group would allow everything.
pub(super) fn obeyed(body: &[u8]) -> Option<String> {
    let body = text::as_ascii_lines(&text::within_limit(body));
    let (whole, last) = body.split_at(body.rfind(['\n', '\r']).map_or(0, |end| end + 1));
    let mut text = whole.to_owned();
    if let Some(pattern) = forbidden_by(last) {
        text.push_str("Disallow: ");
        text.push_str(&pattern);
    }
    let mut groups = Groups::default();
    robotstxt::parse_robotstxt(&text, &mut groups);
    if !groups.has_rule {
        return None;
    }
    let Some(line) = groups.without_rule else { return Some(text) };
    let lines = lines(&text);
    Some(lines.take(line.saturating_sub(1) as usize).collect())
}

/// Returns a text's lines with their ends, counted like in the parser.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end =
            rest.find(['\n', '\r']).map_or(rest.len(), |at| at + if rest[at..].starts_with("\r\n") { 2 } else { 1 });
        let (line, behind) = rest.split_at(end);
        rest = behind;
        (!line.is_empty()).then_some(line)
    })
}

/// Returns what a line forbids that may have been cut anywhere: an escape must be complete, and a
/// `$` may have been in the middle of the pattern. `None` if it forbids nothing.
fn forbidden_by(line: &str) -> Option<String> {
    let mut last = LastLine::default();
    robotstxt::parse_robotstxt(line, &mut last);
    let pattern = last.disallow?;
    let escape = pattern.len().saturating_sub(2);
    let whole =
        pattern.as_bytes()[escape..].iter().position(|octet| *octet == b'%').map_or(pattern.len(), |at| escape + at);
    let pattern = pattern[..whole].trim_end_matches('$');
    (!pattern.is_empty()).then(|| pattern.to_owned())
}

/// The groups of a text.
#[derive(Default)]
struct Groups {
    has_rule: bool,
    /// The line of the first `User-agent` without a rule so far.
    without_rule: Option<u32>,
}

impl RobotsParseHandler for Groups {
    fn handle_robots_start(&mut self) {}
    fn handle_robots_end(&mut self) {}

    fn handle_user_agent(&mut self, line: u32, _user_agent: &str) {
        self.without_rule.get_or_insert(line);
    }

    fn handle_allow(&mut self, _line: u32, _value: &str) {
        (self.has_rule, self.without_rule) = (true, None);
    }

    fn handle_disallow(&mut self, _line: u32, _value: &str) {
        (self.has_rule, self.without_rule) = (true, None);
    }

    fn handle_sitemap(&mut self, _line: u32, _value: &str) {}
    fn handle_unknown_action(&mut self, _line: u32, _action: &str, _value: &str) {}
}

/// The meaning of the last line.
#[derive(Default)]
struct LastLine {
    disallow: Option<String>,
}

impl RobotsParseHandler for LastLine {
    fn handle_robots_start(&mut self) {}
    fn handle_robots_end(&mut self) {}
    fn handle_user_agent(&mut self, _line: u32, _user_agent: &str) {}
    fn handle_allow(&mut self, _line: u32, _value: &str) {}

    fn handle_disallow(&mut self, _line: u32, value: &str) {
        self.disallow = Some(value.to_owned());
    }

    fn handle_sitemap(&mut self, _line: u32, _value: &str) {}
    fn handle_unknown_action(&mut self, _line: u32, _action: &str, _value: &str) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_received_part_never_allows_more() {
        let table: [(&str, Option<&str>, &str); 22] = [
            ("", None, "nothing came"),
            ("# a comment\nUser-ag", None, "no rule came"),
            ("<!doctype html><p>not found", None, "no rule came"),
            ("User-agent: *\n", None, "a group without rules would allow everything"),
            ("User-agent: *\nAllow: /a", None, "cut, it could allow more; without it, there is no rule"),
            ("User-agent: *\nDisallow:", None, "what it forbids did not come"),
            ("User-agent: *\nDisallow: /a\n", Some("User-agent: *\nDisallow: /a\n"), "whole lines"),
            ("User-agent: *\rDisallow: /a\r", Some("User-agent: *\rDisallow: /a\r"), "with other ends"),
            ("User-agent: *\nDisallow:\n", Some("User-agent: *\nDisallow:\n"), "it says that nothing is forbidden"),
            ("User-agent: *\nDisallow: /a", Some("User-agent: *\nDisallow: /a"), "cut, it forbids more"),
            ("User-agent: *\nDisallow: /a$", Some("User-agent: *\nDisallow: /a"), "more may follow the `$`"),
            ("User-agent: *\nDisallow: /a%", Some("User-agent: *\nDisallow: /a"), "half an escape"),
            ("User-agent: *\nDisallow: /a%C", Some("User-agent: *\nDisallow: /a"), "most of an escape"),
            ("User-agent: *\nDisallow: /a%C3", Some("User-agent: *\nDisallow: /a%C3"), "half a character"),
            ("User-agent: *\nDisallow: $", None, "nothing is left of it"),
            ("User-agent: *\nDisallow: /a\nAllow: /b", Some("User-agent: *\nDisallow: /a\n"), "cut, it allows more"),
            ("User-agent: *\nDisallow: /a\nAllow: /b\n", Some("User-agent: *\nDisallow: /a\nAllow: /b\n"), "not cut"),
            (
                "User-agent: *\nDisallow: /a\nSitemap: http://a/b\nCrawl-del",
                Some("User-agent: *\nDisallow: /a\nSitemap: http://a/b\n"),
                "no rule",
            ),
            (
                "User-agent: *\nDisallow: /a\n\nUser-agent: Drag",
                Some("User-agent: *\nDisallow: /a\n\n"),
                "a name that may be longer",
            ),
            (
                "User-agent: *\nDisallow: /a\n\nUser-agent: Dragline\n",
                Some("User-agent: *\nDisallow: /a\n\n"),
                "its rules did not come",
            ),
            (
                "User-agent: *\r\nDisallow: /a\r\nUser-agent: b\r\nUser-agent: Dragline\r\nCrawl-delay: 5\r\nAll",
                Some("User-agent: *\r\nDisallow: /a\r\n"),
                "nor did those of several",
            ),
            (
                "User-agent: *\nDisallow: /a\n\nUser-agent: Dragline\nDisallow: /b",
                Some("User-agent: *\nDisallow: /a\n\nUser-agent: Dragline\nDisallow: /b"),
                "a rule of it came",
            ),
        ];
        for (body, expected, why) in table {
            assert_eq!(obeyed(body.as_bytes()).as_deref(), expected, "{body:?}: {why}");
        }
    }
}
