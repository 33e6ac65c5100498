//! `dragline search`, `similar` and `words`.

mod text;

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io::{self, Write as _};
use std::ops::ControlFlow;

use dragline_ports::reader::Reader;
use dragline_ports::row;
use dragline_search::{Index, SHOWN_MAX, SearchError, SearchReport, Word, WordPlace};
use serde::Serialize;

use crate::args::{CrawlSource, SearchArgs, SimilarArgs, WordsArgs};
use crate::crawl_handle::{self, CrawlHandle};
use crate::definition_source::parse_url;
use crate::derived_files;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::links::List;
use crate::terminal::{Colour, Console, Shade, unless_closed, write_json};
use crate::url_visits;

/// The number of words, or of pages with a word, unless all are requested.
const SHOWN: usize = 25;

/// Searches for pages, and prints the results on standard output.
///
/// # Errors
/// The query is not valid, there is no such crawl, or it cannot be read.
pub(crate) async fn search(args: &SearchArgs, console: &Console) -> Result<Exit, Failure> {
    // Reports a mistake in the query before reading anything.
    let request = args.request();
    dragline_search::check(&request.query)
        .map_err(|error| Failure::new(text::wrong_query(&request.query, &error)).with_hints(error.hint()))?;
    if request.page.get().saturating_mul(request.per_page) > SHOWN_MAX {
        return Err(Failure::new(format!("results after the first {SHOWN_MAX} are not shown"))
            .with_hint("add words to the query, or fields such as `site:` and `after:`"));
    }
    let index = index_for_source(args.of.which()?, console).await?;
    let results = reading(|| index.search(&request))?;
    if args.json {
        print_json(&SearchReport { query: &request.query, pages_indexed: index.pages(), results: &results })?;
    } else {
        for note in text::notes(&results) {
            console.say(&note);
        }
        print(&text::results(&results, Colour::for_stream(&io::stdout())))?;
    }
    Ok(Exit::Done)
}

/// Opens the word index of the requested crawl.
async fn index_for_source(crawl: CrawlSource<'_>, console: &Console) -> Result<Index, Failure> {
    match crawl {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => derived_files::index(&found, console).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => {
            let (found, editions) = crate::stack::find_with_editions(crawl, stack).await?;
            derived_files::published_index(&found, &editions, console).await
        }
    }
}

/// Runs a query. The index may be on S3, so the query may block on other threads that read it.
fn reading<T>(ask: impl FnOnce() -> T) -> T {
    tokio::task::block_in_place(ask)
}

fn print(text: &str) -> Result<(), Failure> {
    unless_closed(io::stdout().write_all(text.as_bytes())).map_err(while_writing)
}

fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    unless_closed(write_json(io::stdout().lock(), value)).map_err(while_writing)
}

/// Shows pages that are similar to another one.
///
/// # Errors
/// The URL is not valid or its page not indexed, there is no such crawl, or it cannot be read.
pub(crate) async fn similar(args: &SimilarArgs, console: &Console) -> Result<Exit, Failure> {
    parse_url(&args.url)?;
    match args.of.which()? {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => similar_in(&found, &derived_files::index(&found, console).await?, args).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => {
            let (found, editions) = crate::stack::find_with_editions(crawl, stack).await?;
            similar_in(&found, &derived_files::published_index(&found, &editions, console).await?, args).await
        }
    }
}

async fn similar_in(found: &CrawlHandle<impl Reader>, index: &Index, args: &SimilarArgs) -> Result<Exit, Failure> {
    let url = url_visits::resolve_url(found, &args.url).await?;
    let Some(similar) = reading(|| index.similar(url.as_str(), args.count))? else {
        let why = "it has no text, is marked noindex, or duplicates another page";
        let history = format!("dragline history {url}{}", found.place.flags(&found.crawl));
        return Err(Failure::new(format!("{url} is not in the word index: {why}"))
            .with_hint(format!("what is known of it: `{history}`")));
    };
    if args.json {
        print_json(&similar)?;
    } else {
        print(&text::similar(&similar, Colour::for_stream(&io::stdout())))?;
    }
    Ok(Exit::Done)
}

