//! Where a crawl is stored.

use std::path::{Path, PathBuf};

use dragline_domain::frontier::Selection;
use dragline_domain::ids::{CrawlId, Iteration};
use serde::{Serialize, Serializer};

#[cfg(feature = "stack")]
use crate::args::StackName;
use crate::args::{crawl_flag, data_flag, shell_word};
use crate::error::Failure;

/// Where a crawl is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CrawlLocation {
    /// In a data directory.
    Data(Directory),
    /// In a deployed stack.
    #[cfg(feature = "stack")]
    Stack(StackName),
}

/// A data directory, and the folder for the files derived from its crawls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataDirectory<'a> {
    pub(crate) path: &'a Path,
    /// The folder for derived files; `None` for the usual places: beside the data, otherwise in the
    /// user's cache.
    pub(crate) cache: Option<&'a Path>,
}

impl<'a> From<&'a Path> for DataDirectory<'a> {
    fn from(path: &'a Path) -> Self {
        Self { path, cache: None }
    }
}

/// A data directory and one of its crawls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directory {
    pub(crate) path: PathBuf,
    /// The crawl; `None` if the directory has no other, so that it need not be named.
    pub(crate) crawl: Option<CrawlId>,
    /// See [`DataDirectory::cache`].
    pub(crate) cache: Option<PathBuf>,
}

impl Directory {
    /// Returns the location of a crawl in a data directory with these crawls.
    pub(crate) fn locate<'a>(data: impl Into<DataDirectory<'a>>, crawl: &CrawlId, crawls: &[CrawlId]) -> Self {
        let is_alone = crawls.iter().all(|other| other == crawl);
        Self { crawl: (!is_alone).then(|| crawl.clone()), ..Self::with_only_crawl(data) }
    }

    /// Returns the location of the only crawl in a data directory.
    pub(crate) fn with_only_crawl<'a>(data: impl Into<DataDirectory<'a>>) -> Self {
        let DataDirectory { path, cache } = data.into();
        Self { path: path.to_owned(), crawl: None, cache: cache.map(Path::to_owned) }
    }

    /// Returns the flags that name the crawl in a suggested command, each with a leading space;
    /// empty for the only one in the default directory.
    pub(crate) fn flags(&self) -> String {
        format!("{}{}", data_flag(&self.path), self.crawl.as_ref().map_or_else(String::new, crawl_flag))
    }

    /// Returns the command that resumes this reparse, for hints.
    pub(crate) fn command_to_reparse(&self, selection: &Selection) -> String {
        let condition = match selection {
            Selection::All => String::new(),
            // JSON is valid YAML.
            Selection::Where(condition) => {
                let text = serde_json::to_string(condition).unwrap_or_default();
                format!(" --where {}", shell_word(Path::new(&text)))
            }
        };
        format!("dragline reparse{condition}{}", self.flags())
    }

    /// Returns the command that resumes the crawl, for hints.
    pub(crate) fn command_to_resume(&self) -> String {
        format!("dragline crawl{}", self.flags())
    }

    /// Returns the crawl's name with a trailing space, for messages; empty if it need not be named.
    pub(crate) fn quoted_crawl(&self) -> String {
        self.crawl.as_ref().map_or_else(String::new, |crawl| format!("`{crawl}` "))
    }

    /// Returns the error for a crawl that has not begun, so that there is nothing to show.
    pub(crate) fn not_begun_error(&self) -> Failure {
        let message = format!("the crawl {}in {} has not begun yet", self.quoted_crawl(), self.path.display());
        Failure::new(message).with_hint(format!("start it: `{}`", self.command_to_resume()))
    }

    /// Returns the error for an iteration that has to make requests before anything else is done.
    pub(crate) fn unfinished_error(&self, crawl: &CrawlId, iteration: Iteration) -> Failure {
        let go_on = self.command_to_resume();
        Failure::new(format!("iteration {iteration} of the crawl `{crawl}` is not finished"))
            .with_hint(format!("finish it first: `{go_on}`, with the same network options as before"))
    }

    /// Returns the error for an unfinished import, whose URLs must not be requested. `what` says
    /// which import it is.
    pub(crate) fn unfinished_import_error(&self, crawl: &CrawlId, iteration: Iteration, what: &str) -> Failure {
        Failure::new(format!("iteration {iteration} of the crawl `{crawl}` is an import {what}"))
            .with_hint("finish it: give the same archives to `dragline import` again")
            .with_hint(format!("or end it as it stands: `{} --abandon`", self.command_to_resume()))
    }
}

