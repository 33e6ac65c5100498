//! What no emulator shows: conflicts, throttling, answers that get lost, an index that lags. They are played between the SDK and the
//! emulator, where a network would play them.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::shared::IntoShared;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// What happens to a request: to DynamoDB, S3, SQS or SNS where nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It meets another transaction, or another put of the same key, and has no effect. Of DynamoDB and S3.
    Conflict,
    /// Of its rows the first meets another transaction, and the last refuses; it has no effect. Of DynamoDB's transactions.
    ConflictBesideRefusal,
    /// It gets lost on its way.
    Lost,
    /// It is refused because there are too many, and has no effect.
    Throttled,
    /// It has its effect, and its answer never comes.
    AnswerLost,
    /// All of a batch is put off. Of DynamoDB.
    PutOff,
    /// It waits until [`Faults::let_pass`] is called.
    Held,
}

/// Faults to come, by operation, shared with the client that they come to.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    state: Arc<Mutex<State>>,
    held: Arc<Notify>,
    passes: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<String, Vec<Fault>>,
    /// The first answer to each query of an index.
    answered: HashMap<String, Vec<u8>>,
    is_stale: bool,
}

impl Faults {
    /// The next requests of this operation fail so, one after the other.
    pub fn plan(&self, operation: &str, faults: &[Fault]) {
        self.state.lock().unwrap().waiting.insert(operation.to_owned(), faults.to_vec());
    }

    /// Comes back once a request is held.
    pub async fn until_held(&self) {
        self.held.notified().await;
    }

    /// Lets the request pass that is held.
    pub fn let_pass(&self) {
        self.passes.notify_one();
    }

    /// From now on the index shows what it showed first.
    pub fn freeze_index(&self) {
        self.state.lock().unwrap().is_stale = true;
    }

    /// Whether everything that was planned has happened.
    #[must_use]
    pub fn are_over(&self) -> bool {
        self.state.lock().unwrap().waiting.values().all(Vec::is_empty)
    }

    fn next(&self, operation: &str) -> Option<Fault> {
        let mut state = self.state.lock().unwrap();
        let waiting = state.waiting.get_mut(operation)?;
        if waiting.is_empty() { None } else { Some(waiting.remove(0)) }
    }

    /// An HTTP client that these faults come to.
    #[must_use]
    pub fn over(&self, inner: SharedHttpClient) -> SharedHttpClient {
        FaultyClient { inner, faults: self.clone() }.into_shared()
    }
}

#[derive(Debug)]
struct FaultyClient {
    inner: SharedHttpClient,
    faults: Faults,
}

impl HttpClient for FaultyClient {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        let inner = self.inner.http_connector(settings, components);
        SharedHttpConnector::new(FaultyConnector { inner, faults: self.faults.clone() })
    }
}

#[derive(Debug)]
struct FaultyConnector {
    inner: SharedHttpConnector,
    faults: Faults,
}

impl HttpConnector for FaultyConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let body = request.body().bytes().unwrap_or_default();
        let (service, operation) = asked_for(&request, body);
        let asked: Value = serde_json::from_slice(body).unwrap_or_default();
        match self.faults.next(&operation) {
            None if operation == "Query" && asked["IndexName"].is_string() => {
                self.query_index(request, asked.to_string())
            }
            None => self.inner.call(request),
            Some(Fault::Conflict) => conflict(service, &asked),
            Some(Fault::ConflictBesideRefusal) => {
                canceled(&asked, &[(0, "TransactionConflict"), (usize::MAX, "ConditionalCheckFailed")])
            }
            Some(Fault::Throttled) => throttled(service),
            Some(Fault::PutOff) => answer(200, &put_off(&operation, &asked)),
            Some(Fault::Lost) => HttpConnectorFuture::ready(Err(no_answer())),
            Some(Fault::Held) => {
                let (faults, inner) = (self.faults.clone(), self.inner.clone());
                HttpConnectorFuture::new(async move {
                    faults.held.notify_one();
                    faults.passes.notified().await;
                    inner.call(request).await
                })
            }
            Some(Fault::AnswerLost) => {
                let sent = self.inner.call(request);
                HttpConnectorFuture::new(async move {
                    sent.await?;
                    Err(no_answer())
                })
            }
        }
    }
}

/// Whom a request is for, each of which answers in its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    /// Operations in a header, JSON.
    DynamoDb,
    /// As DynamoDB.
    Sqs,
    /// Operations in a form, XML.
    Sns,
    /// Operations by method, XML.
    S3,
}

