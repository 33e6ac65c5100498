//! The query language.
//!
//! Words, all of which a page must have; `"a phrase"`; `-word` for an excluded word; `OR` between
//! alternatives; parentheses; `begin*` for a prefix; and fields: `title:word`, `site:example.org`,
//! `after:2026-05`.

use std::ops::Range;

use dragline_domain::use_preferences::Purpose;
use jiff::civil::Date;

use crate::characters::is_unspaced;
use crate::error::{QueryError, QueryProblem};
use crate::fields::Part;
use crate::words::primary_language;

/// The longest query, in bytes.
const QUERY_BYTES_MAX: usize = 2_000;

/// The maximum number of words, phrases and conditions in a query.
const LEAVES_MAX: usize = 64;

/// The maximum nesting of parentheses.
const DEPTH_MAX: usize = 16;

/// The minimum length of a prefix, in letters.
const PREFIX_LETTERS_MIN: usize = 2;

/// A node of a parsed query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// Pages that match all nodes.
    All(Vec<Self>),
    /// Pages that match any node.
    Any(Vec<Self>),
    /// Pages that do not match the node.
    Not(Box<Self>),
    /// Pages with these words.
    Words(WordRun),
    /// Pages that meet the condition.
    Condition(Condition),
}

/// A word, or several consecutive words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WordRun {
    /// The part of the page; `None` for any.
    pub(crate) part: Option<Part>,
    pub(crate) text: String,
    pub(crate) form: Form,
}

/// How words are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As a word, which may have a typing error.
    Word,
    /// As a prefix.
    Prefix,
    /// Literally, from quotation marks.
    Phrase,
}

/// A condition on pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The page is on this host, with the port if one is given, or on a host in this domain.
    Site(String),
    /// The page is in this language.
    Language(String),
    /// The page has an item of this type.
    Type(String),
    /// The use of the page for this purpose is not reserved.
    Use(Purpose),
    /// The page is from this day or later.
    After(Date),
    /// The page is from an earlier day.
    Before(Date),
}

/// Checks a query without running it.
///
/// # Errors
/// It is not valid.
pub fn check(query: &str) -> Result<(), QueryError> {
    parse(query).map(drop)
}

/// Parses a query.
///
/// # Errors
/// It is not valid.
pub(crate) fn parse(query: &str) -> Result<Node, QueryError> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(wrong(QueryProblem::TooLong(QUERY_BYTES_MAX), 0..query.len()));
    }
    if query.trim().is_empty() {
        return Err(wrong(QueryProblem::Empty, 0..query.len()));
    }
    let mut parser = Parser { query, at: 0, leaves: 0, open: Vec::new() };
    let node = parser.parse_any()?;
    if parser.peek() == Some(')') {
        return Err(wrong(QueryProblem::StrayParenthesis, parser.at..parser.at + 1));
    }
    Ok(node)
}

const fn wrong(problem: QueryProblem, at: Range<usize>) -> QueryError {
    QueryError { problem, at }
}

const fn is_quotation_mark(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

struct Parser<'q> {
    query: &'q str,
    at: usize,
    leaves: usize,
    /// The positions of open parentheses.
    open: Vec<usize>,
}

