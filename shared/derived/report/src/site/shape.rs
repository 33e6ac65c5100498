//! What a report holds. The field names are those of its JSON (`docs/report.md`).
//!
//! Everything that is shown is a figure, a chart or a table, so that a page, Markdown or a program can show all of it without knowing what it is about.

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

/// Changes with the shape.
pub const FORMAT: u32 = 1;

/// A report about a crawled site.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// The crawl's name.
    pub crawl: String,
    /// The iteration whose log it tells of. Findings are of the site as it is now.
    pub iteration: u32,
    /// When the report was made, ISO 8601 in UTC.
    pub made_at: String,
    /// What made it, with its version.
    pub program: String,
    /// When the iteration began.
    pub began_at: String,
    /// When it was closed; `None` while it goes on.
    pub ended_at: Option<String>,
    /// Where the crawl starts, up to twenty URLs.
    pub starts: Vec<String>,
    /// What the findings do not cover, in words; empty if they cover all of it.
    pub not_checked: Vec<String>,
    /// The numbers that matter most.
    pub figures: Vec<Figure>,
    /// What is best seen.
    pub charts: Vec<Chart>,
    /// What an owner may want to change, also where nothing was found.
    pub findings: Vec<Finding>,
    /// Further tables.
    pub tables: Vec<Listing>,
    /// The pages by host and path.
    pub tree: Branch,
    /// The parts of the site, and how they link to each other.
    pub sections: Sections,
}

impl Report {
    /// Returns the report as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Names are texts, and numbers are finite, so it cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// How a value is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A number of things.
    Count,
    /// A number that is a name, such as a status code.
    Number,
    /// A size.
    Bytes,
    /// A duration in milliseconds.
    Ms,
    /// A rate.
    PerSecond,
    /// A time, ISO 8601 in UTC.
    Time,
    /// A URL.
    Url,
    /// Several URLs.
    Urls,
    /// A text.
    Text,
}

/// How good or bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shade {
    /// As it should be.
    Good,
    /// Worth knowing.
    Notice,
    /// Worth a look.
    Warning,
    /// Wrong.
    Error,
    /// Neither good nor bad.
    Neutral,
}

/// A number with its name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its name for programs.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The number, or that it is not known.
    pub value: Cell,
    /// What it counts.
    pub unit: Unit,
}

/// Numbers that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// Its name for programs.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it shows, in a sentence.
    pub about: &'static str,
    /// What its numbers count.
    pub unit: Unit,
    /// The numbers.
    #[serde(flatten)]
    pub kind: ChartKind,
}

/// The numbers of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ChartKind {
    /// Several series over the same times.
    OverTime {
        /// When the first step begins.
        start_at: String,
        /// How long each step is.
        step_ms: u64,
        /// What is counted in each step.
        series: Vec<Series>,
    },
    /// One number each.
    Bars {
        /// The numbers, in the order in which they are shown.
        bars: Vec<Bar>,
    },
}

/// What is counted in each step of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// What is counted.
    pub title: &'static str,
    /// How good that is.
    pub shade: Shade,
    /// The number of each step.
    pub values: Vec<u64>,
}

/// A number of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// What is counted.
    pub title: String,
    /// The number.
    pub value: u64,
    /// How good that is.
    pub shade: Shade,
}

/// Something that an owner may want to change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Its name for programs, as `--fail-on` takes it.
    pub id: &'static str,
    /// What it is about: `links`, `content` or `indexing`.
    pub group: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it means, and what to do.
    pub about: &'static str,
    /// How bad it is, if there is any.
    pub severity: Shade,
    /// How much there is of it.
    pub count: u64,
    /// What is counted: `page` if there is one, `pages` otherwise.
    pub of: &'static str,
    /// The first of it.
    #[serde(flatten)]
    pub table: Table,
}

/// A table with its name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listing {
    /// Its name for programs.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it shows, in a sentence.
    pub about: &'static str,
    /// The rows.
    #[serde(flatten)]
    pub table: Table,
}

/// Rows under columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The columns.
    pub columns: &'static [Column],
    /// The first rows, each with a value for each column.
    pub rows: Vec<Vec<Cell>>,
    /// How many rows there are.
    pub rows_all: u64,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its name for programs.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What its values are.
    pub unit: Unit,
}

/// A value of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// Not known, or there is none.
    Nothing,
    /// A whole number.
    Whole(u64),
    /// Another number.
    Number(f64),
    /// A text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
}

impl Serialize for Table {
    /// Each row becomes an object with the columns' names.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Rows<'t>(&'t Table);
        impl Serialize for Rows<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.0.rows.iter().map(|row| Object(self.0.columns, row)))
            }
        }
        struct Object<'t>(&'static [Column], &'t [Cell]);
        impl Serialize for Object<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|column| column.id).zip(self.1))
            }
        }
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("columns", self.columns)?;
        map.serialize_entry("rows", &Rows(self))?;
        map.serialize_entry("rows_all", &self.rows_all)?;
        map.end()
    }
}

/// The pages below a place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Branch {
    /// The last part of the place: a host, or a part of a path.
    pub title: String,
    /// The pages there and below.
    pub pages: u64,
    /// Their size.
    pub bytes: u64,
    /// The places below, the largest first.
    pub children: Vec<Branch>,
    /// How many places below were left out, as they are the smallest.
    pub more: u64,
}

/// The parts of a site, and the links between them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sections {
    /// The parts, the largest first.
    pub nodes: Vec<Section>,
    /// The links from one part to another.
    pub edges: Vec<SectionLinks>,
}

/// A part of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Its place: the beginning of the path, after the host if there are several.
    pub title: String,
    /// Its pages.
    pub pages: u64,
}

/// The links from one part to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SectionLinks {
    /// The number of the first part in the list.
    pub from: usize,
    /// That of the second.
    pub to: usize,
    /// How many there are.
    pub links: u64,
}
