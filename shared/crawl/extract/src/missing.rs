//! Recognising missing pages (soft 404s): the print of the answer for an address that cannot
//! exist, and of pages to compare with it.
//!
//! The crawl step makes the print of that answer, the parse step those of pages. Both use the
//! same reader on the same bytes, which needs no tree: it reads the page outside of its header,
//! menus and footer, which differ little from page to page. The rules are those of
//! [`MissingRule`](dragline_domain::missing_page::MissingRule).

use dragline_domain::missing_page::PagePrint;
use dragline_domain::scripted;
use dragline_domain::url::CrawlUrl;
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::http_fields::{Headers, content_type};

use crate::fields::MediaType;
use crate::wall::{self, Head, Outline, PAGE_BYTES_MAX, Prose, Wall};

/// The version of the rules. It rises whenever an answer may be classified differently, and is a
/// part of the page extractor's version, so that a document records the rules by which it was made.
pub const RULES_VERSION: u16 = 1;

/// The fewest words of a usable answer.
const WORDS_MIN: usize = 5;

/// The same for a page with scripts, which may add text.
const SCRIPTED_WORDS_MIN: usize = 10;

/// Returns the print and title of an answer with a good status for an address that cannot
/// exist.
///
/// # Errors
/// Returns why the answer is useless for comparison: it is not a page, is filled by scripts, or is
/// nearly empty. Real pages may look like it.
pub fn print_of_missing(url: &CrawlUrl, headers: &Headers, body: &[u8]) -> Result<(PagePrint, String), String> {
    let bytes = page_bytes(headers, body).ok_or("no page")?;
    let text = String::from_utf8_lossy(&bytes);
    if let Some(element) = Outline::build(&text).needs_scripts(scripted::WORDS_MAX) {
        return Err(format!("a page that scripts make in `{element}`"));
    }
    let prose = Prose::measure(&text);
    let words_min = if prose.scripts > 0 { SCRIPTED_WORDS_MIN } else { WORDS_MIN };
    if prose.words < words_min {
        return Err("a page of next to no words".to_owned());
    }
    Ok((print_of_prose(url, &prose), prose.title))
}

/// Returns the wall in an answer, whatever its status: then the answer says nothing about the
/// requested URL, `asked`, which may have redirected there. `None` if there is none.
#[must_use]
pub fn find_wall(asked: &CrawlUrl, head: &Head<'_>, body: &[u8]) -> Option<Wall> {
    let of_page = || {
        let bytes = page_bytes(head.headers, body)?;
        let page = || wall::find_in_redirected_page(asked, head.url, &String::from_utf8_lossy(&bytes));
        wall::find_challenge_in_page(&bytes).or_else(page)
    };
    wall::find_by_fields(head).or_else(of_page)
}

/// Returns the print of a page, to be compared with that of a missing one; `None` if the body
/// is not a page.
#[must_use]
pub fn print_of_page(url: &CrawlUrl, headers: &Headers, body: &[u8]) -> Option<PagePrint> {
    let bytes = page_bytes(headers, body)?;
    Some(print_of_prose(url, &Prose::measure(&String::from_utf8_lossy(&bytes))))
}

/// Returns the decoded bytes of a page, up to the limit; `None` if it is not one by its type, or
/// cannot be decoded. Its character set does not matter, as only pages of one server are compared.
pub(crate) fn page_bytes(headers: &Headers, body: &[u8]) -> Option<Vec<u8>> {
    let declared = headers.text("content-type").as_deref().and_then(content_type);
    let codings = ContentCodings::parse(headers.all("content-encoding")).ok()?;
    let may_be_page = MediaType::from_content_type(declared.as_ref()).may_be_page();
    may_be_page.then(|| decode_all(&codings, body, PAGE_BYTES_MAX as u64).bytes.into_owned())
}

fn print_of_prose(url: &CrawlUrl, prose: &Prose) -> PagePrint {
    PagePrint::new(&without_address(url, &prose.title), &without_address(url, &prose.text))
}

