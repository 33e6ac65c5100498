//! Pages with another canonical URL.

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_domain::definition::{Canonical, Condition, Definition, DoNotCrawl, TextTest};
use dragline_domain::doubt::Doubt;
use dragline_domain::outcome::Outcome;
use dragline_local::LocalStore;
use dragline_testkit::site::Site;
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::content::gzip;
use super::replies::{html, links, redirect, reply};
use super::scripted::{ScriptedSite, answer, page};
use crate::support::figures;

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
        ("/by-field", Outcome::NotCanonical, "declared in the Link field"),
        ("/own", Outcome::FileIngested, "it is its own canonical URL: a fragment does not make another"),
        ("/foreign", Outcome::FileIngested, "its canonical URL is not crawled"),
        ("/printed", Outcome::FileIngested, "its canonical URL is forbidden: a copy is better than nothing"),
        ("/original", Outcome::FileIngested, "found only as a canonical URL"),
        ("/named", Outcome::FileIngested, "found only as a canonical URL"),
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
        assert_eq!(kept.is_empty(), text.is_empty(), "{url}: the text of a copy is not stored twice: {kept:?}");
        assert!(kept.contains(text), "{url}: {kept:?}");
        assert_eq!(crawled.row(url).redirects_to.as_deref(), redirects_to, "{url}: where it sends its visitors");
    }
    let depth = |url| crawled.row(url).depth;
    assert_eq!((depth("/copy"), depth("/original"), depth("/from-copy")), (1, 1, 2), "it stands for the same page");
    let foreign = crawled.links_of("/foreign");
    assert!(foreign.contains(&("http://elsewhere.example/x", "canonical", "out_of_scope")), "{foreign:?}");
}

/// A page with this canonical URL, or with none.
fn calling(canonical: Option<&str>, text: &str) -> String {
    let link = canonical.map(|to| format!("<link rel=canonical href=\"{to}\">")).unwrap_or_default();
    format!("<title>{text}</title>{link}<p>{text}</p>")
}

/// The number of URLs with this outcome, in the summary of the newest iteration.
async fn summed_up(crawled: &Crawled, definition: &Definition) -> BTreeMap<String, u64> {
    let figures = figures(crawled.data(), &definition.name).await;
    figures.outcomes.into_iter().map(|counted| (counted.name, counted.urls)).collect()
}

/// Checks that all reports of outcomes agree.
async fn assert_told_alike(crawled: &Crawled, definition: &Definition) {
    let mut counted = BTreeMap::new();
    for row in crawled.log.iter().filter(|row| row.r#final) {
        *counted.entry(row.outcome.name().to_owned()).or_default() += 1;
        let candidate = crawled.candidates.iter().find(|candidate| candidate.url == row.url).unwrap();
        assert_eq!(candidate.last_outcome, Some(row.outcome), "{}", row.url);
        if let Some(page) = crawled.pages.iter().find(|page| page.url == row.url) {
            assert_eq!(page.outcome, row.outcome, "{}", row.url);
        }
    }
    assert_eq!(summed_up(crawled, definition).await, counted);
}

