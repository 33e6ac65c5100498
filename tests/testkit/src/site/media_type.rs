//! The content type of a file, by its name.

use std::path::Path;

/// The content type that a web server would send for a file of this name.
///
/// `application/octet-stream` if the extension is unknown or missing.
#[must_use]
pub fn media_type(path: &Path) -> &'static str {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "xhtml" => "application/xhtml+xml",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "txt" | "py" | "md" => "text/plain; charset=utf-8",
        "xml" => "application/xml",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "ico" => "image/vnd.microsoft.icon",
        "pdf" => "application/pdf",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

/// Whether it is worth compressing: text in any form.
pub(super) fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || media_type.ends_with("xml")
        || matches!(media_type, "application/json" | "application/xhtml+xml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_its_type() {
        for (name, expected, why) in [
            ("index.html", "text/html; charset=utf-8", "a page"),
            ("A.HTM", "text/html; charset=utf-8", "case does not matter"),
            ("a.tar.gz", "application/octet-stream", "only the last extension counts, and gz is not served as text"),
            ("Makefile", "application/octet-stream", "no extension"),
            (".html", "application/octet-stream", "a hidden file's name is not an extension"),
            ("logo.svg", "image/svg+xml", "an image that is text"),
        ] {
            assert_eq!(media_type(Path::new(name)), expected, "{name}: {why}");
        }
    }

    #[test]
    fn only_text_is_compressed() {
        for (media_type, expected) in [
            ("text/html; charset=utf-8", true),
            ("image/svg+xml", true),
            ("application/json", true),
            ("image/png", false),
        ] {
            assert_eq!(is_text(media_type), expected, "{media_type}");
        }
    }
}
