//! Results in a database and in Parquet files, as the command writes them.

use std::fs;
use std::path::Path;

use dragline_testkit::hostile::{Asked, HostileSite, Step, html, reply};
use dragline_testkit::postgres::{Database, OWNER};
use serde_json::json;
use tempfile::TempDir;

use super::serve::Server;
use super::{Ran, command, dragline, ran, write_secret};

/// A site of five pages.
fn pages(asked: &Asked) -> Vec<Step> {
    match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        "/" => html((1..5).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>()),
        target => html(format!("<title>{target}</title>Words")),
    }
}

/// A directory with a definition of the site, and this in addition.
fn directory(site: &HostileSite, more: &str) -> TempDir {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let definition = format!("name: site\nseeds: ['{}']\npoliteness: {{ delay: 0s }}\n{more}", site.url("/"));
    fs::write(directory.path().join("crawl.yaml"), definition).expect("it is writable");
    directory
}

fn crawl_to(database: &Database, directory: &Path) -> Ran {
    let arguments = ["crawl", "crawl.yaml", "--allow-private", "--keep-free", "0B"];
    ran(command(directory, &arguments).env("RESULTS", database.address(OWNER)))
}

async fn count(database: &Database, table: &str) -> String {
    database.value(&format!("SELECT count(*) FROM dragline.{table}")).await.expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_writes_its_results_where_the_definition_says() {
    let (database, site) = (Database::create().await, HostileSite::start(pages).await);
    let directory = directory(&site, "sink: { postgres: env:RESULTS, parquet: lake }\n");
    let crawled = crawl_to(&database, directory.path());
    assert_eq!(crawled.code, Some(0), "{}", crawled.stderr);
    for expected in
        ["rows written to `t", ", schema `dragline`, 0 removed", "rows written to dragline-data/lake, 0 removed"]
    {
        assert!(crawled.stderr.contains(expected), "{expected}: {}", crawled.stderr);
    }
    assert_eq!((count(&database, "page").await.as_str(), count(&database, "log").await.as_str()), ("5", "5"));
    let lake = directory.path().join("dragline-data/lake");
    assert!(lake.join("pages/crawl=site/iteration=1/part-00000.parquet").is_file());

    assert_eq!(crawl_to(&database, directory.path()).code, Some(0));
    assert_eq!((count(&database, "page").await.as_str(), count(&database, "log").await.as_str()), ("5", "10"));
    assert!(lake.join("pages/crawl=site/iteration=2/part-00000.parquet").is_file());

    let unset = dragline(directory.path(), &["crawl", "--allow-private", "--keep-free", "0B"]);
    let message = "error: the address of the database: `env:RESULTS` is not set\n";
    assert!(unset.code == Some(2) && unset.stderr.contains(message), "{}", unset.stderr);
    assert_eq!(count(&database, "iteration_progress").await, "2", "it is said before anything is crawled");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_to_a_directory_has_partitions() {
    let (site, name) = (HostileSite::start(pages).await, "site");
    let directory = directory(&site, "");
    let arguments = ["crawl", "crawl.yaml", "--allow-private", "--keep-free", "0B", "--quiet"];
    assert_eq!(dragline(directory.path(), &arguments).code, Some(0));
    let export = dragline(directory.path(), &["export", "--to", "lake"]);
    assert_eq!((export.code, export.stdout.as_str()), (Some(0), ""), "{}", export.stderr);
    assert!(export.stderr.starts_with("site is up to date in lake: "), "{}", export.stderr);
    for table in ["pages", "links", "log"] {
        let file = directory.path().join(format!("lake/{table}/crawl={name}/iteration=1/part-00000.parquet"));
        assert!(fs::read(&file).unwrap().starts_with(b"PAR1"), "{}", file.display());
    }
    let refused = dragline(directory.path(), &["export", "--to", "lake", "--schema", "shop"]);
    let message = "error: `lake` is a directory, and `--schema`, `--reader`, `--from-start` and `--wait` are for databases\nhint: leave them out\n";
    assert_eq!((refused.code, refused.stderr.as_str()), (Some(2), message));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_keeps_a_database_up_to_date() {
    let (database, site) = (Database::create().await, HostileSite::start(pages).await);
    let directory = tempfile::tempdir().unwrap();
    let address = directory.path().join("address");
    write_secret(&address, &database.address(OWNER));
    let server = Server::start(directory.path(), &["--sink", "file:address", "--keep-free", "0B"]);
    let definition = format!("name: site\nseeds: ['{}']\npoliteness: {{ delay: 0s }}\n", site.url("/"));
    assert_eq!(server.send("POST", "/crawls", &json!({"definition": definition})).status, 201);
    assert_eq!(server.send("POST", "/crawls/site/iterations", &json!({})).status, 202);
    server.wait_until_over("site", 1);
    // It looks every few seconds.
    let there = "SELECT to_regclass('dragline.log') IS NOT NULL";
    while database.value(there).await.as_deref() != Some("true") || count(&database, "log").await != "5" {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_proves_who_it_is() {
    let (database, site) = (Database::create().await, HostileSite::start(pages).await);
    let directory = directory(&site, "");
    let arguments = ["crawl", "crawl.yaml", "--allow-private", "--keep-free", "0B", "--quiet"];
    assert_eq!(dragline(directory.path(), &arguments).code, Some(0));
    let export = |host: &str, mode: &str, authority: Option<&Path>| {
        let to = format!("{}?sslmode={mode}", database.tls_url(host));
        let mut command = command(directory.path(), &["export", "--to", &to, "--wait", "0s"]);
        command.env_remove("SSL_CERT_FILE").env_remove("SSL_CERT_DIR");
        ran(command.envs(authority.map(|file| ("SSL_CERT_FILE", file))))
    };
    let authority = database.authority();
    for mode in ["require", "verify-full"] {
        let exported = export("localhost", mode, Some(&authority));
        assert_eq!(exported.code, Some(0), "{mode}: {}", exported.stderr);
    }
    for (host, authority, why) in
        [("localhost", None, "nobody trusts its authority"), ("127.0.0.1", Some(&*authority), "it has another name")]
    {
        for mode in ["require", "verify-full"] {
            let refused = export(host, mode, authority);
            assert_eq!(refused.code, Some(2), "{why}");
            let lines: Vec<&str> = refused.stderr.lines().collect();
            assert!(
                lines.len() == 2
                    && lines[0].starts_with("error: the certificate of the database is not trusted: ")
                    && lines[1].starts_with("hint: name its authority by `SSL_CERT_FILE=FILE`"),
                "{why}: {}",
                refused.stderr
            );
        }
    }
}
