//! The elements and texts of a page in document order, with their roles by the markup.

use std::ops::Range;

use dom_query::{Document, NodeData, NodeId, NodeRef};
use dragline_formats::html::ElementVisibility;
use html5ever::LocalName;

/// The role of an element by its markup, the likeliest to be content first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LayoutRole {
    /// It may be content.
    Content,
    /// The page's margin: its header and footer, and asides.
    Margin,
    /// Navigation and controls, never content.
    Navigation,
}

/// An element.
#[derive(Clone, Debug)]
pub(super) struct Element<'t> {
    pub(super) node: NodeRef<'t>,
    pub(super) name: LocalName,
    pub(super) parent: usize,
    /// The numbers of the element and its descendants.
    pub(super) span: Range<usize>,
    /// The numbers of the texts in it.
    pub(super) texts: Range<usize>,
    pub(super) place: LayoutRole,
}

impl Element<'_> {
    pub(super) fn is(&self, names: &[&str]) -> bool {
        names.contains(&&*self.name)
    }

    pub(super) fn is_heading(&self) -> bool {
        is_heading(&self.name)
    }

    pub(super) fn is_content(&self) -> bool {
        self.place == LayoutRole::Content
    }
}

/// A visible text that is not blank.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) id: NodeId,
    /// The number of its parent element.
    pub(super) element: usize,
    /// The number of its characters other than white space.
    chars: usize,
    pub(super) is_in_link: bool,
    pub(super) place: LayoutRole,
}

/// Prefix sums of the characters of selected texts.
#[derive(Clone, Debug)]
pub(super) struct Chars {
    /// For each text, and for the end, the number of characters before it.
    before: Vec<usize>,
}

impl Chars {
    /// Counts the characters of the texts that `counts` selects.
    pub(super) fn new(texts: &[Text], counts: impl Fn(usize, &Text) -> bool) -> Self {
        let mut chars = 0;
        let mut before = Vec::with_capacity(texts.len() + 1);
        before.push(0);
        for (number, text) in texts.iter().enumerate() {
            chars += if counts(number, text) { text.chars } else { 0 };
            before.push(chars);
        }
        Self { before }
    }

    pub(super) fn within(&self, texts: &Range<usize>) -> usize {
        let before = |number: usize| self.before.get(number).or(self.before.last()).copied().unwrap_or(0);
        before(texts.end) - before(texts.start)
    }

    pub(super) fn all(&self) -> usize {
        self.before.last().copied().unwrap_or(0)
    }

    /// Whether a text is selected.
    pub(super) fn has(&self, text: usize) -> bool {
        self.within(&(text..text + 1)) > 0
    }
}

/// A page in document order.
pub(super) struct Layout<'t> {
    document: &'t Document,
    pub(super) elements: Vec<Element<'t>>,
    pub(super) texts: Vec<Text>,
    /// All texts.
    pub(super) chars: Chars,
    /// Texts that may be content and are outside links.
    pub(super) plain: Chars,
}

impl<'t> Layout<'t> {
    /// Walks the body of a page once. Leaves out the elements in `left_out`, which are sorted, with
    /// their descendants.
    pub(super) fn new(document: &'t Document, left_out: &[NodeId]) -> Self {
        let mut walk = Walk { elements: Vec::new(), texts: Vec::new(), left_out };
        let around = Around {
            shown: ElementVisibility::WHOLLY,
            place: LayoutRole::Content,
            outside_tabs: LayoutRole::Content,
            is_in_link: false,
            is_sectioned: false,
        };
        walk.add(document.body().unwrap_or_else(|| document.html_root()), 0, around);
        let Walk { mut elements, mut texts, .. } = walk;
        mark_steps(&mut elements, &mut texts);
        mark_dialogs(&mut elements, &mut texts);
        let chars = Chars::new(&texts, |_, _| true);
        let plain = Chars::new(&texts, |_, text| text.place == LayoutRole::Content && !text.is_in_link);
        Self { document, elements, texts, chars, plain }
    }

    /// Reads a text as it is in the tree.
    pub(super) fn read<R>(&self, text: &Text, read: impl FnOnce(&str) -> R) -> Option<R> {
        self.document.tree.get(&text.id).and_then(|node| read_text(&node, read))
    }

    /// Whether a text is in one of these elements.
    pub(super) fn is_within(&self, text: &Text, ids: &[NodeId]) -> bool {
        let mut number = text.element;
        while let Some(element) = self.elements.get(number) {
            if ids.binary_search(&element.node.id).is_ok() {
                return true;
            }
            if number == 0 {
                break;
            }
            number = element.parent;
        }
        false
    }

