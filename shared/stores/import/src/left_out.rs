//! Reasons for skipping records of an archive.

use std::fmt;

/// Why a record is not imported as a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// It describes other records: `metadata`.
    Metadata,
    /// Its type is not supported: `conversion`, `continuation` and others.
    OtherKind,
    /// Its URL cannot be crawled: `dns:`, `urn:`, `metadata:` and others.
    NotOfTheWeb,
    /// It answers a request with a method other than GET.
    OtherMethod,
    /// Its date is missing or in the future.
    NoDate,
    /// It has no HTTP response.
    NoAnswer,
    /// It is an answer for robots.txt in a crawl by Dragline, and not a visit.
    NotAVisit,
    /// It refers to a body outside of the files.
    BodyElsewhere,
    /// Another record has the same URL and the same time.
    Twice,
    /// It was tried again in the same iteration.
    Retried,
    /// The crawl has it already.
    Known,
    /// The crawl has a later visit of the URL.
    Late,
    /// There are too many later ones of the same URL.
    Crowd,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Metadata => "of kind metadata",
            Self::OtherKind => "of kinds that are not read",
            Self::NotOfTheWeb => "not of a URL that can be crawled",
            Self::OtherMethod => "for other requests than GET",
            Self::NoDate => "without a time that can be",
            Self::NoAnswer => "without an HTTP response",
            Self::NotAVisit => "by which robots.txt was read",
            Self::BodyElsewhere => "whose body is in other files",
            Self::Twice => "of the same URL and time as another",
            Self::Retried => "that were tried again",
            Self::Known => "that the crawl has already",
            Self::Late => "older than what the crawl has of the URL",
            Self::Crowd => "of URLs with many later ones",
        })
    }
}
