//! The document of a page that has been parsed.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::change::Difference;
use crate::content::Content;
use crate::frontier::{ObjectKey, VisitPlace};
use crate::outcome::Outcome;
use crate::stored_form::stored_as_text;
use crate::url::{CrawlUrl, Spelling};
use crate::use_preferences::{Purpose, UseStatement, decide};

macro_rules! link_kinds {
    ($($(#[$doc:meta])* $variant:ident = $code:literal $name:literal $page:literal;)*) => {
        /// How a page refers to another URL.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum LinkKind { $($(#[$doc])* $variant,)* }

        impl LinkKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the stored number; never reused for another kind.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)* }
            }

            /// Returns the kind with this stored number; `None` if there is none.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }

            /// Returns its name for people.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Whether links of this kind lead to pages, and are followed; the others are
            /// requisites of the page, or are not fetched.
            #[must_use]
            pub const fn leads_to_page(self) -> bool {
                match self { $(Self::$variant => $page,)* }
            }

            /// Whether a browser loads the target to show the page: pictures, styles, scripts.
            #[must_use]
            pub const fn is_requisite(self) -> bool {
                matches!(
                    self,
                    Self::Css
                        | Self::Img
                        | Self::Video
                        | Self::Audio
                        | Self::Object
                        | Self::Script
                        | Self::Font
                        | Self::Manifest
                        | Self::IconTrial
                )
            }

            /// Whether the target is named in a list for crawlers; nobody clicks such a link.
            #[must_use]
            pub const fn is_listed(self) -> bool {
                matches!(self, Self::Sitemap | Self::SitemapFile | Self::SitemapTrial)
            }

            /// Whether nobody wrote the link: its target is tried, and nothing is told of it if it
            /// is missing.
            #[must_use]
            pub const fn is_trial(self) -> bool {
                matches!(self, Self::SitemapTrial | Self::IconTrial)
            }

            /// Whether a feed has such links: to its entries, and to its further parts.
            #[must_use]
            pub const fn is_of_feed(self) -> bool {
                matches!(self, Self::Feed | Self::FeedEntry)
            }

            /// Whether the target represents the page itself, under another name or in another
            /// place.
            #[must_use]
            pub const fn stands_for_its_page(self) -> bool {
                matches!(self, Self::Redirect | Self::Canonical)
            }
        }
    };
}

link_kinds! {
    /// `<a href>`.
    A = 1 "a" true;
    /// `<area href>`.
    Area = 2 "area" true;
    /// `<link rel=stylesheet>`, and `@import` in a style sheet.
    Css = 3 "css" false;
    /// `<img>`, `<picture>`'s sources, `<input type=image>`, SVG's `<image>` and `<use>`, icons, a
    /// video's poster, the pictures of previews (`og:image`) and of manifests, and `url()` in
    /// styles. Also what scripts load as these (`data-src`).
    Img = 4 "img" false;
    /// `<video>` and its sources.
    Video = 5 "video" false;
    /// `<audio>` and its sources.
    Audio = 6 "audio" false;
    /// `<object data>`, `<embed src>`, `<applet>`.
    Object = 7 "object" false;
    /// `<script src>`, preloaded ones, and the modules that a script imports.
    Script = 8 "script" false;
    /// `<iframe src>`, `<frame src>`.
    Iframe = 9 "iframe" true;
    /// `<form action>`, a button's `formaction`. Recorded, never followed: submitting it is an
    /// action.
    Form = 10 "form" false;
    /// The `Location` of a redirect, `<meta http-equiv=refresh>`, the `Refresh` field.
    Redirect = 11 "redirect" true;
    /// `<link rel=canonical>`, or the `Link` field's.
    Canonical = 12 "canonical" true;
    /// `<link rel=alternate>`: another language or format. In documents of earlier versions also a
    /// feed.
    Alternate = 13 "alternate" true;
    /// `<link rel=next>`, `prev`, `contents`, `index` and similar: neighbouring pages.
    Sequence = 14 "sequence" true;
    /// Any other `<link>`.
    Other = 15 "other" false;
    /// A page that a sitemap lists. In documents of earlier versions also a named sitemap.
    Sitemap = 16 "sitemap" true;
    /// `@font-face` in a style sheet, and preloaded fonts.
    Font = 17 "font" false;
    /// A sitemap that robots.txt or an index of sitemaps names.
    SitemapFile = 18 "sitemap_file" true;
    /// A feed that a page names (`<link rel=alternate>` with the type of one), or another part of a
    /// feed (RFC 5005).
    Feed = 19 "feed" true;
    /// The page of a feed's entry.
    FeedEntry = 20 "feed_entry" true;
    /// Where the sitemap of most sites is, tried for a robots.txt that names none. Nobody wrote
    /// such a link, so nothing is told of it.
    SitemapTrial = 21 "sitemap_trial" true;
    /// `<link rel=manifest>`: a web app manifest, which names pictures.
    Manifest = 22 "manifest" false;
    /// `/favicon.ico`, which browsers ask for at each site, for a home page that does not name it.
    IconTrial = 23 "icon_trial" false;
}

