//! A template that changes between iterations is noticed in the one that brings it.

use std::fmt::Write as _;
use std::path::Path;

use dragline_domain::definition::Definition;
use dragline_local::LocalStore;

use super::heard::Heard;
use super::scripted::{Act, Asked, ScriptedSite, answer, page};

/// The sections of the site, and how many pages each has.
const SECTIONS: [(&str, u32); 6] = [("gone", 12), ("kind", 12), ("new", 12), ("same", 12), ("few", 4), ("one", 12)];

/// A site of things whose pages say something else at each visit, and of which some sections get
/// another template with the second one.
fn site(asked: &Asked) -> Act {
    if asked.target == "/" {
        let mut links = String::new();
        for (section, pages) in SECTIONS {
            (1..=pages).for_each(|n| {
                let _ = write!(links, "<a href=/{section}/{n}>{n}</a>");
            });
        }
        return page(&format!("<title>Things</title>{links}"));
    }
    let mut parts = asked.target.split('/').skip(1);
    let (Some(section), Some(n)) = (parts.next(), parts.next()) else { return answer(404, &[], "") };
    let is_new = asked.earlier > 0;
    let fields = match section {
        "gone" | "few" if is_new => r#""name": "A""#,
        "one" if is_new && n == "1" => r#""name": "A""#,
        "kind" if is_new => r#""name": "A", "size": "large""#,
        "new" if is_new => r#""name": "A", "size": 7, "colour": "red""#,
        _ => r#""name": "A", "size": 7"#,
    };
    page(&format!(
        "<title>{section} {n}</title>Visit {}
         <script type=application/ld+json>{{\"@context\": \"https://schema.org\", \"@type\": \"{section}\", {fields}}}</script>",
        asked.earlier
    ))
}

fn definition(site: &ScriptedSite, items: &str) -> Definition {
    let yaml =
        format!("name: things\nseeds: ['{}']\npoliteness: {{ delay: 0s, concurrency: 8 }}\n{items}", site.url("/"));
    dragline_definition::parse(&yaml, "crawl.yaml").unwrap()
}

/// How many pages the summary says have changed so.
async fn drifted(data: &Path, definition: &Definition) -> Option<u64> {
    let reader = LocalStore::open_read_only(data).unwrap().into_reader(definition.name.clone());
    let latest = dragline_ports::reader::Reader::latest_iteration(&reader).await.unwrap().unwrap();
    dragline_report::summary(&reader, latest).await.unwrap().figures.drifted
}

#[tokio::test]
async fn another_template_is_told_once_and_counted() {
    let site = ScriptedSite::start(site).await;
    let (data, heard) = (tempfile::tempdir().unwrap(), Heard::default());
    let data = data.path();
    let first = definition(&site, "");
    heard.crawl(data, &first).await;
    assert_eq!((heard.take("drifted"), drifted(data, &first).await), (vec![], Some(0)), "there was nothing before");

    heard.crawl(data, &first).await;
    let mut told = heard.take("drifted");
    told.sort();
    let expected =
        ["gone.size is gone: 12 of 12, now 0 of 12, as on", "kind.size is text, no longer number", "new.colour is new"];
    assert_eq!(told.len(), expected.len(), "each once, neither four pages nor a single one: {told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(
            told.contains(expected) && told.ends_with("`dragline schema --since 1` shows all that differs"),
            "{told}"
        );
    }
    assert_eq!(drifted(data, &first).await, Some(36));

    heard.crawl(data, &first).await;
    assert_eq!((heard.take("drifted"), drifted(data, &first).await), (vec![], Some(0)), "it is as it was");

    let other = definition(&site, "items: [{ type: same, fields: { heading: { css: title } } }]");
    heard.crawl(data, &other).await;
    assert_eq!((heard.take("drifted"), drifted(data, &other).await), (vec![], Some(0)), "the definition changed");
}
