//! The archive: objects are written once and read back whole or in part.

use bytes::Bytes;
use dragline_domain::frontier::ObjectKey;
use dragline_ports::archive::{Archive, Put};
use dragline_ports::error::PortErrorKind;
use futures_util::future::join_all;

/// Runs every behaviour of an archive on `(archive, guard)`, which the future given makes; the guard is dropped after the test.
/// With `rejections` before the future, expands to an expression: the names of the behaviours that fail.
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
        }
    };
}

fn key(text: &str) -> ObjectKey {
    ObjectKey::try_from(text.to_owned()).expect("a key")
}

/// The first put wins; later ones change nothing.
pub async fn objects_are_never_overwritten(archive: &impl Archive) {
    let key = key("raw/c/1/o/1-0-a.warc.gz");
    assert_eq!(archive.get(&key, 100).await.unwrap(), None, "no object yet");
    assert_eq!(archive.put_new(&key, Bytes::from_static(b"first")).await.unwrap(), Put::Stored);
    assert_eq!(archive.put_new(&key, Bytes::from_static(b"second")).await.unwrap(), Put::Exists);
    assert_eq!(archive.get(&key, 100).await.unwrap(), Some(Bytes::from_static(b"first")));
}

/// Of many concurrent puts under one key exactly one is told that it stored the object, and its object is kept.
pub async fn of_many_who_put_an_object_one_stores_it(archive: &impl Archive) {
    let key = key("raw/x");
    let put = async |number: u8| (number, archive.put_new(&key, vec![number; 1_000].into()).await.unwrap());
    let answers = join_all((0..16).map(put)).await;
    let winners: Vec<u8> = answers.iter().filter(|(_, put)| *put == Put::Stored).map(|(number, _)| *number).collect();
    assert_eq!(winners.len(), 1, "{answers:?}");
    assert_eq!(archive.get(&key, 1_000).await.unwrap(), Some(vec![winners[0]; 1_000].into()), "the winner's");
}

/// A range beyond the end of an object is cut at the end.
pub async fn parts_are_clipped_at_the_end(archive: &impl Archive) {
    let key = key("raw/x");
    assert_eq!(archive.get_range(&key, 0..1).await.unwrap(), None, "no object");
    archive.put_new(&key, Bytes::from_static(b"0123456789")).await.unwrap();
    for (range, expected) in [(0..3, "012"), (3..10, "3456789"), (8..99, "89"), (4..4, "")] {
        let part = archive.get_range(&key, range.clone()).await.unwrap();
        assert_eq!(part, Some(Bytes::from_static(expected.as_bytes())), "{range:?}");
    }
}

/// An object larger than the caller's limit is an error of its own kind.
pub async fn an_object_over_the_limit_is_refused(archive: &impl Archive) {
    let key = key("raw/x");
    archive.put_new(&key, Bytes::from_static(b"12345")).await.unwrap();
    assert_eq!(archive.get(&key, 5).await.unwrap().map(|bytes| bytes.len()), Some(5), "just fits");
    assert_eq!(archive.get(&key, 4).await.unwrap_err().kind, PortErrorKind::TooLarge);
}

/// Keys are listed by prefix in byte order, page by page; directories make no difference.
pub async fn lists_are_in_order_and_in_pages(archive: &impl Archive) {
    let ordered = ["raw/a-b/1", "raw/a/1", "raw/a/2", "raw/a/20", "raw/a/3/4", "raw/b"];
    for text in ordered.iter().rev() {
        archive.put_new(&key(text), Bytes::new()).await.unwrap();
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
    archive.put_new(&key, Bytes::from_static(b"1")).await.unwrap();
    for _ in 0..2 {
        archive.delete(&key).await.unwrap();
        assert_eq!(archive.get(&key, 10).await.unwrap(), None);
    }
    assert_eq!(archive.put_new(&key, Bytes::from_static(b"2")).await.unwrap(), Put::Stored);
}

/// A replaced object has the new bytes alone, under the same key; a missing one stays missing.
pub async fn an_object_is_replaced_whole_and_only_if_it_is_there(archive: &impl Archive) {
    let key = key("raw/c/1/o/1-0-a.warc.gz");
    archive.replace(&key, Bytes::from_static(b"nothing")).await.unwrap();
    assert_eq!(archive.get(&key, 100).await.unwrap(), None, "there was none");
    archive.put_new(&key, Bytes::from_static(b"a longer first")).await.unwrap();
    for bytes in ["second", "second"] {
        archive.replace(&key, Bytes::from_static(bytes.as_bytes())).await.unwrap();
        assert_eq!(archive.get(&key, 100).await.unwrap(), Some(Bytes::from_static(b"second")), "nothing of the first");
    }
    assert_eq!(archive.list("", None, 9).await.unwrap(), [key], "and nothing beside it");
}
