//! The features by which walls, and pages filled by scripts, are recognised: word counts by
//! position, password forms, scripts.

use dragline_domain::scripted::{ROOT_WORDS_MAX, ROOTS};
use dragline_domain::words::count_words;

use super::PAGE_BYTES_MAX;
use super::tokens::{Token, Tokens, attribute};

/// The most scripts and tags searched for markers.
const CODE_MAX: usize = 20_000;

/// The most bytes kept of title, headings and buttons, each.
const KEPT_BYTES_MAX: usize = 2 << 10;

/// The position of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Depths {
    /// The depth in header, menus, footer and the like.
    furniture: usize,
    links: usize,
    noscripts: usize,
    /// The depth in elements that only a script reveals.
    hidden: usize,
    /// The depth in first-level headings, links, buttons and labels.
    headings: usize,
    buttons: usize,
}

/// The open form.
#[derive(Clone, Copy, Debug, Default)]
struct Form {
    words: usize,
    passwords: usize,
}

/// The element that a framework fills.
#[derive(Clone, Copy, Debug)]
struct Root<'t> {
    name: &'t str,
    label: &'t str,
    /// The number of open elements of its name, itself included.
    depth: usize,
    words: usize,
}

/// The features of a page.
#[derive(Debug, Default)]
pub struct Outline<'t> {
    /// Its length in bytes.
    pub(super) bytes: usize,
    /// Whether the page is longer than the part examined.
    pub(super) is_cut: bool,
    /// The visible words of its body, including `<noscript>`.
    pub(super) words: usize,
    /// The words in `<noscript>`.
    noscript_words: usize,
    /// Words outside of links, page furniture (header, menus and footer), and password forms.
    pub(super) prose_words: usize,
    /// Words in links outside of page furniture and password forms.
    pub(super) link_words: usize,
    /// Words in password forms outside of page furniture.
    pub(super) login_words: usize,
    /// The numbers of password fields outside of and in page furniture.
    pub(super) passwords: usize,
    pub(super) passwords_aside: usize,
    /// Whether a password is to be chosen.
    pub(super) sets_password: bool,
    /// The title and first-level headings, in lower case.
    pub(super) headings: String,
    /// The texts of headings, links, buttons and labels, in lower case, one a line.
    pub(super) buttons: String,
    scripts: usize,
    code: Vec<&'t str>,
    /// The targets of its forms.
    actions: Vec<&'t str>,
    root: Option<Root<'t>>,
}

impl<'t> Outline<'t> {
    /// Reads a page's text up to the limit.
    #[must_use]
    pub fn build(text: &'t str) -> Self {
        let end = text.floor_char_boundary(PAGE_BYTES_MAX);
        let read = text.get(..end).unwrap_or_default();
        let mut outline = Self { bytes: text.len(), is_cut: end < text.len(), ..Self::default() };
        let (mut at, mut form) = (Depths::default(), None);
        for token in Tokens::new(read) {
            outline.read(token, &mut at, &mut form);
        }
        outline.end_form(form.take());
        outline
    }

    /// Whether a form's target contains this.
    pub(super) fn has_action(&self, part: &str) -> bool {
        self.actions.iter().any(|action| action.contains(part))
    }

    /// Whether a script, or a tag that acts by itself, contains this.
    pub(super) fn has_in_code(&self, marker: &str) -> bool {
        self.code.iter().any(|code| code.contains(marker))
    }