fn asked_for(request: &HttpRequest, body: &[u8]) -> (Service, String) {
    let target = request.headers().get("x-amz-target").and_then(|target| target.rsplit_once('.'));
    if let Some((service, operation)) = target {
        let service = if service.starts_with("AmazonSQS") { Service::Sqs } else { Service::DynamoDb };
        return (service, operation.to_owned());
    }
    let form = std::str::from_utf8(body).ok().and_then(|body| body.strip_prefix("Action="));
    if let Some(form) = form {
        return (Service::Sns, form.split('&').next().unwrap_or_default().to_owned());
    }
    let operation = match request.method() {
        "GET" if request.uri().contains("list-type=2") => "ListObjectsV2",
        "GET" => "GetObject",
        "HEAD" => "HeadObject",
        "PUT" => "PutObject",
        "DELETE" => "DeleteObject",
        other => other,
    };
    (Service::S3, operation.to_owned())
}

fn no_answer() -> ConnectorError {
    ConnectorError::io(io::Error::from(io::ErrorKind::ConnectionReset).into())
}

fn throttled(service: Service) -> HttpConnectorFuture {
    match service {
        Service::DynamoDb => answer(400, &json!({ "__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException" })),
        Service::Sqs => answer(400, &json!({ "__type": "com.amazonaws.sqs#ThrottlingException" })),
        Service::Sns => {
            let error =
                "<ErrorResponse><Error><Type>Sender</Type><Code>ThrottlingException</Code></Error></ErrorResponse>";
            answered(400, error.into())
        }
        Service::S3 => answered(503, "<Error><Code>SlowDown</Code></Error>".into()),
    }
}

fn conflict(service: Service, asked: &Value) -> HttpConnectorFuture {
    if service == Service::S3 {
        return answered(409, "<Error><Code>ConditionalRequestConflict</Code></Error>".into());
    }
    if asked["TransactItems"].is_null() {
        return answer(400, &json!({ "__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException" }));
    }
    canceled(asked, &[(0, "TransactionConflict")])
}

/// A transaction that is cancelled because of these of its actions; one beyond the last stands for that.
fn canceled(asked: &Value, because: &[(usize, &str)]) -> HttpConnectorFuture {
    let actions = asked["TransactItems"].as_array().map_or(1, Vec::len);
    let mut reasons = vec![json!({ "Code": "None" }); actions];
    for (action, code) in because {
        reasons[(*action).min(actions - 1)] = json!({ "Code": code });
    }
    let canceled = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "CancellationReasons": reasons,
    });
    answer(400, &canceled)
}

impl FaultyConnector {
    /// Asks the index and remembers its first answer, or gives that again.
    fn query_index(&self, request: HttpRequest, query: String) -> HttpConnectorFuture {
        let state = self.faults.state.lock().unwrap();
        if let Some(first) = state.answered.get(&query).filter(|_| state.is_stale) {
            return answered(200, first.clone());
        }
        drop(state);
        let (sent, faults) = (self.inner.call(request), self.faults.clone());
        HttpConnectorFuture::new(async move {
            let response = sent.await?;
            let status = response.status();
            let content = collected(response.into_body()).await?;
            faults.state.lock().unwrap().answered.entry(query).or_insert_with(|| content.clone());
            Ok(HttpResponse::new(status, SdkBody::from(content)))
        })
    }
}

async fn collected(body: SdkBody) -> Result<Vec<u8>, ConnectorError> {
    let content = ByteStream::new(body).collect().await.map_err(|error| ConnectorError::io(error.into()))?;
    Ok(content.to_vec())
}

fn put_off(operation: &str, asked: &Value) -> Value {
    match operation {
        "BatchGetItem" => json!({ "Responses": {}, "UnprocessedKeys": asked["RequestItems"] }),
        "BatchWriteItem" => json!({ "UnprocessedItems": asked["RequestItems"] }),
        _ => {
            let statements = asked["Statements"].as_array().map_or(0, Vec::len);
            json!({ "Responses": vec![json!({ "Error": { "Code": "ThrottlingError" } }); statements] })
        }
    }
}

fn answer(status: u16, body: &Value) -> HttpConnectorFuture {
    answered(status, body.to_string().into_bytes())
}

fn answered(status: u16, body: Vec<u8>) -> HttpConnectorFuture {
    let mut response = HttpResponse::new(status.try_into().unwrap(), SdkBody::from(body));
    response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
    HttpConnectorFuture::ready(Ok(response))
}
