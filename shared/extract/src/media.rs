//! What a media type says of a body.

use dragline_formats::http_fields::ContentType;

/// What a media type says of a body, as far as anything here reads them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    /// `text/html`.
    Html,
    /// `application/xhtml+xml`.
    Xhtml,
    /// XML: what of, its root element says.
    Xml,
    /// None is named, or none that its server knows: how it begins says what it is.
    Unknown,
    /// What nothing here reads.
    Other,
}

impl MediaType {
    /// What a `Content-Type` says; absent where there is none.
    #[must_use]
    pub fn of(content_type: Option<&ContentType>) -> Self {
        let Some(content_type) = content_type.filter(|content_type| !content_type.is_unknown()) else {
            return Self::Unknown;
        };
        match content_type.essence.as_str() {
            "text/html" => Self::Html,
            "application/xhtml+xml" => Self::Xhtml,
            "application/xml" | "text/xml" => Self::Xml,
            other if other.ends_with("+xml") => Self::Xml,
            _ => Self::Other,
        }
    }
}
