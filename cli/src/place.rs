//! Where a crawl is kept.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

#[cfg(feature = "stack")]
use crate::args::StackName;
use crate::args::data_flag;

/// Where a crawl is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a data directory, which holds this one alone.
    Data(PathBuf),
    /// Among those of a deployed stack.
    #[cfg(feature = "stack")]
    Stack(StackName),
}

impl Serialize for Place {
    /// By the names of the JSON that `status --json` prints: one of the two is always null.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown<'a> {
            data: Option<&'a Path>,
            stack: Option<String>,
        }
        let stack = match self {
            Self::Data(_) => None,
            #[cfg(feature = "stack")]
            Self::Stack(stack) => Some(stack.to_string()),
        };
        Shown { data: self.directory(), stack }.serialize(serializer)
    }
}

impl Place {
    /// How another command is told of the crawl there, with a space before it; nothing for the default.
    #[cfg_attr(not(feature = "stack"), expect(unused_variables, reason = "a data directory holds one crawl"))]
    pub(crate) fn arguments(&self, crawl: &str) -> String {
        match self {
            Self::Data(data) => data_flag(data),
            #[cfg(feature = "stack")]
            Self::Stack(stack) => format!(" {crawl}{}", stack.flag()),
        }
    }

    /// The directory, where it is one.
    pub(crate) fn directory(&self) -> Option<&Path> {
        match self {
            Self::Data(data) => Some(data),
            #[cfg(feature = "stack")]
            Self::Stack(_) => None,
        }
    }
}
