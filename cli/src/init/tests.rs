//! The definition of a site, as a function of what was seen.

use std::time::Duration;

use dragline_domain::definition::{Draft, UserAgent};
use dragline_domain::url::CrawlUrl;
use proptest::prelude::*;

use super::platform;
use super::site::{SeenPage, SeenSitemaps, Site};
use super::{tell, yaml};

/// The most lines of a definition, which is to be read as a whole.
const LINES_MAX: usize = 45;

fn url(text: &str) -> CrawlUrl {
    CrawlUrl::try_from(text.to_owned()).unwrap()
}

fn draft() -> Draft {
    Draft::for_seeds(Vec::new())
}

fn bare() -> Site {
    let url = url("https://example.org/");
    Site {
        given: url.clone(),
        url,
        robots: "robots.txt answered 404: everything may be fetched".to_owned(),
        crawl_delay: None,
        sitemaps: SeenSitemaps::default(),
        page: SeenPage::default(),
    }
}

/// A site with everything that can be seen at the same time.
fn full() -> Site {
    let sitemap = url("https://www.example.org/sitemap_index.xml");
    Site {
        given: url("https://example.org/docs/"),
        url: url("https://www.example.org/docs/start"),
        robots: "no rule of robots.txt matches".to_owned(),
        crawl_delay: Some(Duration::from_secs(5)),
        sitemaps: SeenSitemaps {
            named: vec![sitemap],
            unnamed: None,
            files: 12,
            files_read: 2,
            urls: 1_234,
            urls_elsewhere: 34,
            unread: Some("https://www.example.org/old.xml: a sitemap without URLs".to_owned()),
        },
        page: SeenPage {
            unread: None,
            title: Some("Example Library".to_owned()),
            language: Some("en".to_owned()),
            languages: vec!["de".to_owned(), "fr-CA".to_owned()],
            feeds: vec![url("https://www.example.org/feed/?type=a,b")],
            platform: platform::find(&["WordPress 6.5.2"], &[]),
            scripted: Some("root".to_owned()),
            wall: Some("a form to log in instead of the page, by the rule `password`".to_owned()),
            items: vec!["WebSite".to_owned(), "Article".to_owned()],
        },
    }
}

/// Returns a definition with every key that it shows.
fn with_all_keys(text: &str) -> String {
    let uncommented = text.lines().map(|line| match line.strip_prefix('#') {
        Some(key) if !key.starts_with(' ') || key.starts_with("  ") => key,
        _ => line,
    });
    uncommented.collect::<Vec<_>>().join("\n")
}

/// Checks that a definition is valid as it is, and with every key that it shows.
fn check(site: &Site, draft: &Draft) -> String {
    let text = yaml::write(site, draft);
    for text in [&text, &with_all_keys(&text)] {
        let definition =
            dragline_definition::parse(text, "crawl.yaml").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        assert_eq!(definition.seeds[0], site.url, "{text}");
    }
    assert!(text.lines().count() <= LINES_MAX, "{text}");
    text
}

#[test]
fn a_site_with_everything() {
    let user_agent: UserAgent = "ShelfBot/1.0 (+https://example.org/bot: \"#1\")".parse().unwrap();
    let site = full();
    insta::assert_snapshot!("everything", check(&site, &Draft { user_agent, ..draft() }));
    insta::assert_snapshot!("everything_told", tell::summary(&site));
}

#[test]
fn a_site_with_nothing() {
    insta::assert_snapshot!("bare", check(&bare(), &draft()));
    insta::assert_snapshot!("bare_told", tell::summary(&bare()));
}

#[test]
fn a_sitemap_that_robots_txt_does_not_name_is_a_seed() {
    let sitemap = url("https://example.org/sitemap.xml");
    let sitemaps =
        SeenSitemaps { unnamed: Some(sitemap.clone()), files: 1, files_read: 1, urls: 7, ..SeenSitemaps::default() };
    let text = check(&Site { url: url("https://example.org/docs/"), sitemaps, ..bare() }, &draft());
    let definition = dragline_definition::parse(&text, "crawl.yaml").unwrap();
    assert_eq!(definition.seeds[1..], [sitemap], "{text}");
}

#[test]
fn an_example_never_excludes_the_seed() {
    let platform = platform::find(&["MediaWiki 1.43.0"], &[]);
    for seed in ["https://example.org/w/index.php?action=raw&title=Special:All", "https://example.org/it's.(a)+[x]/$^/"]
    {
        let page = SeenPage { platform: platform.clone(), ..SeenPage::default() };
        let site = Site { url: url(seed), page, ..bare() };
        check(&site, &draft());
    }
}

proptest! {
    #[test]
    fn whatever_a_site_says_the_definition_is_valid(
        texts in proptest::collection::vec("(?s)[\\x00-\\u{10ffff}]{0,30}|.*\r?\nseeds: \\[\\]\n*|\"'#: -\\[\\{\u{feff}\u{85}\u{2028}", 8),
        path in "[^\\x00]{0,20}",
        delay_ms in 0_u64..180_000,
        urls in any::<u64>(),
    ) {
        let text = |at: usize| Some(texts[at].clone());
        let seed = url("https://example.org/");
        let seed = seed.join(&path, &dragline_domain::url::UrlRules::keep_all()).unwrap_or(seed);
        // A repeated segment is a trap, which seeds must not be either.
        prop_assume!(dragline_definition::parse(&format!("seeds: [{}]", quoted(&seed)), "crawl.yaml").is_ok());
        let site = Site {
            given: url("https://example.com/"),
            url: seed.clone(),
            robots: texts[0].clone(),
            crawl_delay: Some(Duration::from_millis(delay_ms)),
            sitemaps: SeenSitemaps { named: vec![seed.clone()], urls, unread: text(1), ..SeenSitemaps::default() },
            page: SeenPage {
                unread: text(2),
                title: text(3),
                language: text(4),
                languages: vec![texts[5].clone()],
                feeds: vec![seed],
                platform: platform::find(&[&format!("WordPress {}", texts[6])], &[]),
                scripted: text(7),
                wall: text(0),
                items: texts.clone(),
            },
        };
        let text = yaml::write(&site, &draft());
        for text in [&text, &with_all_keys(&text)] {
            let definition = dragline_definition::parse(text, "crawl.yaml");
            prop_assert!(definition.is_ok(), "{}\n{}", definition.unwrap_err(), text);
        }
    }
}

fn quoted(url: &CrawlUrl) -> String {
    format!("'{}'", url.as_str().replace('\'', "''"))
}
