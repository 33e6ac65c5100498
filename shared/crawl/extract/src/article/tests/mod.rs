mod kinds;
mod markdown;

use dragline_domain::definition::MainRule;
use dragline_domain::url::UrlRules;

use super::*;

const URL: &str = "https://news.example/a/story.html";

fn main_of(html: &str) -> Result<Article, NoArticle> {
    ruled(html, MainRules::NONE)
}

fn ruled(html: &str, rules: &MainRules) -> Result<Article, NoArticle> {
    from_html(html, &CrawlUrl::parse(URL, &UrlRules::default()).unwrap(), rules, Extent::Main)
}

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
    let article = main_of(&page(head, "", after)).unwrap();
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

/// Enough paragraphs around a part that an article finder takes the whole for an article.
fn paragraphs(part: &str) -> String {
    let paragraph = prose("The opening paragraph, which is long enough, with commas, and several clauses. ");
    format!(
        "<html lang=en><head><title>A page</title></head><body><nav><a href=/>Home</a></nav>
         <div class=content><h1>A page</h1>{paragraph}{part}{paragraph}</div><footer>Imprint</footer></body></html>"
    )
}

#[test]
fn visible_text_is_not_left_out_for_its_words_or_its_place() {
    for (part, expected, why) in [
        ("<h2>1999</h2><p>A bridge was built.</p>", "1999\n\nA bridge was built.", "a year as a heading"),
        ("<h2>March 2004</h2><p>It was opened.</p>", "March 2004\n\nIt was opened.", "a month"),
        ("<h3>2.4.0 (2021-03-03)</h3><ul><li>Mended.<li>2022</ul>", "2.4.0 (2021-03-03)\n\nMended.\n2022", "a release"),
        (
            "<table><tr><th>Year<th>People<tr><td>1990<td>12<tr><td>2000<td>2001</table>",
            "Year\tPeople\n1990\t12\n2000\t2001",
            "a column of years",
        ),
        ("<p>In 2016.</p>", "In 2016.", "an answer"),
        (
            "<p>Photosynthesis needs light.</p>",
            "Photosynthesis needs light.",
            "a word that begins like one of a credit",
        ),
        (
            "<p>Loading ramps are steep.</p><p>Tags are sewn in.</p>",
            "Loading ramps are steep.\n\nTags are sewn in.",
            "others",
        ),
        ("<h2>Updated rules</h2><p>They are few.</p>", "Updated rules\n\nThey are few.", "a heading that begins so"),
        ("<ul><li>Published books<li>Copyright law</ul>", "Published books\nCopyright law", "items that begin so"),
        ("<p>Follow us, said the guide.</p>", "Follow us, said the guide.", "a sentence that begins so"),
        (
            "<figure><table><tr><th>Model<th>Price<tr><td>Hub<td>7</table><figcaption>All models</figcaption></figure>",
            "Model\tPrice\nHub\t7\n\nAll models",
            "a table in a figure",
        ),
        ("<figure class=highlight><pre><code>apt install x</code></pre></figure>", "apt install x", "code in a figure"),
        (
            "<figure><blockquote><p>Quokkas are happy.</p></blockquote></figure>",
            "Quokkas are happy.",
            "a quotation in a figure",
        ),
        (
            "<div class=accreditation><p>Tested twice a year.</p></div>",
            "Tested twice a year.",
            "a class with a part of a word in it",
        ),
        ("<div class=carousel-caption><p>A slide of words.</p></div>", "A slide of words.", "a class of slides"),
        (
            "<p>Donau&shy;dampf&shy;schiff, zero&#8203;width, word&#8288;joiner</p>",
            "Donaudampfschiff, zerowidth, wordjoiner",
            "what cannot be seen within words",
        ),
        (
            "<div hidden=until-found><p>Found by a search.</p></div>",
            "Found by a search.",
            "what a search in the page brings up",
        ),
        ("<noscript><p>Said without scripts.</p></noscript>", "Said without scripts.", "what is there without scripts"),
        ("<details><summary>More</summary>It is here.</details>", "More\n\nIt is here.", "details"),
        ("<address>Line A</address><address>Line B</address>", "Line A\n\nLine B", "addresses"),
        ("<dl><dt>Hub<dd>A box.<dt>Cable<dd>A wire.</dl>", "Hub\nA box.\nCable\nA wire.", "terms"),
    ] {
        let article = main_of(&paragraphs(part)).unwrap();
        assert!(article.text.contains(expected), "{why}: {}", article.text);
        assert!(!article.text.contains("Home") && !article.text.contains("Imprint"), "{why}: {}", article.text);
    }
}