impl<'q> Parser<'q> {
    fn rest(&self) -> &'q str {
        &self.query[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_space(&mut self) {
        self.at = self.query.len() - self.rest().trim_start().len();
    }

    /// Reads a keyword of the query language if it is next.
    fn take_keyword(&mut self, keyword: &str) -> bool {
        let is_next = self.rest().strip_prefix(keyword).is_some_and(|rest| {
            rest.chars()
                .next()
                .is_none_or(|next| next.is_whitespace() || next == '(' || next == ')' || is_quotation_mark(next))
        });
        if is_next {
            self.at += keyword.len();
            self.skip_space();
        }
        is_next
    }

    /// Parses `a OR b`.
    fn parse_any(&mut self) -> Result<Node, QueryError> {
        let mut nodes = vec![self.parse_all()?];
        loop {
            self.skip_space();
            if !self.take_keyword("OR") {
                break;
            }
            nodes.push(self.parse_all()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Any(nodes) })
    }

    /// Parses `a b`.
    fn parse_all(&mut self) -> Result<Node, QueryError> {
        let mut nodes = Vec::new();
        loop {
            self.skip_space();
            while self.take_keyword("AND") {}
            let is_over = self.peek().is_none_or(|next| next == ')');
            if is_over || self.rest().starts_with("OR") && self.clone_at().take_keyword("OR") {
                break;
            }
            nodes.push(self.parse_term()?);
        }
        match nodes.len() {
            0 => Err(self.nothing_here()),
            1 => Ok(nodes.remove(0)),
            _ => Ok(Node::All(nodes)),
        }
    }

    fn clone_at(&self) -> Self {
        Self { query: self.query, at: self.at, leaves: self.leaves, open: Vec::new() }
    }

    /// Returns the error for a missing operand.
    fn nothing_here(&self) -> QueryError {
        match (self.peek(), self.open.last()) {
            (Some(')'), None) => wrong(QueryProblem::StrayParenthesis, self.at..self.at + 1),
            (None, Some(open)) => wrong(QueryProblem::OpenParenthesis, *open..open + 1),
            (next, _) => wrong(QueryProblem::Nothing, self.at..self.at + next.map_or(0, char::len_utf8)),
        }
    }

    /// Parses a word, phrase, condition, group or negation.
    fn parse_term(&mut self) -> Result<Node, QueryError> {
        let begin = self.at;
        // Two hyphens begin a command-line option, which is a word.
        let is_hyphen = self.rest().starts_with('-') && !self.rest().starts_with("--");
        if is_hyphen || self.take_keyword("NOT") {
            if is_hyphen {
                self.at += 1;
            }
            if self.peek().is_none_or(|next| next.is_whitespace() || next == ')') {
                return Err(wrong(QueryProblem::Nothing, begin..self.at));
            }
            return Ok(Node::Not(Box::new(self.parse_term()?)));
        }
        match self.peek() {
            Some('(') => self.group(),
            Some(next) if is_quotation_mark(next) => {
                let text = self.quoted()?;
                self.leaf(begin, Node::Words(WordRun { part: None, text, form: Form::Phrase }))
            }
            _ => self.word_or_field(),
        }
    }

    fn leaf(&mut self, begin: usize, node: Node) -> Result<Node, QueryError> {
        self.leaves += 1;
        if self.leaves > LEAVES_MAX {
            return Err(wrong(QueryProblem::TooManyWords(LEAVES_MAX), begin..self.at));
        }
        Ok(node)
    }

    fn group(&mut self) -> Result<Node, QueryError> {
        let begin = self.at;
        self.at += 1;
        self.open.push(begin);
        if self.open.len() > DEPTH_MAX {
            return Err(wrong(QueryProblem::TooDeep(DEPTH_MAX), begin..self.at));
        }
        let node = self.parse_any()?;
        self.skip_space();
        if self.peek() != Some(')') {
            return Err(wrong(QueryProblem::OpenParenthesis, begin..begin + 1));
        }
        self.open.pop();
        self.at += 1;
        Ok(node)
    }

    /// Reads a quoted text, whose opening mark is next.
    fn quoted(&mut self) -> Result<String, QueryError> {
        let begin = self.at;
        self.at += self.peek().map_or(0, char::len_utf8);
        let Some(length) = self.rest().find(is_quotation_mark) else {
            return Err(wrong(QueryProblem::OpenQuote, begin..self.at));
        };
        let text = self.rest()[..length].to_owned();
        self.at += length;
        self.at += self.peek().map_or(0, char::len_utf8);
        if text.trim().is_empty() {
            return Err(wrong(QueryProblem::Nothing, begin..self.at));
        }
        Ok(text)
    }

    /// Reads a word to its end. Balanced parentheses belong to it, as in `main()`, as do
    /// parentheses without an open one, as in `f(x, y)`.
    fn word(&mut self) -> &'q str {
        let mut open = 0_usize;
        let ends_group = !self.open.is_empty();
        let ends = |c: char| match c {
            '(' => {
                open += 1;
                false
            }
            ')' if open == 0 && ends_group => true,
            ')' => {
                open = open.saturating_sub(1);
                false
            }
            c => c.is_whitespace() || is_quotation_mark(c),
        };
        let rest = self.rest();
        let length = rest.find(ends).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn word_or_field(&mut self) -> Result<Node, QueryError> {
        let begin = self.at;
        if let Some(field) = self.field() {
            return self.field_value(begin, field);
        }
        let word = self.word();
        let node = Node::Words(self.words(begin, None, word)?);
        self.leaf(begin, node)
    }

    /// Returns the name of the next field. `std::path`, `https://example.org` and `10:30` have
    /// none, but `url:/docs` has.
    fn field(&self) -> Option<&'q str> {
        let (name, value) = self.rest().split_once(':')?;
        let is_name = name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_path = value.starts_with('/') && !value.starts_with("//");
        let is_part = Part::ALL.iter().any(|part| part.name() == name);
        (is_name && (!value.starts_with([':', '/']) || is_path && is_part)).then_some(name)
    }

