//! Validation of bodies in their formats.
//!
//! Every reported flaw is certain: a body that the format's own checkers accept has no flaws here.
//! Everything is read in one pass and in bounded memory besides the body; external entities are
//! never read.

mod atom;
mod css;
mod dates;
mod flaws;
mod html;
mod json;
mod outline;
mod rss;
mod sitemap;
#[cfg(test)]
mod tests;
mod xml;

use dragline_domain::validity::{ValidationType, Validity};
use dragline_formats::charset::{CharsetSource, Decoded};

use crate::body::{Body, Settings, Source};
use crate::fields::MediaType;

pub(crate) use self::dates::w3c_instant;
pub use self::flaws::FLAWS_MAX;
use self::flaws::{Flaws, LineColumn};

/// Validates a body in its format, by its `Content-Type` and, for XML, its root element. The same
/// bytes under the same fields give the same result.
///
/// `None` if the format is not validated, the content coding is not supported, or the body is
/// longer than the settings allow.
#[must_use]
pub fn validity(source: &Source<'_>, settings: &Settings<'_>) -> Option<Validity> {
    validate_body(&Body::read(source, settings).ok()?)
}

/// Validates a body whose header was read.
pub(crate) fn validate_body(body: &Body<'_>) -> Option<Validity> {
    let Body { source, settings, .. } = body;
    let declared = source.headers.content_type();
    let format = Format::detect(body.media, declared.as_ref().map(|kind| kind.essence.as_str()))?;
    let bytes = body.decoded();
    if bytes.len() as u64 >= settings.decoded_bytes_max {
        return None;
    }
    let mut flaws = Flaws::default();
    if format == Format::Json {
        json::check(&bytes, &mut flaws);
        return Some(flaws.finish(ValidationType::Json));
    }
    let decoded = body.text(&bytes);
    let text = decoded.text.as_ref();
    let kind = match format {
        Format::Unknown if text.starts_with("<?xml") => xml::check(text, &mut flaws),
        Format::Unknown if text.trim_ascii_start().starts_with('<') => html::check(text, &mut flaws),
        Format::Unknown => return None,
        Format::Html => html::check(text, &mut flaws),
        Format::Css => css::check(text, &mut flaws),
        Format::Xml(kind) => match xml::check(text, &mut flaws) {
            ValidationType::Xml => kind,
            by_root => by_root,
        },
        Format::Json => ValidationType::Json,
    };
    check_encoding(&bytes, &decoded, kind, &mut flaws);
    Some(flaws.finish(kind))
}

/// The format of a body by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Html,
    /// XML, of this type if its root element does not decide.
    Xml(ValidationType),
    Css,
    Json,
    /// Unknown until the body's beginning is examined.
    Unknown,
}

impl Format {
    fn detect(media: MediaType, essence: Option<&str>) -> Option<Self> {
        let essence = essence.unwrap_or_default();
        Some(match media {
            MediaType::Html => Self::Html,
            MediaType::Unknown => Self::Unknown,
            MediaType::Xhtml => Self::Xml(ValidationType::Xhtml),
            MediaType::Xml if essence == "application/rss+xml" => Self::Xml(ValidationType::Rss),
            MediaType::Xml if essence == "application/atom+xml" => Self::Xml(ValidationType::Atom),
            MediaType::Xml => Self::Xml(ValidationType::Xml),
            MediaType::Css => Self::Css,
            MediaType::Json if matches!(essence, "application/json" | "text/json") || essence.ends_with("+json") => {
                Self::Json
            }
            MediaType::Plain
            | MediaType::Json
            | MediaType::Pdf
            | MediaType::Office
            | MediaType::Binary
            | MediaType::Other => return None,
        })
    }
}

/// Checks that the bytes are in their declared encoding.
fn check_encoding(bytes: &[u8], decoded: &Decoded<'_>, kind: ValidationType, flaws: &mut Flaws) {
    let is_xml = !matches!(kind, ValidationType::Html | ValidationType::Css | ValidationType::Json);
    let text = decoded.text.as_ref();
    if decoded.encoding == "UTF-8" {
        if let Err(error) = str::from_utf8(bytes) {
            let valid = str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            let valid = valid.strip_prefix('\u{feff}').unwrap_or(valid);
            flaws.add("encoding", || LineColumn::locate(valid, valid.len()), || "this is not UTF-8".to_owned());
        }
    } else if !matches!(decoded.encoding, "gb18030" | "UTF-16LE" | "UTF-16BE")
        && let Some(at) = text.find('\u{fffd}')
    {
        flaws.add("encoding", || LineColumn::locate(text, at), || format!("this is not {}", decoded.encoding));
    }
    if !is_xml {
        return;
    }
    if decoded.source == CharsetSource::Detected && !decoded.encoding.starts_with("UTF-") {
        let message = || format!("no encoding is declared, and this is not UTF-8 (probably {})", decoded.encoding);
        flaws.add("encoding", || LineColumn::START, message);
    }
    if decoded.source == CharsetSource::Bom
        && let Some(label) = xml::declared_encoding(text)
    {
        let label = label.to_ascii_lowercase();
        let is_as_declared = match decoded.encoding {
            "UTF-8" => matches!(label.as_str(), "utf-8" | "utf8"),
            _ => label.starts_with("utf-16") || label.contains("ucs-2"),
        };
        if !is_as_declared {
            let message = || {
                format!("the declaration says {}, and the byte order mark {}", flaws::quoted(&label), decoded.encoding)
            };
            flaws.add("encoding", || LineColumn::START, message);
        }
    }
}