#[tokio::test]
async fn a_canonical_url_counts_as_far_as_there_is_content_behind_it() {
    use Outcome::{FileIngested as Stands, NotCanonical as Copy};
    const MISSING: Option<&str> = Some("/missing");
    // Path, canonical URL, outcome, why.
    let cases: &[(&str, Option<&str>, Outcome, &str)] = &[
        ("/good", None, Stands, "it has no canonical URL"),
        ("/copy", Some("/good"), Copy, "a page with content"),
        ("/copy-of-copy", Some("/copy"), Copy, "a chain that ends in a page"),
        ("/moved", Some("/to-good"), Copy, "a redirect that ends in a page"),
        ("/moved-twice", Some("/to-to-good"), Copy, "two redirects"),
        ("/of-missing", MISSING, Stands, "404"),
        ("/of-gone", Some("/gone"), Stands, "410"),
        ("/of-failed", Some("/failed"), Stands, "500"),
        ("/of-refused", Some("/refused"), Stands, "403"),
        ("/of-forbidden", Some("/private/a"), Stands, "robots.txt forbids it"),
        ("/of-foreign", Some("http://elsewhere.example/"), Stands, "out of scope"),
        ("/of-nothing", Some("/to-missing"), Stands, "a redirect to nothing"),
        ("/of-circle", Some("/round"), Stands, "a redirect to itself"),
        ("/of-hidden", Some("/hidden"), Stands, "noindex: its text is not kept"),
        ("/of-hidden-copy", Some("/hidden-copy"), Stands, "noindex, whatever its canonical URL is"),
        ("/of-file", Some("/file.bin"), Stands, "that is not a page"),
        ("/back", Some("/to-back"), Stands, "a redirect back to it"),
        ("/chain", Some("/of-missing"), Copy, "a chain whose last page stands, as its canonical URL is missing"),
        ("/pair/a", Some("/pair/b"), Stands, "of two that name each other the first stands"),
        ("/pair/b", Some("/pair/a"), Copy, "for both"),
        ("/ring/2", Some("/ring/3"), Copy, "of three"),
        ("/ring/3", Some("/to-ring-1"), Copy, "by a redirect"),
        ("/ring/1", Some("/ring/2"), Stands, "the first by URL, not by how it was found"),
        ("/to-ring", Some("/ring/3"), Copy, "the ring has a page that stands"),
    ];
    let redirects = [
        ("/to-good", "/good"),
        ("/to-to-good", "/to-good"),
        ("/to-missing", "/missing"),
        ("/round", "/round"),
        ("/to-back", "/back"),
        ("/to-ring-1", "/ring/1"),
    ];
    // In the other order: what is found last is visited last.
    let mut builder = Site::builder()
        .robots("User-agent: *\nDisallow: /private/\n")
        .reply("/", html(&links(cases.iter().rev().map(|case| case.0))))
        .reply("/gone", reply(410, &[], ""))
        .reply("/failed", reply(500, &[], ""))
        .reply("/refused", reply(403, &[], ""))
        .reply("/hidden", html("<meta name=robots content=noindex>hidden"))
        .reply("/hidden-copy", html(&format!("<meta name=robots content=noindex>{}", calling(Some("/good"), "hidden"))))
        .reply("/file.bin", reply(200, &[("content-type", "application/octet-stream")], "file"));
    for (path, canonical, _, _) in cases {
        builder = builder.reply(*path, html(&calling(*canonical, path)));
    }
    for (path, target) in redirects {
        builder = builder.reply(path, redirect(301, target));
    }
    let site = builder.start().await.unwrap();
    let definition = definition(&[site.url()], |draft| draft.scope.max_depth = Some(20));
    let crawled = Crawled::once(&definition).await;
    for &(path, canonical, outcome, why) in cases {
        assert_eq!(crawled.row(path).outcome, outcome, "{path}: {why}");
        let (text, detail) = (crawled.text(path), crawled.row(path).detail.as_deref());
        assert_eq!(text, if outcome == Copy { "" } else { path }, "{path}: only what stands has its text");
        assert_eq!(crawled.page(path).title.as_deref(), Some(path), "{path}");
        let base = site.url().trim_end_matches('/').to_owned();
        let said = (outcome == Copy).then(|| format!("its canonical URL is {base}{}", canonical.unwrap()));
        assert_eq!(detail, said.as_deref(), "{path}");
        assert_eq!(kept_text(&crawled, path), path, "{path}: stored all the same, in case the answer changes");
    }
    assert_told_alike(&crawled, &definition).await;
}

