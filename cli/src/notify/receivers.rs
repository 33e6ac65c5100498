//! Those who are told: webhooks, mail, a command.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dragline_domain::definition::{MailAddress, Receiver};
use dragline_http::{HttpConfig, Webhook, WebhookSecret};
use dragline_local::SystemClock;
use dragline_ports::clock::Clock as _;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use lettre::message::header::{ContentType, MessageId};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use super::message::Message;
use crate::definition_source::read_secret;
use crate::error::Failure;

/// How long a mail server or a command may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A mail server, and the sender of what is sent by it.
pub(super) struct Mailer {
    server: AsyncSmtpTransport<Tokio1Executor>,
    from: MailAddress,
}

impl Mailer {
    /// Returns the mail server of a URL, such as `smtps://user:password@mail.example.org`.
    ///
    /// # Errors
    /// The URL is not valid.
    pub(super) fn new(url: &str, from: MailAddress) -> Result<Self, Failure> {
        // The URL has a password, which no message repeats.
        let invalid = |_| {
            Failure::new("the URL of the mail server is not valid")
                .with_hint("write `smtps://USER:PASSWORD@HOST`, or `smtp://HOST:PORT?tls=required`")
        };
        let server = AsyncSmtpTransport::<Tokio1Executor>::from_url(url).map_err(invalid)?;
        Ok(Self { server: server.timeout(Some(TIMEOUT)).build(), from })
    }

    async fn send(&self, to: &MailAddress, message: &Message) -> PortResult<()> {
        let failed = |why: String| PortError::new(PortErrorKind::Unavailable, "send mail", to.as_str(), why);
        let mailbox = |address: &MailAddress| address.as_str().parse().map_err(|error| failed(format!("{error}")));
        let letter = lettre::Message::builder()
            .from(mailbox(&self.from)?)
            .to(mailbox(to)?)
            .subject(format!("{}: {}", message.crawl(), message.text()))
            // The same at each try, so that programs for mail drop what came twice.
            .header(MessageId::from(format!("<{}@dragline>", message.id)))
            .header(ContentType::TEXT_PLAIN)
            .body(message.letter())
            .map_err(|error| failed(error.to_string()))?;
        let sent = timeout(TIMEOUT, self.server.send(letter)).await;
        sent.map_err(|_| failed("the mail server did not answer in time".to_owned()))?
            .map_err(|error| failed(error.to_string()))?;
        Ok(())
    }
}

/// Sends messages.
pub(super) struct Receivers {
    config: HttpConfig,
    mailer: Option<Mailer>,
    /// Set up at the first message, as roots are read for each.
    webhooks: Mutex<HashMap<Receiver, Arc<Webhook>>>,
}

impl Receivers {
    /// Returns receivers that are called with these settings.
    pub(super) fn new(config: HttpConfig, mailer: Option<Mailer>) -> Self {
        Self { config, mailer, webhooks: Mutex::default() }
    }

    /// Returns the webhook of a receiver.
    ///
    /// # Errors
    /// Its secret cannot be read, or a client cannot be set up.
    pub(super) fn webhook(&self, receiver: &Receiver) -> Result<Option<Arc<Webhook>>, Failure> {
        let Receiver::Webhook { url, secret } = receiver else { return Ok(None) };
        let lock = || self.webhooks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(webhook) = lock().get(receiver) {
            return Ok(Some(Arc::clone(webhook)));
        }
        let parse = |text: String| WebhookSecret::parse(&text).map_err(|error| Failure::from_error(&error));
        let secret = secret
            .as_ref()
            .map(|reference| read_secret(reference, "the secret of a webhook").and_then(parse))
            .transpose()?;
        let webhook = Arc::new(Webhook::new(&self.config, url.clone(), secret)?);
        lock().insert(receiver.clone(), Arc::clone(&webhook));
        Ok(Some(webhook))
    }

    /// Sends a message to a receiver.
    ///
    /// # Errors
    /// It is `Unavailable` for everything that another try may mend.
    pub(super) async fn send(&self, receiver: &Receiver, message: &Message) -> PortResult<()> {
        let failed = |subject: &str, why: String| PortError::new(PortErrorKind::Unavailable, "notify", subject, why);
        match receiver {
            Receiver::Webhook { url, .. } => {
                let webhook = self.webhook(receiver).map_err(|failure| failed(url.as_str(), failure.message))?;
                match webhook {
                    Some(webhook) => webhook.send(&message.id, SystemClock::new().now(), message.body()).await,
                    None => Ok(()),
                }
            }
            Receiver::Email(address) => match &self.mailer {
                Some(mailer) => mailer.send(address, message).await,
                None => Err(failed(address.as_str(), "no mail server is named by `--smtp`".to_owned())),
            },
        }
    }
}

/// Runs a command with a message on its standard input.
///
/// # Errors
/// It is `Unavailable` for everything that another try may mend.
pub(super) async fn run_command(path: &PathBuf, message: &Message) -> PortResult<()> {
    let subject = path.display().to_string();
    let failed = |why: String| PortError::new(PortErrorKind::Unavailable, "run command", subject.as_str(), why);
    let run = async {
        let mut command = Command::new(path);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::inherit()).kill_on_drop(true);
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A command that does not read its input is not wrong.
            let _ = stdin.write_all(message.body().as_bytes()).await;
        }
        child.wait().await
    };
    let status = timeout(TIMEOUT, run).await.map_err(|_| failed("it did not end in time".to_owned()))?;
    let status = status.map_err(|error| failed(error.to_string()))?;
    if status.success() { Ok(()) } else { Err(failed(format!("it ended with {status}"))) }
}
