//! Small sites with and without ends, visited by the rule.

use std::collections::{BTreeSet, HashSet, VecDeque};

use super::*;
use crate::url::UrlShape;

/// What a URL of a site shows.
struct Shown {
    text: String,
    links: Vec<String>,
    pictures: Vec<String>,
}

impl Shown {
    fn new(text: impl Into<String>, links: impl IntoIterator<Item = String>) -> Self {
        Self { text: text.into(), links: links.into_iter().collect(), pictures: Vec::new() }
    }
}

/// A site: what it shows under each path, and the number of its requests so far, which may be in
/// what it shows.
type Site = fn(&str, usize) -> Shown;

/// The visit of a site.
#[derive(Debug, Default)]
struct Visit {
    visited: Vec<String>,
    left: Vec<String>,
}

/// Visits a site breadth first, with this many pages in a segment, as crawlers and parsers do.
fn visit(site: Site, fruitless_max: u16, segment_pages: usize) -> Visit {
    let (mut shapes, mut result) = (WatchedShapes::default(), Visit::default());
    let mut known: HashSet<String> = HashSet::from(["/".to_owned()]);
    let (mut usual, mut last) = (VecDeque::from(["/".to_owned()]), VecDeque::new());
    let keys = |path: &str| UrlShape::new(path).keys();
    while result.visited.len() < 20_000 {
        let mut pages = Vec::new();
        while pages.len() < segment_pages {
            let Some(path) = usual.pop_front().or_else(|| last.pop_front()) else { break };
            if let ShapeStanding::Left { .. } = shapes.standing(&keys(&path), fruitless_max) {
                result.left.push(path);
                continue;
            }
            let shown = site(&path, result.visited.len());
            result.visited.push(path.clone());
            pages.push((path, shown));
        }
        if pages.is_empty() {
            return result;
        }
        let mut observed = Vec::new();
        for (path, shown) in pages {
            let mut leads_to = BTreeSet::new();
            for link in shown.links {
                if !known.insert(link.clone()) {
                    continue;
                }
                leads_to.insert(keys(&link));
                match shapes.standing(&keys(&link), fruitless_max) {
                    ShapeStanding::InOrder => usual.push_back(link),
                    ShapeStanding::Waits | ShapeStanding::Left { .. } => last.push_back(link),
                }
            }
            let pictures: Vec<&str> = shown.pictures.iter().map(String::as_str).collect();
            let sample = PageSample::new(&[&shown.text], &pictures);
            observed.push(PageObservation { keys: keys(&path), sample, leads_to });
        }
        shapes.observe(known.len() as u64, &observed);
    }
    result
}

/// A number that looks like chance.
fn chance(of: impl std::hash::Hash) -> usize {
    use std::hash::Hasher;
    let mut hasher = siphasher::sip::SipHasher13::new();
    of.hash(&mut hasher);
    usize::try_from(hasher.finish() >> 33).unwrap()
}

/// A text of so many words of a vocabulary of a thousand.
fn prose(of: impl std::hash::Hash, words: usize) -> String {
    let seed = chance(of);
    (0..words)
        .map(|n| {
            format!(
                "w{} ",
                ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"][chance((seed, n, 1)) % 10].to_owned()
                    + &letters(chance((seed, n)) % 1_000)
            )
        })
        .collect()
}

fn letters(mut number: usize) -> String {
    let mut text = String::new();
    loop {
        text.push(char::from(b'a' + u8::try_from(number % 26).unwrap()));
        number /= 26;
        if number == 0 {
            return text;
        }
    }
}

/// The real pages of every site with a trap: 150 articles, ten from the front page, each naming the
/// next.
fn article(path: &str) -> Option<Shown> {
    let number: usize = path.strip_prefix("/article/")?.parse().ok()?;
    let next = (number <= 140).then(|| format!("/article/{}", number + 10));
    Some(Shown::new(prose(number, 80), next))
}

fn front(more: impl IntoIterator<Item = String>) -> Shown {
    Shown::new("The front page", (1..=10).map(|n| format!("/article/{n}")).chain(more))
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "june", "july", "aug", "sept", "oct", "nov", "dec"];

fn calendar(path: &str, _: usize) -> Shown {
    if path == "/" {
        return front(["/calendar/2026/11".to_owned()]);
    }
    if let Some(date) = path.strip_prefix("/event/add?date=") {
        return Shown::new(format!("Add an event on {date}: title, place, from, to, save, cancel"), []);
    }
    let Some(rest) = path.strip_prefix("/calendar/") else { return article(path).unwrap() };
    let (year, month) = rest.split_once('/').unwrap();
    let (year, month): (usize, usize) = (year.parse().unwrap(), month.parse().unwrap());
    let days: String = (1..=30).map(|day| format!("{day} ")).collect();
    let text = format!("{} {year} mon tue wed thu fri sat sun {days} previous next", MONTHS[month % 12]);
    let at = |month: usize| format!("/calendar/{}/{}", year + month / 12, month % 12);
    let adds = (1..=30).map(|day| format!("/event/add?date={year}-{month}-{day}"));
    Shown::new(text, [at(month + 1), at(month + 11)].into_iter().chain(adds))
}