#[test]
fn invisible_text_is_left_out() {
    for (part, why) in [
        ("<p hidden>unseen</p>", "hidden"),
        ("<div style='display:none'><p>unseen</p></div>", "by its style"),
        ("<p>a <span aria-hidden=true>unseen</span></p>", "decoration"),
        ("<template><p>unseen</p></template>", "a template"),
        ("<script>unseen</script><style>unseen</style>", "scripts and styles"),
        (
            "<p>E <math><semantics><mi>m</mi><annotation>unseen</annotation></semantics></math></p>",
            "the source of a formula",
        ),
        ("<h2>Part<a class=headerlink href=#part>¶</a></h2>", "a sign that leads to where it stands"),
    ] {
        let article = main_of(&paragraphs(part)).unwrap();
        assert!(!article.text.contains("unseen") && !article.text.contains('¶'), "{why}: {}", article.text);
        assert!(!article.markdown.contains("unseen") && !article.markdown.contains('¶'), "{why}: {}", article.markdown);
    }
}

#[test]
fn names_and_dates_beside_the_headline_are_in_the_metadata_alone() {
    let head = r#"<meta name="author" content="Ann Writer"><meta property="article:published_time" content="2026-11-22T10:00:00Z">"#;
    for (before, after, dropped, why) in [
        ("<p>By Ann Writer</p>", "", "Ann Writer", "who wrote it"),
        ("<p>Nov. 22, 2026 Updated: 1:35 p.m.</p>", "", "1:35", "when"),
        ("<p>Von Ann Writer, 22. November 2026</p>", "", "November", "both, in another language"),
        ("<p>Posted <time>yesterday</time></p>", "", "yesterday", "by its markup"),
        ("", "<p><a href=/c>Ten other ships that you should know</a></p>", "should know", "a link at the very end"),
    ] {
        let text = main_of(&page(head, before, after)).unwrap().text;
        assert!(!text.contains(dropped), "{why}: {text}");
        assert!(text.contains("sailed at noon") && text.contains("cargo was grain"), "{why}: {text}");
    }
    for (before, after, kept, why) in [
        ("<p>On 5 May 1912, it was lost.</p>", "", "5 May 1912", "another day"),
        ("<ul><li>22 November 2026</ul>", "", "22 November 2026", "an item"),
        ("<h2>22 November 2026</h2><p>What happened on that day.</p>", "", "22 November 2026", "a heading"),
        ("", "<p>22 November 2026</p><p>The end.</p>", "22 November 2026", "further in"),
        ("", "<h2>See also</h2><ul><li><a href=/c>Other ships</a></ul>", "Other ships", "items at the end"),
        ("<figure><img src=a.png><figcaption>A ship by Ann Writer</figcaption></figure>", "", "A ship by", "a caption"),
    ] {
        let text = main_of(&page(head, before, after)).unwrap().text;
        assert!(text.contains(kept), "{why}: {text}");
    }
}

#[test]
fn more_is_taken_where_the_finder_leaves_out_content() {
    let long = prose("Long, and with commas, as finders of articles like it. ").repeat(4);
    let section =
        |name: &str, text: &str| format!("<div class=sect1><h2>{name}</h2><div class=body>{text}</div></div>");
    let post = |text: &str| format!("<div class=post><b>somebody</b><p>{text}</p></div>");
    for (body, expected, why) in [
        (
            format!("<div id=content>{}{}{}</div>", section("NAME", "<p>git-x - does it</p>"), section("SYNOPSIS", "<pre>git x [--all] [--long-option-of-it] FILE...</pre>"), section("DESCRIPTION", &long)),
            vec!["NAME", "does it", "git x [--all]", "DESCRIPTION"],
            "the sections of a manual's page",
        ),
        (
            format!("<table><tr><td>Index</td></tr></table><div><h1>Functions</h1>{long}</div><div class=more><dl><dt>open<dd>opens a file by name<dt>close<dd>closes it again, and flushes</dl></div>"),
            vec!["opens a file", "closes it"],
            "terms beside the text",
        ),
        (
            format!("<div class=thread>{}{}{}</div>", post(&long), post("Mine broke in the same way, and I sent it back."), post(&"Yes, it did, and mine too, on the same day, as I said. ".repeat(9))),
            vec!["Mine broke", "and mine too"],
            "the posts of a forum",
        ),
        (
            "<div class=menu><a href=/a>A</a> <a href=/b>B</a></div><div><h1>Cable, 2 m</h1><p>129.90 EUR</p><p>In stock</p></div>".to_owned(),
            vec!["Cable, 2 m", "129.90 EUR", "In stock"],
            "a product, in few words",
        ),
    ] {
        let html = format!("<html lang=en><title>x</title><body><nav><a href=/>Home</a></nav>{body}<footer>Imprint</footer>");
        let article = main_of(&html).unwrap();
        for part in expected {
            assert!(article.text.contains(part), "{why}: {part} is not in {:?} {}", article.taken, article.text);
        }
        assert!(!article.text.contains("Imprint") && !article.text.contains("Home"), "{why}: {}", article.text);
        assert!((50..=100).contains(&article.kept_percent), "{why}: {}", article.kept_percent);
    }
}

