//! Makes the answer to a request from what is at its path, without I/O.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION,
    VARY,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::Full;

use super::content::{Page, PathContent};
use super::media_type::is_text;

/// Whether the site compresses text for clients that accept it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Identity,
    Gzip,
}

/// Answers a GET of a path.
pub(super) fn answer(found: PathContent, path: &str, request: &HeaderMap, coding: Coding) -> Response<Full<Bytes>> {
    match found {
        PathContent::Page(page) => answer_page(page, request, coding),
        PathContent::Directory => {
            with_header(text(StatusCode::MOVED_PERMANENTLY, "moved\n"), LOCATION, &format!("{path}/"))
        }
        PathContent::Missing => text(StatusCode::NOT_FOUND, "not found\n"),
    }
}

/// A short answer in plain text.
pub(super) fn text(status: StatusCode, body: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    with_header(response, CONTENT_TYPE, "text/plain; charset=utf-8")
}

fn answer_page(page: Page, request: &HeaderMap, coding: Coding) -> Response<Full<Bytes>> {
    let zipped = coding == Coding::Gzip && is_text(page.media_type) && accepts_gzip(request);
    // A strong tag identifies bytes, which differ by coding (RFC 9110, section 8.8.1), so a site
    // that compresses uses weak ones.
    let tag = if coding == Coding::Gzip { format!("W/\"{}\"", page.tag) } else { format!("\"{}\"", page.tag) };
    let modified = httpdate::fmt_http_date(page.modified);
    let mut response = if is_current(request, &page) {
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let body = if zipped { page.zipped.unwrap_or_else(|| gzip(&page.body)) } else { page.body };
        let response = Response::new(Full::from(body));
        let response = with_header(response, CONTENT_TYPE, page.media_type);
        if zipped { with_header(response, CONTENT_ENCODING, "gzip") } else { response }
    };
    if coding == Coding::Gzip {
        response = with_header(response, VARY, "accept-encoding");
    }
    with_header(with_header(response, ETAG, &tag), LAST_MODIFIED, &modified)
}

/// Whether the client's copy is current (RFC 9110, section 13.2.2: if there is a tag, the date is
/// ignored).
fn is_current(request: &HeaderMap, page: &Page) -> bool {
    if request.contains_key(IF_NONE_MATCH) {
        return values(request, IF_NONE_MATCH).any(|tag| {
            let opaque = tag.strip_prefix("W/").unwrap_or(tag);
            opaque == "*" || opaque.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')) == Some(&page.tag)
        });
    }
    let since = request.get(IF_MODIFIED_SINCE).and_then(|since| since.to_str().ok());
    // Both are compared in the wire format, which has no fractions of seconds.
    let modified = httpdate::parse_http_date(&httpdate::fmt_http_date(page.modified));
    match (since.map(httpdate::parse_http_date), modified) {
        (Some(Ok(since)), Ok(modified)) => modified <= since,
        _ => false,
    }
}

/// Whether the client accepts gzip (RFC 9110, section 12.5.3).
fn accepts_gzip(request: &HeaderMap) -> bool {
    values(request, ACCEPT_ENCODING).any(|choice| {
        let (coding, weight) = choice.split_once(';').unwrap_or((choice, "q=1"));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
        coding.trim().eq_ignore_ascii_case("gzip") && weight.is_some_and(|weight| weight > 0.0)
    })
}

/// The members of a list-valued field, of all its lines. Our tags have no commas.
fn values(headers: &HeaderMap, name: http::HeaderName) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

fn gzip(body: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let zipped = encoder.write_all(body).and_then(|()| encoder.finish());
    zipped.expect("writing to a vector cannot fail").into()
}

