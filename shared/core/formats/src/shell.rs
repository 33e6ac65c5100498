//! Whether a page is a shell, which says next to nothing until scripts fill it in a browser.
//!
//! Decided by the bytes alone, for whoever has fetched a page and parses none: a scan that only
//! moves forward.

use dragline_domain::scripted::{ROOT_WORDS_MAX, ROOTS, WORDS_MAX};
use dragline_domain::words::count_words;
use memchr::{memchr, memmem};

use crate::directives::{meta_robots, x_robots_tag};
use crate::http_fields::Headers;

/// The version of the rules: it rises when they decide otherwise about the same bytes.
pub const SHELL_RULES_VERSION: u16 = 1;

/// The most bytes of a page that are looked at. A longer one is not taken for a shell.
const LOOKED_AT_BYTES_MAX: usize = 1 << 20;

/// With this many links a page leads somewhere without scripts.
const LINKS_ENOUGH: usize = 3;

/// The most words of a placeholder; a script without spaces counts each sign.
const PLACEHOLDER_WORDS_MAX: usize = 8;

/// The limit on the meta elements that are looked at.
const METAS_MAX: usize = 200;

/// A script of fewer bytes than this, such as one that sets a class, brings no text.
const SCRIPT_BYTES_MIN: usize = 50;

/// What a `<noscript>` says that stands for the whole page, in lower case.
const NOTICES: [&str; 5] =
    ["enable javascript", "javascript enabled", "requires javascript", "javascript is required", "javascript to run"];

/// What stands where scripts are going to put something, in lower case and without what ends it.
const PLACEHOLDERS: [&str; 12] = [
    "loading",
    "loading, please wait",
    "please wait",
    "wird geladen",
    "lädt",
    "chargement",
    "chargement en cours",
    "cargando",
    "carregando",
    "caricamento",
    "загрузка",
    "読み込み中",
];

/// Elements of other names than `div` that frameworks fill: Angular and Flutter.
const ROOT_ELEMENTS: [&str; 3] = ["app-root", "flutter-view", "flt-glass-pane"];

/// The elements whose contents are not markup. With scripts, `<noscript>` is one of them.
const RAW: [&str; 9] = ["script", "style", "noscript", "textarea", "title", "iframe", "noembed", "noframes", "xmp"];

/// The elements whose text nobody sees, or that draw.
const UNSEEN: [&str; 4] = ["template", "select", "dialog", "svg"];

/// The elements that show something without words.
const SHOWING: [&str; 5] = ["img", "iframe", "video", "object", "embed"];

/// By what a page is known as a shell. Its scripts bring what it lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShellSign {
    /// The empty element of a framework.
    Root,
    /// A `<noscript>` that says so.
    Notice,
    /// A part of it that says that it is being loaded.
    Placeholder,
    /// It has nothing at all besides scripts.
    Nothing,
}

/// Returns by what a page is known as a shell; `None` if it says something without scripts. Takes
/// the page's bytes without their content coding, in any character set that contains ASCII.
///
/// ```
/// use dragline_formats::shell::{ShellSign, find_shell};
/// let page = b"<!doctype html><title>App</title><div id=root></div><script src=/app.js></script>";
/// assert_eq!(find_shell(page), Some(ShellSign::Root));
/// assert_eq!(find_shell(b"<!doctype html><h1>It works!</h1>"), None);
/// ```
#[must_use]
pub fn find_shell(page: &[u8]) -> Option<ShellSign> {
    if page.len() > LOOKED_AT_BYTES_MAX {
        return None;
    }
    let mut look = Look::default();
    look.scan(page);
    let is_slight = look.scripts > 0 && look.words <= WORDS_MAX && !look.leads_away;
    if is_slight && look.has_placeholder {
        return Some(ShellSign::Placeholder);
    }
    let is_bare = is_slight && look.links < LINKS_ENOUGH;
    match look.root {
        _ if !is_bare => None,
        Some(root) if root.words <= ROOT_WORDS_MAX => Some(ShellSign::Root),
        _ if look.has_notice => Some(ShellSign::Notice),
        _ => (look.words == 0 && look.links == 0 && look.shows == 0).then_some(ShellSign::Nothing),
    }
}

