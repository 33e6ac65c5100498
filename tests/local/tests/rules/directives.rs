//! What pages ask of crawlers: noindex and nofollow, in the page, in the header, on a link.

use dragline_domain::definition::{Draft, Nofollow, Noindex};
use dragline_domain::outcome::Outcome;
use dragline_testkit::site::Site;
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::replies::{html, links, reply};

const HTML: (&str, &str) = ("content-type", "text/html");
const INGESTED: Outcome = Outcome::FileIngested;
const WITHHELD: Outcome = Outcome::BlockedAtRequestOfRemote;

/// Path, X-Robots-Tag, beginning of the page, outcome, whether its link is followed, why.
type Case = (&'static str, Option<&'static str>, &'static str, Outcome, bool, &'static str);

const CASES: &[Case] = &[
    ("/all", None, "<meta name=robots content=noindex>", WITHHELD, true, "asked of everyone"),
    ("/ours", None, "<meta name=DRAGLINE content=NoIndex>", WITHHELD, true, "asked of us, in any case"),
    ("/theirs", None, "<meta name=otherbot content=noindex>", INGESTED, true, "asked of another crawler"),
    ("/none", None, "<meta name=robots content=none>", WITHHELD, false, "none is both"),
    ("/field", Some("noindex"), "", WITHHELD, true, "the header asks everyone"),
    ("/field-ours", Some("dragline: noindex"), "", WITHHELD, true, "the header asks us"),
    ("/field-theirs", Some("otherbot: noindex, nofollow"), "", INGESTED, true, "the header asks another crawler"),
    ("/field-follow", Some("nofollow"), "", INGESTED, false, "the header asks not to follow"),
    ("/follow", None, "<meta name=robots content='index, nofollow'>", INGESTED, false, "the page asks not to follow"),
    ("/both", Some("nofollow"), "<meta name=robots content=noindex>", WITHHELD, false, "both add up"),
    ("/open", Some("all"), "<meta name=robots content='index,follow'>", INGESTED, true, "nothing is asked"),
];

#[tokio::test]
async fn what_a_page_asks_for_is_granted() {
    let mut builder = Site::builder().reply("/", html(&links(CASES.iter().map(|case| case.0))));
    for (path, field, head, ..) in CASES {
        let mut fields = vec![HTML];
        fields.extend(field.map(|value| ("x-robots-tag", value)));
        let body = format!("{head}<title>t</title><p>text</p>{}", links([format!("/from{path}").as_str()]));
        builder = builder.reply(*path, reply(200, &fields, body));
    }
    let site = builder.start().await.unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |_| {})).await;
    let from: Vec<_> = CASES.iter().map(|case| format!("/from{}", case.0)).collect();
    let mut expected = vec![("/", INGESTED, "the seed")];
    for ((path, _, _, outcome, is_followed, why), from) in CASES.iter().zip(&from) {
        expected.push((path, *outcome, why));
        if *is_followed {
            expected.push((from, Outcome::FileNotFound, why));
        }
        let disposition = if *is_followed { "follow" } else { "no_follow" };
        assert_eq!(crawled.links_of(path), [(from.as_str(), "a", disposition)], "{path}: always recorded: {why}");
        let (text, title) = (crawled.text(path), crawled.page(path).title.as_deref());
        let kept = if *outcome == INGESTED { (true, Some("t")) } else { (false, None) };
        assert_eq!((text.contains("text"), title), kept, "{path}: {why}");
    }
    crawled.assert_outcomes(&expected);
    assert_eq!(crawled.progress.parser.links_nofollow, 4, "links that were not followed are counted");
}

#[tokio::test]
async fn the_owner_of_a_site_may_overrule_what_its_pages_ask_for() {
    let robots = "<meta name=robots content=none>";
    let site = Site::builder()
        .reply("/", html(&format!("{robots}<title>t</title><p>text</p><a rel=nofollow href=/page>x</a>")))
        .reply("/page", html("<p>page"))
        .reply("/file", reply(200, &[("content-type", "application/pdf"), ("x-robots-tag", "noindex")], "%PDF-1.7"))
        .start()
        .await
        .unwrap();
    let seeds = [site.url(), format!("{}file", site.url())];
    for (nofollow, noindex, withheld, left, page, why) in [
        (Nofollow::Obey, Noindex::Obey, WITHHELD, WITHHELD, None, "it is obeyed by default"),
        (Nofollow::Follow, Noindex::Obey, WITHHELD, WITHHELD, Some(INGESTED), "its links are followed"),
        (Nofollow::Obey, Noindex::Keep, INGESTED, Outcome::StoredNotRead, None, "what it says is kept"),
    ] {
        let change = |draft: &mut Draft| (draft.nofollow, draft.noindex) = (nofollow, noindex);
        let crawled = Crawled::once(&definition(&seeds, change)).await;
        let mut expected = vec![("/", withheld, why), ("/file", left, why)];
        expected.extend(page.map(|outcome| ("/page", outcome, why)));
        crawled.assert_outcomes(&expected);
        assert_eq!(crawled.text("/").contains("text"), withheld == INGESTED, "{why}");
    }
}

#[tokio::test]
async fn a_link_can_ask_for_itself() {
    let page = "<a rel='noopener NOFOLLOW' href=/left>x</a> <a rel=noopener href=/taken>y</a>
                <a rel=nofollow href=/twice>z</a> <a rel=ugc href=/ugc>u</a>";
    let site =
        Site::builder().reply("/", html(page)).reply("/taken", html("<a href=/twice>again</a>")).start().await.unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |_| {})).await;
    let disposition = |target| crawled.links_of("/").into_iter().find(|link| link.0 == target).map(|link| link.2);
    assert_eq!(
        (disposition("/left"), disposition("/taken"), disposition("/twice")),
        (Some("no_follow"), Some("follow"), Some("no_follow"))
    );
    let targets: Vec<_> = site.log().into_iter().map(|access| access.target).collect();
    assert!(!targets.contains(&"/left".to_owned()), "{targets:?}");
    assert_eq!(crawled.row("/twice").via.as_deref(), Some("/taken"), "another page's link to it is followed");
}

#[tokio::test]
async fn noindex_holds_for_what_is_no_page() {
    let pdf =
        |fields: &[(&str, &str)]| reply(200, &[&[("content-type", "application/pdf")], fields].concat(), "%PDF-1.7");
    let site = Site::builder()
        .reply("/", html(&links(["/open.pdf", "/asked.pdf"])))
        .reply("/open.pdf", pdf(&[]))
        .reply("/asked.pdf", pdf(&[("x-robots-tag", "noindex")]))
        .start()
        .await
        .unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |_| {})).await;
    crawled.assert_outcomes(&[
        ("/", INGESTED, "the seed"),
        ("/open.pdf", Outcome::StoredNotRead, "stored but not parsed"),
        ("/asked.pdf", WITHHELD, "the header asks"),
    ]);
}
