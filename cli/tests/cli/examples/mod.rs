//! The commands of the README, of the guide and of `--help`, run as they stand there on a site of
//! this machine.

#![expect(clippy::unwrap_used, reason = "what cannot be set up fails the test that needs it")]

mod help;
mod pages;
mod site;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use dragline_testkit::site::Site;
use tempfile::TempDir;

use super::{dragline_alone, ran};

/// What an example says about the web, in place of which it gets the site.
const WEB: &str = "https://example.org";

/// What a command needs that makes requests to this machine.
const WRAPPER: &str = r#"#!/usr/bin/env bash
echo "$*" >> "$COMMANDS"
case ${1-} in
  crawl) set -- "$@" --allow-private --delay 0s ;;
  init | get | extract) set -- "$@" --allow-private ;;
  explain) [[ $* == *--outcome* ]] || set -- "$@" --allow-private ;;
esac
exec "$DRAGLINE" "$@"
"#;

/// A shell that finds the command, and the site in place of the web.
struct Shell {
    /// Has the folder of programs, the file of commands, and a home.
    home: TempDir,
    origin: String,
}

impl Shell {
    fn new(site: &Site) -> Self {
        let home = tempfile::tempdir().unwrap();
        let programs = home.path().join("programs");
        std::fs::create_dir(&programs).unwrap();
        std::fs::write(programs.join("dragline"), WRAPPER).unwrap();
        std::fs::set_permissions(programs.join("dragline"), Permissions::from_mode(0o755)).unwrap();
        Self { home, origin: format!("http://{}", site.address()) }
    }

    /// Returns a text with the site in place of the web, also where it has no scheme.
    fn local(&self, text: &str) -> String {
        let text = text.replace(WEB, &self.origin);
        let mut parts = text.split("example.org");
        let mut local = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let is_bare = local.ends_with(' ') && !part.starts_with(['.', '-']);
            local += if is_bare { self.origin.trim_start_matches("http://") } else { "example.org" };
            local += part;
        }
        local
    }

    /// Returns a script, to run in a directory. Messages of the shell begin with its name.
    fn script(&self, directory: &Path, name: &str, script: &str) -> Command {
        let path = std::env::var("PATH").unwrap();
        let mut bash = Command::new("bash");
        bash.args(["-euo", "pipefail", "-c", &self.local(script), name])
            .current_dir(directory)
            .env("PATH", format!("{}:{path}", self.home.path().join("programs").display()))
            .env("HOME", self.home.path())
            .env("DRAGLINE", env!("CARGO_BIN_EXE_dragline"))
            .env("COMMANDS", self.log())
            .env("COLUMNS", "100")
            .env_remove("RUST_LOG");
        bash
    }

    /// Returns the file with each command that was run, a line each.
    fn log(&self) -> PathBuf {
        self.home.path().join("commands")
    }
}

/// Returns the command of a line, without the words beside it and the programs that read what it
/// prints.
fn alone(line: &str) -> &str {
    until(line, &["  ", " | ", " || ", " # "])
}

fn until<'a>(line: &'a str, ends: &[&str]) -> &'a str {
    let end = ends.iter().filter_map(|end| line.find(end)).min();
    line.get(..end.unwrap_or(line.len())).unwrap_or_default()
}

/// Checks that the command line has the command and the options of a line; values of options are
/// checked as well.
fn parse(line: &str) -> Result<(), String> {
    let command = until(alone(line), &[" > ", " >> ", " 2> "]).trim_start_matches("dragline ");
    let script = format!(r#""$0" {command} --help"#);
    let ran = ran(Command::new("bash").args(["-c", &script, env!("CARGO_BIN_EXE_dragline")]));
    if ran.code == Some(0) { Ok(()) } else { Err(format!("{line}\n{}", ran.stderr)) }
}
