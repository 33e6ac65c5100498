use std::collections::BTreeMap;

use dragline_definition::selectors::{Css, Path};
use dragline_domain::content::Repeated;
use dragline_domain::definition::{FieldKind, FieldRule, ItemType, Presence, ScalarKind, Selector, SelectorPlace};
use dragline_domain::url::{CrawlUrl, UrlRules};
use proptest::prelude::*;
use url::Url;

use super::*;
use crate::tree;
use crate::typed::{PageParts, Tracing, Types};

fn base() -> Url {
    Url::parse("https://a.example/b/").unwrap()
}

fn find(html: &str) -> Repetitions {
    let found = find_repetitions(&tree::parse(html).unwrap(), &base());
    assert_selectors_hold(html, &found);
    found
}

/// Asserts that a definition accepts each selector, and that it finds the reported number of
/// entries and fields.
fn assert_selectors_hold(html: &str, found: &Repetitions) {
    let document = tree::parse(html).unwrap();
    for group in &found.repeated {
        Css::parse(&group.each).unwrap_or_else(|error| panic!("{}: {error}", group.each));
        let entries = document.select(&group.each);
        assert_eq!(entries.length().min(ENTRIES_MAX), group.entries as usize, "{}", group.each);
        let mut names: Vec<&str> = group.fields.iter().map(|field| field.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), group.fields.len(), "names are told once: {names:?}");
        for field in &group.fields {
            if let Some(path) = &field.path {
                Path::parse(path).unwrap_or_else(|error| panic!("{path}: {error}"));
            }
            let given = count_extracted(&document, group, field);
            assert_eq!(given, field.entries as usize, "{} in {}", field.name, group.each);
        }
    }
}

/// Counts the entries for which a definition with these selectors gets the field.
fn count_extracted(document: &Document, group: &Repeated, field: &RepeatedField) -> usize {
    let place = |at| Selector { at, regex: None };
    let each = place(SelectorPlace::Css { selector: group.each.clone(), attribute: None });
    let at = match &field.css {
        Some(css) => SelectorPlace::Css { selector: css.clone(), attribute: field.attribute.clone() },
        None => SelectorPlace::Path(field.attribute.as_ref().map_or(".".to_owned(), |name| format!("@{name}"))),
    };
    let rule = FieldRule {
        name: "it".to_owned(),
        any: vec![place(at)],
        kind: FieldKind::One(field.kind),
        presence: Presence::Optional,
        min: None,
        max: None,
        pattern: None,
    };
    let types = [ItemType { name: "Entry".to_owned(), when: None, each: Some(each), fields: vec![rule] }];
    let url = CrawlUrl::parse(base().as_str(), &UrlRules::default()).unwrap();
    let page = PageParts { document, url: &url, base: &base(), json_ld: &[], items: &[] };
    let outcome = Types::new(&types).unwrap().apply(&page, Tracing::Off);
    assert_eq!(outcome.misfits, vec![], "{} {:?}", group.each, field);
    outcome.items.len()
}

/// Returns a line for each group, followed by one for each of its fields.
fn describe(groups: &[Repeated]) -> Vec<String> {
    let group = |group: &Repeated| {
        let head = format!("{} {} x {}", group.form.name(), group.entries, group.each);
        let fields = group.fields.iter().map(|field| {
            let attribute = field.attribute.as_ref().map(|name| format!("@{name}")).unwrap_or_default();
            let css = field.css.as_deref().unwrap_or(".");
            format!("- {} {} {}: {css}{attribute} = {}", field.entries, field.kind.name(), field.name, field.example)
        });
        std::iter::once(head).chain(fields.collect::<Vec<_>>())
    };
    groups.iter().flat_map(group).collect()
}

fn numbered(count: usize, html: &str) -> String {
    (1..=count).map(|n| html.replace('#', &n.to_string())).collect()
}

