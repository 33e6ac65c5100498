//! Problems, shown to people.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use maud::html;

use super::layout::View;
use crate::access::Role;
use crate::problem::Problem;
use crate::rows::accepts;

/// Shows the problems of requests by a browser as a page.
pub(crate) async fn show_problems(request: Request, next: Next) -> Response {
    let is_for_people = is_view(request.uri().path()) || prefers_html(request.headers());
    let response = next.run(request).await;
    if !is_for_people {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let problem = head.extensions.remove::<Problem>().or_else(|| rejection(head.status, &head.headers));
    match problem {
        None => Response::from_parts(head, body),
        Some(problem) => {
            head.headers.remove(header::CONTENT_LENGTH);
            head.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
            Response::from_parts(head, view(&problem).html().into())
        }
    }
}

fn is_view(path: &str) -> bool {
    path == "/" || path == "/add" || path.starts_with("/view/")
}

fn prefers_html(headers: &HeaderMap) -> bool {
    accepts(headers, "text/html")
}

/// Returns the problem of a form or an address that could not be read, of which `axum` says in
/// plain text what a person has no use for.
fn rejection(status: StatusCode, headers: &HeaderMap) -> Option<Problem> {
    let media_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let is_rejected = status.is_client_error() && media_type.starts_with("text/plain");
    is_rejected.then(|| Problem::new(status, "bad request", "this is not what the links and forms of the page send"))
}

/// Returns a message as a sentence.
fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str())
}

fn view(problem: &Problem) -> View {
    let title = match problem.status {
        401 => "Who are you?",
        403 => "You may not do that",
        404 => "There is nothing here",
        409 => "That does not work now",
        503 => "Try again in a moment",
        500.. => "Something failed",
        _ => "That did not work",
    };
    let advice = match problem.status {
        401 => Some("Load the page again, and enter any name, and a token as the password."),
        403 => Some("Ask for a token with another role: an editor adds and starts crawls, an owner removes them."),
        _ => None,
    };
    // A hint for programs that call is none for people.
    let hint = problem.hint.as_deref().filter(|hint| {
        advice.is_none() && !["/openapi.json", "GET ", "Authorization"].iter().any(|word| hint.contains(word))
    });
    let main = html! {
        p.lead { (sentence(&problem.detail)) }
        @if !problem.mistakes.is_empty() { ul { @for mistake in &problem.mistakes { li { pre { (mistake) } } } } }
        @if let Some(hint) = hint { p { (sentence(hint)) } }
        @if let Some(advice) = advice { p { (advice) } }
        p { a href="/" { "All crawls" } }
        p.quiet { "Status " (problem.status) ": " (problem.title) }
    };
    // Who may do what is not known here, so nothing is offered.
    View::new(Role::Reader, title, main)
}
