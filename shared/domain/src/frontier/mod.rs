//! Rows of the frontier and the transitions between them.