impl fmt::Display for LinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The directives of a page or its response header to crawlers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Directives {
    /// Do not keep its text (`noindex`, `none`).
    pub noindex: bool,
    /// Do not follow its links (`nofollow`, `none`).
    pub nofollow: bool,
}

impl Directives {
    /// Combines two sets of directives: either is enough.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self { noindex: self.noindex || other.noindex, nofollow: self.nofollow || other.nofollow }
    }
}

/// The parser's result for one entry of a segment. Stored once, before anything is claimed: a later
/// parse of the segment uses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The number of its entry in the segment.
    pub n: u32,
    /// The URL of that entry.
    pub url: CrawlUrl,
    /// The outcome of the URL.
    pub outcome: Outcome,
    /// The reason, on one line: the rule that decided or the error that occurred; `None` if the
    /// outcome says it all.
    pub detail: Option<String>,
    /// Whether it was parsed.
    pub state: DocumentState,
    /// The page's content; `None` if it is not a page, or was not parsed.
    pub page: Option<Page>,
    /// Its links: those of a page, or a redirect's target.
    pub links: Vec<Link>,
    /// Its content beyond that; `None` if it is empty or was not requested, and in documents older
    /// than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Box<Content>>,
    /// The extractor of its page; `None` if there is no page, and in documents older than this
    /// field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<ExtractorVersion>,
    /// The stored response from which it was made; `None` without one, and in documents older than
    /// this field. A store that can find the response of the document's own visit may leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<StoredBody>,
    /// The difference from the previous document; `None` if there was none, or it could not be
    /// read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

impl Document {
    /// Whether it is a file for people, such as a PDF, and its text is known. Feeds, robots.txt and
    /// data for programs are not.
    #[must_use]
    pub fn is_readable_file(&self) -> bool {
        let content_type = self.body.as_ref().and_then(|body| body.content_type.as_deref()).unwrap_or_default();
        let is_data = ["xml", "json", "jsonl", "x-ndjson"]
            .iter()
            .any(|kind| content_type.rsplit(['/', '+']).next().is_some_and(|suffix| suffix.eq_ignore_ascii_case(kind)));
        let has_text = |content: &Content| content.main.is_some() && content.feed.is_none();
        self.page.is_none()
            && !is_data
            && self.url.path_and_query() != "/robots.txt"
            && self.content.as_deref().is_some_and(has_text)
    }
}

/// The stored response from which a document was made, and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredBody {
    /// The visit that fetched it.
    pub visit: VisitPlace,
    /// When it was requested.
    pub at: Timestamp,
    /// Its status code.
    pub status: u16,
    /// The content type without parameters, lower case; `None` if the server named none.
    pub content_type: Option<String>,
    /// The body's size as received.
    pub body_bytes: u64,
    /// The WARC object with it.
    pub object: ObjectKey,
    /// The record's offset in the object.
    pub offset: u64,
    /// The record's length there, in bytes.
    pub length: u64,
}

impl Document {
    /// Whether the capture yielded nothing, as it broke the parser. A document whose items do not
    /// fit their types is STUCK, too, but has everything else.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        let has_misfits = self.content.as_ref().is_some_and(|content| !content.misfits.is_empty());
        self.state == DocumentState::Stuck && !has_misfits
    }

    /// Marks the page as noindex, and drops the contents that must then not be kept.
    pub fn withhold(&mut self) {
        if let Some(page) = &mut self.page {
            page.directives.noindex = true;
        }
        self.drop_contents();
    }

    /// Marks the document as reserved for this purpose of its crawl, and drops the contents that
    /// must then not be kept.
    pub fn reserve(&mut self, purpose: Purpose) {
        self.drop_contents();
        self.content.get_or_insert_default().reserved_for = Some(purpose);
    }

    fn drop_contents(&mut self) {
        if let Some(page) = &mut self.page {
            (page.title, page.description) = (None, None);
            page.text.clear();
        }
        self.links.iter_mut().for_each(|link| link.anchor = None);
        let uses = self.content.take().map(|content| content.uses).unwrap_or_default();
        self.put_uses(uses);
    }

    /// Returns the statement for which its contents are not kept; `None` if its use is not
    /// reserved.
    #[must_use]
    pub fn reserved_by(&self) -> Option<&UseStatement> {
        let purpose = self.content.as_deref()?.reserved_for?;
        decide(purpose, self.uses()).reserved_by()
    }

    /// Returns what sites say of its use, as far as it is known.
    #[must_use]
    pub fn uses(&self) -> &[UseStatement] {
        self.content.as_deref().map_or(&[], |content| &content.uses)
    }

    /// Sets what sites say of its use.
    pub fn put_uses(&mut self, uses: Vec<UseStatement>) {
        if uses.is_empty() && self.content.is_none() {
            return;
        }
        self.content.get_or_insert_default().uses = uses;
        self.content.take_if(|content| content.is_empty());
    }

    /// Creates a document with only the outcome of its URL.
    #[must_use]
    pub fn bare(n: u32, url: CrawlUrl, outcome: Outcome) -> Self {
        Self {
            n,
            url,
            outcome,
            detail: None,
            state: DocumentState::Processed,
            page: None,
            links: Vec::new(),
            content: None,
            made_by: None,
            body: None,
            difference: None,
        }
    }
}

