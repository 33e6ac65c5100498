//! Why a page cannot be looked at.

use dragline_domain::url::CrawlUrl;

/// Why a page cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExtractError {
    /// There is no answer.
    #[error("{url} was not answered: {detail}")]
    NotAnswered {
        /// The URL.
        url: CrawlUrl,
        /// The details.
        detail: String,
    },
    /// The answer is not a good one.
    #[error("{url} was answered with status {status}{}", to.as_ref().map_or_else(String::new, |to| format!(", which leads to {to}")))]
    Status {
        /// The URL.
        url: CrawlUrl,
        /// The status code.
        status: u16,
        /// Where a redirect leads; `None` if it does not.
        to: Option<CrawlUrl>,
    },
    /// robots.txt forbids it, or cannot be read.
    #[error("{url} may not be requested, by robots.txt: {rule}")]
    Robots {
        /// The URL.
        url: CrawlUrl,
        /// The rule, or why there is none.
        rule: String,
    },
    /// No extractor reads it.
    #[error("it is not a page{}", detail.as_ref().map_or_else(String::new, |detail| format!(": {detail}")))]
    Unread {
        /// Why.
        detail: Option<String>,
    },
    /// The definition's types cannot be used.
    #[error("the types of the definition cannot be used: {0}")]
    Types(String),
}

impl ExtractError {
    /// Returns what to do about it; `None` if the message is enough.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Status { to: Some(to), .. } => Some(format!("to look at that page: `dragline extract '{to}'`")),
            Self::Robots { .. } => Some("save the page by hand, and give the file with `--url`".to_owned()),
            Self::NotAnswered { .. } | Self::Status { .. } | Self::Unread { .. } | Self::Types(_) => None,
        }
    }
}
