//! `dragline report`: writes the report for a site's owner.

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use dragline_local::SystemClock;
use dragline_ports::clock::Clock as _;
use dragline_ports::reader::Reader;
use dragline_report::site::{
    AcceptedFindings, Report, ReportError, ReportExtent, ReportStamp, RowsKept, html, junit, markdown, report, sarif,
};

use crate::args::{CrawlSource, ReportArgs, ReportFormat};
use crate::crawl_handle::{self, CrawlHandle};
use crate::derived_files;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::output_file::{self, cannot_write};
use crate::terminal::{Console, count, unless_closed};

/// Writes a report. The exit code tells whether it has any of the findings in `--fail-on`.
///
/// # Errors
/// There is no such crawl, it cannot be read, or the report cannot be written.
pub(crate) async fn write(args: &ReportArgs, console: &Console) -> Result<Exit, Failure> {
    let format = check_format(args)?;
    let extent = extent(args, format)?;
    let report = match args.of.which()? {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => make(&found, (args, &extent), console).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => {
            make(&crate::stack::find(crawl, stack).await?, (args, &extent), console).await
        }
    }?;
    let text = match format {
        ReportFormat::Html => html(&report),
        ReportFormat::Md => markdown(&report),
        ReportFormat::Json => report.to_json() + "\n",
        ReportFormat::Junit => junit(&report),
        ReportFormat::Sarif => sarif(&report),
    };
    match &args.output {
        Some(path) => replace_file(path, &text).map_err(cannot_write(path))?,
        None => {
            unless_closed(io::stdout().write_all(text.as_bytes())).map_err(while_writing)?;
        }
    }
    Ok(exit_for_findings(&report, args, console))
}

/// Refuses contradictory arguments before reading anything.
fn check_format(args: &ReportArgs) -> Result<ReportFormat, Failure> {
    match (args.format(), &args.output) {
        (Some(ReportFormat::Html), None) if io::stdout().is_terminal() => {
            Err(Failure::new("a page is not shown on a terminal")
                .with_hint("write it to a file: `dragline report -o report.html`"))
        }
        (Some(format), _) => Ok(format),
        (None, path) => {
            let path = path.as_deref().unwrap_or(Path::new(""));
            Err(Failure::new(format!("{}: the name does not tell the format", path.display()))
                .with_hint("name the file report.html, or say `--format html`, `md`, `json`, `junit` or `sarif`"))
        }
    }
}

/// Reads what is accepted, before anything else is.
fn extent(args: &ReportArgs, format: ReportFormat) -> Result<ReportExtent, Failure> {
    let mut accepted = AcceptedFindings::default();
    if let Some(path) = &args.baseline {
        let added = accepted.add_report(&read(path)?);
        added.map_err(|error| {
            Failure::new(format!("{}: {error}", path.display()))
                .with_hint("write one with `dragline report --all -o baseline.json`")
        })?;
    }
    if let Some(path) = &args.ignore {
        let added = accepted.add_list(&read(path)?);
        added.map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    }
    let rows = match format {
        ReportFormat::Junit | ReportFormat::Sarif => RowsKept::All,
        ReportFormat::Json if args.all => RowsKept::All,
        _ if args.all => {
            let error = Failure::new("`--all` is for JSON; a page and Markdown have the first rows");
            return Err(error.with_hint("say `--format json`, or name the file report.json"));
        }
        _ => RowsKept::First,
    };
    Ok(ReportExtent { accepted, rows })
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::new(format!("{} cannot be read: {error}", path.display())))
}

async fn make(
    found: &CrawlHandle<impl Reader>,
    (args, extent): (&ReportArgs, &ReportExtent),
    console: &Console,
) -> Result<Report, Failure> {
    let forgotten = derived_files::times_forgotten(found).await?;
    let iteration = found.whole_iteration(args.iteration).await?;
    let graph = derived_files::graph(found, console).await?;
    let making = ReportStamp {
        program: concat!("dragline ", env!("CARGO_PKG_VERSION")).to_owned(),
        at: SystemClock::new().now(),
    };
    let report = report(&found.reader, &graph, iteration, (making, extent)).await.map_err(|error| match error {
        ReportError::Reader(error) => found.read_error(error),
        ReportError::Graph(error) => error.into(),
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
