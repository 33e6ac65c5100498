//! From the lines of a robots.txt to the rules for one crawler.

use std::time::Duration;

use dragline_domain::definition::product_token;
use dragline_domain::politeness::DELAY_MAX;
use robotstxt::RobotsParseHandler;

use super::rules::RuleIndex;
use super::uses::{LICENCES_MAX, Licence, USES_MAX, UseForm, UseRule, UseRules};
use super::verdict::{Rule, RuleKind};
use super::{RULES_MAX, Robots, text};
use crate::use_preferences::{CONTENT_SIGNAL, CONTENT_USAGE};

pub(super) fn parse(body: &[u8], our_token: &str) -> Robots {
    let mut reader = Reader {
        our_token,
        rules_for: Audience::default(),
        delay_for: Audience::default(),
        uses_for: Audience::default(),
        our_group: None,
        everyones_group: Group::default(),
        licences: Vec::new(),
    };
    robotstxt::parse_robotstxt(&text::as_ascii_lines(&text::within_limit(body)), &mut reader);
    // A group for us applies alone, even if it is empty: groups for everyone apply only if there is
    // none.
    let group = reader.our_group.unwrap_or(reader.everyones_group);
    let uses = UseRules::new(group.uses, reader.licences);
    Robots { rules: RuleIndex::new(group.rules), crawl_delay: group.crawl_delay, uses }
}

/// Returns at most `count_max` sitemaps that a robots.txt names, as written.
pub(super) fn sitemaps(body: &[u8], count_max: usize) -> Vec<String> {
    let mut named = SitemapCollector { count_max, sitemaps: Vec::new() };
    robotstxt::parse_robotstxt(&text::as_ascii_lines(&text::within_limit(body)), &mut named);
    named.sitemaps
}

/// The sitemaps named so far.
struct SitemapCollector {
    count_max: usize,
    sitemaps: Vec<String>,
}

impl RobotsParseHandler for SitemapCollector {
    fn handle_robots_start(&mut self) {}

    fn handle_robots_end(&mut self) {}

    fn handle_user_agent(&mut self, _line: u32, _user_agent: &str) {}

    fn handle_allow(&mut self, _line: u32, _value: &str) {}

    fn handle_disallow(&mut self, _line: u32, _value: &str) {}

    fn handle_sitemap(&mut self, _line: u32, value: &str) {
        if !value.is_empty() && self.sitemaps.len() < self.count_max {
            self.sitemaps.push(value.to_owned());
        }
    }

    fn handle_unknown_action(&mut self, _line: u32, _action: &str, _value: &str) {}
}

/// The state after the lines read so far.
struct Reader<'t> {
    our_token: &'t str,
    /// The audience of a rule on the next line.
    rules_for: Audience,
    /// The audience of a `Crawl-delay` on the next line.
    ///
    /// Stored separately: by the RFC only rules end a group's `User-agent` lines, but sites write a
    /// delay as if it did, too.
    delay_for: Audience,
    /// The audience of a line about use on the next line. Such a line is a rule for it, and, so
    /// that no rule changes its audience by it, for nothing else.
    uses_for: Audience,
    /// All groups that name us, merged; `None` while there is none.
    our_group: Option<Group>,
    /// All groups for `*`, merged.
    everyones_group: Group,
    /// The licences that the file names: they belong to no group.
    licences: Vec<Licence>,
}

#[derive(Default)]
struct Group {
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    uses: Vec<UseRule>,
}

/// The addressee of a `User-agent` line. The greatest of several applies: a group for us and
/// everyone is one for us.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Addressee {
    #[default]
    Others,
    Everyone,
    Us,
}

/// The audience of the `User-agent` lines before a line.
#[derive(Default)]
struct Audience {
    addressee: Addressee,
    /// Whether a line for them followed, so that the next `User-agent` line starts another
    /// audience.
    addressed: bool,
}

impl Audience {
    fn join(&mut self, addressee: Addressee) {
        let present = if self.addressed { Addressee::Others } else { self.addressee };
        *self = Self { addressee: present.max(addressee), addressed: false };
    }

    const fn address(&mut self) -> Addressee {
        self.addressed = true;
        self.addressee
    }
}

