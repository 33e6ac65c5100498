//! Making the tables, and telling our files from others.

use std::hash::{DefaultHasher, Hash, Hasher};

use dragline_domain::document::LinkKind;
use dragline_domain::outcome::Outcome;
use rusqlite::{Connection, OptionalExtension, params};

use super::StoreError;
use super::counts::count_rows;
use crate::documents::links::DISPOSITIONS;

/// `PRAGMA application_id` of our files: "Drag".
pub(crate) const APPLICATION_ID: i32 = 0x4472_6167;

/// The format of the tables, in `PRAGMA user_version`. Grows with each change that an older program could not read.
pub(crate) const FORMAT: i32 = 15;

/// The first format in which iterations count while their rows change.
const COUNTED: i32 = 15;

const VIEWS: &str = include_str!("views.sql");

/// The setting that says which names and views are in the file.
const MADE: &str = "names_and_views";

/// What a database file is to this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileState {
    /// It is empty.
    Empty,
    /// Ours, of this format or an older one.
    Ours(i32),
    /// Ours, of a format that only a newer program knows.
    Newer(i32),
    /// Some other program's.
    Foreign,
}

/// Finds out what a file is.
pub(crate) fn inspect(connection: &Connection) -> rusqlite::Result<FileState> {
    let number = |pragma: &str| connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i32>(0));
    let (application_id, format) = (number("application_id")?, number("user_version")?);
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application_id, format, tables) {
        (0, 0, 0) => FileState::Empty,
        (APPLICATION_ID, newer, _) if newer > FORMAT => FileState::Newer(newer),
        (APPLICATION_ID, format, _) => FileState::Ours(format),
        _ => FileState::Foreign,
    })
}

/// Makes the tables of an empty file, or upgrades those of an older format, and remakes names and views where they are not this program's.
pub(crate) fn prepare(connection: &mut Connection, found: FileState) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    if found == FileState::Empty {
        transaction.execute_batch(include_str!("tables.sql"))?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    if let FileState::Ours(format) = found {
        let steps = [
            (1, include_str!("from_1.sql")),
            (2, include_str!("from_2.sql")),
            (3, include_str!("from_3.sql")),
            (4, include_str!("from_4.sql")),
            (5, include_str!("from_5.sql")),
            (6, include_str!("from_6.sql")),
            (7, include_str!("from_7.sql")),
            (8, include_str!("from_8.sql")),
            (9, include_str!("from_9.sql")),
            (10, include_str!("from_10.sql")),
            (11, include_str!("from_11.sql")),
            (12, include_str!("from_12.sql")),
            (13, include_str!("from_13.sql")),
            (14, include_str!("from_14.sql")),
        ];
        // A view of a table that a step removes would keep SQLite from changing others.
        if format < FORMAT {
            drop_views(&transaction)?;
        }
        steps.iter().filter(|(from, _)| *from >= format).try_for_each(|(_, step)| transaction.execute_batch(step))?;
        if format < COUNTED {
            count_rows(&transaction)?;
        }
    }
    let made = names_and_views();
    if found != FileState::Ours(FORMAT) || made_in(&transaction)?.as_ref() != Some(&made) {
        transaction.pragma_update(None, "user_version", FORMAT)?;
        put_names(&transaction)?;
        make_views(&transaction)?;
        transaction.execute("INSERT OR REPLACE INTO setting (name, value) VALUES (?1, ?2)", [MADE, &made])?;
    }
    transaction.commit()?;
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
    drop_views(connection)?;
    Ok(connection.execute_batch(VIEWS)?)
}

