//! Where a crawl is stored.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

#[cfg(feature = "stack")]
use crate::args::StackName;
use crate::args::data_flag;

/// Where a crawl is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a data directory, which holds no other crawl.
    Data(PathBuf),
    /// In a deployed stack.
    #[cfg(feature = "stack")]
    Stack(StackName),
}

impl Serialize for Place {
    /// Serialises the place with the field names of `status --json`. One of the two is always null.
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
    /// Returns the arguments that name the crawl to another command, with a space before them; empty for the default.
    #[cfg_attr(not(feature = "stack"), expect(unused_variables, reason = "a data directory holds one crawl"))]
    pub(crate) fn arguments(&self, crawl: &str) -> String {
        match self {
            Self::Data(data) => data_flag(data),
            #[cfg(feature = "stack")]
            Self::Stack(stack) => format!(" {crawl}{}", stack.flag()),
        }
    }

    /// Returns the data directory; `None` for a stack.
    pub(crate) fn directory(&self) -> Option<&Path> {
        match self {
            Self::Data(data) => Some(data),
            #[cfg(feature = "stack")]
            Self::Stack(_) => None,
        }
    }
}
