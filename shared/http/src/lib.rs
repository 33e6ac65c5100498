//! The Fetcher port over reqwest, with the guard against private addresses.