fn drop_views(connection: &Connection) -> Result<(), StoreError> {
    let views: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'view'")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for view in views {
        connection.execute_batch(&format!("DROP VIEW \"{}\"", view.replace('"', "\"\"")))?;
    }
    Ok(())
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
            (format!("{ours} PRAGMA user_version = 1;"), FileState::Ours(1), "an earlier format"),
            (format!("{ours} PRAGMA user_version = {FORMAT};"), FileState::Ours(FORMAT), "this format"),
            (format!("{ours} PRAGMA user_version = {};", FORMAT + 1), FileState::Newer(FORMAT + 1), "a later one"),
        ] {
            assert_eq!(with(&sql), expected, "{why}");
        }
    }

    #[test]
    fn names_and_views_are_remade_where_another_program_made_them() {
        let mut connection = Connection::open_in_memory().unwrap();
        prepare(&mut connection, FileState::Empty).unwrap();
        let (made, rows) = (schema(&connection), connection.total_changes());
        prepare(&mut connection, FileState::Ours(FORMAT)).unwrap();
        assert_eq!(connection.total_changes(), rows, "nothing is written where nothing changed");
        let others = "DROP VIEW failed; CREATE VIEW theirs AS SELECT 1; DELETE FROM outcome;
                      UPDATE setting SET value = 'another' WHERE name = 'names_and_views';";
        connection.execute_batch(others).unwrap();
        prepare(&mut connection, FileState::Ours(FORMAT)).unwrap();
        assert_eq!(schema(&connection), made);
        let outcomes: usize = connection.query_row("SELECT count(*) FROM outcome", [], |row| row.get(0)).unwrap();
        assert_eq!(outcomes, Outcome::ALL.len());
    }

    fn schema(connection: &Connection) -> Vec<String> {
        let mut statement = connection.prepare("SELECT sql FROM sqlite_schema ORDER BY name").unwrap();
        let rows = statement.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
        rows.map(|row| row.unwrap().unwrap_or_default()).collect()
    }

    /// Each column with its type, and each index with its columns, in no particular order.
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
        let mut new = Connection::open_in_memory().unwrap();
        prepare(&mut new, FileState::Empty).unwrap();
        // The tables of each format are those of the first with the steps up to it.
        let steps = [
            include_str!("from_1.sql"),
            include_str!("from_2.sql"),
            include_str!("from_3.sql"),
            include_str!("from_4.sql"),
            include_str!("from_5.sql"),
            include_str!("from_6.sql"),
            include_str!("from_7.sql"),
            include_str!("from_8.sql"),
            include_str!("from_9.sql"),
            include_str!("from_10.sql"),
            include_str!("from_11.sql"),
            include_str!("from_12.sql"),
            include_str!("from_13.sql"),
            include_str!("from_14.sql"),
        ];
        assert_eq!(i32::try_from(steps.len()).unwrap() + 1, FORMAT);
        for format in 1..FORMAT {
            let mut old = Connection::open_in_memory().unwrap();
            old.execute_batch(include_str!("tables_1.sql")).unwrap();
            for step in &steps[..usize::try_from(format).unwrap() - 1] {
                old.execute_batch(step).unwrap();
            }
            prepare(&mut old, FileState::Ours(format)).unwrap();
            assert_eq!(parts(&old), parts(&new), "from format {format}");
        }
        assert!(parts(&new).len() > 100, "what was compared: {:#?}", parts(&new));
    }

    /// The visits of a URL: outcome, how a body is stored, whether it is a page.
    type Visits = &'static [(i16, &'static str, bool)];

    #[test]
    fn what_did_not_change_is_found_in_a_file_of_format_3() {
        let mut connection = Connection::open_in_memory().unwrap();
        let tables_3 = concat!(include_str!("tables_1.sql"), include_str!("from_1.sql"), include_str!("from_2.sql"));
        connection.execute_batch(tables_3).unwrap();
        put_outcomes(&connection).unwrap();
        let common = "INSERT INTO crawl (id, name) VALUES (1, 'c'); INSERT INTO agent VALUES (1, 'a');
                      INSERT INTO origin (id, crawl_id, origin) VALUES (1, 1, 'https://a.example');";
        connection.execute_batch(common).unwrap();
        // Each URL's visits, iteration by iteration, and the one whose body the last one has.
        let cases: [(&str, Visits, Option<u32>, &str); 6] = [
            ("/once", &[(20, "response", true), (34, "revisit", false)], Some(1), "the visit before"),
            (
                "/failed",
                &[(20, "response", true), (53, "response", false), (34, "revisit", false)],
                Some(1),
                "no page between",
            ),
            (
                "/twice",
                &[(20, "response", true), (20, "response", true), (34, "revisit", false)],
                Some(2),
                "the newer one",
            ),
            ("/hidden", &[(171, "response", true), (34, "revisit", false)], Some(1), "a page that asks for noindex"),
            (
                "/refused",
                &[(20, "response", true), (171, "response", false), (34, "revisit", false)],
                Some(1),
                "a 403 is none",
            ),
            ("/alone", &[(34, "revisit", false)], None, "nothing is known of it"),
        ];
        for (case, (path, visits, ..)) in (1..).zip(&cases) {
            for (iteration, (outcome, record, is_page)) in (1..).zip(*visits) {
                let id = case * 100 + iteration;
                let visit = "INSERT INTO crawl_log (id, crawl_type, agent_id, origin_id, iteration, url, depth, redirects, outcome, is_final, tries, at)
                             VALUES (?1, 'queued', 1, 1, ?2, 'https://a.example' || ?3, 0, 0, ?4, 1, 1, '2026-11-21T10:10:35.123Z')";
                connection.execute(visit, params![id, iteration, path, outcome]).unwrap();
                let file = "INSERT INTO file (id, record, offset, length, body_bytes, payload_sha1) VALUES (?1, ?2, 0, 1, 1, '')";
                connection.execute(file, params![id, record]).unwrap();
                if *is_page {
                    let document = "INSERT INTO document (id, url, outcome, state) VALUES (?1, ?2, ?3, 'processed')";
                    connection.execute(document, params![id, path, outcome]).unwrap();
                    let page =
                        "INSERT INTO file_text (id, noindex, nofollow, cut, text) VALUES (?1, 0, 0, 'whole', '')";
                    connection.execute(page, [id]).unwrap();
                }
            }
            let known = "INSERT INTO crawl_candidate (origin_id, path_query, queued_in, claimed_by, first_seen, depth, capture_outcome, etag)
                         VALUES (1, ?1, 1, '', '2026-11-21T10:10:35.123Z', 0, ?2, 'e')";
            connection.execute(known, params![path, if *path == "/once" { 180 } else { 20 }]).unwrap();
        }
        prepare(&mut connection, FileState::Ours(3)).unwrap();
        for (case, (path, visits, expected, why)) in (1..).zip(cases) {
            let last = case * 100 + u32::try_from(visits.len()).unwrap();
            let body_of = connection.query_row("SELECT body_of FROM visit WHERE id = ?1", [last], |row| row.get(0));
            assert_eq!(body_of, Ok(expected.map(|iteration| case * 100 + iteration)), "{path}: {why}");
        }
        let sql = "SELECT count(*) FROM known_url WHERE etag IS NULL AND capture_outcome IS NULL";
        let forgotten: u32 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(forgotten, 1, "the text of what called another URL canonical was not kept: it is fetched whole");
    }

    /// Each row of a query, value by value.
    fn rows(connection: &Connection, sql: &str) -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let read = |row: &rusqlite::Row<'_>| {
            let values: Result<Vec<_>, _> = (0..columns).map(|n| row.get::<_, rusqlite::types::Value>(n)).collect();
            values.map(|values| format!("{values:?}"))
        };
        statement.query_map([], read).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn what_a_file_of_format_7_shows_stays() {
        let mut connection = Connection::open_in_memory().unwrap();
        let tables = concat!(
            include_str!("tables_1.sql"),
            include_str!("from_1.sql"),
            include_str!("from_2.sql"),
            include_str!("from_3.sql"),
            include_str!("from_4.sql"),
            include_str!("from_5.sql"),
            include_str!("from_6.sql")
        );
        connection.execute_batch(tables).unwrap();
        put_outcomes(&connection).unwrap();
        connection.execute_batch(include_str!("rows_7.sql")).unwrap();
        let shown = [
            "SELECT id, crawl_uuid, crawl_type, agent_id, origin_id, iteration, url, depth, via, redirects, robotstxt_approved, outcome, is_final,
                    tries, at, detail, body_of, change, changed_parts FROM crawl_log ORDER BY id",
            "SELECT id, sent_at, duration_ms, first_byte_ms, status, remote FROM request ORDER BY id",
            "SELECT id, record, offset, length, content_type, body_bytes, decoded_bytes, payload_sha1, decoded_sha1, etag, last_modified, truncated
             FROM file ORDER BY id",
            "SELECT id, to_url, is_permanent, information_source FROM redirect ORDER BY id",
            "SELECT id, url, outcome, state, detail, body_id FROM document ORDER BY id",
            "SELECT id, title, description, language, charset, canonical, noindex, nofollow, cut, text, made_by FROM file_text ORDER BY id",
            "SELECT id, links FROM page_link ORDER BY id",
            "SELECT origin_id, path_query, queued_in, claimed_by, first_seen, depth, via, due_at, interval_ms, last_outcome, last_at,
                    last_iteration, last_turn, last_segment, last_contentful_outcome, last_contentful_at, capture_outcome, captured_at, etag,
                    last_modified, payload_sha1, decoded_sha1, read_by, document_id, document_outcome, standing, links_by, links_depth, checked_at,
                    changed_at, away, away_since, blocked_by FROM crawl_candidate ORDER BY origin_id, path_query",
        ];
        let before: Vec<_> = shown.iter().map(|sql| rows(&connection, sql)).collect();
        prepare(&mut connection, FileState::Ours(7)).unwrap();
        for (sql, before) in shown.iter().zip(before) {
            assert!(!before.is_empty(), "{sql}");
            assert_eq!(rows(&connection, sql), before, "{sql}");
        }
        assert_eq!(rows(&connection, "PRAGMA foreign_key_check"), Vec::<String>::new());
    }

    #[test]
    fn texts_are_not_compared_by_the_fingerprints_of_format_11() {
        let mut connection = Connection::open_in_memory().unwrap();
        prepare(&mut connection, FileState::Empty).unwrap();
        // What later formats add.
        connection
            .execute_batch("DROP INDEX origin_joined; ALTER TABLE iteration DROP COLUMN origins; ALTER TABLE iteration DROP COLUMN joined_before; DROP TABLE counter;")
            .unwrap();
        let rows_11 = "INSERT INTO crawl (id, name) VALUES (1, 'c'); INSERT INTO agent VALUES (1, 'a');
                       INSERT INTO origin (id, crawl_id, origin) VALUES (1, 1, 'https://a.example');
                       INSERT INTO visit (id, crawl_type, origin_id, iteration, agent_id, url, depth, redirects, outcome, is_final, tries, at)
                       VALUES (1, 'queued', 1, 1, 1, 'https://a.example/', 0, 0, 20, 1, 1, 1);
                       INSERT INTO document (id, url, outcome, state, words, simhash) VALUES (1, '/', 20, 'processed', 40, -7);
                       INSERT INTO known_url (origin_id, path_query, queued_in, claimed_by, first_seen, depth, named_by) VALUES (1, '/', 1, '', 1, 0, 3);";
        connection.execute_batch(rows_11).unwrap();
        prepare(&mut connection, FileState::Ours(11)).unwrap();
        assert_eq!(rows(&connection, "SELECT words, simhash FROM document"), ["[Null, Null]"]);
        assert_eq!(rows(&connection, "SELECT named_by FROM known_url"), ["[Integer(0)]"]);
    }

    #[test]
    fn preparing_again_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        prepare(&mut connection, FileState::Empty).unwrap();
        let first = schema(&connection);
        assert_eq!(inspect(&connection).unwrap(), FileState::Ours(FORMAT));
        prepare(&mut connection, FileState::Ours(FORMAT)).unwrap();
        assert_eq!(schema(&connection), first);
    }
}