fn filters(path: &str, _: usize) -> Shown {
    if path == "/" {
        return front(["/shop".to_owned()]);
    }
    if let Some(number) = path.strip_prefix("/product/") {
        return Shown::new(prose(("product", number), 40), []);
    }
    let Some(query) = path.strip_prefix("/shop") else { return article(path).unwrap() };
    let set: BTreeSet<&str> = query.trim_start_matches('?').split('&').filter(|pair| !pair.is_empty()).collect();
    let listed = (0..60).filter(|n| set.iter().all(|pair| chance((pair, n)) % 2 == 0)).take(20).collect::<Vec<_>>();
    let text: String = listed.iter().map(|n| prose(("product", n.to_string()), 8)).collect();
    let names = ["color", "size", "brand", "price", "sort", "stock"];
    let more = names.iter().flat_map(|name| (0..4).map(move |value| (name, value))).map(|(name, value)| {
        let others = set.iter().filter(|pair| !pair.starts_with(name)).map(|pair| (*pair).to_owned());
        let pairs: BTreeSet<String> = others.chain([format!("{name}={value}")]).collect();
        format!("/shop?{}", pairs.into_iter().collect::<Vec<_>>().join("&"))
    });
    let products = listed.iter().map(|n| format!("/product/{n}"));
    Shown::new(format!("Shop {text}"), products.chain(more).collect::<Vec<_>>())
}

fn sort_orders(path: &str, _: usize) -> Shown {
    if path == "/" {
        return front(["/table?sort=0&then=1&dir=0".to_owned()]);
    }
    let Some(query) = path.strip_prefix("/table?") else { return article(path).unwrap() };
    let rows: String = (0..40).map(|row| prose(("row", row), 4)).collect();
    let more = (0..40).map(|n| format!("/table?sort={}&then={}&dir={}", chance((query, n)) % 30, n, n % 2));
    Shown::new(format!("A table {rows}"), more)
}

fn sessions(path: &str, request: usize) -> Shown {
    let names = ["about", "terms", "help", "press"];
    let id = format!("{:016x}", 0x9a3b_0000_7c00_0001_u64.wrapping_mul(request as u64 + 3));
    let all = names.iter().map(|name| format!("/s/{id}/{name}"));
    if path == "/" {
        return front(all);
    }
    let Some(rest) = path.strip_prefix("/s/") else { return article(path).unwrap() };
    let (_, name) = rest.split_once('/').unwrap();
    Shown::new(prose(name, 60), all)
}

fn loops(path: &str, _: usize) -> Shown {
    if let Some(article) = article(path) {
        return article;
    }
    let names = ["news", "about", "products", "team", "jobs"];
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let base = path.trim_end_matches('/');
    let below = names.iter().map(|name| format!("{base}/{name}/"));
    if path == "/" { front(below) } else { Shown::new(prose(last, 60), below) }
}

fn pagination(path: &str, _: usize) -> Shown {
    if path == "/" {
        return front(["/list?page=1".to_owned()]);
    }
    if let Some(name) = path.strip_prefix("/item/") {
        return Shown::new(prose(name, 40), []);
    }
    let Some(page) = path.strip_prefix("/list?page=") else { return article(path).unwrap() };
    let page: usize = page.parse().unwrap();
    let items = (0..20).map(|n| page * 20 + n).filter(|n| *n < 400);
    let next = format!("/list?page={}", page + 1);
    let items: Vec<String> = items.map(|n| format!("/item/x{}", letters(n))).collect();
    let text = if items.is_empty() { "No results".to_owned() } else { items.join(" ") };
    Shown::new(format!("{text} page {page} next {}", page + 1), items.into_iter().chain([next]))
}

#[test]
fn sites_without_end_end_and_no_real_page_is_lost() {
    let real = |path: &str| {
        let is_item = |prefix: &str| path.starts_with(prefix);
        ["/article/", "/product/", "/item/"].into_iter().any(is_item)
    };
    for (site, name, real_pages, [few, usual]) in [
        (calendar as Site, "calendar", 150, [350, 3_400]),
        (filters, "filters", 150 + 60, [450, 3_400]),
        (sort_orders, "sort orders", 150, [250, 1_300]),
        (sessions, "sessions", 150, [300, 2_900]),
        (loops, "relative links", 150, [600, 2_800]),
        (pagination, "pages of a list", 150 + 380, [700, 1_700]),
    ] {
        for (fruitless_max, requests_max) in [(24, few), (1_000, usual)] {
            for segment_pages in [1, 20, 50] {
                let Visit { visited, left } = visit(site, fruitless_max, segment_pages);
                let found: HashSet<&String> = visited.iter().filter(|path| real(path)).collect();
                println!("{name}, {fruitless_max}, {segment_pages}: {} requests, {} left", visited.len(), left.len());
                let case = format!("{name}, limit {fruitless_max}, {segment_pages} pages in a segment");
                assert_eq!(found.len(), real_pages, "{case}: all real pages");
                assert!(visited.len() <= requests_max, "{case}: {} requests", visited.len());
                assert!(!left.is_empty(), "{case}: what is left is named");
                assert!(!left.iter().any(|path| real(path)), "{case}: no real page is left");
            }
        }
    }
}

