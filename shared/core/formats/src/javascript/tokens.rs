//! The tokens of a script, as far as imports depend on them (ECMA-262, section 12).

/// The limit on templates within each other. What follows is not read.
const TEMPLATES_MAX: usize = 64;

/// The words behind which a slash begins a regular expression.
const BEFORE_EXPRESSIONS: [&str; 14] = [
    "await",
    "case",
    "delete",
    "do",
    "else",
    "in",
    "instanceof",
    "new",
    "of",
    "return",
    "throw",
    "typeof",
    "void",
    "yield",
];

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'s> {
    /// A name or a word of the language.
    Word(&'s str),
    /// A string, as written between its quotes.
    Text(&'s str),
    /// A number, a regular expression, a part of a template.
    Other,
    /// An octet that is a sign, or a part of one.
    Sign(u8),
}

/// The tokens of a script, in order. A string ends with its line, so that what was mistaken for the
/// beginning of one costs no more than that.
pub(super) struct Tokens<'s> {
    script: &'s str,
    at: usize,
    /// Whether a slash would begin a regular expression.
    expects_value: bool,
    /// The number of open braces in each open template's code, from the outermost on.
    templates: Vec<usize>,
}

impl<'s> Tokens<'s> {
    pub(super) fn new(script: &'s str) -> Self {
        let mut tokens = Self { script, at: 0, expects_value: true, templates: Vec::new() };
        if script.starts_with("#!") {
            tokens.skip_line();
        }
        tokens
    }

    fn octet(&self, ahead: usize) -> Option<u8> {
        self.script.as_bytes().get(self.at + ahead).copied()
    }

    fn skip_line(&mut self) {
        let rest = &self.script.as_bytes()[self.at..];
        self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    }

    /// Skips white space and comments.
    fn skip_between(&mut self) {
        while let Some(octet) = self.octet(0) {
            match (octet, self.octet(1)) {
                (b' ' | b'\t' | b'\r' | b'\n' | b'\x0b' | b'\x0c', _) => self.at += 1,
                (b'/', Some(b'/')) => self.skip_line(),
                (b'/', Some(b'*')) => {
                    let rest = &self.script.as_bytes()[self.at + 2..];
                    let end = memchr::memmem::find(rest, b"*/");
                    self.at = end.map_or(self.script.len(), |end| self.at + 2 + end + 2);
                }
                _ => return,
            }
        }
    }

    /// Reads a string behind its quote.
    fn text(&mut self, quote: u8) -> Token<'s> {
        let start = self.at;
        while let Some(octet) = self.octet(0) {
            match octet {
                b'\\' => self.at += 2,
                b'\n' | b'\r' => return Token::Other,
                _ if octet == quote => {
                    let text = self.script.get(start..self.at);
                    self.at += 1;
                    return text.map_or(Token::Other, Token::Text);
                }
                _ => self.at += 1,
            }
        }
        Token::Other
    }

    /// Reads a template up to its end or the code in it.
    fn template(&mut self) -> Token<'s> {
        while let Some(octet) = self.octet(0) {
            match (octet, self.octet(1)) {
                (b'\\', _) => self.at += 2,
                (b'`', _) => {
                    self.at += 1;
                    self.expects_value = false;
                    return Token::Other;
                }
                (b'$', Some(b'{')) => {
                    self.at += 2;
                    self.expects_value = true;
                    if self.templates.len() >= TEMPLATES_MAX {
                        self.at = self.script.len();
                    }
                    self.templates.push(0);
                    return Token::Other;
                }
                _ => self.at += 1,
            }
        }
        Token::Other
    }

    /// Reads a regular expression behind its slash. It ends with its line at the latest.
    fn expression(&mut self) -> Token<'s> {
        let mut is_in_class = false;
        while let Some(octet) = self.octet(0) {
            match octet {
                b'\\' => self.at += 1,
                b'[' => is_in_class = true,
                b']' => is_in_class = false,
                b'\n' | b'\r' => break,
                b'/' if !is_in_class => {
                    self.at += 1;
                    break;
                }
                _ => {}
            }
            self.at += 1;
        }
        Token::Other
    }

    /// Reads a word or a number.
    fn word(&mut self) -> &'s str {
        let rest = &self.script.as_bytes()[self.at.min(self.script.len())..];
        let length = rest.iter().position(|octet| !is_of_word(*octet)).unwrap_or(rest.len());
        let word = self.script.get(self.at..self.at + length).unwrap_or_default();
        self.at += length;
        word
    }

    /// Reads a sign.
    fn sign(&mut self, sign: u8) -> Token<'s> {
        self.at += 1;
        match (sign, self.templates.last_mut()) {
            (b'}', Some(0)) => {
                self.templates.pop();
                return self.template();
            }
            (b'{', Some(braces)) => *braces += 1,
            (b'}', Some(braces)) => *braces -= 1,
            _ => {}
        }
        // Behind a brace it is usually a statement, behind a parenthesis usually a division.
        self.expects_value = !matches!(sign, b')' | b']');
        Token::Sign(sign)
    }
}

impl<'s> Iterator for Tokens<'s> {
    type Item = Token<'s>;

    fn next(&mut self) -> Option<Token<'s>> {
        self.skip_between();
        let octet = self.octet(0)?;
        Some(match octet {
            b'\'' | b'"' => {
                self.at += 1;
                self.expects_value = false;
                self.text(octet)
            }
            b'`' => {
                self.at += 1;
                self.template()
            }
            b'/' if self.expects_value => {
                self.at += 1;
                self.expects_value = false;
                self.expression()
            }
            _ if is_of_word(octet) => {
                let word = self.word();
                self.expects_value = BEFORE_EXPRESSIONS.contains(&word);
                if octet.is_ascii_digit() { Token::Other } else { Token::Word(word) }
            }
            _ => self.sign(octet),
        })
    }
}

/// Whether an octet belongs to a name or a number. Those beyond ASCII are taken for letters.
const fn is_of_word(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'_' | b'$') || !octet.is_ascii()
}
