//! Notices: printed, and sent to those whom definitions and the command line name
//! (docs/reference/notices.md).

mod dispatch;
mod items;
mod message;
mod printer;
mod receivers;
mod watch;

use std::path::Path;
use std::sync::Arc;

use dragline_domain::definition::{NotifyRule, Receiver};
use dragline_http::HttpConfig;
use dragline_pipeline::World;
use dragline_ports::error::PortResult;
use dragline_ports::notifier::{Notice, Notifier};
use jiff::Timestamp;

use self::dispatch::Dispatch;
use self::message::Message;
use self::printer::{Audience, NoticePrinter};
use self::receivers::{Mailer, Receivers};
use self::watch::NoticeWatch;
use crate::args::NotifyArgs;
use crate::background::Background;
use crate::definition_source::{parse_url, read_secret};
use crate::error::Failure;
use crate::terminal::Console;

/// How many times the reserve of `--keep-free` is free when the disk is nearly full.
const LOW_TIMES: u64 = 2;

/// The notifier of all commands: it prints notices, and sends them where it has receivers.
pub(crate) struct CliNotifier {
    printer: NoticePrinter,
    dispatch: Option<Arc<Dispatch>>,
}

impl CliNotifier {
    /// Returns a notifier that only prints, for whoever watches one crawl.
    pub(crate) fn printing(console: &Console) -> Self {
        Self { printer: NoticePrinter::new(console.clone(), Audience::Watcher), dispatch: None }
    }

    /// Returns a notifier for a command that crawls in a data directory: it prints, and sends.
    pub(crate) fn sending(console: &Console, sender: &Sender) -> Self {
        let dispatch = Some(Arc::clone(&sender.dispatch));
        Self { printer: NoticePrinter::new(console.clone(), Audience::Watcher), dispatch }
    }

    /// Returns a notifier for a server, which prints what happens in all its crawls.
    pub(crate) fn serving(console: &Console, sender: &Sender) -> Self {
        let dispatch = Some(Arc::clone(&sender.dispatch));
        Self { printer: NoticePrinter::new(console.clone(), Audience::Server), dispatch }
    }
}

impl Notifier for CliNotifier {
    async fn notify(&self, notice: Notice, since: Timestamp) -> PortResult<()> {
        let message = Message::from_notice(notice.clone(), since);
        self.printer.print(&message.id, &notice);
        match &self.dispatch {
            Some(dispatch) => dispatch.notice(&notice, &message, since).await,
            None => Ok(()),
        }
    }
}

/// Sends what happens in a data directory to those whom definitions and the command line name.
pub(crate) struct Sender {
    dispatch: Arc<Dispatch>,
}

impl Sender {
    /// Returns the sender of a data directory, with the receivers of the arguments. Requests have
    /// these settings.
    ///
    /// # Errors
    /// A URL, an address or a secret is not valid, or a client cannot be set up.
    pub(crate) fn new(args: &NotifyArgs, data: &Path, config: HttpConfig) -> Result<Self, Failure> {
        let mailer = match (&args.smtp, &args.mail_from) {
            (Some(reference), Some(from)) => {
                Some(Mailer::new(&read_secret(reference, "the URL of the mail server")?, from.clone())?)
            }
            _ => None,
        };
        let receivers = Receivers::new(config, mailer);
        let mut rules = Vec::new();
        for url in &args.webhooks {
            let receiver = Receiver::Webhook { url: parse_url(url)?, secret: args.secret.clone() };
            // A mistake is said before anything is crawled.
            receivers.webhook(&receiver)?;
            rules.push(NotifyRule { receiver, events: Vec::new(), progress: None, items: None });
        }
        let dispatch = Dispatch::new(data.to_owned(), receivers, rules, args.command.clone());
        Ok(Self { dispatch: Arc::new(dispatch) })
    }

    /// Tells of beginnings, progress and the disk, until this is dropped.
    pub(crate) fn watch<W: World + 'static>(&self, world: Arc<W>, data: &Path, keep_free: u64) -> Background {
        let low = keep_free.saturating_mul(LOW_TIMES);
        Background::begin(NoticeWatch::new(world, Arc::clone(&self.dispatch), data.to_owned(), low).run())
    }
}