/// Returns a page as it is with scripts: without its `<noscript>` elements, which a browser that
/// runs them does not show. Takes the page's bytes as [`find_shell`] does.
///
/// ```
/// use dragline_formats::shell::without_noscript;
/// let page = b"<p>One</p><noscript>Enable JavaScript!</noscript><script>'<noscript>'</script><p>Two";
/// assert_eq!(without_noscript(page), b"<p>One</p><script>'<noscript>'</script><p>Two");
/// ```
#[must_use]
pub fn without_noscript(page: &[u8]) -> Vec<u8> {
    let (mut kept, mut rest) = (Vec::with_capacity(page.len()), page);
    while let Some(text_bytes) = memchr(b'<', rest) {
        let (text, markup) = rest.split_at(text_bytes);
        kept.extend_from_slice(text);
        let behind_it = match markup {
            [_, b'!', b'-', b'-', comment @ ..] => behind(comment, b"-->"),
            [_, tag @ ..] if tag.first().is_some_and(u8::is_ascii_alphabetic) => {
                let name = name(tag);
                let behind_tag = tag.get(tag_bytes(tag)..).unwrap_or_default();
                if name.eq_ignore_ascii_case(b"noscript") {
                    let end = behind_tag.get(raw_bytes(behind_tag, name)..).unwrap_or_default();
                    rest = behind(end, b">");
                    continue;
                }
                let raw = if is_any(name, &RAW) { raw_bytes(behind_tag, name) } else { 0 };
                behind_tag.get(raw..).unwrap_or_default()
            }
            _ => markup.get(1..).unwrap_or_default(),
        };
        kept.extend_from_slice(markup.get(..markup.len() - behind_it.len()).unwrap_or_default());
        rest = behind_it;
    }
    kept.extend_from_slice(rest);
    kept
}

/// Returns the header fields of a page's answer as they describe the document that its scripts
/// made, as HTML in UTF-8.
#[must_use]
pub fn headers_of_dom(headers: &Headers) -> Headers {
    let describes_body = |name: &str| name.to_ascii_lowercase().starts_with("content-");
    let kept = headers.iter().filter(|(name, _)| !describes_body(name)).map(|(name, value)| (name, value.to_vec()));
    kept.chain([("content-type", b"text/html; charset=utf-8".to_vec())]).collect()
}

/// Whether a page asks not to be kept, by its header or by its meta elements for robots in general
/// or for this one. Takes the page's bytes as [`find_shell`] does.
#[must_use]
pub fn asks_for_noindex(page: &[u8], headers: &Headers, product_token: &str) -> bool {
    let mut look = Look::default();
    look.scan(page.get(..LOOKED_AT_BYTES_MAX).unwrap_or(page));
    let metas: Vec<(String, String)> = look.metas.iter().map(|(name, content)| (text(name), text(content))).collect();
    let by_header = headers.all("x-robots-tag").map(|value| String::from_utf8_lossy(value));
    let by_header: Vec<_> = by_header.collect();
    let by_header = x_robots_tag(by_header.iter().map(|value| &**value), product_token);
    let by_page = meta_robots(metas.iter().map(|(name, content)| (&**name, &**content)), product_token);
    by_header.and(by_page).noindex
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a scan saw of a page.
#[derive(Debug, Default)]
struct Look<'p> {
    /// Words that are seen without scripts.
    words: usize,
    links: usize,
    scripts: usize,
    /// Pictures and frames.
    shows: usize,
    has_notice: bool,
    has_placeholder: bool,
    /// Whether it sends browsers elsewhere, or is made of frames.
    leads_away: bool,
    /// How deep the scan is in elements that nobody sees.
    unseen: usize,
    root: Option<Root<'p>>,
    /// The names and contents of its first meta elements.
    metas: Vec<(&'p [u8], &'p [u8])>,
}

/// The first element that frameworks fill.
#[derive(Clone, Copy, Debug)]
struct Root<'p> {
    name: &'p [u8],
    /// How deep the scan is in elements of its name; 0 behind it.
    depth: usize,
    words: usize,
}

impl<'p> Look<'p> {
    fn scan(&mut self, page: &'p [u8]) {
        let mut rest = page;
        while let Some(text_bytes) = memchr(b'<', rest) {
            let (text, markup) = rest.split_at(text_bytes);
            self.text(text);
            rest = match markup {
                [_, b'!', b'-', b'-', comment @ ..] => behind(comment, b"-->"),
                [_, b'!' | b'?', declaration @ ..] => behind(declaration, b">"),
                [_, b'/', tag @ ..] if tag.first().is_some_and(u8::is_ascii_alphabetic) => {
                    self.end(name(tag));
                    behind(tag, b">")
                }
                [_, tag @ ..] if tag.first().is_some_and(u8::is_ascii_alphabetic) => self.start(tag),
                _ => markup.get(1..).unwrap_or_default(),
            };
        }
        self.text(rest);
    }

    fn text(&mut self, text: &[u8]) {
        if self.unseen > 0 || self.words > WORDS_MAX || text.trim_ascii().is_empty() {
            return;
        }
        let text = String::from_utf8_lossy(text);
        let words = count_words(&text);
        self.words += words;
        self.has_placeholder |= words <= PLACEHOLDER_WORDS_MAX && is_placeholder(&text);
        if let Some(root) = self.root.as_mut().filter(|root| root.depth > 0) {
            root.words += words;
        }
    }