impl Serialize for CrawlLocation {
    /// Serialises the location with the field names of `status --json`. One of the two is always
    /// null.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct LocationFields<'a> {
            data: Option<&'a Path>,
            stack: Option<String>,
        }
        let stack = match self {
            Self::Data(_) => None,
            #[cfg(feature = "stack")]
            Self::Stack(stack) => Some(stack.to_string()),
        };
        LocationFields { data: self.directory().map(|directory| directory.path.as_path()), stack }.serialize(serializer)
    }
}

impl CrawlLocation {
    /// Returns the arguments of `status` or `export` that name the crawl, with a leading space;
    /// empty for the default.
    #[cfg_attr(
        not(feature = "stack"),
        expect(unused_variables, reason = "a directory knows whether to name its crawl")
    )]
    pub(crate) fn arguments(&self, crawl: &CrawlId) -> String {
        match self {
            Self::Data(directory) => directory.flags(),
            #[cfg(feature = "stack")]
            Self::Stack(stack) => format!(" {crawl}{}", stack.flag()),
        }
    }

    /// Returns the flags of `history` or `get` that name the crawl, each with a leading space;
    /// empty for the default.
    #[cfg_attr(
        not(feature = "stack"),
        expect(unused_variables, reason = "a directory knows whether to name its crawl")
    )]
    pub(crate) fn flags(&self, crawl: &CrawlId) -> String {
        match self {
            Self::Data(directory) => directory.flags(),
            #[cfg(feature = "stack")]
            Self::Stack(stack) => format!("{} --stack {stack}", crawl_flag(crawl)),
        }
    }

    /// Returns the error for a crawl that has not begun, so that there is nothing to show.
    #[cfg_attr(
        not(feature = "stack"),
        expect(unused_variables, reason = "a directory knows whether to name its crawl")
    )]
    pub(crate) fn not_begun_error(&self, crawl: &CrawlId) -> Failure {
        match self {
            Self::Data(directory) => directory.not_begun_error(),
            #[cfg(feature = "stack")]
            Self::Stack(stack) => Failure::new(format!("the crawl `{crawl}` has not begun yet"))
                .with_hint(format!("start it: `dragline start {crawl}{}`", stack.flag())),
        }
    }

    /// Returns the error for a crawl whose last iteration is not over, so that its URLs cannot be
    /// forgotten, nor the documents of earlier iterations rebuilt.
    pub(crate) fn not_over_error(&self, crawl: &CrawlId) -> Failure {
        let hint = match self {
            Self::Data(directory) => format!("finish it first: `{}`", directory.command_to_resume()),
            #[cfg(feature = "stack")]
            Self::Stack(stack) => format!("wait until it is, or stop it: `dragline stop {crawl}{}`", stack.flag()),
        };
        Failure::new(format!("the last iteration of `{crawl}` is not over")).with_hint(hint)
    }

    /// Returns the data directory; `None` for a stack.
    pub(crate) const fn directory(&self) -> Option<&Directory> {
        match self {
            Self::Data(directory) => Some(directory),
            #[cfg(feature = "stack")]
            Self::Stack(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::definition::{Condition, TextTest};

    use super::*;

    #[test]
    fn a_hint_can_be_pasted_into_a_shell_and_names_a_crawl_only_if_there_are_others() {
        let crawl = |name: &str| name.parse::<CrawlId>().unwrap();
        let docs = crawl("docs");
        for (data, crawls, expected) in [
            ("dragline-data", vec![], "dragline crawl"),
            ("dragline-data", vec![crawl("docs")], "dragline crawl"),
            ("dragline-data", vec![crawl("docs"), crawl("news")], "dragline crawl --crawl docs"),
            ("dragline-data", vec![crawl("news")], "dragline crawl --crawl docs"),
            ("/srv/crawls/a_b.c", vec![], "dragline crawl --data /srv/crawls/a_b.c"),
            ("my data", vec![crawl("news")], "dragline crawl --data 'my data' --crawl docs"),
            ("it's", vec![], r"dragline crawl --data 'it'\''s'"),
        ] {
            assert_eq!(Directory::locate(Path::new(data), &docs, &crawls).command_to_resume(), expected, "{crawls:?}");
        }
        let directory = Directory::locate(Path::new("d"), &docs, &[]);
        let archive = Condition::Path(TextTest::Prefix("/archive/".to_owned()));
        assert_eq!(directory.command_to_reparse(&Selection::All), "dragline reparse --data d");
        let expected = r#"dragline reparse --where '{"path":{"prefix":"/archive/"}}' --data d"#;
        assert_eq!(directory.command_to_reparse(&Selection::from_condition(Some(archive))), expected);
    }
}
