//! Overwriting a record in place: with a gzip member of exactly the same length, so that later
//! records keep their offsets.
//!
//! If the new member is shorter, it is padded with empty stored blocks of five bytes (RFC 1951
//! §3.2.4), and up to four bytes of a comment in its gzip header (RFC 1952 §2.3, `FCOMMENT`).
//! Readers skip both. A comment alone would do, but some readers, ours among them, refuse one over
//! 64 KiB.

use std::io::{self, Write};

use flate2::Crc;
use jiff::Timestamp;
use libdeflater::{CompressionLvl, Compressor};

use super::fields::{parse_fields, push_field};
use super::ids::RecordId;
use super::member::{HEAD, Packing, tail, write_deflated};
use super::reader::{ReadLimits, read_record_into};
use super::writer::LEVEL_STREAMED;
use super::{Sha1Digest, StoredRecord, WarcError, WarcFault};
use crate::blob::{Blob, Spool};

/// A gzip header with only the flag for a comment.
const HEAD_WITH_COMMENT: [u8; 10] = [0x1f, 0x8b, 8, 0x10, 0, 0, 0, 0, 0, 0xff];

/// The checksum and the length, which follow the content.
const TAIL_BYTES: u64 = 8;

/// The character of the comment.
const FILLING: u8 = b'.';

/// An empty stored block, which is not the last.
const EMPTY_BLOCK: [u8; 5] = [0, 0, 0, 0xff, 0xff];

/// How many blocks of padding are written at once.
const BLOCKS_AT_ONCE: u64 = 4 << 10;

/// The levels of compression to try, in this order.
const LEVELS: [i32; 3] = [3, 9, 12];

/// How to pack a record that is not held in memory: first as it may have been before, then as
/// densely as possible.
const PACKINGS: [Packing; 4] =
    [Packing::Stored, Packing::Deflated(LEVEL_STREAMED), Packing::Deflated(6), Packing::Deflated(9)];

/// A gzip member that replaces another one of the same length.
#[derive(Clone, Debug)]
pub struct Replacement {
    room_bytes: u64,
    deflated: Blob,
    sum: [u8; 8],
}

impl Replacement {
    /// Creates the member of this length from compressed content; `None` if it does not fit.
    fn with_length(length_bytes: u64, deflated: Blob, sum: &Crc) -> Option<Self> {
        let room_bytes = length_bytes.checked_sub(HEAD.len() as u64 + deflated.len_bytes() + TAIL_BYTES)?;
        Some(Self { room_bytes, deflated, sum: tail(sum) })
    }

    /// Writes the member.
    ///
    /// # Errors
    /// Returns the writer's error, or that of the spool.
    pub fn write_to(&self, to: &mut impl Write) -> io::Result<()> {
        let empty = EMPTY_BLOCK.len() as u64;
        match usize::try_from(self.room_bytes % empty).unwrap_or(0) {
            0 => to.write_all(&HEAD)?,
            comment => {
                to.write_all(&HEAD_WITH_COMMENT)?;
                to.write_all(&[FILLING; EMPTY_BLOCK.len()][..comment - 1])?;
                to.write_all(&[0])?;
            }
        }
        let mut blocks = self.room_bytes / empty;
        while blocks > 0 {
            let count = blocks.min(BLOCKS_AT_ONCE);
            let at_once = usize::try_from(count).map_err(io::Error::other)?;
            to.write_all(&EMPTY_BLOCK.repeat(at_once))?;
            blocks -= count;
        }
        self.deflated.copy_to(to)?;
        to.write_all(&self.sum)
    }
}

/// Creates an empty record as a gzip member of this length: a `metadata` record without a target
/// and without a block. `None` if that is longer; it never is longer than a record of ours, which
/// names a target and has digests.
///
/// The same arguments yield the same bytes.
#[must_use]
pub fn tombstone(id: RecordId, date: Timestamp, length_bytes: u64) -> Option<Replacement> {
    let mut raw = b"WARC/1.1\r\n".to_vec();
    push_field(&mut raw, "WARC-Type", "metadata");
    push_field(&mut raw, "WARC-Record-ID", &id.to_string());
    push_field(&mut raw, "WARC-Date", &date.to_string());
    // Indexers leave out records without content of their own.
    push_field(&mut raw, "Content-Type", "application/warc-fields");
    push_field(&mut raw, "Content-Length", "0");
    raw.extend_from_slice(b"\r\n\r\n\r\n");
    compress_to_length(&raw, length_bytes)
}

/// Whether a record was created by [`tombstone`].
#[must_use]
pub fn is_tombstone(record: &StoredRecord) -> bool {
    record.record_type == super::RecordType::Metadata && record.target_uri().is_none() && record.block.is_empty()
}

/// The result of changing some fields of a record.
#[derive(Clone, Debug)]
pub enum OverwriteResult {
    /// It has none of these fields.
    Unchanged,
    /// It is overwritten by this gzip member of the same length.
    By(Replacement),
    /// It would be longer than before.
    TooLong,
}

