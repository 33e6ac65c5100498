//! Errors of the database, and what to do about them.

use std::error::Error as _;
use std::io;
use std::path::Path;

use dragline_domain::shown::one_line;
use dragline_ports::error::PortError;
use tokio_postgres::Error as PostgresError;
use tokio_postgres::error::SqlState;

/// The longest message of a database that is passed on, in characters.
const MESSAGE_CHARS_MAX: usize = 300;

/// The results could not be written to the database. All that was committed stays, and running it
/// again goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The crawl could not be read.
    #[error(transparent)]
    Reader(#[from] PortError),
    /// Nothing was crawled yet.
    #[error("the crawl has not begun")]
    NotBegun,
    /// A file or a folder cannot be read or written.
    #[error("{path} cannot be written: {why}")]
    File {
        /// Its path.
        path: String,
        /// Why.
        why: io::Error,
    },
    /// A Parquet file cannot be written.
    #[error("the Parquet file cannot be written: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// The settings of TLS cannot be used.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// The database did not answer for as long as was to be waited.
    #[error("the database does not answer: {0}")]
    Away(String),
    /// Another process writes the same crawl to the same schema.
    #[error("another process is writing this crawl to this schema")]
    Busy,
    /// The database has no space left.
    #[error("the database has no space left: {0}")]
    Full(String),
    /// The role may not do what is needed.
    #[error("the database does not permit it: {0}")]
    Forbidden(String),
    /// The server's certificate is not valid: it has another name, or nobody trusts its authority.
    #[error("the certificate of the database is not trusted: {0}")]
    Untrusted(String),
    /// The server refused the connection: an unknown database, a wrong password.
    #[error("the database refused the connection: {0}")]
    NotAdmitted(String),
    /// A table was renamed or dropped.
    #[error("there is no table `{schema}.{table}`, which was there before")]
    TableMissing {
        /// The schema.
        schema: String,
        /// The table.
        table: String,
    },
    /// A column was renamed or dropped.
    #[error("the table `{schema}.{table}` has no column `{column}`, which was there before")]
    ColumnMissing {
        /// The schema.
        schema: String,
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// The type of a column was changed.
    #[error("the column `{column}` of `{schema}.{table}` has the type {actual} instead of {expected}")]
    ColumnType {
        /// The schema.
        schema: String,
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The type that it has.
        actual: String,
        /// The type that it had.
        expected: &'static str,
    },
    /// The schema has a table or a view of somebody else with the name of one of ours.
    #[error("the schema `{0}` has tables that Dragline did not create")]
    NotOurs(String),
    /// A later version of Dragline made the tables.
    #[error("the schema `{schema}` is of version {version}, which this program does not know")]
    TooNew {
        /// The schema.
        schema: String,
        /// Its version.
        version: i32,
    },
    /// The role that is to read does not exist.
    #[error("there is no role `{0}`")]
    NoRole(String),
    /// The database refused a statement for another reason.
    #[error("the database refused it: {0}")]
    Refused(String),
}

impl SinkError {
    /// Returns a function that turns the error of a file into this one.
    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> Self {
        move |why| Self::File { path: path.display().to_string(), why }
    }

    /// Returns what the user can do about it; `None` if the message says it all.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Reader(_) | Self::NotBegun | Self::Tls(_) | Self::File { .. } | Self::Parquet(_) => return None,
            Self::Away(_) => "nothing that was written is lost: run it again once the database is back".to_owned(),
            Self::Busy => "wait until it has ended, or name another schema with `--schema`".to_owned(),
            Self::Full(_) => "make space, then run it again: it goes on where it stopped".to_owned(),
            Self::Forbidden(_) => {
                "the role needs CREATE and TEMPORARY on the database, or has to own the schema".to_owned()
            }
            Self::Untrusted(_) => {
                "name its authority by `SSL_CERT_FILE=FILE`, and the database as the certificate does".to_owned()
            }
            Self::NotAdmitted(_) => "check the user, the password and the name of the database".to_owned(),
            Self::TableMissing { table, .. } => {
                format!("rename it back to `{table}`, or add `--from-start`, which creates and fills it again")
            }
            Self::ColumnMissing { column, .. } => {
                format!("rename it back to `{column}`, or add `--from-start`, which adds and fills it again")
            }
            Self::ColumnType { schema, table, column, expected, .. } => {
                use crate::names::quoted;
                let (schema, table, column) = (quoted(schema), quoted(table), quoted(column));
                format!(
                    "change it back: `ALTER TABLE {schema}.{table} ALTER COLUMN {column} TYPE {expected} USING {column}::{expected}`"
                )
            }
            Self::NotOurs(_) => "name another schema with `--schema`".to_owned(),
            Self::TooNew { .. } => "update this program, or name another schema with `--schema`".to_owned(),
            Self::NoRole(role) => format!("create it: `CREATE ROLE {} LOGIN`", crate::names::quoted(role)),
            Self::Refused(_) => "mend it in the database, then run it again: it goes on where it stopped".to_owned(),
        };
        Some(hint)
    }
}

/// Why a statement failed, by what is to be done next.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The connection or the server is gone, or busy: try again.
    Away(String),
    /// Another process writes the same crawl: try again.
    Busy,
    /// It would fail again.
    Lasting(SinkError),
}

impl<E: Into<SinkError>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Lasting(error.into())
    }
}

impl From<PostgresError> for Failed {
    fn from(error: PostgresError) -> Self {
        let Some(db) = error.as_db_error() else {
            if let Some(error) = tls_error(&error) {
                return Self::Lasting(SinkError::Untrusted(one_line(&error.to_string(), MESSAGE_CHARS_MAX)));
            }
            let words = words(&error);
            return if is_away(&error) { Self::Away(words) } else { Self::Lasting(SinkError::NotAdmitted(words)) };
        };
        let words = one_line(db.message(), MESSAGE_CHARS_MAX);
        let code = db.code();
        // The classes are those of PostgreSQL's documentation, appendix A.
        let error = match code.code().get(..2) {
            _ if is_passing(code) => return Self::Away(words),
            Some("53") => SinkError::Full(words),
            Some("28" | "3D") => SinkError::NotAdmitted(words),
            _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => SinkError::Forbidden(words),
            _ => SinkError::Refused(words),
        };
        Self::Lasting(error)
    }
}

/// Returns whether a server's error passes by itself.
fn is_passing(code: &SqlState) -> bool {
    const PASSING: [SqlState; 8] = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::IDLE_SESSION_TIMEOUT,
    ];
    code.code().starts_with("08") || PASSING.contains(code)
}

/// Returns whether the server could not be reached, or the connection ended. A certificate that is
/// not trusted, or a server without TLS, is not a matter of time.
fn is_away(error: &PostgresError) -> bool {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            return io.kind() != io::ErrorKind::InvalidData;
        }
        source = cause.source();
    }
    // Its kinds are private; that of a time limit has no cause.
    error.is_closed() || error.to_string().starts_with("timeout")
}

/// Returns what is wrong with the server's certificate; `None` for other errors.
fn tls_error(error: &PostgresError) -> Option<&rustls::Error> {
    let io = error.source()?.downcast_ref::<io::Error>()?;
    let tls = io.get_ref()?.downcast_ref::<rustls::Error>()?;
    matches!(tls, rustls::Error::InvalidCertificate(_)).then_some(tls)
}

/// Returns an error with its causes. The client puts no address and no password into them.
fn words(error: &PostgresError) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        source = cause.source();
    }
    one_line(&words, MESSAGE_CHARS_MAX)
}
