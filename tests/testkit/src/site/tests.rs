//! Tests of the server as clients see it.

use std::sync::Arc;
use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::{GeneratedSite, Reply, Site};
use crate::hostile::{Authority, Flaw, Version};

/// Sends raw bytes and reads until the server closes.
async fn talk(site: &Site, sent: &str) -> String {
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all(sent.as_bytes()).await.unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await.unwrap();
    String::from_utf8_lossy(&received).into_owned()
}

async fn get(site: &Site, target: &str) -> String {
    talk(site, &format!("GET {target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).await
}

#[tokio::test]
async fn replies_come_before_the_content() {
    let site = Site::builder()
        .generated(GeneratedSite::benchmark(3))
        .robots("User-agent: *\nDisallow: /private\n")
        .reply("/page/1.html", Reply::new(StatusCode::NOT_FOUND).body("moved away"))
        .reply("/busy", Reply::new(StatusCode::TOO_MANY_REQUESTS).header(RETRY_AFTER, HeaderValue::from_static("7")))
        .reply("/busy?now", Reply::new(StatusCode::OK).body("calm"))
        .start()
        .await
        .unwrap();
    for (target, status, part, why) in [
        ("/", "200", "Page 0", "the content"),
        ("/?x=1", "200", "Page 0", "generated pages ignore queries"),
        ("/page/1.html", "404", "moved away", "a reply in place of a page"),
        ("/page/2.html", "200", "Page 2", "the others stay"),
        ("/page/3.html", "404", "not found", "there is no such page"),
        ("/busy", "429", "retry-after: 7", "a reply's header fields"),
        ("/busy?later", "429", "retry-after: 7", "with a query that has no reply of its own"),
        ("/busy?now", "200", "calm", "and one that has"),
        ("/robots.txt", "200", "Disallow: /private", "robots.txt"),
    ] {
        let received = get(&site, target).await;
        assert!(received.starts_with(&format!("HTTP/1.1 {status} ")), "{target}: {why}: {received}");
        assert!(received.contains(part), "{target}: {why}: {received}");
    }
    let refused = talk(&site, "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await;
    assert!(refused.starts_with("HTTP/1.1 405 "), "only GET is served: {refused}");
}

#[tokio::test]
async fn one_connection_carries_many_requests() {
    let site = Site::builder().generated(GeneratedSite::benchmark(3)).start().await.unwrap();
    let first = "GET /page/1.html HTTP/1.1\r\nhost: x\r\n\r\n";
    let last = "GET /page/2.html HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let received = talk(&site, &format!("{first}{last}")).await;
    assert_eq!(received.matches("HTTP/1.1 200 OK").count(), 2, "{received}");
}

#[tokio::test]
async fn the_log_is_exact_while_running_and_after() {
    let mut site = Site::builder().generated(GeneratedSite::benchmark(2)).start().await.unwrap();
    let whole = get(&site, "/page/1.html?a=b").await;
    let (_head, body) = whole.split_once("\r\n\r\n").unwrap();
    site.reached(1).await;
    let conditional = "GET /none HTTP/1.1\r\nhost: x\r\nconnection: close\r\nif-none-match: \"x\"\r\n\r\n";
    talk(&site, conditional).await;
    site.stop().await;
    site.stop().await;

    let log = site.log();
    let seen: Vec<_> =
        log.iter().map(|access| (access.target.as_str(), access.status.as_u16(), access.is_conditional())).collect();
    assert_eq!(seen, [("/page/1.html?a=b", 200, false), ("/none", 404, true)]);
    assert_eq!(log[0].body_bytes, body.len());
    assert!(log[0].arrived < log[1].arrived && log[0].arrived_wall <= log[1].arrived_wall);
    assert!(TcpStream::connect(site.address).await.is_err(), "a stopped site takes no connections");
}

#[tokio::test]
async fn a_request_counts_when_it_arrives_and_is_answered_after_the_delay() {
    let site = Site::builder().delay(Duration::from_secs(3_600)).start().await.unwrap();
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all(b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    site.reached(1).await;
    assert_eq!(site.log()[0].target, "/slow", "logged although its client never got an answer");
    let mut byte = [0];
    assert!(stream.try_read(&mut byte).is_err(), "nothing was sent yet");
}

#[tokio::test]
async fn a_site_without_a_log_still_counts() {
    let site = Site::builder().without_log().start().await.unwrap();
    get(&site, "/").await;
    site.reached(1).await;
    assert!(site.log().is_empty());
}

#[tokio::test]
async fn over_tls_the_client_chooses_the_version() {
    /// The preface of HTTP/2 and an empty SETTINGS frame (RFC 9113, section 3.4).
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let authority = Authority::named("tests");
    let acceptor = authority.acceptor("localhost", Flaw::None, Version::Both);
    let site = Site::builder().generated(GeneratedSite::benchmark(1)).tls(acceptor).start().await.unwrap();
    assert!(site.url().starts_with("https://"), "{}", site.url());
    let mut roots = RootCertStore::empty();
    roots.add(authority.root()).unwrap();
    for (offered, sent, http2, why) in [
        (&[][..], GET, false, "a client that offers nothing"),
        (&["http/1.1"], GET, false, "one without HTTP/2"),
        (&["h2", "http/1.1"], PREFACE, true, "one with both"),
    ] {
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots.clone())
            .with_no_client_auth();
        config.alpn_protocols = offered.iter().map(|name| name.as_bytes().to_vec()).collect();
        let stream = TcpStream::connect(site.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        stream.write_all(sent).await.unwrap();
        let mut begins = [0; 9];
        stream.read_exact(&mut begins).await.unwrap();
        if http2 {
            assert_eq!(begins[3], 4, "{why} gets a SETTINGS frame first: {begins:?}");
        } else {
            assert_eq!(&begins, b"HTTP/1.1 ", "{why}");
        }
    }
}
