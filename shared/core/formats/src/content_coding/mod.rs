//! Content codings (gzip, deflate, brotli, zstd), undone within limits.
//!
//! A body travels in the codings that `Content-Encoding` names (RFC 9110 §8.4). Dragline asks for
//! [`ACCEPT_ENCODING`], stores the body as received and decodes it twice: to enforce the limit on
//! decoded bytes, a long one as it arrives and a short one at its end; and again in the parser.
//! [`decode`] reads a body from anywhere; [`decode_all`] and [`decoded_sha1`] take a complete one.
//!
//! A small body can decode to a huge one, so output is not buffered (but for gzip of at most a
//! megabyte, which says how long it is): decoded bytes are written at once, and the first byte past
//! the limit ends the work. The memory of one coding is a few hundred KiB and its window: 32 KiB
//! for gzip and deflate, at most 16 MiB for brotli (RFC 7932 §9.1), at most 8 MiB for zstd (RFC
//! 9659 §3).

mod brotli;
mod codings;
mod decode;
mod inflate;
#[cfg(test)]
mod tests;
mod whole;
mod zstd;

pub use codings::{ACCEPT_ENCODING, CODINGS_MAX, ContentCoding, ContentCodings, ContentCodingsError};
pub use decode::{Cut, DecodeError, DecodeFault, decode};
pub use whole::{DecodedBody, DecodedDigest, decode_all, decoded_sha1, is_binary};
