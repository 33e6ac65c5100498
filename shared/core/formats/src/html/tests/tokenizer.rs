//! Pages are split into the same tags and texts as by another tokenizer.

use std::convert::Infallible;
use std::fs;

use html5gum::{Emitter, Error, State, Tokenizer};
use proptest::prelude::*;

use super::hostile::soup;
use super::*;
use crate::html::cdata::Cdata;
use crate::html::collector::Collector;
use crate::html::open_elements::Name;
use crate::html::prolog;
use crate::html::tag::{Element, Tag, ValueTreatment};

/// Passes on the tokens of html5gum. Unlike ours, it has no limits on names and attributes, and it
/// may split a character between two texts.
struct Witness<'c, 'l> {
    collector: &'c mut Collector<'l>,
    is_start: bool,
    name: Vec<u8>,
    attribute: Option<Vec<u8>>,
    begun: ValueTreatment,
    tag: Tag,
    last_start: Element,
    cdata: Option<Cdata>,
    /// The beginning of a character whose end comes next.
    split: Vec<u8>,
}

impl Witness<'_, '_> {
    fn end_attribute_name(&mut self) {
        if let Some(name) = self.attribute.take() {
            self.begun = if self.is_start { self.tag.begin(&name) } else { ValueTreatment::Ignored };
        }
    }
}

impl Emitter for Witness<'_, '_> {
    type Token = Infallible;

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn emit_string(&mut self, piece: &[u8]) {
        // What tree builders do with a NUL.
        let replacement: &[u8] = if self.collector.has_cdata() { "\u{FFFD}".as_bytes() } else { b"" };
        let replaced = |byte: &u8| if *byte == b'\0' { replacement.to_vec() } else { vec![*byte] };
        let piece: Vec<u8> = piece.iter().flat_map(replaced).collect();
        if let Some(cdata) = &mut self.cdata {
            cdata.read(&piece);
        }
        let mut text = std::mem::take(&mut self.split);
        text.extend_from_slice(&piece);
        let whole = match str::from_utf8(&text) {
            Ok(_) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        self.split = text.split_off(whole);
        if whole > 0 {
            self.collector.text(&text);
        }
    }

    fn init_start_tag(&mut self) {
        self.is_start = true;
        self.name.clear();
        self.tag.clear();
    }

    fn init_end_tag(&mut self) {
        self.is_start = false;
        self.name.clear();
    }

    fn push_tag_name(&mut self, piece: &[u8]) {
        self.name.extend_from_slice(piece);
    }

    fn init_attribute(&mut self) {
        self.end_attribute_name();
        self.attribute = Some(Vec::new());
    }

    fn push_attribute_name(&mut self, piece: &[u8]) {
        self.attribute.as_mut().expect("it was begun").extend_from_slice(piece);
    }

    fn push_attribute_value(&mut self, piece: &[u8]) {
        self.end_attribute_name();
        if self.begun == ValueTreatment::Kept {
            self.tag.append(piece);
        }
    }

    fn set_self_closing(&mut self) {
        self.tag.close_itself();
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.end_attribute_name();
        let (element, name) = (Element::from_name(&self.name), Name::from_bytes(&self.name));
        if !self.is_start {
            self.cdata = None;
            self.collector.end_tag(element, name);
            return None;
        }
        self.last_start = element;
        self.tag.set_name(element, name);
        let content = self.collector.start_tag(&self.tag);
        self.cdata = (content.is_some() && self.collector.has_cdata()).then(Cdata::default);
        content
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        !self.is_start
            && Element::from_name(&self.name) == self.last_start
            && self.cdata.as_ref().is_none_or(|cdata| !cdata.is_open())
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.collector.has_cdata()
    }

    fn set_last_start_tag(&mut self, _: Option<&[u8]>) {}
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn emit_current_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}

fn witnessed(html: &str, source: &PageSource<'_>, limits: &HtmlLimits) -> Page {
    let html = match source.syntax {
        Syntax::Html => html,
        Syntax::Xhtml => prolog::after_prolog(html),
    };
    let mut collector = Collector::new(limits, source.syntax);
    let witness = Witness {
        collector: &mut collector,
        is_start: true,
        name: Vec::new(),
        attribute: None,
        begun: ValueTreatment::Ignored,
        tag: Tag::new(limits.attribute_bytes_max),
        last_start: Element::Other,
        cdata: None,
        split: Vec::new(),
    };
    let Ok::<(), Infallible>(()) = Tokenizer::new_with_emitter(html, witness).finish();
    collector.finish(source)
}

fn check(html: &str, limits: &HtmlLimits, why: &str) {
    for syntax in [Syntax::Html, Syntax::Xhtml] {
        let url = url(PAGE);
        let source = PageSource { syntax, ..PageSource::html(&url) };
        assert_eq!(extract(html, &source, limits), witnessed(html, &source, limits), "{why}, as {syntax:?}: {html:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn both_tokenizers_agree_on_any_soup(soup in soup()) {
        check(&soup, &HtmlLimits::default(), "whole");
        let few = HtmlLimits { text_bytes_max: 20, title_bytes_max: 5, attribute_bytes_max: 9, ..HtmlLimits::default() };
        check(&soup, &few, "cut");
    }
}

#[test]
fn both_tokenizers_agree_on_pages() {
    let directories = ["tests/pages", "../../../fuzz/corpus/html", "../../../fuzz/corpus/charset"];
    let mut pages = 0;
    for directory in directories.map(|path| format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))) {
        for entry in fs::read_dir(&directory).expect(&directory) {
            let path = entry.expect("it can be listed").path();
            // Only our tokenizer limits them.
            if path.ends_with("many_attributes") {
                continue;
            }
            let body = fs::read(path).expect("it can be read");
            check(&String::from_utf8_lossy(&body), &HtmlLimits::default(), "a whole page");
            pages += 1;
        }
    }
    assert!(pages > 20, "only {pages} were found");
}

