//! Where a crawl is kept.

use std::path::{Path, PathBuf};

use serde::Serialize;

#[cfg(feature = "stack")]
use crate::args::StackName;
use crate::args::data_flag;

/// Where a crawl is kept, by the names of the JSON that `status --json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Place {
    /// In a data directory, which holds this one alone.
    Data(PathBuf),
    /// Among those of a deployed stack.
    #[cfg(feature = "stack")]
    Stack(StackName),
}

impl Place {
    /// How another command is told of the crawl there, with a space before it; nothing for the default.
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
