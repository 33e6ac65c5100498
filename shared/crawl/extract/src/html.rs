//! HTML and XHTML.

use std::collections::HashMap;

use dragline_domain::content::{Alternate, Content};
use dragline_domain::document::{Directives, ExtractorVersion, LinkKind, Page, PageCut, Rel};
use dragline_domain::markup::{LanguageLink, MalformedLink, MalformedReason, Markup};
use dragline_domain::scripted;
use dragline_domain::url::{CrawlUrl, Spelling, UrlError};
use dragline_formats::directives::meta_robots;
use dragline_formats::html::{self, HtmlLimits, HtmlLink, LinkUrl, PageSource, Syntax, is_xhtml};
use dragline_formats::http_fields::refresh;
use dragline_formats::shell::{SHELL_RULES_VERSION, find_shell};
use dragline_formats::use_preferences::page_statements;
use url::Url;

use crate::body::{Body, Extracted, Extractor, FoundLink};
use crate::content;
use crate::feed;
use crate::fields::{MediaType, canonical_in_header, languages_in_header};
use crate::missing;
use crate::wall::{self, Outline, RULES_VERSION};

/// How many bytes of an XML body are examined before all of it is read: most are feeds and the
/// like.
const XML_BEGINNING_BYTES: u64 = 16 * 1024;

/// A page with more visible text is neither a wall nor filled by scripts.
const SLIGHT_TEXT_BYTES_MAX: usize = 8 * 1024;

/// The version of the extractor itself, without the versions of the rules for walls and for missing
/// pages.
const VERSION: u16 = 11;

/// The limit on links to other languages, those in the header included.
const LANGUAGES_MAX: usize = 500;

/// The extractor for pages.
pub(crate) struct Html;

impl Extractor for Html {
    fn made_by(&self) -> ExtractorVersion {
        ExtractorVersion::new("html", VERSION + RULES_VERSION + missing::RULES_VERSION + SHELL_RULES_VERSION)
    }

    fn extract(&self, body: &Body<'_>) -> Option<Extracted> {
        if !body.media.may_be_page() {
            return None;
        }
        if body.media == MediaType::Xml {
            let beginning = body.beginning(XML_BEGINNING_BYTES);
            syntax(body.media, &body.text(&beginning).text)?;
        }
        let bytes = body.decoded();
        let text = body.text(&bytes);
        let syntax = syntax(body.media, &text.text)?;
        if body.media == MediaType::Html && feed::sniff::begins_xml(&text.text) {
            return None;
        }
        let url = Url::parse(body.source.url.as_str()).ok()?;
        let source = PageSource { url: &url, encoding: text.encoding, syntax };
        let mut html = html::extract(&text.text, &source, &HtmlLimits::default());
        let outline = (html.text.len() <= SLIGHT_TEXT_BYTES_MAX).then(|| Outline::build(&text.text));
        let wall = outline.as_ref().and_then(|outline| wall::find_by_outline(body.source.url, outline));
        let scripted = outline.as_ref().and_then(|outline| filled_by_scripts(outline, &bytes));
        let remark = body.remark().or_else(|| scripted.map(scripted::detail));
        let metas = || html.robots.iter().map(|meta| (meta.agent.as_str(), meta.content.as_str()));
        let asked = meta_robots(metas(), body.settings.product_token);
        let uses = page_statements(metas(), body.settings.product_token);
        let directives = body.directives.and(body.settings.noindex.heed(asked));
        let canonical = canonical(body, &html);
        let mut markup = std::mem::take(&mut html.markup);
        // Scripts may add whatever is not there yet.
        if scripted.is_some() || bytes.len() as u64 >= body.settings.decoded_bytes_max {
            markup.mark_as_cut();
        }
        let mut links = links(body, std::mem::take(&mut html.links), (directives, canonical.as_ref()), &mut markup);
        add_languages(body, &mut links, directives, &mut markup);
        let page = page(html, directives, canonical.map(|(canonical, _)| canonical), text.encoding);
        let mut content = extract_content(body, &text.text, &page, &url);
        if !page.directives.noindex {
            content.get_or_insert_default().markup = Some(Box::new(markup));
        }
        Some(Extracted { made_by: self.made_by(), page, links, content, remark, wall, uses })
    }
}

