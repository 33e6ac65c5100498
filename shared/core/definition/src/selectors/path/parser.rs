//! Parses paths.

use super::{Axis, NodeTest, Operand, Path, PathValue, Predicate, Step};
use crate::selectors::SelectorError;

pub(super) const HINT: &str = "write a path such as `//div[@class='by']/a`, or `//a/@href` for an attribute";
const PREDICATES: &str =
    "write `[1]`, `[last()]`, `[@name]`, `[@name='value']`, `[contains(., 'text')]` or `[starts-with(@name, 'text')]`";
const AXES: &str = "write `/`, `//`, `..`, `following-sibling::` or `preceding-sibling::`";

type Parsed<T> = Result<T, SelectorError>;

/// The rest of a path's text. The nesting of brackets, checked before, limits the recursion.
pub(super) struct Parser<'t> {
    text: &'t str,
    rest: &'t str,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, rest: text.trim() }
    }

    pub(super) fn path(mut self) -> Parsed<Path> {
        if self.rest.is_empty() {
            return Err(SelectorError::new("the path is empty", HINT));
        }
        let mut path = Path { steps: Vec::new(), taken: PathValue::Element };
        // `.//a` and `//a` are the same: paths are relative to the element that is searched.
        if self.rest.starts_with("./") {
            self.take(".");
        }
        let mut axis = if self.take("//") {
            Axis::Descendant
        } else {
            self.take("/");
            Axis::Child
        };
        loop {
            if let Some(taken) = self.take_value(axis, &mut path.steps)? {
                path.taken = taken;
                break;
            }
            path.steps.push(self.step(axis)?);
            axis = match () {
                () if self.take("//") => Axis::Descendant,
                () if self.take("/") => Axis::Child,
                () => break,
            };
        }
        match (self.rest.chars().next(), &path.taken) {
            (None, _) => Ok(path),
            (Some('/'), PathValue::Attribute(name)) => {
                Err(SelectorError::new(format!("nothing can follow `@{name}` in a path"), HINT))
            }
            (Some(c), _) => Err(self.unexpected(c)),
        }
    }

    /// Takes an attribute or `text()`, which end a path.
    fn take_value(&mut self, axis: Axis, steps: &mut Vec<Step>) -> Parsed<Option<PathValue>> {
        let taken = if self.take("@") {
            PathValue::Attribute(self.name()?.to_ascii_lowercase())
        } else if self.take("text()") {
            PathValue::OwnText
        } else {
            return Ok(None);
        };
        if axis == Axis::Descendant {
            steps.push(Step { axis, test: NodeTest::Any, predicates: Vec::new() });
        }
        Ok(Some(taken))
    }

    fn step(&mut self, axis: Axis) -> Parsed<Step> {
        let (axis, test) = match () {
            () if self.take("..") => (Axis::Parent, NodeTest::Any),
            () if self.take(".") => (Axis::Itself, NodeTest::Any),
            () => self.axis_and_test(axis)?,
        };
        let mut predicates = Vec::new();
        while self.take("[") {
            predicates.push(self.either()?);
            self.expect("]")?;
        }
        Ok(Step { axis, test, predicates })
    }

    fn axis_and_test(&mut self, axis: Axis) -> Parsed<(Axis, NodeTest)> {
        if self.take("*") {
            return Ok((axis, NodeTest::Any));
        }
        let name = self.name()?;
        if self.take("(") {
            return Err(not_supported(&name));
        }
        if !self.take("::") {
            return Ok((axis, NodeTest::Name(name.to_ascii_lowercase())));
        }
        let other = match name.as_str() {
            "child" => Axis::Child,
            "descendant" => Axis::Descendant,
            "following-sibling" => Axis::FollowingSibling,
            "preceding-sibling" => Axis::PrecedingSibling,
            "parent" => Axis::Parent,
            "self" => Axis::Itself,
            _ => return Err(SelectorError::new(format!("the axis `{name}` is not supported"), AXES)),
        };
        if axis == Axis::Descendant && other != Axis::Descendant {
            let message = format!("`//{name}::` is not supported");
            return Err(SelectorError::new(message, "name the element before it: `//dt/following-sibling::dd`"));
        }
        let test = if self.take("*") { NodeTest::Any } else { NodeTest::Name(self.name()?.to_ascii_lowercase()) };
        Ok((other, test))
    }

    fn either(&mut self) -> Parsed<Predicate> {
        let mut parts = vec![self.every()?];
        while self.take_word("or") {
            parts.push(self.every()?);
        }
        Ok(combine(parts, Predicate::Any))
    }

    fn every(&mut self) -> Parsed<Predicate> {
        let mut parts = vec![self.predicate()?];
        while self.take_word("and") {
            parts.push(self.predicate()?);
        }
        Ok(combine(parts, Predicate::All))
    }

    fn predicate(&mut self) -> Parsed<Predicate> {
        self.skip_space();
        if self.rest.is_empty() {
            return Err(self.ends_early("a predicate"));
        }
        if self.take("(") {
            let predicate = self.either()?;
            self.expect(")")?;
            return Ok(predicate);
        }
        let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            let (number, rest) = self.rest.split_at(digits);
            self.rest = rest;
            return match number.parse() {
                Ok(0) => Err(SelectorError::new("positions in a path begin at 1", "write `[1]` for the first one")),
                Ok(position) => Ok(Predicate::Position(position)),
                Err(_) => Err(SelectorError::new("a position in a path is too large", PREDICATES)),
            };
        }
        if self.take("last()") {
            return Ok(Predicate::Last);
        }
        if self.take("not(") {
            let predicate = self.either()?;
            self.expect(")")?;
            return Ok(Predicate::Not(Box::new(predicate)));
        }
        for (function, make) in [
            ("contains(", Predicate::Contains as fn(Operand, String) -> Predicate),
            ("starts-with(", Predicate::StartsWith),
        ] {
            if self.take(function) {
                let operand = self.operand()?;
                self.expect(",")?;
                let text = self.quoted()?;
                self.expect(")")?;
                return Ok(make(operand, text));
            }
        }
        let operand = self.operand()?;
        self.skip_space();
        if self.take("!=") {
            Ok(Predicate::Differs(operand, self.quoted()?))
        } else if self.take("=") {
            Ok(Predicate::Equals(operand, self.quoted()?))
        } else {
            Ok(Predicate::Has(operand))
        }
    }

    fn operand(&mut self) -> Parsed<Operand> {
        self.skip_space();
        if self.take("@") {
            return Ok(Operand::Attribute(self.name()?.to_ascii_lowercase()));
        }
        for text in ["normalize-space(.)", "normalize-space(text())", "normalize-space()", "text()", "."] {
            if self.take(text) {
                return Ok(Operand::Text);
            }
        }
        let name = self.name()?;
        if self.take("(") { Err(not_supported(&name)) } else { Ok(Operand::Child(name.to_ascii_lowercase())) }
    }

    fn quoted(&mut self) -> Parsed<String> {
        self.skip_space();
        let quote = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let Some(quote) = quote else {
            let at = self.position();
            let message = format!("expected a text in quotes at character {at} of the path");
            return Err(SelectorError::new(message, PREDICATES));
        };
        match self.rest[1..].split_once(quote) {
            Some((text, rest)) => {
                self.rest = rest;
                Ok(text.to_owned())
            }
            None => {
                let message = format!("a quote is not closed in the path `{}`", self.text);
                Err(SelectorError::new(message, "add the quote that is missing"))
            }
        }
    }

    /// Takes the name of an element or attribute.
    fn name(&mut self) -> Parsed<String> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let length = self.rest.len() - self.rest.trim_start_matches(is_part).len();
        let (name, rest) = self.rest.split_at(length);
        match rest.chars().next() {
            _ if !name.is_empty() => {}
            None => return Err(self.ends_early("a name")),
            Some(c) => return Err(self.unexpected(c)),
        }
        self.rest = rest;
        Ok(name.to_owned())
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes `and` or `or`, which must stand between spaces or brackets.
    fn take_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(word).filter(|rest| rest.starts_with([' ', '(', '@', '.']));
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, text: &str) -> Parsed<()> {
        self.skip_space();
        if self.take(text) {
            return Ok(());
        }
        let place = match self.rest {
            "" => format!("at the end of the path `{}`", self.text),
            _ => format!("at character {} of the path", self.position()),
        };
        Err(SelectorError::new(format!("expected `{text}` {place}"), PREDICATES))
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Returns the position of the rest, in characters from 1.
    fn position(&self) -> usize {
        let trimmed = self.text.trim_end();
        let before = trimmed.len().saturating_sub(self.rest.len());
        trimmed.get(..before).map_or(0, |before| before.chars().count()) + 1
    }

    fn ends_early(&self, expected: &str) -> SelectorError {
        SelectorError::new(format!("the path `{}` ends where {expected} is expected", self.text), HINT)
    }

    fn unexpected(&mut self, c: char) -> SelectorError {
        self.skip_space();
        let c = if c == ' ' { self.rest.chars().next().unwrap_or(c) } else { c };
        let hint = if c == '|' { "write several places under `any`" } else { HINT };
        SelectorError::new(format!("unexpected `{c}` in a path, at character {}", self.position()), hint)
    }
}

fn combine(mut parts: Vec<Predicate>, several: fn(Vec<Predicate>) -> Predicate) -> Predicate {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => several(parts.into_iter().chain(last).collect()),
    }
}

fn not_supported(function: &str) -> SelectorError {
    SelectorError::new(format!("`{function}()` is not supported in a path"), PREDICATES)
}
