//! Trusted certificates, and the chosen protocol.

use std::sync::Arc;

use dragline_domain::address::AddressPolicy;
use dragline_formats::warc::HttpProtocol;
use dragline_http::{Certificate, CertificatePolicy, HttpConfig, HttpConfigError, HttpFetcher, certificates_from_pem};
use dragline_ports::fetcher::FetchFailureKind::{Protocol, Tls};
use dragline_testkit::hostile::{Authority, Flaw, Signer, Version};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::support::{Names, TlsServer, config, failure_kind, fetch, fetcher, kept_body, response};

fn trusting(authority: &Authority) -> HttpFetcher {
    fetcher_with_roots(certificates_from_pem(authority.root_pem().as_bytes()).unwrap())
}

/// A fetcher configured with these certificates.
fn fetcher_with_roots(extra_roots: Vec<Certificate>) -> HttpFetcher {
    let config = HttpConfig { extra_roots, ..config(AddressPolicy::AllowPrivate) };
    HttpFetcher::with_lookup(&config, Arc::new(Names::loopback())).unwrap()
}

#[tokio::test]
async fn an_extra_root_is_trusted_and_the_newest_protocol_is_used() {
    let authority = Authority::named("ours");
    let fetcher = trusting(&authority);
    let http11 = (Version::Http11, "HTTP/1.1", HttpProtocol::Http11, true);
    let http2 = (Version::Http2, "HTTP/2.0", HttpProtocol::H2, false);
    for (version, spoken, protocol, host) in [http11, http2] {
        let server = TlsServer::start(&authority, Flaw::None, version).await;
        for _ in 0..2 {
            let response = response(fetch(&fetcher, &server.url("/")).await);
            assert_eq!((response.status, response.reason.as_str()), (200, "OK"), "{version:?}");
            assert_eq!(kept_body(&response), spoken, "{version:?}");
            assert_eq!(response.protocol, Some(protocol), "{version:?}");
            let seen = response.headers.get("x-host").unwrap();
            assert_eq!(seen.starts_with(b"Some"), host, "HTTP/2 has `:authority` for it, RFC 9113 section 8.3.1");
        }
    }
}

#[tokio::test]
async fn bad_certificates_are_refused_with_their_reason() {
    let (authority, stranger) = (Authority::named("ours"), Authority::named("theirs"));
    let cases = [
        (&stranger, Flaw::None, "UnknownIssuer", "signed by an unknown authority"),
        (&authority, Flaw::Expired, "expired", "too old"),
        (&authority, Flaw::WrongName, "not valid for name", "made out to another"),
    ];
    for (signer, flaw, reason, why) in cases {
        let server = TlsServer::start(signer, flaw, Version::Http11).await;
        let fetched = fetch(&trusting(&authority), &server.url("/")).await;
        assert_eq!(failure_kind(&fetched), Some(Tls), "{why}: {:?}", fetched.result);
        let detail = fetched.result.unwrap_err().detail;
        assert!(detail.contains(reason), "{why}: {detail}");
        assert!(fetched.request_headers.is_empty(), "{why}: nothing was sent");
    }
}

#[tokio::test]
async fn a_server_is_known_by_its_own_certificate_which_must_still_be_good() {
    use Signer::{Authority as Stranger, Itself, ItselfAsAuthority};
    let stranger = Authority::named("theirs");
    let cases = [
        (Itself, Flaw::None, None, "signed by itself"),
        (ItselfAsAuthority, Flaw::None, None, "as `openssl req -x509` makes it, which rustls refuses as a server's"),
        (Stranger, Flaw::None, None, "of an authority whose root is not at hand"),
        (Itself, Flaw::Expired, Some("expired"), "too old"),
        (ItselfAsAuthority, Flaw::Expired, Some("expired"), "too old, and an authority's"),
        (Stranger, Flaw::Expired, Some("expired"), "too old, of nobody we know"),
        (ItselfAsAuthority, Flaw::NotYetValid, Some("not valid yet"), "too new"),
        (Itself, Flaw::WrongName, Some("not valid for name"), "made out to another"),
        (ItselfAsAuthority, Flaw::WrongName, Some("not valid for name"), "made out to another, and an authority's"),
        (Stranger, Flaw::WrongName, Some("not valid for name"), "made out to another, by nobody we know"),
    ];
    for (signer, flaw, expected, why) in cases {
        let (acceptor, certificate) = stranger.acceptor_signed_by(signer, "site.test", flaw, Version::Http11);
        let server = TlsServer::showing(acceptor, Version::Http11).await;
        let fetched = fetch(&fetcher_with_roots(vec![certificate]), &server.url("/")).await;
        match expected {
            None => assert_eq!(response(fetched).status, 200, "{why}"),
            Some(reason) => {
                assert_eq!(failure_kind(&fetched), Some(Tls), "{why}: {:?}", fetched.result);
                let detail = fetched.result.unwrap_err().detail;
                assert!(detail.contains(reason) && detail.starts_with("certificate not trusted: "), "{why}: {detail}");
            }
        }
        let (_, another) = stranger.acceptor_signed_by(signer, "site.test", Flaw::None, Version::Http11);
        let fetched = fetch(&fetcher_with_roots(vec![another]), &server.url("/")).await;
        assert_eq!(failure_kind(&fetched), Some(Tls), "{why}: another certificate of the same name was given");
    }
}

#[tokio::test]
async fn any_certificate_will_do_where_none_is_checked() {
    let stranger = Authority::named("theirs");
    let config = HttpConfig { certificates: CertificatePolicy::AcceptAny, ..config(AddressPolicy::AllowPrivate) };
    let fetcher = HttpFetcher::with_lookup(&config, Arc::new(Names::loopback())).unwrap();
    for flaw in [Flaw::None, Flaw::Expired, Flaw::NotYetValid, Flaw::SelfSigned, Flaw::WrongName] {
        for version in [Version::Http11, Version::Http2] {
            let server = TlsServer::start(&stranger, flaw, version).await;
            assert_eq!(response(fetch(&fetcher, &server.url("/")).await).status, 200, "{flaw:?}, {version:?}");
        }
    }
}

#[tokio::test]
async fn a_header_over_http2_is_limited_too() {
    let authority = Authority::named("ours");
    let fetcher = trusting(&authority);
    let server = TlsServer::start(&authority, Flaw::None, Version::Http2).await;
    let cases = [
        ("/40000", None, "more than the 16 KiB that hyper takes by itself"),
        ("/100000", Some(Protocol), "over the request's limit"),
        ("/1000000", Some(Protocol), "over what the client takes at all"),
    ];
    for (path, expected, why) in cases {
        let fetched = fetch(&fetcher, &server.url(path)).await;
        assert_eq!(failure_kind(&fetched), expected, "{why}: {:?}", fetched.result);
    }
}

#[tokio::test]
async fn plain_http_on_a_port_for_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        stream
    };
    let (fetcher, url) = (fetcher(), format!("https://site.test:{port}/"));
    let (fetched, _stream) = tokio::join!(fetch(&fetcher, &url), server);
    assert_eq!(failure_kind(&fetched), Some(Tls), "{:?}", fetched.result);
}

#[test]
fn a_configuration_that_cannot_work_says_so() {
    let config = HttpConfig::new("bad\nagent");
    let error = HttpFetcher::new(&config).err().unwrap();
    assert!(matches!(error, HttpConfigError::UserAgent(_)));
    assert_eq!(
        error.to_string(),
        "the user agent `bad\\nagent` cannot be sent: use visible ASCII characters and spaces"
    );
}
