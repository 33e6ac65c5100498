//! PDF.

use dragline_domain::content::{Content, ContentLevel, Gap};
use dragline_domain::definition::Noindex;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_extract::typed::Types;
use dragline_extract::{MainRules, Settings, Source, extract};
use dragline_formats::http_fields::Headers;

/// The longest text that is kept.
const TEXT_BYTES_MAX: usize = 2 << 20;

/// Input: a file.
///
/// Its text is within the limit; the same bytes give the same text; and what has no text has a gap
/// or an empty page.
///
/// # Panics
/// If one of these does not hold. A panic of the reader is caught where it is called, but ends
/// libFuzzer.
pub fn pdf(data: &[u8]) {
    let content = read(data);
    assert_eq!(read(data), content, "the same bytes give another text");
    let Some(content) = content else { return };
    let text = content.main.as_ref().map_or("", |main| main.text.as_str());
    assert!(text.len() <= TEXT_BYTES_MAX, "{} bytes", text.len());
    assert!(!text.contains('\0'), "a text has no NUL");
    let has_pages = content.about.as_ref().is_some_and(|about| about.meta.iter().any(|meta| meta.name == "pages"));
    let is_unread = content.gaps.iter().any(|gap| matches!(gap, Gap::File | Gap::FileDamaged | Gap::FileEncrypted));
    assert!(has_pages || is_unread, "it has no pages, and does not say why");
}

fn read(data: &[u8]) -> Option<Box<Content>> {
    let url_rules = UrlRules::default();
    let url = CrawlUrl::parse("https://example.org/", &url_rules).expect("a good URL");
    let headers = Headers::from_iter([("content-type", "application/pdf")]);
    let settings = Settings {
        product_token: "",
        url_rules: &url_rules,
        decoded_bytes_max: u64::MAX,
        noindex: Noindex::Obey,
        content: ContentLevel::Full,
        types: Types::NONE,
        main: MainRules::NONE,
    };
    let source = Source { url: &url, headers: &headers, body: data };
    extract(&source, &settings).map_or_else(|unread| unread.content, |page| page.content)
}
