//! The largest rows, keys and transactions that the steps produce, which are stored like any other.

use dragline_domain::frontier::{
    ChunkKey, Claim, Claimer, EXHAUSTED_CHUNKS_MAX, Lease, OriginKey, PART_CHUNKS_MAX, PartKind, Retry, Seeding,
    SegmentCommitted, TodoChunk, TodoPlace, TodoSource, UrlHistory,
};
use dragline_domain::missing_page::{MissingAnswer, MissingPage, MissingSign, PagePrint, TITLE_CHARS_MAX};
use dragline_domain::simhash::Simhash;
use dragline_domain::use_preferences::{
    Purpose, RslAnswer, RslFile, RslTerms, TdmAnswer, TdmFile, TdmRule, UseStand, UseStands,
};
use dragline_formats::robots::{RobotsFetch, RobotsRecord};
use dragline_ports::error::PortErrorKind;
use dragline_ports::frontier::{Frontier, ParseCommitted, RobotsRow, SeedOrigin, SeedResult};

use super::super::samples::{at, entry, key, sighting, trigger};
use super::super::world::{UNLIMITED, World, long_path};

/// A thousand URLs of the maximum length that differ only at their ends are claimed at once.
pub async fn a_thousand_long_urls_are_told_apart(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    let paths: Vec<String> = (0..1_000).map(long_path).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let [ours, theirs] = ["x", "y"].map(|by| Claimer::trigger(&trigger(by)));
    let (first, rest) = paths.split_at(10);
    let own = |count| vec![Claim::Own { known: UrlHistory::default() }; count];
    assert_eq!(world.claim(&origin, ours.clone(), first).await, own(first.len()), "each is new");
    let taken = Claim::Taken { by: ours, found_at: Some(sighting(1).seed_distance()) };
    let expected = [vec![taken; first.len()], own(rest.len())].concat();
    assert_eq!(world.claim(&origin, theirs, &paths).await, expected, "in the order of the request");
}

/// A robots.txt of the size that must be read (RFC 9309: 500 KiB) is read back.
pub async fn a_large_robots_txt_comes_back(frontier: &impl Frontier) {
    let origin = key("a.example");
    let mut body = String::from("User-agent: *\n");
    for number in 0.. {
        let line = format!("Disallow: /a/path/that/nobody/needs/{number}/*.html$\n");
        if body.len() + line.len() > 500 * 1_024 {
            break;
        }
        body.push_str(&line);
    }
    let record = RobotsRecord::from_fetch(&RobotsFetch::Answered { status: 200, body: body.as_bytes() });
    let row = RobotsRow { record, fetched_at: at(0), expires_at: at(1_800) };
    frontier.put_robots(&origin, &row).await.unwrap();
    assert!(frontier.load_robots(&origin).await.unwrap() == Some(row), "another robots.txt came back, or none");
}

/// A lease with as many retries as it may have, few of long URLs or many of short ones, and with
/// the largest print of a missing page and list of reservations, is committed and read back.
pub async fn a_lease_keeps_all_its_retries(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let mut lease = world.take(&origin, 1, 0).await;
    for path in [long_path as fn(usize) -> String, |number| format!("/{number}")] {
        let mut commit = world.segment(&origin, &lease, 1).await;
        let retries = &mut commit.lease.retries;
        while Retry::fits(&*retries, &entry(&path(retries.len()))) {
            retries.push(Retry { entry: entry(&path(retries.len())), depth: 3, tries: 2, not_before: at(9) });
        }
        let print = PagePrint { title: u64::MAX, words: u32::MAX, simhash: Simhash(u64::MAX) };
        commit.lease.missing = Some(Box::new(MissingPage {
            iteration: world.iteration,
            status: Some(200),
            url: None,
            title: Some("\u{10ffff}".repeat(TITLE_CHARS_MAX)),
            answer: MissingAnswer::Sign(MissingSign::Page(print)),
        }));
        let rule = TdmRule { location: format!("/{}", "\u{10ffff}".repeat(20)), stand: UseStand::Reserved };
        let answer = TdmAnswer::Rules(vec![rule; 50]);
        commit.lease.tdm = Some(Box::new(TdmFile { iteration: world.iteration, answer }));
        let reserved = |says: UseStands, purpose| says.with(purpose, UseStand::Reserved);
        let says = Purpose::ALL.into_iter().fold(UseStands::NOTHING, reserved);
        let terms = RslTerms { location: format!("/{}", "\u{10ffff}".repeat(20)), says };
        let (url, answer) = ("u".repeat(512), RslAnswer::Rules(vec![terms; 50]));
        commit.lease.rsl = Some(Box::new(RslFile { iteration: world.iteration, url, answer }));
        assert_eq!(frontier.commit_segment(&commit).await.unwrap(), SegmentCommitted::Done);
        assert_eq!(world.origin(&origin).await.lease, commit.lease, "nothing of it was lost or changed");
        lease = Lease { retries: Vec::new(), ..commit.lease };
    }
}