/// Returns the element that scripts fill, if the page is one that is rendered where that is wanted.
fn filled_by_scripts<'t>(outline: &Outline<'t>, page: &[u8]) -> Option<&'t str> {
    find_shell(page).map(|_| outline.needs_scripts(scripted::WORDS_MAX).unwrap_or("body"))
}

/// Returns the syntax of a decoded text without a byte order mark; `None` if it is not a page.
pub(crate) fn syntax(media: MediaType, text: &str) -> Option<Syntax> {
    match media {
        MediaType::Html => Some(Syntax::Html),
        MediaType::Xhtml => Some(Syntax::Xhtml),
        // Browsers show XML as a page if its root element is an XHTML one.
        MediaType::Xml => is_xhtml(text).then_some(Syntax::Xhtml),
        // WHATWG MIME Sniffing, "identifying a resource with an unknown MIME type", but with markup
        // of any element.
        MediaType::Unknown if text.starts_with("<?xml") && is_xhtml(text) => Some(Syntax::Xhtml),
        MediaType::Unknown => text.trim_ascii_start().starts_with('<').then_some(Syntax::Html),
        MediaType::Plain
        | MediaType::Json
        | MediaType::Pdf
        | MediaType::Office
        | MediaType::Binary
        | MediaType::Css
        | MediaType::Other => None,
    }
}

/// Extracts the page's content beyond text and links, unless it asks for noindex.
fn extract_content(body: &Body<'_>, html: &str, page: &Page, url: &Url) -> Option<Box<Content>> {
    let read = content::ReadPage { html, text: &page.text, url, crawl_url: body.source.url };
    let mut content = if page.directives.noindex { None } else { content::extract_content(&read, &body.settings) };
    if let Some(about) = content.as_mut().and_then(|content| content.about.as_mut()) {
        for (language, written) in languages_in_header(body.source.headers) {
            let joined = url.join(&written).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
            let Some(url) = joined else { continue };
            let alternate = Alternate { language, url: url.into() };
            if !about.hreflang.contains(&alternate) {
                about.hreflang.push(alternate);
            }
        }
    }
    content
}

/// Returns the canonical URL that the page, or else its header, names.
fn canonical(body: &Body<'_>, html: &html::Page) -> Option<(CrawlUrl, Spelling)> {
    let rules = body.settings.url_rules;
    match &html.canonical {
        Some(url) => CrawlUrl::spelled(url, rules).ok(),
        None => body.source.url.join_spelled(&canonical_in_header(body.source.headers)?, rules).ok(),
    }
}

/// Makes the page's content, without the text if it asks for noindex.
fn page(html: html::Page, directives: Directives, canonical: Option<CrawlUrl>, charset: &str) -> Page {
    let cut = if html.truncated.text { PageCut::Text } else { PageCut::Whole };
    let cut = if html.truncated.links { cut.and_links() } else { cut };
    let (title, description, text) =
        if directives.noindex { (None, None, String::new()) } else { (html.title, html.description, html.text) };
    let (language, charset) = (html.language, Some(charset.to_owned()));
    Page { title, description, language, charset, canonical, directives, text, cut }
}

