//! Sitemaps of every form and type, and those that give nothing: what is requested for them, each
//! URL once.

use dragline_domain::definition::{Draft, Sitemaps};
use dragline_domain::outcome::Outcome::{self, StoredNotRead};
use dragline_testkit::hostile::{HostileSite, Step, head, html, links, reply};
use dragline_testkit::whole_crawls::{Crawled, definition};

use crate::support::tight;

/// The page that only the sitemap lists.
const LISTED: &str = "/listed";

/// What a server answers, of its own base URL.
type Answer = fn(&str) -> Vec<Step>;

/// A site whose sitemap is at `/s`, named by its robots.txt.
struct Case {
    robots: Answer,
    sitemap: Answer,
    is_read: bool,
    why: &'static str,
}

fn typed(content_type: &str, body: impl AsRef<[u8]>) -> Vec<Step> {
    reply(200, &[&format!("content-type: {content_type}")], body)
}

fn names(base: &str) -> Vec<Step> {
    typed("text/plain", format!("Sitemap: {base}/s\n"))
}

fn urlset(base: &str) -> String {
    format!(
        "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{base}{LISTED}</loc></url></urlset>"
    )
}

fn utf_16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

const fn of_sitemap(sitemap: Answer, why: &'static str) -> Case {
    Case { robots: names, sitemap, is_read: true, why }
}

const fn of_robots(robots: Answer, why: &'static str) -> Case {
    Case { robots, sitemap: |base| typed("application/xml", urlset(base)), is_read: true, why }
}

const fn of_nothing(sitemap: Answer, why: &'static str) -> Case {
    Case { robots: names, sitemap, is_read: false, why }
}

async fn site(robots: Answer, sitemap: Answer) -> HostileSite {
    HostileSite::start(move |asked| {
        let base = format!("http://{}", asked.field("host").unwrap_or_default());
        match asked.target.as_str() {
            "/robots.txt" => robots(&base),
            "/robots-live.txt" => names(&base),
            "/s" => sitemap(&base),
            target if target == LISTED => html("listed"),
            "/" => html("home"),
            _ => reply(404, &[], ""),
        }
    })
    .await
}