#[test]
fn some_pages_have_no_article() {
    for (html, expected, why) in [
        (String::new(), NoArticle::NothingFound, "nothing at all"),
        ("<img src=a.png>".to_owned(), NoArticle::NothingFound, "no text"),
        ("<div>".repeat(100_000), NoArticle::TooComplex, "a tree that would take minutes"),
        ("x".repeat(PAGE_BYTES_MAX + 1), NoArticle::TooLong, "longer than any page"),
    ] {
        assert_eq!(main_of(&html), Err(expected), "{why}");
    }
}

#[test]
fn a_page_that_takes_long_keeps_its_text_and_says_so() {
    let deep = |inner: &str| format!("<body>{}{inner}{}", "<div>".repeat(250), "</div>".repeat(250));
    for (html, is_spared, why) in [
        (deep("<p>Here is its text.").repeat(8), true, "23 KB of nested elements"),
        (deep(&"<b>x</b>y<div>Here is its text.</div>".repeat(1_000)), true, "many elements, deep down"),
        (deep("<p>Here is its text."), false, "deep once"),
        (format!("<body>{}", "<div><p>Here is its text.</div>".repeat(20_000)), false, "a long page"),
    ] {
        let article = main_of(&html).unwrap();
        assert_eq!(article.gaps.contains(&Gap::Main), is_spared, "{why}");
        assert!(article.text.contains("Here is its text."), "{why}");
    }
}

/// On the stack of a worker thread, in an unoptimised build, which needs much of it.
#[test]
fn the_deepest_tree_that_is_read_fits_a_stack() {
    for element in ["div", "b", "blockquote", "ul", "span"] {
        let html = format!("<body>{}{}", format!("<{element}>").repeat(250), prose("Deep down. ").repeat(9));
        let read = std::thread::Builder::new().stack_size(2 << 20).spawn(move || main_of(&html));
        let article = read.unwrap().join().unwrap().unwrap();
        assert!(article.text.contains("Deep down."), "{element}");
    }
}

#[test]
fn rules_of_the_definition_take_precedence() {
    let prose = prose("Long, and with commas, as finders of articles like it. ").repeat(3);
    let html = format!(
        "<title>x</title><body><div class=a>{prose}</div><div id=b>One <i class=n>7</i> part.<p class=c>Edit</p></div><div id=b2>Two.</div>"
    );
    let rules = |include: &[&str], exclude: &[&str], ignore: &[&str]| {
        let all = |selectors: &[&str]| selectors.iter().map(|one| (*one).to_owned()).collect();
        MainRules::new(&[MainRule { when: None, include: all(include), exclude: all(exclude), ignore: all(ignore) }])
            .unwrap()
    };
    for (rules, expected, why) in [
        (rules(&["#b", "#b2"], &[], &[]), "One 7 part.\n\nEdit\n\nTwo.", "in the order of the page"),
        (rules(&["#b"], &[".c"], &[]), "One 7 part.", "without what is no part of it"),
    ] {
        let article = ruled(&html, &rules).unwrap();
        assert_eq!((article.text.as_str(), article.taken), (expected, MainPartSource::Selected), "{why}");
    }
    let without = ruled(&html, &rules(&[], &[".a p:first-child"], &[])).unwrap();
    assert_eq!(without.text.matches("finders of articles").count(), 6, "also of what is found");
    let with = |visits: &str, rules: &MainRules| ruled(&html.replace(">7<", visits), rules).unwrap().compared_sha1;
    let ignoring = rules(&["#b"], &[], &[".n"]);
    assert_eq!(with(">7<", &ignoring), with(">8<", &ignoring), "a counter of visits");
    assert_ne!(
        with(">7<", &rules(&["#b"], &[], &[])),
        with(">8<", &rules(&["#b"], &[], &[])),
        "which nobody said to ignore"
    );
}
