//! The modules that a JavaScript file imports (ECMA-262, sections 16.2 and 13.3.10), found by its
//! tokens: nothing is parsed or run.

mod tokens;

use self::tokens::{Token, Tokens};

/// Calls back with the specifier of each module that a script imports or exports from, as written,
/// in order: `import … from`, `export … from`, `import 'x'`, and `import('x')` of a literal.
///
/// Specifiers that are no URLs are left out: only an import map or a tool knows what they name. So
/// are those with escapes, which nobody writes.
///
/// ```
/// use dragline_formats::javascript::imports;
///
/// let mut found = Vec::new();
/// imports("import a from './a.js'; import 'react'; import('/b.js')", |url| found.push(url.to_owned()));
/// assert_eq!(found, ["./a.js", "/b.js"]);
/// ```
pub fn imports(script: &str, mut found: impl FnMut(&str)) {
    let mut state = State::Between;
    let mut tell = |specifier: &str| {
        if is_url(specifier) {
            found(specifier);
        }
    };
    for token in Tokens::new(script) {
        state = state.after(token, &mut tell);
    }
}

/// Where a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State<'s> {
    /// Not in an import or export.
    Between,
    /// Behind a dot: the next word is the name of a property.
    Dot,
    /// Behind `import`.
    Import,
    /// Behind `import(`.
    Call,
    /// Behind its first argument, as far as that is a string.
    Argument(&'s str),
    /// Behind `export`.
    Export,
    /// Among the names that are imported or exported.
    Names,
    /// Within their braces, where strings are names, too.
    Braces,
    /// Behind `from`, which may be a name.
    From,
}

impl<'s> State<'s> {
    /// Returns the state after a token, and tells of a specifier that it completes.
    fn after(self, token: Token<'s>, tell: &mut impl FnMut(&str)) -> Self {
        match (self, token) {
            (Self::Call, Token::Text(specifier)) => Self::Argument(specifier),
            (Self::Import | Self::From, Token::Text(specifier))
            | (Self::Argument(specifier), Token::Sign(b')' | b',')) => {
                tell(specifier);
                Self::Between
            }
            (Self::Import, Token::Sign(b'(')) => Self::Call,
            (Self::Braces, Token::Sign(b',') | Token::Word(_) | Token::Text(_))
            | (Self::Import | Self::Export | Self::Names | Self::From, Token::Sign(b'{')) => Self::Braces,
            (_, Token::Sign(b'.')) => Self::Dot,
            (Self::Dot, _) => Self::Between,
            (_, Token::Word("import")) => Self::Import,
            (_, Token::Word("export")) => Self::Export,
            (Self::Import | Self::Names | Self::From, Token::Word("from")) => Self::From,
            (Self::Braces, Token::Sign(b'}'))
            | (Self::Import | Self::Export | Self::Names | Self::From, Token::Sign(b'*'))
            | (Self::Names | Self::From, Token::Sign(b','))
            | (Self::Import | Self::Names | Self::From, Token::Word(_)) => Self::Names,
            _ => Self::Between,
        }
    }
}

