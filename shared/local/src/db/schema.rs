//! Making the tables, and telling our files from others'.

use dragline_domain::document::LinkKind;
use dragline_domain::outcome::Outcome;
use rusqlite::{Connection, params};

use super::StoreError;
use crate::documents::links::FATES;

/// `PRAGMA application_id` of our files: "Drag".
pub(crate) const APPLICATION_ID: i32 = 0x4472_6167;

/// The format of the tables, in `PRAGMA user_version`. Grows with each change that an older program could not read.
pub(crate) const FORMAT: i32 = 3;

/// What a database file is to this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing is in it.
    Empty,
    /// Ours, of this format, which may be an older one.
    Ours(i32),
    /// Ours, of a format that only a newer program knows.
    Newer(i32),
    /// Some other program's.
    Foreign,
}

/// Looks what a file is.
pub(crate) fn inspect(connection: &Connection) -> rusqlite::Result<Found> {
    let number = |pragma: &str| connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i32>(0));
    let (application_id, format) = (number("application_id")?, number("user_version")?);
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application_id, format, tables) {
        (0, 0, 0) => Found::Empty,
        (APPLICATION_ID, newer, _) if newer > FORMAT => Found::Newer(newer),
        (APPLICATION_ID, format, _) => Found::Ours(format),
        _ => Found::Foreign,
    })
}

/// Makes the tables of an empty file, or brings those of an older format up to this one, and makes the views anew.
pub(crate) fn prepare(connection: &mut Connection, found: Found) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    if found == Found::Empty {
        transaction.execute_batch(include_str!("tables.sql"))?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    if let Found::Ours(format) = found {
        let steps = [(1, include_str!("from_1.sql")), (2, include_str!("from_2.sql"))];
        steps.iter().filter(|(from, _)| *from >= format).try_for_each(|(_, step)| transaction.execute_batch(step))?;
    }
    transaction.pragma_update(None, "user_version", FORMAT)?;
    put_names(&transaction)?;
    make_views(&transaction)?;
    transaction.commit()?;
    Ok(())
}

/// The numbers that columns hold, with their names, for joins by hand.
fn put_names(connection: &Connection) -> Result<(), StoreError> {
    let mut outcome = connection.prepare("INSERT OR REPLACE INTO outcome (code, name, class) VALUES (?1, ?2, ?3)")?;
    for known in Outcome::ALL {
        outcome.execute(params![known.code(), known.name(), known.class().name()])?;
    }
    let mut kind = connection.prepare("INSERT OR REPLACE INTO link_kind (code, name) VALUES (?1, ?2)")?;
    for known in LinkKind::ALL {
        kind.execute(params![known.code(), known.name()])?;
    }
    let mut fate = connection.prepare("INSERT OR REPLACE INTO link_fate (code, name) VALUES (?1, ?2)")?;
    for known in FATES {
        fate.execute(params![known.code(), known.name()])?;
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
    Ok(connection.execute_batch(include_str!("views.sql"))?)
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
            (String::new(), Found::Empty, "just made"),
            ("CREATE TABLE t (a);".to_owned(), Found::Foreign, "tables, and nobody's mark"),
            ("PRAGMA application_id = 7;".to_owned(), Found::Foreign, "somebody else's mark"),
            ("PRAGMA user_version = 3;".to_owned(), Found::Foreign, "a version, and nobody's mark"),
            (format!("{ours} PRAGMA user_version = 1;"), Found::Ours(1), "an earlier format"),
            (format!("{ours} PRAGMA user_version = 3;"), Found::Ours(3), "this format"),
            (format!("{ours} PRAGMA user_version = 4;"), Found::Newer(4), "a later one"),
        ] {
            assert_eq!(with(&sql), expected, "{why}");
        }
    }

    fn schema(connection: &Connection) -> Vec<String> {
        let mut statement = connection.prepare("SELECT sql FROM sqlite_schema ORDER BY name").unwrap();
        let rows = statement.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
        rows.map(|row| row.unwrap().unwrap_or_default()).collect()
    }

    /// Each column with its type, and each index with its columns, in no order of their making.
    fn parts(connection: &Connection) -> Vec<String> {
        let sql =
            "SELECT t.name || '.' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' || c.pk || ' ' || c.hidden
                   FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE t.type = 'table'
                   UNION ALL SELECT i.name || ' (' || c.name || ')'
                   FROM sqlite_schema i, pragma_index_info(i.name) c WHERE i.type = 'index' ORDER BY 1";
        connection.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn tables_of_earlier_formats_are_brought_up_to_this_one() {
        let [mut new, mut first, mut second] = [(); 3].map(|()| Connection::open_in_memory().unwrap());
        prepare(&mut new, Found::Empty).unwrap();
        first.execute_batch(include_str!("tables_1.sql")).unwrap();
        prepare(&mut first, Found::Ours(1)).unwrap();
        assert_eq!(parts(&first), parts(&new));
        second.execute_batch(concat!(include_str!("tables_1.sql"), include_str!("from_1.sql"))).unwrap();
        prepare(&mut second, Found::Ours(2)).unwrap();
        assert_eq!(parts(&second), parts(&new));
        assert!(parts(&new).len() > 100, "what was compared: {:#?}", parts(&new));
    }

    #[test]
    fn preparing_again_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        prepare(&mut connection, Found::Empty).unwrap();
        let first = schema(&connection);
        assert_eq!(inspect(&connection).unwrap(), Found::Ours(FORMAT));
        prepare(&mut connection, Found::Ours(FORMAT)).unwrap();
        assert_eq!(schema(&connection), first);
    }
}
