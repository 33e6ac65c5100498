//! `--markdown DIR`: writes a file for each page of the current site, and an index of them, for
//! programs that read text.
//!
//! The index, `pages.jsonl`, distinguishes our files from others: files that it lists are deleted
//! when their pages are gone, and no others. `llms.txt` lists the pages for language models
//! (<https://llmstxt.org>).

mod path;

use std::collections::HashSet;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use dragline_domain::document::{Document, Page};
use dragline_domain::ids::CrawlId;
use dragline_domain::language::canonical_tag;
use dragline_domain::words::count_words;
use dragline_ports::reader::{Cursor, DocumentRow, Filter, Reader, each_row};
use serde::{Deserialize, Serialize};

use crate::crawl_handle;
use crate::error::Failure;
use crate::terminal::{Console, count, plural, write_json};

/// The number of documents per read.
const BATCH_ROWS: usize = 100;

/// The name of the index.
const INDEX: &str = "pages.jsonl";

/// The name of the unfinished index.
const NEXT_INDEX: &str = "pages.jsonl.new";

/// The name of the list for language models, and its name while it is unfinished.
const LIST: &str = "llms.txt";
const NEXT_LIST: &str = "llms.txt.new";

/// The field with the time of the request. A new time alone does not rewrite a file.
const FETCHED: &str = "fetched";

/// The maximum number of file names in memory.
const REMEMBERED_MAX: u64 = 1_000_000;

/// The longest description in that list, in characters.
const DESCRIPTION_CHARS_MAX: usize = 200;

/// A line of the index.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// The file's path, relative to the directory.
    file: PathBuf,
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// When the page was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    words: u64,
    /// SHA-1 of the main part's text, without the parts that the definition ignores. `None` without
    /// a main part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
}

/// The number of files by what happened to them.
#[derive(Default)]
struct Counts {
    pages: u64,
    /// Pages written as visible text, as they have no main part.
    unread: u64,
    gone: u64,
    /// Files that were unchanged and not rewritten.
    kept: u64,
}

/// Writes the pages of a crawl in a data directory as Markdown.
///
/// # Errors
/// The crawl cannot be read, or a file cannot be written.
pub(crate) async fn write(directory: &Path, data: &Path, crawl: &CrawlId, console: &Console) -> Result<(), Failure> {
    let Some(found) = crawl_handle::in_directory(data, Some(crawl))? else {
        return Err(crawl_handle::no_crawl_error(data));
    };
    let failed = |error| {
        let message = format!("the Markdown in {} cannot be written: {error}", directory.display());
        Failure::new(message).caused_by(&error)
    };
    let (mut files, reader) = (Files::begin(directory, crawl).map_err(failed)?, &found.reader);
    let filter = &Filter::default();
    let read = |after: Option<Cursor>| async move { reader.shown_documents(filter, after.as_ref(), BATCH_ROWS).await };
    let mut written = Ok(());
    let put = |row: DocumentRow| {
        written = files.put(&row.document);
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    each_row(read, put).await.map_err(|error| found.read_error(error))?;
    written.map_err(failed)?;
    let counts = files.finish().map_err(failed)?;
    console.say(&describe_counts(&counts, directory));
    if counts.unread > 0 {
        let command = format!("dragline reparse --markdown {}", directory.display());
        console.hint(&format!("for the main part of pages that were stored before: `{command}`"));
    }
    Ok(())
}

fn describe_counts(counts: &Counts, directory: &Path) -> String {
    let gone = match counts.gone {
        0 => String::new(),
        gone => format!(", {} deleted as their pages are gone", plural(gone, "file")),
    };
    let unread = match counts.unread {
        0 => String::new(),
        unread => format!(", {} with all visible text instead of the main part", plural(unread, "page")),
    };
    let kept = match counts.kept {
        0 => String::new(),
        kept => format!(", {} as before", count(kept)),
    };
    format!("Markdown: {} in {}{kept}{unread}{gone}", plural(counts.pages, "page"), directory.display())
}

/// The writer of the files.
struct Files<'d> {
    directory: &'d Path,
    index: BufWriter<File>,
    list: BufWriter<File>,
    counts: Counts,
}

impl<'d> Files<'d> {
    fn begin(directory: &'d Path, crawl: &CrawlId) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let next = directory.join(NEXT_INDEX);
        let index = File::create(&next)?;
        let mut list = BufWriter::new(File::create(directory.join(NEXT_LIST))?);
        writeln!(list, "# {crawl}\n\n> The pages of the crawl {crawl}, as Markdown.\n\n## Pages\n")?;
        Ok(Self { directory, index: BufWriter::new(index), list, counts: Counts::default() })
    }

