//! `dragline completions`, `dragline manual` and `dragline guide`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Print the completions of a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dragline completions bash > ~/.local/share/bash-completion/completions/dragline
  dragline completions zsh > ~/.zfunc/_dragline
  dragline completions fish > ~/.config/fish/completions/dragline.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// Write the manual pages of all commands into a directory
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dragline manual ~/.local/share/man/man1
  man dragline-crawl")]
pub(crate) struct ManualArgs {
    /// The directory, which is made if it is not there
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}