    /// Returns the child elements of one.
    pub(super) fn children(&self, number: usize) -> Vec<usize> {
        let Some(element) = self.elements.get(number) else { return Vec::new() };
        let (mut children, mut next) = (Vec::new(), number + 1);
        while next < element.span.end
            && let Some(child) = self.elements.get(next)
        {
            children.push(next);
            next = child.span.end;
        }
        children
    }

    /// Returns the smallest element around `number`, or itself, that contains `other`.
    pub(super) fn around(&self, number: usize, other: usize) -> usize {
        let mut around = number;
        while let Some(outer) = self.elements.get(around).filter(|outer| !outer.span.contains(&other)) {
            around = outer.parent;
        }
        around
    }

    /// Returns an element's descendants, without itself.
    pub(super) fn inner(&self, element: &Element<'_>) -> &[Element<'t>] {
        self.elements.get(element.span.start + 1..element.span.end).unwrap_or_default()
    }
}

/// The most characters of a block with links to the previous and next page.
const STEPS_CHARS_MAX: usize = 200;

/// Marks links to the previous and next page as navigation: small blocks with a link that says so
/// (WHATWG HTML, 4.6.7 "link types").
fn mark_steps(elements: &mut [Element<'_>], texts: &mut [Text]) {
    let chars = Chars::new(texts, |_, _| true);
    let leads_on = |element: &Element<'_>| {
        let rel = element.node.attr("rel");
        let is_step = |rel: &str| rel.split_ascii_whitespace().any(|word| matches!(word, "next" | "prev" | "up"));
        element.is(&["a"]) && (rel.is_some_and(|rel| is_step(&rel)) || element.node.has_attr("accesskey"))
    };
    for number in 0..elements.len() {
        if !elements.get(number).is_some_and(|element| element.is_content() && leads_on(element)) {
            continue;
        }
        let (mut at, mut around) = (number, None);
        while let Some(element) = elements.get(at)
            && at > 0
            && chars.within(&element.texts) <= STEPS_CHARS_MAX
            && !elements.get(element.span.clone()).unwrap_or_default().iter().any(Element::is_heading)
        {
            if is_block(&element.name) {
                around = Some((element.span.clone(), element.texts.clone()));
            }
            at = element.parent;
        }
        if let Some((span, inner)) = around {
            elements.get_mut(span).into_iter().flatten().for_each(|element| element.place = LayoutRole::Navigation);
            texts.get_mut(inner).into_iter().flatten().for_each(|text| text.place = LayoutRole::Navigation);
        }
    }
}

/// Marks dialogs as navigation: they ask for consent, for a name, for a size (WAI-ARIA 1.2,
/// "dialog"). A dialog with most of the text, or with the page's headline, is the page itself; one
/// within the main part or an article may belong to that.
fn mark_dialogs(elements: &mut [Element<'_>], texts: &mut [Text]) {
    let chars = Chars::new(texts, |_, _| true);
    let is_headline = |number: &usize| elements.get(*number).is_some_and(|element| element.is(&["h1"]));
    let headlines: Vec<usize> = (0..elements.len()).filter(is_headline).collect();
    let has_headline = |span: &Range<usize>| {
        let first = headlines.get(headlines.partition_point(|number| *number < span.start));
        first.is_some_and(|number| *number < span.end)
    };
    let mut next = 0;
    while let Some(element) = elements.get(next) {
        let role = element.node.attr("role").map(|role| role.trim().to_ascii_lowercase());
        let is_dialog = element.is(&["dialog"]) || matches!(role.as_deref(), Some("dialog" | "alertdialog"));
        if element.is(&["main", "article"]) || role.as_deref() == Some("main") {
            next = element.span.end;
            continue;
        }
        if !is_dialog || has_headline(&element.span) || chars.within(&element.texts) * 2 > chars.all() {
            next += 1;
            continue;
        }
        let (span, inner) = (element.span.clone(), element.texts.clone());
        next = span.end;
        elements.get_mut(span).into_iter().flatten().for_each(|element| element.place = LayoutRole::Navigation);
        texts.get_mut(inner).into_iter().flatten().for_each(|text| text.place = LayoutRole::Navigation);
    }
}

struct Walk<'t, 'l> {
    elements: Vec<Element<'t>>,
    texts: Vec<Text>,
    left_out: &'l [NodeId],
}

impl<'t> Walk<'t, '_> {
    /// Recurses to the depth of the tree, which its parser has limited.
    fn add(&mut self, node: NodeRef<'t>, parent: usize, around: Around) {
        let Some((name, inner)) = entered(&node, around) else { return };
        if self.left_out.binary_search(&node.id).is_ok() {
            return;
        }
        let (number, text) = (self.elements.len(), self.texts.len());
        let place = inner.place;
        self.elements.push(Element { node, name, parent, span: number..number, texts: text..text, place });
        for child in node.children_it(false) {
            if child.is_element() {
                self.add(child, number, inner);
            } else if inner.shown.is_read() {
                self.add_text(&child, number, inner);
            }
        }
        let (end, texts_end) = (self.elements.len(), self.texts.len());
        if let Some(element) = self.elements.get_mut(number) {
            (element.span.end, element.texts.end) = (end, texts_end);
        }
    }

    fn add_text(&mut self, node: &NodeRef<'t>, element: usize, around: Around) {
        let chars = read_text(node, |text| text.chars().filter(|c| !c.is_whitespace()).count()).unwrap_or(0);
        if chars > 0 {
            let Around { is_in_link, place, .. } = around;
            self.texts.push(Text { id: node.id, element, chars, is_in_link, place });
        }
    }
}

