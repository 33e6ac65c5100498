//! Size limits, the same for writer and reader, so that whatever is written can be read back.
//!
//! A server chooses what a response's head holds. The fetcher keeps it within what definitions allow; anything else is cut here.

use dragline_domain::definition::limits;

/// The most bytes of the value of a record's field.
pub const VALUE_BYTES_MAX: usize = 8 << 10;

/// The most bytes of a record's header. Custom fields and names of companion records that do not fit are left out.
pub const HEADER_BYTES_MAX: usize = 64 << 10;

/// The most bytes of a response's reason phrase. Nobody reads it, so the rest is cut off.
pub const REASON_BYTES_MAX: usize = 1 << 10;

/// The most fields of a response.
pub const FIELDS_MAX: usize = 2_000;

/// The most fields of a stored message: the true length may be added.
pub const HEAD_FIELDS_MAX: usize = FIELDS_MAX + 1;

/// The most bytes of a stored message's status line and fields: the largest header that a definition allows, and what is added to it.
pub const HEAD_BYTES_MAX: usize = (1 << 20) + HEAD_BYTES_ADDED_MAX;

/// The status line, a prefix for each field, the true length and the empty line.
const HEAD_BYTES_ADDED_MAX: usize = 64 << 10;

const _: () = assert!(HEAD_BYTES_MAX as u64 >= *limits::HEADER_BYTES.end() + HEAD_BYTES_ADDED_MAX as u64);
const _: () = assert!(HEAD_BYTES_ADDED_MAX > 2 * REASON_BYTES_MAX + FIELDS_MAX * "X-Archive-Orig-".len());

/// The most bytes of a block: the largest head and the largest body.
pub const BLOCK_BYTES_MAX: u64 = HEAD_BYTES_MAX as u64 + *limits::FILE_BYTES.end();

/// The most bytes of a block that are held in memory, unless the reader wants fewer: the largest head and the largest body that anything is made of.
pub const HELD_BYTES_MAX: u64 = HEAD_BYTES_MAX as u64 + *limits::BODY_BYTES.end();

/// The most bytes of a record as it is stored: no compressor doubles what it is given.
pub const RECORD_BYTES_MAX: u64 = 2 * (HEADER_BYTES_MAX as u64 + BLOCK_BYTES_MAX);

const _: () = assert!(*limits::FILE_BYTES.end() >= *limits::BODY_BYTES.end());
