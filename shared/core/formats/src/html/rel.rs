//! `rel`: the purpose of a `<link>`.

use dragline_domain::document::LinkKind;

use crate::http_fields::is_feed;

/// Returns the words of a `rel`.
fn words(rel: &str) -> impl Iterator<Item = &str> {
    rel.split_ascii_whitespace()
}

/// Whether a `rel` forbids following.
pub(super) fn is_nofollow(rel: &str) -> bool {
    words(rel).any(|word| word.eq_ignore_ascii_case("nofollow"))
}

/// Returns the kind of a `<link>` from its `rel` and, if that only says when to load, its `as`, or
/// if it is another form of the page, its `type`. `None` if it names a host to connect to instead
/// of a document.
///
/// The most specific word applies: an `alternate stylesheet` is a style sheet.
pub(super) fn kind(rel: &str, loads_as: Option<&str>, media_type: Option<&str>) -> Option<LinkKind> {
    let class = words(rel).map(|word| class(&word.to_ascii_lowercase())).min().unwrap_or(Class::Other);
    match class.kind(loads_as) {
        Some(LinkKind::Alternate) if media_type.is_some_and(is_feed) => Some(LinkKind::Feed),
        kind => kind,
    }
}

/// The meaning of a word of a `rel`, the most specific first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Canonical,
    Stylesheet,
    Icon,
    Manifest,
    Alternate,
    Sequence,
    Module,
    Load,
    Other,
    Host,
}

/// The words are those of the HTML standard, of HTML 4 (section 6.12) and of common use.
fn class(word: &str) -> Class {
    match word {
        "canonical" => Class::Canonical,
        "stylesheet" => Class::Stylesheet,
        "icon"
        | "apple-touch-icon"
        | "apple-touch-icon-precomposed"
        | "apple-touch-startup-image"
        | "fluid-icon"
        | "image_src"
        | "mask-icon" => Class::Icon,
        "manifest" => Class::Manifest,
        "alternate" | "amphtml" => Class::Alternate,
        "appendix" | "begin" | "chapter" | "contents" | "end" | "first" | "glossary" | "home" | "index" | "last"
        | "next" | "prev" | "previous" | "section" | "start" | "subsection" | "toc" | "top" | "up" => Class::Sequence,
        "modulepreload" => Class::Module,
        "prefetch" | "preload" | "prerender" => Class::Load,
        "dns-prefetch" | "preconnect" => Class::Host,
        _ => Class::Other,
    }
}

impl Class {
    fn kind(self, loads_as: Option<&str>) -> Option<LinkKind> {
        match self {
            Self::Canonical => Some(LinkKind::Canonical),
            Self::Stylesheet => Some(LinkKind::Css),
            Self::Icon => Some(LinkKind::Img),
            Self::Manifest => Some(LinkKind::Manifest),
            Self::Alternate => Some(LinkKind::Alternate),
            Self::Sequence => Some(LinkKind::Sequence),
            Self::Module => Some(LinkKind::Script),
            Self::Load => Some(loaded(loads_as.unwrap_or_default())),
            Self::Other => Some(LinkKind::Other),
            Self::Host => None,
        }
    }
}

/// Returns the kind of a preloaded resource, from its `as`.
fn loaded(loads_as: &str) -> LinkKind {
    match loads_as.to_ascii_lowercase().as_str() {
        "script" | "worker" => LinkKind::Script,
        "style" => LinkKind::Css,
        "image" => LinkKind::Img,
        "video" => LinkKind::Video,
        "audio" => LinkKind::Audio,
        "font" => LinkKind::Font,
        _ => LinkKind::Other,
    }
}
