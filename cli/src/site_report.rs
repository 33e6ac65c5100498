//! `dragline report`: writes the report for a site's owner.

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use dragline_local::SystemClock;
use dragline_ports::clock::Clock as _;
use dragline_ports::reader::Reader;
use dragline_report::site::{Report, ReportError, ReportStamp, html, markdown, report};

use crate::args::{CrawlSource, ReportArgs, ReportFormat};
use crate::crawl_handle::{self, CrawlHandle};
use crate::derived_files;
use crate::error::{CliError, WRITING, while_doing};
use crate::exit::Exit;
use crate::output_file;
use crate::terminal::{Console, count, unless_closed};

/// Why a report is not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportCommandError {
    /// The file's extension does not tell the format.
    #[error("{}: the name does not tell the format", .0.display())]
    WhichFormat(PathBuf),
    /// HTML cannot be printed on a terminal.
    #[error("a page is not shown on a terminal")]
    NotText,
    /// The file cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
}

impl ReportCommandError {
    /// Returns hints on how to fix it.
    pub(crate) fn hints(&self) -> Vec<String> {
        match self {
            Self::WhichFormat(_) => {
                vec!["name the file report.html, or say `--format html`, `md` or `json`".to_owned()]
            }
            Self::NotText => vec!["write it to a file: `dragline report -o report.html`".to_owned()],
            Self::File { .. } => Vec::new(),
        }
    }
}

/// Writes a report. The exit code tells whether it has any of the findings in `--fail-on`.
///
/// # Errors
/// There is no such crawl, it cannot be read, or the report cannot be written.
pub(crate) async fn write(args: &ReportArgs, console: &Console) -> Result<Exit, CliError> {
    let format = check_format(args)?;
    let report = match args.of.which()? {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => make(&found, args, console).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => make(&crate::stack::find(crawl, stack).await?, args, console).await,
    }?;
    let text = match format {
        ReportFormat::Html => html(&report),
        ReportFormat::Md => markdown(&report),
        ReportFormat::Json => report.to_json() + "\n",
    };
    match &args.output {
        Some(path) => {
            replace_file(path, &text).map_err(|source| ReportCommandError::File { path: path.clone(), source })?;
        }
        None => {
            unless_closed(io::stdout().write_all(text.as_bytes())).map_err(while_doing(WRITING))?;
        }
    }
    Ok(exit_for_findings(&report, args, console))
}

/// Refuses contradictory arguments before reading anything.
fn check_format(args: &ReportArgs) -> Result<ReportFormat, ReportCommandError> {
    match (args.format(), &args.output) {
        (Some(ReportFormat::Html), None) if io::stdout().is_terminal() => Err(ReportCommandError::NotText),
        (Some(format), _) => Ok(format),
        (None, path) => Err(ReportCommandError::WhichFormat(path.clone().unwrap_or_default())),
    }
}

async fn make(found: &CrawlHandle<impl Reader>, args: &ReportArgs, console: &Console) -> Result<Report, CliError> {
    let forgotten = derived_files::times_forgotten(found).await?;
    let iteration = found.whole_iteration(args.iteration).await?;
    let graph = derived_files::graph(found, console).await?;
    let making = ReportStamp {
        program: concat!("dragline ", env!("CARGO_PKG_VERSION")).to_owned(),
        at: SystemClock::new().now(),
    };
    let report = report(&found.reader, &graph, iteration, making).await.map_err(|error| match error {
        ReportError::Reader(error) => found.read_error(error),
        ReportError::Graph(error) => CliError::from(error),
    })?;
    derived_files::check_forgotten(found, forgotten).await?;
    Ok(report)
}

/// Replaces a file atomically.
fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    // The path is not a regular file, but for example a pipe or a device.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, text);
    }
    let mut file = output_file::beside(path)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn exit_for_findings(report: &Report, args: &ReportArgs, console: &Console) -> Exit {
    let of_kind = |id: &String| report.findings.iter().find(|finding| finding.id == id && finding.count > 0);
    let failed: Vec<_> = args.fail_on.iter().filter_map(of_kind).collect();
    if let Some(path) = &args.output {
        let found = report.findings.iter().filter(|finding| finding.count > 0).count() as u64;
        console.say(&format!(
            "wrote {}: {} of {} kinds of findings were found",
            path.display(),
            count(found),
            report.findings.len()
        ));
    }
    for finding in &failed {
        console.say(&format!("{}: {} {}", finding.title, count(finding.count), finding.of));
    }
    if failed.is_empty() { Exit::Done } else { Exit::Findings }
}
