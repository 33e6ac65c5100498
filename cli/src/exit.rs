//! How the command ends, as the shell sees it.

use std::process::ExitCode;

/// How the command ended. Every way out of the program is one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well: the iteration is over, the URL would be crawled, the rows are out.
    Done,
    /// It went through, but the answer is not a good one: some URLs failed, nothing was got, or the URL that was asked about is blocked.
    NotAllWell,
    /// It could not be done: a mistake in what was asked, or an error that nothing helps against.
    Error,
    /// It was interrupted; the same command goes on.
    Interrupted,
}

impl Exit {
    /// The table that `--help` ends with.
    pub(crate) const HELP: &str = "\
Exit codes:
    0  done; for `explain`: the URL would be crawled
    1  done, but some URLs failed, or nothing was got; for `explain`: the URL would not be crawled
    2  wrong usage, or an error that nothing helps against
  130  interrupted; the same command goes on";

    /// The number that the shell sees.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NotAllWell => 1,
            Self::Error => 2,
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
        for exit in [Exit::Done, Exit::NotAllWell, Exit::Error, Exit::Interrupted] {
            let entry = format!("{:>5}  ", exit.code());
            assert!(Exit::HELP.lines().any(|line| line.starts_with(&entry)), "{exit:?}");
        }
    }
}
