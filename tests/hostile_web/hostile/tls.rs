//! Bad certificates, and servers that do not speak TLS.

use dragline_domain::outcome::Outcome;
use dragline_formats::warc::Truncation;
use dragline_testkit::hostile::{Authority, Flaw, HostileSite, Step, Version, head, html, links, reply};
use dragline_testkit::whole_crawls::{Crawled, definition};

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
        assert_eq!(crawled.row(target).outcome, Outcome::FileIngested, "the good one: {target}");
    }
    for (site, why) in &sites {
        let seed = https(site, "/");
        let row = crawled.row(&seed);
        let expected = if *why == "no TLS at all" { Outcome::RequestTimeout } else { Outcome::ConnectionFailed };
        assert_eq!((row.outcome, row.status), (expected, None), "{why}: no answer is accepted");
        assert!(
            site.targets().iter().all(|target| !target.starts_with('/')),
            "{why}: no request was sent: {:?}",
            site.targets()
        );
        assert!(site.connections() > 0, "{why}: a connection was tried");
    }
    assert_eq!(crawled.leftovers(), [("robots_unreadable", 0)], "each of them has an outcome");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_closed_without_a_word_ends_what_had_no_length() {
    let authority = Authority::named("known");
    let acceptor = authority.acceptor(HOST, Flaw::None, Version::Http11);
    let site = HostileSite::start_tls(acceptor, |asked| match asked.target.as_str() {
        "/robots.txt" => vec![head(200, &[]), Step::send("User-agent: *\nDisallow: /no\n"), Step::HangUp],
        "/" => vec![head(200, &["content-type: text/html"]), Step::send(links(["/no", "/cut"])), Step::HangUp],
        _ => vec![head(200, &["content-type: text/html", "content-length: 99"]), Step::send("<p>cut"), Step::HangUp],
    })
    .await;
    let https = |target: &str| format!("https://{HOST}:{}{target}", site.port());
    let crawled = Crawled::over(trusting(vec![authority.root()]), &definition(&[https("/")], tight)).await;
    for (target, truncated, tries, why) in [
        ("/", None, 1, "whole: it had no length"),
        ("/cut", Some(Truncation::Disconnect), 3, "shorter than its length"),
    ] {
        let row = crawled.row(target);
        let ended = (row.outcome, row.truncated, row.tries);
        assert_eq!(ended, (Outcome::FileIngested, truncated, tries), "{target}: {why}: {:?}", row.detail);
    }
    assert_eq!(site.targets(), ["/robots.txt", "/", "/cut", "/cut", "/cut"], "the rules were read, too");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_with_odd_labels_are_reached_if_the_certificate_is_for_them() {
    let authority = Authority::named("known");
    let page = |asked: &dragline_testkit::hostile::Asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        _ => html(asked.field("host").unwrap_or_default()),
    };
    let serve = |name: &str, version| HostileSite::start_tls(authority.acceptor(name, Flaw::None, version), page);
    // The server would not understand HTTP/2, which is only spoken with hosts under their own
    // names.
    let (all, one) = (serve("*.site.test", Version::Both).await, serve("h1-a-0h.site.test", Version::Http11).await);
    let all_http11 = serve("*.site.test", Version::Http11).await;
    let other =
        HostileSite::start_tls(Authority::named("unknown").acceptor("*.site.test", Flaw::None, Version::Both), page)
            .await;
    let cases = [
        (&all, "-a.site.test", true, "the domain's certificate is for it"),
        (&all, "a-.site.test", true, "the same"),
        (&all, "--a-b--.site.test", true, "the same"),
        (&all_http11, "a_b.site.test", true, "the same"),
        (&all_http11, "_.site.test", true, "the same"),
        (&all, "-a.b.site.test", false, "a label more than the certificate is for"),
        (&one, "-a.site.test", false, "only for the name that stands in for it"),
        (&other, "-a.site.test", false, "nobody trusts who signed it"),
    ];
    let https = |site: &HostileSite, host: &str| format!("https://{host}:{}/page", site.port());
    let seeds: Vec<String> = cases.iter().map(|(site, host, ..)| https(site, host)).collect();
    let crawled = Crawled::over(trusting(vec![authority.root()]), &definition(&seeds, tight)).await;
    for (site, host, is_reached, why) in cases {
        let url = https(site, host);
        let row = crawled.log.iter().find(|row| row.url == url || (row.url == "/page" && url == seeds[0]));
        let outcome = row.map(|row| row.outcome);
        let expected = if is_reached { Outcome::FileIngested } else { Outcome::ConnectionFailed };
        assert_eq!(outcome, Some(expected), "{url}: {why}: {row:?}");
        let asked = site
            .log()
            .iter()
            .any(|asked| asked.field("host").is_some_and(|asked| asked.starts_with(&format!("{host}:"))));
        assert_eq!(asked, is_reached, "{url}: {why}: it is asked for under its own name, or not at all");
    }
}