    /// Handles a start tag from its name on, with the contents of a raw element. Returns what is
    /// behind that.
    fn start(&mut self, tag: &'p [u8]) -> &'p [u8] {
        let name = name(tag);
        let (tag, rest) = tag.split_at(tag_bytes(tag));
        let attributes = tag.get(name.len()..).unwrap_or_default();
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        let value = |wanted: &str| attribute(attributes, wanted);
        let refreshes = || value("http-equiv").is_some_and(|it| it.eq_ignore_ascii_case(b"refresh"));
        match () {
            () if is("a") => self.links += usize::from(value("href").is_some_and(|href| !href.starts_with(b"#"))),
            () if is("frameset") || is("meta") && refreshes() => self.leads_away = true,
            () if is("meta") && self.metas.len() < METAS_MAX => self.metas.extend(value("name").zip(value("content"))),
            () if is_any(name, &SHOWING) => self.shows += 1,
            () if is_any(name, &UNSEEN) => self.unseen += 1,
            _ => {}
        }
        match &mut self.root {
            Some(root) if root.depth > 0 && root.name.eq_ignore_ascii_case(name) => root.depth += 1,
            Some(_) => {}
            None => {
                let has_id = || value("id").is_some_and(|id| ROOTS.iter().any(|root| root.as_bytes() == id));
                if is_any(name, &ROOT_ELEMENTS) || (is("div") || is("main")) && has_id() {
                    self.root = Some(Root { name, depth: 1, words: 0 });
                }
            }
        }
        if !is_any(name, &RAW) {
            return rest;
        }
        let (content, rest) = rest.split_at(raw_bytes(rest, name));
        if is("script") && is_code(value("type").unwrap_or_default()) {
            self.scripts += usize::from(value("src").is_some() || content.len() >= SCRIPT_BYTES_MIN);
        } else if is("noscript") {
            let said = String::from_utf8_lossy(content).to_ascii_lowercase();
            self.has_notice |= NOTICES.iter().any(|notice| said.contains(notice));
        }
        rest
    }

    fn end(&mut self, name: &[u8]) {
        if is_any(name, &UNSEEN) {
            self.unseen = self.unseen.saturating_sub(1);
        }
        if let Some(root) = self.root.as_mut().filter(|root| root.name.eq_ignore_ascii_case(name)) {
            root.depth = root.depth.saturating_sub(1);
        }
    }
}

fn is_placeholder(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['.', '\u{2026}', '!', ' ']).to_lowercase();
    PLACEHOLDERS.contains(&&*text)
}

fn is_any(name: &[u8], known: &[&str]) -> bool {
    known.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether a script of this type runs, and is not data.
fn is_code(kind: &[u8]) -> bool {
    let kind = kind.trim_ascii();
    kind.is_empty() || kind.eq_ignore_ascii_case(b"module") || memmem::find(kind, b"javascript").is_some()
}

/// Returns what is behind the next of these.
fn behind<'p>(bytes: &'p [u8], end: &[u8]) -> &'p [u8] {
    memmem::find(bytes, end).and_then(|at| bytes.get(at + end.len()..)).unwrap_or_default()
}

/// Returns the name that a tag begins with.
fn name(tag: &[u8]) -> &[u8] {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
    tag.get(..tag.iter().position(is_end).unwrap_or(tag.len())).unwrap_or_default()
}

/// Returns the length of a tag from its name on, with its `>`, which in quotes does not end it.
fn tag_bytes(tag: &[u8]) -> usize {
    let (mut quote, mut before) = (None, b' ');
    for (at, &byte) in tag.iter().enumerate() {
        match quote {
            Some(open) => quote = Some(open).filter(|_| byte != open),
            None if byte == b'>' => return at + 1,
            None => quote = Some(byte).filter(|_| before == b'=' && matches!(byte, b'"' | b'\'')),
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    tag.len()
}

/// Returns the length of a raw element's contents, up to its end tag.
fn raw_bytes(bytes: &[u8], name: &[u8]) -> usize {
    let mut at = 0;
    while let Some(end) = bytes.get(at..).and_then(|rest| memmem::find(rest, b"</")) {
        let behind = at + end + 2;
        if bytes.get(behind..behind + name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name)) {
            return at + end;
        }
        at = behind;
    }
    bytes.len()
}

/// Returns the value of an attribute, empty if it has none; `None` if there is no such attribute.
fn attribute<'p>(attributes: &'p [u8], wanted: &str) -> Option<&'p [u8]> {
    let mut rest = attributes;
    loop {
        let is_between = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
        rest = rest.get(rest.iter().position(|byte| !is_between(byte))?..)?;
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'=');
        // A name may begin with the sign that ends others.
        let name_bytes = 1 + rest.iter().skip(1).position(is_end).unwrap_or(rest.len() - 1);
        let (name, behind_name) = rest.split_at(name_bytes);
        let (value, behind_value) = match behind_name.trim_ascii_start() {
            [b'=', value @ ..] => split_value(value.trim_ascii_start()),
            _ => (&behind_name[..0], behind_name),
        };
        if name.eq_ignore_ascii_case(wanted.as_bytes()) {
            return Some(value);
        }
        rest = behind_value;
    }
}

/// Splits off a value, with or without quotes.
fn split_value(text: &[u8]) -> (&[u8], &[u8]) {
    match text {
        [quote @ (b'"' | b'\''), value @ ..] => value.split_at(memchr(*quote, value).unwrap_or(value.len())),
        _ => text
            .split_at(text.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>').unwrap_or(text.len())),
    }
}

#[cfg(test)]
mod tests;
