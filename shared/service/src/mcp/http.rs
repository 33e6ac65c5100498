//! The protocol at `/mcp`: streamable HTTP, without sessions.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use dragline_ports::clock::Rng;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tower_service::Service as _;

use super::api::{Api, ApiResponse, Caller};
use super::{Agents, Crawling};

/// The path of the protocol.
pub(crate) const PATH: &str = "/mcp";

/// The API as routes of this process, called as the agent calls them: with its token.
struct Routes(Router);

impl Api for Routes {
    fn send<'a>(&'a self, mut request: Request<Body>, caller: &'a Caller) -> ApiResponse<'a> {
        caller.authorise(&mut request);
        let mut router = self.0.clone();
        Box::pin(async move {
            match router.call(request).await {
                Ok(response) => Ok(response),
                Err(never) => match never {},
            }
        })
    }
}

/// Returns the route of the protocol over these routes, whose layers check who calls.
pub(crate) fn route(api: Router, crawling: Crawling, rng: Arc<dyn Rng>, body_bytes_max: usize) -> Router {
    let agents = Agents::new(Arc::new(Routes(api)), crawling, rng);
    // The router checks the names of the server and foreign origins, for this route as for others.
    // Without sessions nothing is kept between two requests, and nobody can use up memory with
    // them.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(body_bytes_max);
    let service =
        StreamableHttpService::new(move || Ok(agents.clone()), Arc::new(NeverSessionManager::default()), config);
    Router::new().route_service(PATH, service)
}
