//! Defects in what the crawler makes of answers.

use dragline_pipeline::ports::fetcher::{FetchRequest, Fetched, Fetcher};

use super::Mutation;

pub(crate) struct MutatedFetcher<F> {
    pub(crate) inner: F,
    pub(crate) mutation: Option<Mutation>,
}

impl<F: Fetcher> Fetcher for MutatedFetcher<F> {
    async fn fetch(&self, request: FetchRequest) -> Fetched {
        let is_robots = request.url.path_and_query() == "/robots.txt";
        let mut fetched = self.inner.fetch(request).await;
        if is_robots
            && self.mutation == Some(Mutation::RobotsFailurePermits)
            && let Ok(response) = &mut fetched.result
            && response.status >= 500
        {
            response.status = 404;
        }
        fetched
    }
}
