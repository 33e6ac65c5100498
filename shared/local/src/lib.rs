//! The ports over SQLite and a directory, and the loop that runs the four steps in one process.
