//! The archive: objects are written once and read back whole or in part.

use std::io::{self, Write as _};
use std::ops::Range;

use bytes::Bytes;
use dragline_domain::frontier::ObjectKey;
use dragline_formats::blob::{Blob, Spool};
use dragline_ports::archive::{Archive, PutResult};
use dragline_ports::error::PortErrorKind;
use futures_util::future::join_all;

/// Runs every behaviour of an archive on `(archive, guard)`, which the future given makes; the
/// guard is dropped after the test.
#[macro_export]
macro_rules! archive_suite {
    ($make:expr) => {
        $crate::archive_suite! { behaviours, $make }
    };
    ($what:ident, $make:expr) => {
        $crate::$what! { archive, $make;
            objects_are_never_overwritten
            of_many_who_put_an_object_one_stores_it
            parts_are_clipped_at_the_end
            an_object_over_the_limit_is_refused
            lists_are_in_order_and_in_pages
            deleting_twice_is_no_error
            an_object_is_replaced_whole_and_only_if_it_is_there
            a_large_object_goes_through_files
        }
    };
}

/// Returns an object's bytes.
async fn got(archive: &impl Archive, key: &ObjectKey, bytes_max: u64) -> Option<Bytes> {
    archive.get(key, bytes_max).await.unwrap().map(|object| object.bytes().expect("it can be read"))
}

/// Returns part of an object's bytes.
async fn part(archive: &impl Archive, key: &ObjectKey, range: Range<u64>) -> Option<Bytes> {
    archive.get_range(key, range).await.unwrap().map(|object| object.bytes().expect("it can be read"))
}

fn key(text: &str) -> ObjectKey {
    ObjectKey::try_from(text.to_owned()).expect("a key")
}

/// The first put wins; later ones change nothing.
pub async fn objects_are_never_overwritten(archive: &impl Archive) {
    let key = key("raw/c/1/o/1-0-a.warc.gz");
    assert_eq!(got(archive, &key, 100).await, None, "no object yet");
    assert_eq!(archive.put_new(&key, "first".into()).await.unwrap(), PutResult::Stored);
    assert_eq!(archive.put_new(&key, "second".into()).await.unwrap(), PutResult::Exists);
    assert_eq!(got(archive, &key, 100).await, Some(Bytes::from_static(b"first")));
}

/// Of many concurrent puts under one key exactly one is told that it stored the object, and its
/// object is kept.
pub async fn of_many_who_put_an_object_one_stores_it(archive: &impl Archive) {
    let key = key("raw/x");
    let put = async |number: u8| (number, archive.put_new(&key, vec![number; 1_000].into()).await.unwrap());
    let answers = join_all((0..16).map(put)).await;
    let winners: Vec<u8> =
        answers.iter().filter(|(_, put)| *put == PutResult::Stored).map(|(number, _)| *number).collect();
    assert_eq!(winners.len(), 1, "{answers:?}");
    assert_eq!(got(archive, &key, 1_000).await, Some(vec![winners[0]; 1_000].into()), "the winner's");
}

/// A range beyond the end of an object is cut at the end.
pub async fn parts_are_clipped_at_the_end(archive: &impl Archive) {
    let key = key("raw/x");
    assert_eq!(part(archive, &key, 0..1).await, None, "no object");
    archive.put_new(&key, "0123456789".into()).await.unwrap();
    for (range, expected) in [(0..3, "012"), (3..10, "3456789"), (8..99, "89"), (4..4, "")] {
        let part = part(archive, &key, range.clone()).await;
        assert_eq!(part, Some(Bytes::from_static(expected.as_bytes())), "{range:?}");
    }
}

/// An object larger than the caller's limit is an error of its own kind.
pub async fn an_object_over_the_limit_is_refused(archive: &impl Archive) {
    let key = key("raw/x");
    archive.put_new(&key, "12345".into()).await.unwrap();
    assert_eq!(got(archive, &key, 5).await.map(|bytes| bytes.len()), Some(5), "just fits");
    assert_eq!(archive.get(&key, 4).await.unwrap_err().kind, PortErrorKind::TooLarge);
}

