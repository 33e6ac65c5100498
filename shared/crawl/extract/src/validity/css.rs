//! Style sheets (CSS Syntax 3): parse errors, and rules and declarations that can never be valid.
//!
//! Whether properties and values are known is not checked, as they change every year.

use cssparser::{Parser, Token};
use dragline_domain::validity::ValidationType;

use super::flaws::{Cursor, Flaws, quoted};

/// The maximum nesting of blocks examined. Deeper ones are skipped.
const DEPTH_MAX: usize = 64;

/// Checks a style sheet.
pub(super) fn check(text: &str, flaws: &mut Flaws) -> ValidationType {
    let mut parser = Parser::new(text);
    let mut sheet = Sheet { text, cursor: Cursor::new(text), flaws };
    sheet.items(&mut parser, Inside::Sheet, 0);
    ValidationType::Css
}

/// The container of rules and declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    /// The sheet: only rules.
    Sheet,
    /// Braces of a rule: declarations and rules.
    Braces,
    /// Braces of `@keyframes`: rules whose selectors are percentages.
    Keyframes,
    /// Braces of an at-rule with a grammar of its own, or of a value.
    Anything,
}

/// The part of a rule or a declaration read so far.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question about tokens that are gone")]
struct Item {
    at: usize,
    /// The number of its tokens other than white space.
    tokens: usize,
    begins_with_ident: bool,
    is_custom: bool,
    /// Whether its second token is a colon.
    has_colon: bool,
    /// Whether its last token is a comma.
    ends_with_comma: bool,
    /// Whether it begins with a comma or has two in a row.
    has_empty_part: bool,
    /// The position of a number outside of brackets.
    number_at: Option<usize>,
}

struct Sheet<'t, 'f> {
    text: &'t str,
    cursor: Cursor<'t>,
    flaws: &'f mut Flaws,
}

