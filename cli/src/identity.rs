//! The key by which sites know the crawler.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use dragline_http::IdentityKey;
use dragline_local::LocalSecrets;

use crate::args::{IdentityAction, IdentityArgs};
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::output_file::cannot_write;
use crate::terminal::Console;

/// Runs `dragline identity`.
///
/// # Errors
/// A file is there already or cannot be written, or there is no key.
pub(crate) fn identity(args: &IdentityArgs, console: &Console) -> Result<Exit, Failure> {
    match &args.action {
        IdentityAction::New { output } => create(output, console),
        IdentityAction::Directory { key } => {
            let secret = LocalSecrets::default().find(key).map_err(|error| Failure::new(error.to_string()))?;
            let read = IdentityKey::from_pem(secret.reveal()).map_err(|why| Failure::new(format!("`{key}` {why}")))?;
            writeln!(std::io::stdout(), "{}", read.directory()).map_err(while_writing)?;
            Ok(Exit::Done)
        }
    }
}

fn create(path: &Path, console: &Console) -> Result<Exit, Failure> {
    let pem = IdentityKey::generate_pem().map_err(|error| Failure::new(format!("the key {error}")))?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(cannot_write(path))?;
    file.write_all(pem.as_bytes()).and_then(|()| file.sync_all()).map_err(cannot_write(path))?;
    let shown = path.display();
    console.say(&format!("{shown} has the private key: keep it to yourself, and a copy of it"));
    console.say(&format!("next: dragline identity directory file:{shown} > http-message-signatures-directory"));
    Ok(Exit::Done)
}
