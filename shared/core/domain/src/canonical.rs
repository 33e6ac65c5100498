//! Decides whether a page with a canonical link is a copy of the linked page. The link is a hint,
//! which only holds if it leads to a page and is believed ([`doubt`](crate::doubt)).
//!
//! `shared/stores/local/src/db/views.sql` does the same for a data directory.

use crate::doubt::{Doubt, Namers};
use crate::outcome::Outcome;
use crate::simhash::TextPrint;
use crate::url::CrawlUrl;

/// The limit on steps, beyond which a path leads nowhere; browsers follow as many redirects.
pub const STEPS_MAX: usize = 20;

/// The last ending of a URL, as far as canonical links need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The URL.
    pub url: CrawlUrl,
    is_page: bool,
    leads_to: Option<CrawlUrl>,
    text: Option<TextPrint>,
    namers: Namers,
}

impl Ending {
    /// Creates an ending from an outcome; for an unchanged body, `of_body` is that body's first
    /// outcome, if known. `leads_to` is the target of its redirect or canonical link; `None` if
    /// there is none.
    #[must_use]
    pub fn new(url: CrawlUrl, outcome: Outcome, of_body: Option<Outcome>, leads_to: Option<CrawlUrl>) -> Self {
        let is_page_by = |outcome| matches!(outcome, Outcome::FileIngested | Outcome::NotCanonical);
        let is_page = is_page_by(outcome) || (outcome == Outcome::FileDidNotChange && of_body.is_none_or(is_page_by));
        let leads_on = is_page_by(outcome)
            || matches!(outcome, Outcome::PermanentRedirect | Outcome::TemporaryRedirect | Outcome::FileDidNotChange);
        Self { url, is_page, leads_to: leads_to.filter(|_| leads_on), text: None, namers: Namers::default() }
    }

    /// Adds the evidence about canonical links: its text, if known, and the pages that declare it
    /// canonical.
    #[must_use]
    pub fn with(self, text: Option<TextPrint>, namers: Namers) -> Self {
        Self { text, namers, ..self }
    }

    /// Adds the same evidence from another ending of the same URL.
    #[must_use]
    pub fn like(self, other: &Self) -> Self {
        self.with(other.text, other.namers)
    }

    /// Whether it is a page with a canonical link to another URL, and may be a copy of it.
    #[must_use]
    pub const fn is_undecided(&self) -> bool {
        self.is_page && self.leads_to.is_some()
    }
}

/// The verdict on a page with a canonical link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Another page stands for it.
    Copy,
    /// It stands for itself, with the reason why its link is not believed; `None` if the link leads
    /// to no page.
    Stands(Option<Doubt>),
}

/// The way from a page through canonical links and redirects, by the last ending of each URL. The
/// caller adds the endings, one after another.
#[derive(Clone, Debug)]
pub struct CanonicalWay {
    endings: Vec<Ending>,
    is_over: bool,
    doubt: Option<Doubt>,
}

impl CanonicalWay {
    /// Starts at a page.
    #[must_use]
    pub fn from(page: Ending) -> Self {
        Self { endings: vec![page], is_over: false, doubt: None }
    }

    /// Returns the URL whose ending is needed next; `None` at the end of the path.
    #[must_use]
    pub fn next(&self) -> Option<&CrawlUrl> {
        let next = self.endings.last()?.leads_to.as_ref()?;
        let has_been_there = self.endings.iter().any(|ending| ending.url == *next);
        (!self.is_over && !has_been_there && !self.is_too_long()).then_some(next)
    }

    /// Continues with the ending of [`next`](Self::next); `None` if it was never visited, which
    /// ends the path. So does a page that is not believed to be the canonical one.
    pub fn add(&mut self, ending: Option<Ending>) {
        self.doubt = ending.as_ref().and_then(|ending| self.doubt_about(ending));
        let believed = ending.filter(|_| self.doubt.is_none());
        self.is_over = believed.is_none();
        self.endings.extend(believed);
    }

    /// Returns the reason to doubt that this is the last page's canonical page.
    fn doubt_about(&self, there: &Ending) -> Option<Doubt> {
        let last_page = self.endings.iter().rposition(|ending| ending.is_page).filter(|_| there.is_page)?;
        let named = self.endings.get(last_page + 1).unwrap_or(there);
        Doubt::from_texts(self.endings.get(last_page)?.text, named.namers, there.text)
    }

    /// Returns the verdict on the first page, at the end of the path. If pages call each other
    /// canonical, the first by URL stands for all of them.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.is_copy() { Verdict::Copy } else { Verdict::Stands(self.doubt) }
    }

    fn is_copy(&self) -> bool {
        let Some((page, last)) = self.endings.first().zip(self.endings.last()) else { return false };
        let first = &page.url;
        let pages = || self.endings.iter().filter(|ending| ending.is_page).map(|ending| &ending.url);
        let leads_back = last.leads_to.as_ref() == Some(first) && self.doubt_about(page).is_none();
        let stands_for_all = leads_back && pages().min() == Some(first);
        pages().count() > 1 && !stands_for_all && !self.is_too_long()
    }

    fn is_too_long(&self) -> bool {
        self.endings.len() > STEPS_MAX + 1
    }
}

#[cfg(test)]
mod tests {
    use Outcome::{FileDidNotChange, FileIngested, FileNotFound, NotCanonical, PermanentRedirect};