impl Reader<'_> {
    /// Returns the addressee of a `User-agent` line with this value. Like Google's parser, it reads
    /// `* anything` as `*`.
    fn addressee(&self, user_agent: &str) -> Addressee {
        let named = product_token(user_agent);
        match user_agent.strip_prefix('*') {
            Some(rest) if rest.is_empty() || rest.starts_with([' ', '\t']) => Addressee::Everyone,
            _ if !named.is_empty() && named.eq_ignore_ascii_case(self.our_token) => Addressee::Us,
            _ => Addressee::Others,
        }
    }

    /// Returns the group for lines to this addressee; `None` if they are for others.
    const fn group(&mut self, addressee: Addressee) -> Option<&mut Group> {
        match addressee {
            Addressee::Us => self.our_group.as_mut(),
            Addressee::Everyone => Some(&mut self.everyones_group),
            Addressee::Others => None,
        }
    }

    fn rule(&mut self, line: u32, kind: RuleKind, pattern: &str) {
        self.delay_for.address();
        self.uses_for.address();
        let addressee = self.rules_for.address();
        // `Disallow:` alone forbids nothing.
        if pattern.is_empty() {
            return;
        }
        if let Some(group) = self.group(addressee).filter(|group| group.rules.len() < RULES_MAX) {
            group.rules.push(Rule { line, kind, pattern: pattern.to_owned() });
        }
    }

    fn crawl_delay(&mut self, value: &str) {
        let addressee = self.delay_for.address();
        if let (Some(group), Some(delay)) = (self.group(addressee), seconds(value)) {
            group.crawl_delay = group.crawl_delay.max(Some(delay));
        }
    }

    fn uses(&mut self, line: u32, form: UseForm, value: &str) {
        let addressee = self.uses_for.address();
        if let Some(group) = self.group(addressee).filter(|group| group.uses.len() < USES_MAX) {
            group.uses.push(UseRule::new(line, form, value));
        }
    }
}

/// Reads a `Crawl-delay` in seconds, possibly with a fraction, at most [`DELAY_MAX`]; `None` if it
/// is not a plain number.
fn seconds(value: &str) -> Option<Duration> {
    if !value.bytes().all(|octet| octet.is_ascii_digit() || octet == b'.') {
        return None;
    }
    let seconds: f64 = value.parse().ok()?;
    Duration::try_from_secs_f64(seconds.min(DELAY_MAX.as_secs_f64())).ok()
}