/// Collects the links of a page, each once. Positions in `markup` are then those of these links.
fn links(
    body: &Body<'_>,
    of_html: Vec<HtmlLink>,
    (directives, canonical): (Directives, Option<&(CrawlUrl, Spelling)>),
    markup: &mut Markup,
) -> Vec<FoundLink> {
    let rules = body.settings.url_rules;
    let mut links: Vec<FoundLink> = Vec::with_capacity(of_html.len() + 2);
    let of_page = if directives.nofollow { Rel::NoFollow } else { Rel::Follow };
    // Readers do not follow a canonical link, so nofollow does not apply to it.
    if let Some((target, spelling)) = canonical.cloned() {
        links.push(FoundLink { kind: LinkKind::Canonical, target, spelling, rel: Rel::Follow, anchor: None });
    }
    let by_header = body.source.headers.text("refresh");
    let refreshed = by_header.as_deref().and_then(refresh);
    if let Some((target, spelling)) = refreshed.and_then(|url| body.source.url.join_spelled(url, rules).ok()) {
        links.push(FoundLink { kind: LinkKind::Redirect, target, spelling, rel: of_page, anchor: None });
    }
    let of_header = links.len();
    let mut is_any_rewritten = false;
    let mut positions = Vec::with_capacity(of_html.len());
    for HtmlLink { kind, url, nofollow, text } in of_html {
        let (target, spelling) = match url.normalised(rules) {
            Ok(normalised) => normalised,
            Err(error) => {
                markup.malformed.extend(malformed(kind, &url, &error, text));
                positions.push(None);
                continue;
            }
        };
        is_any_rewritten |= target.as_str() != url.as_str();
        let known = links[..of_header].iter().position(|link| link.kind == kind && link.target == target);
        positions.push(Some(known.unwrap_or(links.len())));
        if known.is_none() {
            let rel = if nofollow { Rel::NoFollow } else { of_page };
            links.push(FoundLink { kind, target, spelling, rel, anchor: text.filter(|_| !directives.noindex) });
        }
    }
    // As written, no two links of a page are the same.
    let merged = if is_any_rewritten { merge(&mut links) } else { Vec::new() };
    markup.move_links(|link| {
        let position = (*positions.get(usize::try_from(link).ok()?)?)?;
        u32::try_from(merged.get(position).copied().unwrap_or(position)).ok()
    });
    links
}

/// Adds the page in other languages as its header names it, behind what the page says itself.
fn add_languages(body: &Body<'_>, links: &mut Vec<FoundLink>, directives: Directives, markup: &mut Markup) {
    for (code, written) in languages_in_header(body.source.headers) {
        let Ok((target, spelling)) = body.source.url.join_spelled(&written, body.settings.url_rules) else { continue };
        let known = links.iter().position(|link| link.kind == LinkKind::Alternate && link.target == target);
        let position = known.unwrap_or(links.len());
        if known.is_none() {
            let rel = if directives.nofollow { Rel::NoFollow } else { Rel::Follow };
            links.push(FoundLink { kind: LinkKind::Alternate, target, spelling, rel, anchor: None });
        }
        let Ok(link) = u32::try_from(position) else { return };
        let is_new = |known: &LanguageLink| known.link != link || *known.code != *code;
        if markup.languages.len() < LANGUAGES_MAX && markup.languages.iter().all(is_new) {
            markup.languages.push(LanguageLink { link, code: code.into(), page: None });
        }
    }
}

/// Keeps the first of links with the same kind and target. Returns the new position of each.
fn merge(links: &mut Vec<FoundLink>) -> Vec<usize> {
    let mut seen = HashMap::new();
    let mut merged = Vec::with_capacity(links.len());
    links.retain(|link| {
        let next = seen.len();
        let position = *seen.entry((link.kind, link.target.clone())).or_insert(next);
        merged.push(position);
        position == next
    });
    merged
}

/// Returns a link whose host is not a domain name, although the parser accepts it; `None` if it is
/// no link for another reason.
fn malformed(kind: LinkKind, url: &LinkUrl, error: &UrlError, text: Option<String>) -> Option<MalformedLink> {
    let why = match error {
        UrlError::Host => MalformedReason::HostInvalid,
        UrlError::NoHost => MalformedReason::HostMissing,
        _ => return None,
    };
    Some(MalformedLink { kind, written: url.as_str().into(), why, text: text.map(Into::into) })
}

#[cfg(test)]
mod tests {
    use dragline_domain::content::ContentLevel;
    use dragline_domain::markup::LinkUse;
    use dragline_domain::url::UrlRules;
    use dragline_formats::http_fields::{Headers, content_type};

