//! `Link` (RFC 8288).

use super::{is_token_char, quoted_string};

/// The most links that are read of one response's `Link` fields, all together.
pub const HEADER_LINKS_MAX: usize = 100;

/// A link in a response's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderLink {
    /// Where it leads, as it was written: relative to the response's URL.
    pub target: String,
    /// How the target is related, in lower case, such as `canonical`; never empty.
    pub rels: Vec<String>,
}

/// Reads the values of all `Link` fields, as RFC 8288 appendix B says.
///
/// Links without a relation are left out, and so are links with an `anchor`: they are about another resource than the
/// response. At most [`HEADER_LINKS_MAX`]; a value that stops making sense is read up to there.
pub fn link_header<'v>(values: impl Iterator<Item = &'v str>) -> Vec<HeaderLink> {
    values.flat_map(Links).filter_map(LinkValue::link).take(HEADER_LINKS_MAX).collect()
}

/// The link-values of one field value, from where it still has to be read.
struct Links<'v>(&'v str);

/// What was written of one link.
struct LinkValue<'v> {
    target: &'v str,
    /// The first `rel`; absent without one.
    rel: Option<String>,
    /// Whether it is about the response itself.
    context: Context,
}

#[derive(Clone, Copy)]
enum Context {
    Response,
    /// An `anchor` names another.
    Other,
}

impl<'v> Iterator for Links<'v> {
    type Item = LinkValue<'v>;

    fn next(&mut self) -> Option<LinkValue<'v>> {
        let start = self.0.trim_start_matches([' ', '\t', ',']);
        let (target, mut rest) = start.strip_prefix('<')?.split_once('>')?;
        let mut link = LinkValue { target: target.trim(), rel: None, context: Context::Response };
        while let Some(parameter) = rest.trim_start().strip_prefix(';') {
            let (name, value, after) = parameter_of(parameter);
            rest = after;
            if name.eq_ignore_ascii_case("rel") {
                link.rel.get_or_insert(value);
            } else if name.eq_ignore_ascii_case("anchor") {
                link.context = Context::Other;
            }
        }
        // Anything but a comma here is junk, of which nobody knows where it ends.
        let rest = rest.trim_start();
        self.0 = if rest.starts_with(',') { rest } else { "" };
        Some(link)
    }
}

impl LinkValue<'_> {
    fn link(self) -> Option<HeaderLink> {
        let rels: Vec<String> = self.rel?.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
        let about_response = matches!(self.context, Context::Response);
        (about_response && !rels.is_empty()).then(|| HeaderLink { target: self.target.to_owned(), rels })
    }
}

/// Name and value of a parameter, and what follows. A parameter without a value has an empty one.
fn parameter_of(text: &str) -> (&str, String, &str) {
    let text = text.trim_start();
    let (name, rest) = text.split_at(text.find(|c| !is_token_char(c)).unwrap_or(text.len()));
    let Some(written) = rest.trim_start().strip_prefix('=') else { return (name, String::new(), rest) };
    let written = written.trim_start();
    match written.strip_prefix('"') {
        Some(quoted) => {
            let (value, rest) = quoted_string(quoted);
            (name, value, rest)
        }
        None => {
            let (value, rest) = written.split_at(written.find([';', ',']).unwrap_or(written.len()));
            (name, value.trim_end().to_owned(), rest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read() {
        /// Field values, the links in them as target and relations, and why.
        type Case<'t> = (&'t [&'t str], &'t [(&'t str, &'t [&'t str])], &'t str);
        let cases: &[Case<'_>] = &[
            (&["<https://a.example/>; rel=\"canonical\""], &[("https://a.example/", &["canonical"])], "quoted"),
            (&["<a>;rel=Canonical"], &[("a", &["canonical"])], "a token, in any case"),
            (&["< a > ; REL = \"next  archives\""], &[("a", &["next", "archives"])], "two relations, blanks"),
            (&["<a>; rel=next, <b>; rel=prev"], &[("a", &["next"]), ("b", &["prev"])], "two links"),
            (&["<a>; rel=next", "<b>; rel=prev"], &[("a", &["next"]), ("b", &["prev"])], "two fields"),
            (&["<a,b;c>; rel=next"], &[("a,b;c", &["next"])], "delimiters within the target"),
            (&["<a>; title=\"x, <y>; rel=z\"; rel=next"], &[("a", &["next"])], "delimiters within quotes"),
            (&["<a>; title=\"\\\"\"; rel=next"], &[("a", &["next"])], "an escaped quote"),
            (&["<a>; rel=next; rel=prev"], &[("a", &["next"])], "the first relation counts"),
            (&["<a>; crossorigin; rel=preload"], &[("a", &["preload"])], "a parameter without a value"),
            (&["<a>; ; rel=next;"], &[("a", &["next"])], "empty parameters"),
            (&[", ,<a>; rel=next,,"], &[("a", &["next"])], "empty links"),
            (&["<>; rel=canonical"], &[("", &["canonical"])], "the response itself"),
            (&["<a>; rel=\"next"], &[("a", &["next"])], "a quote that does not end"),
            (&["<a>; rel=next; anchor=\"#x\", <b>; rel=prev"], &[("b", &["prev"])], "about another resource"),
            (&["<a>, <b>; rel=prev"], &[("b", &["prev"])], "no relation"),
            (&["<a>; rel=\"\""], &[], "an empty relation"),
            (&["<a>; rev=next"], &[], "a relation the other way"),
            (&["a; rel=next"], &[], "no brackets"),
            (&["<a; rel=next"], &[], "a bracket that does not end"),
            (
                &["<a>; rel=next junk <b>; rel=prev"],
                &[("a", &["next", "junk", "<b>"])],
                "junk behind a token reads as relations",
            ),
            (&["<a>; rel=\"next\" junk, <b>; rel=prev"], &[("a", &["next"])], "junk behind quotes ends it all"),
            (&[""], &[], "nothing"),
        ];
        for (values, expected, why) in cases {
            let links = link_header(values.iter().copied());
            let expected: Vec<HeaderLink> = expected
                .iter()
                .map(|(target, rels)| HeaderLink {
                    target: (*target).to_owned(),
                    rels: rels.iter().map(|&rel| rel.to_owned()).collect(),
                })
                .collect();
            assert_eq!(links, expected, "{why}: {values:?}");
        }
    }

    #[test]
    fn links_are_capped() {
        let many = "<a>; rel=next,".repeat(HEADER_LINKS_MAX + 1);
        assert_eq!(link_header([many.as_str(), &many].into_iter()).len(), HEADER_LINKS_MAX);
    }
}
