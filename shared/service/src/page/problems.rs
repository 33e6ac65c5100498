//! Problems, shown to people.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
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
    match head.extensions.remove::<Problem>() {
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
        p.lead { (problem.detail) "." }
        @if !problem.mistakes.is_empty() { ul { @for mistake in &problem.mistakes { li { pre { (mistake) } } } } }
        @if let Some(hint) = hint { p { (hint) "." } }
        @if let Some(advice) = advice { p { (advice) } }
        p { a href="/" { "All crawls" } }
        p.quiet { "Status " (problem.status) ": " (problem.title) }
    };
    // Who may do what is not known here, so nothing is offered.
    View::new(Role::Reader, title, main)
}
