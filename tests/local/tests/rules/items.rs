//! What pages say beyond text and links: items in tables, types of the definition that pages do not
//! fit, and the content that is made again.

use std::fmt::Write as _;
use std::path::Path;

use dragline_domain::content::Content;
use dragline_domain::definition::Definition;
use dragline_domain::document::Document;
use dragline_local::LocalStore;
use dragline_ports::reader::{Cursor, Filter, Reader};
use dragline_testkit::whole_crawls::every_row;
use rusqlite::Connection;
use rusqlite::types::Value;

use super::heard::Heard;
use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// A shop with twelve chairs, each with its price in JSON-LD and its stock in the page. In a second
/// visit the template has no stock.
fn shop(asked: &Asked) -> Act {
    let links: String = (1..=12).fold(String::new(), |mut links, n| {
        let _ = write!(links, "<a href=/chair/{n}>{n}</a>");
        links
    });
    match asked.target.as_str() {
        "/robots.txt" => answer(404, &[], ""),
        "/" => page(&format!("<html lang=en><title>Shop</title><h1>Chairs</h1>{links}")),
        chair => {
            let n = chair.rsplit('/').next().unwrap_or_default();
            let stock =
                if asked.earlier == 0 { format!("<b class=stock>{n} left</b>") } else { "<i>sold</i>".to_owned() };
            page(&format!(
                "<title>Chair {n}</title><h1>Chair {n}</h1>{stock}<script type='application/ld+json'>
                 {{\"@context\": \"https://schema.org\", \"@type\": \"Product\", \"name\": \"Chair {n}\", // the name
                   \"offers\": {{\"@type\": \"Offer\", \"price\": \"{n}9,90\", \"priceCurrency\": \"EUR\"}}}}</script>"
            ))
        }
    }
}

fn definition(site: &ScriptedSite, items: &str) -> Definition {
    let yaml =
        format!("name: shop\nseeds: ['{}']\npoliteness: {{ delay: 0s, concurrency: 8 }}\n{items}", site.url("/"));
    dragline_definition::parse(&yaml, "crawl.yaml").unwrap()
}

fn rows(data: &Path, sql: &str) -> Vec<String> {
    let database = Connection::open(data.join("dragline.db")).unwrap();
    let mut statement = database.prepare(sql).unwrap();
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let values = (0..columns).map(|n| row.get(n));
        let text = |value: Value| match value {
            Value::Null => "-".to_owned(),
            Value::Integer(number) => number.to_string(),
            Value::Real(number) => number.to_string(),
            Value::Text(text) => text,
            Value::Blob(_) => "?".to_owned(),
        };
        Ok(values.collect::<Result<Vec<Value>, _>>()?.into_iter().map(text).collect::<Vec<_>>().join(" | "))
    };
    statement.query_map([], row).unwrap().map(Result::unwrap).collect()
}

/// The documents of the site as it is now, by URL.
async fn documents(data: &Path, definition: &Definition) -> Vec<Document> {
    let reader = LocalStore::open_read_only(data).unwrap().into_reader(definition.name.clone());
    let (reader, filter) = (&reader, &Filter::default());
    let read = |after: Option<Cursor>| async move { reader.shown_documents(filter, after.as_ref(), 5).await };
    let mut documents: Vec<_> = every_row(read).await.into_iter().map(|row| row.document).collect();
    documents.sort_by(|a, b| a.url.cmp(&b.url));
    documents
}

const STOCK: &str = "
items:
  - type: Stock
    when: { path: { prefix: /chair/ } }
    fields:
      left: { css: b.stock, regex: '\\d+', kind: number, required: true }
      price: { item: offers.price, kind: money }
";

#[tokio::test]
async fn items_are_rows_of_a_table_of_their_type() {
    let site = ScriptedSite::start(shop).await;
    let (data, heard) = (tempfile::tempdir().unwrap(), Heard::default());
    let plain = definition(&site, "");
    heard.crawl(data.path(), &plain).await;
    let sql = "SELECT iteration, name, price, currency, types FROM item_product WHERE url LIKE '%/chair/3'";
    assert_eq!(rows(data.path(), sql), ["1 | Chair 3 | 39.9 | EUR | Product"]);
    assert_eq!(rows(data.path(), "SELECT count(*), count(DISTINCT at) > 0 FROM item_product"), ["12 | 1"]);
    let typed = definition(&site, &STOCK.replace("b.stock", "h1"));
    heard.crawl(data.path(), &typed).await;
    let joined = "SELECT i.iteration, i.\"left\", i.price FROM item_stock i JOIN page p ON p.id = i.id
                  WHERE i.url LIKE '%/chair/3'";
    assert_eq!(rows(data.path(), joined), ["2 | 3 | 39.9"], "what the page says, and its structured data");
    let history = "SELECT iteration, price FROM item_product WHERE url LIKE '%/chair/3' ORDER BY at";
    assert_eq!(rows(data.path(), history), ["1 | 39.9", "2 | 39.9"], "each iteration that found it changed has a row");
    assert_eq!(heard.take("stuck"), Vec::<String>::new());
}

#[tokio::test]
async fn what_does_not_fit_is_stuck_told_once_and_cleared() {
    let site = ScriptedSite::start(shop).await;
    let (data, heard) = (tempfile::tempdir().unwrap(), Heard::default());
    let first = definition(&site, STOCK);
    let progress = heard.crawl(data.path(), &first).await;
    assert_eq!((progress.parser.stuck, heard.take("stuck")), (0, vec![]), "all fit");

    let progress = heard.crawl(data.path(), &first).await;
    assert_eq!(progress.parser.stuck, 12, "the template has no stock now");
    let told = heard.take("stuck");
    assert_eq!(told.len(), 1, "once for all pages: {told:?}");
    let says = "Stock.left does not fit `required`: nothing is there; mend `items` in the definition, then run `dragline reparse`";
    assert!(told[0].contains(says), "{told:?}");
    let misfits = "SELECT item_type, field, rule, value FROM misfit GROUP BY 1, 2, 3, 4 HAVING count(*) = 12";
    assert_eq!(rows(data.path(), misfits), ["Stock | left | required | -"]);
    let kept = documents(data.path(), &first).await;
    let chair = kept.iter().find(|document| document.url.as_str().ends_with("/chair/3")).unwrap();
    assert!(chair.page.as_ref().is_some_and(|page| page.text.contains("sold")), "the page is there all the same");
    assert_eq!(rows(data.path(), "SELECT count(*) FROM document WHERE state = 'stuck'"), ["12"]);

    heard.crawl(data.path(), &first).await;
    assert_eq!(heard.take("stuck"), Vec::<String>::new(), "nor is it told again in a later iteration");

    let mended = definition(&site, &STOCK.replace(", required: true", ""));
    let progress = heard.reparse(data.path(), &mended).await;
    assert_eq!((progress.parser.stuck, progress.parser.reparsed), (0, 13), "{:?}", heard.take("stuck"));
    assert_eq!(rows(data.path(), "SELECT * FROM misfit"), Vec::<String>::new(), "cleared");

    heard.reparse(data.path(), &first).await;
    assert_eq!(heard.take("stuck").len(), 1, "another version of the definition is told of anew");
}

#[tokio::test]
async fn content_is_made_again_byte_by_byte_the_same() {
    let site = ScriptedSite::start(shop).await;
    let (data, heard) = (tempfile::tempdir().unwrap(), Heard::default());
    let full = definition(&site, &format!("content: full\n{STOCK}"));
    heard.crawl(data.path(), &full).await;
    let json = |documents: &[Document]| {
        let content = documents.iter().map(|document| serde_json::to_string(&document.content).unwrap());
        content.collect::<Vec<_>>().join("\n")
    };
    let first = documents(data.path(), &full).await;
    assert_eq!(first.len(), 13);
    let about = first[0].content.as_deref().and_then(|content| content.about.as_ref()).unwrap();
    assert_eq!(about.headings.iter().map(|heading| heading.text.as_str()).collect::<Vec<_>>(), ["Chairs"]);
    for again in ["once", "twice"] {
        heard.reparse(data.path(), &full).await;
        assert_eq!(json(&documents(data.path(), &full).await), json(&first), "{again}");
    }
    let valid = "SELECT validation_type, valid, count(*) FROM validity WHERE iteration = 1 GROUP BY 1, 2";
    assert_eq!(rows(data.path(), valid), ["html | 0 | 13"], "they have no doctype");
    let lean = definition(&site, "content: text");
    heard.reparse(data.path(), &lean).await;
    for document in documents(data.path(), &lean).await {
        let content = document.content.map(|content| Content { markup: None, ..*content });
        assert!(content.is_none_or(|content| content.is_empty()), "as it was asked for: {}", document.url);
    }
}
