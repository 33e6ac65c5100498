//! The definition's rules for main parts, compiled.

use dom_query::{Document, NodeId};
use dragline_definition::selectors::{Css, SelectorError};
use dragline_domain::definition::{Condition, MainRule};
use dragline_domain::url::CrawlUrl;
use selectors::context::SelectorCaches;

use crate::typed::find::select;
use crate::typed::work::Work;

/// The rules of a definition for main parts.
#[derive(Debug)]
pub struct MainRules(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    when: Option<Condition>,
    include: Vec<Css>,
    exclude: Vec<Css>,
    ignore: Vec<Css>,
}

/// The elements of a page that rules select.
#[derive(Debug, Default)]
pub(super) struct Selected {
    /// The elements of the main part; empty if no rule says.
    pub(super) included: Vec<NodeId>,
    pub(super) excluded: Vec<NodeId>,
    pub(super) ignored: Vec<NodeId>,
}

impl MainRules {
    /// No rules.
    pub const NONE: &'static Self = &Self(Vec::new());

    /// Compiles the rules of a definition.
    ///
    /// # Errors
    /// Returns an unsupported selector. A definition read from YAML has none; a stored one might,
    /// if this version supports less.
    pub fn new(rules: &[MainRule]) -> Result<Self, SelectorError> {
        let all =
            |selectors: &[String]| selectors.iter().map(|selector| Css::parse(selector)).collect::<Result<Vec<_>, _>>();
        let rule = |rule: &MainRule| {
            let MainRule { when, include, exclude, ignore } = rule;
            Ok(Rule { when: when.clone(), include: all(include)?, exclude: all(exclude)?, ignore: all(ignore)? })
        };
        rules.iter().map(rule).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the elements that the rules for this page select.
    pub(super) fn select(&self, document: &Document, url: &CrawlUrl) -> Selected {
        let mut selected = Selected::default();
        let (mut caches, mut work) = (SelectorCaches::default(), Work::new());
        for rule in self.0.iter().filter(|rule| rule.when.as_ref().is_none_or(|when| when.matches(url))) {
            let mut put = |selectors: &[Css], into: &mut Vec<NodeId>| {
                for css in selectors {
                    into.extend(select(document.root(), css, &mut caches, &mut work).iter().map(|node| node.id));
                }
            };
            put(&rule.include, &mut selected.included);
            put(&rule.exclude, &mut selected.excluded);
            put(&rule.ignore, &mut selected.ignored);
        }
        for ids in [&mut selected.included, &mut selected.excluded, &mut selected.ignored] {
            ids.sort_unstable();
        }
        selected
    }
}
