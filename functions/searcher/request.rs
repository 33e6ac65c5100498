//! The requests of the searcher.
//!
//! `GET /CRAWL?q=WORDS` searches, with `page`, `per_page` and `exact=true` as in the command. `GET
//! /CRAWL/similar?url=URL` returns similar pages, up to `count`.

use std::num::NonZeroU32;
use std::str::FromStr;

use dragline_domain::ids::CrawlId;
use dragline_lambda::{HttpReply, HttpRequest};
use dragline_search::{PER_PAGE_MAX, QueryError, Request, SHOWN_MAX, Typos, check};
use serde::Serialize;

/// The default number of results.
const COUNT: u32 = 10;

/// The hint for an unknown request.
const USAGE: &str = "ask for /CRAWL?q=WORDS, or for /CRAWL/similar?url=URL";

/// A request to the index of a crawl.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum IndexRequest {
    /// A search.
    Search(Request),
    /// Pages similar to this one.
    Similar {
        /// The page.
        url: String,
        /// The maximum number of pages.
        count: u32,
    },
}

/// An error reply. The field names are those of its JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Refusal {
    error: String,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// The range of the query that is wrong, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<(usize, usize)>,
}

impl Refusal {
    pub(crate) fn reply(status: u16, error: impl Into<String>, hint: Option<&str>) -> HttpReply {
        HttpReply::json(status, &Self { error: error.into(), hint: hint.map(str::to_owned), at: None })
    }
}

/// Parses a request and the crawl's name.
///
/// # Errors
/// Returns the reply to an invalid request.
pub(crate) fn read(request: &HttpRequest) -> Result<(CrawlId, IndexRequest), HttpReply> {
    if request.method != "GET" {
        return Err(Refusal::reply(405, "only GET is answered", Some(USAGE)));
    }
    let mut parts = request.path.split('/').filter(|part| !part.is_empty());
    let crawl = parts.next().and_then(|name| name.parse::<CrawlId>().ok());
    let (Some(crawl), what, None) = (crawl, parts.next(), parts.next()) else {
        return Err(Refusal::reply(404, "there is nothing here", Some(USAGE)));
    };
    let asked = match what {
        None => search(request)?,
        Some("similar") => {
            IndexRequest::Similar { url: required_parameter(request, "url")?, count: per_page(request, "count")? }
        }
        Some(_) => return Err(Refusal::reply(404, "there is nothing here", Some(USAGE))),
    };
    Ok((crawl, asked))
}

fn search(request: &HttpRequest) -> Result<IndexRequest, HttpReply> {
    let query = required_parameter(request, "q")?;
    check(&query).map_err(|error| wrong_query(&error))?;
    let page = number(request, "page")?.unwrap_or(NonZeroU32::MIN);
    let per_page = per_page(request, "per_page")?;
    if page.get().saturating_mul(per_page) > SHOWN_MAX {
        return Err(Refusal::reply(400, format!("results after the first {SHOWN_MAX} are not shown"), None));
    }
    let typos = match request.value("exact") {
        None | Some("false") => Typos::Correct,
        Some("true") => Typos::Keep,
        Some(_) => return Err(Refusal::reply(400, "`exact` is neither true nor false", None)),
    };
    Ok(IndexRequest::Search(Request { query, page, per_page, typos }))
}

fn wrong_query(error: &QueryError) -> HttpReply {
    let at = Some((error.at.start, error.at.end));
    HttpReply::json(400, &Refusal { error: error.to_string(), hint: error.hint().map(str::to_owned), at })
}

fn required_parameter(request: &HttpRequest, name: &str) -> Result<String, HttpReply> {
    let value = request.value(name).map(str::to_owned);
    value.ok_or_else(|| Refusal::reply(400, format!("`{name}` is missing"), Some(USAGE)))
}

fn number<T: FromStr>(request: &HttpRequest, name: &str) -> Result<Option<T>, HttpReply> {
    let number = request.value(name).map(str::parse).transpose();
    number.map_err(|_| Refusal::reply(400, format!("`{name}` is not a number that there can be"), None))
}

