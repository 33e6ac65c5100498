//! What commands print of a crawl: histories, differences, bodies, reports, archives, explanations.

use std::io;
use std::pin::Pin;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::shown::one_line;
use dragline_domain::url::{CrawlUrl, UrlRules};
use futures_util::{Stream, StreamExt as _, stream};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::backend::Backend;
use crate::crawls::{Crawls, require};
use crate::extract::{Path, Query};
use crate::problem::Problem;
use crate::rows::{LINES, Rows, accepts};

/// The longest URL in a request, in bytes.
const URL_BYTES_MAX: usize = 16 << 10;

/// The most characters of a URL in a message.
const URL_CHARS_SHOWN: usize = 100;

/// The limit on the head of a stored answer, in bytes.
const HEAD_BYTES_MAX: usize = 1 << 20;

/// What a page from the archive may do where it is shown: nothing. It runs no script, loads nothing
/// from anywhere, and counts as a site of its own. Only our page may have it in a frame.
const ARCHIVED_POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; \
     frame-ancestors 'self'";

/// What a report may do, whose tables are sorted by its own script. It counts as a site of its own.
const REPORT_POLICY: &str = "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; \
                             style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                             frame-ancestors 'none'";

/// The output of a command, as it comes.
pub type Output = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// A command that prints something of a crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Printout {
    /// Every visit of a URL, as lines of JSON.
    History {
        /// The URL.
        url: String,
    },
    /// The links of other pages to a URL, as lines of JSON.
    Backlinks {
        /// The URL.
        url: String,
    },
    /// The differences of two iterations, as lines of JSON.
    Diff(DiffQuery),
    /// The stored body of a URL. Without a form it follows the head of the answer.
    Body(BodyQuery),
    /// The report on the site.
    Report(ReportQuery),
    /// The archive, as WACZ.
    Archive(ArchiveQuery),
    /// Whether a URL would be crawled, as JSON.
    Explain {
        /// The URL.
        url: String,
    },
}

/// The URL that is asked about.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct UrlQuery {
    /// The URL.
    url: String,
}

/// Which iterations to compare, and what of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DiffQuery {
    /// The earlier iteration; the one before the later without it.
    #[param(value_type = Option<u32>)]
    pub from: Option<Iteration>,
    /// The later iteration; the latest that is over without it.
    #[param(value_type = Option<u32>)]
    pub to: Option<Iteration>,
    /// What to compare.
    #[serde(default, rename = "what")]
    #[param(inline)]
    pub subject: DiffSubject,
    /// Of pages: which of them.
    #[serde(default)]
    #[param(inline)]
    pub which: DiffWhich,
}

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffSubject {
    /// Pages.
    #[default]
    Pages,
    /// Items, field by field.
    Items,
    /// Links.
    Links,
}

impl DiffSubject {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Items => "items",
            Self::Links => "links",
        }
    }
}

/// Which pages of a comparison are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffWhich {
    /// Those that differ.
    #[default]
    Changed,
    /// All that were visited.
    Visited,
}

/// Which body to return, and in which form.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct BodyQuery {
    /// The URL.
    pub url: String,
    /// The iteration; the latest with an answer without it.
    #[param(value_type = Option<u32>)]
    pub iteration: Option<Iteration>,
    /// The form, of a page that was rendered that of what scripts made of it; without one, the body
    /// is returned as the server sent it, its content coding undone.
    #[serde(rename = "as")]
    #[param(inline)]
    pub form: Option<BodyForm>,
}

/// A form of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BodyForm {
    /// The main part as text.
    Text,
    /// The main part as Markdown.
    Markdown,
    /// The whole page in UTF-8.
    Html,
    /// The main part, and what the page says about itself.
    Json,
}

impl BodyForm {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Json => "json",
        }
    }

    const fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; charset=utf-8",
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Html => "text/html; charset=utf-8",
            Self::Json => "application/json",
        }
    }
}

/// Which report to return.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ReportQuery {
    /// The iteration whose log it tells of; the latest without one.
    #[param(value_type = Option<u32>)]
    pub iteration: Option<Iteration>,
    /// The format.
    #[serde(default)]
    #[param(inline)]
    pub format: ReportFormat,
}

/// A format of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportFormat {
    /// One page for browsers.
    #[default]
    Html,
    /// Markdown.
    Md,
    /// JSON.
    Json,
}

impl ReportFormat {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Md => "md",
            Self::Json => "json",
        }
    }

    const fn media_type(self) -> &'static str {
        match self {
            Self::Html => "text/html; charset=utf-8",
            Self::Md => "text/markdown; charset=utf-8",
            Self::Json => "application/json",
        }
    }
}

