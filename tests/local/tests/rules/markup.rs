//! What the link graph and the report tell of pages' markup: malformed links, places that are not
//! there, headings, pictures, and languages.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use dragline_domain::ids::Iteration;
use dragline_graph::{Graph, SiteLink};
use dragline_local::LocalStore;
use dragline_ports::reader::Reader as _;
use dragline_report::site::{AcceptedFindings, Cell, Report, ReportExtent, ReportStamp, RowsKept, report, sarif};
use jiff::Timestamp;
use tempfile::TempDir;

use super::heard::Heard;
use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// A site with a mistake of each kind, and with what looks like one.
fn site(asked: &Asked) -> Act {
    let text = "more words ".repeat(60);
    match asked.target.as_str() {
        "/" => page(&format!(
            "<h1>Home</h1><nav><a href=/a>A</a></nav>
             <main><a href=/a#here rel=nofollow>here</a><a href=/a#gone>gone</a><a href=/a#f%C3%BCr>encoded</a><a href=/moved#gone>moved</a>
             <a href=#top>top</a><a href=#nowhere>nowhere</a><a href='#/route'>route</a><a href=/paper.pdf#page=2>page 2</a>
             <a href=/missing#x>missing</a><a href=/app#x>app</a><a href=/a#:~:text=words>words</a>
             <a href=htp://x/>typo</a><a href='http://h:bad/'>port</a><a href=>empty</a></main>
             <a href=/en>en</a><a href=/de>de</a><a href=/fr>fr</a><a href=/it>it</a><a href=/hidden>hidden</a>{text}"
        )),
        "/a" => page(&format!("<meta charset=utf-8><h1>A</h1><h1>B</h1><p id=here><p id=f\u{fc}r><img src=/i.png><img src=/j.png alt=''>{text}")),
        "/moved" => answer(301, &["location: /a"], ""),
        "/paper.pdf" => answer(200, &["content-type: application/pdf"], "%PDF-1.4"),
        "/app" => page("<div id=root></div><script src=/x.js></script>"),
        // English and German name each other; French is named, and names nobody; Italian leads
        // elsewhere.
        "/en" => page(&format!(
            "<html lang=en><link rel=alternate hreflang=en-UK href=/en><link rel=alternate hreflang=de href=/de>
             <link rel=alternate hreflang=fr href=/fr><link rel=alternate hreflang=it href=/it>
             <link rel=alternate hreflang=es href=/missing><link rel=alternate hreflang=pt href=/hidden>{text}"
        )),
        "/de" => {
            // It leads back in its header.
            let fields = ["content-type: text/html", "link: </en>; rel=alternate; hreflang=en"];
            answer(200, &fields, format!("<html lang=de>{text}"))
        }
        "/fr" => page(&format!("<html lang=fr><h1>F</h1>{text}")),
        "/it" => answer(302, &["location: /fr"], ""),
        "/hidden" => page("<meta name=robots content=noindex>"),
        _ => answer(404, &[], ""),
    }
}

/// Crawls the site, and returns its graph and its report.
async fn crawled(site: &ScriptedSite, accepted: AcceptedFindings) -> (TempDir, Graph, Report) {
    crawled_with("", site, accepted).await
}

/// Does the same, with further keys of the definition.
async fn crawled_with(keys: &str, site: &ScriptedSite, accepted: AcceptedFindings) -> (TempDir, Graph, Report) {
    let data = tempfile::tempdir().unwrap();
    let yaml = format!("name: docs\nseeds: ['{}']\ncontent: text\npoliteness: {{ delay: 0s }}\n{keys}", site.url("/"));
    let definition = dragline_definition::parse(&yaml, "crawl.yaml").unwrap();
    Heard::default().crawl(data.path(), &definition).await;
    let reader = LocalStore::open_read_only(data.path()).unwrap().into_reader("docs".parse().unwrap());
    let graph = Graph::up_to_date(&reader, &data.path().join("graph/docs.db"), || {}).await.unwrap();
    let iteration = reader.load_iteration(Iteration::FIRST).await.unwrap().unwrap();
    let making = ReportStamp { program: "test".to_owned(), at: Timestamp::UNIX_EPOCH };
    let extent = ReportExtent { accepted, rows: RowsKept::All };
    let report = report(&reader, &graph, iteration, (making, &extent)).await.unwrap();
    (data, graph, report)
}

/// Returns the rows of the findings about markup, with paths for URLs.
fn list_findings(report: &Report, site: &ScriptedSite) -> BTreeMap<&'static str, Vec<String>> {
    const KINDS: [&str; 9] = [
        "alt_missing",
        "fragments_missing",
        "h1_missing",
        "h1_several",
        "hreflang_broken",
        "hreflang_code",
        "hreflang_one_way",
        "links_empty",
        "links_malformed",
    ];
    let text = |cell: &Cell| match cell {
        Cell::Nothing => "-".to_owned(),
        Cell::Whole(number) => number.to_string(),
        Cell::Number(number) => number.to_string(),
        Cell::Text(text) => text.replace(&site.url("/"), "/"),
        Cell::Texts(texts) => texts.join(" ").replace(&site.url("/"), "/"),
    };
    let row = |row: &Vec<Cell>| row.iter().map(text).collect::<Vec<_>>().join(", ");
    let findings = report.findings.iter().filter(|finding| KINDS.contains(&finding.id));
    findings.map(|finding| (finding.id, finding.table.rows.iter().map(row).collect())).collect()
}

