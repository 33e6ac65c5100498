//! Crawls of more sites than the process may have files open.

use std::process::Stdio;

use dragline_end_to_end::dragline::{binary, wait};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The sites, each at an address of its own.
const SITES: usize = 300;

/// What the shell lets the process have, for good.
const FILES_MAX: usize = 256;

/// A server at every address of this machine, which keeps its connections.
async fn keeper() -> u16 {
    let listener = TcpListener::bind("0.0.0.0:0").await.expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    tokio::spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(talk(stream))),
                Err(_) => tokio::task::yield_now().await,
            }
        }
    });
    port
}

async fn talk(mut stream: TcpStream) {
    let mut head = Vec::new();
    while let Ok(byte) = stream.read_u8().await {
        head.push(byte);
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        let (status, body) = match head.split(|byte| *byte == b' ').nth(1) {
            Some(b"/") => ("200 OK", "<a href=/more>more</a>"),
            Some(b"/more") => ("200 OK", "all"),
            _ => ("404 Not Found", ""),
        };
        let length = body.len();
        let answer = format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{body}");
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
        head.clear();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_sites_than_files_that_may_be_open() {
    let scratch = tempfile::tempdir().unwrap();
    let port = keeper().await;
    let seeds = (1..=SITES).map(|site| format!("http://127.0.{}.{}:{port}/", site / 250, site % 250 + 1));
    let mut command = tokio::process::Command::new("sh");
    command.args(["-c", &format!("ulimit -n {FILES_MAX}; exec \"$0\" \"$@\"")]).arg(binary()).arg("crawl").args(seeds);
    command
        .args(["--delay", "10ms", "--allow-private", "--quiet", "--json", "--data"])
        .arg(scratch.path().join("data"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let ended = wait(command.spawn().unwrap()).await;
    assert_eq!(ended.code, Some(0), "every page of every site is well: {}", ended.stderr);
}
