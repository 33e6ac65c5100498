//! The package: a ZIP file with the WARC files, their index, the pages, and a list of the files
//! with digests.

use std::io::{BufWriter, Seek, Write};
use std::ops::ControlFlow;

use data_encoding::HEXLOWER;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::archive::Archive;
use dragline_ports::reader::{Cursor, Filter, PageRow, Reader, SeenPageRow, each_row};
use jiff::Timestamp;
use serde::Serialize;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::captures::Captures;
use crate::cdx::{Blocks, INDEX};
use crate::error::ArchiveError;
use crate::merge::{CopyTotals, Files, Plan, copy};
use crate::selection::SelectedVisits;

const WACZ_VERSION: &str = "1.1.1";

/// The number of pages per read.
const BATCH_ROWS: usize = 200;

/// The metadata of an archive, in a package and in its WARC files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About<'a> {
    /// The crawl.
    pub crawl: &'a CrawlId,
    /// When the archive is written.
    pub created: Timestamp,
    /// The name and version of the program.
    pub software: &'a str,
}

/// Writes a WACZ file with a crawl's archive and its pages with their texts: the current pages, or
/// those of the selected iteration.
///
/// # Errors
/// The crawl cannot be read, an object is missing or damaged, or `file` cannot be written.
pub async fn write_wacz(
    (reader, archive): (&impl Reader, &impl Archive),
    plan: &Plan<'_>,
    file: impl Write + Seek,
) -> Result<CopyTotals, ArchiveError> {
    let about = &plan.about;
    let (captures, chosen) = (Captures::new()?, SelectedVisits::for_selection(&plan.selection)?);
    let mut package = Package::new(file);
    let copied = copy((reader, archive), plan, &captures, chosen.as_ref(), &mut package).await?;

    package.begin_stored(&format!("indexes/{INDEX}"))?;
    let list = Blocks::write(&captures, |bytes| package.put(bytes))?;
    package.begin_stored("indexes/index.idx")?;
    package.put(list.as_bytes())?;

    let mut main_page = None;
    // Replay programs show the first list, and also search the second.
    for (path, title, depths) in [
        ("pages/pages.jsonl", "Start pages", PageList::Start),
        ("pages/extraPages.jsonl", "Other pages", PageList::Further),
    ] {
        package.begin(path)?;
        package.put_line(&PagesHead { format: "json-pages-1.0", id: depths.id(), title, has_text: true })?;
        let lists = Lists { depths, iteration: plan.selection.iteration, chosen: chosen.as_ref() };
        lists.write(reader, &mut package, &mut main_page).await?;
    }

    let resources = package.end();
    let (main_page_url, main_page_date) = main_page.unzip();
    let title = format!("The crawl {}", about.crawl);
    let description = DataPackage {
        profile: "data-package",
        wacz_version: WACZ_VERSION,
        title: &title,
        software: about.software,
        created: about.created.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        main_page_url,
        main_page_date,
        resources: &resources,
    };
    let description = serde_json::to_vec_pretty(&description)?;
    package.begin("datapackage.json")?;
    package.put(&description)?;
    package.begin("datapackage-digest.json")?;
    let digest = format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(&description)));
    package.put(&serde_json::to_vec_pretty(&PackageDigest { path: "datapackage.json", hash: digest })?)?;
    package.zip.finish()?.flush()?;
    Ok(copied)
}

/// The pages of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageList {
    /// Those at the start of the crawl.
    Start,
    /// All others.
    Further,
}

impl PageList {
    const fn id(self) -> &'static str {
        match self {
            Self::Start => "pages",
            Self::Further => "extraPages",
        }
    }

    const fn has(self, depth: u32) -> bool {
        matches!((self, depth), (Self::Start, 0) | (Self::Further, 1..))
    }
}

/// The filter of the page lists.
struct Lists<'c> {
    depths: PageList,
    /// The iteration whose pages are listed first, before the current ones.
    iteration: Option<Iteration>,
    /// The visits in the archive; `None` if all are.
    chosen: Option<&'c SelectedVisits>,
}