#[tokio::test]
async fn mistakes_of_markup_are_found() {
    let site = ScriptedSite::start(site).await;
    let (_data, graph, report) = crawled(&site, AcceptedFindings::default()).await;
    let expected = [
        ("alt_missing", vec!["/a, 1, /i.png"]),
        ("fragments_missing", vec!["/#nowhere, 1, /", "/a#gone, 1, /"]),
        ("h1_missing", vec!["/de, -", "/en, -"]),
        ("h1_several", vec!["/a, -, 2"]),
        (
            "hreflang_broken",
            vec![
                "/en, es, /missing, file_not_found",
                "/en, it, /it, temporary_redirect",
                "/en, pt, /hidden, blocked_at_request_of_remote",
            ],
        ),
        ("hreflang_code", vec!["/en, en-UK, there is no such country in ISO 3166-1, /en"]),
        ("hreflang_one_way", vec!["/en, fr, /fr"]),
        ("links_empty", vec!["/, empty"]),
        (
            "links_malformed",
            vec![
                "htp://x/, the scheme looks like a mistyped one, typo, a, /",
                "http://h:bad/, the port is not a number up to 65535, port, a, /",
            ],
        ),
    ];
    let expected = expected.map(|(id, rows)| (id, rows.into_iter().map(str::to_owned).collect()));
    assert_eq!(list_findings(&report, &site), BTreeMap::from(expected));
    let sarif = sarif(&report);
    assert!(sarif.contains(r#""ruleId":"links_malformed""#) && sarif.contains("htp://x/"), "{sarif}");

    let (mut malformed, mut fragments) = (Vec::new(), Vec::new());
    let kept = |list: &mut Vec<String>, text: &str| {
        list.push(text.replace(&site.url("/"), "/"));
        ControlFlow::Continue(())
    };
    graph.malformed(|link| kept(&mut malformed, &link.written)).unwrap();
    graph.missing_fragments(|link| kept(&mut fragments, &format!("{} {}", link.url, link.to_url))).unwrap();
    assert_eq!(malformed, ["htp://x/", "http://h:bad/"], "an empty link is legal");
    assert_eq!(fragments, ["/#nowhere /", "/a#gone /a", "/a#gone /moved"], "also by redirects");
}

#[tokio::test]
async fn languages_that_a_sitemap_names_count_like_those_of_the_pages() {
    let site = ScriptedSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => answer(200, &["content-type: text/plain"], "Sitemap: /map.xml"),
        "/map.xml" => {
            let link = |code, path| format!("<xhtml:link rel='alternate' hreflang='{code}' href='{path}'/>");
            let page = |path, links: &[String]| format!("<url><loc>{path}</loc>{}</url>", links.concat());
            let entries = [
                page("/en", &[link("en", "/en"), link("de", "/de"), link("fr", "/fr"), link("xx", "/missing")]),
                page("/de", &[link("en", "/en"), link("de", "/de")]),
                // It leads back by itself.
                page("/it", &[]),
                page("/es", &[link("it", "/it")]),
            ];
            answer(200, &["content-type: text/xml"], format!("<urlset>{}</urlset>", entries.concat()))
        }
        "/missing" => answer(404, &[], ""),
        "/it" => page("<h1>A</h1><link rel=alternate hreflang=es href=/es>"),
        _ => page("<h1>A</h1>"),
    })
    .await;
    let (_data, _, report) = crawled_with("sitemaps: follow", &site, AcceptedFindings::default()).await;
    let told = list_findings(&report, &site);
    assert_eq!(told["hreflang_broken"], ["/en, xx, /missing, file_not_found"]);
    assert_eq!(told["hreflang_one_way"], ["/en, fr, /fr"]);
    assert_eq!(told["hreflang_code"].len(), 1, "{told:?}");
}

#[tokio::test]
async fn accepted_mistakes_of_markup_are_left_out() {
    let site = ScriptedSite::start(site).await;
    let mut accepted = AcceptedFindings::default();
    accepted.add_list(&format!("links_malformed htp:*\nfragments_missing {}*\nh1_missing *", site.url("/a#"))).unwrap();
    let (_data, _, report) = crawled(&site, accepted).await;
    let told = list_findings(&report, &site);
    assert_eq!(told["links_malformed"].len(), 1, "{told:?}");
    assert_eq!(told["fragments_missing"], ["/#nowhere, 1, /"]);
    assert_eq!(told["h1_missing"], [""; 0]);
}

#[tokio::test]
async fn each_use_of_a_link_is_kept() {
    let site = ScriptedSite::start(site).await;
    let (_data, graph, _) = crawled(&site, AcceptedFindings::default()).await;
    let mut uses = Vec::new();
    let to_a = graph.links_to(&site.url("/a"), |link: SiteLink| {
        if link.to_url == site.url("/a") && link.kind == "a" {
            let parts = [link.anchor, link.part, link.fragment, link.rel];
            uses.push(parts.map(Option::unwrap_or_default).join(" "));
        }
        ControlFlow::Continue(())
    });
    to_a.unwrap();
    let expected = ["A nav  ", "here main here nofollow", "gone main gone ", "encoded main f%C3%BCr ", "words main  "];
    assert_eq!(uses, expected, "with its own text, and where it is");
}
