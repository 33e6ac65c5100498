//! What sites say about the use of their pages, and the decision for the purpose of a crawl.
//!
//! Sites say it in several forms and places (`docs/reference/use.md`). Readers turn each into a
//! [`UseStatement`]; [`decide`] applies them to one purpose. The crawl step attaches what
//! robots.txt, the well-known file and a licence say to each visit, as they were when the URL was
//! requested, so the parser's result depends on no other stored data.

mod site_file;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::site_file::{FileAnswer, RslAnswer, RslFile, RslTerms, TdmAnswer, TdmFile, TdmRule};

use crate::shown::one_line;

/// The version of the rules by which statements are read and decided. It rises whenever the same
/// statement may mean something else.
pub const RULES_VERSION: u16 = 1;

/// The limit on the text of a statement, in characters.
const TEXT_CHARS_MAX: usize = 200;

/// The limit on the statements about one page. Further ones are combined with the last.
const STATEMENTS_MAX: usize = 24;

/// A purpose for which pages are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// An index that leads people to the pages, with excerpts.
    Search,
    /// Input of a generative model: answers, summaries, retrieval.
    AiInput,
    /// Training or adapting a model.
    AiTrain,
    /// Keeping copies for later readers.
    Archive,
}

impl Purpose {
    /// All purposes.
    pub const ALL: [Self; 4] = [Self::Search, Self::AiInput, Self::AiTrain, Self::Archive];

    /// Returns its word in a definition and in stored statements.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::AiInput => "ai-input",
            Self::AiTrain => "ai-train",
            Self::Archive => "archive",
        }
    }

    /// Returns the purpose with this word; `None` if there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.name() == name)
    }

    /// Whether a reservation of text and data mining concerns it.
    ///
    /// Directive (EU) 2019/790 defines mining as analysis that generates information. Training is
    /// that, and so is what a model makes of pages for an answer. Sites that reserve mining and
    /// want to be found are the rule, so an index that leads to the pages is not meant.
    #[must_use]
    pub const fn is_mining(self) -> bool {
        matches!(self, Self::AiInput | Self::AiTrain)
    }

    /// Whether a licence in an RSL file has a word for it.
    #[must_use]
    pub const fn is_licensed(self) -> bool {
        matches!(self, Self::Search | Self::AiInput | Self::AiTrain)
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is said of a use. The greater of two applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UseStand {
    /// It is allowed.
    Allowed,
    /// It is reserved: not without asking.
    Reserved,
}

impl UseStand {
    /// Returns its name as stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Reserved => "reserved",
        }
    }
}

/// What is said of each use; `None` where nothing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct UseStands {
    /// Of [`Purpose::Search`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<UseStand>,
    /// Of [`Purpose::AiInput`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai_input: Option<UseStand>,
    /// Of [`Purpose::AiTrain`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai_train: Option<UseStand>,
    /// Of [`Purpose::Archive`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<UseStand>,
}

impl UseStands {
    /// Nothing is said.
    pub const NOTHING: Self = Self { search: None, ai_input: None, ai_train: None, archive: None };

    /// Says this of every use that mines pages.
    #[must_use]
    pub const fn of_mining(stand: UseStand) -> Self {
        Self { ai_input: Some(stand), ai_train: Some(stand), ..Self::NOTHING }
    }

    /// Returns what is said of a purpose; `None` if nothing is.
    #[must_use]
    pub const fn get(self, purpose: Purpose) -> Option<UseStand> {
        match purpose {
            Purpose::Search => self.search,
            Purpose::AiInput => self.ai_input,
            Purpose::AiTrain => self.ai_train,
            Purpose::Archive => self.archive,
        }
    }

    /// Returns this with a stand on a purpose added: the more restrictive one stays.
    #[must_use]
    pub fn with(mut self, purpose: Purpose, stand: UseStand) -> Self {
        let field = match purpose {
            Purpose::Search => &mut self.search,
            Purpose::AiInput => &mut self.ai_input,
            Purpose::AiTrain => &mut self.ai_train,
            Purpose::Archive => &mut self.archive,
        };
        *field = (*field).max(Some(stand));
        self
    }

    /// Combines two: of each use the more restrictive stand applies.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            search: self.search.max(other.search),
            ai_input: self.ai_input.max(other.ai_input),
            ai_train: self.ai_train.max(other.ai_train),
            archive: self.archive.max(other.archive),
        }
    }
}

