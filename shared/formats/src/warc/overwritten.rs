//! Overwriting a record in its place: with a gzip member of exactly the same length, so that the records after it keep their offsets.
//!
//! What the new member lacks in length is filled with empty stored blocks of five bytes (RFC 1951 §3.2.4), and up to four bytes of a comment in its gzip
//! header (RFC 1952 §2.3, `FCOMMENT`). Readers skip both. A comment alone would do, but some readers, ours among them, refuse one over 64 KiB.

use flate2::Crc;
use jiff::Timestamp;
use libdeflater::{CompressionLvl, Compressor};

use super::fields::{parse_fields, push_field};
use super::ids::RecordId;
use super::{Sha1Digest, StoredRecord};

/// A gzip header that says only that a comment follows.
const HEAD_WITH_COMMENT: [u8; 10] = [0x1f, 0x8b, 8, 0x10, 0, 0, 0, 0, 0, 0xff];

/// The same without a comment.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// The checksum and the length, which follow the content.
const TAIL_BYTES: usize = 8;

/// What the comment is made of.
const FILLING: u8 = b'.';

/// A stored block of no bytes, which is not the last.
const EMPTY_BLOCK: [u8; 5] = [0, 0, 0, 0xff, 0xff];

/// The levels of compression that are tried, in this order.
const LEVELS: [i32; 3] = [3, 9, 12];

/// Returns a record that says nothing, as a gzip member of this length: a `metadata` record without a target and without a block. `None` if that is
/// longer: a record of ours never is shorter, as it names a target and has digests.
///
/// The same arguments give the same bytes.
#[must_use]
pub fn tombstone(id: RecordId, date: Timestamp, length_bytes: u64) -> Option<Vec<u8>> {
    let mut raw = b"WARC/1.1\r\n".to_vec();
    push_field(&mut raw, "WARC-Type", "metadata");
    push_field(&mut raw, "WARC-Record-ID", &id.to_string());
    push_field(&mut raw, "WARC-Date", &date.to_string());
    // Indexers leave out what has no content of its own.
    push_field(&mut raw, "Content-Type", "application/warc-fields");
    push_field(&mut raw, "Content-Length", "0");
    raw.extend_from_slice(b"\r\n\r\n\r\n");
    member_of_length(&raw, length_bytes)
}

/// Whether a record is one that [`tombstone`] made.
#[must_use]
pub fn is_tombstone(record: &StoredRecord) -> bool {
    record.record_type == super::RecordType::Metadata && record.target_uri().is_none() && record.block.is_empty()
}

/// What becomes of a record some of whose fields change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overwritten {
    /// It has none of them.
    Unchanged,
    /// It is overwritten by this gzip member of the same length.
    By(Vec<u8>),
    /// It would be longer than it was.
    TooLong,
}

impl StoredRecord {
    /// Returns the record with other values of some fields, as a gzip member of the same length as it has. `change` returns the new value of a field; `None`
    /// leaves it. A line of the block of a `metadata` record is left out if `leave_out` says so of its name and value.
    #[must_use]
    pub fn overwritten(
        &self,
        change: impl Fn(&str, &str) -> Option<String>,
        leave_out: impl Fn(&str, &str) -> bool,
    ) -> Overwritten {
        let block = match self.record_type {
            super::RecordType::Metadata => without_lines(&self.block, leave_out),
            _ => self.block.clone(),
        };
        let mut has_changed = block != self.block;
        let mut raw = b"WARC/1.1\r\n".to_vec();
        for (name, value) in self.fields.iter() {
            let value = match name {
                "Content-Length" => block.len().to_string(),
                "WARC-Block-Digest" if has_changed => Sha1Digest::of(&block).to_string(),
                name => change(name, value).inspect(|_| has_changed = true).unwrap_or_else(|| value.to_owned()),
            };
            push_field(&mut raw, name, &value);
        }
        raw.extend_from_slice(b"\r\n");
        raw.extend_from_slice(&block);
        raw.extend_from_slice(b"\r\n\r\n");
        match has_changed {
            false => Overwritten::Unchanged,
            true => member_of_length(&raw, self.span.length).map_or(Overwritten::TooLong, Overwritten::By),
        }
    }
}

fn without_lines(block: &[u8], leave_out: impl Fn(&str, &str) -> bool) -> Vec<u8> {
    let mut kept = Vec::new();
    for (name, value) in parse_fields(block).iter().filter(|(name, value)| !leave_out(name, value)) {
        push_field(&mut kept, name, value);
    }
    kept
}