    /// Returns the element that scripts fill, if they make the page and there is next to nothing
    /// without them.
    #[must_use]
    pub fn needs_scripts(&self, words_max: usize) -> Option<&'t str> {
        let root = self.root.filter(|root| root.words <= ROOT_WORDS_MAX)?;
        let words = self.words.saturating_sub(self.noscript_words);
        (self.scripts > 0 && words <= words_max && !self.is_cut).then_some(root.label)
    }

    fn read(&mut self, token: Token<'t>, at: &mut Depths, form: &mut Option<Form>) {
        match token {
            Token::Text(text) => self.text(text, *at, form),
            Token::Raw { name, text } if name.eq_ignore_ascii_case("script") => self.keep_code(text),
            Token::Raw { name, text } if name.eq_ignore_ascii_case("title") => keep(&mut self.headings, text),
            Token::Raw { .. } => {}
            Token::Start { name, attributes } => {
                if may_act(name, attributes) {
                    self.keep_code(attributes);
                }
                self.start(name, attributes, *at, form);
                at.step(name, |depth| depth.saturating_add(1));
            }
            Token::End(name) => {
                at.step(name, |depth| depth.saturating_sub(1));
                if name.eq_ignore_ascii_case("form") {
                    self.end_form(form.take());
                }
                if let Some(root) =
                    self.root.as_mut().filter(|root| root.depth > 0 && name.eq_ignore_ascii_case(root.name))
                {
                    root.depth -= 1;
                }
            }
        }
    }

    fn text(&mut self, text: &str, at: Depths, form: &mut Option<Form>) {
        if at.hidden > 0 || text.trim_ascii().is_empty() {
            return;
        }
        let words = count_words(text);
        self.words += words;
        if at.noscripts > 0 {
            self.noscript_words += words;
        } else if let Some(root) = self.root.as_mut().filter(|root| root.depth > 0) {
            root.words += words;
        }
        if at.headings > 0 {
            keep(&mut self.headings, text);
        }
        if at.headings + at.links + at.buttons > 0 {
            keep(&mut self.buttons, text);
        }
        match form {
            _ if at.furniture > 0 => {}
            Some(form) => form.words += words,
            None if at.links > 0 => self.link_words += words,
            None => self.prose_words += words,
        }
    }

    fn start(&mut self, name: &'t str, attributes: &'t str, at: Depths, form: &mut Option<Form>) {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("form") {
            if let Some(action) = attribute(attributes, "action").filter(|_| self.actions.len() < CODE_MAX) {
                self.actions.push(action);
            }
            self.end_form(form.replace(Form::default()));
        } else if is("input") {
            let kind = attribute(attributes, "type").unwrap_or_default();
            if ["submit", "button"].iter().any(|known| kind.eq_ignore_ascii_case(known)) {
                keep(&mut self.buttons, attribute(attributes, "value").unwrap_or_default());
            }
            if kind.eq_ignore_ascii_case("password") && at.hidden == 0 && attribute(attributes, "hidden").is_none() {
                self.sets_password |=
                    attribute(attributes, "autocomplete").is_some_and(|value| value.contains("new-password"));
                if at.furniture > 0 {
                    self.passwords_aside += 1;
                } else {
                    self.passwords += 1;
                    if let Some(form) = form {
                        form.passwords += 1;
                    }
                }
            }
        } else if is("script") {
            self.scripts += 1;
        }
        match &mut self.root {
            Some(root) if root.depth > 0 && is(root.name) => root.depth += 1,
            Some(_) => {}
            None => self.root = root(name, attributes),
        }
    }

    fn end_form(&mut self, form: Option<Form>) {
        match form {
            Some(Form { words, passwords: 0 }) => self.prose_words += words,
            Some(Form { words, .. }) => self.login_words += words,
            None => {}
        }
    }

    fn keep_code(&mut self, code: &'t str) {
        if !code.is_empty() && self.code.len() < CODE_MAX {
            self.code.push(code);
        }
    }
}

/// Whether an element acts by itself. Links are for readers, and metadata does nothing.
fn may_act(name: &str, attributes: &str) -> bool {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    let refreshes = || attribute(attributes, "http-equiv").is_some_and(|value| value.eq_ignore_ascii_case("refresh"));
    !(is("a") || is("area") || is("link") || is("meta") && !refreshes())
}

fn root<'t>(name: &'t str, attributes: &'t str) -> Option<Root<'t>> {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    let label = match () {
        () if is("app-root") => name,
        () if is("div") || is("main") => attribute(attributes, "id").filter(|id| ROOTS.contains(id))?,
        () => return None,
    };
    Some(Root { name, label, depth: 1, words: 0 })
}

impl Depths {
    /// Whether this is outside of page furniture, and visible if scripts run.
    pub(super) const fn is_own(self) -> bool {
        self.furniture == 0 && self.noscripts == 0 && self.hidden == 0
    }

    pub(super) const fn is_link(self) -> bool {
        self.links > 0
    }

    pub(super) fn step(&mut self, name: &str, step: fn(usize) -> usize) {
        let is_any = |known: &[&str]| known.iter().any(|known| name.eq_ignore_ascii_case(known));
        let depth = match name {
            _ if is_any(&["header", "nav", "footer", "aside"]) => &mut self.furniture,
            _ if is_any(&["a"]) => &mut self.links,
            _ if is_any(&["noscript"]) => &mut self.noscripts,
            // The options of a list are not text.
            _ if is_any(&["template", "dialog", "select"]) => &mut self.hidden,
            _ if is_any(&["h1"]) => &mut self.headings,
            _ if is_any(&["button", "label", "h2"]) => &mut self.buttons,
            _ => return,
        };
        *depth = step(*depth);
    }
}

/// Appends a text in lower case as a line, as long as there is room.
fn keep(kept: &mut String, text: &str) {
    let text = text.trim_ascii();
    if !text.is_empty() && kept.len() + text.len() < KEPT_BYTES_MAX {
        kept.push_str(&text.to_lowercase());
        kept.push('\n');
    }
}
