//! What iterations count, in a data directory of an earlier format.

use dragline_domain::ids::Iteration;
use dragline_local::LocalStore;
use dragline_ports::frontier::Iterations as _;
use jiff::Timestamp;
use rusqlite::Connection;

use super::heard::Heard;
use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// Two pages, one that is missing, and more links than the budget allows.
fn site(asked: &Asked) -> Act {
    match asked.target.as_str() {
        "/" => page("<title>Start</title><a href=/a>a</a> <a href=/b>b</a> <a href=/c>c</a> <a href=/d>d</a>"),
        "/a" => page("<title>A</title>"),
        _ => answer(404, &[], ""),
    }
}

#[tokio::test]
async fn what_nobody_counted_so_far_is_counted_when_a_directory_is_upgraded() {
    let site = ScriptedSite::start(site).await;
    let data = tempfile::tempdir().unwrap();
    let yaml = format!("name: docs\nseeds: ['{}']\npoliteness: {{ delay: 0s }}\nbudget: {{ pages: 3 }}", site.url("/"));
    let definition = dragline_definition::parse(&yaml, "crawl.yaml").unwrap();
    Heard::default().crawl(data.path(), &definition).await;
    let progress = async || {
        let store = LocalStore::open(data.path(), Timestamp::UNIX_EPOCH).unwrap();
        store.frontier().progress(&definition.name, Iteration::FIRST).await.unwrap()
    };
    let counted = progress().await;
    assert!(counted.finished() > 2 && counted.crawler.pages == 3, "{counted:?}");
    let database = Connection::open(data.path().join("dragline.db")).unwrap();
    database.execute_batch("DROP TABLE counter; UPDATE iteration SET origins = 0; PRAGMA user_version = 14;").unwrap();
    drop(database);
    assert_eq!(progress().await, counted, "from the rows of the origins");
}
