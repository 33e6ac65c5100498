//! Where arguments and definitions say that results are written.

use std::path::{Component, Path};
use std::time::Duration;

use dragline_domain::definition::{Draft, Key, SecretReference};
use dragline_sink::{Address, AddressError, Destination, SchemaName, Start, Target};

use crate::definition_source::read_secret;
use crate::error::Failure;

/// What the messages call an address.
const SUBJECT: &str = "the address of the database";

/// The keys by which libpq's form of an address begins, `host=… dbname=…`. A directory of such a
/// name is `./host=…`.
const KEYS: [&str; 6] = ["host", "hostaddr", "port", "dbname", "user", "password"];

/// Which directories a definition may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directories {
    /// Any: whoever wrote the definition runs the program.
    Any,
    /// Only those in the data directory: others send definitions to a server.
    InData,
}

/// Returns the destination that an argument names. An address, or the variable or the file with it,
/// is a database's; anything else without a scheme is a directory.
///
/// # Errors
/// It is not valid, or the variable or the file cannot be read.
pub(crate) fn parse_place(text: &str, flag: &str) -> Result<Destination, Failure> {
    let address = match text.parse() {
        Ok(reference) => read_address(&reference)?,
        Err(_) if Address::is_url(text) || begins_with_key(text) => parse_address(text)?,
        Err(_) if text.contains("://") || text.is_empty() => {
            let message = format!("`{flag}` needs the address of a PostgreSQL database, or a directory");
            return Err(address_error(&message));
        }
        Err(_) => return Ok(Destination::Directory(text.into())),
    };
    Ok(database(address))
}

fn begins_with_key(text: &str) -> bool {
    text.split_once('=').is_some_and(|(key, _)| KEYS.contains(&key.trim()))
}

/// Returns the destinations of a definition.
///
/// # Errors
/// A reference names nothing that can be read, or a directory is none that it may name.
pub(super) fn places_in_definition(
    definition: &Draft,
    data: &Path,
    directories: Directories,
) -> Result<Vec<Destination>, Failure> {
    let mut destinations = Vec::new();
    if let Some(reference) = &definition.sink.postgres {
        destinations.push(database(read_address(reference)?));
    }
    if let Some(folder) = &definition.sink.parquet {
        let folder = Path::new(folder.as_str());
        let is_inside = folder.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if directories == Directories::InData && !is_inside {
            let message = format!("`{}` is not in the data directory, where alone a server writes", Key::SinkParquet);
            return Err(Failure::new(message).with_hint("give the server `--sink DIR`"));
        }
        destinations.push(Destination::Directory(data.join(folder)));
    }
    Ok(destinations)
}

/// Returns the database at an address, with what suits most.
fn database(address: Address) -> Destination {
    Destination::Database(Box::new(Target {
        address,
        schema: SchemaName::default(),
        reader: None,
        start: Start::Continue,
        patience: Duration::ZERO,
        batch_rows: None,
    }))
}

fn read_address(reference: &SecretReference) -> Result<Address, Failure> {
    parse_address(&read_secret(reference, SUBJECT)?)
}

fn parse_address(text: &str) -> Result<Address, Failure> {
    text.parse().map_err(|error: AddressError| address_error(&error.to_string()))
}

fn address_error(message: &str) -> Failure {
    Failure::new(message).with_hint("write it as `postgres://USER@HOST/DATABASE`, with `%40` for an `@` in a password")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_url_or_a_directory_or_names_where_the_url_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "postgres://me:secret@db.example/results\n").unwrap();
        for (place, expected) in [
            (format!("file:{}", file.path().display()), "`results` at db.example, schema `dragline`"),
            ("postgres://me:secret@db.example/results".to_owned(), "`results` at db.example, schema `dragline`"),
            ("host=db.example dbname=results password=secret".to_owned(), "`results` at db.example, schema `dragline`"),
            ("dbname = results host = db.example".to_owned(), "`results` at db.example, schema `dragline`"),
            ("./host=lake".to_owned(), "./host=lake"),
            ("/srv/lake".to_owned(), "/srv/lake"),
            ("results".to_owned(), "results"),
        ] {
            assert_eq!(parse_place(&place, "--to").unwrap().to_string(), expected);
        }
        for (place, message) in [
            (
                "env:DRAGLINE_NO_SUCH_VARIABLE",
                "the address of the database: `env:DRAGLINE_NO_SUCH_VARIABLE` is not set",
            ),
            ("mysql://me@db.example/results", "`--to` needs the address of a PostgreSQL database, or a directory"),
            ("", "`--to` needs the address of a PostgreSQL database, or a directory"),
            ("postgres://me:secret@db.example:x/results", "the address of the database is not valid"),
            ("dbname=results password=secret", "the address of the database is not valid"),
        ] {
            assert_eq!(parse_place(place, "--to").unwrap_err().message, message);
        }
    }

    #[test]
    fn a_server_writes_only_in_its_data_directory() {
        let named = |folder: &str, directories| {
            let mut draft = Draft::for_seeds(Vec::new());
            draft.sink.parquet = Some(folder.parse().unwrap());
            let destinations = places_in_definition(&draft, Path::new("/data"), directories);
            destinations.map(|all| all[0].to_string()).map_err(|failure| failure.message)
        };
        assert_eq!(named("parquet/docs", Directories::InData).unwrap(), "/data/parquet/docs");
        for folder in ["/etc/cron.d", "../elsewhere", "parquet/../.."] {
            let message = "`sink.parquet` is not in the data directory, where alone a server writes";
            assert_eq!(named(folder, Directories::InData).unwrap_err(), message, "{folder}");
            assert!(named(folder, Directories::Any).is_ok(), "{folder}");
        }
    }
}
