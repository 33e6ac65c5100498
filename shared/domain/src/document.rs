//! What a page holds once it is understood.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! link_kinds {
    ($($(#[$doc:meta])* $variant:ident = $code:literal $name:literal $page:literal;)*) => {
        /// How a page refers to another URL.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum LinkKind { $($(#[$doc])* $variant,)* }

        impl LinkKind {
            /// Every kind there is.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The number that is stored; never used again for another kind.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)* }
            }

            /// The kind of a stored number.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }

            /// The name that people read.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Whether such links lead to pages, and are followed; the others are what a page is made of.
            #[must_use]
            pub const fn leads_to_page(self) -> bool {
                match self { $(Self::$variant => $page,)* }
            }
        }
    };
}

link_kinds! {
    /// `<a href>`.
    A = 1 "a" true;
    /// `<area href>`.
    Area = 2 "area" true;
    /// `<link rel=stylesheet>`, and `<style>`'s or an attribute's `url()` where it is read.
    Css = 3 "css" false;
    /// `<img>`, `<picture>`'s sources, `<input type=image>`, SVG's `<image>`, icons, a video's poster.
    Img = 4 "img" false;
    /// `<video>` and its sources.
    Video = 5 "video" false;
    /// `<audio>` and its sources.
    Audio = 6 "audio" false;
    /// `<object data>`, `<embed src>`, `<applet>`.
    Object = 7 "object" false;
    /// `<script src>`, and preloaded ones.
    Script = 8 "script" false;
    /// `<iframe src>`, `<frame src>`.
    Iframe = 9 "iframe" true;
    /// `<form action>`, a button's `formaction`. Recorded, never followed: it stands for an act.
    Form = 10 "form" false;
    /// The `Location` of a redirect, `<meta http-equiv=refresh>`, the `Refresh` field.
    Redirect = 11 "redirect" true;
    /// `<link rel=canonical>`, or the `Link` field's.
    Canonical = 12 "canonical" true;
    /// `<link rel=alternate>`: another language, a feed.
    Alternate = 13 "alternate" true;
    /// `<link rel=next>`, `prev`, `contents`, `index` and their like: the pages beside this one.
    Sequence = 14 "sequence" true;
    /// Any other `<link>`.
    Other = 15 "other" false;
}

impl fmt::Display for LinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a page or its response header asks of those who read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Directives {
    /// Do not keep its text (`noindex`, `none`).
    pub noindex: bool,
    /// Do not follow its links (`nofollow`, `none`).
    pub nofollow: bool,
}

impl Directives {
    /// Both of two: whatever either asks for.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self { noindex: self.noindex || other.noindex, nofollow: self.nofollow || other.nofollow }
    }
}
