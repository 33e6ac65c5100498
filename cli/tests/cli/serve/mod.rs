//! `dragline serve`: its API, called as programs call it.

mod links;
mod listeners;
mod telemetry;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dragline_testkit::hostile::{Asked, HostileSite, Step, html, reply};
use serde_json::{Value, json};

use crate::{command, dragline, write_secret};

/// The longest wait for something that a server on this machine does.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running server.
pub(crate) struct Server {
    child: Child,
    address: String,
}

/// An answer.
pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    body: String,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.head, self.body))
    }

    fn rows(&self) -> Vec<Value> {
        self.json()["rows"].as_array().expect("rows").clone()
    }
}

impl Server {
    pub(crate) fn start(directory: &Path, arguments: &[&str]) -> Self {
        Self::start_with(directory, arguments, &[])
    }

    /// Starts it with these variables.
    fn start_with(directory: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let arguments = [&["serve", "--listen", "127.0.0.1:0", "--allow-private"], arguments].concat();
        let mut command = command(directory, &arguments);
        command.envs(variables.iter().copied()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command was built");
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("it is text");
        let address =
            line.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map(|(address, _)| address.to_owned());
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Self { child, address: address.unwrap_or_else(|| panic!("no address: {line}")) }
    }

    /// Calls it, with these header fields, each with its line end.
    fn call_with(&self, method: &str, target: &str, fields: &str, body: &str) -> Reply {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let host = if fields.contains("Host:") { String::new() } else { format!("Host: {}\r\n", self.address) };
        // Answers of HTTP/1.0 end with the connection.
        let request =
            format!("{method} {target} HTTP/1.0\r\n{host}{fields}Content-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer in time");
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {answer}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Reply { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn get(&self, target: &str) -> Reply {
        self.call_with("GET", target, "", "")
    }

    pub(crate) fn send(&self, method: &str, target: &str, body: &Value) -> Reply {
        self.call_with(method, target, "Content-Type: application/json\r\n", &body.to_string())
    }

    /// Waits until an iteration of a crawl is over.
    pub(crate) fn wait_until_over(&self, crawl: &str, iteration: u32) -> Value {
        let events = self.call_with(
            "GET",
            &format!("/crawls/{crawl}/progress?iteration={iteration}"),
            "Accept: text/event-stream\r\n",
            "",
        );
        let last = events.body.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
        let last: Value =
            serde_json::from_str(last.unwrap_or_else(|| panic!("no event: {}", events.body))).expect("JSON");
        assert_eq!(last["status"], "closed", "{}", events.body);
        last
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn site(asked: &Asked) -> Vec<Step> {
    match asked.target.as_str() {
        "/" => html("<title>Home</title><a href=/a>a</a> <a href=/b>b</a> <a href=/gone>gone</a>"),
        "/a" | "/b" => html("<title>Page</title><p>Words"),
        "/robots.txt" => reply(404, &[], ""),
        _ => reply(404, &[], "no"),
    }
}

/// A call that adds a crawl of a site.
fn docs(site: &HostileSite) -> Value {
    json!({
        "name": "docs",
        "domain_names": [site.url("/")],
        "definition": {"politeness": {"delay": "0s"}},
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crawls_are_added_started_and_read() {
    let site = HostileSite::start(site).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let server = Server::start(directory.path(), &[]);
        assert_eq!(server.get("/crawls").json(), json!({"crawls": []}));

        let added = server.send("POST", "/crawls", &docs(&site));
        assert_eq!((added.status, &added.json()["state"]), (201, &json!("ON")), "{}", added.body);
        assert!(added.head.to_lowercase().contains("location: /crawls/docs"), "{}", added.head);
        assert_eq!(server.send("POST", "/crawls", &docs(&site)).status, 200, "again it is a change");

        let begun = server.send("POST", "/crawls/docs/iterations", &json!({"iteration": 1, "type": "on_demand"}));
        assert_eq!((begun.status, &begun.json()["iteration"]), (202, &json!(1)), "{}", begun.body);
        let again = server.send("POST", "/crawls/docs/iterations", &json!({"iteration": 1, "type": "on_demand"}));
        assert_eq!((again.status, &again.json()["iteration"]), (200, &json!(1)), "the same one: {}", again.body);
        let third = server.send("POST", "/crawls/docs/iterations", &json!({"iteration": 3}));
        assert_eq!(third.status, 409, "{}", third.body);

        let over = server.wait_until_over("docs", 1);
        assert_eq!((&over["crawled"], &over["failed"], &over["stuck"]), (&json!(4), &json!(0), &json!(0)), "{over}");
        assert_eq!(site.targets().iter().filter(|target| *target == "/a").count(), 1, "visited once");
        let db = rusqlite::Connection::open(directory.path().join("dragline-data/dragline.db")).expect("it is there");
        let sql = "SELECT json_object('found', found, 'crawled', crawled, 'processed', processed, 'stuck', stuck, 'failed', failed, 'status', status, 'closed_at', \"end\")
                   FROM iteration_progress WHERE schedule = 'docs' AND iteration = 1";
        let viewed: String = db.query_row(sql, [], |row| row.get(0)).expect("a row");
        let viewed: Value = serde_json::from_str(&viewed).expect("JSON");
        for (column, value) in viewed.as_object().expect("columns") {
            assert_eq!(
                value.as_str().map(|text| text.get(..19)),
                over[column].as_str().map(|text| text.get(..19)),
                "{column}"
            );
            assert_eq!(value.as_u64(), over[column].as_u64(), "{column}");
        }
        let sql = "SELECT count(*) FROM record WHERE schedule = 'docs' AND iteration = 1 AND state = 'PROCESSED'";
        assert_eq!(db.query_row(sql, [], |row| row.get::<_, i64>(0)), Ok(4), "each URL");

        // The rows are those that the command prints.
        for (list, arguments) in [
            ("pages", vec!["--what", "pages"]),
            ("links", vec!["--what", "links"]),
            ("log", vec!["--what", "log"]),
            ("candidates", vec!["--what", "candidates"]),
        ] {
            let printed = dragline(directory.path(), &[&["export"], &arguments[..]].concat()).stdout;
            let mut printed: Vec<Value> =
                printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
            let lines =
                server.call_with("GET", &format!("/crawls/docs/{list}"), "Accept: application/x-ndjson\r\n", "");
            let mut lines: Vec<Value> =
                lines.body.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
            let key = |row: &Value| row.to_string();
            printed.sort_by_key(key);
            lines.sort_by_key(key);
            assert!(!printed.is_empty(), "{list}");
            assert_eq!(lines, printed, "{list}");
            // Page by page they are the same.
            let (mut paged, mut target) = (Vec::new(), format!("/crawls/docs/{list}?limit=1"));
            loop {
                let page = server.get(&target);
                paged.extend(page.rows());
                let Some(next) = page.json()["next"].as_str().map(str::to_owned) else { break };
                let next: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
                target = format!("/crawls/docs/{list}?limit=1&cursor={next}");
            }
            paged.sort_by_key(key);
            assert_eq!(paged, printed, "{list}, page by page");
        }

        let found = server.get("/crawls/docs/search?q=words").json();
        let printed = dragline(directory.path(), &["search", "words", "--json"]).stdout;
        assert_eq!(found, serde_json::from_str::<Value>(&printed).expect("JSON"));
        assert_eq!(found["pages_indexed"], 3, "{found}");
        assert_eq!(server.get("/crawls/docs/search?q=%22").status, 400);

        let iterations = server.get("/crawls/docs/iterations").json();
        assert_eq!((&iterations["iterations"][0]["iteration"], &iterations["next"]), (&json!(1), &Value::Null));
        let metrics = server.get("/metrics").body;
        assert!(metrics.contains("dragline_urls_crawled{crawl=\"docs\"} 4"), "{metrics}");
        assert_eq!(server.get("/healthz").body, "ok\n");

        // Blacklisted URLs are not visited again.
        let call = json!({"blacklisted_urls": [site.url("/a")]});
        assert_eq!(server.send("POST", "/crawls/docs/iterations", &call).status, 202);
        server.wait_until_over("docs", 2);
        assert_eq!(site.targets().iter().filter(|target| *target == "/a").count(), 1, "blacklisted");
        assert_eq!(site.targets().iter().filter(|target| *target == "/b").count(), 2, "visited again");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_commands_print_is_answered() {
    let site = HostileSite::start(site).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let server = Server::start(directory.path(), &[]);
        server.send("POST", "/crawls", &docs(&site));
        for iteration in 1..=2 {
            server.send("POST", "/crawls/docs/iterations", &json!({"iteration": iteration}));
            server.wait_until_over("docs", iteration);
        }
        let page = site.url("/a");
        let url: String = url::form_urlencoded::byte_serialize(page.as_bytes()).collect();
        let call = |target: &str| server.get(&format!("/crawls/docs/{target}"));

        for (target, arguments) in [
            (format!("history?url={url}"), vec!["history", &page, "--json"]),
            (format!("backlinks?url={url}"), vec!["links", &page, "--ways", "in", "--json"]),
            ("diff".to_owned(), vec!["diff", "--json"]),
            ("diff?from=1&to=2&which=visited".to_owned(), vec!["diff", "--all", "--json"]),
            ("diff?what=links".to_owned(), vec!["diff", "--what", "links", "--json"]),
        ] {
            let printed = dragline(directory.path(), &arguments).stdout;
            let printed: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
            assert_eq!(call(&target).rows(), printed, "{target}");
            let lines = format!("/crawls/docs/{target}");
            let lines = server.call_with("GET", &lines, "Accept: application/x-ndjson\r\n", "").body;
            assert_eq!(lines.lines().count(), printed.len(), "{target}: {lines}");
        }
        assert_eq!(call(&format!("history?url={url}")).rows().len(), 2);
        assert_eq!(call("diff").rows(), Vec::<Value>::new(), "nothing has changed");

        let body = call(&format!("body?url={url}"));
        assert_eq!(body.body, "<title>Page</title><p>Words");
        let head = body.head.to_lowercase();
        for field in ["dragline-status: 200", "content-type: text/html", "content-security-policy: sandbox;"] {
            assert!(head.contains(field), "{field}: {head}");
        }
        assert!(call(&format!("body?url={url}&as=text&iteration=1")).body.contains("Words"));
        let gone: String = url::form_urlencoded::byte_serialize(site.url("/gone").as_bytes()).collect();
        let gone = call(&format!("body?url={gone}"));
        assert!((gone.status, gone.body.as_str()) == (200, "no") && gone.head.contains("404"), "{}", gone.head);

        let report = call("report");
        assert!(report.body.starts_with("<!doctype html>"), "{}", report.body);
        assert_eq!(call("report?format=json").json()["crawl"], "docs");
        let explained = call(&format!("explain?url={url}")).json();
        assert_eq!(explained["url"], page, "{explained}");
        let archive = call("archive?iteration=1");
        assert!(archive.body.starts_with("PK\u{3}\u{4}"), "a WACZ file: {}", archive.head);
        let left = directory.path().join("dragline-data").read_dir().expect("it is there");
        let left = left.filter(|entry| {
            entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(".archive-"))
        });
        assert_eq!(left.count(), 0, "what was written is removed");

        for (target, status, why) in [
            ("history?url=https://elsewhere.example/", 404, "no such URL"),
            ("history?url=--data", 404, "no flag"),
            ("history", 400, "no URL"),
            ("backlinks?url=https://elsewhere.example/", 404, "no such URL"),
            ("body?url=%00", 400, "NUL"),
            ("diff?from=7", 404, "no such iteration"),
            ("diff?from=0", 400, "iterations are counted from 1"),
            ("diff?what=words", 400, "no such subject"),
            ("report?iteration=9", 404, "no such iteration"),
            ("iterations/9", 404, "no such iteration"),
            ("iterations/x", 404, "no number"),
        ] {
            let reply = call(target);
            assert_eq!(reply.status, status, "{target}: {why}: {}", reply.body);
            assert!(reply.head.contains("application/problem+json"), "{target}: {}", reply.head);
        }
        assert_eq!(call("iterations/2").json()["iteration"], 2);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_goes_on() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        "/" => html((1..40).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>()),
        _ => html("<title>Page</title>"),
    })
    .await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        {
            let server = Server::start(directory.path(), &[]);
            let mut call = docs(&site);
            call["definition"]["politeness"]["delay"] = json!("20ms");
            assert_eq!(server.send("POST", "/crawls", &call).status, 201);
            assert_eq!(server.send("POST", "/crawls/docs/iterations", &json!({})).status, 202);
            while site.targets().len() < 10 {
                std::thread::sleep(Duration::from_millis(5));
            }
            // Dropped, it is killed.
        }
        let server = Server::start(directory.path(), &[]);
        let over = server.wait_until_over("docs", 1);
        assert_eq!((&over["crawled"], &over["failed"]), (&json!(40), &json!(0)), "{over}");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_calls_get_problems() {
    let site = HostileSite::start(site).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let server = Server::start(directory.path(), &[]);
        assert_eq!(server.send("POST", "/crawls", &docs(&site)).status, 201);
        let json_field = "Content-Type: application/json\r\n";
        let long_key = format!("Idempotency-Key: {}\r\n", "a".repeat(201));
        let huge = format!("{{\"name\": \"{}\"}}", "a".repeat(3 << 20));
        for (method, target, fields, body, status, said) in [
            ("GET", "/nothing", "", "", 404, "/openapi.json"),
            ("GET", "/crawls/none/pages", "", "", 404, "there is no crawl `none`"),
            ("GET", "/crawls/..%2f..%2fetc/pages", "", "", 404, "is not a valid crawl name"),
            ("GET", "/crawls/docs/pages?limit=x", "", "", 400, "limit"),
            ("GET", "/crawls/docs/pages?word=x", "", "", 400, "word"),
            ("GET", "/crawls/docs/pages?url=nonsense", "", "", 400, "url"),
            ("GET", "/crawls/docs/progress", "", "", 404, "has not begun"),
            ("DELETE", "/crawls", "", "", 405, "method"),
            ("POST", "/crawls", json_field, "{", 400, "JSON"),
            ("POST", "/crawls", "", "{}", 415, "Content-Type"),
            ("POST", "/crawls", json_field, "{}", 422, "seeds"),
            ("POST", "/crawls", "", "", 422, "seeds"),
            ("POST", "/crawls", json_field, &huge, 413, "longer than"),
            ("POST", "/crawls", json_field, "{\"domain_name\": []}", 422, "domain_name"),
            (
                "POST",
                "/crawls",
                json_field,
                "{\"domain_names\": [\"a.example\"], \"cron_expression\": \"* * * * *\"}",
                422,
                "5 minutes",
            ),
            (
                "POST",
                "/crawls",
                json_field,
                "{\"domain_names\": [\"a.example\"], \"definition\": {\"name\": \"x\"}, \"name\": \"y\"}",
                400,
                "given twice",
            ),
            (
                "POST",
                "/crawls",
                json_field,
                "{\"definition\": {\"seeds\": [\"https://a.example/\"], \"sedes\": 1}}",
                422,
                "unknown key `sedes`",
            ),
            ("POST", "/crawls/docs/iterations", json_field, "{\"iteration\": 0}", 422, "nonzero"),
            ("POST", "/crawls/docs/iterations", json_field, "{\"type\": \"often\"}", 422, "often"),
            ("POST", "/crawls/docs/iterations", "", "{\"iteration\": 1}", 415, "Content-Type"),
            ("POST", "/crawls/docs/iterations", json_field, "[1]", 422, "no object"),
            ("GET", "/crawls/%ff", "", "", 404, "UTF-8"),
            ("GET", "/crawls/docs/pages?limit=0", "", "", 400, "between 1 and 1000"),
            ("GET", "/crawls/docs/pages?limit=1001", "", "", 400, "between 1 and 1000"),
            ("GET", "/crawls/docs/iterations?limit=101", "", "", 400, "between 1 and 100"),
            ("GET", "/crawls/docs/links?iteration=9", "", "", 404, "no iteration 9"),
            ("PUT", "/crawls/docs/schedule", json_field, "{\"state\": \"PAUSED\"}", 409, "no schedule"),
            ("DELETE", "/crawls/docs", &long_key, "", 400, "idempotency key"),
            ("DELETE", "/crawls/docs", "Idempotency-Key: a\r\nIdempotency-Key: b\r\n", "", 400, "idempotency key"),
            ("GET", "/crawls/docs/pages?cursor=abc", "", "", 400, "cursor"),
            ("GET", "/crawls/docs/links?cursor=abc", "Accept: application/x-ndjson\r\n", "", 400, "cursor"),
            ("GET", "/crawls/docs/candidates?cursor=%00", "", "", 400, "cursor"),
            (
                "PUT",
                "/crawls/docs/running",
                json_field,
                "{\"change\": \"stop\"}",
                409,
                "no iteration of `docs` is running",
            ),
            ("GET", "/crawls", "Host: evil.example\r\n", "", 421, "evil.example"),
            (
                "POST",
                "/crawls",
                "Content-Type: application/json\r\nOrigin: https://evil.example\r\n",
                "{}",
                403,
                "another site",
            ),
        ] {
            let reply = server.call_with(method, target, fields, body);
            let shown: String = body.chars().take(80).collect();
            assert_eq!(reply.status, status, "{method} {target} {shown}: {}", reply.body);
            assert!(reply.head.to_lowercase().contains("content-type: application/problem+json"), "{}", reply.head);
            assert!(reply.body.contains(said), "{method} {target} {shown}: {}", reply.body);
        }
        assert!(server.get("/openapi.json").json()["paths"]["/crawls/{name}/iterations"]["post"].is_object());
        // Removed, nothing of it begins.
        assert_eq!(server.call_with("DELETE", "/crawls/docs", "", "").status, 204);
        assert_eq!(server.send("POST", "/crawls/docs/iterations", &json!({})).status, 409);
        assert_eq!(server.get("/crawls/docs").json()["state"], "OFF");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_for_one_call_and_a_cursor_for_one_list() {
    let site = HostileSite::start(site).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let server = Server::start(directory.path(), &[]);
        let keyed = |method: &str, target: &str, body: &Value| {
            let fields = "Content-Type: application/json\r\nIdempotency-Key: one\r\n";
            server.call_with(method, target, fields, &body.to_string())
        };
        assert_eq!(keyed("POST", "/crawls", &docs(&site)).status, 201);
        let begun = keyed("POST", "/crawls/docs/iterations", &json!({}));
        assert_eq!(begun.status, 202, "the key of another call: {}", begun.body);
        server.wait_until_over("docs", 1);
        let again = keyed("POST", "/crawls/docs/iterations", &json!({}));
        assert_eq!(again.json()["iteration"], 1, "a repeated call begins nothing");
        let other = keyed("POST", "/crawls/docs/iterations", &json!({"type": "schedule"}));
        assert_eq!(other.json()["iteration"], 2, "another call does: {}", other.body);
        server.wait_until_over("docs", 2);
        let first = server.get("/crawls/docs/pages?limit=1").json();
        let next = first["next"].as_str().expect("there are more pages");
        for (target, status) in [
            ("/crawls/docs/pages?limit=1&cursor=", 200),
            ("/crawls/docs/pages?iteration=1&cursor=", 400),
            ("/crawls/docs/links?cursor=", 400),
        ] {
            let cursor: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
            let reply = server.get(&format!("{target}{cursor}"));
            assert_eq!(reply.status, status, "{target}: {}", reply.body);
        }
        let version = || server.get("/crawls/docs").json()["version"].clone();
        let before = version();
        assert_eq!(server.send("PUT", "/crawls/docs/schedule", &json!({"state": "ON"})).status, 200);
        assert_eq!(version(), before, "it was followed before");
    });
}

#[test]
fn strangers_need_a_token() {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let refused = dragline(directory.path(), &["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("dragline token add"), "{}", refused.stderr);
    let token = dragline(directory.path(), &["token", "add", "ada"]).stdout.trim().to_owned();
    let stored = std::fs::read_to_string(directory.path().join("dragline-data/tokens.json")).expect("a file");
    assert!(stored.contains("argon2") && !stored.contains(&token), "{stored}");
    let server = Server::start(directory.path(), &[]);
    assert_eq!(server.get("/crawls").status, 401);
    let fields = format!("Authorization: Bearer {token}\r\n");
    assert_eq!(server.call_with("GET", "/crawls", &fields, "").status, 200);
    assert_eq!(server.call_with("DELETE", "/crawls/x", &fields, "").status, 403, "a reader");
    drop(server);
    assert_eq!(dragline(directory.path(), &["token", "remove", "ada"]).code, Some(0));
    assert_eq!(dragline(directory.path(), &["token", "remove", "ada"]).code, Some(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn schedules_are_paused_and_followed() {
    let site = HostileSite::start(site).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let server = Server::start(directory.path(), &[]);
        let mut call = docs(&site);
        call["cron_expression"] = json!("0 3 * * *");
        call["time_zone"] = json!("Europe/Berlin");
        let added = server.send("POST", "/crawls", &call).json();
        assert_eq!((&added["state"], &added["cron_expression"]), (&json!("ON"), &json!("0 3 * * *")), "{added}");
        assert!(added["next"].is_string(), "{added}");
        let set = |state: &str| server.send("PUT", "/crawls/docs/schedule", &json!({"state": state})).json();
        let paused = set("PAUSED");
        assert_eq!((&paused["state"], &paused["next"]), (&json!("PAUSED"), &Value::Null), "{paused}");
        assert_eq!(set("ON")["next"], added["next"]);
        let page = server.get("/").body;
        assert!(page.contains("0 3 * * *") && page.contains("Europe/Berlin"), "{page}");
        assert!(server.get("/view/docs/definition").body.contains("politeness"), "its definition");
    });
}

#[test]
fn schedules_are_set_whether_or_not_a_server_runs() {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let schedule = |arguments: &[&str]| dragline(directory.path(), &[&["schedule"], arguments].concat());
    let add = ["add", "https://a.example/", "--name", "docs", "--cron", "0 3 * * *", "--time-zone", "Europe/Berlin"];
    let added = schedule(&add);
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    assert!(added.stderr.contains("by `0 3 * * *` in Europe/Berlin\nhint: no server runs here"), "{}", added.stderr);
    let listed = |name: &str| -> Value {
        let list: Value = serde_json::from_str(&schedule(&["list", "--json"]).stdout).expect("JSON");
        let crawls = list["crawls"].as_array().expect("crawls");
        crawls.iter().find(|crawl| crawl["name"] == name).cloned().unwrap_or(Value::Null)
    };
    assert_eq!(listed("docs")["state"], "ON");
    let server = Server::start(directory.path(), &[]);
    let paused = schedule(&["pause", "docs"]);
    assert_eq!((paused.code, &*paused.stderr), (Some(0), "docs is paused: its schedule is not followed\n"));
    assert_eq!(server.get("/crawls/docs").json()["state"], "PAUSED");
    assert_eq!(schedule(&["resume", "docs"]).code, Some(0));
    std::fs::write(directory.path().join("b.yaml"), "name: b\nseeds: [https://b.example/]\n").expect("there is room");
    assert_eq!(schedule(&["add", "b.yaml"]).code, Some(0));
    drop(server);
    assert_eq!((&listed("docs")["state"], &listed("b")["state"]), (&json!("ON"), &json!("ON")), "stored");
    assert_eq!(schedule(&["remove", "docs"]).code, Some(0));
    assert_eq!(listed("docs")["state"], "OFF");
    let wrong = schedule(&["add", "https://a.example/", "--cron", "every day"]);
    assert_eq!((wrong.code, wrong.stderr.contains("not a valid cron expression")), (Some(2), true), "{}", wrong.stderr);
    assert_eq!(schedule(&["run", "nothing"]).code, Some(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_beside_a_server_is_done_by_it() {
    let site = HostileSite::start(site).await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let server = Server::start(directory.path(), &[]);
        let crawl = dragline(directory.path(), &["crawl", &site.url("/"), "--delay", "0s", "--json"]);
        assert_eq!(crawl.code, Some(0), "{}", crawl.stderr);
        assert!(crawl.stderr.contains("the server that runs here crawls iteration 1"), "{}", crawl.stderr);
        let summary: Value = serde_json::from_str(&crawl.stdout).expect("JSON");
        assert_eq!((&summary["status"], &summary["iteration"]), (&json!("closed"), &json!(1)), "{summary}");
        let again = dragline(directory.path(), &["crawl"]);
        assert_eq!(again.code, Some(0), "{}", again.stderr);
        assert_eq!(server.get("/crawls").json()["crawls"][0]["iteration"]["iteration"], 2);
        let limited = dragline(directory.path(), &["crawl", "--max-pages", "1"]);
        assert_eq!(limited.code, Some(0), "{}", limited.stderr);
        let crawl = server.get("/crawls").json()["crawls"][0]["name"].as_str().expect("a name").to_owned();
        let definition = server.get(&format!("/crawls/{crawl}/definition")).body;
        assert!(definition.contains("pages: 1"), "the flag is kept: {definition}");
        let allowing = dragline(directory.path(), &["crawl", "--allow-private"]);
        assert_eq!(allowing.code, Some(2), "{}", allowing.stderr);
        assert!(allowing.stderr.contains("to `dragline serve`"), "{}", allowing.stderr);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_gets_each_notice_until_it_takes_it() {
    let site = HostileSite::start(site).await;
    let times = AtomicUsize::new(0);
    let hook = HostileSite::start(move |asked| match times.fetch_add(1, Ordering::Relaxed) {
        0 => reply(302, &["location: /elsewhere"], ""),
        _ if asked.target == "/hook" => reply(204, &[], ""),
        _ => reply(404, &[], ""),
    })
    .await;
    let directory = tempfile::tempdir().expect("there is room for a directory");
    write_secret(&directory.path().join("secret"), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    tokio::task::block_in_place(|| {
        let server =
            Server::start(directory.path(), &["--webhook", &hook.url("/hook"), "--webhook-secret", "file:secret"]);
        assert_eq!(server.send("POST", "/crawls", &docs(&site)).status, 201);
        assert_eq!(server.send("POST", "/crawls/docs/iterations", &json!({})).status, 202);
        server.wait_until_over("docs", 1);
        let look = Duration::from_millis(20);
        let looks = PATIENCE.as_secs() * 50;
        let is_told = (0..looks).any(|_| {
            std::thread::sleep(look);
            hook.log().len() >= 2
        });
        assert!(is_told, "{:?}", hook.targets());
        let log = hook.log();
        assert!(log.iter().all(|asked| asked.target == "/hook"), "no redirect is followed: {log:?}");
        let ids: BTreeSet<_> = log.iter().map(|asked| asked.field("webhook-id").expect("an id")).collect();
        assert_eq!(ids.len(), 1, "the same message: {ids:?}");
        let signature = log[0].field("webhook-signature").expect("a signature");
        assert!(signature.starts_with("v1,"), "{signature}");
    });
    for (arguments, said) in [
        (["--webhook-secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], "file:PATH"),
        (["--webhook-secret", "env:NO_SUCH_VARIABLE"], "NO_SUCH_VARIABLE"),
        (["--webhook-secret", "file:nothing"], "nothing"),
    ] {
        let arguments =
            [&["serve", "--listen", "127.0.0.1:0", "--webhook", "https://a.example/"], &arguments[..]].concat();
        let refused = tokio::task::block_in_place(|| dragline(directory.path(), &arguments));
        assert_eq!((refused.code, refused.stderr.contains(said)), (Some(2), true), "{}", refused.stderr);
    }
}