    use super::*;
    use crate::body::{Settings, Source};

    /// Extracts a page with a canonical link and a refresh in its header. Only its first kilobyte
    /// is decoded, and `s` is removed from URLs.
    fn extracted(html: &str) -> Extracted {
        let rules = UrlRules::new(["s"]).unwrap();
        let url = CrawlUrl::parse("https://a.example/", &rules).unwrap();
        let headers = [("content-type", "text/html"), ("refresh", "1;url=/next"), ("link", "</c>; rel=canonical")];
        let headers = Headers::from_iter(headers);
        let source = Source { url: &url, headers: &headers, body: html.as_bytes() };
        let settings = Settings { decoded_bytes_max: 1_000, ..Settings::at(ContentLevel::Text, &rules) };
        crate::extract(&source, &settings).unwrap()
    }

    fn markup(html: &str) -> Option<Markup> {
        extracted(html).content.and_then(|content| content.markup).map(|markup| *markup)
    }

    #[test]
    fn markup_refers_to_the_links_that_are_kept() {
        let html = "<a href=/x?s=1#a>x</a><a href='http://a..b/'>bad</a><a href=/x#b>y</a><a href=/z#c>z</a>
            <link rel=canonical href=/ignored><a href='http://u:p@h/#d'>secret</a><img src=/p.png><link rel=alternate hreflang=de href=/de?s=2>";
        let Extracted { links, content, .. } = extracted(html);
        let markup = content.unwrap().markup.unwrap();
        let target = |link: u32| links[link as usize].target.path();
        let used = |used: &LinkUse| (used.link.map(target), used.fragment.clone().unwrap_or_default().to_string());
        let uses: Vec<_> = markup.uses.iter().map(used).collect();
        let expected = [("/x", "a"), ("/x", "b"), ("/z", "c")];
        assert_eq!(uses, expected.map(|(path, fragment)| (Some(path), fragment.to_owned())), "also of merged links");
        assert_eq!(markup.undescribed_links.iter().copied().map(target).collect::<Vec<_>>(), ["/p.png"]);
        assert_eq!(markup.languages.iter().map(|one| target(one.link)).collect::<Vec<_>>(), ["/de"]);
        let malformed: Vec<_> = markup.malformed.iter().map(|link| (&*link.written, link.why)).collect();
        assert_eq!(malformed, [("http://a..b/", MalformedReason::HostInvalid)], "a password is no mistake of form");
    }

    #[test]
    fn a_header_may_name_other_languages() {
        let named = |fields: &[&str], html: &str| {
            let rules = UrlRules::new(["s"]).unwrap();
            let url = CrawlUrl::parse("https://a.example/en", &rules).unwrap();
            let fields = fields.iter().map(|field| ("link", *field));
            let headers = Headers::from_iter([("content-type", "text/html")].into_iter().chain(fields));
            let source = Source { url: &url, headers: &headers, body: html.as_bytes() };
            let settings = Settings::at(ContentLevel::Full, &rules);
            let Extracted { links, content, .. } = crate::extract(&source, &settings).unwrap();
            let content = content.unwrap();
            let about = content.about.unwrap().hreflang.into_iter().map(|one| (one.language, one.url));
            let about: Vec<_> = about.map(|(code, url)| format!("{code} {}", url.replace("?s=1", ""))).collect();
            let link = |one: &LanguageLink| &links[one.link as usize];
            let markup = content.markup.unwrap().languages;
            assert!(markup.iter().all(|one| link(one).kind == LinkKind::Alternate));
            let markup: Vec<_> = markup.iter().map(|one| format!("{} {}", one.code, link(one).target)).collect();
            assert_eq!(markup, about, "{fields:?} {html}", fields = headers.texts("link").collect::<Vec<_>>());
            markup
        };
        let (de, fr) = ("de https://a.example/de", "fr https://a.example/fr");
        let many = "</de>; rel=alternate; hreflang=de,".repeat(300);
        for (fields, html, expected, why) in [
            (&["</de>; rel=alternate; hreflang=de"][..], "", vec![de], "a path"),
            (&["<fr?s=1>; rel=\"alternate\"; hreflang=\"fr\""], "", vec![fr], "relative to the page, normalised"),
            (
                &["</de>; rel=alternate; hreflang=de, </fr>; rel=alternate; hreflang=fr"],
                "<link rel=alternate hreflang=fr href=/fr>",
                vec![fr, de],
                "what the page says comes first, and no link twice",
            ),
            (
                &["</de>; rel=alternate; hreflang=de", "</fr>; rel=alternate; hreflang=fr"],
                "",
                vec![de, fr],
                "two fields",
            ),
            (
                &["</de>; rel=alternate; hreflang=de; hreflang=de-CH"],
                "",
                vec![de, "de-CH https://a.example/de"],
                "two languages of one page",
            ),
            (&["</de>; rel=alternate", "</de>; rel=next; hreflang=de"], "", vec![], "no language, no alternate"),
            (&["<mailto:a@a.example>; rel=alternate; hreflang=\"\""], "", vec![], "no code"),
            (&[many.as_str()], "", vec![de], "many times the same"),
        ] {
            assert_eq!(named(fields, html), expected, "{why}");
        }
    }

