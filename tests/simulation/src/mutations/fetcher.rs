//! Defects in how the crawler interprets answers.

use dragline_ports::fetcher::{FetchOutcome, FetchRequest, Fetcher};

use super::Mutation;

pub(crate) struct MutatedFetcher<F> {
    pub(crate) inner: F,
    pub(crate) mutation: Option<Mutation>,
}

impl<F: Fetcher> Fetcher for MutatedFetcher<F> {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let is_robots = request.url.path_and_query() == "/robots.txt";
        let mut fetched = self.inner.fetch(request).await;
        let Ok(response) = fetched.result.as_mut() else { return fetched };
        match (self.mutation, response.status) {
            (Some(Mutation::RobotsFailurePermits), 500..) if is_robots => response.status = 404,
            (Some(Mutation::FailureHides), 500) | (Some(Mutation::NotModifiedHides), 304) if !is_robots => {
                response.status = 404;
            }
            (Some(Mutation::RobotsMissingForbids), 404) if is_robots => {
                response.status = 200;
                response.body = "User-agent: *\nDisallow: /\n".into();
            }
            _ => {}
        }
        fetched
    }
}
