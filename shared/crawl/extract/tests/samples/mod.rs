//! Documents of every shape.

use dragline_domain::change::{Difference, PageLink, Part};
use dragline_domain::content::{
    About, Alternate, Content, ContentLevel, FeedLink, Gap, Heading, Image, MainPart, MainPartSource, Meta, Repeated,
    RepeatedField, RepeatedForm,
};
use dragline_domain::definition::{
    FieldKind, FieldRule, ItemType, Noindex, Presence, ScalarKind, Selector, SelectorPlace,
};
use dragline_domain::document::{
    Directives, Disposition, Document, DocumentState, ExtractorVersion, Link, LinkKind, Page, PageCut, Rel, StoredBody,
};
use dragline_domain::feed::{Enclosure, Entry, Feed, FeedFormat, Person};
use dragline_domain::frontier::{ObjectKey, VisitPlace};
use dragline_domain::ids::{Iteration, Turn};
use dragline_domain::item::{Field, Item, Misfit, Money, Notation, Record, Value};
use dragline_domain::lastmod::Truth;
use dragline_domain::markup::{AnchorSet, LanguageLink, LinkUse, MalformedLink, MalformedReason, Markup, PagePart};
use dragline_domain::outcome::Outcome;
use dragline_domain::rendering::{PageGist, PageRendering, RenderEnd, RequestCounts};
use dragline_domain::url::{CrawlUrl, Spelling, UrlRules};
use dragline_domain::use_preferences::{Purpose, UseSource, UseStand, UseStands, UseStatement};
use dragline_domain::validity::{Flaw, Rule, ValidationType, Validity};
use dragline_extract::typed::Types;
use dragline_extract::{Extracted, MainRules, Settings, Source, Unread, extract};
use dragline_formats::http_fields::Headers;
use jiff::Timestamp;
use serde_json::Number;

const PLACE: VisitPlace = VisitPlace { iteration: Iteration::FIRST, turn: Turn(2), segment: 0, n: 7 };

const HEAD: &str = r##"<!DOCTYPE html><html lang=en><head><title>Chairs of oak | Shop</title>
<meta name=description content="All about chairs."><meta name=author content="Ana Amari"><meta property="og:title" content="Chair">
<meta property="og:site_name" content="Shop"><meta property="og:image" content="/chair.png"><meta property="article:published_time" content="2026-01-02">
<link rel=canonical href=/chair><link rel=alternate hreflang=de href=/de><link rel=alternate type=application/rss+xml title=News href=/feed>
<script type=application/ld+json>{"@context":"https://schema.org","@type":"Product","@id":"#p","name":"Chair","offers":{"@type":"Offer","price":"129.90","priceCurrency":"EUR"}}</script>
</head><body><h1>Chairs of oak</h1><img src=/chair.png alt="A chair"><p id=x class=price>129,90 €</p><p id=x>Twice <a rel=nofollow href=/a>a</a> <a href=/b>b</a></p><article>"##;

const PARAGRAPH: &str = "<p>The chair stands in the hall of the old house, where people sit down in the evening, and it was made of the oak that grew behind it, by a carpenter who took his time for every single part of it.</p>";

fn url(text: &str) -> CrawlUrl {
    CrawlUrl::try_from(text.to_owned()).unwrap()
}

fn field(name: &str, kind: FieldKind, selector: &str, presence: Presence) -> FieldRule {
    let at = SelectorPlace::Css { selector: selector.to_owned(), attribute: None };
    let any = vec![Selector { at, regex: None }];
    FieldRule { name: name.to_owned(), any, kind, presence, min: None, max: None, pattern: None }
}

/// Makes a document of a body, as the pipeline does.
fn document_of(media_type: &str, body: &str, content: ContentLevel) -> Document {
    let (rules, at) = (UrlRules::default(), url("https://a.example/chair"));
    let headers = Headers::from_iter([("Content-Type", media_type)]);
    let cost = field("cost", FieldKind::One(ScalarKind::Money), ".price", Presence::Optional);
    let parts = field(
        "parts",
        FieldKind::Record(vec![field("text", FieldKind::One(ScalarKind::Text), "a", Presence::Optional)]),
        "p",
        Presence::Optional,
    );
    let weight = field("weight", FieldKind::One(ScalarKind::Number), ".weight", Presence::Required);
    let title = field("title", FieldKind::One(ScalarKind::Number), "h1", Presence::Optional);
    let fields = vec![cost, parts, weight, title];
    let types = Types::new(&[ItemType { name: "Chair".to_owned(), when: None, each: None, fields }]).unwrap();
    let source = Source { url: &at, headers: &headers, body: body.as_bytes() };
    let settings = Settings {
        product_token: "Dragline",
        url_rules: &rules,
        decoded_bytes_max: 10_000_000,
        noindex: Noindex::Obey,
        content,
        types: &types,
        main: MainRules::NONE,
    };
    match extract(&source, &settings) {
        Ok(Extracted { made_by, page, links, content, remark, wall: _, uses: _ }) => {
            let links = links.into_iter().map(|link| link.with_disposition(Disposition::Follow));
            let misfits = content.as_ref().is_some_and(|content| !content.misfits.is_empty());
            Document {
                detail: remark,
                state: if misfits { DocumentState::Stuck } else { DocumentState::Processed },
                page: Some(page),
                links: links.collect(),
                content,
                made_by: Some(made_by),
                ..Document::bare(0, at.clone(), Outcome::FileIngested)
            }
        }
        Err(Unread { directives: _, detail, links: _, content }) => {
            Document { detail, content, ..Document::bare(0, at.clone(), Outcome::StoredNotRead) }
        }
    }
}

