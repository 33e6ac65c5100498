//! Making the tables, and telling our files from others.

use std::hash::{DefaultHasher, Hash, Hasher};

use dragline_domain::document::LinkKind;
use dragline_domain::outcome::Outcome;
use rusqlite::{Connection, OptionalExtension, params};

use super::StoreError;
use crate::documents::links::DISPOSITIONS;

/// `PRAGMA application_id` of our files: "Drag".
pub(crate) const APPLICATION_ID: i32 = 0x4472_6167;

/// The format of the tables, in `PRAGMA user_version`. Grows with each change that an older program
/// could not read. Files from before the first release have 2 to 15, which no release may reuse.
pub(crate) const FORMAT: i32 = 1;

const VIEWS: &str = include_str!("views.sql");

/// The setting that says which names and views are in the file.
const MADE: &str = "names_and_views";

/// What a database file is to this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileState {
    /// It is empty.
    Empty,
    /// Ours, of this format.
    Ours,
    /// Ours, of a format that this program cannot read.
    OtherFormat(i32),
    /// Some other program's.
    Foreign,
}

/// Finds out what a file is. Changes nothing in it.
pub(crate) fn inspect(connection: &Connection) -> rusqlite::Result<FileState> {
    let number = |pragma: &str| connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i32>(0));
    let (application_id, format) = (number("application_id")?, number("user_version")?);
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application_id, format, tables) {
        (0, 0, 0) => FileState::Empty,
        (APPLICATION_ID, FORMAT, _) => FileState::Ours,
        (APPLICATION_ID, other, _) => FileState::OtherFormat(other),
        _ => FileState::Foreign,
    })
}

/// Makes the tables of a new file, and remakes names and views where they are not this program's.
///
/// The file is empty, or of this format.
pub(crate) fn prepare(connection: &mut Connection, state: FileState) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    if state == FileState::Empty {
        transaction.execute_batch(include_str!("tables.sql"))?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    // Files of earlier programs may lack it.
    transaction.execute_batch(include_str!("processes.sql"))?;
    add_missing_columns(&transaction)?;
    let made = names_and_views();
    if made_in(&transaction)?.as_ref() != Some(&made) {
        put_names(&transaction)?;
        make_views(&transaction)?;
        transaction.execute("INSERT OR REPLACE INTO setting (name, value) VALUES (?1, ?2)", [MADE, &made])?;
    }
    transaction.commit()?;
    Ok(())
}

/// Adds the columns that files of earlier programs lack.
fn add_missing_columns(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "SELECT count(*) FROM pragma_table_info('visit') WHERE name = 'page_requests'";
    let is_there = connection.query_row(sql, [], |row| row.get::<_, bool>(0))?;
    if !is_there {
        connection.execute_batch("ALTER TABLE visit ADD COLUMN page_requests TEXT")?;
    }
    Ok(())
}

/// Returns a fingerprint of this program's names and views.
fn names_and_views() -> String {
    let mut hasher = DefaultHasher::new();
    VIEWS.hash(&mut hasher);
    Outcome::ALL.iter().for_each(|known| (known.code(), known.name(), known.class().name()).hash(&mut hasher));
    LinkKind::ALL.iter().for_each(|known| (known.code(), known.name()).hash(&mut hasher));
    DISPOSITIONS.iter().for_each(|known| (known.code(), known.name()).hash(&mut hasher));
    format!("{:016x}", hasher.finish())
}

/// Returns the fingerprint of those in the file, as recorded when they were made.
fn made_in(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT value FROM setting WHERE name = ?1", [MADE], |row| row.get(0)).optional()
}

/// Writes the numbers that columns hold with their names, for joins by hand.
fn put_names(connection: &Connection) -> Result<(), StoreError> {
    put_outcomes(connection)?;
    let mut kind = connection.prepare("INSERT OR REPLACE INTO link_kind (code, name) VALUES (?1, ?2)")?;
    for known in LinkKind::ALL {
        kind.execute(params![known.code(), known.name()])?;
    }
    let mut disposition = connection.prepare("INSERT OR REPLACE INTO link_disposition (code, name) VALUES (?1, ?2)")?;
    for known in DISPOSITIONS {
        disposition.execute(params![known.code(), known.name()])?;
    }
    Ok(())
}

fn put_outcomes(connection: &Connection) -> Result<(), StoreError> {
    let mut outcome = connection.prepare("INSERT OR REPLACE INTO outcome (code, name, class) VALUES (?1, ?2, ?3)")?;
    for known in Outcome::ALL {
        outcome.execute(params![known.code(), known.name(), known.class().name()])?;
    }
    Ok(())
}

fn make_views(connection: &Connection) -> Result<(), StoreError> {
    let views: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'view'")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for view in views {
        connection.execute_batch(&format!("DROP VIEW \"{}\"", view.replace('"', "\"\"")))?;
    }
    Ok(connection.execute_batch(VIEWS)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_header() {
        let with = |sql: &str| {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(sql).unwrap();
            inspect(&connection).unwrap()
        };
        let ours = format!("PRAGMA application_id = {APPLICATION_ID};");
        for (sql, expected, why) in [
            (String::new(), FileState::Empty, "just made"),
            ("CREATE TABLE t (a);".to_owned(), FileState::Foreign, "tables, and nobody's mark"),
            ("PRAGMA application_id = 7;".to_owned(), FileState::Foreign, "somebody else's mark"),
            ("PRAGMA user_version = 3;".to_owned(), FileState::Foreign, "a version, and nobody's mark"),
            (format!("{ours} PRAGMA user_version = {FORMAT};"), FileState::Ours, "this format"),
            (ours.clone(), FileState::OtherFormat(0), "a mark, and no format"),
            (format!("{ours} PRAGMA user_version = 15;"), FileState::OtherFormat(15), "from before the first release"),
            (format!("{ours} PRAGMA user_version = 16;"), FileState::OtherFormat(16), "a later one"),
        ] {
            assert_eq!(with(&sql), expected, "{why}");
        }
    }

    #[test]
    fn names_and_views_are_remade_where_another_program_made_them() {
        let mut connection = Connection::open_in_memory().unwrap();
        prepare(&mut connection, FileState::Empty).unwrap();
        let (made, rows) = (schema(&connection), connection.total_changes());
        prepare(&mut connection, FileState::Ours).unwrap();
        assert_eq!(connection.total_changes(), rows, "nothing is written where nothing changed");
        let others = "DROP VIEW failed; CREATE VIEW theirs AS SELECT 1; DELETE FROM outcome;
                      UPDATE setting SET value = 'another' WHERE name = 'names_and_views';";
        connection.execute_batch(others).unwrap();
        prepare(&mut connection, FileState::Ours).unwrap();
        assert_eq!(schema(&connection), made);
        let outcomes: usize = connection.query_row("SELECT count(*) FROM outcome", [], |row| row.get(0)).unwrap();
        assert_eq!(outcomes, Outcome::ALL.len());
    }

    fn schema(connection: &Connection) -> Vec<String> {
        let mut statement = connection.prepare("SELECT sql FROM sqlite_schema ORDER BY name").unwrap();
        let rows = statement.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
        rows.map(|row| row.unwrap().unwrap_or_default()).collect()
    }

    #[test]
    fn preparing_again_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        prepare(&mut connection, FileState::Empty).unwrap();
        let first = schema(&connection);
        assert_eq!(inspect(&connection).unwrap(), FileState::Ours);
        prepare(&mut connection, FileState::Ours).unwrap();
        assert_eq!(schema(&connection), first);
    }
}
