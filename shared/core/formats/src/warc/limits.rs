//! Size limits, shared by writer and reader, so that everything written can be read back.
//!
//! A server chooses the contents of a response's head. The fetcher keeps it within the limits of
//! definitions; anything else is cut here.

use dragline_domain::definition::limits;

/// The limit on the value of a record's field, in bytes.
pub const VALUE_BYTES_MAX: usize = 8 << 10;

/// The limit on a record's header, in bytes. Custom fields and names of companion records that do
/// not fit are left out.
pub const HEADER_BYTES_MAX: usize = 64 << 10;

/// The limit on a response's reason phrase, in bytes. Nobody reads it, so the rest is cut off.
pub const REASON_BYTES_MAX: usize = 1 << 10;

/// The limit on the fields of a response.
pub const FIELDS_MAX: usize = 2_000;

/// The limit on the fields of a stored message: the true length may be added.
pub const HEAD_FIELDS_MAX: usize = FIELDS_MAX + 1;

/// The limit on a stored message's status line and fields, in bytes: the largest header that a
/// definition allows, with the additions.
pub const HEAD_BYTES_MAX: usize = (1 << 20) + HEAD_BYTES_ADDED_MAX;

/// The additions: the status line, a prefix for each field, the true length and the empty line.
const HEAD_BYTES_ADDED_MAX: usize = 64 << 10;

const _: () = assert!(HEAD_BYTES_MAX as u64 >= *limits::HEADER_BYTES.end() + HEAD_BYTES_ADDED_MAX as u64);
const _: () = assert!(HEAD_BYTES_ADDED_MAX > 2 * REASON_BYTES_MAX + FIELDS_MAX * "X-Archive-Orig-".len());

/// The limit on a block, in bytes: the largest head and the largest body.
pub const BLOCK_BYTES_MAX: u64 = HEAD_BYTES_MAX as u64 + *limits::FILE_BYTES.end();

/// The limit on the part of a block that is held in memory, in bytes, unless the reader wants less:
/// the largest head and the largest body that is parsed.
pub const HELD_BYTES_MAX: u64 = HEAD_BYTES_MAX as u64 + *limits::BODY_BYTES.end();

/// The limit on a stored record, in bytes: no compressor doubles its input.
pub const RECORD_BYTES_MAX: u64 = 2 * (HEADER_BYTES_MAX as u64 + BLOCK_BYTES_MAX);

const _: () = assert!(*limits::FILE_BYTES.end() >= *limits::BODY_BYTES.end());