impl StoredRecord {
    /// Returns the record with other values of some fields, as a gzip member of the same length.
    /// `change` returns the new value of a field; `None` keeps it. A line of the block of a
    /// `metadata` record is left out if `leave_out` returns true for its name and value. If the
    /// record is not held as a whole, the rest is read from its `member`, and goes through the
    /// spool.
    ///
    /// # Errors
    /// Fails if the rest cannot be read, or the spool has no room.
    pub fn overwrite(
        &self,
        (member, spool): (&Blob, &Spool),
        change: impl Fn(&str, &str) -> Option<String>,
        leave_out: impl Fn(&str, &str) -> bool,
    ) -> Result<OverwriteResult, WarcError> {
        let block = match self.record_type {
            super::RecordType::Metadata if self.is_whole() => without_lines(&self.block, leave_out),
            _ => self.block.clone(),
        };
        let mut has_changed = block != self.block;
        let mut raw = b"WARC/1.1\r\n".to_vec();
        for (name, value) in self.fields.iter() {
            let value = match name {
                "Content-Length" if self.is_whole() => block.len().to_string(),
                "WARC-Block-Digest" if has_changed => Sha1Digest::compute(&block).to_string(),
                name => change(name, value).inspect(|_| has_changed = true).unwrap_or_else(|| value.to_owned()),
            };
            push_field(&mut raw, name, &value);
        }
        raw.extend_from_slice(b"\r\n");
        if !has_changed {
            return Ok(OverwriteResult::Unchanged);
        }
        let by = if self.is_whole() {
            raw.extend_from_slice(&block);
            raw.extend_from_slice(END);
            compress_to_length(&raw, self.span.length)
        } else {
            self.stream(&raw, member, spool).map_err(|fault| WarcError { offset: self.span.offset, fault })?
        };
        Ok(by.map_or(OverwriteResult::TooLong, OverwriteResult::By))
    }

    /// Returns the record with another header, its block read from its member.
    fn stream(&self, header: &[u8], member: &Blob, spool: &Spool) -> Result<Option<Replacement>, WarcFault> {
        let limits = ReadLimits { block_bytes_max: self.block_bytes, held_bytes_max: 0, ..ReadLimits::default() };
        for packing in PACKINGS {
            let mut deflated = spool.begin();
            let mut read = Ok(());
            let sum = write_deflated(packing, &mut deflated, |to| {
                to.write_all(header)?;
                read = read_record_into(member.reader(), limits, to).map(drop);
                to.write_all(END)
            })?;
            read.map_err(|error| error.fault)?;
            if let Some(fits) = Replacement::with_length(self.span.length, deflated.finish()?, &sum) {
                return Ok(Some(fits));
            }
        }
        Ok(None)
    }
}

/// The end of a record.
const END: &[u8] = b"\r\n\r\n";

fn without_lines(block: &[u8], leave_out: impl Fn(&str, &str) -> bool) -> Vec<u8> {
    let mut kept = Vec::new();
    for (name, value) in parse_fields(block).iter().filter(|(name, value)| !leave_out(name, value)) {
        push_field(&mut kept, name, value);
    }
    kept
}