/// The extractor of a page, and its version; a newer one may find more in the same bytes. Written
/// `html 1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExtractorVersion {
    extractor: Cow<'static, str>,
    version: u16,
}

impl ExtractorVersion {
    /// Creates an extractor's name and version. The name is a word in lower case.
    #[must_use]
    pub const fn new(extractor: &'static str, version: u16) -> Self {
        Self { extractor: Cow::Borrowed(extractor), version }
    }

    /// Returns the extractor's name.
    #[must_use]
    pub fn extractor(&self) -> &str {
        &self.extractor
    }

    /// Returns the extractor's version; newer ones are higher.
    #[must_use]
    pub const fn version(&self) -> u16 {
        self.version
    }
}

impl fmt::Display for ExtractorVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.extractor, self.version)
    }
}

stored_as_text!(ExtractorVersion);

/// A text that does not name an extractor and its version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not name an extractor and its version")]
pub struct ExtractorVersionError(String);

impl FromStr for ExtractorVersion {
    type Err = ExtractorVersionError;

    fn from_str(text: &str) -> Result<Self, ExtractorVersionError> {
        let read = text.split_once(' ').and_then(|(extractor, version)| {
            let is_name = !extractor.is_empty() && extractor.bytes().all(|byte| byte.is_ascii_lowercase());
            let version = version.parse().ok().filter(|_| is_name)?;
            Some(Self { extractor: Cow::Owned(extractor.to_owned()), version })
        });
        read.ok_or_else(|| ExtractorVersionError(text.to_owned()))
    }
}

/// Whether an entry was parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentState {
    /// It was.
    Processed,
    /// The parser crashed on the capture, or no longer tries it; or an item does not fit its type
    /// in the definition.
    Stuck,
}

/// The content of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// `<title>`.
    pub title: Option<String>,
    /// `<meta name=description>`.
    pub description: Option<String>,
    /// The declared language, as written.
    pub language: Option<String>,
    /// The name of the encoding that was used to decode it.
    pub charset: Option<String>,
    /// The URL that it declares canonical, in scope or not.
    pub canonical: Option<CrawlUrl>,
    /// Its directives to crawlers, from header and meta elements together.
    pub directives: Directives,
    /// The visible text; empty if the page has noindex.
    pub text: String,
    /// Whether text or links were cut at a limit.
    pub cut: PageCut,
}

/// The parts of a page that are missing because of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageCut {
    /// Nothing.
    #[default]
    Whole,
    /// Text beyond the limit.
    Text,
    /// Links beyond the limit.
    Links,
    /// Both.
    TextAndLinks,
}

impl PageCut {
    /// Returns the same with links missing, too.
    #[must_use]
    pub const fn and_links(self) -> Self {
        match self {
            Self::Whole | Self::Links => Self::Links,
            Self::Text | Self::TextAndLinks => Self::TextAndLinks,
        }
    }
}

/// One link of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The kind of the link.
    pub kind: LinkKind,
    /// The target, normalised.
    pub target: CrawlUrl,
    /// Its disposition.
    #[serde(alias = "fate")]
    pub disposition: Disposition,
    /// Whether the target is as written, or parameters were stripped.
    #[serde(default, skip_serializing_if = "Spelling::is_whole")]
    pub spelling: Spelling,
    /// Whether the page forbids following it.
    #[serde(default, skip_serializing_if = "Rel::is_follow")]
    pub rel: Rel,
    /// The text of the link and of pictures in it, on one line, up to 256 bytes. `None` if there is
    /// none, the kind has no text, the page has noindex, or the link was stored before this field
    /// existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
}

