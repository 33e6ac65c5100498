//! Searches in the index.

use std::collections::HashMap;
use std::num::NonZeroU32;

use jiff::civil::Date;
use serde::{Serialize, Serializer};
use tantivy::aggregation::AggregationCollector;
use tantivy::aggregation::agg_req::Aggregations;
use tantivy::aggregation::agg_result::{AggregationResult, AggregationResults, BucketResult};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::Query;
use tantivy::{DocAddress, DocId, Score, SegmentReader};

use crate::compile::{Compiled, Correction, Lookup, Notes, Typos};
use crate::entry::Entry;
use crate::error::{IndexError, SearchError};
use crate::index::Index;
use crate::query::{Node, parse};
use crate::snippet::{Marked, Marks};

/// The maximum number of results per page.
pub const PER_PAGE_MAX: u32 = 100;

/// The last result that can be shown. Users who need more have to narrow the query.
pub const SHOWN_MAX: u32 = 10_000;

/// The maximum number of values per facet: those on the most pages.
const FACET_VALUES_MAX: u32 = 50;

/// What each doubling of a page's rank adds to its score.
const RANK_WEIGHT: f64 = 0.2;

/// A search request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The query (docs/reference/search.md).
    pub query: String,
    /// The page of the results, from 1.
    pub page: NonZeroU32,
    /// The number of results per page, up to [`PER_PAGE_MAX`].
    pub per_page: u32,
    /// How to treat words that no page has.
    pub typos: Typos,
}

/// A search and its results, for programs. The field names are those of the JSON.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SearchReport<'r> {
    /// The query.
    pub query: &'r str,
    /// The number of pages in the index.
    pub pages_indexed: u64,
    /// The results.
    #[serde(flatten)]
    pub results: &'r Results,
}

/// The results of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Results {
    /// The number of matching pages.
    pub total: u64,
    /// The page of the results.
    pub page: u32,
    /// The number of results per page.
    pub per_page: u32,
    /// The results of this page, the best first.
    pub results: Vec<Hit>,
    /// The facets of all matching pages.
    pub facets: Facets,
    /// The corrected words.
    pub corrections: Vec<Correction>,
    /// Words that were only looked up in pages whose language does not have them as stop words, as
    /// the query has no others.
    pub stop_words: Vec<String>,
}

/// A matching page. In JSON, title and snippet are texts, and their matches are in fields of their
/// own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// The page.
    pub url: String,
    /// Its title; empty if it has none.
    #[serde(flatten, serialize_with = "title")]
    pub title: Marked,
    /// The part of its text with the most matches, or its description.
    #[serde(flatten, serialize_with = "snippet")]
    pub snippet: Marked,
    /// The host, and the port unless it is the default.
    pub site: String,
    /// The primary language; `und` if unknown.
    pub language: String,
    /// The types of its items.
    pub types: Vec<String>,
    /// The date of the page: its own, otherwise the day of the request that found its current
    /// content.
    pub day: Option<Date>,
    /// Its rank among the pages of the site, whose average is 1.
    pub rank: f64,
    /// How many pages link to it.
    pub linked_from: u64,
    /// How well it matches. Only scores of one query can be compared.
    pub score: Score,
}

fn title<S: Serializer>(title: &Marked, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Fields {
        title: String,
        title_matches: Vec<(usize, usize)>,
    }
    Fields { title: title.text(), title_matches: title.matches() }.serialize(to)
}

fn snippet<S: Serializer>(snippet: &Marked, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Fields {
        snippet: String,
        snippet_matches: Vec<(usize, usize)>,
    }
    Fields { snippet: snippet.text(), snippet_matches: snippet.matches() }.serialize(to)
}

/// The number of matching pages by value, the most frequent first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Facets {
    /// By site.
    pub sites: Vec<FacetCount>,
    /// By language.
    pub languages: Vec<FacetCount>,
    /// By the types of their items.
    pub types: Vec<FacetCount>,
}

/// The number of pages with a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FacetCount {
    /// The value.
    pub value: String,
    /// The number of pages.
    pub pages: u64,
}

impl Facets {
    const FIELDS: [&str; 3] = ["site", "language", "type"];

    fn collector() -> Result<AggregationCollector, IndexError> {
        // Each segment of the index counts all values, so that the sums are exact.
        let terms = Self::FIELDS.map(|field| {
            (
                field,
                serde_json::json!({ "terms": { "field": field, "size": FACET_VALUES_MAX, "segment_size": 60_000 } }),
            )
        });
        let wanted: Aggregations = serde_json::from_value(serde_json::Value::from_iter(terms))?;
        Ok(AggregationCollector::from_aggs(wanted, Default::default()))
    }

