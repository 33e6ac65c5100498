//! Pages other than articles: threads, lists, shops, and pages that scripts assemble.

use super::*;

const REPLY: &str = "Mine broke in the same way, and I sent it back.";

/// A page with a named author: a long post, and others' replies in another part.
fn thread(head: &str, attributes: &str) -> String {
    let post = prose("The first post, which is long enough, with commas, and clauses. ").repeat(6);
    let replies: String = (1..=30).map(|n| format!("<li class='c{n}'><p>{n}. {REPLY}</p></li>")).collect();
    format!(
        "<html lang=en><head><title>x</title><meta name=author content='Ann Writer'>{head}</head><body><nav><a href=/>Home</a></nav>
         <div {attributes}><div class=first><h1>It broke</h1>{post}</div><div class=others><ul>{replies}</ul></div></div><footer>Imprint</footer>"
    )
}

#[test]
fn the_declared_kind_of_a_page_decides_its_content() {
    let said = |json: &str| format!("<script type='application/ld+json'>{json}</script>");
    for (head, attributes, expected, why) in [
        (String::new(), "", false, "an article of somebody, with comments"),
        (said(r#"{"@context":"https://schema.org","@type":"DiscussionForumPosting"}"#), "", true, "a thread"),
        (said(r#"{"@graph":[{"@type":"WebPage"},{"@type":["QAPage"]}]}"#), "", true, "questions, in a graph"),
        (
            said(r#"{"@type":"WebPage","mainEntity":{"@type":"DiscussionForumPosting"}}"#),
            "",
            true,
            "what a page is about",
        ),
        (said(r#"[{"@type":"CollectionPage"}]"#), "", true, "a list"),
        (String::new(), "itemscope itemtype='https://schema.org/QAPage'", true, "questions, in microdata"),
        (
            format!("<meta property=og:type content=article>{}", said(r#"{"@type":"DiscussionForumPosting"}"#)),
            "",
            true,
            "a thread that others are shown as an article",
        ),
        (
            said(r#"[{"@type":"NewsArticle"},{"@type":"DiscussionForumPosting"}]"#),
            "",
            false,
            "an article that has a thread",
        ),
        (
            said(r#"{"@type":"WebPage","isPartOf":{"@type":"CollectionPage"}}"#),
            "",
            false,
            "a page of a collection is not that",
        ),
        (said(r#"{"@type":"FAQPage","mainEntity":[{"@type":"Question"}]}"#), "", false, "a part with questions"),
    ] {
        let text = main_of(&thread(&head, attributes)).unwrap().text;
        let replies = text.matches(REPLY).count();
        assert_eq!(replies, if expected { 30 } else { 0 }, "{why}: {text}");
        assert!(text.contains("The first post") && !text.contains("Imprint"), "{why}: {text}");
    }
}

#[test]
fn panels_are_content_where_their_tabs_are_not() {
    let panel = "<p>It weighs two kilograms, and is made of oak.</p>";
    for (part, expected, why) in [
        (
            format!("<div role=tablist><a role=tab>Weight</a></div><div role=tabpanel>{panel}</div>"),
            true,
            "beside the tabs",
        ),
        (
            format!("<div role=tablist><div><a role=tab>Weight</a><div role=tabpanel>{panel}</div></div></div>"),
            true,
            "among them",
        ),
        (format!("<div role=TabList><div role='TabPanel '>{panel}</div></div>"), true, "in another case"),
        (format!("<nav><div role=tablist><div role=tabpanel>{panel}</div></div></nav>"), false, "of navigation"),
        (format!("<div role=tablist><div>{panel}</div></div>"), false, "what is no panel"),
    ] {
        let text = main_of(&paragraphs(&part)).unwrap().text;
        assert_eq!(text.contains("made of oak"), expected, "{why}: {text}");
    }
}

#[test]
fn dialogs_are_not_content() {
    let asked = "<p>We and our partners store cookies on your device, for many purposes.</p>";
    for (part, expected, why) in [
        (format!("<div role=dialog>{asked}</div>"), false, "a dialog"),
        (format!("<form role=' AlertDialog'>{asked}</form>"), false, "a form that is one"),
        (format!("<dialog open>{asked}</dialog>"), false, "an open one"),
        (format!("<div role=region>{asked}</div>"), true, "none"),
        (format!("<div role=dialog><h1>Bakery</h1>{asked}</div>"), true, "one with the page's headline"),
        (
            format!("<main><h2>More</h2>{}<div role=dialog>{asked}</div></main>", prose("It is of oak. ").repeat(3)),
            true,
            "a part of the main part",
        ),
    ] {
        let text = main_of(&format!("<body>{}{part}", "<h2>Cable</h2><p>It is 2 m long.</p>".repeat(9))).unwrap().text;
        assert_eq!(text.contains("cookies"), expected, "{why}: {text}");
        assert_eq!(text.matches("2 m long").count(), 9, "{why}: {text}");
    }
    let all = format!("<body><div role=dialog><h1>A page</h1>{}</div><p>Imprint</p>", prose("All of it. ").repeat(5));
    let text = main_of(&all).unwrap().text;
    assert_eq!(text.matches("All of it.").count(), 15, "what has most of the text is the page: {text}");
}

#[test]
fn streamed_parts_are_where_readers_see_them() {
    let story = prose("The story came later than the page, with commas, and clauses. ").repeat(4);
    let html = format!(
        r#"<body><main><h1>Later</h1><!--$?--><template id="B:0"></template><p>Please wait for it.</p><!--/$--><p>The end of it.</p></main>
           <div hidden id="S:0"><article>{story}</article></div><script>$RC("B:0","S:0")</script>"#
    );
    let text = main_of(&html).unwrap().text;
    assert_eq!(text.matches("The story came later").count(), 12, "{text}");
    assert!(!text.contains("Please wait"), "{text}");
    assert!(text.find("came later") < text.find("The end of it."), "{text}");
}
