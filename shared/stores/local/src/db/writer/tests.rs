use std::sync::Arc;

use rusqlite::Connection;

use super::*;

/// A writer over a table with a unique column, `pages_max` of SQLite's pages at most.
fn writer(pages_max: u32) -> Arc<Writer> {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE t (a UNIQUE)").unwrap();
    connection.pragma_update(None, "max_page_count", pages_max).unwrap();
    let db = Db { connection, lease_grace: std::time::Duration::ZERO };
    Arc::new(Writer::start(db, tempfile::tempfile().unwrap(), |_| ()).unwrap())
}

async fn insert(writer: &Writer, value: String) -> PortResult<()> {
    writer.run("insert", "t".to_owned(), move |db| db.execute("INSERT INTO t VALUES (?1)", [value]).map(|_| ())).await
}

async fn count(writer: &Writer) -> i64 {
    let sql = "SELECT count(*) FROM t";
    let count = writer.run("count", "t".to_owned(), move |db| db.find(sql, [], |row| row.get(0))).await;
    count.unwrap().unwrap()
}

/// Sends values while the writer is held up, so that they wait together.
async fn insert_together(writer: &Arc<Writer>, values: Vec<String>) -> Vec<PortResult<()>> {
    let (go_on, held_up) = channel::<()>();
    let hold = tokio::spawn({
        let writer = Arc::clone(writer);
        async move { writer.run("hold", "t".to_owned(), move |_| Ok(held_up.recv().is_ok())).await }
    });
    tokio::task::yield_now().await;
    let waiting: Vec<_> = values
        .into_iter()
        .map(|value| {
            let writer = Arc::clone(writer);
            tokio::spawn(async move { insert(&writer, value).await })
        })
        .collect();
    tokio::task::yield_now().await;
    go_on.send(()).unwrap();
    // It may share the result of those that waited.
    let _ = hold.await.unwrap();
    let mut answers = Vec::new();
    for answer in waiting {
        answers.push(answer.await.unwrap());
    }
    answers
}

#[tokio::test]
async fn an_operation_that_fails_takes_no_other_with_it() {
    let writer = writer(1_000);
    let answers = insert_together(&writer, ["a", "b", "a", "c"].map(String::from).to_vec()).await;
    let kinds: Vec<_> = answers.iter().map(|answer| answer.as_ref().err().map(|e| e.kind)).collect();
    assert_eq!(kinds, [None, None, Some(PortErrorKind::Other), None], "the second `a` alone");
    assert_eq!(count(&writer).await, 3);
}

#[tokio::test]
async fn a_full_disk_is_reported_and_what_fits_is_stored() {
    let writer = writer(20);
    let answers = insert_together(&writer, vec!["small".to_owned(), "x".repeat(200_000), "other".to_owned()]).await;
    assert_eq!(answers[1].as_ref().unwrap_err().kind, PortErrorKind::Full);
    let stored = i64::try_from(answers.iter().filter(|answer| answer.is_ok()).count()).unwrap();
    assert_eq!(count(&writer).await, stored, "what was answered with success, and nothing else, is there");
    insert(&writer, "later".to_owned()).await.unwrap();
    assert_eq!(count(&writer).await, stored + 1);
}

#[tokio::test]
async fn a_writer_that_panicked_answers_with_an_error() {
    let writer = writer(1_000);
    let broken = writer.run("break", "t".to_owned(), |_| -> Result<(), StoreError> { panic!("on purpose") }).await;
    assert_eq!(broken.unwrap_err().operation, "break");
    let after = insert(&writer, "a".to_owned()).await.unwrap_err();
    assert_eq!((after.kind, after.operation), (PortErrorKind::Other, "insert"));
}