#[test]
fn lists_are_found_with_their_fields() {
    let card = "<div class='card c#'><h3 class=card-title><a href=/p/#>Chair #</a></h3><img src=#.png alt=x><span class=price># €</span></div>";
    for (html, expected, why) in [
        (
            format!("<main><div class=grid>{}</div></main>", numbered(4, card)),
            &[
                "list 4 x div.card",
                "- 4 url link: h3.card-title > a@href = https://a.example/p/1",
                "- 4 text title: h3.card-title > a = Chair 1",
                "- 4 url image: img@src = https://a.example/b/1.png",
                "- 4 money price: span.price = 1 €",
            ][..],
            "cards; classes with digits are left out",
        ),
        (
            format!(
                "<div class=row>{}</div><div class=row>{}</div>",
                numbered(3, card),
                numbered(1, card)
            ),
            &[
                "list 4 x div.card",
                "- 4 url link: h3.card-title > a@href = https://a.example/p/1",
                "- 4 text title: h3.card-title > a = Chair 1",
                "- 4 url image: img@src = https://a.example/b/1.png",
                "- 4 money price: span.price = 1 €",
            ],
            "the last row is not full",
        ),
        (
            "<ul><li>One<li>Two<li>Three</ul>".to_owned(),
            &["list 3 x ul > li", "- 3 text text: . = One"],
            "plain items are their text",
        ),
        ("<ul><li>One<li>Two</ul>".to_owned(), &[], "two are no list"),
        ("<ul><li><li><li></ul>".to_owned(), &[], "nothing is said"),
        ("<p>One<p>Two<p>Three<p>Four".to_owned(), &[], "a text is no list"),
        (format!("<p>{}</p>", numbered(4, "Word <a class=term href=/#>word</a>")), &[], "nor are the links in it"),
        (
            numbered(3, "<a class=tile href=/#><img src=#.png><b>Chair #</b></a>"),
            &[
                "list 3 x a.tile",
                "- 3 url link: .@href = https://a.example/1",
                "- 3 url image: img@src = https://a.example/b/1.png",
                "- 3 text text: b = Chair 1",
            ],
            "but with something in them they are cards",
        ),
        (
            numbered(3, "<li class=item><a href=/#><img src=#.png></a><a href=/#>Chair</a><a href=javascript:x()>#</a>"),
            &[
                "list 3 x li.item",
                "- 3 url link: a@href = https://a.example/1",
                "- 3 url image: a > img@src = https://a.example/b/1.png",
                "- 3 text text: a:nth-of-type(2) = Chair",
                "- 3 number number: a:nth-of-type(3) = 1",
            ],
            "links to the same page are told once",
        ),
        (
            "<div><div>One</div><div>Two</div><div>Three</div></div>".to_owned(),
            &[],
            "elements for anything are beside each other",
        ),
        (
            format!("<section id=results>{}</section>", numbered(3, "<div><b>Name #</b><i>#.5</i></div>")),
            &["list 3 x section > div", "- 3 text text: b = Name 1", "- 3 number number: i = 1.5"],
            "without classes, but alike",
        ),
        (
            numbered(3, "<article itemscope><h2 itemprop=headline>News #</h2><time datetime=2024-01-0#>today</time> Text.</article>"),
            &[
                "list 3 x body > article",
                "- 3 text text: . = News 1 today Text.",
                "- 3 text headline: [itemprop=headline] = News 1",
                "- 3 date date: time@datetime = 2024-01-01",
            ],
            "properties name fields",
        ),
        (
            "<ul class=list><li class=item><a href=mailto:x@a.example>A</a><li class=item><a href=/b>B</a><li class=item><a href=/c>C</a></ul>".to_owned(),
            &["list 3 x li.item", "- 3 text link: a@href = mailto:x@a.example", "- 3 text text: a = A"],
            "not all are URLs of the web",
        ),
    ] {
        assert_eq!(describe(&find(&html).repeated), expected, "{why}");
    }
}

#[test]
fn nested_lists_are_distinguished() {
    let section = |n: usize| {
        let cards = numbered(3, "<li class=product><b class=name>P#</b></li>");
        format!("<section class=group><h2>Group {n}</h2><ul class=products>{cards}</ul></section>")
    };
    let html: String = (1..=3).map(section).collect();
    let expected =
        ["list 3 x section.group", "- 3 text title: h2 = Group 1", "list 9 x li.product", "- 9 text name: b.name = P1"];
    assert_eq!(describe(&find(&html).repeated), expected, "the products are not fields of their group");
    let nested = "<ul class=tree><li>One<li>Two<ul class=sub><li>a<li>b<li>c</ul><li>Three</ul>";
    let expected = ["list 3 x ul.tree > li", "- 3 text text: . = One", "list 3 x ul.sub > li", "- 3 text text: . = a"];
    assert_eq!(describe(&find(nested).repeated), expected, "an item with items");
}

