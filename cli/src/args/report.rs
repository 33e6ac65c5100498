//! `dragline report`: the report for a site's owner.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use dragline_domain::ids::Iteration;
use dragline_report::site::Kind;

use super::read::CrawlSourceArgs;
use super::values;

/// Report on a crawled site: broken links, titles, duplicates, speed and more
#[derive(Debug, Args)]
#[command(
    long_about = "Report on a crawled site (docs/reference/report.md): what was crawled and how, and what its owner may want to change.\n\n\
                  As HTML it is one file that needs no network, to open in a browser, print or send. As Markdown it is for chats and pull requests, as JSON \
                  for programs, as JUnit's XML and SARIF for CI systems and code hosts, with all findings. Tables have the first rows; the numbers of all are \
                  exact.",
    after_help = "\
Examples:
  dragline report -o report.html
  dragline report                                  as Markdown, on standard output
  dragline report --format json | jq '.findings[] | {id, count}'
  dragline report -o report.html --fail-on broken,chains
  dragline report --all -o baseline.json           what is known today
  dragline report --baseline baseline.json --fail-on chains,broken
                                                   only what is new since
  dragline report -o report.sarif --ignore known.txt"
)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) of: CrawlSourceArgs,
    /// The iteration whose log is told of, counted from 1; findings are of the site as it is now
    /// [default: the latest]
    #[arg(long, value_name = "N", value_parser = values::iteration())]
    pub(crate) iteration: Option<Iteration>,
    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The format [default: by the file's name; Markdown without one]
    #[arg(long)]
    format: Option<ReportFormat>,
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Leave out the findings of an earlier report, which `--all --format json` wrote
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Leave out the findings that a file lists: a line for each, with a finding or `*`, a space
    /// and URLs, in which `*` stands for anything
    #[arg(long, value_name = "FILE")]
    pub(crate) ignore: Option<PathBuf>,
    /// All rows of findings in JSON, not the first 200
    #[arg(long)]
    pub(crate) all: bool,
    /// Exit with code 5 if there are any of these findings
    #[arg(long, value_name = "FINDINGS", value_delimiter = ',', value_parser = PossibleValuesParser::new(Kind::all().map(|kind| kind.id)))]
    pub(crate) fail_on: Vec<String>,
}

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A page for browsers
    Html,
    /// Markdown
    Md,
    /// JSON
    Json,
    /// JUnit's XML: a test for each kind of finding
    Junit,
    /// SARIF 2.1.0: a result for each finding
    Sarif,
}

impl ReportArgs {
    /// Returns the requested format; `None` if the file's extension does not tell it.
    pub(crate) fn format(&self) -> Option<ReportFormat> {
        let asked = if self.json { Some(ReportFormat::Json) } else { self.format };
        asked.or_else(|| self.output.as_deref().map_or(Some(ReportFormat::Md), ReportFormat::from_file_name))
    }
}

impl ReportFormat {
    fn from_file_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        let known = [
            ("html", Self::Html),
            ("htm", Self::Html),
            ("md", Self::Md),
            ("markdown", Self::Md),
            ("json", Self::Json),
            ("xml", Self::Junit),
            ("sarif", Self::Sarif),
        ];
        known.into_iter().find(|(name, _)| extension.eq_ignore_ascii_case(name)).map(|(_, format)| format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_tells_its_format() {
        for (name, expected, why) in [
            ("report.html", Some(ReportFormat::Html), "a page"),
            ("out/Report.HTM", Some(ReportFormat::Html), "another spelling"),
            ("r.json", Some(ReportFormat::Json), "for programs"),
            ("a.b.md", Some(ReportFormat::Md), "the last extension counts"),
            ("junit.xml", Some(ReportFormat::Junit), "for CI systems"),
            ("a.sarif", Some(ReportFormat::Sarif), "for code hosts"),
            ("report", None, "no extension"),
            ("report.pdf", None, "nothing that is written"),
        ] {
            assert_eq!(ReportFormat::from_file_name(Path::new(name)), expected, "{why}");
        }
    }
}