/// Returns a text without the words of its page's address: many error pages quote it.
fn without_address(url: &CrawlUrl, text: &str) -> String {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let last = url.path().rsplit('/').find(|segment| !segment.is_empty()).unwrap_or_default();
    let addresses = [url.as_str(), url.path_and_query(), url.path(), last].map(bare);
    let is_address = |word: &str| {
        let word = bare(word);
        !word.is_empty() && addresses.contains(&word)
    };
    let words: Vec<&str> = text.split_whitespace().filter(|word| !is_address(word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use dragline_domain::missing_page::{MissingRule, MissingSign};
    use dragline_domain::url::UrlRules;

    use super::*;

    const ASKED: &str = "https://a.example/zr4kq7mw2x";
    const MENU: &str = "<header><a href=/>Example</a></header><nav><a href=/a>Chairs</a> <a href=/b>Tables</a></nav>";

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(text, &UrlRules::default()).unwrap()
    }

    fn headers(content_type: &str) -> Headers {
        Headers::from_iter([("content-type", content_type)])
    }

    fn page_print(content_type: &str, body: &str) -> Result<PagePrint, String> {
        print_of_missing(&url(ASKED), &headers(content_type), body.as_bytes()).map(|(print, _)| print)
    }

    #[test]
    fn an_answer_that_any_page_may_resemble_is_useless() {
        let sorry = "<p>Sorry, what you looked for is not there, or not there any more.";
        for (content_type, body, expected, why) in [
            (
                "text/html",
                format!("<title>Not found</title>{MENU}<h1>Not found</h1>{sorry}"),
                None,
                "a page of its own",
            ),
            ("text/html", format!("{sorry}<script src=/count.js></script>"), None, "a page with a script"),
            (
                "text/html",
                "<title>App</title><div id=root></div><script src=/a.js></script>".to_owned(),
                Some("scripts"),
                "a shell",
            ),
            (
                "text/html",
                "<title>App</title><div id=mine>Loading</div><script src=/a.js></script>".to_owned(),
                Some("words"),
                "a shell with a name of its own",
            ),
            (
                "text/html",
                format!("<title>App</title>{MENU}<main></main><footer>{sorry}</footer><script src=/a.js></script>"),
                Some("words"),
                "a shell in a frame",
            ),
            (
                "text/html",
                format!("<title>App</title><noscript>{sorry}</noscript><script src=/a.js></script>"),
                Some("words"),
                "what is said to those without scripts",
            ),
            ("text/html", String::new(), Some("words"), "nothing"),
            ("application/json", format!("{{\"error\": \"{sorry}\"}}"), Some("no page"), "another type"),
        ] {
            let print = page_print(content_type, &body);
            match expected {
                None => assert!(print.is_ok(), "{body}: {why}: {print:?}"),
                Some(part) => {
                    assert!(print.as_ref().is_err_and(|said| said.contains(part)), "{body}: {why}: {print:?}");
                }
            }
        }
    }

    #[test]
    fn a_page_like_that_for_a_missing_address_is_missing() {
        let page = |title: &str, text: &str| format!("<title>{title}</title>{MENU}<main>{text}</main>");
        let missing = |path: &str| {
            page(
                &format!("{path} - not found"),
                &format!("<h1>Not found</h1><p>The address \u{201c}{path}\u{201d} is not there, or not any more."),
            )
        };
        let sign = MissingSign::Page(page_print("text/html", &missing("/zr4kq7mw2x")).unwrap());
        for (path, body, expected, why) in [
            ("/old/chair", missing("/old/chair"), true, "it says what was not found"),
            ("/chair", missing("/chair").replace("Chairs", "New: chairs"), true, "another menu"),
            ("/", missing("/"), false, "the home page"),
            ("/chair", page("Chair", "<h1>Chair</h1><p>Of beech."), false, "a page"),
            ("/policy", page("/policy - not found", "<h1>Policy</h1><p>What we do about it."), false, "its title"),
            (
                "/policy",
                missing("/policy").replace("<title>/policy", "<title>Policy"),
                true,
                "the address, in another letter case",
            ),
            ("/about", missing("/about").replace("- not found", "- About us"), false, "a title of its own"),
        ] {
            let url = url(&format!("https://a.example{path}"));
            let rule = sign.match_page(&url, || print_of_page(&url, &headers("text/html"), body.as_bytes()));
            assert_eq!(rule, expected.then_some(MissingRule::SamePage), "{path} {body}: {why}");
        }
        let image = url("https://a.example/a.png");
        assert_eq!(print_of_page(&image, &headers("image/png"), missing("/a.png").as_bytes()), None, "no page");
    }
}
