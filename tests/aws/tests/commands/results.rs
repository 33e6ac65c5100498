//! A stack's results in a PostgreSQL database.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use dragline_aws_tests::{EmulatedStack, dragline};
use dragline_testkit::postgres::{Database, OWNER};
use dragline_testkit::site::{GeneratedSite, Site};
use dragline_testkit::whole_crawls::{crawl, definition};

/// What two crawls of one site have in common, by table.
const TABLES: [(&str, &str); 3] = [
    ("page", "url, iteration, outcome, depth, status, title, text"),
    ("link", "from_url, n, to_url, kind, anchor"),
    ("log", "iteration, url, n, depth, via, outcome, status, change"),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_database_has_the_same_of_a_stack_as_of_a_directory() {
    let (stack, database, directory) =
        (EmulatedStack::new().await, Database::create().await, tempfile::tempdir().unwrap());
    let directory = directory.path();
    // The first page links to all others: so each is found there, whichever is read first.
    let pages = GeneratedSite { pages: 30, links_per_page: 58, bytes_per_page: 800, seed: 7 };
    let site = Site::builder().generated(pages).start().await.unwrap();
    let definition = definition(&[site.url()], |draft| draft.name = "docs".parse().unwrap());
    let address = directory.join("address");
    fs::write(&address, database.address(OWNER)).unwrap();
    // Others could read it otherwise, and so it would be refused.
    fs::set_permissions(address, fs::Permissions::from_mode(0o600)).unwrap();
    let of_stack = ["export", "--to", "file:address", "--schema", "of_stack", "docs", "--stack", stack.name()];
    let of_data = ["export", "--to", "file:address", "--schema", "of_data", "--data", "data"];
    for iteration in 1..=2 {
        stack.crawl(&definition).await;
        crawl(&directory.join("data"), &definition).await;
        for arguments in [&of_stack[..], &of_data] {
            let ran = dragline(directory, arguments);
            assert!(ran.code == Some(0) && ran.stderr.contains("docs is up to date in `"), "{}", ran.stderr);
        }
        for (table, columns) in TABLES {
            let rows = |schema: &str| format!("SELECT {columns} FROM {schema}.{table}");
            let (stack, data) = (rows("of_stack"), rows("of_data"));
            let count = async |query: &str| database.value(&format!("SELECT count(*) FROM ({query}) q")).await.unwrap();
            assert_eq!(count(&format!("{stack} EXCEPT {data}")).await, "0", "{table} of iteration {iteration}");
            let (of_stack, of_data) = (count(&stack).await, count(&data).await);
            assert_eq!(of_stack, of_data, "{table} of iteration {iteration}");
            assert!(of_stack.parse::<u32>().unwrap() >= 30, "{table}: {of_stack}");
        }
    }
    let again = dragline(directory, &of_stack);
    assert!(again.stderr.contains("0 rows written, 0 removed"), "nothing is new: {}", again.stderr);
}