impl RobotsParseHandler for Reader<'_> {
    fn handle_robots_start(&mut self) {}

    fn handle_robots_end(&mut self) {}

    fn handle_user_agent(&mut self, _line: u32, user_agent: &str) {
        let addressee = self.addressee(user_agent);
        self.rules_for.join(addressee);
        self.delay_for.join(addressee);
        self.uses_for.join(addressee);
        if addressee == Addressee::Us {
            self.our_group.get_or_insert_default();
        }
    }

    fn handle_allow(&mut self, line: u32, value: &str) {
        self.rule(line, RuleKind::Allow, value);
    }

    fn handle_disallow(&mut self, line: u32, value: &str) {
        self.rule(line, RuleKind::Disallow, value);
    }

    // Sitemaps belong to no group, and do not end one.
    fn handle_sitemap(&mut self, _line: u32, _value: &str) {}

    fn handle_unknown_action(&mut self, line: u32, action: &str, value: &str) {
        let is = |name: &str| action.eq_ignore_ascii_case(name);
        if ["crawl-delay", "crawldelay", "crawl delay"].into_iter().any(is) {
            self.crawl_delay(value);
        } else if is(CONTENT_USAGE) {
            self.uses(line, UseForm::Usage, value);
        } else if is(CONTENT_SIGNAL) {
            self.uses(line, UseForm::Signal, value);
        } else if (is("license") || is("licence")) && !value.is_empty() && self.licences.len() < LICENCES_MAX {
            self.licences.push(Licence::new(line, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    #[test]
    fn a_delay_is_read_for_our_group() {
        for (body, expected, why) in [
            ("User-agent: *\nCrawl-delay: 10", Some(10.0), "for everyone, so for us"),
            ("User-agent: *\nCrawl-delay: 0.5", Some(0.5), "fractions are used"),
            ("User-agent: *\nCrawl-delay: .5 # half", Some(0.5), "without a zero, with a comment"),
            ("User-agent: *\nCRAWL-DELAY 7", Some(7.0), "case and a lost colon do not matter"),
            ("User-agent: *\nCrawl-delay: 0", Some(0.0), "zero is a number"),
            ("User-agent: *\nCrawl-delay: 86400", Some(180.0), "capped"),
            ("User-agent: *\nCrawl-delay: 999999999999999999999999999999", Some(180.0), "capped, however long"),
            ("User-agent: *\nCrawl-delay: ten", None, "not a number"),
            ("User-agent: *\nCrawl-delay: -1", None, "not a plain number"),
            ("User-agent: *\nCrawl-delay: 1e3", None, "nor is this one"),
            ("User-agent: *\nCrawl-delay: inf", None, "nor is this one"),
            ("User-agent: *\nCrawl-delay: 1.2.3", None, "nor is this one"),
            ("User-agent: *\nCrawl-delay: .", None, "nor is this one"),
            ("User-agent: *\nCrawl-delay:", None, "an empty value is not a number"),
            ("Crawl-delay: 5", None, "for nobody"),
            ("User-agent: other\nCrawl-delay: 5", None, "for others"),
            ("User-agent: *\nCrawl-delay: 5\nUser-agent: Dragline\nAllow: /", None, "our own group has none"),
            (
                "User-agent: Dragline\nCrawl-delay: 2\n\nUser-agent: other\nCrawl-delay: 9",
                Some(2.0),
                "a delay ends its audience",
            ),
            ("User-agent: other\nCrawl-delay: 9\n\nUser-agent: Dragline\nCrawl-delay: 2", Some(2.0), "before us, too"),
            (
                "User-agent: a\nUser-agent: Dragline\nDisallow: /x\nCrawl-delay: 3",
                Some(3.0),
                "after a rule of the group",
            ),
            (
                "User-agent: Dragline\nCrawl-delay: 3\nUser-agent: dragline\nCrawl-delay: 2",
                Some(3.0),
                "the larger of two",
            ),
        ] {
            let delay = parse(body.as_bytes(), "Dragline").crawl_delay();
            assert_eq!(delay, expected.map(Duration::from_secs_f64), "{body:?}: {why}");
        }
    }

    #[test]
    fn any_line_may_name_a_sitemap() {
        for (body, expected, why) in [
            ("Sitemap: https://a.example/s.xml", &["https://a.example/s.xml"][..], "the usual line"),
            ("User-agent: x\nDisallow: /\nSITEMAP :/1.xml\r\nsitemap:/2.xml", &["/1.xml", "/2.xml"], "in any group"),
            ("Sitemap: /s.xml # all of them", &["/s.xml"], "without the comment behind it"),
            ("Sitemap: /s.xml#all", &["/s.xml"], "which may follow at once"),
            ("Sitemap: /é.xml", &["/%C3%A9.xml"], "encoded, as in a URL"),
            ("sitemap:\n#sitemap: /no\nhttps://a.example/no\n<p>sitemap: /no", &[], "nothing, and no lines"),
        ] {
            assert_eq!(sitemaps(body.as_bytes(), 9), expected, "{body:?}: {why}");
        }
        assert_eq!(sitemaps(b"Sitemap: /1\nSitemap: /2\nSitemap: /3", 2), ["/1", "/2"], "as many as asked for");
    }

    #[test]
    fn counts_are_capped() {
        use std::fmt::Write as _;

        let mut body = String::from("User-agent: *\n");
        for i in 0..=RULES_MAX {
            writeln!(body, "Allow:/{i:x}").unwrap();
        }
        assert!(body.len() < crate::robots::BODY_BYTES_MAX, "the caps apply, not the cut");
        let robots = parse(body.as_bytes(), "Dragline");
        for (number, pattern, why) in
            [(RULES_MAX - 1, "/4e1f", "the last within the cap"), (RULES_MAX, "/4e2", "a shorter one instead")]
        {
            let path = format!("/{number:x}");
            let Verdict::Rule(rule) = robots.verdict(&path) else { panic!("{why}: no rule") };
            assert_eq!(rule.pattern, pattern, "{why}");
        }
    }
}
