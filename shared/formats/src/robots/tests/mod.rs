//! robots.txt as a whole.

mod google;
mod hostile;
mod oracle;
mod rfc;
mod statements;

use super::Robots;

/// Whether a crawler of this product token may fetch this path and query.
fn allowed(body: &str, product_token: &str, path_and_query: &str) -> bool {
    Robots::parse(body.as_bytes(), product_token).verdict(path_and_query).is_allowed()
}

/// What a pattern means, exponential but plain. Both sides are taken as they are written.
pub(super) fn matches_by_definition(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern, path) {
        ([], _) => true,
        ([b'$'], path) => path.is_empty(),
        ([b'*', rest @ ..], path) => (0..=path.len()).any(|i| matches_by_definition(rest, &path[i..])),
        ([p, rest @ ..], [c, path @ ..]) => p == c && matches_by_definition(rest, path),
        (_, []) => false,
    }
}
