//! How rows are stored, as far as the port does not show it.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use dragline_aws::Table;
use dragline_aws_tests::{Fresh, Story, at, clients};
use dragline_domain::capture::SegmentLog;
use dragline_domain::ids::Iteration;
use dragline_formats::robots::{RobotsFetch, RobotsRecord};
use dragline_ports::archive::Archive;
use dragline_ports::error::PortErrorKind;
use dragline_ports::frontier::{CrawlLog, Iterations as _, KeptRobots, Origins, RobotsRow};
use uuid::Builder;

/// A robots.txt that does not compress below 100 KB.
fn large_robots() -> RobotsRow {
    let mut body = String::from("User-agent: *\n");
    for number in 0..7_000_u128 {
        // Scrambled, as repetition would compress.
        let scrambled = Builder::from_u128(number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)).into_uuid();
        body.push_str(&format!("Disallow: /{scrambled}\n"));
    }
    let record = RobotsRecord::from_fetch(&RobotsFetch::Answered { status: 200, body: body.as_bytes() });
    RobotsRow { record, fetched_at: at(0), expires_at: at(1_800) }
}

#[tokio::test]
async fn a_robots_txt_too_large_for_its_row_is_an_object() {
    let fresh = Fresh::new(clients().await);
    let frontier = fresh.frontier().await;
    let story = Story::begin(&frontier).await;
    let row = large_robots();
    for why in ["put", "put again, under the same key"] {
        frontier.put_robots(&story.origin, &row).await.unwrap();
        assert!(frontier.load_robots(&story.origin).await.unwrap().as_ref() == Some(&row), "{why}");
    }
    let objects = fresh.archive_there().list("robots/docs/", None, 10).await.unwrap();
    assert_eq!(objects.len(), 1, "one content, one object: {objects:?}");
}

#[tokio::test]
async fn an_older_robots_txt_does_not_replace_a_newer_one() {
    let fresh = Fresh::new(clients().await);
    let frontier = fresh.frontier().await;
    let story = Story::begin(&frontier).await;
    let row = |second, status| {
        let record = RobotsRecord::from_fetch(&RobotsFetch::Answered { status, body: b"" });
        RobotsRow { record, fetched_at: at(second), expires_at: at(second + 1_800) }
    };
    let (newer, older) = (row(2, 404), row(1, 200));
    for put in [&newer, &older] {
        frontier.put_robots(&story.origin, put).await.unwrap();
        assert_eq!(frontier.load_robots(&story.origin).await.unwrap().as_ref(), Some(&newer));
    }
}

#[tokio::test]
async fn a_row_of_a_later_version_is_not_misread() {
    let fresh = Fresh::new(clients().await);
    let frontier = fresh.frontier().await;
    let story = Story::begin(&frontier).await;
    let request = fresh.clients().dynamodb.update_item().table_name(fresh.table_names().get(Table::Frontier));
    let request = request.key("pk", AttributeValue::S(story.origin.to_string()));
    let request = request.key("sk", AttributeValue::S("lease".to_owned()));
    let version = AttributeValue::N("2".to_owned());
    request.update_expression("SET v = :v").expression_attribute_values(":v", version).send().await.unwrap();
    let error = frontier.load_origin(&story.origin).await.unwrap_err();
    assert_eq!(error.kind, PortErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("version 2"), "it says why: {error}");
}

/// As an earlier version began it: its row does not say that it is counted, and what there is of
/// counts is not all.
#[tokio::test]
async fn an_iteration_that_was_not_counted_from_its_beginning_is_added_up() {
    let fresh = Fresh::new(clients().await);
    let frontier = fresh.frontier().await;
    let story = Story::begin(&frontier).await;
    let commit = story.commit().await;
    let progress = async || frontier.progress(&story.origin.crawl, Iteration::FIRST).await.unwrap();
    let counted = progress().await;
    assert_eq!((counted.added, counted.segments), (1, 1));
    let tables = fresh.table_names();
    for item in fresh.clients().dynamodb.scan().table_name(tables.get(Table::Frontier)).send().await.unwrap().items() {
        if item["pk"].as_s().unwrap().starts_with("counts#") {
            let delete = fresh.clients().dynamodb.delete_item().table_name(tables.get(Table::Frontier));
            delete.key("pk", item["pk"].clone()).key("sk", item["sk"].clone()).send().await.unwrap();
        }
    }
    assert_eq!(progress().await.segments, 0, "as long as it says so, only the counts count");
    let request = fresh.clients().dynamodb.update_item().table_name(tables.get(Table::Crawls));
    let request = request.key("pk", AttributeValue::S("docs".to_owned()));
    let request = request.key("sk", AttributeValue::S("iteration#0000000001".to_owned()));
    request.update_expression("REMOVE counted").send().await.unwrap();
    assert_eq!(progress().await, counted, "{:?}", commit.segment.id);
}

#[tokio::test]
async fn a_log_expires_so_long_after_its_segment_was_committed_or_never() {
    for (kept, expected, why) in [
        (None, None, "kept for good"),
        (Some(Duration::from_secs(86_400)), Some(at(2 + 86_400).as_second().to_string()), "a day after the commit"),
    ] {
        let fresh = Fresh::new(clients().await);
        let frontier = fresh.frontier().await.with_log_kept(kept);
        let segment = Story::begin(&frontier).await.commit().await.segment;
        let log = SegmentLog {
            segment: segment.id,
            iteration: segment.iteration,
            object: segment.object,
            committed_at: segment.committed_at,
            agent: "agent".to_owned(),
            entries: Vec::new(),
        };
        frontier.put_log(&Arc::new(log)).await.unwrap();
        let rows = fresh.clients().dynamodb.scan().table_name(fresh.table_names().get(Table::Log));
        let rows = rows.send().await.unwrap().items.unwrap();
        let expires: Vec<_> = rows.iter().map(|row| row.get("expires")).collect();
        assert_eq!(expires, [expected.map(AttributeValue::N).as_ref()], "{why}");
    }
}