impl Lists<'_> {
    async fn write(
        &self,
        reader: &impl Reader,
        package: &mut Package<impl Write + Seek>,
        main_page: &mut Option<(String, String)>,
    ) -> Result<(), ArchiveError> {
        if let Some(iteration) = self.iteration {
            let of_iteration = &Filter::by_iteration(iteration);
            let seen = |after: Option<Cursor>| async move {
                reader.seen_pages(of_iteration, after.as_ref(), BATCH_ROWS).await
            };
            let mut written = Ok(());
            each_row(seen, |row: SeenPageRow| {
                let page = Page::new(&row.url, row.at, row.title.as_deref(), row.text.as_deref());
                written = page.map_or(Ok(()), |page| self.put(row.depth, &page, package, main_page));
                if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
            .await?;
            written?;
        }
        // For a selected iteration, this adds what its pages need from other iterations. Each URL
        // is listed once.
        let all = &Filter::default();
        let pages = |after: Option<Cursor>| async move { reader.pages(all, after.as_ref(), BATCH_ROWS).await };
        let mut written = Ok(());
        each_row(pages, |row: PageRow| {
            let page = Page::new(&row.url, row.at, row.title.as_deref(), row.text.as_deref());
            written = page.map_or(Ok(()), |page| self.put(row.depth, &page, package, main_page));
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .await?;
        written
    }

    fn put(
        &self,
        depth: u32,
        page: &Page<'_>,
        package: &mut Package<impl Write + Seek>,
        main_page: &mut Option<(String, String)>,
    ) -> Result<(), ArchiveError> {
        if !self.depths.has(depth) || !self.chosen.map_or(Ok(true), |chosen| chosen.list(page.url, &page.ts))? {
            return Ok(());
        }
        main_page.get_or_insert_with(|| (page.url.to_owned(), page.ts.clone()));
        package.put_line(page)
    }
}

/// The first line of a list of pages.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PagesHead {
    format: &'static str,
    id: &'static str,
    title: &'static str,
    has_text: bool,
}

#[derive(Serialize)]
struct Page<'p> {
    id: String,
    url: &'p str,
    ts: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'p str>,
    text: &'p str,
}

impl<'p> Page<'p> {
    /// Returns the line of a page; `None` for other content, which is found by its URL.
    fn new(url: &'p str, at: Timestamp, title: Option<&'p str>, text: Option<&'p str>) -> Option<Self> {
        let ts = format!("{at:.3}");
        let digest = Sha1::digest(format!("{ts} {url}"));
        Some(Self { id: HEXLOWER.encode(&digest[..10]), url, ts, title, text: text? })
    }
}

#[derive(Serialize)]
struct DataPackage<'d> {
    profile: &'static str,
    wacz_version: &'static str,
    title: &'d str,
    software: &'d str,
    created: String,
    #[serde(rename = "mainPageUrl", skip_serializing_if = "Option::is_none")]
    main_page_url: Option<String>,
    #[serde(rename = "mainPageDate", skip_serializing_if = "Option::is_none")]
    main_page_date: Option<String>,
    resources: &'d [Resource],
}

#[derive(Serialize)]
struct PackageDigest {
    path: &'static str,
    hash: String,
}

/// A file of the package.
#[derive(Serialize)]
struct Resource {
    name: String,
    path: String,
    hash: String,
    bytes: u64,
}

/// The ZIP file, and its contents so far.
struct Package<W: Write + Seek> {
    zip: ZipWriter<BufWriter<W>>,
    resources: Vec<Resource>,
    /// The file in it that is being written.
    open: Option<(String, Sha256, u64)>,
}

impl<W: Write + Seek> Package<W> {
    fn new(file: W) -> Self {
        Self { zip: ZipWriter::new(BufWriter::new(file)), resources: Vec::new(), open: None }
    }

    /// Begins a file without compression, as it is read by ranges.
    fn begin_stored(&mut self, path: &str) -> Result<(), ArchiveError> {
        self.begin_with(path, CompressionMethod::Stored)
    }

    fn begin(&mut self, path: &str) -> Result<(), ArchiveError> {
        self.begin_with(path, CompressionMethod::Deflated)
    }

    fn begin_with(&mut self, path: &str, method: CompressionMethod) -> Result<(), ArchiveError> {
        self.end_file();
        // It may turn out to be longer than 4 GB.
        self.zip.start_file(path, SimpleFileOptions::default().compression_method(method).large_file(true))?;
        self.open = Some((path.to_owned(), Sha256::new(), 0));
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        if let Some((_, digest, length)) = &mut self.open {
            digest.update(bytes);
            *length += bytes.len() as u64;
        }
        Ok(self.zip.write_all(bytes)?)
    }

    fn put_line(&mut self, line: &impl Serialize) -> Result<(), ArchiveError> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        self.put(&line)
    }

    fn end_file(&mut self) {
        if let Some((path, digest, bytes)) = self.open.take() {
            let name = resource_name(&path);
            self.resources.push(Resource {
                name,
                path,
                hash: format!("sha256:{}", HEXLOWER.encode(&digest.finalize())),
                bytes,
            });
        }
    }

    /// Ends the last file, and returns all of them.
    fn end(&mut self) -> Vec<Resource> {
        self.end_file();
        std::mem::take(&mut self.resources)
    }
}

impl<W: Write + Seek> Files for Package<W> {
    fn begin(&mut self, name: &str) -> Result<(), ArchiveError> {
        self.begin_stored(&format!("archive/{name}"))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.put(bytes)
    }
}

/// Returns a file's name in the form of Frictionless data packages: the last part of its path, in
/// lower case.
fn resource_name(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    name.replace(|c: char| !matches!(c, 'a'..='z' | '0'..='9' | '-' | '.' | '_'), "-")
}