    /// Writes the file of a page or of a readable document; nothing for other documents and for
    /// `noindex`.
    fn put(&mut self, document: &Document) -> io::Result<()> {
        let read_file = document.is_readable_file().then(Page::default);
        let page = document.page.as_ref().or(read_file.as_ref()).filter(|page| !page.directives.noindex);
        let Some(page) = page else { return Ok(()) };
        let file = path::for_url(&document.url);
        let content = document.content.as_deref();
        let about = content.and_then(|content| content.about.as_ref());
        let main = content.and_then(|content| content.main.as_ref());
        let title = about.and_then(|about| about.title.as_ref()).or(page.title.as_ref());
        let at = document.body.as_ref().map(|body| format!("{:.3}", body.at));
        // The declared language takes precedence: the detected one is a guess from the words.
        let detected = || about.and_then(|about| canonical_tag(about.language_detected.as_deref()?));
        let language = page.language.clone().or_else(detected);
        let text = main.map_or(&page.text, |main| &main.markdown);
        let mut written = "---\n".to_owned();
        for (key, value) in [
            ("url", Some(document.url.as_str())),
            ("title", title.map(String::as_str)),
            ("author", about.and_then(|about| about.author.as_deref())),
            ("published", about.and_then(|about| about.published.as_deref())),
            ("language", language.as_deref()),
            (FETCHED, at.as_deref()),
        ] {
            // A JSON string is valid YAML.
            if let Some(value) = value {
                written.push_str(&format!("{key}: {}\n", serde_json::Value::from(value)));
            }
        }
        written.push_str("---\n\n");
        if let Some(title) = title.filter(|_| !text.starts_with("# ")) {
            written.push_str(&format!("# {title}\n\n"));
        }
        written.push_str(text);
        written.push('\n');
        self.counts.kept += u64::from(!put_unless_same(&self.directory.join(&file), &written)?);
        let words = count_words(text) as u64;
        self.counts.pages += 1;
        self.counts.unread += u64::from(about.is_none());
        let name = title.map_or(document.url.as_str(), String::as_str);
        let described = page.description.as_deref().or(about.and_then(|about| about.excerpt.as_deref()));
        writeln!(self.list, "{}", list_entry(&file, name, described))?;
        let digest = main.map(|main| main.compared_sha1.clone()).filter(|digest| !digest.is_empty());
        let (url, title) = (document.url.to_string(), title.cloned());
        write_json(&mut self.index, &Entry { file, url, title, at, words, digest })
    }

    /// Installs the index, and deletes the files of the previous one that it does not list.
    fn finish(mut self) -> io::Result<Counts> {
        self.index.flush()?;
        self.list.flush()?;
        fs::rename(self.directory.join(NEXT_LIST), self.directory.join(LIST))?;
        let (index, next) = (self.directory.join(INDEX), self.directory.join(NEXT_INDEX));
        // Bounds memory, whatever the number of pages.
        let rounds = self.counts.pages / REMEMBERED_MAX + 1;
        for round in 0..rounds {
            let is_in_round = |file: &Path| digest(file) % rounds == round;
            let mut listed = HashSet::new();
            each_entry(&next, |entry| {
                if is_in_round(&entry.file) {
                    listed.insert(digest(&entry.file));
                }
                Ok(())
            })?;
            each_entry(&index, |entry| {
                if is_in_round(&entry.file) && !listed.contains(&digest(&entry.file)) {
                    self.counts.gone += u64::from(delete(self.directory, &entry)?);
                }
                Ok(())
            })?;
        }
        fs::rename(next, index)?;
        Ok(self.counts)
    }
}

/// Writes a file, unless its content differs only in the time of the request. Returns whether it
/// wrote.
fn put_unless_same(file: &Path, text: &str) -> io::Result<bool> {
    let is_same = fs::read(file).is_ok_and(|before| {
        let before = String::from_utf8_lossy(&before);
        let says =
            |text: &str| text.lines().filter(|line| !line.starts_with(FETCHED)).map(str::to_owned).collect::<Vec<_>>();
        says(&before) == says(text)
    });
    if !is_same {
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, text)?;
    }
    Ok(!is_same)
}

