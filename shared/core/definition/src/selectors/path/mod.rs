//! Paths to elements: a part of XPath 1.0 that people write, without its functions over numbers, its variables and most of its axes.

mod parser;

use crate::selectors::scan::{brackets_depth, without_quoted};
use crate::selectors::{SelectorError, check_length};

/// How deep brackets may be nested.
const DEPTH_MAX: usize = 8;
/// The most steps of a path.
const STEPS_MAX: usize = 50;

/// A path to elements, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The steps, each from what the one before it has found; the first one from the page, or from the element that is looked into.
    pub steps: Vec<Step>,
    /// What is taken from the elements that the last step finds.
    pub taken: Taken,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// In which direction.
    pub axis: Axis,
    /// To which elements.
    pub test: NodeTest,
    /// What must be true of them, one after the other: a position counts among those for which the earlier ones hold.
    pub predicates: Vec<Predicate>,
}

/// In which direction a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// To the children.
    Child,
    /// To everything below; a position counts among the children of one parent.
    Descendant,
    /// To the parent.
    Parent,
    /// To the element itself.
    Itself,
    /// To the siblings after it.
    FollowingSibling,
    /// To the siblings before it, the nearest first.
    PrecedingSibling,
}

/// To which elements a step goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeTest {
    /// To all.
    Any,
    /// To those of this name, in lower case.
    Name(String),
}

/// What must be true of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// It is the one at this position, counted from 1.
    Position(usize),
    /// It is the last one.
    Last,
    /// It has this, and it is not empty.
    Has(Operand),
    /// This is that text.
    Equals(Operand, String),
    /// This is there, and another text.
    Differs(Operand, String),
    /// This contains that text.
    Contains(Operand, String),
    /// This begins with that text.
    StartsWith(Operand, String),
    /// Every one holds.
    All(Vec<Self>),
    /// At least one holds.
    Any(Vec<Self>),
    /// It does not hold.
    Not(Box<Self>),
}

/// What a predicate looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The element's text, in which any white space is one space.
    Text,
    /// The value of an attribute.
    Attribute(String),
    /// The text of a child of this name.
    Child(String),
}

/// What is taken from an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The element: its text, or what is within it.
    Element,
    /// Its text without that of the elements in it.
    OwnText,
    /// The value of an attribute.
    Attribute(String),
}

impl Path {
    /// Parses a path.
    ///
    /// # Errors
    /// It is not a path, or has what is not supported; with a hint.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        check_length(text)?;
        if brackets_depth(&without_quoted(text)) > DEPTH_MAX {
            return Err(SelectorError::new(format!("brackets are nested more than {DEPTH_MAX} deep"), parser::HINT));
        }
        let path = parser::Parser::new(text).path()?;
        if path.steps.len() > STEPS_MAX {
            return Err(SelectorError::new(format!("a path of more than {STEPS_MAX} steps"), "begin it with `//`"));
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_refused_with_a_reason() {
        for (text, expected, why) in [
            ("", "the path is empty", "it leads nowhere"),
            ("//", "the path `//` ends where a name is expected", "a step needs a name"),
            ("//a[", "the path `//a[` ends where a predicate is expected", "a bracket is open"),
            ("//a[1", "expected `]` at the end of the path `//a[1`", "a bracket is open"),
            ("//a[@href='x]", "a quote is not closed in the path `//a[@href='x]`", "a quote is open"),
            ("//a/ancestor::div", "the axis `ancestor` is not supported", "most axes are not"),
            ("//a[position()<3]", "`position()` is not supported in a path", "numbers are not computed"),
            ("//a[count(b)=1]", "`count()` is not supported in a path", "numbers are not computed"),
            ("count(//a)", "`count()` is not supported in a path", "the result would be a number"),
            ("//a | //b", "unexpected `|` in a path, at character 5", "`any` has several places"),
            ("//a[@b=$x]", "expected a text in quotes at character 8 of the path", "there are no variables"),
            ("//a[0]", "positions in a path begin at 1", "none is at 0"),
            ("//@href/a", "nothing can follow `@href` in a path", "an attribute has nothing below it"),
        ] {
            assert_eq!(Path::parse(text).unwrap_err().message, expected, "{text}: {why}");
        }
    }

    #[test]
    fn paths_have_steps_predicates_and_what_is_taken() {
        let path = Path::parse("//div[@class='by' and not(contains(., \"x\"))][last()]/A/@href").unwrap();
        let predicates = vec![
            Predicate::All(vec![
                Predicate::Equals(Operand::Attribute("class".to_owned()), "by".to_owned()),
                Predicate::Not(Box::new(Predicate::Contains(Operand::Text, "x".to_owned()))),
            ]),
            Predicate::Last,
        ];
        let div = Step { axis: Axis::Descendant, test: NodeTest::Name("div".to_owned()), predicates };
        let a = Step { axis: Axis::Child, test: NodeTest::Name("a".to_owned()), predicates: Vec::new() };
        assert_eq!(path, Path { steps: vec![div, a], taken: Taken::Attribute("href".to_owned()) });
        for (text, steps, taken, why) in [
            ("/html/body/p", 3, Taken::Element, "from the root"),
            (".//td[2]/text()", 1, Taken::OwnText, "the dot before is for people who know XPath"),
            ("td", 1, Taken::Element, "a child"),
            ("@id", 0, Taken::Attribute("id".to_owned()), "of the element itself"),
            ("//dt[.='Price']/following-sibling::dd[1]", 2, Taken::Element, "the next sibling"),
            ("//a/..//b[text()='1' or b='2' or (@c)]", 3, Taken::Element, "the parent"),
            ("//a[normalize-space(.)='1']/node()", 0, Taken::Element, "nodes of any kind are not elements"),
        ] {
            match Path::parse(text) {
                Ok(path) => assert_eq!((path.steps.len(), path.taken), (steps, taken), "{text}: {why}"),
                Err(error) => assert_eq!((steps, &*error.message), (0, "`node()` is not supported in a path"), "{why}"),
            }
        }
    }
}
