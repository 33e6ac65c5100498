//! The processes that worked on a data directory, each with its row.

use std::env::args_os;
use std::path::Path;

use dragline_ports::clock::{Clock as _, Rng as _};
use dragline_ports::system::{SystemClock, SystemRng};
use jiff::Timestamp;
use rusqlite::params;
use uuid::Uuid;

use crate::db::values::Time;
use crate::db::{Db, StoreError};

/// The row of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessRowId(i64);

/// Writes that this process begins its work.
pub(crate) fn begin(db: &Db, now: Timestamp) -> Result<ProcessRowId, StoreError> {
    let uuid = Uuid::from_u128(SystemRng.bits()).to_string();
    let sql = "INSERT INTO process (uuid, name, started_at) VALUES (?1, ?2, ?3)";
    db.execute(sql, params![uuid, name(), Time(now)])?;
    Ok(ProcessRowId(db.connection.last_insert_rowid()))
}

/// Writes that its work is over. One that is killed has no end.
pub(crate) fn end(db: &Db, ProcessRowId(id): ProcessRowId) {
    let now = SystemClock::new().now();
    if let Err(error) = db.execute("UPDATE process SET ended_at = ?1 WHERE id = ?2", params![Time(now), id]) {
        tracing::warn!(%error, "the end of this process is not in the database");
    }
}

/// Returns the program's name and its command. What follows these may be secret.
fn name() -> String {
    let mut words = args_os();
    let program = words.next().and_then(|path| Some(Path::new(&path).file_stem()?.to_string_lossy().into_owned()));
    let command = words.next().and_then(|word| word.into_string().ok());
    let command = command.filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
    program.into_iter().chain(command).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::LocalStore;
    use crate::open::DATABASE;

    #[test]
    fn a_process_has_its_row_and_its_end_once_it_ends() {
        let directory = tempfile::tempdir().unwrap();
        let rows = || -> Vec<(String, String, Option<String>)> {
            let connection = Connection::open(directory.path().join(DATABASE)).unwrap();
            let mut rows = connection.prepare("SELECT uuid, started_at, ended_at FROM process ORDER BY id").unwrap();
            let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
            rows.map(Result::unwrap).collect()
        };
        let store = LocalStore::open(directory.path(), Timestamp::UNIX_EPOCH).unwrap();
        let [(first, started_at, None)] = &rows()[..] else { panic!("it works: {:?}", rows()) };
        assert!(first.parse::<Uuid>().is_ok() && *started_at == "1970-01-01T00:00:00.000Z", "{first} {started_at}");
        drop(store);
        let store = LocalStore::open(directory.path(), Timestamp::UNIX_EPOCH).unwrap();
        let [(before, _, Some(_)), (second, _, None)] = &rows()[..] else { panic!("{:?}", rows()) };
        assert_eq!(before, first);
        assert_ne!(second, first);
        drop(store);
    }
}
