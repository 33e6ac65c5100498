//! Faults that emulators do not produce: conflicts, throttling, lost answers, a lagging index. They
//! are injected between the SDK and the emulator.

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

/// What happens to a request, to any of DynamoDB, S3, SQS and SNS unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It conflicts with another transaction, or another put of the same key, and has no effect.
    /// DynamoDB and S3.
    Conflict,
    /// Its first row conflicts with another transaction, and the condition of its last fails; it
    /// has no effect. DynamoDB's transactions.
    ConflictBesideRefusal,
    /// It has its effect, and is answered.
    Passed,
    /// It is lost on the way.
    Lost,
    /// It is throttled, and has no effect.
    Throttled,
    /// It has its effect, but the answer is lost.
    AnswerLost,
    /// All items of a batch come back unprocessed. DynamoDB.
    PutOff,
    /// It waits until [`Faults::let_pass`] is called.
    Held,
}

/// Planned faults by operation, shared with the client that they strike.
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
    /// Plans faults for the next requests of this operation, in order.
    pub fn plan(&self, operation: &str, faults: &[Fault]) {
        self.state.lock().unwrap().waiting.insert(operation.to_owned(), faults.to_vec());
    }

    /// Waits until a request is held.
    pub async fn until_held(&self) {
        self.held.notified().await;
    }

    /// Lets the held request pass.
    pub fn let_pass(&self) {
        self.passes.notify_one();
    }

    /// Makes the index repeat its first answers from now on.
    pub fn freeze_index(&self) {
        self.state.lock().unwrap().is_stale = true;
    }

    /// Whether all planned faults have struck.
    #[must_use]
    pub fn are_over(&self) -> bool {
        self.state.lock().unwrap().waiting.values().all(Vec::is_empty)
    }

    fn next(&self, operation: &str) -> Option<Fault> {
        let mut state = self.state.lock().unwrap();
        let waiting = state.waiting.get_mut(operation)?;
        if waiting.is_empty() { None } else { Some(waiting.remove(0)) }
    }

    /// Returns an HTTP client that these faults strike.
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
            None | Some(Fault::Passed) => self.inner.call(request),
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

/// The protocol of a request, which determines the form of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    /// Operations in a header, JSON.
    DynamoDb,
    /// Like DynamoDB.
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

/// A transaction that is cancelled because of these of its actions; an index beyond the last means
/// the last.
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
    /// Asks the index and remembers its first answer, or repeats that.
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
