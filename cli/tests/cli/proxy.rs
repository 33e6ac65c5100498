//! Proxies in the environment are ignored.

use dragline_testkit::hostile::{HostileSite, html, reply};

use super::{command, ran};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_does_not_use_the_proxies_of_the_environment() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        _ => html("<a href=/next>next</a>"),
    })
    .await;
    let proxy = HostileSite::start(|_| html("from the proxy")).await;
    let (seed, proxy_url) = (site.url("/"), proxy.url(""));
    let ended = tokio::task::block_in_place(|| {
        let directory = tempfile::tempdir().expect("there is room for a directory");
        let arguments = ["crawl", &seed, "--allow-private", "--delay", "0s"];
        let mut crawl = command(directory.path(), &arguments);
        for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            crawl.env(name, &proxy_url);
        }
        for name in ["NO_PROXY", "no_proxy"] {
            crawl.env_remove(name);
        }
        ran(&mut crawl)
    });
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(site.targets(), ["/robots.txt", "/", "/next"], "the site was asked directly");
    assert_eq!(proxy.connections(), 0, "the proxy was not used");
}
