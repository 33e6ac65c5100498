//! The tool that finds passages: of the pages that a search finds, those that fit a question best.

use dragline_report::{Chunk, ChunkLength, chunks};
use futures_util::{StreamExt as _, stream};
use serde_json::{Map, Value, json};

use super::answer::{Answer, ToolError};
use super::api::{Calls, Target};
use super::arguments::{Name, PageFormat, PassagesArguments};
use super::read::{PageText, read_page};
use super::words::{Candidate, Question};

/// The most pages that are cut into passages.
const PAGES_MAX: usize = 8;

/// The pages that are read at the same time.
const PAGES_AT_ONCE: usize = 3;

/// A passage with its page.
struct Passage {
    fields: Map<String, Value>,
    headings: String,
    text: String,
}

/// Finds the passages that fit a question best.
pub(super) async fn passages(calls: Calls<'_>, arguments: PassagesArguments) -> Result<Answer, ToolError> {
    let PassagesArguments { crawl, question, limit } = arguments;
    let words = Question::new(question.as_str());
    if words.is_empty() {
        return Err(ToolError::new("the question has no words"));
    }
    let search = Target::new(format!("/crawls/{crawl}/search"));
    let search = search.with("q", Some(words.query())).with("per_page", Some(PAGES_MAX));
    let mut found = calls.read(search).await?;
    let hits = found["results"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let pages = hits.len();
    let reading = stream::iter(hits).map(|hit| passages_of_page(calls, &crawl, hit)).buffered(PAGES_AT_ONCE);
    let all: Vec<Passage> = reading.collect::<Vec<_>>().await.into_iter().flatten().collect();

    let candidates: Vec<_> =
        all.iter().map(|passage| Candidate { headings: &passage.headings, text: &passage.text }).collect();
    let mut scored: Vec<_> =
        words.scores(&candidates).into_iter().zip(&all).filter(|(score, _)| *score > 0.0).collect();
    // Of equal ones, that of the better page comes first.
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let rows: Vec<Value> = scored
        .into_iter()
        .take(limit.number())
        .map(|(score, passage)| {
            let mut row = passage.fields.clone();
            row.insert("headings".to_owned(), passage.headings.as_str().into());
            row.insert("text".to_owned(), passage.text.as_str().into());
            row.insert("score".to_owned(), json!((score * 1_000.0).round() / 1_000.0));
            Value::from(row)
        })
        .collect();
    let summary = format!("`{crawl}`: the best {} of {} passages of {pages} pages", rows.len(), all.len());
    Answer::new(summary).with("crawl", crawl.to_string()).with_rows(&rows)
}

/// Returns the passages of a page that a search found: what the search shows of it, if it has no
/// main part.
async fn passages_of_page(calls: Calls<'_>, crawl: &Name, hit: Value) -> Vec<Passage> {
    let text = |key: &str| hit[key].as_str().unwrap_or_default().to_owned();
    let mut fields = Map::new();
    fields.insert("url".to_owned(), hit["url"].clone());
    fields.insert("title".to_owned(), hit["title"].clone());
    match read_page(calls, crawl, &text("url"), (None, PageFormat::Markdown)).await {
        Ok(PageText { text, fields: page, .. }) => {
            for name in ["iteration", "at"] {
                fields.extend(page.get(name).map(|value| (name.to_owned(), value.clone())));
            }
            let passage = |Chunk { number, headings, begins_at, digest, text, .. }: Chunk| {
                let mut fields = fields.clone();
                fields.insert("passage".to_owned(), number.into());
                fields.insert("begins_at".to_owned(), begins_at.into());
                fields.insert("digest".to_owned(), format!("sha256:{digest}").into());
                Passage { fields, headings: headings.join(" > "), text }
            };
            chunks(&text, ChunkLength::default()).into_iter().map(passage).collect()
        }
        Err(_) => {
            fields.insert("day".to_owned(), hit["day"].clone());
            vec![Passage { fields, headings: text("title"), text: text("snippet") }]
        }
    }
}