/// Compresses bytes into a member of exactly this length; `None` if they do not fit.
fn member_of_length(raw: &[u8], length_bytes: u64) -> Option<Vec<u8>> {
    let length = usize::try_from(length_bytes).ok()?;
    let deflated =
        LEVELS.into_iter().map(|level| deflated(raw, level)).find(|deflated| fits(deflated.len(), length))?;
    let mut member = Vec::with_capacity(length);
    let room = length - HEAD.len() - deflated.len() - TAIL_BYTES;
    match room % EMPTY_BLOCK.len() {
        0 => member.extend_from_slice(&HEAD),
        comment => {
            member.extend_from_slice(&HEAD_WITH_COMMENT);
            member.resize(HEAD.len() + comment - 1, FILLING);
            member.push(0);
        }
    }
    (0..room / EMPTY_BLOCK.len()).for_each(|_| member.extend_from_slice(&EMPTY_BLOCK));
    member.extend_from_slice(&deflated);
    let mut checksum = Crc::new();
    checksum.update(raw);
    member.extend_from_slice(&checksum.sum().to_le_bytes());
    member.extend_from_slice(&checksum.amount().to_le_bytes());
    Some(member)
}

const fn fits(deflated: usize, length: usize) -> bool {
    HEAD.len() + deflated + TAIL_BYTES <= length
}

fn deflated(raw: &[u8], level: i32) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::new(level).expect("one of libdeflate's levels"));
    let mut deflated = vec![0; compressor.deflate_compress_bound(raw.len())];
    let length = compressor.deflate_compress(raw, &mut deflated).expect("the bound is one");
    deflated.truncate(length);
    deflated
}

#[cfg(test)]
mod tests {
    use super::super::{
        CaptureEvent, Metadata, ReadLimits, Record, TargetUri, WarcInfo, WarcReader, WarcWriter, read_record,
    };
    use super::*;

    fn event(uri: &str) -> CaptureEvent {
        CaptureEvent {
            date: Timestamp::UNIX_EPOCH,
            target_uri: TargetUri::new(uri),
            ip_address: None,
            protocol: None,
            warcinfo_id: None,
        }
    }

    #[test]
    fn a_tombstone_is_as_long_as_it_has_to_be() {
        let shortest = (1..).find(|length| tombstone(RecordId::from_bits(1), Timestamp::UNIX_EPOCH, *length).is_some());
        let shortest = shortest.unwrap();
        for length in (shortest..shortest + 300).chain([70_000, 5 << 20]) {
            let member = tombstone(RecordId::from_bits(1), Timestamp::UNIX_EPOCH, length).unwrap();
            assert_eq!(member.len() as u64, length);
            let record = read_record(&member, ReadLimits::default()).unwrap();
            assert!(is_tombstone(&record) && record.span.length == length, "{length}: {record:?}");
        }
        // The shortest that is ever written: it was not fetched, is a seed, and has the shortest URL.
        let mut writer = WarcWriter::new();
        let record = Record::metadata(RecordId::from_bits(2), &event("http://a/"), &Metadata::default());
        let written = writer.write(&record);
        assert!(shortest < written.length, "{shortest} of {}", written.length);
    }

    #[test]
    fn what_follows_an_overwritten_record_keeps_its_place() {
        let mut writer = WarcWriter::new();
        let info = Record::warcinfo(RecordId::from_bits(1), Timestamp::UNIX_EPOCH, &WarcInfo::default());
        let metadata = Metadata { via: Some("http://a/secret".to_owned()), fetch_time: None };
        let of = |bits, uri: &str| Record::metadata(RecordId::from_bits(bits), &event(uri), &metadata);
        let spans = [info, of(2, "http://a/secret"), of(3, "http://a/other")].map(|record| writer.write(&record));
        let mut file = writer.take_file();
        let whole = read_all(&file);
        let put = |file: &mut Vec<u8>, span: usize, member: &[u8]| {
            let start = usize::try_from(spans[span].offset).unwrap();
            file[start..start + member.len()].copy_from_slice(member);
        };
        put(&mut file, 1, &tombstone(RecordId::from_bits(2), Timestamp::UNIX_EPOCH, spans[1].length).unwrap());
        let changed = whole[2].overwritten(|_, _| None, |name, value| (name, value) == ("via", "http://a/secret"));
        let Overwritten::By(member) = changed else { panic!("{changed:?}") };
        put(&mut file, 2, &member);
        let records = read_all(&file);
        assert_eq!(records.iter().map(|record| record.span).collect::<Vec<_>>(), spans);
        assert!(is_tombstone(&records[1]));
        assert_eq!(records[2].target_uri(), Some("http://a/other"));
        assert_eq!(records[2].verify_block_digest(), super::super::DigestCheck::Match, "{:?}", records[2]);
        assert!(records[2].block.is_empty(), "nothing else was in it");
        assert_eq!(whole[2].overwritten(|_, _| None, |_, _| false), Overwritten::Unchanged, "nothing to change");
    }

    fn read_all(file: &[u8]) -> Vec<StoredRecord> {
        WarcReader::new(file, ReadLimits::default()).map(Result::unwrap).collect()
    }
}
