//! Spans of the requests to the API and the page. A caller's `traceparent` makes them part of its
//! trace.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{Span as _, SpanBuilder, SpanKind, Status, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracer;

/// The longest path in a span, in characters.
const PATH_CHARS_MAX: usize = 300;

/// Answers a request, and makes a span of it. An answer that goes on for long, such as live
/// progress, ends its span when it begins.
pub(super) async fn trace_call(State(tracer): State<Arc<SdkTracer>>, request: Request, next: Next) -> Response {
    let parent =
        TraceContextPropagator::new().extract_with_context(&Context::new(), &HeaderExtractor(request.headers()));
    let method = method_name(request.method());
    let route = request.extensions().get::<MatchedPath>().map(|route| route.as_str().to_owned());
    let name = match &route {
        Some(route) => format!("{method} {route}"),
        None => method.to_owned(),
    };
    // The query is left out: it may have anything.
    let path: String = request.uri().path().chars().take(PATH_CHARS_MAX).collect();
    let mut attributes = vec![KeyValue::new("http.request.method", method), KeyValue::new("url.path", path)];
    attributes.extend(route.map(|route| KeyValue::new("http.route", route)));
    let builder = SpanBuilder::from_name(name).with_kind(SpanKind::Server).with_attributes(attributes);
    let mut span = tracer.build_with_context(builder, &parent);
    let response = next.run(request).await;
    let status = response.status();
    span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status.as_u16())));
    if status.is_server_error() {
        span.set_attribute(KeyValue::new("error.type", status.as_str().to_owned()));
        span.set_status(Status::error(""));
    }
    span.end();
    response
}

/// Returns the name of a method. A caller can invent others, and each would be a name of its own.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::PATCH => "PATCH",
        _ => "_OTHER",
    }
}
