//! What the web is written in: bytes in, values out.
//!
//! Everything here reads hostile input: each function has a limit in size, runs in time linear in it, and never panics.

pub mod charset;
pub mod content_coding;
pub mod directives;
pub mod html;
pub mod http_fields;
pub mod robots;
pub mod warc;