/// Shows the lexicon, or the occurrences of a word.
///
/// # Errors
/// There is no such crawl, or it cannot be read.
pub(crate) async fn words(args: &WordsArgs, console: &Console) -> Result<Exit, Failure> {
    let index = index_for_source(args.of.which()?, console).await?;
    let mut list = List::new(&args.list);
    if args.word.is_none() {
        list.write_text(|colour| colour.paint(Shade::Head, text::LEXICON));
    }
    reading(|| match &args.word {
        Some(word) => places(&index, args, word, &mut list),
        None if list.is_whole() => {
            index.words(args.part(), beginning(args), |word| list.add(&word, |_| text::word(&word)))
        }
        None => frequent(&index, args, &mut list),
    })?;
    list.finish().map_err(while_writing)?;
    Ok(Exit::Done)
}

fn beginning(args: &WordsArgs) -> &str {
    args.beginning.as_deref().unwrap_or_default()
}

/// Shows the words that occur on the most pages. Only these are in memory.
fn frequent(index: &Index, args: &WordsArgs, list: &mut List) -> Result<(), SearchError> {
    let mut most = BinaryHeap::new();
    let mut all = 0_u64;
    index.words(args.part(), beginning(args), |word| {
        all += 1;
        most.push(Reverse((word.pages, word.occurrences, Reverse(word.word))));
        if most.len() > SHOWN {
            most.pop();
        }
        ControlFlow::Continue(())
    })?;
    for Reverse((pages, occurrences, Reverse(word))) in most.into_sorted_vec() {
        let word = Word { word, pages, occurrences };
        let _ = list.add(&word, |_| text::word(&word));
    }
    list.write_text_after(&text::all_words(all, SHOWN));
    Ok(())
}

/// A page with a word, as a row.
struct PlaceRow<'p> {
    word: &'p str,
    url: &'p str,
    title: Option<&'p str>,
    day: Option<String>,
    linked_from: u64,
    occurrences: u32,
    /// Separated by spaces.
    positions: String,
}

row! { PlaceRow<'p> { word, url, title, day, linked_from, occurrences, positions } }

impl<'p> From<&'p WordPlace> for PlaceRow<'p> {
    fn from(place: &'p WordPlace) -> Self {
        Self {
            word: &place.word,
            url: &place.url,
            title: place.title.as_deref(),
            day: place.day.map(|day| day.to_string()),
            linked_from: place.linked_from,
            occurrences: place.occurrences,
            positions: place.positions.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
        }
    }
}

/// Shows the pages with a word: those on which it is most frequent, or all in the order of the
/// index.
fn places(index: &Index, args: &WordsArgs, word: &str, list: &mut List) -> Result<(), SearchError> {
    let found = if list.is_whole() {
        index
            .places(args.part(), word, |place| list.add(PlaceRow::from(&place), |colour| text::place(&place, colour)))?
    } else {
        // Bounds memory to the shown pages.
        let mut most = BinaryHeap::new();
        let found = index.places(args.part(), word, |place| {
            most.push(Reverse(Ranked((place.occurrences, place.linked_from, Reverse(place.url.clone())), place)));
            if most.len() > SHOWN {
                most.pop();
            }
            ControlFlow::Continue(())
        })?;
        for Reverse(Ranked(_, place)) in most.into_sorted_vec() {
            let _ = list.add(PlaceRow::from(&place), |colour| text::place(&place, colour));
        }
        found
    };
    list.write_text_after(&text::total(word, &found, SHOWN));
    Ok(())
}

/// A page, ordered by a word's frequency on it.
struct Ranked((u32, u64, Reverse<String>), WordPlace);

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}
