//! Forms to log in: what a browser would send of one, besides what a person fills in.

use dom_query::{Document, Selection};
use dragline_domain::definition::LogIn;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::http_fields::Headers;
use memchr::memmem;
use url::Url;

use crate::{missing, tree};

/// The most fields sent besides those that a person fills in.
const FIELDS_MAX: usize = 100;

/// A form to log in, as its page has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogInForm {
    /// Where it is sent.
    pub action: CrawlUrl,
    /// The names and values that the page put there, in order, without the fields of the
    /// definition.
    pub fields: Vec<(String, String)>,
}

/// Why a page has no form that can be filled in. Each names what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoForm {
    /// It is no HTML, or too large.
    #[error("it is no page")]
    NoPage,
    /// There is none with these fields.
    #[error("it has no form with {0}")]
    NoSuchFields(String),
    /// It is sent elsewhere, and that is not asked of the definition.
    #[error("its form is sent to {0}: if that is right, make it the `url` of `login`")]
    Elsewhere(String),
    /// It is no POST, which puts passwords into URLs.
    #[error("its form would put the values into its URL")]
    Get,
}

/// An answer whose page was read, if it is one: decoded once for all that is asked of it.
#[derive(Clone, Debug)]
pub struct ReadPage(Option<Vec<u8>>);

impl ReadPage {
    /// Reads an answer.
    #[must_use]
    pub fn new(headers: &Headers, body: &[u8]) -> Self {
        Self(missing::page_bytes(headers, body))
    }

    /// Returns the form to log in of the page at a URL.
    ///
    /// # Errors
    /// Returns why there is none that can be sent.
    pub fn log_in_form(&self, url: &CrawlUrl, log_in: &LogIn) -> Result<LogInForm, NoForm> {
        let bytes = self.0.as_deref().ok_or(NoForm::NoPage)?;
        let document = tree::parse(&String::from_utf8_lossy(bytes)).ok_or(NoForm::NoPage)?;
        form_in(&document, url, log_in)
    }

    /// Whether it shows the form to log in: with its fields, whatever it is sent to.
    #[must_use]
    pub fn shows_log_in_form(&self, log_in: &LogIn) -> bool {
        let named = || log_in.fields.iter().map(|field| field.name.as_str());
        // Nearly every page returns here.
        if !self.has_text("form") || !named().all(|name| self.has_text(name)) {
            return false;
        }
        let text = self.0.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let Some(document) = tree::parse(&text) else { return false };
        let inputs = document.select("input");
        named().all(|name| inputs.iter().any(|input| input.attr("name").is_some_and(|known| &*known == name)))
    }

    /// Whether it has a text, as it is written in its page.
    #[must_use]
    pub fn has_text(&self, text: &str) -> bool {
        self.0.as_deref().is_some_and(|bytes| memmem::find(bytes, text.as_bytes()).is_some())
    }
}

fn form_in(document: &Document, url: &CrawlUrl, log_in: &LogIn) -> Result<LogInForm, NoForm> {
    let own = Url::parse(url.as_str()).map_err(|_| NoForm::NoPage)?;
    let base = tree::base_url(document, &own);
    let names = || log_in.fields.iter().map(|field| field.name.as_str());
    let forms = document.select("form");
    let has_all = |form: &Selection<'_>| {
        let controls = controls(document, form);
        names().all(|name| controls.iter().any(|control| control.attr("name").is_some_and(|known| &*known == name)))
    };
    let form = forms.iter().find(has_all).ok_or_else(|| {
        let names: Vec<String> = names().map(|name| format!("`{name}`")).collect();
        NoForm::NoSuchFields(format!("the field{} {}", if names.len() == 1 { "" } else { "s" }, names.join(" and ")))
    })?;
    let action = match form.attr("action").filter(|action| !action.trim().is_empty()) {
        Some(action) => base.join(action.trim()).map_err(|_| NoForm::Elsewhere(action.to_string()))?,
        None => own,
    };
    let to = CrawlUrl::parse(action.as_str(), &UrlRules::keep_all());
    let to = to.map_err(|_| NoForm::Elsewhere(action.to_string()))?;
    if !log_in.may_be_sent_to(&to) {
        return Err(NoForm::Elsewhere(to.as_str().to_owned()));
    }
    if !form.attr("method").is_some_and(|method| method.trim().eq_ignore_ascii_case("post")) {
        return Err(NoForm::Get);
    }
    let mut has_button = false;
    let mut fields = Vec::new();
    for control in controls(document, &form) {
        let Some(name) = control.attr("name").filter(|name| !name.is_empty()) else { continue };
        if control.has_attr("disabled") || names().any(|known| known == &*name) || fields.len() == FIELDS_MAX {
            continue;
        }
        fields.extend(value(&control, &mut has_button).map(|value| (name.to_string(), value)));
    }
    Ok(LogInForm { action: to, fields })
}