fn per_page(request: &HttpRequest, name: &str) -> Result<u32, HttpReply> {
    match number(request, name)?.unwrap_or(COUNT) {
        count @ 1..=PER_PAGE_MAX => Ok(count),
        _ => Err(Refusal::reply(400, format!("`{name}` is not between 1 and {PER_PAGE_MAX}"), None)),
    }
}

#[cfg(test)]
mod tests {
    use dragline_lambda::Event;
    use serde_json::json;

    use super::*;

    fn get(target: &str) -> HttpRequest {
        asked_by("GET", target)
    }

    /// Returns a request as the function's URL passes it on.
    fn asked_by(method: &str, target: &str) -> HttpRequest {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let event = json!({
            "version": "2.0", "rawPath": path, "rawQueryString": query,
            "requestContext": {"http": {"method": method, "path": path}},
        });
        let Event::Request(request) = Event::read(event).unwrap() else { panic!("a request") };
        request
    }

    #[test]
    fn requests_are_parsed() {
        let request = |query: &str, page, per_page, typos| {
            IndexRequest::Search(Request {
                query: query.to_owned(),
                page: NonZeroU32::new(page).unwrap(),
                per_page,
                typos,
            })
        };
        let similar = |url: &str, count| IndexRequest::Similar { url: url.to_owned(), count };
        for (target, expected, why) in [
            ("/docs?q=a+b", request("a b", 1, 10, Typos::Correct), "a plus is a space"),
            ("/docs?q=%22a%20b%22%20-%C3%A9", request("\"a b\" -é", 1, 10, Typos::Correct), "escapes"),
            ("/docs/?q=a&page=3&per_page=100", request("a", 3, 100, Typos::Correct), "a page"),
            ("/docs?q=a&exact=true&utm=x", request("a", 1, 10, Typos::Keep), "others are left alone"),
            ("/docs/similar?url=https://a.example/?x%26y", similar("https://a.example/?x&y", 10), "a URL"),
            ("/docs/similar?url=https://a.example/&count=3", similar("https://a.example/", 3), "and how many"),
        ] {
            let (crawl, asked) = read(&get(target)).unwrap();
            assert_eq!((crawl.to_string().as_str(), asked), ("docs", expected), "{target}: {why}");
        }
    }

    #[test]
    fn invalid_requests_get_a_hint() {
        for (method, target, status, error, why) in [
            ("POST", "/docs?q=a", 405, "only GET is answered", "nothing is changed here"),
            ("GET", "/", 404, "there is nothing here", "no crawl"),
            ("GET", "/no%20crawl?q=a", 404, "there is nothing here", "not the name of one"),
            ("GET", "/../docs?q=a", 404, "there is nothing here", "nor a way to another"),
            ("GET", "/docs/words?q=a", 404, "there is nothing here", "something else"),
            ("GET", "/docs/similar/x?url=a", 404, "there is nothing here", "deeper"),
            ("GET", "/docs", 400, "`q` is missing", "no query"),
            ("GET", "/docs/similar", 400, "`url` is missing", "no URL"),
            ("GET", "/docs?q=", 400, "the query is not valid: it is empty", "an empty query"),
            ("GET", "/docs?q=a&page=0", 400, "`page` is not a number that there can be", "the first is 1"),
            ("GET", "/docs?q=a&page=-1", 400, "`page` is not a number that there can be", "nor less"),
            ("GET", "/docs?q=a&per_page=101", 400, "`per_page` is not between 1 and 100", "too many"),
            ("GET", "/docs?q=a&page=1001", 400, "results after the first 10000 are not shown", "too far"),
            ("GET", "/docs?q=a&exact=1", 400, "`exact` is neither true nor false", "another word"),
        ] {
            let reply = read(&asked_by(method, target)).unwrap_err();
            let body: serde_json::Value = serde_json::from_str(reply.body()).unwrap();
            assert_eq!((reply.status(), body["error"].as_str()), (status, Some(error)), "{method} {target}: {why}");
        }
        let reply = read(&get("/docs?q=a+%22b")).unwrap_err();
        let body: serde_json::Value = serde_json::from_str(reply.body()).unwrap();
        assert_eq!(body["at"], json!([2, 3]), "{body}");
        assert_eq!(body["hint"], "end the phrase with a second quotation mark");
    }
}
