//! One server on all loopback addresses, for as many hosts as a test wants.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The body at a path, whatever the host; `None` for 404.
pub(crate) type Content = fn(&str) -> Option<Vec<u8>>;

/// Starts the server, which keeps connections alive, and returns its port.
pub(crate) async fn serve(content: Content) -> u16 {
    let listener = TcpListener::bind("0.0.0.0:0").await.expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    tokio::spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(talk(stream, content))),
                Err(_) => tokio::task::yield_now().await,
            }
        }
    });
    port
}

/// The first pages of this many hosts.
pub(crate) fn seeds(hosts: usize, port: u16) -> impl Iterator<Item = String> {
    (1..=hosts).map(move |host| format!("http://127.0.{}.{}:{port}/", host / 250, host % 250 + 1))
}

async fn talk(mut stream: TcpStream, content: Content) {
    let mut head = Vec::new();
    while let Ok(byte) = stream.read_u8().await {
        head.push(byte);
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        let path = head.split(|byte| *byte == b' ').nth(1).map(String::from_utf8_lossy).unwrap_or_default();
        let (status, body) = content(&path).map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
        let length = body.len();
        let answer = format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n");
        if stream.write_all(&[answer.as_bytes(), &body].concat()).await.is_err() {
            return;
        }
        head.clear();
    }
}