/// A seeding with this many chunks of one seed each.
fn seeds_in_chunks<F: Frontier>(world: &World<'_, F>, origin: &OriginKey, part: u32, count: usize) -> SeedOrigin {
    let seeding = Seeding::new(&trigger("t"), part);
    let chunk = |number| {
        let key = ChunkKey {
            iteration: world.iteration,
            place: TodoPlace::by_depth(0),
            source: TodoSource::seeds(&seeding),
            part: number,
        };
        TodoChunk { key, entries: vec![entry(&format!("/{part}/{number}"))] }
    };
    let chunks = (0..u32::try_from(count).unwrap()).map(chunk).collect();
    world.seeds(origin, seeding, chunks)
}

/// As many chunks of seeds as fit a transaction are added at once; with one more the seeding is
/// refused and changes nothing.
pub async fn seeds_that_fit_no_transaction_are_refused(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    let refused = frontier.seed_origin(&seeds_in_chunks(&world, &origin, 0, PART_CHUNKS_MAX + 1)).await;
    assert_eq!(refused.map_err(|error| error.kind), Err(PortErrorKind::TooLarge), "one too many");
    assert_eq!(frontier.load_origin(&origin).await.unwrap(), None, "nothing of it was stored");
    let fits = frontier.seed_origin(&seeds_in_chunks(&world, &origin, 0, PART_CHUNKS_MAX)).await.unwrap();
    assert_eq!((fits, world.origin(&origin).await.inbox.added), (SeedResult::Added, 32), "one less");
}

/// An inbox does not grow with the number of triggers that seed its origin.
pub async fn seedings_do_not_make_the_inbox_grow(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    world.seed(&origin, &["/"]).await;
    let before = world.origin(&origin).await.inbox;
    for number in 0..20 {
        let seeding = Seeding::new(&trigger(&format!("u{number}")), 0);
        let seeded = frontier.seed_origin(&world.seeds(&origin, seeding, Vec::new())).await.unwrap();
        assert_eq!(seeded, SeedResult::Added, "number {number}");
    }
    assert_eq!(world.origin(&origin).await.inbox, before, "it records none of them");
    for by in ["t", "u0", "u19"] {
        assert_eq!(world.seed_by(&origin, by, &[]).await, SeedResult::Already, "{by} came again");
    }
}

/// A segment exhausts as many chunks as a transaction can delete; with one more its commit is
/// refused and changes nothing.
pub async fn a_commit_that_fits_no_transaction_is_refused(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let origin = key("a.example");
    let mut chunks = Vec::new();
    for part in 0..4 {
        let seeds = seeds_in_chunks(&world, &origin, part, PART_CHUNKS_MAX);
        assert_eq!(frontier.seed_origin(&seeds).await.unwrap(), SeedResult::Added);
        chunks.extend(seeds.chunks.into_iter().map(|chunk| chunk.key));
    }
    let lease = world.take(&origin, 1, 0).await;
    let mut commit = world.segment(&origin, &lease, 1).await;
    commit.exhausted = chunks[..=EXHAUSTED_CHUNKS_MAX].to_vec();
    let refused = frontier.commit_segment(&commit).await;
    assert_eq!(refused.map_err(|error| error.kind), Err(PortErrorKind::TooLarge), "one too many");
    assert_eq!(frontier.load_segment(&commit.segment.id).await.unwrap(), None, "nothing of it was stored");
    commit.exhausted.pop();
    assert_eq!(frontier.commit_segment(&commit).await.unwrap(), SegmentCommitted::Done, "one less");
    let next = frontier.first_chunk(&origin, world.iteration, &[]).await.unwrap().map(|chunk| chunk.key);
    assert_eq!(next.as_ref(), chunks.get(EXHAUSTED_CHUNKS_MAX), "the others are gone");
}

/// One part of a parse adds todo to as many origins as fit a transaction, and opens each.
pub async fn a_part_opens_as_many_origins_as_fit(frontier: &impl Frontier) {
    let world = World::begin(frontier, UNLIMITED).await;
    let own = key("a.example");
    world.seed(&own, &["/"]).await;
    let segment = world.crawl_until_idle(&own, 1, 0).await;
    // Three actions for each target, and three for the part itself: 99 of 100.
    let targets: Vec<OriginKey> = (0..32).map(|number| key(&format!("{number}.example"))).collect();
    let found: Vec<(&OriginKey, &[&str])> = targets.iter().map(|target| (target, &["/"][..])).collect();
    assert_eq!(world.parse(&segment, (0, PartKind::Last), &found).await, ParseCommitted::Done);
    for target in &targets {
        assert_eq!(world.origin(target).await.inbox.added, 1, "{target}");
    }
    assert_eq!(world.row().await.open, 34, "the token and each origin");
}
