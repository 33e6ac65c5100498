//! Paths to elements: the part of XPath 1.0 that people write, without its functions over numbers,
//! its variables and most of its axes.

mod parser;

use crate::selectors::scan::{brackets_depth, without_quoted};
use crate::selectors::{SelectorError, check_length};

/// The limit on the nesting of brackets.
const DEPTH_MAX: usize = 8;
/// The limit on the steps of a path.
const STEPS_MAX: usize = 50;

/// A parsed path to elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The steps, each from the results of the one before; the first from the page, or from the
    /// element that is searched.
    pub steps: Vec<Step>,
    /// The value to take from the elements of the last step.
    pub taken: PathValue,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its direction.
    pub axis: Axis,
    /// The elements that it selects.
    pub test: NodeTest,
    /// Conditions on these elements, applied in order: a position counts among the elements that
    /// pass the earlier ones.
    pub predicates: Vec<Predicate>,
}

/// The direction of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// To the children.
    Child,
    /// To all descendants; a position counts among the children of one parent.
    Descendant,
    /// To the parent.
    Parent,
    /// To the element itself.
    Itself,
    /// To the following siblings.
    FollowingSibling,
    /// To the preceding siblings, the nearest first.
    PrecedingSibling,
}

/// The elements that a step selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeTest {
    /// All elements.
    Any,
    /// Those with this name, in lower case.
    Name(String),
}

/// A condition on an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// It is the one at this position, counted from 1.
    Position(usize),
    /// It is the last one.
    Last,
    /// It has this operand, which is not empty.
    Has(Operand),
    /// The operand equals this text.
    Equals(Operand, String),
    /// The operand exists, and differs from this text.
    Differs(Operand, String),
    /// The operand contains this text.
    Contains(Operand, String),
    /// The operand begins with this text.
    StartsWith(Operand, String),
    /// All of these hold.
    All(Vec<Self>),
    /// At least one of these holds.
    Any(Vec<Self>),
    /// This does not hold.
    Not(Box<Self>),
}

/// The operand of a predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The element's text, with all white space collapsed to single spaces.
    Text,
    /// The value of an attribute.
    Attribute(String),
    /// The text of a child with this name.
    Child(String),
}

/// The value to take from an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathValue {
    /// The element: its text, or its contents.
    Element,
    /// Its own text, without that of its descendants.
    OwnText,
    /// The value of an attribute.
    Attribute(String),
}

impl Path {
    /// Parses a path.
    ///
    /// # Errors
    /// Fails, with a hint, if it is not a path or has unsupported parts.
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
    fn paths_have_steps_predicates_and_a_value() {
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
        assert_eq!(path, Path { steps: vec![div, a], taken: PathValue::Attribute("href".to_owned()) });
        for (text, steps, taken, why) in [
            ("/html/body/p", 3, PathValue::Element, "from the root"),
            (".//td[2]/text()", 1, PathValue::OwnText, "the dot before is for people who know XPath"),
            ("td", 1, PathValue::Element, "a child"),
            ("@id", 0, PathValue::Attribute("id".to_owned()), "of the element itself"),
            ("//dt[.='Price']/following-sibling::dd[1]", 2, PathValue::Element, "the next sibling"),
            ("//a/..//b[text()='1' or b='2' or (@c)]", 3, PathValue::Element, "the parent"),
            ("//a[normalize-space(.)='1']/node()", 0, PathValue::Element, "nodes of any kind are not elements"),
        ] {
            match Path::parse(text) {
                Ok(path) => assert_eq!((path.steps.len(), path.taken), (steps, taken), "{text}: {why}"),
                Err(error) => assert_eq!((steps, &*error.message), (0, "`node()` is not supported in a path"), "{why}"),
            }
        }
    }
}