/// The place of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UseSource {
    /// A line of robots.txt.
    Robots,
    /// `/.well-known/tdmrep.json`.
    WellKnown,
    /// The RSL file that robots.txt names as its licence.
    Rsl,
    /// A field of the answer's header.
    Header,
    /// An element of the page itself.
    Page,
}

impl UseSource {
    /// Returns its name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Robots => "robots.txt",
            Self::WellKnown => "/.well-known/tdmrep.json",
            Self::Rsl => "RSL file",
            Self::Header => "header",
            Self::Page => "page",
        }
    }
}

/// One statement about the use of a page.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UseStatement {
    /// Where it stands.
    pub source: UseSource,
    /// Its text, on one line: a header field, an element, a line with its number.
    pub text: String,
    /// Its meaning. It may say nothing of any purpose, and is then only recorded.
    #[serde(flatten)]
    pub says: UseStands,
}

impl UseStatement {
    /// Creates a statement; its text is cut at a limit.
    #[must_use]
    pub fn new(source: UseSource, text: &str, says: UseStands) -> Self {
        Self { source, text: one_line(text, TEXT_CHARS_MAX), says }
    }
}

impl UseStatement {
    /// Returns it with its meaning, on one line: `header: tdm-reservation: 1 (ai-input reserved,
    /// ai-train reserved)`.
    #[must_use]
    pub fn with_meaning(&self) -> String {
        let meaning = Purpose::ALL.into_iter().filter_map(|purpose| {
            let stand = self.says.get(purpose)?;
            Some(format!("{purpose} {}", stand.name()))
        });
        let meaning = meaning.collect::<Vec<_>>().join(", ");
        let meaning = if meaning.is_empty() { "which says nothing of the page itself" } else { &meaning };
        format!("{self} ({meaning})")
    }
}

impl fmt::Display for UseStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source.name(), self.text)
    }
}

/// Adds statements to others, as many as one page may have. What those beyond the limit say is
/// added to the last one, so that no reservation is lost.
pub fn add_statements(statements: &mut Vec<UseStatement>, more: impl IntoIterator<Item = UseStatement>) {
    for statement in more {
        if statements.len() < STATEMENTS_MAX {
            statements.push(statement);
        } else if let Some(last) = statements.last_mut() {
            last.says = last.says.and(statement.says);
        }
    }
}

/// The limit on the statements that are stored with a visit, and on their texts as JSON, in bytes:
/// they have to fit one field of a WARC record.
const VISIT_STATEMENTS_MAX: usize = 12;
const VISIT_TEXT_BYTES_MAX: usize = 5_000;

/// Returns the statements to be stored with a visit. What those beyond the limits say is added to
/// the last one that is kept, so that no reservation is lost.
#[must_use]
pub fn for_visit(statements: Vec<UseStatement>) -> Vec<UseStatement> {
    let (mut kept, mut bytes): (Vec<UseStatement>, usize) = (Vec::new(), 0);
    for statement in statements {
        bytes += serde_json::to_string(&statement.text).map_or(VISIT_TEXT_BYTES_MAX, |text| text.len());
        let is_full = kept.len() >= VISIT_STATEMENTS_MAX || bytes > VISIT_TEXT_BYTES_MAX;
        match kept.last_mut() {
            Some(last) if is_full => last.says = last.says.and(statement.says),
            _ => kept.push(statement),
        }
    }
    kept
}

/// Returns what all statements together say: of each use the most restrictive stand applies.
#[must_use]
pub fn combined(statements: &[UseStatement]) -> UseStands {
    statements.iter().fold(UseStands::NOTHING, |said, statement| said.and(statement.says))
}

/// Whether a page may be used for a purpose, with the statement that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseDecision<'s> {
    /// Nobody says anything: it may be used.
    NothingSaid,
    /// It may be used, as this statement says.
    Allowed(&'s UseStatement),
    /// It must not be used, as this statement says.
    Reserved(&'s UseStatement),
}

impl<'s> UseDecision<'s> {
    /// Returns the statement that reserves the use; `None` if it is not reserved.
    #[must_use]
    pub const fn reserved_by(self) -> Option<&'s UseStatement> {
        match self {
            Self::Reserved(statement) => Some(statement),
            Self::NothingSaid | Self::Allowed(_) => None,
        }
    }
}

