//! What robots.txt says of the use of pages: `Content-Usage` and `Content-Signal` of a group, and
//! the licences that the file names.

use dragline_domain::url::{CrawlUrl, Origin, UrlRules};
use dragline_domain::use_preferences::{UseSource, UseStand, UseStands, UseStatement, add_statements};

use super::ROBOTS_PATH;
use super::octets::Target;
use super::pattern::Pattern;
use crate::use_preferences::{CONTENT_SIGNAL, CONTENT_USAGE, content_signal, content_usage};

/// The limit on the lines about use of one group; later ones are left out, like rules.
pub(super) const USES_MAX: usize = 1_000;

/// The limit on the licences of a file.
pub(super) const LICENCES_MAX: usize = 4;

/// The limit on the URL of a licence that is read, in bytes: it is kept with the origin's lease.
const LICENCE_URL_BYTES_MAX: usize = 512;

/// The form of a line about use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UseForm {
    /// `Content-Usage` (draft-ietf-aipref-attach-04 section 3).
    Usage,
    /// `Content-Signal`, as Cloudflare describes it.
    Signal,
}

/// A line about use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UseRule {
    form: UseForm,
    pattern: Pattern,
    /// The length of its path as written, by which the longest one is found.
    path_len: usize,
    statement: UseStatement,
}

impl UseRule {
    /// Reads a line's value: a path, which may be missing, and an expression. Without a path it is
    /// about everything, which is how signals are written, and earlier drafts wrote preferences.
    pub(super) fn new(line: u32, form: UseForm, value: &str) -> Self {
        let (path, expression) = match value.split_once([' ', '\t']) {
            Some((path, expression)) if path.starts_with(['/', '*']) => (path, expression),
            _ => ("/", value),
        };
        let (name, says) = match form {
            UseForm::Usage => (CONTENT_USAGE, content_usage(expression)),
            UseForm::Signal => (CONTENT_SIGNAL, content_signal(expression)),
        };
        let statement = UseStatement::new(UseSource::Robots, &format!("line {line}: {name}: {value}"), says);
        Self { form, pattern: Pattern::new(path), path_len: path.len(), statement }
    }
}

/// A line that names a licence (RSL 1.0 section 4.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Licence {
    line: u32,
    url: String,
}

impl Licence {
    pub(super) fn new(line: u32, url: &str) -> Self {
        Self { line, url: url.to_owned() }
    }

    /// Returns what the line alone says, as long as its file was not read.
    ///
    /// Such a licence says on which terms machines may use the pages, often for money, and nobody
    /// has read and accepted it. So what models do with pages is reserved; an index is not, as a
    /// licence for that would be a `Disallow`.
    #[must_use]
    pub fn statement(&self) -> UseStatement {
        let says = UseStands::of_mining(UseStand::Reserved);
        UseStatement::new(UseSource::Robots, &format!("line {}: License: {}", self.line, self.url), says)
    }

    /// Returns the URL of its file, for a robots.txt of this origin, if it is of the same site:
    /// terms on somebody else's server are not this site's own statement. The specification wants
    /// an absolute URL; some write a path.
    #[must_use]
    pub fn url_within_site(&self, origin: &Origin) -> Option<CrawlUrl> {
        let base = origin.url_at(ROBOTS_PATH).ok()?;
        let url = base.join(&self.url, &UrlRules::keep_all()).ok()?;
        (url.as_str().len() <= LICENCE_URL_BYTES_MAX && origin.is_same_site(&url.origin())).then_some(url)
    }
}

/// The lines about use for one crawler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UseRules {
    rules: Vec<UseRule>,
    pub(super) licences: Vec<Licence>,
}

impl UseRules {
    pub(super) const fn new(rules: Vec<UseRule>, licences: Vec<Licence>) -> Self {
        Self { rules, licences }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.licences.is_empty()
    }