/// A page with every feature, read at this level.
pub(crate) fn extracted(level: ContentLevel) -> Document {
    document_of("text/html", &format!("{HEAD}{}</article>", PARAGRAPH.repeat(8)), level)
}

/// Documents of every shape, with descriptions.
pub(crate) fn all() -> Vec<(&'static str, Document)> {
    let bare = |outcome| Document::bare(1, url("https://a.example/x"), outcome);
    let link = |disposition| Link { disposition, ..everything().links[0].clone() };
    let mut all = vec![
        ("everything", everything()),
        ("text", extracted(ContentLevel::Text)),
        ("items", extracted(ContentLevel::Items)),
        ("full", extracted(ContentLevel::Full)),
        ("an empty page", document_of("text/html", "", ContentLevel::Full)),
        ("too deep a tree", document_of("text/html", &"<div>".repeat(1_000), ContentLevel::Full)),
        ("noindex", document_of("text/html", "<meta name=robots content=noindex><title>T</title>", ContentLevel::Full)),
        ("a feed", document_of("application/rss+xml", "<rss version='2.0'><channel/></rss>", ContentLevel::Full)),
        ("broken JSON", document_of("application/json", "{", ContentLevel::Full)),
        ("a file", document_of("image/png", "x", ContentLevel::Full)),
        (
            "what broke the parser",
            Document { detail: Some("it crashed".into()), state: DocumentState::Stuck, ..bare(Outcome::FileIngested) },
        ),
        ("a redirect", Document { links: vec![link(Disposition::OutOfScope)], ..bare(Outcome::PermanentRedirect) }),
        (
            "a blocked link",
            Document {
                links: vec![link(Disposition::Blocked("robots.txt".into()))],
                ..bare(Outcome::TemporaryRedirect)
            },
        ),
    ];
    all.extend(Outcome::ALL.iter().map(|&outcome| (outcome.name(), bare(outcome))));
    all
}

/// A document with every key, written out so that a new key has to be added here.
pub(crate) fn everything() -> Document {
    let to = |path: &str| PageLink { kind: LinkKind::A, target: url(&format!("https://a.example/{path}")) };
    Document {
        n: 7,
        url: url("https://a.example/"),
        outcome: Outcome::FileIngested,
        detail: Some("Chair.weight does not fit `required`: nothing is there".into()),
        state: DocumentState::Stuck,
        page: Some(Page {
            title: Some("T".into()),
            description: Some("D".into()),
            language: Some("en".into()),
            charset: Some("UTF-8".into()),
            canonical: Some(url("https://a.example/")),
            directives: Directives { noindex: false, nofollow: true },
            text: "text".into(),
            cut: PageCut::TextAndLinks,
        }),
        links: vec![Link {
            kind: LinkKind::A,
            target: url("https://a.example/b"),
            disposition: Disposition::NoFollow,
            spelling: Spelling::Stripped,
            rel: Rel::NoFollow,
            anchor: Some("what it says".into()),
        }],
        content: Some(Box::new(content())),
        made_by: Some(ExtractorVersion::new("html", 65_535)),
        body: Some(StoredBody {
            visit: PLACE,
            at: Timestamp::new(1_767_225_600, 123_456_789).unwrap(),
            status: 200,
            content_type: Some("text/html".into()),
            body_bytes: u64::MAX,
            object: ObjectKey::try_from("raw/c/1/https,a.example/2-0-t.warc.gz".to_owned()).unwrap(),
            offset: 0,
            length: 900,
        }),
        difference: Some(Difference {
            since: PLACE,
            parts: Part::ALL.to_vec(),
            links_added: vec![to("b")],
            links_removed: vec![to("c")],
        }),
    }
}

fn feed() -> Feed {
    let some = |text: &str| Some(text.to_owned());
    let person = Person { name: some("A"), email: some("a@a.example"), url: some("https://a.example/a") };
    let entry = Entry {
        title: some("E"),
        link: some("https://a.example/e"),
        id: some("urn:e"),
        authors: vec![person.clone()],
        summary: some("short"),
        content: some("long"),
        published: some("2021-03-03"),
        updated: some("2021-03-04"),
        categories: vec!["c".into()],
        enclosures: vec![Enclosure {
            url: "https://a.example/e.mp3".into(),
            media_type: some("audio/mpeg"),
            bytes: Some(3),
        }],
    };
    Feed {
        format: FeedFormat::Atom,
        version: some("1.0"),
        title: some("F"),
        link: some("https://a.example/"),
        id: some("urn:f"),
        authors: vec![person],
        summary: some("about"),
        published: some("soon"),
        updated: some("2021-03-04"),
        categories: vec!["c".into()],
        entries: vec![entry],
    }
}

