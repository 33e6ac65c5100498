//! Compares the word index with SQLite's FTS5, on the pages of a crawl, in one run.
//!
//! ```text
//! cargo run --release --package dragline-bench --example search -- dragline-data
//! ```
//!
//! Both index the title and text of each page, stemmed as English. The word index also has the URL,
//! headings, anchor texts and ranks. Queries are consecutive words of pages, the same for both, in
//! turns; each answer has the best ten pages with snippets and the total.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "shares of small numbers"
)]

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::num::NonZeroU32;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Parser;
use dragline_graph::Graph;
use dragline_local::{LocalStore, SystemClock};
use dragline_ports::clock::Clock as _;
use dragline_ports::reader::{Cursor, Filter, Reader, each_row};
use dragline_ports::system::cpu_time;
use dragline_search::{Blocks, Index, Ranges, Request, Typos};
use rusqlite::{Connection, params};

/// Measures the word index of a crawl beside SQLite's FTS5
#[derive(Debug, Parser)]
struct Arguments {
    /// The data directory, with one crawl
    data: PathBuf,
    /// How many queries of each kind are run
    #[arg(long, default_value_t = 250)]
    queries: usize,
}

type Failed = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    let Arguments { data, queries } = Arguments::parse();
    let store = LocalStore::open_read_only(&data)?;
    let crawl = store.crawls()?.into_iter().next().ok_or("there is no crawl")?;
    let reader = store.into_reader(crawl);
    let clock = SystemClock::new();
    let work = tempfile::tempdir_in(&data)?;

    let began = clock.monotonic();
    let graph = Graph::up_to_date(&reader, &work.path().join("graph.db"), || ()).await?;
    println!("link graph     made in {}", seconds(clock.monotonic() - began));

    let began = clock.monotonic();
    let folder = work.path().join("index");
    let (index, _) = Index::up_to_date(&reader, &graph, &folder, || ()).await?;
    let took = clock.monotonic() - began;
    let pages = index.pages();
    println!("word index     {pages} pages in {}, {} bytes a page", seconds(took), size(&folder)? / pages.max(1));

    let began = clock.monotonic();
    let file = work.path().join("fts5.db");
    let fts5 = Connection::open(&file)?;
    let (texts, samples) = fill(&reader, &fts5, pages, queries).await?;
    let took = clock.monotonic() - began;
    println!(
        "FTS5           {pages} pages in {}, {} bytes a page; their texts have {} bytes a page",
        seconds(took),
        fs::metadata(&file)?.len() / pages.max(1),
        texts / pages.max(1)
    );

    for (kind, ask) in KINDS {
        let (mut ours, mut theirs, mut found) = (Vec::new(), Vec::new(), 0);
        for sample in &samples {
            let query = ask(sample);
            let request = Request { query: query.clone(), page: NonZeroU32::MIN, per_page: 10, typos: Typos::Correct };
            let began = clock.monotonic();
            let results = index.search(&request)?;
            ours.push(clock.monotonic() - began);
            found += results.total;
            let began = clock.monotonic();
            ask_fts5(&fts5, &query)?;
            theirs.push(clock.monotonic() - began);
        }
        println!(
            "{kind:<14} {:>7} pages each; word index {}; FTS5 {}",
            found / samples.len().max(1) as u64,
            percentiles(&mut ours),
            percentiles(&mut theirs)
        );
    }
    elsewhere(&index, &folder, &samples)
}

/// Searches a remote index as the function does, and counts the reads. Reads have no latency here.
fn elsewhere(index: &Index, folder: &Path, samples: &[Sample]) -> Result<(), Failed> {
    let objects = Arc::new(Objects { folder: folder.to_owned(), read: Mutex::default() });
    let there = Index::open_edition(index.edition()?, Arc::clone(&objects) as _, Arc::new(Blocks::new(512 << 20)))?;
    let (_, opening) = objects.take_reads();
    println!("as objects     opening it reads {:.1} MB at once", opening as f64 / 1e6);
    let (clock, mut first, mut all) = (SystemClock::new(), None, (0_u64, 0_u64));
    let (began, cpu) = (clock.monotonic(), cpu_time());
    let mut searches = 0_u64;
    for (sample, (_, ask)) in samples.iter().flat_map(|sample| KINDS.map(|kind| (sample, kind))) {
        let request = Request { query: ask(sample), page: NonZeroU32::MIN, per_page: 10, typos: Typos::Correct };
        there.search(&request)?;
        let (reads, bytes) = objects.take_reads();
        first.get_or_insert((reads, bytes));
        all = (all.0 + reads, all.1 + bytes);
        searches += 1;
    }
    let (took, cpu) = (clock.monotonic() - began, cpu_time().saturating_sub(cpu));
    let of_each = |sum: f64| sum / searches.max(1) as f64;
    println!(
        "               the first search reads {} ranges; of {searches}, each reads {:.1} ranges, {:.0} KB, and takes {:.1} ms of CPU time ({:.1} ms in all)",
        first.map_or(0, |(reads, _)| reads),
        of_each(all.0 as f64),
        of_each(all.1 as f64 / 1e3),
        of_each(cpu.as_secs_f64() * 1e3),
        of_each(took.as_secs_f64() * 1e3),
    );
    Ok(())
}