    use super::*;

    fn url(name: &str) -> CrawlUrl {
        format!("https://a.example/{name}").try_into().unwrap()
    }

    fn ending(name: &str, outcome: Outcome, leads_to: &str) -> Ending {
        Ending::new(url(name), outcome, None, Some(leads_to).filter(|to| !to.is_empty()).map(url))
    }

    /// Returns the way of the first URL, given these endings.
    fn canonical_way(endings: &[Ending]) -> CanonicalWay {
        let mut way = CanonicalWay::from(endings[0].clone());
        while let Some(next) = way.next().cloned() {
            way.add(endings.iter().find(|ending| ending.url == next).cloned());
        }
        way
    }

    fn is_copy(endings: &[Ending]) -> bool {
        canonical_way(endings).verdict() == Verdict::Copy
    }

    #[test]
    fn a_page_is_a_copy_if_its_path_leads_to_another_page() {
        let page = |to| ending("p", NotCanonical, to);
        for (endings, expected, why) in [
            (vec![page("c"), ending("c", FileIngested, "")], true, "its canonical is a page"),
            (vec![page("c"), ending("c", FileDidNotChange, "")], true, "that did not change"),
            (vec![page("c")], false, "nobody visited it"),
            (vec![page("c"), ending("c", FileNotFound, "")], false, "it is not there"),
            (
                vec![page("c"), ending("c", FileNotFound, "d"), ending("d", FileIngested, "")],
                false,
                "where it led once",
            ),
            (vec![page("c"), ending("c", PermanentRedirect, "d"), ending("d", FileIngested, "")], true, "it redirects"),
            (vec![page("c"), ending("c", PermanentRedirect, "p")], false, "it redirects back"),
            (
                vec![page("c"), ending("c", NotCanonical, "d"), ending("d", FileNotFound, "")],
                true,
                "a chain that breaks",
            ),
            (vec![page("q"), ending("q", NotCanonical, "p")], false, "each calls the other so, and it is the first"),
            (vec![ending("q", NotCanonical, "p"), page("q")], true, "and the other is not"),
            (
                vec![page("a"), ending("a", NotCanonical, "b"), ending("b", NotCanonical, "a")],
                true,
                "two others that do",
            ),
        ] {
            assert_eq!(is_copy(&endings), expected, "{why}");
        }
    }

    #[test]
    fn a_doubted_canonical_link_ends_the_way() {
        let text = |of: &str| Some(TextPrint::new(&(0..90).map(|n| format!("{of}{n} ")).collect::<String>()));
        let page = |name, to, of| ending(name, FileIngested, to).with(text(of), Namers::default());
        let moved = |to| ending("m", PermanentRedirect, to);
        use Verdict::{Copy, Stands};
        let unlike = Stands(Some(Doubt::Unlike));
        for (endings, expected, why) in [
            (vec![page("p", "c", "x"), page("c", "", "x")], Copy, "the same text"),
            (vec![page("p", "c", "x"), page("c", "", "y")], unlike, "another text"),
            (vec![page("p", "m", "x"), moved("c"), page("c", "", "y")], unlike, "by a redirect"),
            (vec![page("p", "c", "x"), page("c", "d", "x"), page("d", "", "y")], Copy, "only the first is"),
            (vec![page("p", "c", "x"), page("c", "d", "y"), page("d", "", "x")], unlike, "it ends"),
            (vec![page("p", "q", "x"), page("q", "p", "y")], unlike, "one of two"),
            (vec![page("q", "p", "y"), page("p", "q", "x")], unlike, "nor is the other"),
            (vec![page("p", "m", "x"), moved("p")], Stands(None), "a redirect back"),
        ] {
            assert_eq!(canonical_way(&endings).verdict(), expected, "{why}");
        }
        let many = (0..64).fold(Namers::default(), |all, n| all.with(text(&n.to_string()).unwrap()));
        let short = |name, to, namers| ending(name, FileIngested, to).with(Some(TextPrint::new(name)), namers);
        for (named, reached, expected, why) in [
            (Namers::default(), Namers::default(), true, "few name it"),
            (many, Namers::default(), false, "many name the URL that redirects"),
            (Namers::default(), many, true, "many name where it leads, and not the URL itself"),
        ] {
            let endings = [short("p", "m", many), moved("c").with(None, named), short("c", "", reached)];
            assert_eq!(is_copy(&endings), expected, "{why}");
        }
    }

    #[test]
    fn a_way_of_more_than_twenty_steps_leads_nowhere() {
        for (steps, expected) in [(20, true), (21, false)] {
            let mut endings = vec![ending("0", NotCanonical, "1")];
            endings.extend((1..steps).map(|n| ending(&n.to_string(), PermanentRedirect, &(n + 1).to_string())));
            endings.push(ending(&steps.to_string(), FileIngested, ""));
            assert_eq!(is_copy(&endings), expected, "{steps} steps");
        }
    }

    #[test]
    fn an_unchanged_page_keeps_its_first_outcome() {
        for (of_body, expected) in [(None, true), (Some(NotCanonical), true), (Some(Outcome::StoredNotRead), false)] {
            let ending = Ending::new(url("p"), FileDidNotChange, of_body, Some(url("c")));
            assert_eq!(ending.is_undecided(), expected, "{of_body:?}");
        }
    }
}
