//! What is published in a bucket.

use std::io::Read as _;

use dragline_aws::{DynamoRetained, S3Publications};
use dragline_aws_tests::{Fresh, Story, clients};
use dragline_domain::ids::Iteration;
use dragline_domain::url::CrawlUrl;
use dragline_ports::archive::Archive;
use dragline_ports::publications::{ItemsPart, Publications};
use dragline_ports::retention::Forgetting;
use flate2::read::MultiGzDecoder;

fn part(iteration: u32, table: &str, number: u32) -> ItemsPart {
    let (crawl, iteration) = ("docs".parse().unwrap(), Iteration::new(iteration).unwrap());
    ItemsPart { crawl, iteration, table: table.to_owned(), number }
}

fn lines(urls: &[&str]) -> Vec<u8> {
    urls.iter().flat_map(|url| format!("{{\"url\":\"{url}\",\"n\":0}}\n").into_bytes()).collect()
}

/// The published objects by their keys, with the URLs of their lines.
async fn published(fresh: &Fresh) -> Vec<(String, String)> {
    let archive = fresh.archive_there();
    let mut all = Vec::new();
    for key in archive.list("items/", None, 100).await.unwrap() {
        let (object, mut text) = (archive.get(&key, 1 << 20).await.unwrap().unwrap(), String::new());
        MultiGzDecoder::new(object.reader()).read_to_string(&mut text).unwrap();
        let urls: Vec<&str> = text.lines().map(|line| line.split('"').nth(3).unwrap()).collect();
        all.push((key.as_str().to_owned(), urls.join(" ")));
    }
    all
}

#[tokio::test]
async fn an_iteration_is_published_in_place_of_what_was_there() {
    let fresh = Fresh::new(clients().await);
    let frontier = fresh.frontier().await;
    let publications = S3Publications::beside(&fresh.documents());
    for (part, urls) in [
        (part(1, "product", 0), &["https://a.example/old"][..]),
        (part(1, "product", 0), &["https://a.example/1", "https://a.example/2"]),
        (part(1, "product", 1), &["https://a.example/3"]),
        (part(1, "news_article", 1), &["https://a.example/3"]),
        (part(10, "product", 0), &["https://a.example/1"]),
    ] {
        publications.put_items(&part, lines(urls)).await.unwrap();
    }
    let object = |key: &str, urls: &str| (key.to_owned(), urls.to_owned());
    let (one, three) = ("https://a.example/1", "https://a.example/3");
    let tenth = object("items/docs/10/product/00000.jsonl.gz", one);
    let expected = [
        object("items/docs/1/news_article/00001.jsonl.gz", three),
        object("items/docs/1/product/00000.jsonl.gz", "https://a.example/1 https://a.example/2"),
        object("items/docs/1/product/00001.jsonl.gz", three),
        tenth.clone(),
    ];
    assert_eq!(published(&fresh).await, expected);

    let story = Story::begin(&frontier).await;
    let retained = DynamoRetained::new(frontier.clone(), fresh.documents());
    let two: CrawlUrl = "https://a.example/2".to_owned().try_into().unwrap();
    for _again in 0..2 {
        retained.forget_urls(&story.origin.crawl, std::slice::from_ref(&two)).await.unwrap();
        let left = published(&fresh).await;
        assert_eq!(left[1].1, one, "nothing of the URL is left");
        assert_eq!((&left[0], &left[2], &left[3]), (&expected[0], &expected[2], &tenth), "and all of others");
    }

    publications.clear_items(&"docs".parse().unwrap(), Iteration::FIRST).await.unwrap();
    assert_eq!(published(&fresh).await, [tenth], "that of the tenth iteration, whose number begins like it");
}