/// Files in place of objects.
struct Objects {
    folder: PathBuf,
    /// The number of read ranges, and their total size in bytes.
    read: Mutex<(u64, u64)>,
}

impl Objects {
    /// Returns the reads since the last call.
    fn take_reads(&self) -> (u64, u64) {
        std::mem::take(&mut *self.read.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Ranges for Objects {
    fn read(&self, file: &str, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        *read = (read.0 + 1, read.1 + range.end - range.start);
        drop(read);
        let mut opened = fs::File::open(self.folder.join(file))?;
        opened.seek(SeekFrom::Start(range.start))?;
        let mut bytes = Vec::new();
        opened.take(range.end - range.start).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Three consecutive words of a page.
type Sample = [String; 3];

/// A kind of query, and how to build one.
type Kind = (&'static str, fn(&Sample) -> String);

const KINDS: [Kind; 4] = [
    ("one word", |[a, ..]| a.clone()),
    ("two words", |[a, _, c]| format!("{a} {c}")),
    ("three words", |[a, b, c]| format!("{a} {b} {c}")),
    ("a phrase", |[a, b, _]| format!("\"{a} {b}\"")),
];

/// Returns consecutive words of a text, if it has enough.
fn sample(text: &str, number: usize) -> Option<Sample> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_word = |word: &str| word.len() > 3 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let begin = number.wrapping_mul(7_919) % words.len().max(1);
    let found = words[begin..].windows(3).find(|three| three.iter().all(|word| is_word(word)))?;
    Some([0, 1, 2].map(|place| found[place].to_owned()))
}

/// Fills FTS5 with the texts. Returns their size, and sample words from pages all over the site.
async fn fill(
    reader: &impl Reader,
    fts5: &Connection,
    pages: u64,
    samples_max: usize,
) -> Result<(u64, Vec<Sample>), Failed> {
    fts5.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
         CREATE VIRTUAL TABLE page USING fts5 (url UNINDEXED, title, text, tokenize = 'porter unicode61');
         BEGIN;",
    )?;
    let filter = &Filter::default();
    let documents = |after: Option<Cursor>| async move { reader.shown_documents(filter, after.as_ref(), 200).await };
    let every = (pages as usize / samples_max.max(1)).max(1);
    let (mut bytes, mut number, mut samples, mut failed) = (0, 0, Vec::new(), None);
    each_row(documents, |row| {
        let Some(page) = row.document.page else { return ControlFlow::Continue(()) };
        bytes += (page.text.len() + page.title.as_ref().map_or(0, String::len)) as u64;
        number += 1;
        if number % every == 0 && samples.len() < samples_max {
            samples.extend(sample(&page.text, number));
        }
        let put = fts5
            .prepare_cached("INSERT INTO page VALUES (?, ?, ?)")
            .and_then(|mut statement| statement.execute(params![row.document.url.as_str(), page.title, page.text]));
        match put {
            Ok(_) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })
    .await?;
    fts5.execute_batch("COMMIT; INSERT INTO page (page) VALUES ('optimize');")?;
    failed.map_or(Ok((bytes, samples)), |error| Err(error.into()))
}

/// Asks for the same as the word index: the best ten with snippets, and the total.
fn ask_fts5(fts5: &Connection, query: &str) -> rusqlite::Result<(u64, Vec<String>)> {
    let total =
        fts5.prepare_cached("SELECT count(*) FROM page WHERE page MATCH ?")?.query_row([query], |row| row.get(0))?;
    let mut best = fts5.prepare_cached(
        "SELECT snippet(page, 2, '[', ']', '…', 30) FROM page WHERE page MATCH ? ORDER BY bm25(page, 0, 4, 1) LIMIT 10",
    )?;
    let snippets = best.query_map([query], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok((total, snippets))
}

fn size(folder: &Path) -> io::Result<u64> {
    fs::read_dir(folder)?.map(|file| Ok(file?.metadata()?.len())).sum()
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

fn percentiles(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1_000.0;
    format!("median {:.1} ms, 99th {:.1} ms", at(0.5), at(0.99))
}
