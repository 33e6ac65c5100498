//! How much of a page is kept.

/// How much of a page is kept. Reading goes on to the page's end either way, as metadata may come late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HtmlLimits {
    /// Distinct links.
    pub links_max: usize,
    /// Visible text, in bytes of UTF-8, like all that follow.
    pub text_bytes_max: usize,
    /// The title.
    pub title_bytes_max: usize,
    /// The description.
    pub description_bytes_max: usize,
    /// The text of one link.
    pub link_text_bytes_max: usize,
    /// One attribute's value, entities decoded. Of a longer one the start is read, where a part of it means something.
    pub attribute_bytes_max: usize,
    /// One URL, before and after it is resolved. A longer one is no link: a long base would make every short reference
    /// a long URL.
    pub url_bytes_max: usize,
    /// All `<meta>` for robots, with what it takes to hold them: far more than any page has, as one that is passed over may
    /// be the one that forbids.
    pub robots_bytes_max: usize,
}

impl Default for HtmlLimits {
    fn default() -> Self {
        Self {
            links_max: 10_000,
            text_bytes_max: 2 * 1024 * 1024,
            title_bytes_max: 1024,
            description_bytes_max: 4 * 1024,
            link_text_bytes_max: 256,
            attribute_bytes_max: 32 * 1024,
            url_bytes_max: 4 * 1024,
            robots_bytes_max: 128 * 1024,
        }
    }
}
