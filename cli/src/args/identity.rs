//! `dragline identity`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use dragline_domain::definition::SecretReference;

/// Make the key by which sites know the crawler, and the directory where they find it
#[derive(Debug, Args)]
#[command(
    long_about = "Make the key by which sites know the crawler, and the directory where they find it (docs/guide/identity.md).\n\n\
                  With `identity` in a definition each request is signed, so that a site can let this crawler in and keep out others that use its name.",
    after_help = "\
Examples:
  dragline identity new -o bot.pem
  dragline identity directory file:identity.pem > http-message-signatures-directory"
)]
pub(crate) struct IdentityArgs {
    #[command(subcommand)]
    pub(crate) action: IdentityAction,
}

/// What is done with the key.
#[derive(Debug, Subcommand)]
pub(crate) enum IdentityAction {
    /// Make a private key, which only its owner can read
    New {
        /// The file to write, which must not exist
        #[arg(long, short, value_name = "FILE", default_value = "identity.pem")]
        output: PathBuf,
    },
    /// Print the public key for the host that `identity.directory` names
    Directory {
        /// Where the private key is: `env:NAME` or `file:PATH`
        key: SecretReference,
    },
}