/// What to archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ArchiveQuery {
    /// The iteration whose visits to archive, with what they need; all without one.
    #[param(value_type = Option<u32>)]
    pub iteration: Option<Iteration>,
}

/// Checks the crawl, and runs a command.
pub(crate) async fn print(backend: &dyn Backend, name: &str, printout: Printout) -> Result<Output, Problem> {
    let crawl: CrawlId = require(backend, name.parse()).await?.name;
    backend.print(&crawl, printout).await
}

/// Returns a URL that can be handed to a command.
pub(crate) fn checked(url: String) -> Result<String, Problem> {
    if url.len() > URL_BYTES_MAX {
        return Err(Problem::bad_request(format!("the URL is longer than {URL_BYTES_MAX} bytes")));
    }
    if url.contains('\0') {
        return Err(Problem::bad_request("the URL has a NUL character"));
    }
    if let Err(error) = CrawlUrl::parse(&url, &UrlRules::default()) {
        let url = one_line(&url, URL_CHARS_SHOWN);
        return Err(Problem::not_found(format!("`{url}` cannot be crawled: {error}")));
    }
    Ok(url)
}

fn answer(media_type: &'static str, output: Output) -> Response {
    ([(header::CONTENT_TYPE, media_type)], Body::from_stream(output)).into_response()
}

/// Returns lines of JSON as they are, if the client accepts these, or else as `rows`.
fn rows(headers: &HeaderMap, output: Output) -> Response {
    if accepts(headers, LINES) {
        return answer(LINES, output);
    }
    // No line of JSON has a line break in it: each but the last becomes a comma.
    let mut is_between = false;
    let joined = output.map(move |chunk| {
        let chunk = chunk?;
        let mut text = Vec::with_capacity(chunk.len() + 1);
        for &byte in &chunk {
            if std::mem::replace(&mut is_between, byte == b'\n') {
                text.push(b',');
            }
            if byte != b'\n' {
                text.push(byte);
            }
        }
        Ok(Bytes::from(text))
    });
    let fixed = |text: &'static str| stream::iter([Ok(Bytes::from_static(text.as_bytes()))]);
    answer("application/json", Box::pin(fixed("{\"rows\":[").chain(joined).chain(fixed("],\"next\":null}"))))
}

/// Every visit of a URL
#[utoipa::path(
    get, path = "/crawls/{name}/history", operation_id = "getHistory", tag = "results",
    params(("name" = String, Path, description = "The crawl"), UrlQuery),
    responses(
        (status = 200, description = "All visits, the oldest first", body = Rows),
        (status = 404, description = "There is no such crawl, or it does not know the URL", body = Problem),
    )
)]
pub(crate) async fn history(
    State(backend): Crawls,
    Path(name): Path<String>,
    Query(query): Query<UrlQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let url = checked(query.url)?;
    Ok(rows(&headers, print(&*backend, &name, Printout::History { url }).await?))
}

/// The links of other pages to a URL
///
/// Those to what redirects to it are among them. The first call after a crawl makes the link graph.
#[utoipa::path(
    get, path = "/crawls/{name}/backlinks", operation_id = "listBacklinks", tag = "results",
    params(("name" = String, Path, description = "The crawl"), UrlQuery),
    responses(
        (status = 200, description = "All links", body = Rows),
        (status = 404, description = "There is no such crawl, or it does not know the URL", body = Problem),
    )
)]
pub(crate) async fn backlinks(
    State(backend): Crawls,
    Path(name): Path<String>,
    Query(query): Query<UrlQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let url = checked(query.url)?;
    Ok(rows(&headers, print(&*backend, &name, Printout::Backlinks { url }).await?))
}

/// The differences of two iterations
#[utoipa::path(
    get, path = "/crawls/{name}/diff", operation_id = "diffIterations", tag = "results",
    params(("name" = String, Path, description = "The crawl"), DiffQuery),
    responses(
        (status = 200, description = "All differences", body = Rows),
        (status = 404, description = "There is no such crawl or iteration", body = Problem),
    )
)]
pub(crate) async fn diff(
    State(backend): Crawls,
    Path(name): Path<String>,
    Query(query): Query<DiffQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    Ok(rows(&headers, print(&*backend, &name, Printout::Diff(query)).await?))
}

