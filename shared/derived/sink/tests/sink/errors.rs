//! What people or the machine do to a database, what the sink says, and that it goes on once it is
//! mended.

use dragline_sink::{SinkError, Start, Target};
use dragline_testkit::hostile::Authority;

use crate::cluster::{Database, assert_equal, target, target_in};
use crate::restarts::write_to;
use crate::stored::Stored;

/// Adds a page, so that there is something to write.
fn more(stored: &mut Stored, n: u32) {
    stored.begin(n);
    stored.put_page(n, &format!("/more/{n}"), "More");
}

#[tokio::test]
async fn a_changed_table_is_reported_and_mended() {
    let (database, mut stored) = (Database::create().await, Stored::with_pages(4));
    write_to(&stored, &target_in(&database)).await.unwrap();
    for (n, (harm, message, hint, mend)) in (2..).zip([
        (
            "ALTER TABLE dragline.page RENAME TO pages",
            "there is no table `dragline.page`, which was there before",
            "rename it back to `page`, or add `--from-start`, which creates and fills it again",
            "ALTER TABLE dragline.pages RENAME TO page",
        ),
        (
            "ALTER TABLE dragline.page RENAME COLUMN title TO headline",
            "the table `dragline.page` has no column `title`, which was there before",
            "rename it back to `title`, or add `--from-start`, which adds and fills it again",
            "ALTER TABLE dragline.page RENAME COLUMN headline TO title",
        ),
        (
            "ALTER TABLE dragline.link ALTER COLUMN iteration TYPE integer",
            "the column `iteration` of `dragline.link` has the type integer instead of bigint",
            "change it back: `ALTER TABLE \"dragline\".\"link\" ALTER COLUMN \"iteration\" TYPE bigint USING \"iteration\"::bigint`",
            "ALTER TABLE \"dragline\".\"link\" ALTER COLUMN \"iteration\" TYPE bigint USING \"iteration\"::bigint",
        ),
        (
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'could not extend file' USING ERRCODE = '53100'; END $$;
             CREATE TRIGGER full_disk BEFORE INSERT ON dragline.log FOR EACH ROW EXECUTE FUNCTION full_disk()",
            "the database has no space left: could not extend file",
            "make space, then run it again: it goes on where it stopped",
            "DROP TRIGGER full_disk ON dragline.log",
        ),
        (
            "ALTER TABLE dragline.page ADD CONSTRAINT short CHECK (length(url) < 5) NOT VALID",
            "the database refused it: new row for relation \"page\" violates check constraint \"short\"",
            "mend it in the database, then run it again: it goes on where it stopped",
            "ALTER TABLE dragline.page DROP CONSTRAINT short",
        ),
        (
            "UPDATE dragline.sink_version SET version = 99",
            "the schema `dragline` is of version 99, which this program does not know",
            "update this program, or name another schema with `--schema`",
            "UPDATE dragline.sink_version SET version = 1",
        ),
    ]) {
        more(&mut stored, n);
        database.run(harm).await;
        let error = write_to(&stored, &target_in(&database)).await.unwrap_err();
        assert_eq!((error.to_string().as_str(), error.hint().as_deref()), (message, Some(hint)));
        database.run(mend).await;
        write_to(&stored, &target_in(&database)).await.unwrap();
        assert_equal(&database, &stored, "docs").await;
    }
}

#[tokio::test]
async fn what_was_dropped_is_made_again_from_the_start() {
    let (database, stored) = (Database::create().await, Stored::with_pages(4));
    let mut other = Stored::with_pages(2);
    other.crawl = "other".parse().unwrap();
    other.pages.clear();
    other.put_page(1, "/x", "X");
    for crawl in [&stored, &other] {
        write_to(crawl, &target_in(&database)).await.unwrap();
    }
    database
        .run(
            "ALTER TABLE dragline.page DROP COLUMN title, DROP COLUMN text; DROP TABLE dragline.link; DROP TABLE dragline.item_product;
             DROP VIEW dragline.change",
        )
        .await;
    let from_start = Target { start: Start::FromStart, ..target_in(&database) };
    write_to(&stored, &from_start).await.unwrap();
    assert_equal(&database, &stored, "docs").await;
    write_to(&other, &target_in(&database)).await.unwrap();
    let titles = database.value("SELECT title FROM dragline.page WHERE crawl = 'other'").await;
    assert_eq!(titles.as_deref(), Some("X"), "other crawls' rows are filled again by their next run");
    assert!(database.value("SELECT count(*) FROM dragline.change").await.is_some());
}