impl<'t> Sheet<'t, '_> {
    fn add(&mut self, rule: &'static str, at: usize, message: impl FnOnce() -> String) {
        let place = self.cursor.locate(at);
        self.flaws.add(rule, || place, message);
    }

    /// Reads rules and declarations to the end of their container.
    fn items(&mut self, parser: &mut Parser<'t>, inside: Inside, depth: usize) {
        let mut item = Item::default();
        loop {
            let at = parser.position().byte_index();
            let Ok(token) = parser.next_including_whitespace_and_comments() else { break };
            let token = token.clone();
            let end = parser.position().byte_index();
            self.token(&token, at, end);
            if matches!(token, Token::WhiteSpace(_) | Token::Comment(_)) {
                continue;
            }
            if item.tokens == 0 {
                item.at = at;
                if matches!(token, Token::CDO | Token::CDC) && inside == Inside::Sheet {
                    continue;
                }
                if let Token::AtKeyword(name) = &token
                    && inside != Inside::Anything
                {
                    let name = name.to_ascii_lowercase();
                    self.at_rule(parser, &name, at, depth);
                    continue;
                }
            }
            match &token {
                Token::Semicolon if inside != Inside::Sheet => {
                    self.declaration(&item, inside);
                    item = Item::default();
                    continue;
                }
                Token::CurlyBracketBlock => {
                    if item.is_custom && item.has_colon || inside == Inside::Anything {
                        self.nested(parser, &token, at, Inside::Anything, depth);
                    } else {
                        self.selector(&item, inside, at);
                        self.nested(parser, &token, at, Inside::Braces, depth);
                        item = Item::default();
                        continue;
                    }
                }
                Token::Function(_) | Token::ParenthesisBlock | Token::SquareBracketBlock => {
                    self.nested(parser, &token, at, Inside::Anything, depth);
                }
                _ => {}
            }
            self.note(&mut item, &token, at);
        }
        match inside {
            Inside::Sheet if item.tokens > 0 => {
                self.add("bad-rule", item.at, || "this is not a rule: it has no block".to_owned());
            }
            Inside::Braces | Inside::Keyframes => self.declaration(&item, inside),
            _ => {}
        }
    }

    fn note(&mut self, item: &mut Item, token: &Token<'_>, at: usize) {
        match token {
            Token::Ident(name) if item.tokens == 0 => {
                item.begins_with_ident = true;
                item.is_custom = name.starts_with("--");
            }
            Token::Colon if item.tokens == 1 => item.has_colon = item.begins_with_ident,
            Token::Number { .. } | Token::Dimension { .. } | Token::Semicolon => {
                item.number_at.get_or_insert(at);
            }
            _ => {}
        }
        let is_comma = matches!(token, Token::Comma);
        item.has_empty_part |= is_comma && (item.tokens == 0 || item.ends_with_comma);
        item.ends_with_comma = is_comma;
        item.tokens += 1;
    }

    /// Checks the prelude of a block. Within other rules it may also be anything that looks like a
    /// declaration.
    fn selector(&mut self, item: &Item, inside: Inside, block_at: usize) {
        if item.tokens == 0 {
            self.add("bad-selector", block_at, || "a block without a selector".to_owned());
        } else if item.has_empty_part || item.ends_with_comma {
            self.add("bad-selector", item.at, || "a selector is missing at a comma".to_owned());
        } else if let Some(at) = item.number_at.filter(|_| inside == Inside::Sheet) {
            let text = self.text;
            self.add("bad-selector", at, || {
                let behind = &text[at..];
                let end = behind.find([' ', '{', ',', '\n']).unwrap_or(behind.len());
                format!("{} cannot be in a selector", quoted(&behind[..end]))
            });
        }
    }

    fn declaration(&mut self, item: &Item, inside: Inside) {
        if item.tokens == 0 || inside == Inside::Anything {
            return;
        }
        if !item.has_colon {
            self.add("bad-declaration", item.at, || "this is not a declaration: `name: value`".to_owned());
        } else if item.tokens == 2 && !item.is_custom {
            self.add("bad-declaration", item.at, || "a declaration without a value".to_owned());
        }
    }

    /// Reads an at-rule after its name.
    fn at_rule(&mut self, parser: &mut Parser<'t>, name: &str, rule_at: usize, depth: usize) {
        let inside = match name {
            "media" | "supports" | "container" | "layer" | "scope" | "starting-style" | "font-face" | "page" => {
                Inside::Braces
            }
            "keyframes" | "-webkit-keyframes" | "-moz-keyframes" | "-o-keyframes" => Inside::Keyframes,
            _ => Inside::Anything,
        };
        let must_have_block = inside != Inside::Anything && name != "layer";
        let mut is_first = true;
        loop {
            let at = parser.position().byte_index();
            let token = parser.next_including_whitespace_and_comments().cloned();
            let end = parser.position().byte_index();
            let Ok(token) = token else { break };
            self.token(&token, at, end);
            match token {
                Token::WhiteSpace(_) | Token::Comment(_) => continue,
                Token::Semicolon => break,
                Token::CurlyBracketBlock => {
                    self.nested(parser, &token, at, inside, depth);
                    return;
                }
                Token::Function(_) | Token::ParenthesisBlock | Token::SquareBracketBlock => {
                    self.nested(parser, &token, at, Inside::Anything, depth);
                }
                _ => {}
            }
            let is_url = matches!(
                &token,
                Token::QuotedString(_) | Token::UnquotedUrl(_) | Token::BadUrl(_) | Token::Function(_)
            );
            if is_first && name == "import" && !is_url {
                self.add("bad-at-rule", rule_at, || "`@import` must be followed by a URL".to_owned());
            }
            is_first = false;
        }
        if must_have_block {
            self.add("bad-at-rule", rule_at, || format!("`@{name}` has no block"));
        }
    }

    /// Reads the content of brackets after their opening token.
    fn nested(&mut self, parser: &mut Parser<'t>, opening: &Token<'t>, at: usize, inside: Inside, depth: usize) {
        if depth >= DEPTH_MAX {
            // The next call skips them.
            return;
        }
        let _ = parser.parse_nested_block(|block| {
            self.items(block, inside, depth + 1);
            Ok::<(), cssparser::ParseError<()>>(())
        });
        let (close, end) = match opening {
            Token::CurlyBracketBlock => ("}", parser.position().byte_index()),
            Token::SquareBracketBlock => ("]", parser.position().byte_index()),
            _ => (")", parser.position().byte_index()),
        };
        if end >= self.text.len() && !self.text.ends_with(close) {
            // The position is before the tokens read since.
            let place = super::flaws::LineColumn::locate(self.text, at);
            self.flaws.add("unclosed-block", || place, || format!("there is no `{close}` for this"));
        }
    }

    /// Checks a token by itself.
    fn token(&mut self, token: &Token<'_>, at: usize, end: usize) {
        let written = &self.text[at..end];
        let is_at_end = end == self.text.len();
        match token {
            Token::BadString(_) => self.add("bad-string", at, || "a string that does not end in its line".to_owned()),
            Token::BadUrl(_) => self.add("bad-url", at, || "a `url(…)` with characters that must be quoted".to_owned()),
            Token::CloseParenthesis | Token::CloseSquareBracket | Token::CloseCurlyBracket => {
                self.add("unexpected-bracket", at, || format!("{} closes nothing that is open", quoted(written)));
            }
            Token::Comment(_) if is_at_end && (written.len() < 4 || !written.ends_with("*/")) => {
                self.add("unclosed-comment", at, || "a comment that does not end".to_owned());
            }
            Token::QuotedString(_) if is_at_end && (written.len() < 2 || !written.ends_with(&written[..1])) => {
                self.add("bad-string", at, || "a string that does not end".to_owned());
            }
            Token::UnquotedUrl(_) if is_at_end && !written.ends_with(')') => {
                self.add("bad-url", at, || "a `url(…)` that does not end".to_owned());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_flaws;
    use super::*;

    #[test]
    fn style_sheets_are_checked() {
        let nested = |levels: usize| "a{".repeat(levels) + &"}".repeat(levels);
        for (text, expected, why) in [
            ("a, b > c:hover::before { color: red; x-unknown: 1px solid; } ", &[][..], "valid"),
            ("@charset 'utf-8'; @import url(a.css); @media (min-width: 1px) { a { b: c } }", &[], "at-rules"),
            ("@font-face { src: url(a.woff), url('b') } @page :first { margin: 0 }", &[], "with declarations"),
            ("@keyframes x { from { a: b } 50.5% { a: c } }", &[], "percentages as selectors"),
            ("a { color: red; &:hover { b: c } .d & { e: f } @media print { g: h } }", &[], "nested rules"),
            ("a { --x: {b:c}; --y:; --z: ; ; c: var(--x) !important }", &[], "custom properties"),
            ("<!-- a{} -->", &[], "in a comment of HTML"),
            ("a[href='x;y']{b:calc((1px + 2px) * 3)}\n/* x */", &[], "brackets"),
            ("@unknown x y { z }", &[], "at-rules of others"),
            ("", &[], "nothing"),
            ("a { b: 'c\n; }", &["1:8 bad-string"], "a string over two lines"),
            ("a { b: url(c d) }", &["1:8 bad-url"], "a blank in a URL"),
            ("a { b: c }\n}", &["2:1 bad-rule", "2:1 unexpected-bracket"], "a brace too many"),
            ("a { b: (c; }", &["1:8 unclosed-block", "1:12 unexpected-bracket"], "crossed"),
            ("a { b: c", &["1:3 unclosed-block"], "cut"),
            ("a {} /* x", &["1:6 unclosed-comment"], "cut in a comment"),
            ("a { b c; d: e }", &["1:5 bad-declaration"], "no colon"),
            ("a { *b: c }", &["1:5 bad-declaration"], "a hack"),
            ("a { b:; }", &["1:5 bad-declaration"], "no value"),
            ("a, { b: c }", &["1:1 bad-selector"], "a comma too many"),
            ("{ b: c }", &["1:1 bad-selector"], "no selector"),
            ("a {}\n; b {}", &["2:1 bad-selector"], "a semicolon between rules"),
            ("a", &["1:1 bad-rule"], "no block"),
            ("@media print;", &["1:1 bad-at-rule"], "no block"),
            ("@import a;", &["1:1 bad-at-rule"], "no URL"),
            (&nested(50_000), &[], "deep"),
        ] {
            let mut flaws = Flaws::default();
            check(text, &mut flaws);
            assert_flaws(flaws, expected, &format!("{text:.60}: {why}"));
        }
    }
}
