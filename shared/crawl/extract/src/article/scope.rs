//! Chooses the main part of a page: Readability's choice, or more if that leaves out content.
//!
//! Readability recognises articles among comments, teasers and advertisements, and takes little
//! else. So its choice is trusted if the page declares itself an article. Otherwise it only locates
//! the content: everything there is content, except navigation and the like. In both cases, code,
//! tables and terms are not left out, nor are sections beside a chosen one.
//! docs/measurements/quality.md has the figures.

use dragline_domain::content::MainPartSource;

use super::edges;
use super::layout::{Chars, Element, Layout, LayoutRole};
use super::said::PageMetadata;

/// In an article, the finder's choice must have this share of the element around it, or all of that
/// is taken: so little is not left out on purpose.
const ARTICLE_PERCENT_MIN: usize = 60;

/// The same for a page that is not declared an article.
const PAGE_PERCENT_MIN: usize = 95;

/// In such a page, the chosen element must have this share of the text that may be content.
const WIDTH_PERCENT_MIN: usize = 70;

/// The share of code, tables and terms that must be taken.
const STRUCTURE_PERCENT_MIN: usize = 90;

/// Fewer characters of them are no reason to take more.
const STRUCTURE_CHARS_MIN: usize = 40;

/// Siblings of the same structure as the chosen element belong to it if they have this share of its
/// text.
const ALIKE_PERCENT_MIN: usize = 25;

/// The same for an article, where they are often teasers.
const ALIKE_ARTICLE_PERCENT_MIN: usize = 50;

/// The same if each begins with a heading.
const ALIKE_SECTIONS_PERCENT_MIN: usize = 5;

/// A sibling with fewer characters is not part of it.
const ALIKE_CHARS_MIN: usize = 25;

/// The chosen part.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// The element around all of it.
    pub(super) element: usize,
    /// Its texts.
    pub(super) kept: Chars,
    pub(super) taken: MainPartSource,
    /// Its share of the text that may be content.
    pub(super) kept_percent: u8,
}

/// Chooses the main part. `chosen` tells for each text whether the finder takes it; it is empty if
/// the finder found nothing.
pub(super) fn choose(layout: &Layout<'_>, chosen: &[bool], known: &PageMetadata) -> Scope {
    // Navigation in the finder's choice is a mistake, and so is the margin, unless it had to look
    // at the whole page.
    let finder = Chars::new(&layout.texts, |number, text| match text.place {
        LayoutRole::Content => chosen.get(number) == Some(&true),
        LayoutRole::Margin => !known.is_article && chosen.get(number) == Some(&true),
        LayoutRole::Navigation => false,
    });
    let (element, taken) = place(layout, &finder, known);
    let texts = layout.elements.get(element).map_or(0..0, |element| element.texts.clone());
    let mut kept: Vec<bool> = match taken {
        MainPartSource::Found => mark_kept(layout, &finder, element, known),
        _ => {
            let is_kept =
                |number: usize, place| place == LayoutRole::Content && texts.contains(&number) || finder.has(number);
            layout.texts.iter().enumerate().map(|(number, text)| is_kept(number, text.place)).collect()
        }
    };
    edges::trim(layout, &mut kept, known);
    scope(layout, element, &kept, taken)
}

/// Takes the content of the elements that a rule selects.
pub(super) fn selected(layout: &Layout<'_>, included: &[dom_query::NodeId]) -> Scope {
    let mut kept = vec![false; layout.texts.len()];
    for element in layout.elements.iter().filter(|element| included.binary_search(&element.node.id).is_ok()) {
        kept.get_mut(element.texts.clone()).into_iter().flatten().for_each(|kept| *kept = true);
    }
    scope(layout, 0, &kept, MainPartSource::Selected)
}

/// Takes all visible text.
pub(super) fn whole(layout: &Layout<'_>) -> Scope {
    scope(layout, 0, &vec![true; layout.texts.len()], MainPartSource::Whole)
}

fn scope(layout: &Layout<'_>, element: usize, kept: &[bool], taken: MainPartSource) -> Scope {
    let is_kept = |number: usize| kept.get(number) == Some(&true);
    let content = Chars::new(&layout.texts, |number, text| is_kept(number) || text.place == LayoutRole::Content);
    let kept = Chars::new(&layout.texts, |number, _| is_kept(number));
    let kept_percent = u8::try_from(kept.all() * 100 / content.all().max(1)).unwrap_or(100);
    Scope { element, kept, taken, kept_percent }
}