/// Keys are listed by prefix in byte order, page by page; directories make no difference.
pub async fn lists_are_in_order_and_in_pages(archive: &impl Archive) {
    let ordered = ["raw/a-b/1", "raw/a/1", "raw/a/2", "raw/a/20", "raw/a/3/4", "raw/b"];
    for text in ordered.iter().rev() {
        archive.put_new(&key(text), Blob::default()).await.unwrap();
    }
    for (prefix, after, limit, expected, why) in [
        ("", None, 10, &ordered[..], "all"),
        ("raw/a/", None, 10, &ordered[1..5], "a directory"),
        ("raw/a/2", None, 10, &ordered[2..4], "part of a name"),
        ("raw/a", None, 10, &ordered[..5], "part of a directory's name"),
        ("raw/", Some("raw/a/2"), 2, &ordered[3..5], "the next page"),
        ("raw/", Some("raw/a/1z"), 1, &ordered[2..3], "after a key that does not exist"),
        ("raw/", Some("raw/b"), 10, &[], "after the last"),
        ("none/", None, 10, &[], "no such prefix"),
    ] {
        let listed = archive.list(prefix, after.map(key).as_ref(), limit).await.unwrap();
        assert_eq!(listed.iter().map(ObjectKey::as_str).collect::<Vec<_>>(), expected, "{why}");
    }
}

/// A deleted object is gone; its key may be deleted again, and put again.
pub async fn deleting_twice_is_no_error(archive: &impl Archive) {
    let key = key("raw/x");
    archive.put_new(&key, "1".into()).await.unwrap();
    for _ in 0..2 {
        archive.delete(&key).await.unwrap();
        assert_eq!(got(archive, &key, 10).await, None);
    }
    assert_eq!(archive.put_new(&key, "2".into()).await.unwrap(), PutResult::Stored);
}

/// A replaced object has the new bytes alone, under the same key; a missing one stays missing.
pub async fn an_object_is_replaced_whole_and_only_if_it_is_there(archive: &impl Archive) {
    let key = key("raw/c/1/o/1-0-a.warc.gz");
    archive.replace(&key, "nothing".into()).await.unwrap();
    assert_eq!(got(archive, &key, 100).await, None, "there was none");
    archive.put_new(&key, "a longer first".into()).await.unwrap();
    for bytes in ["second", "second"] {
        archive.replace(&key, bytes.into()).await.unwrap();
        assert_eq!(got(archive, &key, 100).await, Some(Bytes::from_static(b"second")), "nothing of the first");
    }
    assert_eq!(archive.list("", None, 9).await.unwrap(), [key], "and nothing beside it");
}

/// An object that is in a file is put, read and replaced as any other, and no large one is read
/// into memory. What was read stays what it was.
pub async fn a_large_object_goes_through_files(archive: &impl Archive) {
    const LARGE_BYTES: u64 = 9 << 20;
    let key = key("raw/c/1/o/1-0-a.warc.gz");
    let first = in_file(LARGE_BYTES, 1).expect("a file can be written");
    assert_eq!(archive.put_new(&key, first.clone()).await.unwrap(), PutResult::Stored);
    assert_eq!(archive.put_new(&key, in_file(LARGE_BYTES, 2).unwrap()).await.unwrap(), PutResult::Exists);
    let read = archive.get(&key, LARGE_BYTES).await.unwrap().expect("it is there");
    assert!(read.in_memory().is_none() && are_same(&read, &first), "as it was put: {read:?}");
    let refused = archive.get(&key, LARGE_BYTES - 1).await.unwrap_err().kind;
    assert_eq!(refused, PortErrorKind::TooLarge, "over the limit");
    for range in [0..LARGE_BYTES + 1, 7..LARGE_BYTES, 5 << 20..(5 << 20) + 3, LARGE_BYTES - 2..LARGE_BYTES + 2] {
        let part = archive.get_range(&key, range.clone()).await.unwrap().expect("it is there");
        assert!(are_same(&part, &first.part(range.clone())), "{range:?}: {part:?}");
    }
    let second = in_file(LARGE_BYTES + 1, 3).unwrap();
    archive.replace(&key, second.clone()).await.unwrap();
    assert!(are_same(&archive.get(&key, u64::MAX).await.unwrap().expect("it is there"), &second), "replaced");
    assert!(are_same(&read, &first), "what was read before");
    archive.delete(&key).await.unwrap();
    assert_eq!(got(archive, &key, u64::MAX).await, None);
}

/// Returns this many bytes in a file, which differ from place to place and by the seed.
fn in_file(bytes: u64, seed: u32) -> io::Result<Blob> {
    let mut writer = Spool::default().begin();
    // No part is like another at the distance of a window or of a block.
    let part = format!("{seed} follows itself after an odd number of bytes. ");
    let length = usize::try_from(bytes).map_err(io::Error::other)?;
    writer.write_all(&part.repeat(length / part.len() + 1).as_bytes()[..length])?;
    writer.finish()
}

fn are_same(one: &Blob, other: &Blob) -> bool {
    one.bytes().expect("it can be read") == other.bytes().expect("it can be read")
}
