//! An address on this machine that counts what arrives there, over TCP and UDP.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;

/// The counter. Dropping it closes it.
pub(crate) struct Counter {
    pub(crate) port: u16,
    seen: Arc<Mutex<BTreeSet<String>>>,
    _tasks: JoinSet<()>,
}

impl Counter {
    /// Listens at one port over both protocols. `/` is answered by this page.
    pub(crate) async fn listen(page: fn(u16) -> String) -> Self {
        let (tcp, udp, port) = loop {
            let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let port = tcp.local_addr().unwrap().port();
            if let Ok(udp) = UdpSocket::bind(("127.0.0.1", port)).await {
                break (tcp, udp, port);
            }
        };
        let (seen, mut tasks) = (Arc::new(Mutex::new(BTreeSet::new())), JoinSet::new());
        let datagrams = Arc::clone(&seen);
        tasks.spawn(async move {
            let mut buffer = [0; 2048];
            while let Ok((bytes, _)) = udp.recv_from(&mut buffer).await {
                datagrams.lock().unwrap().insert(format!("UDP of {bytes} bytes"));
            }
        });
        let connections = Arc::clone(&seen);
        let page: Arc<str> = page(port).into();
        tasks.spawn(async move {
            while let Ok((stream, _)) = tcp.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&page), Arc::clone(&connections)));
            }
        });
        Self { port, seen, _tasks: tasks }
    }

    /// What arrived, other than requests for the page itself.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().cloned().collect()
    }
}

async fn serve(mut stream: TcpStream, page: Arc<str>, seen: Arc<Mutex<BTreeSet<String>>>) {
    let mut request = [0; 4096];
    let bytes = stream.read(&mut request).await.unwrap_or(0);
    let request = String::from_utf8_lossy(&request[..bytes]);
    let line = request.lines().next().unwrap_or_default();
    let is_page = line.starts_with("GET / ");
    if !is_page {
        seen.lock().unwrap().insert(format!("TCP: {}", line.escape_debug()));
    }
    let (kind, body) = if is_page { ("text/html", &*page) } else { ("text/javascript", "0") };
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}