/// A table that is harmed while rows are written is reported as well as one that was before.
#[tokio::test]
async fn a_table_that_is_renamed_while_it_is_written_is_named() {
    let (database, stored) = (Database::create().await, Stored::with_pages(9));
    let client = database.client().await;
    let begun = tokio::sync::Notify::new();
    let watch = |event| {
        if matches!(event, dragline_sink::Event::Committed { what: "pages", .. }) {
            begun.notify_one();
        }
    };
    let rename = async {
        begun.notified().await;
        client.batch_execute("ALTER TABLE dragline.log RENAME TO logbook").await.unwrap();
    };
    let target = target_in(&database);
    let written = async {
        let written = dragline_sink::write(&stored, &stored.crawl, &target, &watch).await;
        begun.notify_one();
        written
    };
    let (written, ()) = tokio::join!(written, rename);
    let error = written.unwrap_err();
    assert!(matches!(&error, SinkError::TableMissing { table, .. } if table == "log"), "{error}");
    client.batch_execute("ALTER TABLE dragline.logbook RENAME TO log").await.unwrap();
    write_to(&stored, &target_in(&database)).await.unwrap();
    assert_equal(&database, &stored, "docs").await;
}

#[tokio::test]
async fn tables_of_others_are_not_touched() {
    let (database, stored) = (Database::create().await, Stored::with_pages(1));
    database.run("CREATE SCHEMA dragline; CREATE TABLE dragline.page (mine text)").await;
    let error = write_to(&stored, &target_in(&database)).await.unwrap_err();
    assert_eq!(error.to_string(), "the schema `dragline` has tables that Dragline did not create");
    assert_eq!(
        database
            .value("SELECT count(*) FROM information_schema.tables WHERE table_schema = 'dragline'")
            .await
            .as_deref(),
        Some("1")
    );
}

#[tokio::test]
async fn a_server_that_does_not_admit_is_no_server_that_is_away() {
    let (database, stored) = (Database::create().await, Stored::with_pages(1));
    let address = database.address("postgres");
    for (address, message) in [
        (database.address("nobody"), "the database refused the connection: role \"nobody\" does not exist"),
        (
            address.replace(&format!("dbname={}", database.name()), "dbname=nothing"),
            "the database refused the connection: database \"nothing\" does not exist",
        ),
    ] {
        // It would wait for an hour if it took the server for away.
        let patient = Target { patience: std::time::Duration::from_secs(3_600), ..target(&address) };
        let error = write_to(&stored, &patient).await.unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let mut nothing = Stored::with_pages(0);
    nothing.iterations.clear();
    let error = write_to(&nothing, &target_in(&database)).await.unwrap_err();
    assert_eq!(error.to_string(), "the crawl has not begun");
}

#[tokio::test]
async fn an_authority_that_the_address_brings_is_trusted_and_no_other() {
    let (database, stored) = (Database::create().await, Stored::with_pages(1));
    let url = database.tls_url("localhost");
    let (own, other) = (
        std::fs::read_to_string(database.authority()).unwrap(),
        Authority::named("Authority of others").root_pem().to_owned(),
    );
    for (authority, is_trusted, why) in
        [("", false, "the machine does not know it"), (&*other, false, "another one"), (&*own, true, "the right one")]
    {
        let written = write_to(&stored, &target(&format!("{url}?sslmode=require\n{authority}"))).await;
        match written {
            Ok(_) => assert!(is_trusted, "{why}"),
            Err(SinkError::Untrusted(_)) => assert!(!is_trusted, "{why}"),
            Err(error) => panic!("{why}: {error}"),
        }
    }
}
