//! What the user asked for: a crawl, as defined in YAML or on the command line.
