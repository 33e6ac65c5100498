//! `X-Robots-Tag` and `<meta name=robots>`: the directives of a page to crawlers.
//!
//! There is no standard; this follows the documentation of search engines. Directives to everyone
//! and to us add up, and none is cancelled: `index` and `all` mean nothing.

use dragline_domain::document::Directives;

/// Returns the directives in all `X-Robots-Tag` fields to the crawler with this product token.
///
/// A value may start with a crawler's name and a colon; the part up to the next name is then for
/// that crawler only.
pub fn x_robots_tag<'v>(values: impl Iterator<Item = &'v str>, product_token: &str) -> Directives {
    values.map(|value| field_directives(value, product_token)).fold(Directives::default(), Directives::and)
}

/// Returns the directives in a page's `<meta>` elements, given as pairs of name and content, to the
/// crawler with this product token.
///
/// Elements with names other than `robots` and the product token are ignored.
pub fn meta_robots<'v>(pairs: impl Iterator<Item = (&'v str, &'v str)>, product_token: &str) -> Directives {
    pairs
        .filter(|(name, _)| is_for_us(name.trim(), product_token))
        .flat_map(|(_, content)| content.split([',', ';']))
        .map(part_directives)
        .fold(Directives::default(), Directives::and)
}

/// Directives with a value: the colon after them does not make them a crawler's name.
const WITH_VALUE: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

fn field_directives(value: &str, product_token: &str) -> Directives {
    let mut for_us = true;
    let mut asked = Directives::default();
    for part in value.split(',') {
        let directives = match crawler_named(part) {
            Some((name, directives)) => {
                for_us = is_for_us(name, product_token);
                directives
            }
            None => part,
        };
        if for_us {
            asked = asked.and(part_directives(directives));
        }
    }
    asked
}

/// Returns the crawler named in a part, and the rest of it; `None` if it names none.
///
/// The time of an `unavailable_after` has colons too, but the text before them is not a crawler's
/// name.
fn crawler_named(part: &str) -> Option<(&str, &str)> {
    let (name, directives) = part.split_once(':')?;
    let name = name.trim();
    let is_name = name == "*"
        || !name.is_empty() && name.bytes().all(|octet| octet.is_ascii_alphabetic() || matches!(octet, b'-' | b'_'));
    let takes_value = WITH_VALUE.iter().any(|directive| name.eq_ignore_ascii_case(directive));
    (is_name && !takes_value).then_some((name, directives))
}

fn is_for_us(name: &str, product_token: &str) -> bool {
    name == "*"
        || name.eq_ignore_ascii_case("robots")
        || !product_token.is_empty() && name.eq_ignore_ascii_case(product_token)
}

/// Returns the directives in one part of a list. It consists of words, or of a directive with a
/// value, none of which matter here.
fn part_directives(part: &str) -> Directives {
    if part.contains(':') {
        return Directives::default();
    }
    // Some pages write spaces instead of commas.
    part.split_ascii_whitespace().map(word_directives).fold(Directives::default(), Directives::and)
}

fn word_directives(word: &str) -> Directives {
    let is = |directive: &str| word.eq_ignore_ascii_case(directive);
    Directives { noindex: is("noindex") || is("none"), nofollow: is("nofollow") || is("none") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Directives = Directives { noindex: false, nofollow: false };
    const NOINDEX: Directives = Directives { noindex: true, nofollow: false };
    const NOFOLLOW: Directives = Directives { noindex: false, nofollow: true };
    const BOTH: Directives = Directives { noindex: true, nofollow: true };

    #[test]
    fn directives_of_fields_are_read() {
        let cases: &[(&[&str], Directives, &str)] = &[
            (&[], NOTHING, "no field"),
            (&[""], NOTHING, "an empty one"),
            (&["noindex"], NOINDEX, "one directive"),
            (&["NoIndex , NOFOLLOW"], BOTH, "two, in any case"),
            (&["none"], BOTH, "`none` is both"),
            (&["index, follow, all"], NOTHING, "permissions are not requests"),
            (&["noindex, index"], NOINDEX, "and cancel none"),
            (&["noindex", "nofollow"], BOTH, "fields add up"),
            (&["noarchive, nosnippet, noimageindex"], NOTHING, "what does not concern a crawler"),
            (&["noindexing"], NOTHING, "another word"),
            (&["dragline: noindex"], NOINDEX, "for us"),
            (&["DragLine:noindex"], NOINDEX, "for us, in any case"),
            (&["otherbot: noindex"], NOTHING, "for another"),
            (&["otherbot: noindex, nofollow"], NOTHING, "all of it"),
            (&["otherbot: noindex, dragline: nofollow"], NOFOLLOW, "until the next name"),
            (&["dragline: noindex, otherbot: nofollow"], NOINDEX, "ours ends there, too"),
            (&["noindex, otherbot: nofollow"], NOINDEX, "what comes before a name is for all"),
            (&["otherbot: noindex", "nofollow"], NOFOLLOW, "each field starts anew"),
            (&["otherbot: noindex, *: nofollow"], NOFOLLOW, "a star is everyone"),
            (&["unavailable_after: 25 Jun 2010 15:00:00 PST"], NOTHING, "a date that passes nothing to us"),
            (&["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], NOINDEX, "nor hides what follows"),
            (&["unavailable_after: Fri, 25 Jun 2010 15:00:00 PST, noindex"], NOINDEX, "nor does its comma"),
            (&["otherbot: unavailable_after: Fri, 25 Jun 2010 15:00:00 PST, noindex"], NOTHING, "still for another"),
            (&["max-image-preview: none"], NOTHING, "a value is not a directive"),
            (&["dragline: max-snippet: -1, nofollow"], NOFOLLOW, "values after our name"),
            (&[",,;:,: noindex,"], NOTHING, "junk before a colon is not a name"),
        ];
        for (values, expected, why) in cases {
            assert_eq!(x_robots_tag(values.iter().copied(), "Dragline"), *expected, "{why}: {values:?}");
        }
    }

    #[test]
    fn directives_of_elements_are_read() {
        /// Elements as name and content, their directives, and why.
        type Case<'t> = (&'t [(&'t str, &'t str)], Directives, &'t str);
        let cases: &[Case<'_>] = &[
            (&[("robots", "noindex,nofollow")], BOTH, "for all"),
            (&[(" Robots ", "NONE")], BOTH, "in any case"),
            (&[("dragline", "noindex")], NOINDEX, "for us"),
            (&[("googlebot", "noindex")], NOTHING, "for another"),
            (&[("description", "noindex")], NOTHING, "no directives"),
            (&[("robots", "index"), ("dragline", "nofollow")], NOFOLLOW, "elements add up"),
            (&[("robots", "noindex nofollow")], BOTH, "blanks for commas"),
            (&[("robots", "noindex;nofollow")], BOTH, "semicolons for commas"),
            (&[("robots", "max-image-preview: none, nofollow")], NOFOLLOW, "a value is not a directive"),
            (&[("robots", "unavailable_after: Fri, 25 Jun 2010 15:00:00 PST")], NOTHING, "a date"),
            (&[("robots", "otherbot: noindex")], NOTHING, "names are only in the element's name"),
            (&[("", "noindex")], NOTHING, "nobody's name"),
        ];
        for (pairs, expected, why) in cases {
            assert_eq!(meta_robots(pairs.iter().copied(), "Dragline"), *expected, "{why}: {pairs:?}");
        }
        assert_eq!(meta_robots([("", "noindex")].into_iter(), ""), NOTHING, "an empty token is nobody's name");
    }
}