/// Returns the controls of a form, in the order of the page: those in it, and those that name it.
fn controls<'d>(document: &'d Document, form: &Selection<'d>) -> Vec<Selection<'d>> {
    let own = form.select("input, button, select, textarea");
    let Some(id) = form.attr("id") else { return own.iter().collect() };
    let all = document.select("input, button, select, textarea");
    let is_own = |control: &Selection<'_>| {
        own.nodes().iter().any(|node| control.nodes().first().is_some_and(|n| n.id == node.id))
    };
    let names_it = |control: &Selection<'_>| control.attr("form").is_some_and(|form| form == id);
    all.iter().filter(|control| is_own(control) || names_it(control)).collect()
}

/// Returns what a browser sends of a control (HTML, "constructing the entry list"): of several
/// buttons, the first, as by the Enter key.
fn value(control: &Selection<'_>, has_button: &mut bool) -> Option<String> {
    let written = || control.attr("value").map(|value| value.to_string());
    let kind = control.attr("type").map(|kind| kind.trim().to_ascii_lowercase()).unwrap_or_default();
    let mut first_button = || (!std::mem::replace(has_button, true)).then(|| written().unwrap_or_default());
    if control.is("select") {
        let chosen = control.select("option[selected]");
        let option = if chosen.exists() { chosen.first() } else { control.select("option").first() };
        return option.exists().then(|| option.attr("value").unwrap_or_else(|| option.text()).to_string());
    }
    if control.is("textarea") {
        return Some(control.text().to_string());
    }
    if control.is("button") {
        return if matches!(kind.as_str(), "" | "submit") { first_button() } else { None };
    }
    match kind.as_str() {
        "submit" => first_button(),
        "image" | "button" | "reset" | "file" => None,
        "checkbox" | "radio" => control.has_attr("checked").then(|| written().unwrap_or_else(|| "on".to_owned())),
        _ => Some(written().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(text, &UrlRules::keep_all()).unwrap()
    }

    fn log_in(to: &str) -> LogIn {
        let field = |name: &str| dragline_domain::definition::FormField {
            name: name.to_owned(),
            value: "env:X".parse().unwrap(),
        };
        LogIn {
            url: url(to),
            page: None,
            fields: vec![field("user"), field("pass")],
            logged_in: None,
            logged_out: None,
        }
    }

    fn headers() -> Headers {
        Headers::from_iter([("content-type", "text/html")])
    }

    fn form_of(headers: &Headers, page: &str) -> Result<LogInForm, NoForm> {
        let read = ReadPage::new(headers, page.as_bytes());
        read.log_in_form(&url("https://a.example/in"), &log_in("https://a.example/in"))
    }

    const INPUTS: &str = "<input name=user><input name=pass type=password>";

    #[test]
    fn a_form_is_sent_as_a_browser_would() {
        let form = format!(
            "<form action=/search><input name=q></form>\
             <form method=POST action='/in?next=%2Fa&amp;b' id=f><input type=hidden name=csrf value='a&quot;b'>{INPUTS}\
             <input type=checkbox name=keep checked><input type=checkbox name=spam value=1>\
             <select name=lang><option value=de>Deutsch<option value=en selected>English</select>\
             <input name=gone value=1 disabled><input type=file name=photo>\
             <button type=button name=show>Show</button><button name=go value=in>Log in</button><input type=submit name=other value=x></form>\
             <input form=f name=late value=2>"
        );
        let read = form_of(&headers(), &form).unwrap();
        assert_eq!(read.action.as_str(), "https://a.example/in?next=%2Fa&b");
        let fields: Vec<(&str, &str)> =
            read.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(fields, [("csrf", "a\"b"), ("keep", "on"), ("lang", "en"), ("go", "in"), ("late", "2")]);
    }

    #[test]
    fn a_page_without_such_a_form_says_what_to_change() {
        for (page, said, why) in [
            ("<p>Welcome".to_owned(), "no form with the fields `user` and `pass`", "no form"),
            ("<form method=post><input name=email></form>".to_owned(), "no form with", "with other fields"),
            (
                format!("<form method=post action=//evil.example/in>{INPUTS}</form>"),
                "sent to https://evil.example/in",
                "a stranger",
            ),
            (
                format!("<base href=//evil.example><form method=post action=/in>{INPUTS}</form>"),
                "evil.example",
                "by a base",
            ),
            (format!("<form action=/in>{INPUTS}</form>"), "into its URL", "GET"),
            (format!("<form method=post action='javascript:x()'>{INPUTS}</form>"), "javascript:", "a script"),
        ] {
            let error = form_of(&headers(), &page).unwrap_err().to_string();
            assert!(error.contains(said), "{why}: {error}");
        }
        let picture = Headers::from_iter([("content-type", "image/png")]);
        assert_eq!(form_of(&picture, ""), Err(NoForm::NoPage));
    }

    #[test]
    fn the_form_is_known_wherever_it_is_shown() {
        for (page, expected, why) in [
            (format!("<form action=/x method=post>{INPUTS}</form>"), true, "the form"),
            ("<form><input name=user></form>".to_owned(), false, "another"),
            ("<p>A form has user and pass</p>".to_owned(), false, "words about it"),
        ] {
            let read = ReadPage::new(&headers(), page.as_bytes());
            assert_eq!(read.shows_log_in_form(&log_in("https://a.example/in")), expected, "{why}");
        }
        let read = ReadPage::new(&headers(), "Log out, Zoë".as_bytes());
        assert!(read.has_text("Zoë") && !read.has_text("Log in"));
    }
}