/// Returns the element around the main part, and the reason for the choice.
fn place(layout: &Layout<'_>, finder: &Chars, known: &PageMetadata) -> (usize, MainPartSource) {
    let frame = frame(layout);
    if finder.all() == 0 {
        return (frame, MainPartSource::Page);
    }
    let core = core(layout, finder);
    let (mut at, mut taken) = (core, MainPartSource::Found);
    if let Some(structured) = with_structure(layout, finder, frame, core) {
        (at, taken) = (structured, MainPartSource::Structure);
    }
    let mut inner = at;
    while inner != frame && inner != 0 {
        let Some(parent) = layout.elements.get(inner).map(|element| element.parent) else { break };
        if has_more_alike(layout, inner, parent, known) {
            (at, taken) = (parent, MainPartSource::Alike);
        }
        inner = parent;
    }
    let plain = |element: usize| layout.elements.get(element).map_or(0, |element| layout.plain.within(&element.texts));
    if !known.is_article {
        while at != frame && at != 0 && plain(at) * 100 < plain(frame) * WIDTH_PERCENT_MIN {
            let Some(element) = layout.elements.get(at) else { break };
            (at, taken) = (element.parent, MainPartSource::Width);
        }
    }
    if !known.is_article
        && let Some(around) = with_heading(layout, frame, at)
    {
        (at, taken) = (around, MainPartSource::Structure);
    }
    let percent_min = if known.is_article { ARTICLE_PERCENT_MIN } else { PAGE_PERCENT_MIN };
    let has_plain = |number: usize| finder.has(number) && layout.plain.has(number);
    let kept = Chars::new(&layout.texts, |number, _| has_plain(number)).all();
    if taken == MainPartSource::Found && kept * 100 < plain(core) * percent_min {
        taken = MainPartSource::Share;
    }
    (at, taken)
}

/// Returns the smallest element with nearly all of the finder's choice.
fn core(layout: &Layout<'_>, finder: &Chars) -> usize {
    let has_it = |element: &Element<'_>| finder.within(&element.texts) * 100 >= finder.all() * 95;
    layout.elements.iter().rposition(has_it).unwrap_or(0)
}

/// Returns the main element by the page's markup, or else the whole page.
fn frame(layout: &Layout<'_>) -> usize {
    let plain = |element: &Element<'_>| layout.plain.within(&element.texts);
    let is_main = |element: &Element<'_>| {
        let role = || element.node.attr("role");
        element.is(&["main"]) || role().is_some_and(|role| role.trim().eq_ignore_ascii_case("main"))
    };
    // Some pages mark a wrong part as the main one.
    let only = |is: &dyn Fn(&Element<'_>) -> bool, percent_min| {
        let (number, element) = outermost(layout, is)?;
        (plain(element) * 100 >= layout.plain.all() * percent_min).then_some(number)
    };
    only(&is_main, 25).or_else(|| only(&|element| element.is(&["article"]), 50)).unwrap_or(0)
}

