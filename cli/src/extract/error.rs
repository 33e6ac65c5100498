//! Why a page cannot be extracted.

use dragline_domain::url::CrawlUrl;

/// Why a page cannot be extracted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExtractError {
    /// There was no response.
    #[error("{url} was not answered: {detail}")]
    NotAnswered { url: CrawlUrl, detail: String },
    /// The response has an unsuccessful status.
    #[error("{url} was answered with status {status}{}", to.as_ref().map_or_else(String::new, |to| format!(", which leads to {to}")))]
    Status {
        url: CrawlUrl,
        status: u16,
        /// The target of a redirect; `None` if it is not one.
        to: Option<CrawlUrl>,
    },
    /// robots.txt forbids it, or cannot be read.
    #[error("{url} may not be requested, by robots.txt: {rule}")]
    Robots {
        url: CrawlUrl,
        /// The rule, or why robots.txt cannot be read.
        rule: String,
    },
    /// No extractor reads the page.
    #[error("it is not a page{}", detail.as_ref().map_or_else(String::new, |detail| format!(": {detail}")))]
    Unread {
        /// Why.
        detail: Option<String>,
    },
    /// The item types of the definition cannot be used.
    #[error("the types of the definition cannot be used: {0}")]
    Types(String),
}

impl ExtractError {
    /// Returns a hint on how to fix it; `None` if the message is enough.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Status { to: Some(to), .. } => Some(format!("to look at that page: `dragline extract '{to}'`")),
            Self::Robots { .. } => Some("save the page by hand, and give the file with `--url`".to_owned()),
            Self::NotAnswered { .. } | Self::Status { .. } | Self::Unread { .. } | Self::Types(_) => None,
        }
    }
}