/// Whether a specifier is a URL: relative, a path, or absolute (WHATWG HTML, "resolve a module
/// specifier").
fn is_url(specifier: &str) -> bool {
    let is_relative = ["/", "./", "../"].iter().any(|start| specifier.starts_with(start));
    let is_absolute = ["http://", "https://"].iter().any(|scheme| specifier.starts_with(scheme));
    (is_relative || is_absolute) && !specifier.contains('\\')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list_imports(script: &str) -> Vec<String> {
        let mut found = Vec::new();
        imports(script, |specifier| found.push(specifier.to_owned()));
        found
    }

    #[test]
    fn imports_are_found() {
        for (script, expected, why) in [
            ("import './a.js'", &["./a.js"][..], "for its effects"),
            ("import a from \"./a.js\";import b from'./b.js'", &["./a.js", "./b.js"], "without blanks"),
            ("import a, { b as c, default as d } from '../a.js'", &["../a.js"], "names"),
            ("import * as a from '/a.js'", &["/a.js"], "all names"),
            ("import { 'a string' as b } from './a.js'", &["./a.js"], "a name that is a string"),
            ("import from from './a.js'", &["./a.js"], "a name that is a word of the language"),
            ("import defer * as a from './a.js'; import source b from './b.js'", &["./a.js", "./b.js"], "with a phase"),
            ("import a from './a.json' with { type: 'json' }", &["./a.json"], "attributes"),
            ("export { a, b as c } from './a.js'; export * from './b.js'", &["./a.js", "./b.js"], "exports"),
            ("export * as a from './a.js'", &["./a.js"], "exports under a name"),
            ("const a = await import('./a.js'); import(\"/b.js\", {})", &["./a.js", "/b.js"], "when it runs"),
            ("import(/* a name */ './a.js')", &["./a.js"], "with a comment"),
            ("import\n{\na }\nfrom\n'./a.js'", &["./a.js"], "on several lines"),
            (
                "import 'https://a.example/a.js'; import '//a.example/b.js'",
                &["https://a.example/a.js", "//a.example/b.js"],
                "URLs",
            ),
            ("import 'react'; import a from '@a/b'; import('lodash/map.js')", &[], "names that only a tool knows"),
            ("import 'data:text/javascript,1'; import 'node:fs'; import './\\x61.js'", &[], "what cannot be fetched"),
            ("import(name); import(`./${name}.js`); import('./a' + name)", &[], "what is only known when it runs"),
            ("import.meta.url; a.import('./a.js'); a?.import('./b.js')", &[], "other things called import"),
            ("export const a = './a.js'; export default './b.js'; export { c }\n'./c.js'", &[], "exports of its own"),
            ("const from = './a.js'; from './b.js'", &[], "no import"),
            ("// import './a.js'\n/* import './b.js' */ import './c.js'", &["./c.js"], "comments"),
            ("#!/usr/bin/env node import './a.js'\nimport './b.js'", &["./b.js"], "a first line for others"),
            ("'import \"./a.js\"'; \"\\\" import './b.js'\"", &[], "strings"),
            ("`import './a.js' ${import('./b.js')} import './c.js'`", &["./b.js"], "templates, but for their code"),
            ("`${`${'}'}`}`; import './a.js'", &["./a.js"], "templates in templates"),
            ("/import '.\\/a.js'/; a = /[/'\"]/g; import './b.js'", &["./b.js"], "regular expressions"),
            ("a = b / c; d = '/'; import './a.js'", &["./a.js"], "divisions"),
            ("if (a) /'/.test(b)\nimport './a.js'", &["./a.js"], "a quote that does not end with its line"),
            ("return /'/.test(b); import './a.js'", &["./a.js"], "an expression behind a word"),
            ("x = {} / 2 / 'import'; import './a.js'", &["./a.js"], "after a brace"),
            ("/* import './a.js'", &[], "a comment without an end"),
            ("`import './a.js'", &[], "a template without an end"),
            ("import", &[], "half of one"),
            ("import { a } from", &[], "half of another"),
            ("\u{fc}import './a.js'; $import './b.js'", &[], "longer words"),
        ] {
            assert_eq!(list_imports(script), expected, "{script}: {why}");
        }
    }

    #[test]
    fn what_is_nested_without_end_is_read_in_time() {
        assert_eq!(list_imports(&"`${".repeat(200_000)), [""; 0]);
        assert_eq!(list_imports(&"import {".repeat(200_000)), [""; 0]);
        assert_eq!(list_imports(&"import './a.js';".repeat(10_000)).len(), 10_000);
    }

    proptest! {
        #[test]
        fn any_text_is_read(script in "([a-z'\"`/*\\\\${}().\\n ]|import |from |export ){0,60}") {
            for specifier in list_imports(&script) {
                prop_assert!(script.contains(&specifier));
            }
        }
    }
}