/// Whether a page allows a link to be followed: by the link's own `rel`, or for the whole page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rel {
    /// It does.
    #[default]
    Follow,
    /// It does not.
    NoFollow,
}

impl Rel {
    /// Whether the page allows the link to be followed.
    #[must_use]
    pub const fn is_follow(&self) -> bool {
        matches!(self, Self::Follow)
    }
}

impl Link {
    /// Whether the page forbids following the link. For links stored before [`Link::rel`] existed,
    /// this is known only if nothing else kept them from being followed.
    #[must_use]
    pub const fn is_nofollow(&self) -> bool {
        !self.rel.is_follow() || matches!(self.disposition, Disposition::NoFollow)
    }
}

/// The disposition of a link, decided once, when it is found.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// Its target is claimed.
    Follow,
    /// It is part of the page, or an action: recorded only.
    NotAPage,
    /// The page forbids following it.
    NoFollow,
    /// The target is out of scope: recorded only.
    OutOfScope,
    /// The target is deeper than the definition allows: recorded only.
    TooDeep,
    /// A rule of the definition forbids the target: it becomes a candidate with outcome 173.
    Blocked(String),
    /// More URLs wait than the iteration's page budget allows, or the page has exceeded its limit
    /// on origins: recorded only. A later page or iteration may claim the target.
    BeyondBudget,
    /// It is left to the next crawl: the page's demand does not cover the target, or the link was
    /// found when a stored page was parsed again. Recorded only.
    Later,
    /// Its target is claimed, to find out whether it is there (`links.external: check`).
    Check,
    /// Its target is claimed, and waits behind all others: pages of its shape showed nothing new.
    Last,
    /// Its target, a page out of scope in a frame, is claimed as a part of the page.
    Framed,
    /// Its target is claimed even if it is not due: the sitemap says that it has changed, and was
    /// right before.
    Changed,
}

impl Disposition {
    /// Returns the stored number. The reason for a blocked link is in the log.
    #[must_use]
    pub const fn code(&self) -> u8 {
        match self {
            Self::Follow => 0,
            Self::NotAPage => 1,
            Self::NoFollow => 2,
            Self::OutOfScope => 3,
            Self::TooDeep => 4,
            Self::Blocked(_) => 5,
            Self::BeyondBudget => 6,
            Self::Later => 7,
            Self::Check => 8,
            Self::Last => 9,
            Self::Framed => 10,
            Self::Changed => 11,
        }
    }

    /// Whether the target becomes a candidate.
    #[must_use]
    pub const fn is_claimed(&self) -> bool {
        matches!(self, Self::Follow | Self::Blocked(_) | Self::Check | Self::Last | Self::Framed | Self::Changed)
    }

    /// Whether the target is left to a later page or iteration, so that the link will be decided on
    /// again.
    #[must_use]
    pub const fn is_left(&self) -> bool {
        matches!(self, Self::BeyondBudget | Self::Later)
    }

    /// Returns its name for people.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Follow => "follow",
            Self::NotAPage => "not_a_page",
            Self::NoFollow => "no_follow",
            Self::OutOfScope => "out_of_scope",
            Self::TooDeep => "too_deep",
            Self::Blocked(_) => "blocked",
            Self::BeyondBudget => "beyond_budget",
            Self::Later => "later",
            Self::Check => "check",
            Self::Last => "last",
            Self::Framed => "framed",
            Self::Changed => "changed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"{"n":3,"url":"https://a.example/","outcome":20,"detail":null,"state":"processed","page":null,"links":[{"kind":"a","target":"https://a.example/b","fate":"follow"}]}"#;

    #[test]
    fn documents_of_older_and_of_newer_programs_are_read() {
        let old: Document = serde_json::from_str(OLD).unwrap();
        assert_eq!((old.n, old.made_by.as_ref()), (3, None));
        let newer = OLD.replace("\"n\":3", r#""n":3,"made_by":"pdf 12","items":[{"type":"Product"}]"#);
        let newer: Document = serde_json::from_str(&newer).unwrap();
        let made_by = newer.made_by.clone().unwrap();
        assert_eq!((made_by.extractor(), made_by.version()), ("pdf", 12));
        assert_eq!(Document { made_by: None, ..newer }, old, "unknown fields are ignored");
    }

    #[test]
    fn an_extractor_version_is_a_word_and_a_number() {
        assert_eq!("html 1".parse(), Ok(ExtractorVersion::new("html", 1)));
        for text in ["", "html", "html ", "html x", " 1", "HTML 1", "html -1", "html 1 2", "html 70000"] {
            assert!(text.parse::<ExtractorVersion>().is_err(), "{text}");
        }
    }
}
