//! Private addresses are never connected to, in whatever spelling.

use std::process::Command;
use std::sync::Arc;

use dragline_domain::address::AddressPolicy;
use dragline_domain::definition::{AccessRule, Draft, ProxyRule};
use dragline_http::{HttpConfig, HttpFetcher, HttpFetchers};
use dragline_ports::fetcher::FetchFailureKind::{AccessRefused, NameNotResolved, PrivateAddress};
use dragline_ports::fetcher::Fetchers as _;

use crate::support::{Names, RawServer, config, failure_kind, fetch, fetcher, kept_body, response};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test]
async fn private_literals_and_names_are_refused() {
    let names = Arc::new(Names::new(&[
        ("inside.example", &["127.0.0.1"]),
        ("both.example", &["::1", "10.0.0.1", "169.254.169.254"]),
        ("mapped.example", &["::ffff:127.0.0.1"]),
        ("empty.example", &[]),
    ]));
    let fetcher = HttpFetcher::with_lookup(&config(AddressPolicy::PublicOnly), names).unwrap();
    let server = RawServer::answering(OK).await;
    let cases = [
        ("127.0.0.1", PrivateAddress, "as it is"),
        ("2130706433", PrivateAddress, "one decimal number"),
        ("0x7f.1", PrivateAddress, "hexadecimal, two parts"),
        ("017700000001", PrivateAddress, "octal"),
        ("127.1", PrivateAddress, "two parts"),
        ("１２７.０.０.１", PrivateAddress, "full-width digits"),
        ("127%2e0.0.1", PrivateAddress, "percent-encoded"),
        ("127.0.0.1.", PrivateAddress, "with the root's dot"),
        ("0.0.0.0", PrivateAddress, "this host"),
        ("[::1]", PrivateAddress, "IPv6"),
        ("[::ffff:127.0.0.1]", PrivateAddress, "IPv4 inside IPv6"),
        ("[::ffff:7f00:1]", PrivateAddress, "the same in hexadecimal"),
        ("169.254.169.254", PrivateAddress, "the metadata service of clouds"),
        ("localhost", PrivateAddress, "by its name"),
        ("LOCALHOST.", PrivateAddress, "in capitals, with the root's dot"),
        ("site.test", PrivateAddress, "a name that resolves to it"),
        ("inside.example", PrivateAddress, "a name like any other"),
        ("both.example", PrivateAddress, "several addresses, all private"),
        ("mapped.example", PrivateAddress, "IPv4 inside IPv6 from a name server"),
        ("empty.example", NameNotResolved, "no address"),
        ("unknown.example", NameNotResolved, "no such name"),
    ];
    for (host, expected, why) in cases {
        for scheme in ["http", "https"] {
            let fetched = fetch(&fetcher, &format!("{scheme}://{host}:{}/", server.port())).await;
            assert_eq!(failure_kind(&fetched), Some(expected), "{host}: {why}: {:?}", fetched.result);
            assert!(fetched.request_headers.is_empty(), "{host}: nothing was sent");
        }
    }
    assert_eq!(server.connections(), 0, "nobody came");
}

#[tokio::test]
async fn a_name_is_looked_up_once_a_connection() {
    let server = RawServer::answering_twice().await;
    let names = Arc::new(Names::loopback());
    let fetcher = HttpFetcher::with_lookup(&config(AddressPolicy::AllowPrivate), Arc::clone(&names) as _).unwrap();
    for (lookups, why) in [(1, "what was checked is what is connected"), (1, "the same connection"), (2, "a new one")] {
        assert_eq!(kept_body(&response(fetch(&fetcher, &server.url("/")).await)), "ok");
        assert_eq!(names.lookups(), lookups, "{why}");
    }
}

const CHILD: &str = "TEST_CHILD";

/// Runs a test of this binary again, in a process with its own environment. The test finds `value`
/// in [`CHILD`].
fn rerun_test(test: &str, value: &str, environment: &[(&str, &str)]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(CHILD, value).envs(environment.iter().copied());
    for name in ["NO_PROXY", "no_proxy"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proxies_of_the_environment_are_ignored() {
    if let Ok(url) = std::env::var(CHILD) {
        assert_eq!(kept_body(&response(fetch(&fetcher(), &url).await)), "ok");
        return;
    }
    let site = RawServer::answering(OK).await;
    let proxy = RawServer::answering("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n").await;
    let proxy_url = format!("http://{}", proxy.address());
    let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    let environment = names.map(|name| (name, proxy_url.as_str()));
    tokio::task::block_in_place(|| {
        rerun_test("guard::proxies_of_the_environment_are_ignored", &site.url("/"), &environment);
    });
    assert_eq!((site.connections(), proxy.connections()), (1, 0));
}

#[tokio::test]
async fn a_definition_names_a_proxy_with_a_private_address_only_where_that_is_allowed() {
    for (rule_proxies, expected, why) in [
        (AddressPolicy::PublicOnly, 0, "whoever wrote the definition may be anybody"),
        (AddressPolicy::AllowPrivate, 2, "on a machine of one's own"),
    ] {
        let proxy = RawServer::answering(OK).await;
        let url = format!("http://{}", proxy.address()).parse().unwrap();
        let hosts = vec!["site.example".parse().unwrap()];
        let rule = AccessRule { proxy: Some(ProxyRule { url, login: None }), ..AccessRule::for_hosts(hosts) };
        let mut draft = Draft::for_seeds(Vec::new());
        draft.access.push(rule);
        let config = HttpConfig { rule_proxies, ..config(AddressPolicy::PublicOnly) };
        let fetcher = HttpFetchers::new(config).fetcher_for(&draft).await.unwrap();
        for url in ["http://site.example/", "https://site.example/"] {
            let fetched = fetch(&fetcher, url).await;
            assert_eq!(failure_kind(&fetched) == Some(AccessRefused), expected == 0, "{why}: {:?}", fetched.result);
        }
        assert_eq!(proxy.connections(), expected, "{why}");
    }
}

#[test]
fn a_machine_without_root_certificates_gets_built_in_ones() {
    if std::env::var(CHILD).is_ok() {
        assert!(HttpFetcher::new(&config(AddressPolicy::PublicOnly)).is_ok());
        return;
    }
    let nowhere = tempfile::tempdir().unwrap();
    let nowhere = nowhere.path().to_str().unwrap();
    let environment = [("SSL_CERT_FILE", "/dev/null"), ("SSL_CERT_DIR", nowhere)];
    rerun_test("guard::a_machine_without_root_certificates_gets_built_in_ones", "", &environment);
}
