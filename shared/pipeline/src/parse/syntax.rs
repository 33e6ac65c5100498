//! How a body is read as a page, if it is one: by its media type, and where that leaves it open, by how it begins.

use dragline_formats::html::{Syntax, is_xhtml};
use dragline_formats::http_fields::ContentType;

/// What a media type says of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    /// A page.
    Page(Syntax),
    /// A page if its root element is one of XHTML, which browsers show as one.
    Xml,
    /// Nothing: none is named, or none that its server knows.
    Nothing,
    /// What no page is written in.
    Other,
}

impl Declared {
    /// How much of XML is looked at before all of it is: most is feeds and the like.
    pub(crate) const BEGINNING_BYTES: u64 = 16 * 1024;

    pub(crate) fn by(content_type: Option<&ContentType>) -> Self {
        let Some(content_type) = content_type.filter(|content_type| !content_type.is_unknown()) else {
            return Self::Nothing;
        };
        match content_type.essence.as_str() {
            "text/html" => Self::Page(Syntax::Html),
            "application/xhtml+xml" => Self::Page(Syntax::Xhtml),
            "application/xml" | "text/xml" => Self::Xml,
            other if other.ends_with("+xml") => Self::Xml,
            _ => Self::Other,
        }
    }

    /// How such a body of this text is read; absent if it is no page. Coding and byte order mark are off.
    pub(crate) fn syntax(self, text: &str) -> Option<Syntax> {
        match self {
            Self::Page(syntax) => Some(syntax),
            Self::Xml => is_xhtml(text).then_some(Syntax::Xhtml),
            // WHATWG MIME Sniffing, "identifying a resource with an unknown MIME type", but for markup of any element.
            Self::Nothing if text.starts_with("<?xml") && is_xhtml(text) => Some(Syntax::Xhtml),
            Self::Nothing => text.trim_ascii_start().starts_with('<').then_some(Syntax::Html),
            Self::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use dragline_formats::http_fields::content_type;

    use super::*;

    #[test]
    fn syntaxes() {
        const PAGE: &str = "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>";
        let (html, xhtml) = (Some(Syntax::Html), Some(Syntax::Xhtml));
        for (field, text, expected, why) in [
            (Some("text/html"), PAGE, html, "what is called HTML is"),
            (Some("text/html"), "text", html, "whatever it is"),
            (Some("application/xhtml+xml"), "<p>", xhtml, "so is XHTML"),
            (Some("text/xml"), PAGE, xhtml, "XML with a page in it"),
            (Some("application/xml;charset=utf-8"), PAGE, xhtml, "by its other name"),
            (Some("application/vnd.wap.xhtml+xml"), PAGE, xhtml, "or a name that ends so"),
            (Some("text/xml"), "<rss>", None, "other XML"),
            (Some("image/svg+xml"), "<svg>", None, "a drawing"),
            (None, PAGE, xhtml, "no type, and it begins like XML"),
            (None, "<?xml version='1.0'?><html>", html, "but its root is not XHTML's"),
            (None, " \n<p>", html, "no type, and it begins like a page"),
            (None, "text", None, "no type, and it begins like anything"),
            (Some("*/*"), "<p>", html, "any type is none"),
            (Some("*/*; charset=utf-8"), "text", None, "which makes no page of a text"),
            (Some("unknown/unknown"), "<p>", html, "nor is one that is not known"),
            (Some("application/unknown"), "<p>", html, "by this name, either"),
            (Some("html"), "<p>", html, "nor what is no type"),
            (Some("text/*"), "<p>", None, "half a type is another"),
            (Some("text/plain"), "<p>", None, "a text, which may be of markup"),
        ] {
            let declared = Declared::by(field.and_then(content_type).as_ref());
            assert_eq!(declared.syntax(text), expected, "{field:?}: {text}: {why}");
        }
    }
}
