use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::super::{blocks, build, markdown};
use super::*;

/// Returns the text and the Markdown of a whole page.
fn whole(html: &str) -> (String, String) {
    let document = tree::parse(html).unwrap();
    let layout = Layout::new(&document, &[]);
    let kept = Chars::new(&layout.texts, |_, _| true);
    let blocks = build::blocks(&layout, 0, &kept, &Url::parse("https://a.example/dir/page").unwrap());
    (blocks::to_text(&blocks), markdown::to_markdown(&blocks))
}

/// Returns the words of rendered Markdown, except the texts of pictures.
fn rendered(markdown: &str) -> Vec<String> {
    let (mut text, mut pictures) = (String::new(), 0);
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Image { .. }) => pictures += 1,
            Event::End(TagEnd::Image) => pictures -= 1,
            Event::Text(said) | Event::Code(said) if pictures == 0 => text.push_str(&said),
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Link { .. })
            | Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link) => {}
            Event::InlineHtml(tag) if &*tag != "<br>" => {
                assert!(
                    ["<sub>", "</sub>", "<sup>", "</sup>", "<del>", "</del>"].contains(&&*tag),
                    "{tag} in {markdown}"
                );
            }
            _ => text.push(' '),
        }
    }
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn each_element_has_its_markdown() {
    for (html, expected, why) in [
        ("<h1>A</h1><h2>B</h2><h6>C</h6>", "# A\n\n## B\n\n###### C", "headings by their level"),
        ("<p>a<br>b", "a\\\nb", "a break"),
        ("<p><b>a</b> <i>b</i> <code>c</code>", "**a** *b* `c`", "marks"),
        ("<p>x<b> a </b>y", "x **a** y", "space stays outside of marks"),
        (
            "<p>H<sub>2</sub>O x<sup>2</sup> <del>old</del>",
            "H<sub>2</sub>O x<sup>2</sup> <del>old</del>",
            "what Markdown has no sign for",
        ),
        ("<p><a href='../b (1)'>b</a>", "[b](https://a.example/b%20%281%29)", "links are absolute"),
        ("<p><a href='#part'>there</a>", "[there](https://a.example/dir/page#part)", "into the page, too"),
        ("<p><a href='javascript:x()'>b</a>", "b", "a link to nowhere"),
        ("<p><img src=a.png alt='A  b'>", "![A b](https://a.example/dir/a.png)", "a picture"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c", "lists in lists"),
        ("<ol start=3><li>a<li>b</ol>", "3. a\n4. b", "numbers"),
        ("<ul><li><p>a<p>b</ul>", "- a\n\n  b", "paragraphs in an item"),
        ("<ul><li>a</ul><ul><li>b</ul>", "- a\n\n* b", "two lists are not one"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b", "a quotation"),
        ("<dl><dt>a<dd>b</dl>", "- **a**\n\n  b", "a term"),
        ("<pre><code class=language-rust>fn a() {\n    b\n}</code></pre>", "```rust\nfn a() {\n    b\n}\n```", "code"),
        ("<pre>a ``` b</pre>", "````\na ``` b\n````", "code with a fence in it"),
        ("<pre>var a;<br>var b;</pre>", "```\nvar a;\nvar b;\n```", "breaks in code"),
        ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```", "lines in code"),
        (
            "<figure class='highlight python'><table><tr><td class=gutter><pre>1<br>2</pre><td class=code><pre>import os<br>print(os)</pre></table></figure>",
            "```python\nimport os\nprint(os)\n```",
            "numbers in a column beside the code",
        ),
        (
            "<div class='highlight'><table><tr><td data-line-number=1></td><td><code>a</code><tr><td data-line-number=2></td><td><code>b</code></table></div>",
            "```\na\nb\n```",
            "a row for each line",
        ),
        (
            "<pre><span class=lineno>1 </span>a\n<span class=lineno>2 </span>b</pre>",
            "```\na\nb\n```",
            "numbers in the code",
        ),
        (
            "<table><tr><th>Region<th>Product<th>Units<tr><td rowspan=2>EU<td>Cable<td>12<tr><td>Hub<td>7</table>",
            "| Region | Product | Units |\n| --- | --- | --- |\n| EU | Cable | 12 |\n|  | Hub | 7 |",
            "a cell over two rows",
        ),
        ("<table><tr><th>a<th>b<tr><td colspan=2>c</table>", "| a | b |\n| --- | --- |\n| c |  |", "over two columns"),
        (
            "<table><tr><td>a<td>b|c<tr><td>d<td>e<br>f</table>",
            "|  |  |\n| --- | --- |\n| a | b\\|c |\n| d | e<br>f |",
            "without names",
        ),
        (
            "<table><caption>T</caption><tr><th>a<th>b<tr><td>c<td>d</table>",
            "T\n\n| a | b |\n| --- | --- |\n| c | d |",
            "its caption stands before it",
        ),
        (
            "<table><tr><th>Option<th>Example<tr><td>x<td><pre>x = 1\ny = 2</pre></table>",
            "- Option\n\n  Example\n\n- x\n\n  ```\n  x = 1\n  y = 2\n  ```",
            "a table with code is a list of its rows",
        ),
        ("<table><tr><td><h2>a</h2><p>b</table>", "## a\n\nb", "a table that only places things"),
        ("<p>Write &amp;lt;b&amp;gt; and &lt;b&gt;", "Write \\&lt;b\\&gt; and \\<b>", "what looks like markup"),
        ("<p># a<p>1. b<p>- c<p>+ d<p>&gt; e", "\\# a\n\n1\\. b\n\n\\- c\n\n\\+ d\n\n\\> e", "what looks like a block"),
        (
            "<p>a*b*c snake_case_name _x_ [y](z) `q`",
            "a\\*b\\*c snake_case_name \\_x\\_ \\[y\\](z) \\`q\\`",
            "what looks like marks",
        ),
        ("<h2><a href=#x>¶</a></h2><ul><li></ul><p>a", "a", "what is empty goes with its heading and item"),
    ] {
        let (_, markdown) = whole(html);
        assert_eq!(markdown, expected, "{why}");
    }
}

/// Meaningless markup that might be anywhere in a page.
fn markup() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-zé日]{1,6}",
        Just("1.".to_owned()),
        Just("12)".to_owned()),
        "[-+*_#=~|&;:!\\[\\]()\\\\.`]{1,4}",
        Just("&amp;amp;".to_owned()),
        Just("&lt;b>".to_owned()),
        Just("http://a.example/b_c*d".to_owned()),
        Just("snake_case".to_owned()),
        Just("&amp;#35;".to_owned()),
    ];
    let words = proptest::collection::vec((word, prop_oneof![Just(" "), Just(""), Just("\n")]), 1..5)
        .prop_map(|words| words.into_iter().map(|(word, gap)| word + gap).collect::<String>());
    let inline = words.prop_recursive(3, 16, 4, |inner| {
        let names = prop::sample::select(vec!["b", "i", "code", "a href=x", "sup", "del", "span", "q"]);
        (names, proptest::collection::vec(inner, 1..4), "[ .a]?").prop_map(|(name, inner, after)| {
            let end = name.split(' ').next().unwrap_or_default();
            format!("<{name}>{}</{end}>{after}", inner.concat())
        })
    });
    let leaf = (prop::sample::select(vec!["p", "h2", "pre", "div", "h4"]), inline)
        .prop_map(|(name, inner)| format!("<{name}>{inner}</{name}>"));
    leaf.prop_recursive(4, 24, 4, |inner| {
        let inner = proptest::collection::vec(inner, 1..4);
        prop_oneof![
            inner.clone().prop_map(|parts| parts.concat()),
            inner.clone().prop_map(|parts| format!("<ul><li>{}</ul>", parts.join("<li>"))),
            inner.clone().prop_map(|parts| format!("<ol start=7><li>{}</ol>", parts.join("<li>"))),
            inner.clone().prop_map(|parts| format!("<blockquote>{}</blockquote>", parts.concat())),
            inner.clone().prop_map(|parts| format!("<dl><dt>{}</dl>", parts.join("<dd>"))),
            inner.clone().prop_map(|parts| format!("<table><tr><td>{}<tr><td rowspan=2>x</table>", parts.join("<td>"))),
            inner.prop_map(|parts| format!("<table><tr><th>{}</table><hr><br>", parts.join("<tr><th>a<td colspan=2>"))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn markdown_read_again_has_the_words_of_the_text_in_order(html in markup()) {
        let (text, markdown) = whole(&html);
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        prop_assert_eq!(rendered(&markdown), words, "{}\n{}", html, markdown);
    }
}