/// Decides whether a page may be used for a purpose. One reservation is enough, whatever others
/// allow; the first one is named.
///
/// ```
/// use dragline_domain::use_preferences::{Purpose, UseDecision, UseSource, UseStand, UseStands, UseStatement, decide};
/// let says = UseStands::NOTHING.with(Purpose::AiTrain, UseStand::Reserved);
/// let said = [UseStatement::new(UseSource::Header, "Content-Usage: train-ai=n", says)];
/// assert_eq!(decide(Purpose::AiTrain, &said), UseDecision::Reserved(&said[0]));
/// assert_eq!(decide(Purpose::Search, &said), UseDecision::NothingSaid);
/// ```
#[must_use]
pub fn decide(purpose: Purpose, statements: &[UseStatement]) -> UseDecision<'_> {
    let first = |stand| statements.iter().find(move |statement| statement.says.get(purpose) == Some(stand));
    match (first(UseStand::Reserved), first(UseStand::Allowed)) {
        (Some(reserved), _) => UseDecision::Reserved(reserved),
        (None, Some(allowed)) => UseDecision::Allowed(allowed),
        (None, None) => UseDecision::NothingSaid,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(text: &str, says: UseStands) -> UseStatement {
        UseStatement::new(UseSource::Robots, text, says)
    }

    fn stands() -> impl Strategy<Value = UseStands> {
        let stand = || prop::option::of(prop_oneof![Just(UseStand::Allowed), Just(UseStand::Reserved)]);
        (stand(), stand(), stand(), stand()).prop_map(|(search, ai_input, ai_train, archive)| UseStands {
            search,
            ai_input,
            ai_train,
            archive,
        })
    }

    #[test]
    fn the_most_restrictive_statement_decides() {
        use UseStand::{Allowed, Reserved};
        let of = |stand| UseStands::NOTHING.with(Purpose::AiTrain, stand);
        for (statements, expected, why) in [
            (vec![], None, "nothing is said"),
            (vec![said("a", of(Allowed))], None, "it is allowed"),
            (vec![said("a", of(Reserved))], Some("a"), "it is reserved"),
            (vec![said("a", of(Allowed)), said("b", of(Reserved))], Some("b"), "one of two reserves it"),
            (vec![said("a", of(Reserved)), said("b", of(Allowed))], Some("a"), "in any order"),
            (vec![said("a", of(Reserved)), said("b", of(Reserved))], Some("a"), "the first is named"),
            (vec![said("a", UseStands::NOTHING.with(Purpose::Search, Reserved))], None, "another use is reserved"),
        ] {
            let by = decide(Purpose::AiTrain, &statements).reserved_by().map(|by| by.text.as_str());
            assert_eq!(by, expected, "{why}");
        }
    }

    #[test]
    fn a_statement_is_stored_with_its_meaning() {
        let says = UseStands::of_mining(UseStand::Reserved);
        let statement = UseStatement::new(UseSource::Header, "X-Robots-Tag: noai\r\nX-Evil: 1", says);
        let stored = serde_json::to_string(&statement).unwrap();
        let expected =
            r#"{"source":"header","text":"X-Robots-Tag: noai X-Evil: 1","ai-input":"reserved","ai-train":"reserved"}"#;
        assert_eq!(stored, expected);
        assert_eq!(serde_json::from_str::<UseStatement>(&stored).unwrap(), statement);
        for purpose in Purpose::ALL {
            assert_eq!(Purpose::from_name(purpose.name()), Some(purpose));
            assert_eq!(serde_json::to_string(&purpose).unwrap(), format!("\"{purpose}\""));
        }
    }

    proptest! {
        #[test]
        fn no_reservation_is_lost_among_many(all in prop::collection::vec(stands(), 0..60)) {
            let mut kept = Vec::new();
            add_statements(&mut kept, all.iter().map(|says| said("x", *says)));
            prop_assert!(kept.len() <= STATEMENTS_MAX);
            let each = all.iter().fold(UseStands::NOTHING, |said, says| said.and(*says));
            prop_assert_eq!(combined(&kept), each);
            let stored = for_visit(kept.clone());
            prop_assert!(stored.len() <= VISIT_STATEMENTS_MAX);
            prop_assert_eq!(combined(&stored), each);
            for purpose in Purpose::ALL {
                let is_reserved = all.iter().any(|says| says.get(purpose) == Some(UseStand::Reserved));
                prop_assert_eq!(decide(purpose, &kept).reserved_by().is_some(), is_reserved);
            }
        }
    }
}
