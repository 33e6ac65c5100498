//! Whether a page that calls another URL canonical is a copy of it. A canonical link is a hint, which only holds if it leads to a page.
//!
//! `shared/local/src/db/views.sql` does the same for a data directory.

use crate::outcome::Outcome;
use crate::url::CrawlUrl;

/// A path of more steps leads nowhere; browsers follow as many redirects.
pub const STEPS_MAX: usize = 20;

/// How a URL last ended, as far as canonical links need to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The URL.
    pub url: CrawlUrl,
    is_page: bool,
    leads_to: Option<CrawlUrl>,
}

impl Ending {
    /// What follows from an outcome: of a body that did not change, `of_body` is the one that it had first, if that is known. It leads, by a
    /// redirect or as its canonical, to `leads_to`; `None` where it leads nowhere.
    #[must_use]
    pub fn new(url: CrawlUrl, outcome: Outcome, of_body: Option<Outcome>, leads_to: Option<CrawlUrl>) -> Self {
        let is_page_by = |outcome| matches!(outcome, Outcome::FileIngested | Outcome::NotCanonical);
        let is_page = is_page_by(outcome) || (outcome == Outcome::FileDidNotChange && of_body.is_none_or(is_page_by));
        let leads_on = is_page_by(outcome)
            || matches!(outcome, Outcome::PermanentRedirect | Outcome::Redirect | Outcome::FileDidNotChange);
        Self { url, is_page, leads_to: leads_to.filter(|_| leads_on) }
    }

    /// Whether it is a page that calls another URL canonical, and may be a copy of it.
    #[must_use]
    pub const fn is_undecided(&self) -> bool {
        self.is_page && self.leads_to.is_some()
    }
}

/// The way from a page over what it calls canonical to where each URL led when it last ended. Whoever knows the endings adds them, one
/// after another.
#[derive(Clone, Debug)]
pub struct CanonicalWay {
    endings: Vec<Ending>,
    is_over: bool,
}

impl CanonicalWay {
    /// Starts at a page.
    #[must_use]
    pub fn from(page: Ending) -> Self {
        Self { endings: vec![page], is_over: false }
    }

    /// Returns the URL whose ending is needed next; `None` at the end of the path.
    #[must_use]
    pub fn next(&self) -> Option<&CrawlUrl> {
        let next = self.endings.last()?.leads_to.as_ref()?;
        let has_been_there = self.endings.iter().any(|ending| ending.url == *next);
        (!self.is_over && !has_been_there && !self.is_too_long()).then_some(next)
    }

    /// Continues with how [`next`](Self::next) ended; `None` if it was never visited, which ends the path.
    pub fn add(&mut self, ending: Option<Ending>) {
        self.is_over = ending.is_none();
        self.endings.extend(ending);
    }

    /// Whether another page stands for the first one. If pages call each other canonical, the first by URL stands for all of them.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        let Some(first) = self.endings.first().map(|page| &page.url) else { return false };
        let pages = || self.endings.iter().filter(|ending| ending.is_page).map(|ending| &ending.url);
        let leads_back = self.endings.iter().any(|ending| ending.leads_to.as_ref() == Some(first));
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

    /// Whether the first URL is a copy, if the URLs ended like this.
    fn is_copy(endings: &[Ending]) -> bool {
        let mut way = CanonicalWay::from(endings[0].clone());
        while let Some(next) = way.next().cloned() {
            way.add(endings.iter().find(|ending| ending.url == next).cloned());
        }
        way.is_copy()
    }

    #[test]
    fn a_page_is_a_copy_if_its_path_leads_to_another_that_stands_for_it() {
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
    fn a_way_of_more_than_twenty_steps_leads_nowhere() {
        for (steps, expected) in [(20, true), (21, false)] {
            let mut endings = vec![ending("0", NotCanonical, "1")];
            endings.extend((1..steps).map(|n| ending(&n.to_string(), PermanentRedirect, &(n + 1).to_string())));
            endings.push(ending(&steps.to_string(), FileIngested, ""));
            assert_eq!(is_copy(&endings), expected, "{steps} steps");
        }
    }

    #[test]
    fn what_did_not_change_is_the_page_that_it_was() {
        for (of_body, expected) in [(None, true), (Some(NotCanonical), true), (Some(Outcome::FileOfUnknownType), false)]
        {
            let ending = Ending::new(url("p"), FileDidNotChange, of_body, Some(url("c")));
            assert_eq!(ending.is_undecided(), expected, "{of_body:?}");
        }
    }
}
