//! The stages of a crawl, one by one: `cargo bench --package dragline-bench`.
//!
//! The times are best cases: the data is in the processor's caches, and no stage waits for another.

mod sample;
mod sqlite;

use divan::Bencher;
use divan::counter::BytesCount;
use dragline_domain::content::ContentLevel;
use dragline_domain::definition::Noindex;
use dragline_extract::typed::Types;
use dragline_extract::{MainRules, Settings, Source, extract};
use dragline_formats::warc::{
    CaptureEvent, HttpProtocol, Record, RecordId, Sha1Digest, TargetUri, WarcInfo, WarcWriter, http_response_head,
};
use dragline_pipeline::crawl::SegmentRecords;
use dragline_ports::fetcher::Fetcher;
use jiff::Timestamp;

use sample::{Fetches, Sample, url_rules, visit};

fn main() {
    divan::main();
}

/// A whole request on an open loopback connection, with the digest of the decoded body.
#[divan::bench]
fn fetch(bencher: Bencher<'_, '_>) {
    let fetches = Fetches::begin();
    bencher
        .with_inputs(|| fetches.request("/page/1.html"))
        .bench_local_values(|request| fetches.runtime.block_on(fetches.fetcher.fetch(request)));
}

/// The digest of a body.
#[divan::bench(args = Sample::ALL)]
fn digest(bencher: Bencher<'_, '_>, sample: Sample) {
    let body = sample.body();
    bencher.counter(BytesCount::of_slice(&body)).bench(|| Sha1Digest::compute(divan::black_box(&body)));
}

/// A response record: compression.
#[divan::bench(args = Sample::ALL)]
fn compress(bencher: Bencher<'_, '_>, sample: Sample) {
    let response = sample.response();
    let event = CaptureEvent {
        date: Timestamp::UNIX_EPOCH,
        target_uri: TargetUri::new(sample.url().as_str()),
        ip_address: None,
        protocol: Some(HttpProtocol::Http11),
        warcinfo_id: None,
    };
    let digest = Sha1Digest::compute(&sample.body());
    let head = http_response_head(response.status, &response.reason, &response.headers, response.body.len_bytes());
    let record = Record::response(RecordId::from_bits(1), &event, head, response.body.clone(), digest);
    bencher.counter(BytesCount::of_slice(&sample.body())).with_inputs(WarcWriter::new).bench_local_refs(|writer| {
        writer.write(&record);
    });
}

/// The archived records of a page: response and request, with all digests.
#[divan::bench(args = Sample::ALL)]
fn record(bencher: Bencher<'_, '_>, sample: Sample) {
    let (fetched, url, visit) = (sample.fetched(), sample.url(), visit());
    let begin = || SegmentRecords::new(1, &WarcInfo::default(), Timestamp::UNIX_EPOCH);
    bencher.counter(BytesCount::of_slice(&sample.body())).with_inputs(begin).bench_local_refs(|records| {
        records.add_fetched(&url, Timestamp::UNIX_EPOCH, &visit, &fetched);
    });
}

/// Parsing of a body into a document: character set, HTML, text and links.
#[divan::bench(args = Sample::ALL)]
fn parse(bencher: Bencher<'_, '_>, sample: Sample) {
    let (response, url, url_rules) = (sample.response(), sample.url(), url_rules());
    let settings = Settings {
        product_token: "bench",
        url_rules: &url_rules,
        decoded_bytes_max: 10 << 20,
        noindex: Noindex::Obey,
        content: ContentLevel::default(),
        types: Types::NONE,
        main: MainRules::NONE,
    };
    let body = sample.body();
    bencher.counter(BytesCount::of_slice(&body)).bench(|| {
        let source = Source { url: &url, headers: &response.headers, body: &body };
        extract(&source, &settings)
    });
}