    #[test]
    fn what_a_page_lacks_is_known_of_whole_pages() {
        let is_known = |html: &str| markup(html).map(|markup| markup.h1.is_some() && markup.anchors.is_some());
        let words = "words ".repeat(60);
        for (html, expected, why) in [
            (format!("<p>{words}"), Some(true), "a whole page"),
            (format!("<p>{words}{}", "x".repeat(1_000)), Some(false), "one of which the end is missing"),
            ("<div id=root></div><script src=/x.js></script>".to_owned(), Some(false), "one that scripts fill"),
            (format!("<meta name=robots content=noindex><p>{words}"), None, "one that asks to be left out"),
        ] {
            assert_eq!(is_known(&html), expected, "{why}");
        }
    }

    #[test]
    fn syntaxes() {
        const PAGE: &str = "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>";
        let (html, xhtml) = (Some(Syntax::Html), Some(Syntax::Xhtml));
        for (field, text, expected, why) in [
            (Some("text/html"), PAGE, html, "what is called HTML is"),
            (Some("text/html"), "text", html, "whatever it is"),
            (Some("application/xhtml+xml"), "<p>", xhtml, "so is XHTML"),
            (Some("text/xml"), PAGE, xhtml, "XML with a page in it"),
            (Some("application/xml;charset=utf-8"), PAGE, xhtml, "by its other name"),
            (Some("application/vnd.wap.xhtml+xml"), PAGE, xhtml, "or a name that ends so"),
            (Some("text/xml"), "<rss>", None, "other XML"),
            (Some("image/svg+xml"), "<svg>", None, "a drawing"),
            (None, PAGE, xhtml, "no type, and it begins like XML"),
            (None, "<?xml version='1.0'?><html>", html, "but its root is not XHTML's"),
            (None, " \n<p>", html, "no type, and it begins like a page"),
            (None, "text", None, "no type, and it begins like anything"),
            (Some("*/*"), "<p>", html, "any type is none"),
            (Some("*/*; charset=utf-8"), "text", None, "which makes no page of a text"),
            (Some("unknown/unknown"), "<p>", html, "nor is one that is not known"),
            (Some("application/unknown"), "<p>", html, "by this name, either"),
            (Some("html"), "<p>", html, "nor what is no type"),
            (Some("text/*"), "<p>", None, "half a type is another"),
            (Some("text/plain"), "<p>", None, "a text, which may be of markup"),
        ] {
            let media = MediaType::from_content_type(field.and_then(content_type).as_ref());
            assert_eq!(syntax(media, text), expected, "{field:?}: {text}: {why}");
        }
    }
}