/// Returns the only element of its kind outside others of that kind; `None` if there are several.
fn outermost<'l, 't>(layout: &'l Layout<'t>, is: &dyn Fn(&Element<'_>) -> bool) -> Option<(usize, &'l Element<'t>)> {
    let (mut only, mut next) = (None, 0);
    while let Some(element) = layout.elements.get(next) {
        if !element.is_content() || !is(element) {
            next += 1;
            continue;
        }
        if only.is_some() {
            return None;
        }
        only = Some((next, element));
        next = element.span.end;
    }
    only
}

/// Returns the smallest element around `core` with the code, tables and terms; `None` if little of
/// these is left out.
fn with_structure(layout: &Layout<'_>, finder: &Chars, frame: usize, core: usize) -> Option<usize> {
    let structures: Vec<_> = structures(layout, frame).collect();
    let sum = |chars: &Chars| structures.iter().map(|(_, element)| chars.within(&element.texts)).sum::<usize>();
    let (all, taken) = (sum(&layout.chars), sum(finder));
    if all < STRUCTURE_CHARS_MIN || taken * 100 >= all * STRUCTURE_PERCENT_MIN {
        return None;
    }
    let is_left_out = |element: &Element<'_>| finder.within(&element.texts) * 2 < layout.chars.within(&element.texts);
    let left_out = structures.iter().filter(|(_, element)| is_left_out(element));
    Some(left_out.fold(core, |around, (number, _)| layout.around(around, *number)))
}

/// Returns the smallest element around `number` with the heading above it; `None` if it has a
/// heading itself, or there is none above.
fn with_heading(layout: &Layout<'_>, frame: usize, number: usize) -> Option<usize> {
    let element = layout.elements.get(number)?;
    if layout.elements.get(element.span.clone())?.iter().any(Element::is_heading) {
        return None;
    }
    let before = layout.elements.get(frame..number)?;
    let is_heading =
        |element: &Element<'_>| element.is_heading() && element.is_content() && layout.plain.within(&element.texts) > 0;
    let heading = frame + before.iter().rposition(is_heading)?;
    Some(layout.around(number, heading))
}

/// Returns the code, tables and terms in an element that are not mostly links.
fn structures<'l, 't>(
    layout: &'l Layout<'t>,
    frame: usize,
) -> impl Iterator<Item = (usize, &'l Element<'t>)> + use<'l, 't> {
    let span = layout.elements.get(frame).map_or(0..0, |frame| frame.span.clone());
    span.filter_map(|number| Some((number, layout.elements.get(number)?))).filter(|(number, element)| {
        let (all, plain) = (layout.chars.within(&element.texts), layout.plain.within(&element.texts));
        element.is_content() && all > 0 && plain * 2 >= all && is_structure(layout, *number, element)
    })
}

fn is_structure(layout: &Layout<'_>, number: usize, element: &Element<'_>) -> bool {
    match &*element.name {
        "pre" => true,
        "dl" => layout.children(number).len() >= 4,
        "table" => {
            let inner = layout.inner(element);
            let count = |names: &[&str]| inner.iter().filter(|element| element.is(names)).count();
            let rows = count(&["tr"]);
            rows >= 2 && count(&["td", "th"]) >= 2 * rows && count(&["table"]) == 0
        }
        _ => false,
    }
}

/// Whether an element has siblings of the same structure with much text.
fn has_more_alike(layout: &Layout<'_>, number: usize, parent: usize, known: &PageMetadata) -> bool {
    let Some(element) = layout.elements.get(number) else { return false };
    let class = element.node.class().filter(|class| !class.trim().is_empty());
    if class.is_none() && !element.is(&["section", "article"]) {
        return false;
    }
    let is_headed = begins_with_heading(layout, element);
    let (mut alike, mut headed) = (0, 0);
    for sibling in layout.children(parent) {
        let Some(other) = layout.elements.get(sibling).filter(|_| sibling != number) else { continue };
        let plain = layout.plain.within(&other.texts);
        if other.name == element.name && plain > ALIKE_CHARS_MIN && other.node.class() == class {
            alike += plain;
            headed += if is_headed && begins_with_heading(layout, other) { plain } else { 0 };
        }
    }
    let own = layout.plain.within(&element.texts);
    let percent_min = if known.is_article { ALIKE_ARTICLE_PERCENT_MIN } else { ALIKE_PERCENT_MIN };
    alike * 100 > own * percent_min || !known.is_article && headed * 100 > own * ALIKE_SECTIONS_PERCENT_MIN
}

fn begins_with_heading(layout: &Layout<'_>, element: &Element<'_>) -> bool {
    // A sign or a number may come first.
    let begins = |inner: &&Element<'_>| inner.texts.start <= element.texts.start + 1;
    layout.inner(element).iter().take_while(begins).any(Element::is_heading)
}

/// Returns for each text whether it is in the finder's choice or belongs to it: code, tables and
/// terms, headings of the text that follows, paragraphs and lists among others.
fn mark_kept(layout: &Layout<'_>, finder: &Chars, core: usize, known: &PageMetadata) -> Vec<bool> {
    let mut kept: Vec<bool> = (0..layout.texts.len()).map(|number| finder.has(number)).collect();
    let span = layout.elements.get(core).map_or(0..0, |core| core.span.clone());
    for element in layout.elements.get(span).unwrap_or_default() {
        let all = layout.chars.within(&element.texts);
        if !element.is_content() || all == 0 || finder.within(&element.texts) > 0 {
            continue;
        }
        let is_text = layout.plain.within(&element.texts) * 2 > all;
        let belongs = match &*element.name {
            "pre" => true,
            // It is visible all the same: a search in the page reveals it.
            _ if element.node.has_attr("hidden") => true,
            "table" | "dl" | "noscript" => is_text,
            "p" | "ul" | "ol" | "blockquote" => is_text && is_among_paragraphs(layout, element, finder),
            _ if element.is_heading() => {
                is_followed(layout, element, finder) && !(known.is_article && known.is_headline(layout, element))
            }
            _ => false,
        };
        if belongs {
            let texts = element.texts.clone();
            kept.get_mut(texts).into_iter().flatten().for_each(|kept| *kept = true);
        }
    }
    kept
}

fn is_among_paragraphs(layout: &Layout<'_>, element: &Element<'_>, finder: &Chars) -> bool {
    let is_taken = |number: &usize| {
        let sibling = layout.elements.get(*number);
        sibling.is_some_and(|sibling| sibling.is(&["p"]) && finder.within(&sibling.texts) > 0)
    };
    layout.children(element.parent).iter().any(is_taken)
}

/// Whether the text after a heading is taken, within the heading's parent.
fn is_followed(layout: &Layout<'_>, heading: &Element<'_>, finder: &Chars) -> bool {
    let parent = |element: &Element<'_>| layout.elements.get(element.parent);
    let ends_with_heading = |element: &&Element<'_>| element.texts.end == heading.texts.end;
    let around = match parent(heading) {
        Some(header) if ends_with_heading(&header) => parent(header),
        around => around,
    };
    around.is_some_and(|around| heading.texts.end < around.texts.end) && finder.has(heading.texts.end)
}
