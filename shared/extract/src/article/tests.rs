use super::*;

const URL: &str = "https://news.example/a/story.html";

fn prose(of: &str) -> String {
    format!("<p>{} Somebody, who was there, tells the whole of it at length, and nobody interrupts.</p>", of.repeat(3))
}

fn page(head: &str, before: &str, after: &str) -> String {
    let parts: String = ["The ship sailed at noon. ", "It came back in winter. ", "Its cargo was grain. "]
        .iter()
        .map(|of| prose(of))
        .collect();
    format!(
        "<html lang=en><head><title>The ship that sailed at noon - Daily News</title>{head}</head><body><nav><a href=/>Home</a> <a href=/world>World</a></nav>
         <article><h1>The ship that sailed at noon</h1>{before}{parts}{after}</article><footer>Imprint</footer></body></html>"
    )
}

#[test]
fn the_main_part_is_found_with_what_the_page_says_about_itself() {
    let head = r#"<meta property="og:site_name" content="Daily News"><meta name="author" content="Ann  Writer">
        <meta name="description" content="A ship, and its cargo."><meta property="article:published_time" content="2026-11-22T10:00:00Z">"#;
    let after = "<p>More on <a href=../b>grain</a> is in the archive of this paper, which is open on Sundays, and free.</p><ul><li>one<li>two</ul>";
    let article = of_html(&page(head, "", after), URL).unwrap();
    assert_eq!(article.title.as_deref(), Some("The ship that sailed at noon"));
    assert_eq!(article.byline.as_deref(), Some("Ann Writer"));
    assert_eq!(article.excerpt.as_deref(), Some("A ship, and its cargo."));
    assert_eq!(article.site_name.as_deref(), Some("Daily News"));
    assert_eq!(article.published.as_deref(), Some("2026-11-22T10:00:00Z"));
    assert_eq!(article.language.as_deref(), Some("en"));
    assert!(article.text.starts_with("The ship sailed at noon. The ship"), "{}", article.text);
    assert!(article.text.ends_with("and free.\n\none\ntwo"), "{}", article.text);
    assert!(!article.text.contains("Imprint") && !article.text.contains("World"), "{}", article.text);
    assert_eq!(article.words, article.text.split_whitespace().count());
    assert!(article.markdown.contains("[grain](https://news.example/b)"), "{}", article.markdown);
}

#[test]
fn what_is_about_the_page_is_no_part_of_its_text() {
    for (before, after, dropped, why) in [
        ("<p>By Ann Writer</p>", "", "Ann Writer", "who wrote it"),
        ("<p>Nov. 22, 2026 Updated: 1:35 p.m.</p>", "", "1:35", "when"),
        (
            "<figure><img src=a.png><figcaption>A ship, seen from land</figcaption></figure>",
            "",
            "seen from land",
            "a caption",
        ),
        ("", "<p>Photo: Ann Painter</p>", "Painter", "a credit"),
        ("", "<p><a href=/c>Ten other ships that you should know</a></p>", "should know", "a link alone"),
        ("", "<ul><li><a href=/c>Other ships, large and small</a></ul>", "large and small", "links behind the text"),
        ("", "<p>Sign up for our letters</p>", "letters", "a remark"),
    ] {
        let text = of_html(&page("", before, after), URL).unwrap().text;
        assert!(!text.contains(dropped), "{why}: {text}");
        assert!(text.contains("sailed at noon") && text.contains("cargo was grain"), "{why}: {text}");
    }
    for (after, kept, why) in [
        (
            "<p>Published books about ships are many, and most of them, so the trade tells us, are not read to their ends.</p>",
            "books about",
            "a sentence",
        ),
        ("<p>In 2026, ships were fewer.</p>", "ships were fewer", "a sentence with a year"),
        (
            "<pre>one\n  two</pre><p>This is what the log says, and we print it as it is written.</p>",
            "one\n  two",
            "lines that are lines",
        ),
    ] {
        let text = of_html(&page("", "", after), URL).unwrap().text;
        assert!(text.contains(kept), "{why}: {text}");
    }
}

#[test]
fn captions_stay_with_their_pictures_in_markdown() {
    let figure = "<figure><img src=a.png alt=A><figcaption>A ship, seen from land</figcaption></figure>";
    let markdown = of_html(&page("", "", figure), URL).unwrap().markdown;
    assert!(markdown.contains("https://news.example/a/a.png") && markdown.contains("seen from land"), "{markdown}");
}

#[test]
fn some_pages_have_none() {
    for (html, expected, why) in [
        (String::new(), NoArticle::NothingFound, "nothing at all"),
        ("<img src=a.png>".to_owned(), NoArticle::NothingFound, "no text"),
        ("<div>".repeat(100_000), NoArticle::TooComplex, "a tree that would take minutes"),
        ("x".repeat(PAGE_BYTES_MAX + 1), NoArticle::TooLong, "longer than any page"),
    ] {
        assert_eq!(of_html(&html, URL), Err(expected), "{why}");
    }
}

/// On the stack of a worker thread, in a build that spends much of it.
#[test]
fn the_deepest_tree_that_is_read_fits_a_stack() {
    for element in ["div", "b", "blockquote", "ul", "span"] {
        let html = format!("<body>{}{}", format!("<{element}>").repeat(250), prose("Deep down. ").repeat(9));
        let read = std::thread::Builder::new().stack_size(2 << 20).spawn(move || of_html(&html, URL));
        let article = read.unwrap().join().unwrap().unwrap();
        assert!(article.text.contains("Deep down."), "{element}");
    }
}
