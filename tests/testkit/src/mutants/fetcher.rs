//! Fetchers whose sessions have one defect each.

use dragline_domain::frontier::Cookie;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_ports::fetcher::{FetchOutcome, FetchRequest, Fetcher};

use super::{Mutant, mutations};
use crate::members::LOG_IN_PATH;

mutations! {
    /// What is wrong with a fetcher.
    FetcherMutation {
        SessionIgnored: "cookies that a site set are not sent back";
        CookiesForAll: "cookies of one host go to all";
        FormDropped: "a page is requested instead of sending the form";
        FormUrlUnchecked: "a form for another URL is not refused";
        FormWithoutSession: "what the answer to a form sets is forgotten";
        RedirectFollowed: "a redirect is followed, with all that the request has";
    }
}

/// A page of the members' area of [`members`](crate::conformance::session), in memory.
const MEMBERS_PAGE: &str = "https://members.example/";

impl<F: Fetcher> Fetcher for Mutant<F, FetcherMutation> {
    async fn fetch(&self, mut request: FetchRequest) -> FetchOutcome {
        match self.mutation {
            Some(FetcherMutation::SessionIgnored) => request.session = None,
            Some(FetcherMutation::CookiesForAll) => {
                let members = CrawlUrl::parse(MEMBERS_PAGE, &UrlRules::keep_all()).ok();
                let session = request.session.as_ref().zip(members);
                let pairs = session.map(|(session, members)| session.cookies_for(&members)).unwrap_or_default();
                request.cookie = Cookie::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())));
            }
            Some(FetcherMutation::FormDropped) => request.form = None,
            Some(FetcherMutation::FormUrlUnchecked) if request.url.path() != LOG_IN_PATH => request.form = None,
            Some(FetcherMutation::FormWithoutSession) if request.form.is_some() => request.session = None,
            Some(FetcherMutation::RedirectFollowed) => {
                let fetched = self.inner.fetch(request.clone()).await;
                let response = fetched.result.as_ref().ok();
                let target =
                    response.and_then(|response| response.redirect_target(&request.url, &UrlRules::keep_all()));
                return match target {
                    Some(url) => self.inner.fetch(FetchRequest { url, form: None, ..request }).await,
                    None => fetched,
                };
            }
            Some(_) | None => {}
        }
        self.inner.fetch(request).await
    }
}
