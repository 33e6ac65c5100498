//! The user's own items: what the types of a definition want from a page.
//!
//! [`Types`] is compiled once for a definition. Of a page it makes the items that fit, and says of each value that does not fit which rule it breaks.
//! All that it does with a page has a limit, and a page on which one was reached is marked as cut.

mod compiled;
mod evaluate;
pub(crate) mod find;
pub(crate) mod kinds;
mod path;
mod sources;
#[cfg(test)]
mod tests;
pub(crate) mod text;
mod trace;
pub(crate) mod work;

use dom_query::Document;
use dragline_definition::selectors::SelectorError;
use dragline_domain::definition::ItemType;
use dragline_domain::item::{Item, Misfit};
use dragline_domain::url::CrawlUrl;
use url::Url;

use self::compiled::Type;
use self::evaluate::Evaluation;
pub use self::trace::{FieldResult, FieldTrace, Tried};

/// The most items that a type gives on a page, and the most records of a field.
const ROWS_MAX: usize = 1_000;
/// The most misfits of a page.
const MISFITS_MAX: usize = 1_000;
/// The most traces of a page.
const TRACES_MAX: usize = 1_000;

/// The types of a definition, compiled.
#[derive(Debug, Default)]
pub struct Types(Vec<Type>);

/// What is known of a page once it was parsed.
#[derive(Clone, Copy)]
pub struct PageParts<'p> {
    /// Its tree.
    pub document: &'p Document,
    /// The URL that it came from, by which types apply.
    pub url: &'p CrawlUrl,
    /// What its links are relative to.
    pub base: &'p Url,
    /// What its scripts with JSON-LD say, each parsed.
    pub json_ld: &'p [serde_json::Value],
    /// The items that its structured data gives.
    pub items: &'p [Item],
}

/// Whether to say where each field came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracing {
    /// For people who look at one page.
    On,
    /// For crawls.
    Off,
}

/// What the types make of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The items, type by type, in the order of the page.
    pub items: Vec<Item>,
    /// What does not fit.
    pub misfits: Vec<Misfit>,
    /// Where each field came from, if that was asked for.
    pub traces: Vec<FieldTrace>,
    /// Whether a limit was reached, so that something may be missing.
    pub was_cut: bool,
}

impl Types {
    /// No types.
    pub const NONE: &'static Self = &Self(Vec::new());

    /// Compiles the types of a definition.
    ///
    /// # Errors
    /// A selector or a path that is not supported. A definition that was read from YAML has none; a stored one might, if this version supports less.
    pub fn new(types: &[ItemType]) -> Result<Self, SelectorError> {
        types.iter().map(Type::new).collect::<Result<_, _>>().map(Self)
    }

    /// Whether any type applies to a page, so that its tree is needed.
    #[must_use]
    pub fn matching(&self, url: &CrawlUrl) -> bool {
        self.0.iter().any(|item_type| item_type.applies_to(url))
    }

    /// Makes items of a page. The same page gives the same items.
    #[must_use]
    pub fn of_page(&self, page: &PageParts<'_>, tracing: Tracing) -> Outcome {
        let types: Vec<&Type> = self.0.iter().filter(|item_type| item_type.applies_to(page.url)).collect();
        let sources = sources::Sources::collect(page, &types);
        let mut evaluation = Evaluation::new(page, &sources, tracing);
        for item_type in types {
            evaluation.item_type(item_type);
        }
        evaluation.finish()
    }
}
