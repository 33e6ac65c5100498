//! `dragline token`: the tokens of a server, in a file of its data directory.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use dragline_local::{DATABASE, LocalStore, SystemClock, SystemRng};
use dragline_ports::clock::{Clock as _, Rng as _};
use dragline_service::Token;

use super::write_private;
use crate::args::{TokenAction, TokenArgs};
use crate::definition_source::cannot_read;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::terminal::{Console, safe};

/// The file with the tokens, below the data directory.
const FILE: &str = "tokens.json";

/// Carries out a `dragline token` command.
///
/// # Errors
/// The file cannot be read or written, or there is no such token.
pub(crate) fn tokens(args: &TokenArgs, console: &Console) -> Result<Exit, Failure> {
    let data = args.data();
    let mut tokens = read(data)?;
    match &args.action {
        TokenAction::Add { user, role } => {
            if tokens.iter().any(|token| token.user == *user) {
                let failure = Failure::new(format!("`{}` has a token", safe(user)));
                return Err(failure.with_hint(format!("remove it first: `dragline token remove {user}`")));
            }
            let secret = format!("dragline_{:032x}", SystemRng.bits());
            tokens.push(Token::new(user, (*role).into(), &secret).map_err(|error| Failure::from_error(&error))?);
            write(data, &tokens)?;
            writeln!(io::stdout(), "{secret}").map_err(while_writing)?;
            console.hint(
                "it is not shown again: call with `Authorization: Bearer TOKEN`, or give it as a browser's password",
            );
        }
        TokenAction::List => {
            for Token { user, role, .. } in &tokens {
                let role = serde_json::to_value(role).unwrap_or_default();
                let role = role.as_str().unwrap_or_default();
                writeln!(io::stdout(), "{}  {role}", safe(user)).map_err(while_writing)?;
            }
        }
        TokenAction::Remove { user } => {
            let before = tokens.len();
            tokens.retain(|token| token.user != *user);
            if tokens.len() == before {
                return Err(Failure::new(format!("`{}` has no token", safe(user)))
                    .with_hint("`dragline token list` lists them"));
            }
            write(data, &tokens)?;
        }
    }
    Ok(Exit::Done)
}

/// Returns the tokens of a data directory; none if it has no file of them.
///
/// # Errors
/// The file cannot be read.
pub(super) fn read(data: &Path) -> Result<Vec<Token>, Failure> {
    let path = data.join(FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(cannot_read(&path)(error)),
    };
    serde_json::from_str(&text).map_err(|error| cannot_read(&path)(error.into()))
}

/// Writes the file anew.
fn write(data: &Path, tokens: &[Token]) -> Result<(), Failure> {
    if !data.join(DATABASE).is_file() {
        // It becomes a data directory, as nothing else may be in a new one.
        drop(LocalStore::open(data, SystemClock::new().now())?);
    }
    write_private(&data.join(FILE), &tokens)
}