/// Calls back with each entry of an existing index. Foreign lines are ignored.
fn each_entry(index: &Path, mut visit: impl FnMut(Entry) -> io::Result<()>) -> io::Result<()> {
    let lines = match File::open(index) {
        Ok(file) => BufReader::new(file).lines(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for line in lines {
        if let Ok(entry) = serde_json::from_str::<Entry>(&line?) {
            visit(entry)?;
        }
    }
    Ok(())
}

fn digest(file: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    file.hash(&mut hasher);
    hasher.finish()
}

/// Deletes the file of an entry, provided it is ours. Returns whether it did.
fn delete(directory: &Path, entry: &Entry) -> io::Result<bool> {
    let is_ours = path::for_url_text(&entry.url).is_some_and(|file| file == entry.file);
    let file = directory.join(&entry.file);
    match fs::symlink_metadata(&file) {
        Ok(found) if is_ours && found.is_file() => {
            fs::remove_file(file)?;
            Ok(true)
        }
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns a line of the list for language models: a link to the page's file, and the page's
/// description.
fn list_entry(file: &Path, name: &str, described: Option<&str>) -> String {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = one_line(name).replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]");
    // File names come from URLs, so they have no spaces or parentheses.
    let link = format!("- [{name}](<{}>)", file.display().to_string().replace('>', "%3E"));
    let described = described.map(one_line).filter(|described| !described.is_empty());
    described.map_or_else(
        || link.clone(),
        |described| {
            let short: String = described.chars().take(DESCRIPTION_CHARS_MAX).collect();
            let more = if short.len() < described.len() { "…" } else { "" };
            format!("{link}: {short}{more}")
        },
    )
}

#[cfg(test)]
mod tests {
    use dragline_domain::content::{About, Content, MainPart};
    use dragline_domain::document::Directives;
    use dragline_domain::outcome::Outcome;
    use dragline_domain::url::{CrawlUrl, UrlRules};

    use super::*;

    fn document(url: &str, markdown: Option<&str>) -> Document {
        let url = CrawlUrl::parse(url, &UrlRules::default()).unwrap();
        let about = About { author: Some("A: \"B\"".into()), ..About::default() };
        let main = markdown.map(|markdown| MainPart { markdown: markdown.into(), ..MainPart::default() });
        let content = markdown.map(|_| Box::new(Content { about: Some(about), main, ..Content::default() }));
        let page = Page { title: Some("Title".into()), text: "all of it".into(), ..Page::default() };
        Document { page: Some(page), content, ..Document::bare(0, url, Outcome::FileIngested) }
    }

    fn put(directory: &Path, documents: &[Document]) -> Counts {
        let mut files = Files::begin(directory, &"docs".parse().unwrap()).unwrap();
        documents.iter().for_each(|document| files.put(document).unwrap());
        files.finish().unwrap()
    }

    #[test]
    fn titles_and_descriptions_stay_on_one_line() {
        let long = "word ".repeat(100);
        for (name, described, expected) in [
            ("Title", None, "- [Title](<a/b.md>)"),
            ("Title", Some(" what\nit is "), "- [Title](<a/b.md>): what it is"),
            ("a](https://evil.example/) [b\n## c", None, r"- [a\](https://evil.example/) \[b ## c](<a/b.md>)"),
            ("a\\", Some(" "), r"- [a\\](<a/b.md>)"),
        ] {
            assert_eq!(list_entry(Path::new("a/b.md"), name, described), expected);
        }
        let short = list_entry(Path::new("a/b.md"), "Title", Some(&long));
        assert!(short.ends_with("word…") || short.ends_with("word …"), "{short}");
    }

    #[test]
    fn a_readable_document_has_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let report = Document { page: None, ..document("https://a.example/report.pdf", Some("One\n\ntwo")) };
        let data = Document { page: None, ..document("https://a.example/robots.txt", Some("User-agent: *")) };
        assert_eq!(put(directory.path(), &[report, data]).pages, 1);
        let written = fs::read_to_string(directory.path().join("a.example/report.pdf.md")).unwrap();
        assert!(written.ends_with("---\n\nOne\n\ntwo\n"), "{written}");
    }

    #[test]
    fn each_page_has_a_file_and_goes_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let read = |file: &str| fs::read_to_string(directory.path().join(file)).unwrap_or_default();
        let mut hidden = document("https://a.example/hidden", None);
        hidden.page.as_mut().unwrap().directives = Directives { noindex: true, nofollow: false };
        let first =
            [document("https://a.example/", Some("# Head\n\ntext")), document("https://a.example/b", None), hidden];
        let counts = put(directory.path(), &first);
        assert_eq!((counts.pages, counts.unread, counts.gone), (2, 1, 0));
        let expected =
            "---\nurl: \"https://a.example/\"\ntitle: \"Title\"\nauthor: \"A: \\\"B\\\"\"\n---\n\n# Head\n\ntext\n";
        assert_eq!(read("a.example/index.md"), expected, "its main part");
        assert!(read("a.example/b.md").ends_with("---\n\n# Title\n\nall of it\n"), "or else its text, with a headline");
        fs::write(directory.path().join("a.example/mine.md"), "mine").unwrap();
        let foreign = r#"{"file":"a.example/mine.md","url":"https://a.example/other","words":1}"#;
        let listed = read(INDEX) + foreign + "\nnot ours\n";
        fs::write(directory.path().join(INDEX), listed).unwrap();
        let index = directory.path().join("a.example/index.md");
        let before = fs::metadata(&index).unwrap().modified().unwrap();
        let counts = put(directory.path(), &first[..1]);
        assert_eq!((counts.pages, counts.gone, counts.kept), (1, 1, 1));
        assert_eq!(fs::metadata(&index).unwrap().modified().unwrap(), before, "it says the same");
        assert_eq!((read("a.example/b.md"), read("a.example/mine.md")), (String::new(), "mine".to_owned()));
        assert_eq!(
            read(LIST),
            "# docs\n\n> The pages of the crawl docs, as Markdown.\n\n## Pages\n\n- [Title](<a.example/index.md>)\n"
        );
        assert_eq!(read(INDEX).lines().count(), 1);
    }
}
