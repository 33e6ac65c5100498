//! Iterations that end before everything is visited.

use dragline_domain::definition::{ExternalLinks, Links, Requisites};
use dragline_testkit::site::{GeneratedSite, Site};
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::scripted::{Act, Asked, ScriptedSite, answer, page};

const PAGES: GeneratedSite = GeneratedSite { pages: 60, links_per_page: 10, bytes_per_page: 10_000, seed: 3 };

#[tokio::test]
async fn each_origin_has_its_own_pages_to_spend() {
    let sites = [
        Site::builder().generated(PAGES).start().await.unwrap(),
        Site::builder().generated(PAGES).start().await.unwrap(),
    ];
    let seeds = [sites[0].url(), sites[1].url()];
    let crawled = Crawled::once(&definition(&seeds, |draft| draft.budget.pages_per_origin = Some(7))).await;
    for site in &sites {
        assert_eq!(site.log().len(), 8, "seven pages and robots.txt");
    }
    assert_eq!(crawled.progress.finished(), 14);
    let [("origin_budget_exhausted", left)] = crawled.leftovers()[..] else { panic!("{:?}", crawled.leftovers()) };
    assert_eq!(crawled.progress.added, 14 + left, "URLs found but not visited are counted");
}

#[tokio::test]
async fn bytes_are_spent_up_to_the_page_that_exceeds_them() {
    let site = Site::builder().generated(PAGES).start().await.unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |draft| {
        draft.politeness.concurrency = 1;
        draft.budget.bytes = Some(95_000);
    }))
    .await;
    assert_eq!(site.log().len(), 11, "ten pages of 10,000 bytes and robots.txt");
    let [("budget_exhausted", left)] = crawled.leftovers()[..] else { panic!("{:?}", crawled.leftovers()) };
    assert_eq!(crawled.progress.added, 10 + left);
}

/// Pages of which each needs a picture and a style sheet, and links to a file that is not to be
/// followed, and to other pages.
fn illustrated(asked: &Asked) -> Act {
    let target = &*asked.target;
    match target.rsplit_once('.') {
        None => {
            let links: String = (0..40).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
            page(&format!(
                "<img src={target}.png><link rel=stylesheet href={target}.css><a rel=nofollow href={target}.zip>all of it</a>{links}"
            ))
        }
        Some((_, "css")) => answer(200, &["content-type: text/css"], format!("p {{ background: url({target}.png) }}")),
        Some((_, "txt")) => answer(404, &[], ""),
        Some(_) => answer(200, &["content-type: application/octet-stream"], target),
    }
}

#[tokio::test]
async fn the_last_pages_get_what_they_need_and_their_links_are_checked() {
    for (pages, pages_per_origin, why) in
        [(Some(4), None, "the budget of the crawl"), (None, Some(4), "the budget of the origin")]
    {
        let site = ScriptedSite::start(illustrated).await;
        Crawled::once(&definition(&[site.url("/0")], |draft| {
            (draft.budget.pages, draft.budget.pages_per_origin) = (pages, pages_per_origin);
            draft.requisites = Requisites::Fetch;
            draft.links = Links { external: ExternalLinks::Check };
        }))
        .await;
        let asked: Vec<String> = site.log().into_iter().map(|asked| asked.target).collect();
        let visited: Vec<&String> = asked.iter().filter(|target| !target.contains('.')).collect();
        assert_eq!(visited.len(), 4, "{why}: {asked:?}");
        for page in visited {
            for beside in [".png", ".css", ".css.png", ".zip"] {
                assert!(asked.contains(&format!("{page}{beside}")), "{why}: {page}{beside} of {asked:?}");
            }
        }
    }
}
