//! WARC 1.1.
