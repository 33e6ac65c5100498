//! Reading a data directory for people.
