//! What files say that speak for a whole origin: `/.well-known/tdmrep.json`, and the licence that
//! robots.txt names.

use serde::{Deserialize, Serialize};

use super::{UseStand, UseStands};
use crate::ids::Iteration;

/// The conclusion from the answer for such a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAnswer<R> {
    /// There is no such file: it says nothing.
    Missing,
    /// Its rules, in order.
    Rules(Vec<R>),
    /// There may be one, which could not be read, for this reason: everything of which it can speak
    /// counts as reserved.
    Unreadable(String),
}

/// The conclusion from the answer for `/.well-known/tdmrep.json`.
pub type TdmAnswer = FileAnswer<TdmRule>;

/// The conclusion from the answer for an RSL file.
pub type RslAnswer = FileAnswer<RslTerms>;

/// What an origin's `/.well-known/tdmrep.json` said, as far as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TdmFile {
    /// The iteration of the request. The next one repeats it.
    pub iteration: Iteration,
    /// The conclusion from the answer.
    pub answer: TdmAnswer,
}

/// A rule of `/.well-known/tdmrep.json`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TdmRule {
    /// The pattern of the paths that it is about, as in a rule of robots.txt.
    #[serde(rename = "l")]
    pub location: String,
    /// What it says of mining.
    #[serde(rename = "s")]
    pub stand: UseStand,
}

/// What the RSL file said that an origin's robots.txt names, as far as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RslFile {
    /// The iteration of the request. The next one repeats it.
    pub iteration: Iteration,
    /// Its URL. If robots.txt names another one, that is requested.
    pub url: String,
    /// The conclusion from the answer.
    pub answer: RslAnswer,
}

/// The terms of a `<content>` in an RSL file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RslTerms {
    /// The pattern of the paths that it is about, as in a rule of robots.txt.
    #[serde(rename = "l")]
    pub location: String,
    /// What its licences say.
    #[serde(rename = "s")]
    pub says: UseStands,
}