    /// Returns the statements about a URL: of each form those with the longest matching path, then
    /// the licences.
    pub(super) fn statements(&self, target: &Target) -> Vec<UseStatement> {
        let mut statements = Vec::new();
        for form in [UseForm::Usage, UseForm::Signal] {
            let of_form = self.rules.iter().filter(|rule| rule.form == form);
            let matching: Vec<_> = of_form.filter(|rule| rule.pattern.matches(target)).collect();
            let longest = matching.iter().map(|rule| rule.path_len).max();
            let decisive = matching.into_iter().filter(|rule| Some(rule.path_len) == longest);
            add_statements(&mut statements, decisive.map(|rule| rule.statement.clone()));
        }
        add_statements(&mut statements, self.licences.iter().map(Licence::statement));
        statements
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use dragline_domain::use_preferences::{Purpose, combined};
    use proptest::prelude::*;

    use super::super::{BODY_BYTES_MAX, Robots};
    use super::*;

    fn said(body: &str, path: &str) -> UseStands {
        combined(&Robots::parse(body.as_bytes(), "Dragline").uses(path))
    }

    #[test]
    fn the_longest_path_of_our_group_decides() {
        const FILE: &str = "User-agent: *\nContent-Usage: / train-ai=n\nContent-Usage: /open/ train-ai=y\n\
            Content-Usage: /open/*.pdf$ train-ai=n\nAllow: /\n\nUser-agent: OtherBot\nContent-Usage: / train-ai=y";
        let training = |stand| UseStands::NOTHING.with(Purpose::AiTrain, stand);
        let (allowed, reserved) = (training(UseStand::Allowed), training(UseStand::Reserved));
        for (body, path, expected, why) in [
            (FILE, "/", reserved, "for all"),
            (FILE, "/open/a", allowed, "a longer path"),
            (FILE, "/open/a.pdf", reserved, "a still longer one"),
            ("Content-Usage: / train-ai=n", "/", UseStands::NOTHING, "for nobody"),
            ("User-agent: *\nContent-Usage: train-ai=n", "/a", reserved, "without a path, for all"),
            ("User-agent: *\nCONTENT-USAGE :/\ttrain-ai=n # none", "/a", reserved, "letter case, a tab, a comment"),
            (
                "User-agent: *\nContent-Usage: /a train-ai=y\nContent-Usage: /a train-ai=n",
                "/a",
                reserved,
                "of the same path the more restrictive",
            ),
            (
                "User-agent: *\nContent-Usage: / train-ai=n\nUser-agent: Dragline\nAllow: /",
                "/",
                UseStands::NOTHING,
                "our own group says nothing",
            ),
            (
                "User-agent: Dragline\nContent-Signal: ai-train=no\n\nUser-agent: other\nContent-Signal: ai-train=yes",
                "/",
                reserved,
                "a line about use ends its audience",
            ),
            (
                "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /",
                "/x",
                reserved.with(Purpose::Search, UseStand::Allowed),
                "signals",
            ),
            ("User-agent: *\nContent-Signal: /a ai-train=no", "/b", UseStands::NOTHING, "signals with a path"),
            (
                "User-agent: *\nContent-Usage: /a train-ai=y\nContent-Signal: ai-train=no",
                "/a",
                reserved,
                "both forms count, whatever their paths",
            ),
            ("User-agent: *\nContent-Usage: /%61 train-ai=n", "/a", reserved, "paths are compared as in rules"),
            (
                "License: https://a.example/l.xml\nUser-agent: other\nAllow: /",
                "/",
                UseStands::of_mining(UseStand::Reserved),
                "a licence is for all",
            ),
        ] {
            assert_eq!(said(body, path), expected, "{body:?} {path}: {why}");
        }
    }

    #[test]
    fn a_licence_is_read_where_it_is_the_sites_own() {
        let origin: Origin = "https://www.example.org".parse().unwrap();
        let long = format!("/{}.xml", "a".repeat(LICENCE_URL_BYTES_MAX));
        for (written, expected, why) in [
            ("https://www.example.org/l.xml", Some("https://www.example.org/l.xml"), "the same host"),
            ("http://www.example.org/l.xml", Some("http://www.example.org/l.xml"), "another scheme"),
            ("https://example.org/l.xml#a", Some("https://example.org/l.xml"), "another host of the domain"),
            ("/l.xml?a=1", Some("https://www.example.org/l.xml?a=1"), "a path"),
            ("https://rights.example/royalty.xml", None, "somebody else's"),
            ("ftp://www.example.org/l.xml", None, "not of the web"),
            ("mailto:licence@example.org", None, "not a file"),
            (long.as_str(), None, "too long"),
        ] {
            let url = Licence::new(1, written).url_within_site(&origin);
            assert_eq!(url.as_ref().map(CrawlUrl::as_str), expected, "{written}: {why}");
        }
    }

    #[test]
    fn lines_about_use_leave_rules_as_they_were() {
        let body = "User-agent: a\nContent-Signal: ai-train=no\nUser-agent: Dragline\nDisallow: /x";
        assert!(!Robots::parse(body.as_bytes(), "a").verdict("/x").is_allowed(), "the group goes on, by RFC 9309");
        assert!(!Robots::parse(body.as_bytes(), "Dragline").verdict("/x").is_allowed());
    }

    #[test]
    fn statements_name_their_line() {
        let body = b"User-agent: *\n\nContent-Signal: ai-train=no\nLicense: https://a.example/l.xml";
        let said = Robots::parse(body, "Dragline").uses("/");
        let said: Vec<String> = said.iter().map(ToString::to_string).collect();
        let expected =
            ["robots.txt: line 3: Content-Signal: ai-train=no", "robots.txt: line 4: License: https://a.example/l.xml"];
        assert_eq!(said, expected);
    }

    #[test]
    fn counts_are_capped() {
        let mut body = String::from("User-agent: *\n");
        for n in 0..2 * USES_MAX {
            writeln!(body, "Content-Usage: /{n:x}/ train-ai=n\nLicense: /{n}").unwrap();
        }
        assert!(body.len() < BODY_BYTES_MAX, "the caps apply, not the cut");
        let robots = Robots::parse(body.as_bytes(), "Dragline");
        assert_eq!((robots.uses.rules.len(), robots.uses.licences.len()), (USES_MAX, LICENCES_MAX));
    }

    proptest! {
        #[test]
        fn any_line_is_read(value in "\\PC{0,60}", path in "/\\PC{0,20}") {
            let body = format!("User-agent: *\nContent-Usage: {value}\nContent-Signal: {value}\nLicense: {value}");
            let _ = Robots::parse(body.as_bytes(), "Dragline").uses(&path);
        }
    }
}
