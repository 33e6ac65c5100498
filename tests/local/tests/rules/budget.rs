//! Iterations that end before everything is visited.

use dragline_testkit::site::{GeneratedSite, Site};
use dragline_testkit::whole_crawls::{Crawled, definition};

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
