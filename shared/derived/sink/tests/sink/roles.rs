//! Who may write, and who may read.

use dragline_sink::{SinkError, Target};

use crate::cluster::{Database, target, target_in};
use crate::restarts::write_to;
use crate::stored::Stored;

#[tokio::test]
async fn a_reader_reads_all_tables_now_and_later_and_writes_none() {
    let (database, mut stored) = (Database::create().await, Stored::with_pages(2));
    let reader = format!("reader_{}", database.name());
    let with_reader = Target { reader: Some(reader.parse().unwrap()), ..target_in(&database) };
    let error = write_to(&stored, &with_reader).await.unwrap_err();
    assert_eq!(error.to_string(), format!("there is no role `{reader}`"));
    database.run(&format!("CREATE ROLE {reader} LOGIN")).await;
    write_to(&stored, &with_reader).await.unwrap();
    stored.begin(2);
    stored.put_items(2, "/0", r#"[{"types":["Recipe"],"fields":{}}]"#);
    write_to(&stored, &target_in(&database)).await.unwrap();

    let (client, connection) =
        tokio_postgres::connect(&database.address(&reader), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    for table in ["page", "link", "log", "change", "iteration_progress", "item_recipe", "sink_progress"] {
        let sql = format!("SELECT count(*) FROM dragline.{table}");
        assert!(client.query_one(&sql, &[]).await.is_ok(), "{table}");
    }
    let refused = client.batch_execute("DELETE FROM dragline.page").await.unwrap_err();
    assert_eq!(refused.code(), Some(&tokio_postgres::error::SqlState::INSUFFICIENT_PRIVILEGE));
    database.run(&format!("DROP OWNED BY {reader}; DROP ROLE {reader}")).await;
}

#[tokio::test]
async fn a_role_without_rights_is_told_so_and_one_with_a_schema_needs_no_more() {
    let (database, stored) = (Database::create().await, Stored::with_pages(3));
    let writer = format!("writer_{}", database.name());
    database.run(&format!("CREATE ROLE {writer} LOGIN")).await;
    let as_writer = target(&database.address(&writer));
    let error = write_to(&stored, &as_writer).await.unwrap_err();
    assert!(matches!(error, SinkError::Forbidden(_)) && error.hint().is_some(), "{error}");
    database.run(&format!("CREATE SCHEMA dragline AUTHORIZATION {writer}")).await;
    write_to(&stored, &as_writer).await.unwrap();
    database.run(&format!("REVOKE INSERT ON dragline.page FROM {writer}")).await;
    let mut more = stored.clone();
    more.begin(2);
    more.put_page(2, "/more", "More");
    let error = write_to(&more, &as_writer).await.unwrap_err();
    assert!(matches!(&error, SinkError::Forbidden(why) if why.contains("page")), "{error}");
    database.run(&format!("GRANT INSERT ON dragline.page TO {writer}")).await;
    write_to(&more, &as_writer).await.unwrap();
    crate::cluster::assert_equal(&database, &more, "docs").await;
    database.run(&format!("DROP OWNED BY {writer}; DROP ROLE {writer}")).await;
}