#[test]
fn sites_that_are_merely_alike_are_visited_completely() {
    /// Pages that each name the next.
    fn chain(path: &str, show: fn(usize) -> (String, Vec<String>)) -> Shown {
        let number = path.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0_usize);
        let (text, pictures) = show(number);
        let next = (number < 600).then(|| format!("/p/{}", number + 1));
        Shown { pictures, ..Shown::new(text, next) }
    }
    for (site, name) in [
        ((|path, _| chain(path, |n| (prose(n, 120), vec![]))) as Site, "articles"),
        (
            |path, _| chain(path, |n| ((0..80).map(|k| letters(chance((n, k)) % 60) + " ").collect(), vec![])),
            "the same words in another order",
        ),
        (|path, _| chain(path, |n| (format!("Photo {n} of 600"), vec![format!("/img/{n}.jpg")])), "photos"),
        (
            |path, _| chain(path, |n| (format!("Word: {}. Meaning: {}", letters(n * 97), prose(n, 3)), vec![])),
            "entries",
        ),
        (
            |path, _| {
                chain(path, |n| {
                    let text = format!(
                        "{} Add to cart. Free shipping on orders over fifty. Returns within thirty days. Rate this \
                         product. Customers also bought. Secure payment by card or invoice. Newsletter.",
                        prose(n, 8)
                    );
                    (text, vec![])
                })
            },
            "products with much boilerplate",
        ),
        (
            |path, _| {
                chain(path, |n| ((0..12).map(|row| format!("{} ", chance((n, row)) % 100_000)).collect(), vec![]))
            },
            "tables of numbers",
        ),
        (
            |path, _| {
                let (version, page) = path.trim_start_matches('/').split_once('/').unwrap_or(("0", "a"));
                let others = (0..12).map(|version| format!("/{version}/{page}"));
                let next = (page.len() < 50).then(|| format!("/{version}/a{page}"));
                Shown::new(prose(page, 90), others.chain(next))
            },
            "versions of a manual",
        ),
    ] {
        for segment_pages in [1, 50] {
            let Visit { visited, left } = visit(site, 24, segment_pages);
            assert_eq!(left, [""; 0], "{name}, {segment_pages} pages in a segment");
            assert!(visited.len() >= 600, "{name}: {} pages", visited.len());
        }
    }
}

#[test]
fn what_is_remembered_is_limited_and_read_back() {
    let mut shapes = WatchedShapes::default();
    for n in 0..1_000 {
        let keys = |path: String| UrlShape::new(&path).keys();
        let (own, next) = (format!("/{}/{n}", letters(n % 90)), format!("/{}/{}", letters(n % 90), n + 1));
        let sample = PageSample::new(&[&prose(n % 7, 50)], &[]);
        shapes.observe(1_000, &[PageObservation { keys: keys(own), sample, leads_to: [keys(next)].into() }]);
    }
    let json = serde_json::to_string(&shapes).unwrap();
    assert_eq!(serde_json::from_str::<WatchedShapes>(&json).unwrap(), shapes);
    assert!(shapes.records.len() <= RECORDS_MAX, "{}", shapes.records.len());
    let in_order = shapes.records.iter().filter(|record| record.is_in_order());
    assert!(in_order.clone().count() <= IN_ORDER_MAX && in_order.clone().all(|r| r.seen.len() <= SEEN_IN_ORDER_MAX));
    println!("{} bytes", json.len());
}

#[test]
fn a_shape_that_was_left_is_tried_again_in_the_next_iteration() {
    let keys = |n: usize| UrlShape::new(&format!("/c/{n}")).keys();
    let page = |n| PageObservation {
        keys: keys(n),
        sample: PageSample::new(&["the same"], &[]),
        leads_to: [keys(n + 1)].into(),
    };
    let observe = |shapes: &mut WatchedShapes, n| shapes.observe(1_000, &[page(n)]);
    let is_left = |shapes: &WatchedShapes| matches!(shapes.standing(&keys(0), 24), ShapeStanding::Left { .. });
    let mut shapes = WatchedShapes::default();
    let first = (0..100).take_while(|n| {
        observe(&mut shapes, *n);
        !is_left(&shapes)
    });
    assert_eq!(first.count(), 24, "the first shows news");
    assert_eq!(shapes.standing(&keys(7), 24), ShapeStanding::Left { pages: 24 });
    let mut next = shapes.carried_over();
    assert_eq!(next.standing(&keys(7), 24), ShapeStanding::Waits);
    let again = (0..100).take_while(|n| {
        observe(&mut next, *n);
        !is_left(&next)
    });
    assert_eq!(again.count() + 1, usize::from(TRIED_AGAIN));
}
