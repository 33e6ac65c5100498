//! The contents of a report. The field names are those of its JSON (`docs/reference/report.md`).
//!
//! Everything in it is a figure, a chart or a table, so that a page, Markdown or a program can show
//! it without knowing its meaning.

use dragline_domain::shown::count;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

/// The version of the format.
pub const FORMAT: u32 = 1;

/// A report about a crawled site.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// The crawl's name.
    pub crawl: String,
    /// The iteration of the log. Findings are of the current site.
    pub iteration: u32,
    /// When the report was made, ISO 8601 in UTC.
    pub made_at: String,
    /// The program that made it, and its version.
    pub program: String,
    /// When the iteration began.
    pub began_at: String,
    /// When it was closed; `None` while it is open.
    pub ended_at: Option<String>,
    /// The start URLs of the crawl, up to twenty.
    pub starts: Vec<String>,
    /// Notes on what the findings do not cover; empty if they cover everything.
    pub not_checked: Vec<String>,
    /// The most important numbers.
    pub figures: Vec<Figure>,
    /// The charts.
    pub charts: Vec<Chart>,
    /// The findings, including kinds without any.
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
        // It consists of texts and finite numbers, so it cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A number of things.
    Count,
    /// A number used as a name, such as a status code.
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
    /// The number; [`Cell::Nothing`] if it is not known.
    pub value: Cell,
    /// Its unit.
    pub unit: Unit,
}

/// A chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// Its name for programs.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// A sentence about it.
    pub about: &'static str,
    /// The unit of its numbers.
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
        /// The start of the first step, ISO 8601 in UTC.
        start_at: String,
        /// The length of each step, in milliseconds.
        step_ms: u64,
        /// The series.
        series: Vec<Series>,
    },
    /// A bar for each number.
    Bars {
        /// The bars, in order.
        bars: Vec<Bar>,
    },
}

/// A number over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Its name.
    pub title: &'static str,
    /// How good it is.
    pub shade: Shade,
    /// The number of each step.
    pub values: Vec<u64>,
}

/// A bar of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// Its name.
    pub title: String,
    /// The number.
    pub value: u64,
    /// How good it is.
    pub shade: Shade,
}

/// A kind of problem that an owner may want to fix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Its name for programs, as in `--fail-on`.
    pub id: &'static str,
    /// Its subject: `links`, `content` or `indexing`.
    pub group: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it means, and what to do about it.
    pub about: &'static str,
    /// How bad it is, if there are any.
    pub severity: Shade,
    /// How many there are.
    pub count: u64,
    /// The counted thing: `page` if there is one, `pages` otherwise.
    pub of: &'static str,
    /// The first examples.
    #[serde(flatten)]
    pub table: Table,
}

/// A named table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listing {
    /// Its name for programs.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// A sentence about it.
    pub about: &'static str,
    /// The rows.
    #[serde(flatten)]
    pub table: Table,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The columns.
    pub columns: &'static [Column],
    /// The first rows, each with a value for each column.
    pub rows: Vec<Vec<Cell>>,
    /// The number of all rows.
    pub rows_all: u64,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its name for programs.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The unit of its values.
    pub unit: Unit,
}

/// A value of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// Not known, or none.
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

impl Cell {
    /// Returns a value for people. `quote` is what its form does with texts of pages.
    pub(super) fn shown(&self, unit: Unit, quote: impl Fn(&str) -> String, between: &str) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Whole(number) if unit == Unit::Number => number.to_string(),
            Self::Whole(number) if unit == Unit::Bytes => format!("{} B", count(*number)),
            Self::Whole(number) if unit == Unit::Ms => format!("{} ms", count(*number)),
            Self::Whole(number) => count(*number),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => quote(text),
            Self::Texts(texts) => texts.iter().map(|text| quote(text)).collect::<Vec<_>>().join(between),
        }
    }
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

/// The pages of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Branch {
    /// The last part of its path, or the host.
    pub title: String,
    /// The pages in it and below.
    pub pages: u64,
    /// Their size, in bytes.
    pub bytes: u64,
    /// The folders in it, the largest first.
    pub children: Vec<Branch>,
    /// The number of smaller folders that were left out.
    pub more: u64,
}

/// The sections of a site, and the links between them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sections {
    /// The sections, the largest first.
    pub nodes: Vec<Section>,
    /// The links from one section to another.
    pub edges: Vec<SectionLinks>,
}

/// A section of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Its path prefix, after the host if there are several hosts.
    pub title: String,
    /// The number of its pages.
    pub pages: u64,
}

/// The links from one section to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SectionLinks {
    /// The index of the first section in the list.
    pub from: usize,
    /// The index of the second.
    pub to: usize,
    /// The number of links.
    pub links: u64,
}
