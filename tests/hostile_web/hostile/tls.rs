//! Bad certificates, and servers that do not speak TLS.

use dragline_domain::outcome::Outcome;
use dragline_testkit::hostile::{Authority, Flaw, HostileSite, Version, html, links, reply};
use dragline_whole_crawls::{Crawled, definition};

use crate::support::{tight, trusting};

const HOST: &str = "site.test";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_is_not_good_is_a_failure_and_nothing_is_sent() {
    let (known, unknown) = (Authority::named("known"), Authority::named("unknown"));
    let page = |asked: &dragline_testkit::hostile::Asked| match asked.target.as_str() {
        "/" => html(links(["/good"])),
        "/good" => html("good"),
        _ => reply(404, &[], ""),
    };
    let good = HostileSite::start_tls(known.acceptor(HOST, Flaw::None, Version::Http11), page).await;
    let bad = [
        (known.acceptor(HOST, Flaw::Expired, Version::Http11), "expired"),
        (known.acceptor(HOST, Flaw::NotYetValid, Version::Http11), "not yet valid"),
        (known.acceptor(HOST, Flaw::SelfSigned, Version::Http11), "self-signed"),
        (known.acceptor(HOST, Flaw::WrongName, Version::Http11), "for another name"),
        (unknown.acceptor(HOST, Flaw::None, Version::Http11), "from an unknown authority"),
    ];
    let mut sites = Vec::new();
    for (acceptor, why) in bad {
        sites.push((HostileSite::start_tls(acceptor, page).await, why));
    }
    sites.push((HostileSite::start(page).await, "no TLS at all"));
    let https = |site: &HostileSite, target: &str| format!("https://{HOST}:{}{target}", site.port());
    let seeds: Vec<String> =
        [&good].into_iter().chain(sites.iter().map(|(site, _)| site)).map(|site| https(site, "/")).collect();
    let crawled = Crawled::over(trusting(vec![known.root()]), &definition(&seeds, tight)).await;
    for target in ["/", "/good"] {
        assert_eq!(crawled.row(target).outcome, Outcome::FileIngested.code(), "the good one: {target}");
    }
    for (site, why) in &sites {
        let seed = https(site, "/");
        assert!(!crawled.log.iter().any(|row| row.url == seed && row.status.is_some()), "{why}: no answer is accepted");
        assert!(
            site.targets().iter().all(|target| !target.starts_with('/')),
            "{why}: no request was sent: {:?}",
            site.targets()
        );
        assert!(site.connections() > 0, "{why}: a connection was tried");
    }
    let left = u64::try_from(sites.len()).unwrap();
    assert_eq!(
        crawled.leftovers(),
        [("robots_unreadable", left)],
        "robots.txt could not be read, so nothing may be requested"
    );
}