fn content() -> Content {
    Content {
        items: vec![item()],
        feed: Some(Box::new(feed())),
        misfits: vec![Misfit {
            item_type: "Chair".into(),
            field: "weight".into(),
            rule: "required".into(),
            value: None,
        }],
        about: Some(about()),
        rendering: Some(Box::new(PageRendering {
            ended: Some(RenderEnd::Quiet),
            failed: Some("it crashed".into()),
            browser: Some("HeadlessChrome/156.0".into()),
            requests: RequestCounts { answered: 1, refused: 2, over_limit: 3, left_out: 4 },
            served: Some(PageGist {
                title: Some("App".into()),
                canonical: Some(url("https://example.org/app")),
                words: 1,
                links: 2,
                noindex: true,
            }),
        })),
        main: Some(MainPart {
            taken: MainPartSource::Found,
            kept_percent: 100,
            compared_sha1: "0".repeat(40),
            words: 1,
            text: "text".into(),
            markdown: "text".into(),
        }),
        validity: Some(Validity {
            kind: ValidationType::Html,
            flaws: vec![Flaw { line: 1, column: Some(2), rule: Rule::new("duplicate-id"), message: "twice".into() }],
            flaws_more: 3,
        }),
        repeated: vec![Repeated {
            form: RepeatedForm::Table,
            each: "tr".into(),
            entries: 3,
            fields: vec![RepeatedField {
                name: "size".into(),
                css: Some("td".into()),
                attribute: Some("title".into()),
                path: Some("td".into()),
                kind: ScalarKind::Number,
                entries: 3,
                example: "7".into(),
            }],
        }],
        markup: Some(Box::new(markup())),
        lastmod: Some(Truth { right: 3, wrong: 1, changed: 2 }),
        gaps: vec![Gap::Tree, Gap::Items, Gap::About],
        uses: vec![uses()],
        reserved_for: Some(Purpose::AiTrain),
    }
}

fn markup() -> Markup {
    let used = LinkUse {
        link: Some(0),
        fragment: Some("top-3".into()),
        part: Some(PagePart::Nav),
        rel: Some("nofollow".into()),
        alt: Some("".into()),
        text: Some("more".into()),
    };
    Markup {
        h1: Some(0),
        undescribed: 1,
        undescribed_links: vec![0],
        anchors: AnchorSet::from_hashes(vec![1, 2]),
        malformed: vec![MalformedLink {
            kind: LinkKind::A,
            written: "htp://x/".into(),
            why: MalformedReason::SchemeMistyped,
            text: Some("x".into()),
        }],
        languages: vec![LanguageLink { link: 0, code: "en-UK".into(), page: Some(0) }],
        uses: vec![used, LinkUse::default()],
        is_cut: true,
    }
}

fn uses() -> UseStatement {
    let says =
        Purpose::ALL.into_iter().fold(UseStands::NOTHING, |says, purpose| says.with(purpose, UseStand::Reserved));
    UseStatement::new(UseSource::Header, "x-robots-tag: noai", says)
}

fn item() -> Item {
    let money = Money { amount: Number::from_f64(19.99).unwrap(), currency: None };
    let fields = [("price".to_owned(), vec![Value::Number(7.into()), Value::Bool(true)])].into();
    let record = Record { types: vec!["Offer".into()], id: Some("#o".into()), fields };
    let empty = Record { types: Vec::new(), id: None, fields: [].into() };
    let values =
        vec![Value::Text("Chair".into()), Value::Money(money.clone()), Value::Record(record), Value::Record(empty)];
    let field = Field { values, from: vec![Notation::JsonLd, Notation::Definition] };
    Item {
        types: vec!["Product".into()],
        id: Some("#p".into()),
        fields: [("offers".to_owned(), field)].into(),
        normal: [("price".to_owned(), Value::Money(money))].into(),
    }
}

fn about() -> About {
    let some = |text: &str| Some(text.to_owned());
    About {
        title: some("T"),
        excerpt: some("E"),
        author: some("A"),
        site_name: some("S"),
        published: some("2026-01-01"),
        modified: some("last May"),
        image: some("https://a.example/i.png"),
        language_detected: some("eng"),
        headings: vec![Heading { level: 6, text: "H".into() }],
        images: vec![Image { url: "https://a.example/i.png".into(), alt: some("I") }],
        hreflang: vec![Alternate { language: "x-default".into(), url: "https://a.example/".into() }],
        feeds: vec![FeedLink { url: "https://a.example/feed".into(), title: some("F") }],
        meta: vec![Meta { name: "author".into(), content: "A".into() }],
        words: 1,
        text_sha1: "0123456789abcdef0123456789abcdef01234567".into(),
        simhash: "0123456789abcdef".into(),
    }
}
