//! `dragline schema`: the learned types of items and kinds of pages.

use clap::Args;
use dragline_domain::ids::Iteration;

use super::read::CrawlSourceArgs;
use super::values;

/// Show which items the pages of a site have, with which fields
#[derive(Debug, Args)]
#[command(
    long_about = "Show which items the pages of a site have, with which fields, and on which kinds of pages (docs/reference/schema.md). \
                  This reads the documents as they are now, or those that an iteration put.\n\n\
                  With --since, show what differs between the documents that an iteration put and those of the latest: \
                  fields that are gone or new, values of another kind, types that pages no longer have.",
    after_help = "\
Examples:
  dragline schema
  dragline schema --yaml >> crawl.yaml
  dragline schema --json-schema Product > product.schema.json
  dragline schema --sql > tables.sql
  dragline schema --since 3"
)]
pub(crate) struct SchemaArgs {
    #[command(flatten)]
    pub(crate) of: CrawlSourceArgs,
    /// Read the documents that this iteration put, counted from 1 [default: those of the site as it
    /// is now]
    #[arg(long, value_name = "N", value_parser = values::iteration(), conflicts_with = "since")]
    pub(crate) iteration: Option<Iteration>,
    /// Show what differs between this iteration and the latest
    #[arg(long, value_name = "N", value_parser = values::iteration())]
    pub(crate) since: Option<Iteration>,
    #[command(flatten)]
    form: FormArgs,
}

/// In which form.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct FormArgs {
    /// Print the section `items` of a definition to begin with
    #[arg(long, conflicts_with = "since")]
    yaml: bool,
    /// Print a JSON Schema of the exported items of this type, such as Product
    #[arg(long, value_name = "TYPE", conflicts_with = "since")]
    json_schema: Option<String>,
    /// Print CREATE TABLE statements for the exported items
    #[arg(long, conflicts_with = "since")]
    sql: bool,
    /// Print everything as one JSON object; with --since, one for each difference
    #[arg(long)]
    json: bool,
}

/// The form of the learned schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaForm<'a> {
    /// Tables for people.
    Text,
    /// The beginning of a definition.
    Yaml,
    /// The JSON Schema of a type.
    JsonSchema(&'a str),
    /// Tables of SQL.
    Sql,
    /// JSON.
    Json,
}

impl SchemaArgs {
    /// Returns the form of the answer.
    pub(crate) fn form(&self) -> SchemaForm<'_> {
        match &self.form {
            FormArgs { json_schema: Some(item_type), .. } => SchemaForm::JsonSchema(item_type),
            FormArgs { yaml: true, .. } => SchemaForm::Yaml,
            FormArgs { sql: true, .. } => SchemaForm::Sql,
            FormArgs { json: true, .. } => SchemaForm::Json,
            FormArgs { .. } => SchemaForm::Text,
        }
    }
}
