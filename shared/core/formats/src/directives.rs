//! `X-Robots-Tag` and `<meta name=robots>`: the directives of a page to crawlers.
//!
//! There is no standard; this follows the documentation of search engines. Directives to everyone
//! and to us add up, and none is cancelled: `index` and `all` mean nothing.

use dragline_domain::document::Directives;
use dragline_domain::use_preferences::{Purpose, UseStand, UseStands};

/// Returns the directives in all `X-Robots-Tag` fields to the crawler with this product token.
///
/// A value may start with a crawler's name and a colon; the part up to the next name is then for
/// that crawler only.
pub fn x_robots_tag<'v>(values: impl Iterator<Item = &'v str>, product_token: &str) -> Directives {
    let words = values.flat_map(|value| field_words(value, product_token));
    words.map(word_directives).fold(Directives::default(), Directives::and)
}

/// Returns the directives in a page's `<meta>` elements, given as pairs of name and content, to the
/// crawler with this product token.
///
/// Elements with names other than `robots` and the product token are ignored.
pub fn meta_robots<'v>(pairs: impl Iterator<Item = (&'v str, &'v str)>, product_token: &str) -> Directives {
    let words = pairs.flat_map(|(name, content)| meta_words(name, content, product_token));
    words.map(word_directives).fold(Directives::default(), Directives::and)
}

/// What is described by a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Described {
    /// A picture: what is said of pictures is said of it.
    Picture,
    /// Anything else.
    Other,
}

/// Returns what one `X-Robots-Tag` field says of the use of its answer to the crawler with this
/// product token; `None` if no word of it is about use.
#[must_use]
pub fn uses_in_field(value: &str, product_token: &str, described: Described) -> Option<UseStands> {
    uses_in_words(field_words(value, product_token).into_iter(), described)
}

/// Returns what one `<meta>` element says of the use of its page to the crawler with this product
/// token; `None` if no word of it is about use, or it is not for this crawler.
#[must_use]
pub fn uses_in_meta(name: &str, content: &str, product_token: &str) -> Option<UseStands> {
    uses_in_words(meta_words(name, content, product_token), Described::Other)
}

/// `noai` and `noimageai` name no use of a model, so they reserve each; `noimageai` is about
/// pictures alone, and on a page it is only recorded. `noarchive`, which Bing also calls `nocache`,
/// asks for no copies.
fn uses_in_words<'v>(words: impl Iterator<Item = &'v str>, described: Described) -> Option<UseStands> {
    words.fold(None, |said, word| {
        let is = |directive: &str| word.eq_ignore_ascii_case(directive);
        let mining = UseStands::of_mining(UseStand::Reserved);
        let says = match described {
            _ if is("noai") => mining,
            Described::Picture if is("noimageai") => mining,
            Described::Other if is("noimageai") => UseStands::NOTHING,
            _ if is("noarchive") || is("nocache") => UseStands::NOTHING.with(Purpose::Archive, UseStand::Reserved),
            _ => return said,
        };
        Some(said.unwrap_or_default().and(says))
    })
}

/// Directives with a value: the colon after them does not make them a crawler's name.
const WITH_VALUE: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// Returns the words of a field's value that are for this crawler.
fn field_words<'v>(value: &'v str, product_token: &str) -> Vec<&'v str> {
    let mut for_us = true;
    let mut words = Vec::new();
    for part in value.split(',') {
        let directives = match crawler_named(part) {
            Some((name, directives)) => {
                for_us = is_for_us(name, product_token);
                directives
            }
            None => part,
        };
        if for_us {
            words.extend(part_words(directives));
        }
    }
    words
}

/// Returns the words of an element's content, if it is for this crawler.
fn meta_words<'v>(name: &str, content: &'v str, product_token: &str) -> impl Iterator<Item = &'v str> + use<'v> {
    let content = if is_for_us(name.trim(), product_token) { content } else { "" };
    content.split([',', ';']).flat_map(part_words)
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

/// Returns the words in one part of a list. It consists of words, or of a directive with a value,
/// none of which matter here.
fn part_words(part: &str) -> std::str::SplitAsciiWhitespace<'_> {
    // Some pages write spaces instead of commas.
    if part.contains(':') { "" } else { part }.split_ascii_whitespace()
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

    #[test]
    fn words_about_use_are_read() {
        use Described::{Other, Picture};
        let mining = UseStands::of_mining(UseStand::Reserved);
        let archive = UseStands::NOTHING.with(Purpose::Archive, UseStand::Reserved);
        for (value, described, expected, why) in [
            ("noindex, nofollow", Other, None, "nothing about use"),
            ("noai", Other, Some(mining), "no model"),
            ("NOAI, NoImageAI", Other, Some(mining), "in any case"),
            ("noimageai", Other, Some(UseStands::NOTHING), "about pictures, which a page is not"),
            ("noimageai", Picture, Some(mining), "a picture is"),
            ("noai", Picture, Some(mining), "all of it"),
            ("noarchive", Other, Some(archive), "no copies"),
            ("nocache", Other, Some(archive), "the same"),
            ("noarchive noai", Other, Some(archive.and(mining)), "both"),
            ("dragline: noai", Other, Some(mining), "for us"),
            ("otherbot: noai", Other, None, "for another"),
            ("otherbot: noai, *: noarchive", Other, Some(archive), "until the next name"),
            ("none", Other, None, "of search engines' indexes alone"),
            ("max-image-preview: noai", Other, None, "a value is not a directive"),
        ] {
            assert_eq!(uses_in_field(value, "Dragline", described), expected, "{value:?}: {why}");
        }
        for (name, content, expected, why) in [
            ("robots", "noai, noimageai", Some(mining), "for all"),
            ("Dragline", "noarchive", Some(archive), "for us"),
            ("gptbot", "noai", None, "for another"),
            ("robots", "index, follow", None, "nothing about use"),
        ] {
            assert_eq!(uses_in_meta(name, content, "Dragline"), expected, "{name}={content}: {why}");
        }
    }
}
