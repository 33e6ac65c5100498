//! Errors of the word index.

use std::io;
use std::ops::Range;
use std::path::PathBuf;

use dragline_graph::GraphError;
use dragline_ports::error::PortError;
use tantivy::TantivyError;

/// The index could not be built, updated or searched.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The crawl could not be read.
    #[error(transparent)]
    Reader(#[from] PortError),
    /// The link graph, which ranks pages, could not be read.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The query is not valid.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Another process is building the index, and there is no earlier one to search.
    #[error("another process is making the word index in {folder}")]
    Busy {
        /// The index's folder.
        folder: PathBuf,
    },
    /// The index cannot be used.
    #[error("the word index in {folder}: {source}")]
    Index {
        /// The index's folder.
        folder: PathBuf,
        /// The cause.
        source: IndexError,
    },
}

/// Why an index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The index library's error.
    #[error(transparent)]
    Tantivy(#[from] TantivyError),
    /// The file system's error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A stored page cannot be parsed.
    #[error("a page in it cannot be read: {0}")]
    Page(#[from] serde_json::Error),
}

/// A syntax error in a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the query is not valid: {problem}")]
pub struct QueryError {
    /// The kind of error.
    pub problem: QueryProblem,
    /// The range of the query that is wrong, in bytes.
    pub at: Range<usize>,
}

/// The kinds of syntax errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryProblem {
    /// The query is empty.
    #[error("it is empty")]
    Empty,
    /// It is too long, in bytes.
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
    /// It has too many parts.
    #[error("it has more than {0} words")]
    TooManyWords(usize),
    /// A phrase is not closed.
    #[error("the quotation mark is not closed")]
    OpenQuote,
    /// A parenthesis is not closed.
    #[error("the parenthesis is not closed")]
    OpenParenthesis,
    /// A parenthesis was not opened.
    #[error("the parenthesis closes none")]
    StrayParenthesis,
    /// Parentheses are nested too deeply.
    #[error("more than {0} parentheses are open")]
    TooDeep(usize),
    /// Parentheses or quotation marks are empty, or an operand of `OR` or `-` is missing.
    #[error("there is nothing to search for here")]
    Nothing,
    /// No field has this name.
    #[error("there is no field `{0}`")]
    NoField(String),
    /// A field without a value.
    #[error("the field `{0}` has no value")]
    NoValue(String),
    /// A value is not a date.
    #[error("`{0}` is not a date")]
    NotADate(String),
    /// A site has more than a host and a port.
    #[error("`{0}` is not the name of a site")]
    NotASite(String),
    /// A value is not a purpose.
    #[error("`{0}` is not a purpose")]
    NotAPurpose(String),
    /// A prefix is too short.
    #[error("`{0}*` matches too many words")]
    ShortPrefix(String),
}

impl QueryError {
    /// Returns a hint on what to write instead.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self.problem {
            QueryProblem::OpenQuote => "end the phrase with a second quotation mark",
            QueryProblem::OpenParenthesis => "add a closing parenthesis, or put the text in quotation marks",
            QueryProblem::StrayParenthesis => "to search for the text as it is, put it in quotation marks",
            QueryProblem::NoField(_) => {
                "fields are title, heading, text, around, anchor, url, site, lang, type, use, after and before; to search for the text as it is, put it in quotation marks"
            }
            QueryProblem::NotADate(_) => "write it as 2026, 2026-05 or 2026-05-17",
            QueryProblem::NotASite(_) => {
                "write a host, as site:example.org, or a host and a port; for words of the path there is url:"
            }
            QueryProblem::NotAPurpose(_) => "purposes are search, ai-input, ai-train and archive",
            QueryProblem::ShortPrefix(_) => "write at least two letters before the asterisk",
            QueryProblem::Nothing => "remove the mark, or write a word after it",
            _ => return None,
        })
    }
}
