//! The formats of the web: bytes in, values out.
//!
//! All of this reads hostile input: each function limits the size, runs in linear time, and never
//! panics. Data that is too large for memory goes to temporary files ([`blob`]); nothing else is
//! stored here.

pub mod blob;
pub mod charset;
pub mod content_coding;
pub mod cookie_jar;
pub mod css;
pub mod deflated;
pub mod directives;
pub mod html;
pub mod http_fields;
pub mod javascript;
pub mod robots;
pub mod shell;
pub mod use_preferences;
pub mod warc;
