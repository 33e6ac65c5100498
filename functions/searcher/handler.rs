//! Answers search requests.

use std::sync::Arc;
use std::time::Duration;

use dragline_domain::ids::CrawlId;
use dragline_lambda::{Event, HttpReply, RunError};
use dragline_ports::editions::Editions;
use dragline_search::{Index, SearchError, SearchReport};

use super::indexes::{Freshness, OpenIndexes};
use super::request::{self, IndexRequest, Refusal};

/// The state of a warm process.
pub(crate) struct Searcher<E> {
    pub(crate) opened: OpenIndexes<E>,
}

impl<E: Editions> Searcher<E> {
    /// Answers a request. `now` is the time since the process began.
    ///
    /// # Errors
    /// The index cannot be read; Lambda then counts the invocation as failed.
    pub(crate) async fn handle(self: Arc<Self>, event: Event, now: Duration) -> Result<HttpReply, RunError> {
        let Event::Request(request) = event else {
            return Err("only requests to the function's URL are answered".into());
        };
        match request::read(&request) {
            Ok((crawl, asked)) => self.answer(&crawl, asked, now).await,
            Err(refused) => Ok(refused),
        }
    }

    async fn answer(&self, crawl: &CrawlId, asked: IndexRequest, now: Duration) -> Result<HttpReply, RunError> {
        let asked = Arc::new(asked);
        let mut freshness = Freshness::Recent;
        loop {
            let Some(index) = self.opened.index(crawl, freshness, now).await? else {
                let hint = "an index is made when an iteration of the crawl is over";
                return Ok(Refusal::reply(404, format!("{crawl} has no word index"), Some(hint)));
            };
            let work = Arc::clone(&asked);
            // It blocks on reads. Meanwhile, the runtime's thread makes the requests to S3.
            let answered = tokio::task::spawn_blocking(move || answer_from(&index, &work)).await?;
            match answered {
                Ok(reply) => return Ok(reply),
                // Its files may be gone if it was superseded long ago.
                Err(error) if freshness == Freshness::Recent => {
                    tracing::info!(%error, "looking for a newer edition");
                    freshness = Freshness::Newest;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn answer_from(index: &Index, asked: &IndexRequest) -> Result<HttpReply, SearchError> {
    match asked {
        IndexRequest::Search(request) => {
            let results = index.search(request)?;
            let report = SearchReport { query: &request.query, pages_indexed: index.pages(), results: &results };
            Ok(HttpReply::json(200, &report))
        }
        IndexRequest::Similar { url, count } => Ok(match index.similar(url, *count)? {
            Some(similar) => HttpReply::json(200, &similar),
            None => Refusal::reply(404, "the page is not in the word index", None),
        }),
    }
}