    fn from_results(mut counted: AggregationResults) -> Self {
        let mut counts = |field: &str| match counted.0.remove(field) {
            Some(AggregationResult::BucketResult(BucketResult::Terms { buckets, .. })) => {
                let mut counts: Vec<FacetCount> = buckets
                    .into_iter()
                    .map(|bucket| FacetCount {
                        value: bucket.key_as_string.unwrap_or_else(|| bucket.key.to_string()),
                        pages: bucket.doc_count,
                    })
                    .collect();
                counts.sort_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.value.cmp(&b.value)));
                counts
            }
            _ => Vec::new(),
        };
        let [site, language, kind] = Self::FIELDS;
        Self { sites: counts(site), languages: counts(language), types: counts(kind) }
    }
}

impl Index {
    /// Runs a search.
    ///
    /// # Errors
    /// The query is not valid, or the index cannot be read.
    pub fn search(&self, request: &Request) -> Result<Results, SearchError> {
        let node = parse(&request.query)?;
        self.results(request, &node).map_err(|error| self.index_error(error))
    }

    fn results(&self, request: &Request, node: &Node) -> Result<Results, IndexError> {
        let lookup = self.lookup()?;
        let Compiled { query, notes: Notes { marked, corrections, stop_words } } =
            lookup.compile(node, request.typos)?;
        let per_page = request.per_page.clamp(1, PER_PAGE_MAX);
        let page = request.page.get().min(SHOWN_MAX / per_page);
        let (top, total, facets) = best(&lookup, query.as_ref(), (page - 1) * per_page, per_page)?;
        let mut marks: HashMap<String, Marks> = HashMap::new();
        let (scores, addresses): (Vec<Score>, Vec<DocAddress>) = top.into_iter().unzip();
        let mut results = Vec::with_capacity(scores.len());
        for (score, entry) in scores.into_iter().zip(self.entries(&lookup.searcher, &addresses)?) {
            let marks = marks
                .entry(entry.language.clone())
                .or_insert_with(|| Marks::new(lookup.word_maker(&entry.language), &marked));
            results.push(Hit::new(entry, score, marks));
        }
        Ok(Results { total, page, per_page, results, facets, corrections, stop_words })
    }
}

impl Hit {
    pub(crate) fn new(entry: Entry, score: Score, marks: &mut Marks) -> Self {
        let about = entry.description.as_deref().filter(|about| !about.is_empty());
        let snippet = marks.snippet(&entry.text).or_else(|| marks.snippet(&entry.around.join("\n")));
        Self {
            title: marks.mark(entry.title.as_deref().unwrap_or_default()),
            snippet: snippet
                .unwrap_or_else(|| about.map_or_else(|| Marked::beginning(&entry.text), |about| marks.mark(about))),
            url: entry.url,
            site: entry.site,
            language: entry.language,
            types: entry.types,
            day: entry.day,
            rank: entry.rank,
            linked_from: entry.linked_from,
            score,
        }
    }
}

/// The best matching pages, the number of all, and their facets.
type Best = (Vec<(Score, DocAddress)>, u64, Facets);

pub(crate) fn best(lookup: &Lookup, query: &dyn Query, after: u32, count: u32) -> Result<Best, IndexError> {
    let Lookup { searcher, fields, .. } = lookup;
    let name = |field| searcher.schema().get_field_name(field).to_owned();
    let (rank, tie) = (name(fields.rank), name(fields.tie));
    let key = move |segment: &SegmentReader| {
        // The columns exist, as every page has a value in each.
        let ranks = segment.fast_fields().f64(&rank).ok().map(|ranks| ranks.first_or_default_col(0.0));
        let ties = segment.fast_fields().u64(&tie).ok().map(|ties| ties.first_or_default_col(0));
        move |id: DocId, score: Score| {
            let rank = ranks.as_ref().map_or(0.0, |ranks| ranks.get_val(id));
            #[expect(clippy::cast_possible_truncation, reason = "a factor between one and a few")]
            let factor = RANK_WEIGHT.mul_add((1.0 + rank).log2(), 1.0) as Score;
            // Equal scores have the same order in every index of the same pages. A sum of the same
            // numbers in another order may differ in its last bits.
            let score = Score::from_bits((score * factor).to_bits() & !0xff);
            (score, ties.as_ref().map_or(0, |ties| ties.get_val(id)))
        }
    };
    let top = TopDocs::with_limit(count as usize).and_offset(after as usize).tweak_score(key);
    let (top, total, facets) =
        searcher.search_with_statistics_provider(query, &(top, Count, Facets::collector()?), lookup)?;
    let top = top.into_iter().map(|((score, _), address)| (score, address)).collect();
    Ok((top, total as u64, Facets::from_results(facets)))
}