#[test]
fn menus_and_page_frames_are_ignored() {
    let items = numbered(4, "<li class=item><a href=/#>Part #</a>");
    for (html, groups, why) in [
        (format!("<nav><ul>{items}</ul></nav>"), 0, "a menu"),
        (format!("<div role=navigation><ul>{items}</ul></div>"), 0, "a menu by its role"),
        (format!("<div class=main-nav><ul>{items}</ul></div>"), 0, "a menu by its class"),
        (format!("<ul id=site-menu>{items}</ul>"), 0, "a menu by its id"),
        (format!("<header><ul>{items}</ul></header>"), 0, "the header of the page"),
        (format!("<div id=footer><ul>{items}</ul></div>"), 0, "the footer of the page"),
        (format!("<ol class=breadcrumb>{items}</ol>"), 0, "where the page is"),
        (format!("<select>{}</select>", numbered(4, "<option>#")), 0, "choices"),
        (format!("<template><ul>{items}</ul></template>"), 0, "not shown"),
        (format!("<article><header><ul>{items}</ul></header></article>"), 1, "an article's own header"),
        (format!("<div class=lunch-menu><ul>{items}</ul></div>"), 1, "what there is to eat"),
    ] {
        assert_eq!(find(&html).repeated.len(), groups, "{why}");
    }
    let both = format!("<nav><ul>{items}</ul></nav><main><ul>{items}</ul></main>");
    assert_eq!(find(&both).repeated[0].each, "main ul > li.item", "the selector leaves the menu out");
}

#[test]
fn tables_have_fields_by_their_headings() {
    let rows = "<tr><td><a href=/a>A</a><td>1,5<tr><td><a href=/b>B</a><td>2";
    let fields = [
        "- 2 text name: td:nth-child(1) = A",
        "- 2 url name_link: td:nth-child(1) > a@href = https://a.example/a",
        "- 2 number size_cm: td:nth-child(2) = 1,5",
    ];
    for (html, each, why) in [
        (
            format!("<table class=sizes><thead><tr><th>Name<th>Size (cm)</thead><tbody>{rows}</table>"),
            "table 2 x table.sizes > tbody > tr",
            "headings in a part of their own",
        ),
        (
            format!("<table class=sizes><tr><th>Name<th>Size (cm){rows}</table>"),
            "table 2 x table.sizes > tbody > tr:has(> td)",
            "headings in the first row",
        ),
        (
            format!("<table class=sizes><thead><tr><td>Name<td>Size (cm)</thead>{rows}<tr><th colspan=2>More</table>"),
            "table 2 x table.sizes > tbody > tr:has(> td)",
            "a line between the rows",
        ),
        (
            format!("<table><tr><td>x</table><div><table><tr><th>Name<th>Size (cm){rows}</table></div>"),
            "table 2 x div > table > tbody > tr:has(> td)",
            "another table",
        ),
        (
            format!("<div><table><tr><td>x</table><table><tr><th>Name<th>Size (cm){rows}</table></div>"),
            "table 2 x body > div:nth-of-type(1) > table:nth-of-type(2) > tbody > tr:has(> td)",
            "another table beside it: only its place tells them apart",
        ),
    ] {
        let expected: Vec<&str> = [each].into_iter().chain(fields).collect();
        assert_eq!(describe(&find(&html).repeated), expected, "{why}");
    }
    let table = format!("<table><tr><th>Name<th>Size (cm){rows}</table>");
    let apart = find(&format!("<section>{table}</section><main>{table}</main>")).repeated;
    let each: Vec<(&str, u32)> = apart.iter().map(|group| (group.each.as_str(), group.entries)).collect();
    let expected = [("section > table > tbody > tr:has(> td)", 2), ("main > table > tbody > tr:has(> td)", 2)];
    assert_eq!(each, expected, "no selector selects both of them");
    let odd = "<table class=odd-one><tr><th>日本<th colspan=2>Range<tr><th>a<td>1<td>2<tr><th>b<td>x<td></table>";
    let expected = [
        "table 2 x table.odd-one > tbody > tr:has(> td)",
        "- 2 text column_1: th:nth-child(1) = a",
        "- 2 text range: td:nth-child(2) = 1",
        "- 1 number range_2: td:nth-child(3) = 2",
    ];
    assert_eq!(describe(&find(odd).repeated), expected, "headings of rows, over columns, and in other letters");
    let without = numbered(3, "<tr><td>A#<td>#");
    let expected =
        ["list 3 x tbody > tr", "- 3 text text: td:nth-child(1) = A1", "- 3 number number: td:nth-child(2) = 1"];
    assert_eq!(
        describe(&find(&format!("<table>{without}</table>")).repeated),
        expected,
        "a table without headings is a list"
    );
}

