//! The YAML of a crawl definition.
