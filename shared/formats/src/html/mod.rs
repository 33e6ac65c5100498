//! HTML: links, metadata, visible text.
