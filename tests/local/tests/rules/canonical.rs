//! Pages that call another URL canonical.

use dragline_domain::definition::{Condition, DoNotCrawl, TextTest};
use dragline_domain::outcome::Outcome;
use dragline_testkit::site::Site;
use dragline_whole_crawls::{Crawled, definition};

use super::replies::{html, links, reply};

#[tokio::test]
async fn a_canonical_url_takes_its_copies_place() {
    let page = |canonical: &str, text: &str| {
        html(&format!(
            "<link rel=canonical href=\"{canonical}\"><p>{text}</p>{}",
            links([format!("/from-{text}").as_str()])
        ))
    };
    let site = Site::builder()
        .reply("/", html(&links(["/copy", "/by-field", "/own", "/foreign", "/printed"])))
        .reply("/copy", page("/original", "copy"))
        .reply(
            "/by-field",
            reply(200, &[("content-type", "text/html"), ("link", "</named>; rel=\"canonical\"")], "text"),
        )
        .reply("/own", page("/own#top", "own"))
        .reply("/foreign", page("http://elsewhere.example/x", "foreign"))
        .reply("/printed", page("/secret", "printed"))
        .reply("/original", html("original"))
        .reply("/named", html("named"))
        .start()
        .await
        .unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |draft| {
        let when = Condition::Path(TextTest::Equals("/secret".to_owned()));
        draft.do_not_crawl.push(DoNotCrawl { when, reason: "not for us".to_owned() });
    }))
    .await;
    crawled.assert_outcomes(&[
        ("/", Outcome::FileIngested, "the seed"),
        ("/copy", Outcome::NotCanonical, "its canonical URL is in scope"),
        ("/by-field", Outcome::NotCanonical, "said by the Link field"),
        ("/own", Outcome::FileIngested, "it is its own canonical URL: a fragment makes no other"),
        ("/foreign", Outcome::FileIngested, "nobody else will crawl its canonical URL"),
        ("/printed", Outcome::FileIngested, "its canonical URL is forbidden: better the copy than nothing"),
        ("/original", Outcome::FileIngested, "found as a canonical URL alone"),
        ("/named", Outcome::FileIngested, "found as a canonical URL alone"),
        ("/secret", Outcome::BlockedUrlByLocalPolicy, "forbidden, however it is found"),
        ("/from-copy", Outcome::FileNotFound, "the links of a copy are followed"),
        ("/from-own", Outcome::FileNotFound, "as are those of any page"),
        ("/from-foreign", Outcome::FileNotFound, "as are those of any page"),
        ("/from-printed", Outcome::FileNotFound, "as are those of any page"),
    ]);
    for (url, text, redirects_to) in [
        ("/copy", "", Some("/original")),
        ("/by-field", "", Some("/named")),
        ("/own", "own", None),
        ("/foreign", "foreign", Some("http://elsewhere.example/x")),
        ("/printed", "printed", Some("/secret")),
    ] {
        let kept = crawled.text(url);
        assert_eq!(kept.is_empty(), text.is_empty(), "{url}: the text of a copy is not kept twice: {kept:?}");
        assert!(kept.contains(text), "{url}: {kept:?}");
        assert_eq!(crawled.row(url).redirects_to.as_deref(), redirects_to, "{url}: where it sends its visitors");
    }
    let depth = |url| crawled.row(url).depth;
    assert_eq!((depth("/copy"), depth("/original"), depth("/from-copy")), (1, 1, 2), "it stands for the same page");
    let foreign = crawled.links_of("/foreign");
    assert!(foreign.contains(&("http://elsewhere.example/x", "canonical", "out_of_scope")), "{foreign:?}");
}
