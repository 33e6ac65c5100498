//! What each request of a page needs: most of those that show something need no network.

use bytes::Bytes;
use dragline_domain::definition::Screenshot;
use dragline_formats::http_fields::Headers;
use dragline_ports::renderer::{AskedKind, AskedMethod};

/// What a request needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// An answer of the network.
    Answer(AskedKind, AskedMethod),
    /// A transparent pixel: many pages remove pictures that fail.
    Pixel,
    /// Permission for a request to another origin, which is itself asked.
    Preflight,
    /// Nothing: what it would bring shows no text and no link, or it would change something there.
    Refusal,
}

/// A request as the browser describes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described<'a> {
    /// What it is for, as the protocol names it (`Network.ResourceType`). At the session of the
    /// browser this is coarse: whatever scripts fetch is `XHR`.
    pub(crate) resource: &'a str,
    /// The method.
    pub(crate) method: &'a str,
    /// Its header fields.
    pub(crate) headers: &'a Headers,
}

/// Decides what a request needs, whose body is this, of a page that is to be pictured like this.
pub(crate) fn need(asked: Described<'_>, body: Bytes, screenshot: Screenshot) -> Need {
    let Described { resource, method, headers } = asked;
    if method == "OPTIONS" && headers.get("access-control-request-method").is_some() {
        return Need::Preflight;
    }
    if headers.get("sec-purpose").is_some() || headers.text("accept").is_some_and(|a| a.contains("text/event-stream")) {
        return Need::Refusal;
    }
    let kind = match resource {
        "Image" if method == "GET" && screenshot == Screenshot::None => return Need::Pixel,
        "Image" if method == "GET" => AskedKind::Picture,
        "Document" => AskedKind::Frame,
        "Script" => AskedKind::Script,
        "Stylesheet" => AskedKind::Style,
        "XHR" | "Fetch" => AskedKind::Data,
        // The icon of a tab, which nobody sees.
        "Other" if headers.text("accept").is_some_and(|accept| accept.starts_with("image/")) => return Need::Refusal,
        "Other" => AskedKind::Other,
        // Image, Media, Font, TextTrack, EventSource, WebSocket, Ping, CSPViolationReport,
        // Prefetch, Manifest, SignedExchange, and whatever is added to the protocol.
        _ => return Need::Refusal,
    };
    match method {
        "GET" => Need::Answer(kind, AskedMethod::Get),
        "POST" => Need::Answer(kind, AskedMethod::Post { body }),
        _ => Need::Refusal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: &[(&str, &str)] = &[];

    fn answer(kind: AskedKind) -> Need {
        Need::Answer(kind, AskedMethod::Get)
    }

    #[test]
    fn what_shows_neither_text_nor_link_is_not_asked() {
        let post = || Need::Answer(AskedKind::Data, AskedMethod::Post { body: Bytes::from_static(b"{}") });
        let preflight: &[_] = &[("Access-Control-Request-Method", "PUT"), ("Origin", "https://a.test")];
        for (resource, method, headers, expected, why) in [
            ("Document", "GET", NONE, answer(AskedKind::Frame), "a frame"),
            ("Script", "GET", NONE, answer(AskedKind::Script), "a script"),
            ("Stylesheet", "GET", NONE, answer(AskedKind::Style), "what is hidden depends on it"),
            ("XHR", "GET", &[("Accept", "*/*")], answer(AskedKind::Data), "fetch, at the browser's session"),
            ("Fetch", "GET", NONE, answer(AskedKind::Data), "fetch, as the protocol documents it"),
            ("Other", "GET", NONE, answer(AskedKind::Other), "the script of a worker"),
            ("Other", "GET", &[("Accept", "*/*")], answer(AskedKind::Other), "as it asks for it"),
            ("Other", "GET", &[("Accept", "image/avif,*/*")], Need::Refusal, "the icon of a tab"),
            ("XHR", "POST", NONE, post(), "GraphQL: the network decides"),
            ("XHR", "HEAD", NONE, Need::Refusal, "shows nothing"),
            ("XHR", "PUT", NONE, Need::Refusal, "changes something"),
            ("XHR", "DELETE", NONE, Need::Refusal, "changes something"),
            ("XHR", "OPTIONS", preflight, Need::Preflight, "a preflight, at the browser's session"),
            ("Preflight", "OPTIONS", preflight, Need::Preflight, "a preflight, as the protocol documents it"),
            ("XHR", "OPTIONS", NONE, Need::Refusal, "a script's own question"),
            ("XHR", "GET", &[("accept", "text/event-stream")], Need::Refusal, "an event stream never ends"),
            ("Fetch", "GET", &[("Sec-Purpose", "prefetch")], Need::Refusal, "a prefetch"),
            ("Document", "GET", &[("Sec-Purpose", "prefetch;prerender")], Need::Refusal, "a prerendered page"),
            ("Image", "GET", NONE, Need::Pixel, "a picture"),
            ("Image", "POST", NONE, Need::Refusal, "no picture"),
            ("Media", "GET", NONE, Need::Refusal, "a film"),
            ("TextTrack", "GET", NONE, Need::Refusal, "its subtitles"),
            ("Font", "GET", NONE, Need::Refusal, "a font"),
            ("Manifest", "GET", NONE, Need::Refusal, "a manifest"),
            ("Ping", "POST", NONE, Need::Refusal, "a beacon"),
            ("CSPViolationReport", "POST", NONE, Need::Refusal, "a report"),
            ("Prefetch", "GET", NONE, Need::Refusal, "a prefetch"),
            ("EventSource", "GET", NONE, Need::Refusal, "an event stream"),
            ("WebSocket", "GET", NONE, Need::Refusal, "has no answer"),
            ("FedCM", "GET", NONE, Need::Refusal, "a log-in"),
            ("Novelty", "GET", NONE, Need::Refusal, "what nobody knows yet"),
        ] {
            let headers = headers.iter().map(|&(name, value)| (name, value)).collect();
            let described = Described { resource, method, headers: &headers };
            assert_eq!(
                need(described, Bytes::from_static(b"{}"), Screenshot::None),
                expected,
                "{resource} {method}: {why}"
            );
        }
    }

    #[test]
    fn pictures_are_asked_for_where_the_page_is_pictured() {
        let headers = Headers::default();
        let need_of =
            |resource| need(Described { resource, method: "GET", headers: &headers }, Bytes::new(), Screenshot::View);
        assert_eq!(need_of("Image"), answer(AskedKind::Picture));
        assert_eq!(need_of("Font"), Need::Refusal);
    }
}
