//! Who may call, how often, and how: tokens, limits, HTTPS.

use std::process::Command;

use super::*;

/// Writes a certificate and its key, for localhost.
fn write_certificate(directory: &Path) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(directory)
        .output()
        .expect("openssl is installed");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_a_client_has_is_not_sent_again() {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let server = Server::start(directory.path(), &[]);
        let first = server.get("/crawls");
        let tag = first.head.lines().find_map(|line| line.strip_prefix("etag: ")).expect("a tag").to_owned();
        let again = server.call_with("GET", "/crawls", &format!("If-None-Match: {tag}\r\n"), "");
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{}", again.head);
        assert!(again.head.contains(&tag), "{}", again.head);
        let other = json!({"domain_names": ["https://a.example/"]});
        assert_eq!(server.send("POST", "/crawls", &other).status, 201);
        let changed = server.call_with("GET", "/crawls", &format!("If-None-Match: {tag}\r\n"), "");
        assert_eq!(changed.status, 200, "it has changed");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_editor_removes_no_crawl() {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let token = |user: &str, role: &str| {
            let made = dragline(directory.path(), &["token", "add", user, "--role", role]).stdout;
            format!("Authorization: Bearer {}\r\nContent-Type: application/json\r\n", made.trim())
        };
        let (editor, owner) = (token("ben", "editor"), token("eve", "owner"));
        let server = Server::start(directory.path(), &[]);
        let body =
            json!({"name": "docs", "domain_names": ["https://a.example/"], "cron_expression": "0 3 * * *"}).to_string();
        assert_eq!(server.call_with("POST", "/crawls", &editor, &body).status, 201);
        for (fields, state, status, why) in [
            (&editor, "PAUSED", 200, "an editor pauses"),
            (&editor, "OFF", 403, "and removes nothing"),
            (&owner, "OFF", 200, "an owner does"),
        ] {
            let body = json!({"state": state}).to_string();
            let reply = server.call_with("PUT", "/crawls/docs/schedule", fields, &body);
            assert_eq!(reply.status, status, "{why}: {}", reply.body);
        }
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guessing_tokens_is_slow() {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        let token = dragline(directory.path(), &["token", "add", "ada"]).stdout;
        let server = Server::start(directory.path(), &[]);
        let call =
            |secret: &str| server.call_with("GET", "/crawls", &format!("Authorization: Bearer {secret}\r\n"), "");
        assert_eq!(call(token.trim()).status, 200);
        let guesses: Vec<Reply> = (0..14).map(|guess| call(&format!("guess {guess}"))).collect();
        let statuses: Vec<u16> = guesses.iter().map(|reply| reply.status).collect();
        assert_eq!(statuses[..10], [401; 10], "{statuses:?}");
        assert!(statuses[10..].contains(&429), "{statuses:?}");
        let limited = guesses.iter().find(|reply| reply.status == 429).expect("one is");
        assert!(limited.head.contains("retry-after: "), "{}", limited.head);
        assert_eq!(call(token.trim()).status, 200, "whose token is known is not kept out");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn https_is_spoken_with_a_certificate() {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    tokio::task::block_in_place(|| {
        write_certificate(directory.path());
        let server = Server::start(directory.path(), &["--tls-certificate", "cert.pem", "--tls-key", "key.pem"]);
        // A client that never greets keeps nobody waiting.
        let _silent = TcpStream::connect(&server.address).expect("it listens");
        let client = Command::new("curl")
            .args(["--silent", "--show-error", "--cacert", "cert.pem", &format!("https://{}/healthz", server.address)])
            .current_dir(directory.path())
            .output()
            .expect("curl is installed");
        assert_eq!(String::from_utf8_lossy(&client.stdout), "ok\n", "{}", String::from_utf8_lossy(&client.stderr));
        // The commands of this machine reach it, too.
        let listed = dragline(directory.path(), &["schedule", "list", "--json"]);
        assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    });
    tokio::task::block_in_place(|| {
        std::fs::write(directory.path().join("empty.pem"), "").expect("there is room");
        for (certificate, key, said) in [
            ("nothing.pem", "key.pem", "nothing.pem"),
            ("empty.pem", "key.pem", "no certificate"),
            ("cert.pem", "empty.pem", "empty.pem"),
        ] {
            let arguments = ["serve", "--listen", "127.0.0.1:0", "--tls-certificate", certificate, "--tls-key", key];
            let refused = dragline(directory.path(), &arguments);
            assert_eq!((refused.code, refused.stderr.contains(said)), (Some(2), true), "{}", refused.stderr);
        }
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_for_programs_has_time_and_level() {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    tokio::task::block_in_place(|| {
        let refused = dragline(directory.path(), &["serve", "--listen", &address, "--log", "json"]);
        let lines: Vec<Value> = refused.stderr.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert!(!lines.is_empty(), "it says why it does not serve");
        for line in lines {
            assert!(line["at"].is_string() && line["level"] == "error", "{line}");
        }
    });
}
