//! Crawls whose definition is a file elsewhere.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn definition(site: &HostileSite, pages: usize) -> String {
    format!("name: docs\nseeds: ['{}']\nbudget: {{ pages: {pages} }}\n", site.url("/"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_definition_elsewhere_is_read_again() {
    let site = HostileSite::start(site).await;
    let pages = std::sync::Arc::new(AtomicUsize::new(10));
    let (text, shown) = (definition(&site, 10), std::sync::Arc::clone(&pages));
    let files = HostileSite::start(move |asked| match asked.target.as_str() {
        "/crawl.yaml" => {
            let text = text.replace("pages: 10", &format!("pages: {}", shown.load(Ordering::Relaxed)));
            reply(200, &["content-type: application/yaml"], &text)
        }
        "/bad.yaml" => reply(200, &["content-type: text/plain"], "seeds: 7"),
        "/page" => html("<title>No definition"),
        "/long.yaml" => reply(200, &["content-type: text/plain"], "# long\n".repeat(1_000_000)),
        _ => reply(404, &[], ""),
    })
    .await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let budget = |server: &Server| {
            let text = server.get("/crawls/docs/definition").body;
            text.lines().find(|line| line.contains("pages:")).map(str::trim).map(str::to_owned)
        };
        {
            let server = Server::start(directory.path(), &[]);
            let link =
                json!({"definition_url": files.url("/crawl.yaml"), "cron_expression": "0 3 * * *", "user": "ada"});
            let added = server.send("POST", "/crawls", &link);
            assert_eq!((added.status, &added.json()["user"]), (201, &json!("ada")), "{}", added.body);
            assert_eq!(added.json()["definition_url"], files.url("/crawl.yaml"));
            assert_eq!(budget(&server).as_deref(), Some("pages: 10"));
            for (url, status, said) in [
                (files.url("/bad.yaml"), 422, "seeds"),
                (files.url("/page"), 422, ""),
                (files.url("/gone"), 404, "404"),
                (files.url("/long.yaml"), 400, "longer"),
                ("file:///etc/passwd".to_owned(), 404, ""),
                ("--data".to_owned(), 404, ""),
            ] {
                let refused = server.send("POST", "/crawls", &json!({"definition_url": url}));
                assert_eq!(refused.status, status, "{url}: {}", refused.body);
                assert!(refused.body.contains(said), "{url}: {}", refused.body);
            }
            let both =
                json!({"definition_url": files.url("/crawl.yaml"), "definition": {"seeds": ["https://a.example/"]}});
            assert_eq!(server.send("POST", "/crawls", &both).status, 400);
            server.send("PUT", "/crawls/docs/schedule", &json!({"state": "PAUSED"}));
        }
        pages.store(20, Ordering::Relaxed);
        let server = Server::start(directory.path(), &[]);
        let is_read = (0..PATIENCE.as_secs() * 20).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            budget(&server).as_deref() == Some("pages: 20")
        });
        assert!(is_read, "{:?}", budget(&server));
        let standing = server.get("/crawls/docs").json();
        assert_eq!((&standing["state"], &standing["user"]), (&json!("PAUSED"), &json!("ada")), "it stays so");
        // One that is given itself has no link.
        server.send("POST", "/crawls", &docs(&site));
        assert_eq!(server.get("/crawls/docs").json()["definition_url"], Value::Null);
    });
}