fn with_header(mut response: Response<Full<Bytes>>, name: http::HeaderName, value: &str) -> Response<Full<Bytes>> {
    // A directory's name may hold bytes that a header field cannot. Its redirect then leads
    // nowhere, as on a real server.
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use hyper::body::Body;

    use super::*;

    fn request(name: http::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    fn page(media_type: &'static str) -> Page {
        // Half a second past a whole one, as files have it.
        let modified = UNIX_EPOCH + Duration::from_millis(784_111_777_500);
        Page { media_type, modified, tag: "t1".to_owned(), body: "body".into(), zipped: None }
    }

    #[test]
    fn a_current_copy_is_not_sent_again() {
        for (name, value, status, why) in [
            (IF_NONE_MATCH, "\"t1\"", 304, "the same tag"),
            (IF_NONE_MATCH, "W/\"t1\"", 304, "compared weakly"),
            (IF_NONE_MATCH, "\"t0\", \"t1\"", 304, "one of several"),
            (IF_NONE_MATCH, "*", 304, "any version"),
            (IF_NONE_MATCH, "\"t0\"", 200, "another version"),
            (IF_NONE_MATCH, "t1", 200, "without quotes it is not a tag"),
            (IF_MODIFIED_SINCE, "Sun, 06 Nov 1994 08:49:37 GMT", 304, "the very second that was sent"),
            (IF_MODIFIED_SINCE, "Sun, 06 Nov 1994 08:49:38 GMT", 304, "later"),
            (IF_MODIFIED_SINCE, "Sun, 06 Nov 1994 08:49:36 GMT", 200, "earlier"),
            (IF_MODIFIED_SINCE, "yesterday", 200, "not a date"),
        ] {
            let response =
                answer(PathContent::Page(page("text/html")), "/", &request(name.clone(), value), Coding::Identity);
            assert_eq!(response.status(), status, "{name}: {value}: {why}");
            assert_eq!(response.headers()[ETAG], "\"t1\"", "every answer says its version");
            assert_eq!(response.headers()[LAST_MODIFIED], "Sun, 06 Nov 1994 08:49:37 GMT");
        }
        let mut both = request(IF_NONE_MATCH, "\"t0\"");
        both.extend(request(IF_MODIFIED_SINCE, "Sun, 06 Nov 1994 08:49:38 GMT"));
        let response = answer(PathContent::Page(page("text/html")), "/", &both, Coding::Identity);
        assert_eq!(response.status(), 200, "if there is a tag, the date is ignored");
    }

    #[test]
    fn text_is_compressed_for_those_who_take_it() {
        for (coding, media_type, accepts, zipped, why) in [
            (Coding::Gzip, "text/html", "gzip", true, "both want it"),
            (Coding::Gzip, "text/html", "br, GZIP;q=0.5", true, "one of several, in any case"),
            (Coding::Gzip, "text/html", "gzip;q=0", false, "explicitly refused"),
            (Coding::Gzip, "text/html", "br", false, "another coding"),
            (Coding::Gzip, "image/png", "gzip", false, "already compressed"),
            (Coding::Identity, "text/html", "gzip", false, "the site does not"),
        ] {
            let response = answer(PathContent::Page(page(media_type)), "/", &request(ACCEPT_ENCODING, accepts), coding);
            assert_eq!(response.headers().contains_key(CONTENT_ENCODING), zipped, "{accepts} {media_type}: {why}");
            assert_eq!(response.headers().contains_key(VARY), coding == Coding::Gzip, "{why}");
        }
    }

    #[test]
    fn a_body_that_was_compressed_ahead_is_sent_as_it_is() {
        for (accepts, body, why) in [("gzip", "zipped", "to those who take it"), ("br", "body", "and to nobody else")] {
            let page = Page { zipped: Some("zipped".into()), ..page("text/html") };
            let response = answer(PathContent::Page(page), "/", &request(ACCEPT_ENCODING, accepts), Coding::Gzip);
            let sent = response.into_body().size_hint().exact().unwrap();
            assert_eq!(sent, body.len() as u64, "{why}");
        }
    }

    #[test]
    fn what_is_no_page_says_so() {
        let directory = answer(PathContent::Directory, "/a%20b", &HeaderMap::new(), Coding::Identity);
        assert_eq!((directory.status().as_u16(), &directory.headers()[LOCATION]), (301, &"/a%20b/".parse().unwrap()));
        assert_eq!(answer(PathContent::Missing, "/x", &HeaderMap::new(), Coding::Identity).status(), 404);
    }
}
