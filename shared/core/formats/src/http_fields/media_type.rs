//! The media type by which a body is parsed.

use super::ContentType;

/// A class of media types that is treated differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    /// `text/html`.
    Html,
    /// `application/xhtml+xml`.
    Xhtml,
    /// XML: its root element decides.
    Xml,
    /// No type, or one that means that the server does not know it: the body's beginning decides.
    Unknown,
    /// Text without markup: lines, or values in columns.
    Plain,
    /// JSON, or one JSON value per line.
    Json,
    /// `application/pdf`.
    Pdf,
    /// An office file.
    Office,
    /// An archive, or bytes that the server does not know: their beginning decides whether they are
    /// a file that can be parsed.
    Binary,
    /// `text/css`.
    Css,
    /// A type without a parser.
    Other,
}

/// Whether this media type, as a page writes it, is one of a feed: RSS, Atom or JSON Feed.
///
/// ```
/// assert!(dragline_formats::http_fields::is_feed("application/rss+xml; charset=utf-8"));
/// assert!(!dragline_formats::http_fields::is_feed("application/json+oembed"));
/// ```
#[must_use]
pub fn is_feed(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim_ascii();
    ["application/rss+xml", "application/atom+xml", "application/feed+json"]
        .iter()
        .any(|feed| essence.eq_ignore_ascii_case(feed))
}

impl MediaType {
    /// Classifies a `Content-Type`; `None` if there is none.
    #[must_use]
    pub fn from_content_type(content_type: Option<&ContentType>) -> Self {
        let Some(content_type) = content_type.filter(|content_type| !content_type.is_unknown()) else {
            return Self::Unknown;
        };
        match content_type.essence.as_str() {
            "text/html" => Self::Html,
            "application/xhtml+xml" => Self::Xhtml,
            "application/xml" | "text/xml" => Self::Xml,
            "text/plain" | "text/markdown" | "text/x-markdown" | "text/csv" | "text/tab-separated-values" => {
                Self::Plain
            }
            "text/css" => Self::Css,
            "application/json" | "text/json" | "application/x-ndjson" | "application/jsonl" => Self::Json,
            "application/pdf" | "application/x-pdf" => Self::Pdf,
            "application/zip" | "application/octet-stream" | "binary/octet-stream" => Self::Binary,
            other if other.ends_with("+xml") => Self::Xml,
            other if other.ends_with("+json") => Self::Json,
            other
                if other.starts_with("application/vnd.openxmlformats-officedocument.")
                    || other.starts_with("application/vnd.oasis.opendocument.")
                    || other.starts_with("application/vnd.ms-") && other.ends_with(".macroenabled.12") =>
            {
                Self::Office
            }
            _ => Self::Other,
        }
    }
}

impl MediaType {
    /// Whether a body of this type may be a page.
    #[must_use]
    pub const fn may_be_page(self) -> bool {
        match self {
            Self::Html | Self::Xhtml | Self::Xml | Self::Unknown => true,
            Self::Plain | Self::Json | Self::Pdf | Self::Office | Self::Binary | Self::Css | Self::Other => false,
        }
    }

    /// Whether bodies of this type are parsed however long they are. Others are parsed only if they
    /// are short, or are named as a sitemap.
    #[must_use]
    pub const fn is_read(self) -> bool {
        match self {
            Self::Html | Self::Xhtml | Self::Xml | Self::Unknown | Self::Plain | Self::Json | Self::Css => true,
            Self::Pdf | Self::Office | Self::Binary | Self::Other => false,
        }
    }
}
