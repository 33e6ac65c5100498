//! What was stored of a URL: which visit, its record, and its body in a form. `dragline get` and a
//! stack's API print it.

mod article;
mod choose;
mod content;
mod error;
mod long;
mod record;
#[cfg(test)]
mod samples;

use dragline_domain::capture::CrawlType;
use dragline_domain::ids::Iteration;
use dragline_domain::url::CrawlUrl;
use dragline_extract::Extent;
use dragline_formats::shell::without_noscript;
use dragline_formats::warc::ReadLimits;
use dragline_ports::archive::Archive;
use dragline_ports::reader::LogRow;

pub use article::{ArticleText, error_line, line, text};
pub use choose::{Answer, ChosenAnswer, VisitQuery, choose, describe_outcome};
pub use content::{Coding, Content, DECODED_BYTES_MAX, codings, content, content_in, content_of_dom};
pub use error::StoredError;
pub use long::write_body;
pub use record::{Damage, LoadedRecord, load_with_body};

use crate::printouts::BodyForm;

/// How much is read of a body, where an answer has to be small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimits {
    /// The longest answer: its head and its body, decoded.
    pub answer_bytes_max: usize,
    /// The longest decoded body in which a form is looked for.
    pub decoded_bytes_max: u64,
}

/// Returns the stored body of a URL in a form; without one, the head of the answer and the body,
/// its content coding undone. `visits` are those of the URL, the oldest first.
///
/// # Errors
/// There is no such answer, it cannot be read, it has no such form, or is longer than the limits.
pub async fn body(
    archive: &impl Archive,
    (url, visits): (CrawlUrl, Vec<LogRow>),
    (iteration, form): (Option<Iteration>, Option<BodyForm>),
    limits: BodyLimits,
) -> Result<Vec<u8>, StoredError> {
    let visits = with_requests(visits);
    let wanted = VisitQuery { url, iteration };
    let chosen = choose(&visits, &wanted)?;
    let held = match form {
        Some(_) => ReadLimits::default(),
        None => ReadLimits::holding(limits.answer_bytes_max as u64),
    };
    let loaded = load_with_body(archive, (&wanted.url, held), &chosen).await?;
    if !loaded.record.is_whole() {
        return Err(StoredError::TooLong);
    }
    if let Some(form) = form
        && let Some(dom) = load_dom(&loaded, &wanted.url, &chosen, Some(form))?
    {
        let text = text(&wanted.url, &content_of_dom(&dom), form, (Extent::Main, limits.decoded_bytes_max))?.text;
        let bytes = text.into_bytes();
        return if bytes.len() > limits.answer_bytes_max { Err(StoredError::TooLong) } else { Ok(bytes) };
    }
    let coding = match form {
        None => Coding::Undone(limits.answer_bytes_max as u64 + 1),
        Some(BodyForm::Html) => Coding::Undone(limits.decoded_bytes_max),
        // The search for the main part undoes the coding itself.
        Some(BodyForm::Text | BodyForm::Markdown | BodyForm::Json) => Coding::Kept,
    };
    let content = content(&loaded.record, coding)?;
    let bytes = match form {
        Some(form) => text(&wanted.url, &content, form, (Extent::Main, limits.decoded_bytes_max))?.text.into_bytes(),
        None => [content.head, &content.body].concat(),
    };
    if bytes.len() > limits.answer_bytes_max { Err(StoredError::TooLong) } else { Ok(bytes) }
}

/// Returns the document that scripts made of a page, for a form without what a browser with scripts
/// does not show; `None` if it was not rendered.
///
/// # Errors
/// It is damaged.
pub fn load_dom(
    loaded: &LoadedRecord,
    url: &CrawlUrl,
    chosen: &ChosenAnswer<'_>,
    form: Option<BodyForm>,
) -> Result<Option<Vec<u8>>, StoredError> {
    let dom = loaded.dom(url).map_err(|damage| StoredError::Record {
        object: chosen.answer.record.object.clone(),
        offset: chosen.answer.record.offset,
        damage,
    })?;
    Ok(dom.map(|dom| if form.is_some() { without_noscript(&dom) } else { dom }))
}

/// Returns the picture of a page, as PNG.
///
/// # Errors
/// There is none, or it is damaged.
pub fn load_screenshot(
    loaded: &LoadedRecord,
    url: &CrawlUrl,
    chosen: &ChosenAnswer<'_>,
) -> Result<Vec<u8>, StoredError> {
    let screenshot = loaded.screenshot(url).map_err(|damage| StoredError::Record {
        object: chosen.answer.record.object.clone(),
        offset: chosen.answer.record.offset,
        damage,
    })?;
    screenshot.ok_or(StoredError::NoScreenshot)
}

/// Returns the visits that made a request: a reparse makes none.
#[must_use]
pub fn with_requests(mut visits: Vec<LogRow>) -> Vec<LogRow> {
    visits.retain(|visit| visit.crawl_type != CrawlType::Reparse);
    visits
}
