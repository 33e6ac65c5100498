//! User-defined items: the types of a definition, applied to a page.
//!
//! [`Types`] is compiled once for a definition. It makes the items of a page, and reports the
//! broken rule for each value that does not fit. All work on a page is limited, and a page that
//! reached a limit is marked as cut.

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
pub use self::trace::{FieldResult, FieldTrace, TriedPlace};

/// The most items of a type on a page, and the most records of a field.
const ROWS_MAX: usize = 1_000;
/// The most misfits of a page.
const MISFITS_MAX: usize = 1_000;
/// The most traces of a page.
const TRACES_MAX: usize = 1_000;

/// The types of a definition, compiled.
#[derive(Debug, Default)]
pub struct Types(Vec<Type>);

/// A parsed page.
#[derive(Clone, Copy)]
pub struct PageParts<'p> {
    /// Its tree.
    pub document: &'p Document,
    /// The URL that it came from, which decides which types apply.
    pub url: &'p CrawlUrl,
    /// The base of its links.
    pub base: &'p Url,
    /// The parsed JSON-LD of its scripts.
    pub json_ld: &'p [serde_json::Value],
    /// The items from its structured data.
    pub items: &'p [Item],
}

/// Whether to report where each field came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracing {
    /// Yes, for people who examine one page.
    On,
    /// No, for crawls.
    Off,
}

/// The result of applying the types to a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The items, type by type, in page order.
    pub items: Vec<Item>,
    /// Values that do not fit.
    pub misfits: Vec<Misfit>,
    /// Where each field came from, if tracing is on.
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
    /// Returns an unsupported selector or path. A definition read from YAML has none; a stored one
    /// might, if this version supports less.
    pub fn new(types: &[ItemType]) -> Result<Self, SelectorError> {
        types.iter().map(Type::new).collect::<Result<_, _>>().map(Self)
    }

    /// Whether any type applies to a page, so that its tree is needed.
    #[must_use]
    pub fn matching(&self, url: &CrawlUrl) -> bool {
        self.0.iter().any(|item_type| item_type.applies_to(url))
    }

    /// Makes the items of a page. The same page gives the same items.
    #[must_use]
    pub fn apply(&self, page: &PageParts<'_>, tracing: Tracing) -> Outcome {
        let types: Vec<&Type> = self.0.iter().filter(|item_type| item_type.applies_to(page.url)).collect();
        let sources = sources::Sources::collect(page, &types);
        let mut evaluation = Evaluation::new(page, &sources, tracing);
        for item_type in types {
            evaluation.item_type(item_type);
        }
        evaluation.finish()
    }
}