/// The text that the parser extracted from a page, whether it is shown or not.
fn kept_text(crawled: &Crawled, path: &str) -> String {
    let connection = LocalStore::open_read_only(crawled.data()).unwrap();
    let sql =
        "SELECT t.text FROM file_text t JOIN document d ON d.id = t.id WHERE d.url = ?1 ORDER BY d.id DESC LIMIT 1";
    connection.query_row(sql, [path], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn a_ring_has_one_page_that_stands_and_a_chain_has_an_end() {
    const WAY_MAX: usize = 20;
    for (pages, is_ring, standing, why) in [
        (WAY_MAX + 1, true, 1, "a ring of as many steps as are followed"),
        (WAY_MAX + 2, true, WAY_MAX + 2, "too long to follow: a hint that leads nowhere"),
        (WAY_MAX + 1, false, 1, "a chain of as many steps as are followed"),
        (WAY_MAX + 5, false, 5, "its last page, and those too far from it"),
    ] {
        let path = |n: usize| format!("/{n:02}");
        let paths: Vec<String> = (0..pages).map(path).collect();
        let mut builder = Site::builder().reply("/", html(&links(paths.iter().map(String::as_str))));
        for (n, own) in paths.iter().enumerate() {
            let next = if is_ring { Some((n + 1) % pages) } else { Some(n + 1).filter(|next| *next < pages) };
            builder = builder.reply(own.as_str(), html(&calling(next.map(path).as_deref(), own)));
        }
        let site = builder.start().await.unwrap();
        let crawled = Crawled::once(&definition(&[site.url()], |_| {})).await;
        let stands = |path: &&String| crawled.row(path).outcome == Outcome::FileIngested;
        let stood: Vec<&String> = paths.iter().filter(stands).collect();
        assert_eq!(stood.len(), standing, "{pages}, {why}: {stood:?}");
        assert!(stood.iter().all(|path| crawled.text(path) == path.as_str()), "{why}");
    }
}

#[tokio::test]
async fn what_becomes_of_a_canonical_url_decides_on_pages_that_do_not_change() {
    use Outcome::{FileDidNotChange as Unchanged, FileIngested as Ingested, NotCanonical as Copy};
    // What each URL is in the first, second, third and fourth iteration; the last one stays.
    let site = ScriptedSite::start(|asked| {
        let status = |statuses: [u16; 4]| statuses[asked.earlier.min(3)];
        let target = |status| match status {
            200 => page("canonical"),
            301 => answer(301, &["location: /late"], ""),
            _ => answer(status, &[], ""),
        };
        match asked.target.as_str() {
            "/" => page("<a href=/of-goes>1</a><a href=/of-comes>2</a><a href=/of-moves>3</a><a href=/of-stays>4</a><a href=/late>5</a>"),
            "/goes" => target(status([200, 404, 404, 200])),
            "/comes" => target(status([404, 200, 404, 404])),
            "/moves" => target(status([404, 301, 404, 301])),
            "/stays" => target(status([200, 200, 200, 500])),
            "/late" => page("late"),
            "/robots.txt" => answer(404, &[], ""),
            // By its body, by its tag, or as bytes of another coding.
            path if path.starts_with("/of-") => {
                let body = calling(path.strip_prefix("/of-").map(|to| format!("/{to}")).as_deref(), path);
                match path {
                    "/of-goes" if asked.field("if-none-match").is_some() => answer(304, &["etag: \"1\""], ""),
                    "/of-goes" => answer(200, &["content-type: text/html", "etag: \"1\""], body),
                    "/of-comes" if asked.earlier % 2 == 1 => {
                        answer(200, &["content-type: text/html", "content-encoding: gzip"], gzip(body.as_bytes()))
                    }
                    _ => page(&body),
                }
            }
            other => panic!("{other}"),
        }
    })
    .await;
    // Seeds are always visited: what is gone would be asked for ever more rarely.
    let seeds = ["/", "/goes", "/comes", "/moves", "/stays"].map(|path| site.url(path));
    let definition = definition(&seeds, |_| {});
    let mut crawled = Crawled::once(&definition).await;
    let iterations: [&[(&str, Outcome, &str)]; 4] = [
        &[
            ("/of-goes", Copy, "its canonical URL is there"),
            ("/of-comes", Ingested, "there is none yet"),
            ("/of-moves", Ingested, "there is none yet"),
            ("/of-stays", Copy, "its canonical URL is there"),
        ],
        &[
            ("/of-goes", Ingested, "it is gone: the page is new to readers"),
            ("/of-comes", Copy, "it is there now"),
            ("/of-moves", Copy, "it is there now, at another URL"),
            ("/of-stays", Copy, "nothing changed"),
        ],
        &[
            ("/of-goes", Unchanged, "it stood the last time"),
            ("/of-comes", Ingested, "gone again"),
            ("/of-moves", Ingested, "gone again"),
            ("/of-stays", Copy, "nothing changed"),
        ],
        &[
            ("/of-goes", Copy, "it is back"),
            ("/of-comes", Unchanged, "it stood the last time"),
            ("/of-moves", Copy, "it is back"),
            ("/of-stays", Ingested, "the server fails"),
        ],
    ];
    for (number, expected) in (1..).zip(iterations) {
        if number > 1 {
            crawled = crawled.again(&definition).await;
        }
        for &(path, outcome, why) in expected {
            assert_eq!(crawled.row(path).outcome, outcome, "iteration {number}, {path}: {why}");
            let shown = if outcome == Copy { "" } else { path };
            assert_eq!(crawled.text(path), shown, "iteration {number}, {path}: {why}");
        }
        assert_told_alike(&crawled, &definition).await;
    }
}

#[tokio::test]
async fn crawls_of_one_directory_decide_each_for_itself() {
    let site = Site::builder()
        .reply("/", html(&calling(Some("/other"), "home")))
        .reply("/other", html("<p>other"))
        .start()
        .await
        .unwrap();
    let of = |name: &str, path: &str| {
        definition(&[format!("{}{path}", site.url().trim_end_matches('/'))], |draft| {
            draft.name = name.parse().unwrap();
            draft.budget.pages = Some(1);
        })
    };
    let crawled = Crawled::once(&of("first", "/other")).await.again(&of("second", "/")).await;
    for name in ["first", "second"] {
        let outcomes = figures(crawled.data(), &name.parse().unwrap()).await.outcomes;
        let outcomes: Vec<_> = outcomes.iter().map(|counted| (&*counted.name, counted.urls)).collect();
        assert_eq!(outcomes, [("file_ingested", 1)], "{name}: the other crawl's pages do not count");
    }
    let of_crawls = crawled.log.iter().map(|row| &row.crawl).chain(crawled.candidates.iter().map(|row| &row.crawl));
    let of_crawls: Vec<_> = of_crawls.map(String::as_str).collect();
    assert_eq!(of_crawls, ["second"; 3], "nor its rows: one visit, and two known URLs");
}

#[tokio::test]
async fn a_canonical_url_that_is_not_due_counts_as_it_ended_last() {
    let site = Site::builder()
        .reply("/copy", html(&calling(Some("/good"), "copy")))
        .reply("/good", html("good"))
        .start()
        .await
        .unwrap();
    // A seed is always visited.
    let definition = definition(&[format!("{}/copy", site.url().trim_end_matches('/'))], |draft| {
        draft.recrawl.interval = Some(Duration::from_secs(86_400));
    });
    let first = Crawled::once(&definition).await;
    first.assert_outcomes(&[
        ("/copy", Outcome::NotCanonical, "its canonical URL is there"),
        ("/good", Outcome::FileIngested, "found as a canonical URL"),
    ]);
    let second = first.again(&definition).await;
    second.assert_outcomes(&[(
        "/copy",
        Outcome::NotCanonical,
        "nothing changed, although the other was not requested",
    )]);
}

/// This many words that no other subject has.
fn words(of: &str, count: usize) -> String {
    (0..count).map(|n| format!("{of}-{n} ")).collect()
}

#[tokio::test]
async fn a_template_that_calls_every_page_a_copy_of_the_home_page_hides_none() {
    let menu = words("menu", 200);
    // Pages with texts of their own, pages that are mostly menu, and pages that say next to
    // nothing.
    let pages: Vec<(String, String)> = (0..30)
        .map(|n| {
            let own = words(&format!("page-{n}"), 30);
            let text = match n % 3 {
                0 => own.repeat(5),
                1 => format!("{menu}{own}"),
                _ => format!("Product {n}"),
            };
            (format!("/{n}"), text)
        })
        .collect();
    let home = format!("<link rel=canonical href=/>{menu}{}", links(pages.iter().map(|(path, _)| path.as_str())));
    let mut builder = Site::builder().reply("/", html(&home));
    for (path, text) in &pages {
        builder = builder.reply(path.as_str(), html(&calling(Some("/"), text)));
    }
    let site = builder.start().await.unwrap();
    let home_url = format!("{}/", site.url().trim_end_matches('/'));
    let definition = definition(&[site.url()], |_| {});
    let crawled = Crawled::once(&definition).await;
    for (path, text) in &pages {
        assert_eq!(crawled.row(path).outcome, Outcome::FileIngested, "{path}: {text}");
        assert_eq!(crawled.text(path), text.trim_end(), "{path}");
        let now = crawled.shown(path).and_then(|page| page.text.as_deref());
        assert_eq!(now, Some(text.trim_end()), "{path}, as the site is now");
        let detail = crawled.row(path).detail.clone().unwrap_or_default();
        assert!(detail.starts_with(&format!("its canonical URL {home_url} is not believed: ")), "{path}: {detail}");
    }
    assert_told_alike(&crawled, &definition).await;
    let figures = figures(crawled.data(), &definition.name).await;
    let doubted: Vec<_> = figures.canonicals_doubted.iter().map(|doubted| (doubted.why, doubted.pages)).collect();
    assert_eq!(doubted, [(Doubt::NamedByMany, 20), (Doubt::Unlike, 10)]);
    assert!(figures.canonicals_doubted.iter().all(|doubted| doubted.canonical == home_url), "where they lead");
    // Nothing changes: each visit is compared as the first was.
    let again = crawled.again(&definition).await;
    for (path, _) in &pages {
        assert_eq!(again.row(path).outcome, Outcome::FileDidNotChange, "{path}");
    }
}

#[tokio::test]
async fn variants_of_a_page_are_its_copies_and_other_pages_are_not() {
    use Outcome::{FileIngested as Stands, NotCanonical as Copy};
    let (menu, article) = (words("menu", 60), words("w", 300));
    let items =
        |order: &mut dyn Iterator<Item = usize>| order.map(|n| words(&format!("item{n}"), 8)).collect::<String>();
    let (up, down) = (items(&mut (0..40)), items(&mut (0..40).rev()));
    // Path, canonical URL, text, outcome, why.
    let mut cases = vec![
        ("/article", None, format!("{menu}{article}"), Stands, "it names none"),
        ("/article?utm=1", Some("/article"), format!("{menu}{article}"), Copy, "a parameter that tracks"),
        ("/article?print", Some("/article"), article.clone(), Copy, "printed, without the menu"),
        ("/article?dated", Some("/article"), format!("{menu}{article} 25 November 17:03"), Copy, "with the date"),
        ("/amp/article", Some("/article"), article.chars().take(1_500).collect(), Copy, "cut short for telephones"),
        ("/de/article", Some("/article"), words("wort", 300), Stands, "translated"),
        ("/article/2", Some("/article"), words("more", 300), Stands, "the next page of it"),
        ("/list", None, up, Stands, "it names none"),
        ("/list?sort=down", Some("/list"), down, Copy, "sorted in another way"),
        ("/picture", None, "A picture".to_owned(), Stands, "it names none"),
        ("/picture?large", Some("/picture"), "Large".to_owned(), Copy, "too little to tell"),
        ("/moved?a=1", Some("/was"), article.clone(), Copy, "by a redirect"),
        ("/moved?a=2", Some("/was"), words("else", 60), Stands, "unlike, by a redirect"),
    ];
    let story = words("story", 400);
    cases.push(("/story", None, story.clone(), Stands, "it names none"));
    let variants: Vec<String> = (0..30).map(|n| format!("/story?session={n}")).collect();
    for path in &variants {
        cases.push((path, Some("/story"), format!("{story}{path}"), Copy, "many that say nearly the same"));
    }
    let mut builder = Site::builder().reply("/", html(&links(cases.iter().map(|case| case.0))));
    builder = builder.reply("/was", redirect(301, "/article"));
    for (path, canonical, text, _, _) in &cases {
        builder = builder.reply(*path, html(&calling(*canonical, text)));
    }
    let site = builder.start().await.unwrap();
    let definition = definition(&[site.url()], |_| {});
    let crawled = Crawled::once(&definition).await;
    for (path, _, _, outcome, why) in &cases {
        assert_eq!(crawled.row(path).outcome, *outcome, "{path}: {why}");
    }
    assert_told_alike(&crawled, &definition).await;
}

#[tokio::test]
async fn canonical_links_that_are_ignored_make_no_copies_and_are_followed() {
    let site = Site::builder()
        .reply("/", html(&calling(Some("/only-here"), "home")))
        .reply("/only-here", html(&calling(Some("/"), "home")))
        .start()
        .await
        .unwrap();
    let of = |canonical| definition(&[site.url()], |draft| draft.canonical = canonical);
    let crawled = Crawled::once(&of(Canonical::Ignore)).await;
    for path in ["/", "/only-here"] {
        assert_eq!(crawled.row(path).outcome, Outcome::FileIngested, "{path}");
        assert_eq!((crawled.text(path), crawled.row(path).redirects_to.as_deref()), ("home", None), "{path}");
    }
    assert_told_alike(&crawled, &of(Canonical::Ignore)).await;
    let obeyed = Crawled::once(&of(Canonical::Obey)).await;
    assert_eq!(obeyed.row("/only-here").outcome, Outcome::NotCanonical, "the same site");
}
