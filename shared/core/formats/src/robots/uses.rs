//! What robots.txt says of the use of pages: `Content-Usage` and `Content-Signal` of a group, and
//! the licences that the file names.

use dragline_domain::use_preferences::{UseSource, UseStand, UseStands, UseStatement, add_statements};

use super::octets::Target;
use super::pattern::Pattern;
use crate::use_preferences::{CONTENT_SIGNAL, CONTENT_USAGE, content_signal, content_usage};

/// The limit on the lines about use of one group; later ones are left out, like rules.
pub(super) const USES_MAX: usize = 1_000;

/// The limit on the licences of a file.
pub(super) const LICENCES_MAX: usize = 4;

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

/// Returns the statement of a line that names a licence (RSL 1.0).
///
/// Such a licence says on which terms machines may use the pages, often for money, and nobody has
/// read and accepted it. So what models do with pages is reserved; an index is not, as a licence
/// for that would be a `Disallow`.
pub(super) fn licence(line: u32, url: &str) -> UseStatement {
    let says = UseStands::of_mining(UseStand::Reserved);
    UseStatement::new(UseSource::Robots, &format!("line {line}: License: {url}"), says)
}

/// The lines about use for one crawler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UseRules {
    rules: Vec<UseRule>,
    licences: Vec<UseStatement>,
}

impl UseRules {
    pub(super) const fn new(rules: Vec<UseRule>, licences: Vec<UseStatement>) -> Self {
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
        add_statements(&mut statements, self.licences.iter().cloned());
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