fn follows(draft: &mut Draft) {
    tight(draft);
    draft.sitemaps = Sitemaps::Follow;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_named_as_a_sitemap_is_read_as_one() {
    let cases = [
        of_sitemap(|base| typed("application/xml", urlset(base)), "as it should be"),
        of_sitemap(|base| typed("text/plain", format!("{base}{LISTED}\n")), "a list of URLs"),
        of_sitemap(
            |base| {
                typed(
                    "application/rss+xml",
                    format!("<rss version='2.0'><channel><item><link>{base}{LISTED}</link></item></channel></rss>"),
                )
            },
            "RSS",
        ),
        of_sitemap(
            |base| {
                typed(
                    "application/atom+xml",
                    format!(
                        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='{base}{LISTED}'/></entry></feed>"
                    ),
                )
            },
            "Atom",
        ),
        of_sitemap(|base| typed("text/html; charset=utf-8", urlset(base)), "called a page"),
        of_sitemap(|base| typed("application/octet-stream", urlset(base)), "called bytes"),
        of_sitemap(|base| typed("application/xml", utf_16(&urlset(base))), "UTF-16"),
        of_sitemap(
            |base| typed("application/xml", urlset(base).replace("?>", &format!("?><!-- {} -->", "x ".repeat(3_000)))),
            "with much before its root",
        ),
        of_robots(|base| typed("text/plain", format!("Sitemap: {base}/s # all\n")), "a comment behind its URL"),
        of_robots(|base| typed("text/html", format!("Sitemap: {base}/s\n")), "robots.txt is called a page"),
        of_robots(|base| typed("application/octet-stream", format!("Sitemap: {base}/s\n")), "or bytes"),
        of_robots(|_| vec![head(302, &["location: /robots-live.txt", "content-length: 0"])], "robots.txt is elsewhere"),
        of_nothing(|_| reply(404, &[], ""), "it is missing"),
        of_nothing(|_| html("not found"), "it is a page"),
        of_nothing(|_| typed("application/xml", "<urlset></urlset>"), "it is empty"),
        of_nothing(|_| typed("text/html", b"\x1f\x8b\x08broken"), "it is damaged"),
    ];
    let mut sites = Vec::new();
    for case in &cases {
        sites.push(site(case.robots, case.sitemap).await);
    }
    // The log has whole URLs of all sites but the first.
    let witness = HostileSite::beside_good_pages(Vec::new()).await;
    let seeds: Vec<String> = [&witness].into_iter().chain(&sites).map(|site| site.url("/")).collect();
    let crawled = Crawled::once(&definition(&seeds, follows)).await;
    for (case, site) in cases.iter().zip(&sites) {
        let asked = site.targets();
        let times = |target: &str| asked.iter().filter(|asked| *asked == target).count();
        let expected = (1, usize::from(case.is_read), 1);
        assert_eq!((times("/s"), times(LISTED), times("/")), expected, "{}: {asked:?}", case.why);
        if case.is_read {
            assert_eq!(crawled.row(&site.url("/s")).outcome, StoredNotRead, "{}", case.why);
        }
    }
}

/// A seed that moved joins the crawl; robots.txt that moved says nothing about the pages there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_to_which_robots_txt_moved_does_not_join_the_crawl() {
    let other = HostileSite::beside_good_pages(vec![("/robots.txt".to_owned(), typed("text/plain", ""))]).await;
    let (moved, linked) = (other.url("/robots.txt"), other.url("/linked"));
    let site = HostileSite::start(move |asked| match asked.target.as_str() {
        "/robots.txt" => vec![head(301, &[&format!("location: {moved}"), "content-length: 0"])],
        _ => html(links([&linked])),
    })
    .await;
    let crawled = Crawled::once(&definition(&[site.url("/")], follows)).await;
    assert!(other.targets().iter().all(|target| target == "/robots.txt"), "{:?}", other.targets());
    assert_eq!(crawled.progress.count(Outcome::FileIngested), 1, "the seed alone is a page of the crawl");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_limits_pages_does_not_limit_sitemaps() {
    for (change, is_listed, why) in [
        ((|draft| draft.scope.include = vec!["/listed|/$".parse().unwrap()]) as fn(&mut Draft), true, "included"),
        (|draft| draft.scope.include = vec!["/$".parse().unwrap()], false, "what it lists is not included"),
        (|draft| draft.scope.exclude = vec!["/listed".parse().unwrap()], false, "what it lists is excluded"),
        (|draft| draft.scope.max_depth = Some(0), true, "what it lists counts like a seed"),
    ] {
        let site = site(names, |base| typed("application/xml", urlset(base))).await;
        Crawled::once(&definition(&[site.url("/")], |draft| {
            follows(draft);
            change(draft);
        }))
        .await;
        let asked = site.targets();
        assert!(asked.contains(&"/s".to_owned()), "{why}: {asked:?}");
        assert_eq!(asked.contains(&LISTED.to_owned()), is_listed, "{why}: {asked:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_listed_pages_are_crawled_where_links_are_not_to_be_followed() {
    for (sitemaps, expected, why) in [
        (Sitemaps::Follow, &["/", "/deeper", "/listed", "/s"][..], "links and sitemaps"),
        (Sitemaps::Only, &["/", "/listed", "/s"], "sitemaps alone"),
    ] {
        let site = HostileSite::start(|asked| {
            let base = format!("http://{}", asked.field("host").unwrap_or_default());
            match asked.target.as_str() {
                "/robots.txt" => names(&base),
                "/s" => typed("application/xml", urlset(&base)),
                "/" | "/listed" => html(links(["/deeper"])),
                "/deeper" => html("linked, and in no sitemap"),
                _ => reply(404, &[], ""),
            }
        })
        .await;
        let definition = definition(&[site.url("/")], |draft| {
            follows(draft);
            draft.sitemaps = sitemaps;
        });
        Crawled::once(&definition).await;
        let mut asked = site.targets();
        asked.retain(|target| target != "/robots.txt");
        asked.sort();
        assert_eq!(asked, expected, "{why}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_chain_of_indexes_comes_to_an_end() {
    let site = HostileSite::start(|asked| {
        let base = format!("http://{}", asked.field("host").unwrap_or_default());
        let number = |target: &str| target.strip_prefix("/i/").and_then(|number| number.parse::<u32>().ok());
        match asked.target.as_str() {
            "/robots.txt" => typed("text/plain", format!("Sitemap: {base}/i/0\n")),
            "/" => html("home"),
            target => match number(target) {
                Some(number) => typed(
                    "application/xml",
                    format!("<sitemapindex><sitemap><loc>{base}/i/{}</loc></sitemap></sitemapindex>", number + 1),
                ),
                None => reply(404, &[], ""),
            },
        }
    })
    .await;
    Crawled::once(&definition(&[site.url("/")], follows)).await;
    let asked = site.targets();
    let indexes: Vec<_> = asked.iter().filter(|target| target.starts_with("/i/")).collect();
    assert_eq!(
        indexes,
        ["/i/0", "/i/1", "/i/2", "/i/3", "/i/4", "/i/5"],
        "the one that robots.txt names, and five more"
    );
}
