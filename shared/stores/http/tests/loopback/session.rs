//! Sessions over real connections: the suite that every fetcher passes.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use dragline_domain::address::AddressPolicy;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_http::{HttpFetcher, HttpFetchers};
use dragline_ports::fetcher::Fetchers as _;
use dragline_testkit::conformance::session::{self, Sites};
use dragline_testkit::members::{self, Arrived, KEY_FIELD, NamedValues};
use http::{Method, Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::support::config;

dragline_testkit::session_suite!(sites());

/// Two names of one server.
#[derive(Clone)]
struct LoopbackSites {
    members: String,
    stranger: String,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

impl Sites for LoopbackSites {
    fn members(&self) -> &str {
        &self.members
    }

    fn stranger(&self) -> &str {
        &self.stranger
    }

    fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().unwrap().clone()
    }
}

async fn sites() -> ((Arc<HttpFetcher>, LoopbackSites), ()) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let sites = LoopbackSites {
        members: format!("http://127.0.0.1:{port}"),
        stranger: format!("http://localhost:{port}"),
        arrived: Arc::default(),
    };
    let served = sites.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let served = served.clone();
            let service = service_fn(move |request| answer(served.clone(), request));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    let fetchers = HttpFetchers::new(config(AddressPolicy::AllowPrivate)).with_secrets(Arc::new(NamedValues));
    let fetcher = fetchers.fetcher_for(&members::definition(&sites.members)).await.unwrap();
    ((fetcher, sites), ())
}

async fn answer(sites: LoopbackSites, request: Request<Incoming>) -> Result<Response<reqwest::Body>, Infallible> {
    let (parts, body) = request.into_parts();
    let field = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    let url = format!("http://{}{}", field("host").unwrap(), parts.uri);
    let body = String::from_utf8(body.collect().await.unwrap().to_bytes().into()).unwrap();
    let arrived = Arrived {
        url: CrawlUrl::parse(&url, &UrlRules::keep_all()).unwrap(),
        key: field(KEY_FIELD),
        cookie: field("cookie"),
        form: (parts.method == Method::POST).then_some(body),
    };
    let reply = session::answer(&arrived, &sites.stranger);
    sites.arrived.lock().unwrap().push(arrived);
    let answered = Response::builder().status(reply.status).header("content-type", "text/html");
    let answered = reply.fields.iter().fold(answered, |answered, (name, value)| answered.header(*name, value));
    Ok(answered.body(reply.body.into()).unwrap())
}