/// The stored body of a URL
///
/// As its server sent it, with its media type and, in `Dragline-Status`, its status; or in another
/// form. A browser runs nothing of it, and loads nothing for it.
#[utoipa::path(
    get, path = "/crawls/{name}/body", operation_id = "getBody", tag = "results",
    params(("name" = String, Path, description = "The crawl"), BodyQuery),
    responses(
        (status = 200, description = "The body", body = String, content_type = "text/html"),
        (status = 404, description = "There is no such crawl, or no answer of the URL", body = Problem),
    )
)]
pub(crate) async fn body(
    State(backend): Crawls,
    Path(name): Path<String>,
    Query(BodyQuery { url, iteration, form }): Query<BodyQuery>,
) -> Result<Response, Problem> {
    let query = BodyQuery { url: checked(url)?, iteration, form };
    let output = print(&*backend, &name, Printout::Body(query)).await?;
    let mut response = match form {
        Some(form) => answer(form.media_type(), output),
        None => stored_answer(output).await?,
    };
    let policy = HeaderValue::from_static(ARCHIVED_POLICY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    // No policy keeps a browser from looking up the names of hosts.
    response.headers_mut().insert(header::X_DNS_PREFETCH_CONTROL, HeaderValue::from_static("off"));
    Ok(response)
}

/// Returns a stored answer, whose head comes first in the output.
async fn stored_answer(mut output: Output) -> Result<Response, Problem> {
    let broken = || Problem::bad_request("the stored answer has no head");
    let mut buffer = Vec::new();
    let end = loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if buffer.len() > HEAD_BYTES_MAX {
            return Err(broken());
        }
        let chunk = output.next().await.ok_or_else(broken)?;
        buffer.extend_from_slice(&chunk.map_err(|_| broken())?);
    };
    let rest = Bytes::from(buffer.split_off(end + 4));
    let head = String::from_utf8_lossy(&buffer);
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let media_type = lines
        .filter_map(|line| line.split_once(':'))
        .find_map(|(name, value)| name.eq_ignore_ascii_case("content-type").then(|| value.trim()));
    let value = |text: &str| HeaderValue::from_str(text).ok();
    let body = Body::from_stream(stream::iter([Ok(rest)]).chain(output));
    let mut response = Response::new(body);
    let unknown = HeaderValue::from_static("application/octet-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, media_type.and_then(value).unwrap_or(unknown));
    if let Some(status) = value(status) {
        response.headers_mut().insert(HeaderName::from_static("dragline-status"), status);
    }
    Ok(response)
}

/// The report on the site
#[utoipa::path(
    get, path = "/crawls/{name}/report", operation_id = "getReport", tag = "results",
    params(("name" = String, Path, description = "The crawl"), ReportQuery),
    responses(
        (status = 200, description = "The report", body = String, content_type = "text/html"),
        (status = 404, description = "There is no such crawl or iteration", body = Problem),
    )
)]
pub(crate) async fn report(
    State(backend): Crawls,
    Path(name): Path<String>,
    Query(query): Query<ReportQuery>,
) -> Result<Response, Problem> {
    let media_type = query.format.media_type();
    let mut response = answer(media_type, print(&*backend, &name, Printout::Report(query)).await?);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(REPORT_POLICY));
    Ok(response)
}

/// The bytes of a WACZ file.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "it describes what is written as it comes")]
pub(crate) struct WaczFile(Vec<u8>);

/// The archive of a crawl, as a WACZ file
#[utoipa::path(
    get, path = "/crawls/{name}/archive", operation_id = "getArchive", tag = "results",
    params(("name" = String, Path, description = "The crawl"), ArchiveQuery),
    responses(
        (status = 200, description = "A WACZ file", body = WaczFile, content_type = "application/wacz+zip"),
        (status = 404, description = "There is no such crawl or iteration", body = Problem),
    )
)]
pub(crate) async fn archive(
    State(backend): Crawls,
    Path(name): Path<String>,
    Query(query): Query<ArchiveQuery>,
) -> Result<Response, Problem> {
    let output = print(&*backend, &name, Printout::Archive(query)).await?;
    let file = format!("attachment; filename=\"{name}.wacz\"");
    Ok(([(header::CONTENT_DISPOSITION, file)], answer("application/wacz+zip", output)).into_response())
}

/// Whether a URL would be crawled, why, and what became of it
///
/// Its site's robots.txt is requested.
#[utoipa::path(
    get, path = "/crawls/{name}/explain", operation_id = "explainUrl", tag = "results",
    params(("name" = String, Path, description = "The crawl"), UrlQuery),
    responses(
        (status = 200, description = "The explanation", body = Object),
        (status = 404, description = "There is no such crawl", body = Problem),
    )
)]
pub(crate) async fn explain(
    State(backend): Crawls,
    Path(name): Path<String>,
    Query(query): Query<UrlQuery>,
) -> Result<Response, Problem> {
    let url = checked(query.url)?;
    Ok(answer("application/json", print(&*backend, &name, Printout::Explain { url }).await?))
}
