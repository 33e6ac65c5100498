//! Notices of a server: lines on standard error, and messages to webhooks.

use std::collections::HashSet;
use std::env;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use dragline_formats::warc::Sha1Digest;
use dragline_http::{HttpConfig, Webhook, WebhookSecret};
use dragline_local::SystemClock;
use dragline_ports::clock::Clock as _;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::NoticeKey;
use dragline_ports::notifier::{Notice, Notifier};
use jiff::Timestamp;
use serde::Serialize;

use crate::args::WebhookArgs;
use crate::definition_source::{parse_url, read_text};
use crate::error::Failure;
use crate::terminal::Console;

/// The most messages that are remembered as printed. A message that cannot be sent comes again.
const REMEMBERED_MAX: usize = 10_000;

/// Prints each notice, and sends it to the webhooks.
pub(super) struct ServerNotifier {
    console: Console,
    webhooks: Vec<Webhook>,
    printed: Mutex<HashSet<String>>,
}

/// A message to a webhook.
#[derive(Serialize)]
struct Message<'n> {
    r#type: &'static str,
    /// When it came to be owed.
    timestamp: Timestamp,
    data: MessageData<'n>,
}

#[derive(Serialize)]
struct MessageData<'n> {
    crawl: &'n str,
    /// The notice in words.
    text: String,
    /// The notice with all that it says, under its kind.
    notice: &'n Notice,
}

impl ServerNotifier {
    /// Returns a notifier with the webhooks of the arguments.
    ///
    /// # Errors
    /// A URL or a secret is not valid, or a client cannot be set up.
    pub(super) fn new(args: &WebhookArgs, config: &HttpConfig, console: &Console) -> Result<Self, Failure> {
        let mut webhooks = Vec::new();
        for url in &args.webhooks {
            let secret = args.secret.as_deref().map(read_secret).transpose()?;
            webhooks.push(Webhook::new(config, parse_url(url)?, secret)?);
        }
        Ok(Self { console: console.clone(), webhooks, printed: Mutex::default() })
    }

    fn print(&self, id: &str, notice: &Notice) {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        if printed.len() >= REMEMBERED_MAX {
            printed.clear();
        }
        if printed.insert(id.to_owned()) {
            self.console.say(&format!("{}: {}", notice.crawl(), notice.words()));
        }
    }
}

/// Returns the secret that a reference names: `env:NAME` or `file:PATH`.
fn read_secret(reference: &str) -> Result<WebhookSecret, Failure> {
    let text = match reference.split_once(':') {
        Some(("env", name)) => env::var(name)
            .map_err(|_| Failure::new(format!("the variable `{name}` of the webhook's secret is not set")))?,
        Some(("file", path)) => read_text(Path::new(path))?,
        _ => {
            return Err(Failure::new("a secret is not written on the command line, where others read it")
                .with_hint("name it: `--webhook-secret env:NAME`, or `file:PATH`"));
        }
    };
    WebhookSecret::parse(text.trim()).map_err(|error| Failure::from_error(&error))
}

/// Returns the id of a notice, which is the same at each try.
fn message_id(notice: &Notice, since: Timestamp) -> String {
    let named = format!("{} {} {}", notice.crawl(), NoticeKey::from_notice(notice), since.as_millisecond());
    format!("msg_{}", Sha1Digest::compute(named.as_bytes()))
}

impl Notifier for ServerNotifier {
    async fn notify(&self, notice: Notice, since: Timestamp) -> PortResult<()> {
        let id = message_id(&notice, since);
        self.print(&id, &notice);
        if self.webhooks.is_empty() {
            return Ok(());
        }
        let data = MessageData { crawl: notice.crawl().as_str(), text: notice.words(), notice: &notice };
        let message = Message { r#type: notice.kind(), timestamp: since, data };
        // Texts and numbers can always be written.
        let body = serde_json::to_string(&message).unwrap_or_default();
        for webhook in &self.webhooks {
            webhook.send(&id, SystemClock::new().now(), body.clone()).await?;
        }
        Ok(())
    }
}
