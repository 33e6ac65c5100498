//! `dragline schema`: shows what the pages of a site have in common, and how that changed.

use std::io::{self, Write};
use std::ops::ControlFlow;

use dragline_domain::ids::Iteration;
use dragline_domain::shown::one_line;
use dragline_ports::reader::{Cursor, DocumentRow, Filter, Reader, each_row};
use dragline_schema::{LearnedSchema, drift, drift_text, json_schema, sql, text, yaml};

use crate::args::{CrawlSource, SchemaArgs, SchemaForm};
use crate::crawl_handle::{self, CrawlHandle};
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::terminal::{Console, safe_lines, unless_closed, write_json};

/// The number of documents per read.
const BATCH_ROWS: usize = 100;

/// The maximum number of types in a hint.
const TYPES_NAMED_MAX: usize = 20;

/// The longest type name in a message, in characters.
const NAME_CHARS_MAX: usize = 80;

/// Prints the learned schema on standard output.
///
/// # Errors
/// There is no such crawl, iteration or type, it cannot be read, or the answer cannot be written.
pub(crate) async fn schema(args: &SchemaArgs, console: &Console) -> Result<Exit, Failure> {
    match args.of.which()? {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => show(&found, args, console).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => show(&crate::stack::find(crawl, stack).await?, args, console).await,
    }
}

async fn show(found: &CrawlHandle<impl Reader>, args: &SchemaArgs, console: &Console) -> Result<Exit, Failure> {
    let mut answer = Vec::new();
    let written = match args.since {
        Some(since) => {
            let latest = found.whole_iteration(None).await?.number;
            let before = learn(found, Some(since)).await?;
            let now = learn(found, Some(latest)).await?;
            let drifts = drift(&before, &now);
            if drifts.is_empty() {
                console.say(&format!("nothing drifted between iteration {since} and {latest}"));
            }
            match args.form() {
                SchemaForm::Json => drifts.iter().try_for_each(|drift| write_json(&mut answer, drift)),
                _ => answer.write_all(safe_lines(&drift_text(&drifts)).as_bytes()),
            }
        }
        None => write(&mut answer, &learn(found, args.iteration).await?, args.form())?,
    };
    written.and_then(|()| unless_closed(io::stdout().write_all(&answer))).map_err(while_writing)?;
    Ok(Exit::Done)
}

/// Writes the learned schema. The outer error means that there is no such type.
fn write(answer: &mut Vec<u8>, learned: &LearnedSchema, form: SchemaForm<'_>) -> Result<io::Result<()>, Failure> {
    Ok(match form {
        SchemaForm::Text => answer.write_all(safe_lines(&text(learned)).as_bytes()),
        SchemaForm::Yaml => answer.write_all(yaml(learned).as_bytes()),
        SchemaForm::Sql => answer.write_all(sql(learned).as_bytes()),
        SchemaForm::Json => write_json(answer, learned),
        SchemaForm::JsonSchema(wanted) => {
            write_json(answer, &json_schema(learned, wanted).ok_or_else(|| no_type(learned, wanted))?)
        }
    })
}

fn no_type(learned: &LearnedSchema, wanted: &str) -> Failure {
    let types: Vec<_> = learned.types().keys().take(TYPES_NAMED_MAX).map(String::as_str).collect();
    let hint = match types.as_slice() {
        [] => "the pages have no items at all".to_owned(),
        types => format!("these are there: {}", types.join(", ")),
    };
    Failure::new(format!("there are no items of the type `{}`", one_line(wanted, NAME_CHARS_MAX))).with_hint(hint)
}

/// Learns from the documents that an iteration stored, or from those of the current site.
async fn learn(found: &CrawlHandle<impl Reader>, iteration: Option<Iteration>) -> Result<LearnedSchema, Failure> {
    found.whole_iteration(iteration).await?;
    let filter = &iteration.map_or_else(Filter::default, Filter::by_iteration);
    let reader = &found.reader;
    let read = |after: Option<Cursor>| async move {
        match iteration {
            None => reader.shown_documents(filter, after.as_ref(), BATCH_ROWS).await,
            Some(_) => reader.documents(filter, after.as_ref(), BATCH_ROWS).await,
        }
    };
    let mut learned = LearnedSchema::default();
    let take = |row: DocumentRow| {
        learned.learn(&row.document);
        ControlFlow::Continue(())
    };
    each_row(read, take).await.map_err(|error| found.read_error(error))?;
    Ok(learned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_type_is_reported_with_the_existing_ones() {
        let mut answer = Vec::new();
        let error = write(&mut answer, &LearnedSchema::default(), SchemaForm::JsonSchema("Pro\u{1b}duct")).unwrap_err();
        assert_eq!(error.message, "there are no items of the type `Pro\\u{1b}duct`");
        assert_eq!(error.hints, ["the pages have no items at all"]);
        assert!(answer.is_empty());
    }

    #[test]
    fn each_form_is_written() {
        for (form, expected, why) in [
            (SchemaForm::Text, "0 pages\n", "a table for people"),
            (SchemaForm::Yaml, "items: []\n", "a definition"),
            (SchemaForm::Sql, "", "there are no tables"),
            (SchemaForm::Json, "{\"version\":1,", "all of it"),
        ] {
            let mut answer = Vec::new();
            write(&mut answer, &LearnedSchema::default(), form).unwrap().unwrap();
            assert!(String::from_utf8(answer).unwrap().starts_with(expected), "{why}");
        }
    }
}
