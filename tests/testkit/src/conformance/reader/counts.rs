//! What is counted over all of a crawl.

use dragline_ports::documents::Documents;
use dragline_ports::frontier::Frontier;
use dragline_ports::reader::{Filter, Reader};

use super::super::lag::assert_comes_to;
use super::story::Teller;
use super::streams::Stream;

/// URLs that are known and have no outcome are counted, of whatever origin; those that ended
/// otherwise, or were only decided on, are not.
pub async fn urls_that_were_never_visited_are_counted(
    (frontier, documents, reader): &(impl Frontier, impl Documents, impl Reader),
) {
    assert_eq!(reader.unvisited().await.unwrap(), 0, "nothing is known yet");
    Teller { frontier, documents }.tell().await;
    Stream::Candidates.all_of(reader, Stream::Candidates.rows()).await;
    let known = reader.candidates(&Filter::default(), None, 1_000).await.unwrap().rows;
    let waiting: Vec<_> = known.iter().filter(|row| row.last_at.is_none()).map(|row| row.url.as_str()).collect();
    assert!(waiting.contains(&"https://a.example/later") && waiting.len() < known.len(), "{waiting:?}");
    let expected = u64::try_from(waiting.len()).expect("there are few");
    assert_comes_to(async || reader.unvisited().await.unwrap(), expected, "those without an outcome").await;
}
