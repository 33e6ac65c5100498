//! The command's exit codes.

use std::process::ExitCode;

/// How the command ended. Every way out of the program is one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success: the iteration is over, the URL would be crawled, the rows are written.
    Done,
    /// The command did its work, but some URLs failed, nothing was fetched, the explained URL would not be crawled, or the iterations differ.
    NotAllWell,
    /// A usage error or an unrecoverable error.
    Error,
    /// The crawl did its work, but pages are not what they were or should be: some are stuck, or have items with other fields than before.
    Changed,
    /// It was interrupted; the same command resumes the crawl.
    Interrupted,
}

impl Exit {
    /// The table that `--help` ends with.
    pub(crate) const HELP: &str = "\
Exit codes:
    0  done; for `explain`: the URL would be crawled
    1  done, but URLs failed or nothing was fetched; for `explain`: the URL would not be crawled;
       for `diff --exit-code`: something differs
    2  usage error, or an unrecoverable error
    3  done, but pages are stuck, or their items have other fields than before
  130  interrupted; the same command resumes";

    /// Returns the number that the shell sees.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NotAllWell => 1,
            Self::Error => 2,
            Self::Changed => 3,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_code() {
        for exit in [Exit::Done, Exit::NotAllWell, Exit::Error, Exit::Changed, Exit::Interrupted] {
            let entry = format!("{:>5}  ", exit.code());
            assert!(Exit::HELP.lines().any(|line| line.starts_with(&entry)), "{exit:?}");
        }
    }
}