#[test]
fn both_tokenizers_agree_on_rare_constructs() {
    for (html, why) in [
        ("<script><!--<script></script>a</script>b--></script>c", "a script in a comment in a script"),
        ("<script><!--<script >x</script>--></script>a", "with a space"),
        ("<script><!-- </script>a", "one that is ended in a comment"),
        ("<script><!--><script></script>a</script>b", "a comment that ends at once"),
        ("<script><!--<scripty></script>a", "another element in it"),
        ("<script><!--<script>--></script>a", "a comment that ends in the inner one"),
        ("<script></scripty></SCRIPT\n>a", "end tags that are not its own"),
        ("<title></title/>a", "an end tag that closes itself"),
        ("<title>a</ti</title>b", "half an end tag"),
        ("<textarea>&lt;</b>&#</textarea>a", "references and tags in raw text"),
        ("<xmp>\r\n\0&amp;</xmp>a", "what is replaced"),
        ("<pre>\r\n\r\na\r\rb&shy;\n\nc</pre>", "line breaks of each sort"),
        ("<svg><![CDATA[a]]]>b]]c]>d]]", "brackets"),
        ("<svg><![CDATA[a]", "brackets at the end"),
        ("a\0b<svg>c\0d<![CDATA[e\0f]\0]]>g<![CDATA[\0]]>", "NULs, which foreign elements keep"),
        ("<!-->a<!--->b<!---->c<!--!>d--!>e<!--<!-->f<!-- --!-->g", "comments that end early"),
        ("<!doctype html public '>'>a", "a bracket in a document type"),
        ("<!>a<?>b</>c</ >d<!x>e", "what is skipped"),
        ("<a/href=x/y>a</a/><a =href=x>b</a><a href==x>c<a href>d<a href=>e<a href='x'title=y>f", "attributes"),
        ("<a HREF=\"x&amp=1&amp;b&#38;\r\nc\0\">a</a>", "values"),
        ("<A\0b>a<p\0>b<a hre\0f=x>", "names with NULs"),
        ("<a href=x", "a tag without an end"),
        ("a<", "half of one"),
        ("a</", "half of another"),
        ("a<\u{e9}b</\u{e9}>c&\u{e9}&#x\u{e9}", "what begins no tag and no reference"),
        ("<plaintext>a</plaintext>\0\r\n&amp;<b>", "what never ends"),
    ] {
        check(html, &HtmlLimits::default(), why);
    }
}
