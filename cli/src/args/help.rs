//! The help of the whole command: its commands in groups, and the way through them.

use std::fmt::Write as _;

use clap::{Command, CommandFactory};

use super::Cli;

/// The commands by what people want to do with them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Crawl", &["init", "crawl", "reparse", "import", "explain", "extract"]),
    ("Look", &["status", "diff", "history", "get", "search", "similar", "words", "schema"]),
    ("Check a site", &["report", "broken", "chains", "orphans", "duplicates", "links"]),
    ("Take out", &["export", "archive", "cdx"]),
    ("Keep house", &["definition", "identity", "prune", "forget"]),
    ("Run as a service", &["serve", "schedule", "token", "mcp"]),
    #[cfg(feature = "stack")]
    ("On a deployed stack", &["start", "put", "pause", "resume", "stop", "remove"]),
    ("Help", &["guide", "help", "completions", "manual"]),
];

/// The way through the commands, for somebody who is new to them.
pub(crate) const GUIDE: &str = "\
One page, without a crawl; nothing is kept:
  dragline get https://example.org --as markdown

A site, into ./dragline-data. Ctrl-C stops it, and the same command resumes it:
  dragline crawl example.org
  dragline status                          how far it is, what failed and why
  dragline search install                  the pages with a word
  dragline report -o report.html           what its owner should know of it
  dragline export --what pages --format csv > pages.csv
  dragline archive -o site.wacz            to replay in a browser (ReplayWeb.page)

The same site tomorrow: only what changed is fetched again:
  dragline crawl
  dragline diff                            new, changed and gone pages
  dragline history https://example.org/    every visit of a page

With rules of your own (scope, pace, budgets, fields of your own):
  dragline init example.org                looks at the site, and writes crawl.yaml
  dragline explain https://example.org/a -f crawl.yaml       would it be crawled?
  dragline crawl crawl.yaml

Each command has examples: dragline COMMAND --help.
";

/// Returns the whole command line, whose help lists the commands in groups.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let mut groups = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(groups, "{title}:");
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let about = about.unwrap_or_else(|| "Print this message or the help of a command".to_owned());
            let _ = writeln!(groups, "  {name:<12} {about}");
        }
        groups.push('\n');
    }
    let template = "{about-with-newline}\n{usage-heading} {usage}\n\n";
    command.help_template(format!("{template}{groups}Options:\n{{options}}{{after-help}}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let command = Cli::command();
        let known: BTreeSet<_> = command.get_subcommands().map(Command::get_name).chain(["help"]).collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), known);
        assert_eq!(grouped.len(), known.len(), "none is in two: {grouped:?}");
    }
}
