//! The list of crawls, and where their definitions came from.

use dragline_aws_tests::{Fresh, clients};
use dragline_domain::definition::Definition;
use dragline_ports::error::PortErrorKind;
use dragline_ports::frontier::{Crawls as _, PutCrawl};

fn definition(name: &str, depth: u32) -> Definition {
    let text = format!("name: {name}\nseeds: ['https://{name}.example/']\nscope: {{ max_depth: {depth} }}\n");
    dragline_definition::parse(&text, "definition").unwrap()
}

#[tokio::test]
async fn crawls_are_listed_by_name_whatever_became_of_them() {
    let fresh = Fresh::new(clients().await);
    let frontier = fresh.frontier().await;
    assert_eq!(frontier.crawls().await.unwrap(), [], "there are none");
    for (name, seen, depth) in [("news", None, 1), ("docs", None, 1), ("docs", Some(1), 2)] {
        let put = PutCrawl { definition: definition(name, depth), seen, next: None };
        frontier.put_crawl(&put).await.unwrap();
    }
    frontier.switch_off(&"news".parse().unwrap()).await.unwrap();
    let names = frontier.crawls().await.unwrap();
    assert_eq!(names.iter().map(ToString::to_string).collect::<Vec<_>>(), ["docs", "news"], "each once");
}

#[tokio::test]
async fn an_earlier_version_does_not_say_where_a_later_one_came_from() {
    let fresh = Fresh::new(clients().await);
    let frontier = fresh.frontier().await;
    let crawl = "docs".parse().unwrap();
    assert_eq!(frontier.load_link(&crawl).await.unwrap(), None, "nothing is known");
    for (version, call, expected, why) in [
        (2, Some("a"), Some("a"), "the first that is known"),
        (1, Some("b"), Some("a"), "it came late"),
        (2, Some("c"), Some("c"), "a call that was repeated"),
        (3, None, None, "given itself"),
        (2, Some("a"), None, "late again"),
        (4, Some("d"), Some("d"), "a file again"),
    ] {
        frontier.put_link(&crawl, version, call).await.unwrap();
        assert_eq!(frontier.load_link(&crawl).await.unwrap().as_deref(), expected, "{why}");
    }
    let error = frontier.put_link(&crawl, 5, Some(&"x".repeat(100_000))).await.unwrap_err();
    assert_eq!(error.kind, PortErrorKind::TooLarge, "a row could not hold it");
}
