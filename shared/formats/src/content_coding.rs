//! gzip, deflate, brotli and zstd, undone within limits.
