//! The command's exit codes.

use std::process::ExitCode;

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success: the iteration is over, the URL would be crawled, the rows are written.
    Done,
    /// The command did its work, but some URLs failed, or the explained URL would not be crawled.
    NotAllWell,
    /// A usage error, or an unrecoverable error without a code of its own.
    Error,
    /// The crawl did its work, but some pages are stuck, or have items with other fields than
    /// before.
    Changed,
    /// The crawl is over, and nothing was fetched.
    NothingFetched,
    /// The site has findings, or differs, and `--fail-on` or `--exit-code` asks about that.
    Findings,
    /// Another process uses the data directory.
    InUse,
    /// The disk is full.
    DiskFull,
    /// The crawl stopped cleanly, as free disk space fell below the minimum.
    LowSpace,
    /// A value by which a site knows who asks is missing, or a site refused it.
    NoAccess,
    /// It was interrupted; the same command resumes the crawl.
    Interrupted,
}

impl Exit {
    /// All variants.
    const ALL: [Self; 11] = [
        Self::Done,
        Self::NotAllWell,
        Self::Error,
        Self::Changed,
        Self::NothingFetched,
        Self::Findings,
        Self::InUse,
        Self::DiskFull,
        Self::LowSpace,
        Self::NoAccess,
        Self::Interrupted,
    ];

    /// Returns the process's exit code.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NotAllWell => 1,
            Self::Error => 2,
            Self::Changed => 3,
            Self::NothingFetched => 4,
            Self::Findings => 5,
            Self::InUse => 6,
            Self::DiskFull => 7,
            Self::LowSpace => 8,
            Self::NoAccess => 9,
            Self::Interrupted => 130,
        }
    }

    /// Returns the meaning of the code, for the table of `--help` and docs/reference/commands.md.
    const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done; for `explain`: the URL would be crawled",
            Self::NotAllWell => {
                "done, but URLs failed; for `explain`: the URL would not be crawled; \
                 for `extract` and `reparse --all`: pages do not fit; for questions with `--exit-code`: nothing was found so far, and the crawl is not over"
            }
            Self::Error => "usage error, or an unrecoverable error without a number of its own",
            Self::Changed => "done, but pages are stuck, or their items have other fields than before",
            Self::NothingFetched => "done, but nothing was fetched",
            Self::Findings => {
                "`report --fail-on`, and `--exit-code`: there are such findings, or, for `diff`, something differs"
            }
            Self::InUse => "another process uses the data directory; `--wait` waits for it",
            Self::DiskFull => "the disk is full; the same command resumes",
            Self::LowSpace => {
                "stopped, as the disk had less free space than `--keep-free` says; the same command resumes"
            }
            Self::NoAccess => {
                "a value that `access` or a flag names is missing, and nothing was requested; or a site did not let the crawl in"
            }
            Self::Interrupted => "interrupted; the same command resumes",
        }
    }

    /// Returns the table at the end of `--help`.
    pub(crate) fn help() -> String {
        let lines = Self::ALL.iter().map(|exit| format!("\n  {:>3}  {}", exit.code(), exit.meaning()));
        format!("Exit codes:{}", lines.collect::<String>())
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn exit_codes_are_unique() {
        let codes: BTreeSet<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes.len(), Exit::ALL.len());
    }

    #[test]
    fn the_page_about_commands_has_the_same_table_as_the_help() {
        let page = include_str!("../../docs/reference/commands.md");
        for exit in Exit::ALL {
            let row = format!("| {} | {} |", exit.code(), exit.meaning());
            assert!(page.contains(&row), "docs/reference/commands.md lacks:\n{row}");
        }
    }
}
