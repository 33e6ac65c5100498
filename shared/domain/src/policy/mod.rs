//! Whether a URL is to be crawled, and which rule decides.