    fn words(&self, begin: usize, part: Option<Part>, word: &str) -> Result<WordRun, QueryError> {
        let Some(prefix) = word.strip_suffix('*') else {
            return Ok(WordRun { part, text: word.to_owned(), form: Form::Word });
        };
        let letters = prefix.chars().filter(|c| c.is_alphanumeric()).count();
        // In a script without spaces, one character is a word.
        if letters < PREFIX_LETTERS_MIN && !prefix.contains(is_unspaced) {
            return Err(wrong(QueryProblem::ShortPrefix(prefix.to_owned()), begin..self.at));
        }
        Ok(WordRun { part, text: prefix.to_owned(), form: Form::Prefix })
    }

    fn field_value(&mut self, begin: usize, name: &str) -> Result<Node, QueryError> {
        let part = Part::ALL.into_iter().find(|part| part.name() == name);
        let is_condition = matches!(name, "site" | "lang" | "type" | "use" | "after" | "before");
        if part.is_none() && !is_condition {
            return Err(wrong(QueryProblem::NoField(name.to_owned()), begin..begin + name.len()));
        }
        self.at += name.len() + 1;
        let value_at = self.at;
        let (value, is_quoted) = match self.peek() {
            Some(next) if is_quotation_mark(next) => (self.quoted()?, true),
            _ => (self.word().to_owned(), false),
        };
        if value.is_empty() {
            return Err(wrong(QueryProblem::NoValue(name.to_owned()), begin..self.at));
        }
        let node = match part {
            Some(_) if is_quoted => Node::Words(WordRun { part, text: value, form: Form::Phrase }),
            Some(_) => Node::Words(self.words(begin, part, &value)?),
            None => Node::Condition(condition(name, &value).map_err(|problem| wrong(problem, value_at..self.at))?),
        };
        self.leaf(begin, node)
    }
}

fn condition(name: &str, value: &str) -> Result<Condition, QueryProblem> {
    let date = || date(value).ok_or_else(|| QueryProblem::NotADate(value.to_owned()));
    Ok(match name {
        "site" => {
            let is_site = !value.contains(['/', '?', '#', '@', '*']);
            Condition::Site(
                is_site.then(|| value.to_lowercase()).ok_or_else(|| QueryProblem::NotASite(value.to_owned()))?,
            )
        }
        "lang" => Condition::Language(primary_language(value).unwrap_or_else(|| value.to_lowercase())),
        "type" => Condition::Type(value.to_owned()),
        "use" => Condition::Use(
            Purpose::from_name(&value.to_lowercase()).ok_or_else(|| QueryProblem::NotAPurpose(value.to_owned()))?,
        ),
        "after" => Condition::After(date()?),
        _ => Condition::Before(date()?),
    })
}

/// Parses a day, or the first day of a month or a year.
fn date(text: &str) -> Option<Date> {
    match text.len() {
        4 => format!("{text}-01-01").parse().ok(),
        7 => format!("{text}-01").parse().ok(),
        10 => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
