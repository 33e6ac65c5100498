//! Flags for sites of one's own, whose rules for others do not apply. No definition can say this.

use clap::{Args, ValueEnum};
use dragline_domain::definition::{Draft, HostPattern, Nofollow, Noindex};

/// Whose rules are not obeyed.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OverruleArgs {
    /// Crawl these hosts, which are yours, although their robots.txt forbids it. It is read all the
    /// same, and each such request says so. A definition cannot allow this
    #[arg(long, value_name = "HOST", value_delimiter = ',', help_heading = "Network")]
    ignore_robots: Vec<HostPattern>,
    /// Follow links that are marked `nofollow`, too. A definition cannot allow this either
    #[arg(long, help_heading = "Network")]
    follow_nofollow: bool,
    /// What to do with pages that ask for `noindex`: leave out what they say, or keep them like
    /// others. A definition cannot allow this either [default: obey, or as the crawl did before]
    #[arg(long, value_name = "RULE", help_heading = "Network")]
    noindex: Option<NoindexWord>,
}

/// What is done with pages that ask for `noindex`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NoindexWord {
    Obey,
    Keep,
}

impl From<NoindexWord> for Noindex {
    fn from(word: NoindexWord) -> Self {
        match word {
            NoindexWord::Obey => Self::Obey,
            NoindexWord::Keep => Self::Keep,
        }
    }
}

impl OverruleArgs {
    /// Whether anything is said.
    pub(crate) fn is_any_said(&self) -> bool {
        !self.ignore_robots.is_empty() || self.follow_nofollow || self.noindex.is_some()
    }

    /// Returns the draft as the flags say. What they do not say is remembered with the crawl, until
    /// it is defined anew.
    pub(crate) fn change(&self, mut draft: Draft) -> Draft {
        if !self.ignore_robots.is_empty() {
            draft.ignore_robots.clone_from(&self.ignore_robots);
        }
        if self.follow_nofollow {
            draft.nofollow = Nofollow::Follow;
        }
        draft.noindex = self.noindex.map_or(draft.noindex, Noindex::from);
        draft
    }
}