/// The context of an element's content.
#[derive(Clone, Copy)]
struct Around {
    shown: ElementVisibility,
    place: LayoutRole,
    /// The role outside of the tabs that it is in: tabs are controls, but their panels are not.
    outside_tabs: LayoutRole,
    is_in_link: bool,
    /// Whether it is in an article or section, which may have a header and a footer of its own.
    is_sectioned: bool,
}

/// Returns the name of an element and the context within it; `None` if its content is not read.
fn entered(node: &NodeRef<'_>, around: Around) -> Option<(LocalName, Around)> {
    let element = node.element_ref()?;
    let name = element.name.local.clone();
    if has_nothing_to_read(&name) {
        return None;
    }
    let attribute = |name: &str| element.attrs.iter().find(|one| &*one.name.local == name).map(|one| &*one.value);
    let shown = around.shown.child(&name, attribute);
    if shown.is_absent() {
        return None;
    }
    let own = own_place(&name, attribute("role"), around.is_sectioned);
    // Some pages put the panels into the list of the tabs.
    let (place, outside_tabs) = match attribute("role").unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "tablist" => (around.place.max(own), around.outside_tabs),
        "tabpanel" => (around.outside_tabs.max(own), around.outside_tabs),
        _ => (around.place.max(own), around.outside_tabs.max(own)),
    };
    let is_in_link = around.is_in_link || &*name == "a" && attribute("href").is_some();
    let is_sectioned = around.is_sectioned || matches!(&*name, "article" | "main" | "section" | "blockquote");
    Some((name, Around { shown, place, outside_tabs, is_in_link, is_sectioned }))
}

/// Returns the role that an element has by itself. A header and a footer are at the margin unless
/// they belong to a section (WHATWG HTML, 4.3.8 and 4.3.9).
fn own_place(name: &str, role: Option<&str>, is_sectioned: bool) -> LayoutRole {
    match role.unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "navigation" | "search" | "menu" | "menubar" | "toolbar" | "tablist" => LayoutRole::Navigation,
        "banner" | "contentinfo" | "complementary" => LayoutRole::Margin,
        "main" | "article" => LayoutRole::Content,
        _ => match name {
            "nav" | "button" | "select" | "textarea" | "input" | "menu" | "search" => LayoutRole::Navigation,
            "header" | "footer" | "aside" if !is_sectioned => LayoutRole::Margin,
            _ => LayoutRole::Content,
        },
    }
}

fn has_nothing_to_read(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "template"
            | "iframe"
            | "noembed"
            | "noframes"
            | "title"
            | "desc"
            | "metadata"
            | "annotation"
            | "annotation-xml"
    )
}

/// Reads a text node; `None` for any other node.
pub(super) fn read_text<R>(node: &NodeRef<'_>, read: impl FnOnce(&str) -> R) -> Option<R> {
    let said = |node: &dom_query::TreeNode| match &node.data {
        NodeData::Text { contents } => Some(read(contents)),
        _ => None,
    };
    node.query(said).flatten()
}

/// Whether an element is a heading.
pub(super) fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

/// Whether an element is a block, but not a heading or code.
pub(super) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "header"
            | "hgroup"
            | "legend"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "optgroup"
            | "option"
            | "p"
            | "search"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}
