use std::fs;

use super::*;

/// Creates bytes that differ from their neighbours.
fn sample(bytes: usize) -> Vec<u8> {
    (0_u32..).flat_map(u32::to_be_bytes).take(bytes).collect()
}

fn spooled(spool: &Spool, bytes: &[u8], chunk_bytes: usize) -> io::Result<Blob> {
    let mut writer = spool.begin();
    for chunk in bytes.chunks(chunk_bytes) {
        writer.write_all(chunk)?;
    }
    assert_eq!(writer.len_bytes(), bytes.len() as u64);
    writer.finish()
}

#[test]
fn short_blobs_stay_in_memory_and_long_ones_go_to_a_nameless_file() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::new(folder.path().join("tmp"), u64::MAX);
    for (bytes, chunk_bytes, is_in_memory, why) in [
        (0, 1, true, "nothing"),
        (MEMORY_BYTES_MAX, 1 << 10, true, "just as much"),
        (MEMORY_BYTES_MAX + 1, 1 << 10, false, "a byte more"),
        (MEMORY_BYTES_MAX + 1, 4 << 20, false, "at once"),
        (3 << 20, 700_001, false, "several times as much"),
    ] {
        let content = sample(bytes);
        let blob = spooled(&spool, &content, chunk_bytes).unwrap();
        assert_eq!(blob.in_memory().is_some(), is_in_memory, "{why}");
        assert_eq!(blob.len_bytes(), bytes as u64, "{why}");
        assert!(blob.bytes().unwrap() == content, "{why}");
        let mut copied = Vec::new();
        assert_eq!(blob.copy_to(&mut copied).unwrap(), bytes as u64, "{why}");
        assert!(copied == content, "{why}");
    }
    let left = fs::read_dir(folder.path().join("tmp")).unwrap().count();
    assert_eq!(left, 0, "no file has a name");
}

#[test]
fn parts_are_clipped_at_the_end_in_memory_and_in_a_file() {
    let spool = Spool::default();
    let content = sample(MEMORY_BYTES_MAX + 100);
    let in_file = spooled(&spool, &content, 1 << 16).unwrap();
    let in_memory = Blob::from(content.clone());
    let end = content.len();
    for (range, expected, why) in [
        (0..3, 0..3, "the beginning"),
        (5..5, 5..5, "nothing"),
        (1_000..end - 1, 1_000..end - 1, "nearly all"),
        (end - 2..end + 9, end - 2..end, "beyond the end"),
        (end + 1..end + 9, end..end, "behind the end"),
    ] {
        for blob in [&in_file, &in_memory] {
            let part = blob.part(range.start as u64..range.end as u64);
            assert!(part.bytes().unwrap() == content[expected.clone()], "{why}: {blob:?}");
            let of_part = part.part(1..3).bytes().unwrap();
            assert!(of_part == content[expected.clone()].iter().copied().skip(1).take(2).collect::<Vec<_>>(), "{why}");
        }
    }
    let mut reader = in_file.reader();
    let mut other = reader.clone();
    reader.move_to(70_000);
    let mut read = [0; 8];
    reader.read_exact(&mut read).unwrap();
    assert_eq!(read, content[70_000..70_008], "from where it was moved to");
    other.read_exact(&mut read).unwrap();
    assert_eq!(read, content[..8], "each reader has a place of its own");
    assert_eq!(in_file.beginning(4).unwrap(), content[..4]);
}

#[test]
fn a_spool_is_full_until_a_blob_is_dropped() {
    let spool = Spool::new(std::env::temp_dir(), 5 << 20);
    let has_room = |mib: usize| spooled(&spool, &sample(mib << 20), 1 << 16).is_ok();
    let first = spooled(&spool, &sample(3 << 20), 1 << 16).unwrap();
    let full = spooled(&spool, &sample(3 << 20), 1 << 16).unwrap_err();
    assert_eq!(full.kind(), io::ErrorKind::QuotaExceeded, "{full}");
    assert!(has_room(2), "what failed takes nothing");
    assert!(spooled(&spool, &sample(MEMORY_BYTES_MAX), 1 << 16).is_ok(), "what stays in memory needs no room");
    let clone = first.part(0..1);
    drop(first);
    assert!(!has_room(3), "somebody still has part of it");
    drop(clone);
    assert!(has_room(3));
}

#[test]
fn arriving_bytes_wait_while_the_spool_is_full() {
    let spool = Spool::default();
    let arriving = spool.limited_to(5 << 20);
    let object = spooled(&spool, &sample(9 << 20), 1 << 16).expect("what has arrived is never refused");
    let full = spooled(&arriving, &sample(2 << 20), 1 << 16).unwrap_err();
    assert_eq!(full.kind(), io::ErrorKind::QuotaExceeded, "{full}");
    drop(object);
    assert!(spooled(&arriving, &sample(2 << 20), 1 << 16).is_ok());
}

#[test]
fn a_blob_without_room_continues_once_there_is_some() {
    let spool = Spool::new(std::env::temp_dir(), 2 << 20);
    let other = spooled(&spool, &sample(2 << 20), 1 << 16).unwrap();
    let content = sample(2 << 20);
    let mut writer = spool.begin();
    let (first, second) = content.split_at(MEMORY_BYTES_MAX);
    writer.write_all(first).unwrap();
    assert!(writer.spills(second.len()) && writer.write_all(second).is_err());
    drop(other);
    writer.write_all(second).unwrap();
    assert!(writer.finish().unwrap().bytes().unwrap() == content, "nothing is there twice or missing");
}

#[test]
fn bytes_without_room_are_cut_off() {
    for (room_bytes, kept_bytes, why) in [
        (0, MEMORY_BYTES_MAX, "what is in memory"),
        (2 << 20, 2 << 20, "what is in the file"),
        (9 << 20, 3 << 20, "all of it"),
    ] {
        let spool = Spool::new(std::env::temp_dir(), room_bytes);
        let content = sample(3 << 20);
        let mut writer = spool.begin();
        let _ = writer.write_all(&content);
        let blob = writer.finish_partial();
        assert!(blob.bytes().unwrap() == content[..kept_bytes], "{why}: {} bytes", blob.len_bytes());
    }
}
