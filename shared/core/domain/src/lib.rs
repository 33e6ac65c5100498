//! The values and decisions of the Dragline crawler: no I/O, no clock, no randomness, no async.
//!
//! Everything here is a value, or a pure function from values to values. Time comes in as `now`,
//! random bits as an argument.

pub mod address;
pub mod canonical;
pub mod capture;
pub mod change;
pub mod command;
pub mod conclusion;
pub mod content;
pub mod definition;
pub mod distance;
pub mod document;
pub mod doubt;
pub mod feed;
pub mod frontier;
pub mod ids;
pub mod item;
pub mod language;
pub mod lastmod;
pub mod markup;
pub mod missing_page;
pub mod no_answer;
pub mod outcome;
pub mod page_sample;
pub mod policy;
pub mod politeness;
pub mod recrawl;
pub mod refusal;
pub mod remake;
pub mod rendering;
pub mod retention;
pub mod scripted;
pub mod shown;
pub mod simhash;
mod stored_form;
pub mod time;
pub mod url;
pub mod use_preferences;
pub mod validity;
pub mod words;