#[test]
fn labels_name_values() {
    for (html, expected, why) in [
        (
            "<dl><dt>Weight<dd>5<dt>Colour<dd>red</dl>",
            &[
                "pairs 1 x body > dl",
                "- 1 number weight: dt:nth-of-type(1) + dd = 5",
                "- 1 text colour: dt:nth-of-type(2) + dd = red",
            ][..],
            "a definition list",
        ),
        (
            "<dl class=facts><div><dt>Weight<dd>5 €</div><div><dt>Made in<dd>2024-01-02</div></dl>",
            &[
                "pairs 1 x dl.facts",
                "- 1 money weight: div:nth-of-type(1) > dd = 5 €",
                "- 1 date made_in: div:nth-of-type(2) > dd = 2024-01-02",
            ],
            "with elements around the pairs",
        ),
        (
            "<table class=specs><tr><th>Weight<td>5<tr><th>Colour<td>red<tr><th>It's<td>new</table>",
            &[
                "pairs 1 x table.specs",
                "- 1 number weight: tr:nth-child(1) > td = 5",
                "- 1 text colour: tr:nth-child(2) > td = red",
                "- 1 text it_s: tr:nth-child(3) > td = new",
            ],
            "a table of two columns; its rows are no list",
        ),
        (
            "<table class=specs><tr><td>Weight:<td>5<tr><td>Colour:<td>red<tr><td colspan=2></table>",
            &[
                "pairs 1 x table.specs",
                "- 1 number weight: tr:nth-child(1) > td:nth-child(2) = 5",
                "- 1 text colour: tr:nth-child(2) > td:nth-child(2) = red",
            ],
            "the labels end with colons",
        ),
        ("<table><tr><td>a<td>5<tr><td>b<td>6</table>", &[], "two columns are not labels"),
        (
            "<dl class=facts><dt>Weight<dd>5<dt>Size<dd>6</dl><dl class=facts><dt>Weight<dd>7</dl><dl><dt>Note<dd>x</dl>",
            &[
                "pairs 2 x dl.facts",
                "- 2 number weight: dt:nth-of-type(1) + dd = 5",
                "- 1 number size: dt:nth-of-type(2) + dd = 6",
            ],
            "of two lists of a kind, one says less",
        ),
        (
            "<ul id=main></ul><dl id=main><dt>Weight<dd>5<dt>Size<dd>6</dl>",
            &[
                "pairs 1 x dl#main",
                "- 1 number weight: dt:nth-of-type(1) + dd = 5",
                "- 1 number size: dt:nth-of-type(2) + dd = 6",
            ],
            "an element of another name has the same id",
        ),
        ("<dl><dt>Only<dd>one</dl>", &[], "one label is no list"),
        ("<dl><dt>a<dt>b<dt>c</dl>", &[], "terms without values"),
    ] {
        assert_eq!(describe(&find(html).repeated), expected, "{why}");
    }
}

