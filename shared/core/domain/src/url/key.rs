//! Checks a stored path and query without parsing the URL again.

use super::percent;

/// Whether this is the path and query of a normalised URL, so that appending it to an origin yields
/// one.
///
/// Gives the same result as parsing and comparing, at a fraction of the cost.
pub(super) fn is_normalised(path_and_query: &str) -> bool {
    let (path, query) = match path_and_query.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path_and_query, None),
    };
    path.starts_with('/')
        && path.bytes().all(stands_in_path)
        && !path.split('/').any(|segment| matches!(segment, "." | ".."))
        && percent::normalised(path).is_none()
        && query.is_none_or(|query| {
            !query.is_empty() && query.bytes().all(stands_in_query) && percent::normalised(query).is_none()
        })
}

/// Whether the URL parser leaves this byte unencoded in a path (WHATWG URL, path percent-encode
/// set).
fn stands_in_path(byte: u8) -> bool {
    byte.is_ascii_graphic() && !br##""#<>?\`{}"##.contains(&byte)
}

/// Whether the URL parser leaves this byte unencoded in a query (WHATWG URL, special-query
/// percent-encode set).
fn stands_in_query(byte: u8) -> bool {
    byte.is_ascii_graphic() && !br##""#<>'"##.contains(&byte)
}
