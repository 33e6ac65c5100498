//! Who is told what happens.

use std::path::PathBuf;

use clap::Args;
use dragline_domain::definition::{MailAddress, SecretReference};

/// Who is told what happens, besides those whom definitions name.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Notices")]
pub(crate) struct NotifyArgs {
    /// Send each notice to this URL: an iteration is over, a page is stuck, a site is given up
    #[arg(long = "webhook", value_name = "URL")]
    pub(crate) webhooks: Vec<String>,
    /// Sign what is sent to `--webhook` with this secret: `env:NAME` or `file:PATH`
    #[arg(long = "webhook-secret", value_name = "REFERENCE", requires = "webhooks")]
    pub(crate) secret: Option<SecretReference>,
    /// Run this program for each notice, which is on its standard input as JSON
    #[arg(long = "notify-command", value_name = "PATH")]
    pub(crate) command: Option<PathBuf>,
    /// Send mail by the server of this URL, `smtps://USER:PASSWORD@HOST`: `env:NAME` or `file:PATH`
    #[arg(long, value_name = "REFERENCE", requires = "mail_from")]
    pub(crate) smtp: Option<SecretReference>,
    /// The sender of mail
    #[arg(long, value_name = "ADDRESS", requires = "smtp")]
    pub(crate) mail_from: Option<MailAddress>,
}