#[test]
fn labels_lead_to_values_in_any_position() {
    let html = "<dl><dt>A<dd>1<dt>It's <b>B</b><dd>2</dl><table><tr><th>C<td>3<tr><th>D<td>4</table><table id=colons><tr><td>E:<td>5<tr><td>F:<td>6</table>";
    let paths: BTreeMap<String, String> = find(html)
        .repeated
        .into_iter()
        .flat_map(|group| group.fields)
        .map(|field| (field.name.clone(), field.path.unwrap_or_default()))
        .collect();
    let of = |path: &String| FieldRule {
        name: "it".to_owned(),
        any: vec![Selector { at: SelectorPlace::Path(path.clone()), regex: None }],
        kind: FieldKind::One(ScalarKind::Text),
        presence: Presence::Optional,
        min: None,
        max: None,
        pattern: None,
    };
    let document = tree::parse(html).unwrap();
    let url = CrawlUrl::parse(base().as_str(), &UrlRules::default()).unwrap();
    let page = PageParts { document: &document, url: &url, base: &base(), json_ld: &[], items: &[] };
    let value = |path: &String| {
        let types = [ItemType { name: "Entry".to_owned(), when: None, each: None, fields: vec![of(path)] }];
        let outcome = Types::new(&types).unwrap().apply(&page, Tracing::Off);
        serde_json::to_string(&outcome.items[0].fields["it"].values).unwrap()
    };
    let values: Vec<(&str, String)> = paths.iter().map(|(name, path)| (name.as_str(), value(path))).collect();
    let expected = [("a", "1"), ("c", "3"), ("d", "4"), ("e", "5"), ("f", "6"), ("it_s_b", "2")];
    assert_eq!(values, expected.map(|(name, value)| (name, format!("[\"{value}\"]"))));
}

#[test]
fn hostile_pages_are_fast_and_reported() {
    let many = "<i class=a>x</i>".repeat(30);
    for (html, is_cut, why) in [
        (format!("<table>{}</table>", "<tr><td>x<td>y".repeat(150_000)), true, "rows without end"),
        (format!("<ul>{}</ul>", "<li>x".repeat(ENTRIES_MAX)), false, "as many entries as are counted"),
        (format!("<ul>{}</ul>", "<li>x".repeat(ENTRIES_MAX + 1)), true, "one more"),
        (numbered(3_000, "<ul class=x#><li>a<li>b<li>c</ul>"), true, "lists without end, all of one kind"),
        (numbered(500, "<section id=s#><div class=a><ul><li>a<li>b<li>c</ul></div></section>"), true, "many lists"),
        (
            "<p>x <a href=/a>b</a>".repeat(3) + &"<p>x <a href=/a>b</a><a href=/a>b</a><a href=/a>b</a>".repeat(500),
            false,
            "more links than are counted",
        ),
        (format!("<ul>{}</ul>", format!("<li>{many}").repeat(900)), false, "entries of many parts"),
        (format!("{}x{}", "<div class=aa><div></div><div></div>".repeat(200), "</div>".repeat(200)), false, "deep"),
        (format!("<table><tr>{}<tr>{}</table>", "<th>x".repeat(5_000), "<td>y".repeat(5_000)), false, "wide"),
        (format!("<ul>{}</ul>", numbered(2_000, "<li class='a# b# c#'>x</li>")), true, "classes without end"),
    ] {
        let found = find(&html);
        assert_eq!(found.is_cut, is_cut, "{why}");
        assert!(found.repeated.len() <= GROUPS_MAX, "{why}");
        assert!(found.repeated.iter().all(|group| group.fields.len() <= FIELDS_MAX), "{why}");
    }
}

/// HTML made of the elements of lists, tables and menus.
fn any_html() -> impl Strategy<Value = String> {
    let class = "(( class=(card|row|item|nav|odd|c1|'card item'))|( id=(main|x1))|( itemprop=name))?";
    let leaf = prop_oneof![
        "[a-z0-9€:. ]{0,6}",
        "<a href=/[a-c]>[a-z]{0,3}</a>",
        "<a href=(mailto|javascript|http):x>y</a>",
        "<img src=[a-c].png>",
        "<time datetime=2024-01-0[1-9]>",
        "<t[dh]>[a-z0-9]{0,3}",
        "<d[td]>[a-z0-9:]{0,3}",
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        let name = "(div|li|ul|section|article|table|tr|thead|td|th|dl|dt|dd|nav|header|main|h2|span|b|a)";
        (name, class, proptest::collection::vec(inner, 0..6), 1_usize..5).prop_map(
            |(name, attributes, inner, times)| format!("<{name}{attributes}>{}</{name}>", inner.concat()).repeat(times),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn selectors_find_the_reported_entries_on_any_page(html in any_html()) {
        let groups = find(&html);
        prop_assert_eq!(groups.repeated, find(&html).repeated, "the same each time");
    }
}
