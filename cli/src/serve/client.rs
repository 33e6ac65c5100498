//! Calls to the crawls of a data directory: of the server that runs there or, if none does, of the
//! same API in this process.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use dragline_engine::local_world;
use dragline_local::{LocalStore, OpenError, SystemClock};
use dragline_ports::clock::Clock as _;
use dragline_service::{Access, Crawling, HostCheck};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::TcpStream;
use tower_service::Service as _;

use super::{DirectoryCrawls, api, backend, write_private};
use crate::error::Failure;
use crate::notify::CliNotifier;
use crate::terminal::{Console, safe};

/// The file that says where a running server listens, below the data directory.
const FILE: &str = "server.json";

/// The limit on an answer, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Where a running server listens, and the secret by which its own user may call it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Listening {
    pub(super) address: String,
    pub(super) secret: String,
}

impl Listening {
    /// Writes the file, readable for its owner alone, and removes it when dropped.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn announce(&self, data: &Path) -> Result<Announced, Failure> {
        write_private(&data.join(FILE), self)?;
        Ok(Announced(data.join(FILE)))
    }

    /// Sends a request, on a connection of its own.
    async fn send(&self, request: Request<Body>) -> Result<Response<Body>, Box<dyn Error + Send + Sync>> {
        let stream = TcpStream::connect(&self.address).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender.send_request(request).await?.map(Body::new))
    }

    /// Returns where the server of a data directory listens; `None` if none does.
    fn read(data: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(data.join(FILE)).ok()?).ok()
    }
}

/// Removes the file when dropped. One that a killed server left is not read, as nobody uses the
/// directory then.
pub(super) struct Announced(PathBuf);

impl Drop for Announced {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The crawls of a data directory.
pub(crate) enum Client {
    /// Those of a server.
    Server(Listening),
    /// Those of a directory that nobody uses.
    Directory(Router),
}

impl Client {
    /// Returns the crawls of a data directory. It is created if it is not there.
    ///
    /// # Errors
    /// It cannot be opened, or a process uses it that is no server.
    pub(crate) fn open(data: &Path, console: &Console) -> Result<Self, Failure> {
        match LocalStore::open(data, SystemClock::new().now()) {
            Ok(store) => {
                let world = Arc::new(local_world(&store, CliNotifier::printing(console)));
                let crawls = DirectoryCrawls::new(data, Vec::new(), console);
                let open = (Access::open(), HostCheck::default(), Crawling::Refused);
                Ok(Self::Directory(api(backend(world, crawls), open)))
            }
            Err(in_use @ OpenError::InUse(_)) => Self::for_server(data).ok_or_else(|| in_use.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the server that runs over a data directory; `None` if none does.
    pub(crate) fn for_server(data: &Path) -> Option<Self> {
        if !LocalStore::is_in_use(data).unwrap_or(false) {
            return None;
        }
        Listening::read(data).map(Self::Server)
    }

    /// Whether a server is called.
    pub(crate) const fn is_server(&self) -> bool {
        matches!(self, Self::Server(_))
    }

    /// Sends a request, whose target is a path, and returns the answer: a problem is one, too.
    ///
    /// # Errors
    /// It does not answer.
    pub(crate) async fn send(&self, mut request: Request<Body>) -> Result<Response<Body>, Failure> {
        let mut set = |name, value: &str| -> Result<(), Failure> {
            let value = HeaderValue::from_str(value).map_err(|error| Failure::from_error(&error))?;
            request.headers_mut().insert(name, value);
            Ok(())
        };
        match self {
            Self::Server(listening) => {
                set(header::HOST, &listening.address)?;
                set(header::AUTHORIZATION, &format!("Bearer {}", listening.secret))?;
                listening.send(request).await.map_err(|error| {
                    Failure::new(format!("the server at {} does not answer: {error}", listening.address))
                        .caused_by(&*error)
                })
            }
            Self::Directory(router) => {
                set(header::HOST, "localhost")?;
                match router.clone().call(request).await {
                    Ok(response) => Ok(response),
                    Err(never) => match never {},
                }
            }
        }
    }

    /// Calls it, and returns the answer as JSON; null if it has no body.
    ///
    /// # Errors
    /// It does not answer, or with a problem.
    pub(crate) async fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let mut request = Request::builder().method(method).uri(path);
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let text = body.map(Value::to_string).unwrap_or_default();
        let request = request.body(Body::from(text)).map_err(|error| Failure::from_error(&error))?;
        let response = self.send(request).await?;
        let status = response.status();
        let answer = to_bytes(response.into_body(), ANSWER_BYTES_MAX).await;
        let answer = answer.map_err(|error| Failure::from_error(&error))?;
        let value: Value = serde_json::from_slice(&answer).unwrap_or(Value::Null);
        if status.is_success() { Ok(value) } else { Err(refused(status, &value)) }
    }
}

/// Returns a problem as a failure.
fn refused(status: StatusCode, problem: &Value) -> Failure {
    let text = |key: &str| problem[key].as_str().map(safe);
    let failure = match (text("detail"), problem["mistakes"].as_array()) {
        (_, Some(mistakes)) if !mistakes.is_empty() => {
            let mistakes: Vec<_> = mistakes.iter().filter_map(Value::as_str).map(safe).collect();
            Failure::new(mistakes.join("\n"))
        }
        (Some(detail), _) => Failure::new(detail.into_owned()),
        (None, _) => Failure::new(format!("the server answered with status {status}")),
    };
    match text("hint") {
        Some(hint) => failure.with_hint(hint.into_owned()),
        None => failure,
    }
}