/// Compresses bytes into a member of exactly this length; `None` if they do not fit.
fn compress_to_length(raw: &[u8], length_bytes: u64) -> Option<Replacement> {
    let mut sum = Crc::new();
    sum.update(raw);
    let mut levels = LEVELS.into_iter().map(|level| Blob::from(deflated(raw, level)));
    levels.find_map(|deflated| Replacement::with_length(length_bytes, deflated, &sum))
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
        CaptureEvent, ExtensionField, ExtensionName, Metadata, Record, TargetUri, WarcInfo, WarcReader, WarcWriter,
        read_record,
    };
    use super::*;
    use crate::http_fields::Headers;

    const VISIT: ExtensionName = ExtensionName::VISIT;

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
    fn a_tombstone_has_the_required_length() {
        let shortest = (1..).find(|length| tombstone(RecordId::from_bits(1), Timestamp::UNIX_EPOCH, *length).is_some());
        let shortest = shortest.unwrap();
        for length in (shortest..shortest + 300).chain([70_000, 5 << 20]) {
            let member = written_bytes(&tombstone(RecordId::from_bits(1), Timestamp::UNIX_EPOCH, length).unwrap());
            assert_eq!(member.len() as u64, length);
            let record = read_record(&member, ReadLimits::default()).unwrap();
            assert!(is_tombstone(&record) && record.span.length == length, "{length}: {record:?}");
        }
        // The shortest record that is ever written: not fetched, a seed, and with the shortest URL.
        let mut writer = WarcWriter::new();
        let record = Record::metadata(RecordId::from_bits(2), &event("http://a/"), &Metadata::default());
        let written = writer.write(&record);
        assert!(shortest < written.length, "{shortest} of {}", written.length);
    }

    #[test]
    fn records_after_an_overwritten_one_keep_their_offsets() {
        let mut writer = WarcWriter::new();
        let info = Record::warcinfo(RecordId::from_bits(1), Timestamp::UNIX_EPOCH, &WarcInfo::default());
        let metadata = Metadata { via: Some("http://a/secret".to_owned()), fetch_time: None };
        let of = |bits, uri: &str| Record::metadata(RecordId::from_bits(bits), &event(uri), &metadata);
        let spans = [info, of(2, "http://a/secret"), of(3, "http://a/other")].map(|record| writer.write(&record));
        let mut file = writer.take_file().unwrap().bytes().unwrap().to_vec();
        let whole = read_all(&file);
        let put = |file: &mut Vec<u8>, span: usize, member: &[u8]| {
            let start = usize::try_from(spans[span].offset).unwrap();
            file[start..start + member.len()].copy_from_slice(member);
        };
        let grave = tombstone(RecordId::from_bits(2), Timestamp::UNIX_EPOCH, spans[1].length).unwrap();
        put(&mut file, 1, &written_bytes(&grave));
        let held = (&Blob::default(), &Spool::default());
        let changed = whole[2].overwrite(held, |_, _| None, |name, value| (name, value) == ("via", "http://a/secret"));
        let Ok(OverwriteResult::By(member)) = changed else { panic!("{changed:?}") };
        put(&mut file, 2, &written_bytes(&member));
        let records = read_all(&file);
        assert_eq!(records.iter().map(|record| record.span).collect::<Vec<_>>(), spans);
        assert!(is_tombstone(&records[1]));
        assert_eq!(records[2].target_uri(), Some("http://a/other"));
        assert_eq!(records[2].verify_block_digest(), super::super::DigestCheck::Match, "{:?}", records[2]);
        assert!(records[2].block.is_empty(), "nothing else was in it");
        let same = whole[2].overwrite(held, |_, _| None, |_, _| false);
        assert!(matches!(same, Ok(OverwriteResult::Unchanged)), "nothing to change");
    }

    #[test]
    fn a_record_too_large_for_memory_is_overwritten_in_place() {
        let noise = || (1_u64..).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8);
        for (body, why) in [
            (noise().take(3 << 20).collect::<Vec<u8>>(), "what cannot be compressed"),
            (b"The same again, and again. ".repeat(100_000), "text"),
        ] {
            let mut spooled = Spool::default().begin();
            spooled.write_all(&body).unwrap();
            let head = super::super::http_response_head(200, "OK", &Headers::default(), body.len() as u64);
            let digest = Sha1Digest::compute(&body);
            let blob = spooled.finish().unwrap();
            let response = Record::response(RecordId::from_bits(2), &event("http://a/big"), head, blob, digest);
            let response = response.extension(ExtensionField { name: VISIT, value: "by http://a/secret".to_owned() });
            let mut writer = WarcWriter::new();
            let span = writer.write(&response);
            let after = Record::metadata(RecordId::from_bits(3), &event("http://a/"), &Metadata::default());
            let next = writer.write(&after);
            let file = writer.take_file().unwrap();
            assert_eq!((span.offset, next.offset), (0, span.length), "{why}");
            let member = file.part(0..span.length);
            let limits = ReadLimits { held_bytes_max: 1_000, ..ReadLimits::default() };
            let record = read_record_into(member.reader(), limits, &mut io::sink()).unwrap();
            assert_eq!((record.block.len(), record.is_whole()), (1_000, false), "{why}");
            let spool = Spool::default();
            let change = |name: &str, _: &str| (name == VISIT.as_str()).then(|| "by nobody".to_owned());
            let changed = record.overwrite((&member, &spool), change, |_, _| false);
            let Ok(OverwriteResult::By(replacement)) = changed else { panic!("{why}: {changed:?}") };
            let replaced = written_bytes(&replacement);
            assert_eq!(replaced.len() as u64, span.length, "{why}");
            let mut block = Vec::new();
            let read = read_record_into(&replaced[..], limits, &mut block).unwrap();
            assert_eq!(read.extension(VISIT), Some("by nobody"), "{why}");
            assert!(block.ends_with(&body) && block.len() as u64 == read.block_bytes, "{why}: its body is what it was");
            let whole = read_record(&replaced, ReadLimits::default()).unwrap();
            assert_eq!(whole.verify_payload_digest(), super::super::DigestCheck::Match, "{why}");
            let behind = file.part(next.offset..file.len_bytes()).bytes().unwrap();
            assert_eq!(read_record(&behind, limits).unwrap().id(), Some(after.id()), "{why}: what follows");
        }
    }

    fn written_bytes(replacement: &Replacement) -> Vec<u8> {
        let mut bytes = Vec::new();
        replacement.write_to(&mut bytes).unwrap();
        bytes
    }

    fn read_all(file: &[u8]) -> Vec<StoredRecord> {
        WarcReader::new(file, ReadLimits::default()).map(Result::unwrap).collect()
    }
}
