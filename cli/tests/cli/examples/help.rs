//! The examples of `--help`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use super::{Shell, alone, dragline_alone, parse, ran, site};

/// The commands whose examples are only parsed: they are for a deployed stack, or do not end.
const PARSED: &[&str] = &["start", "put", "pause", "resume", "stop", "remove", "serve", "mcp"];

/// What the examples find: a crawl of four iterations, another data directory with a crawl of that
/// name, and the files that they take.
const FILES: &str = "
    dragline init https://example.org/
    echo 'name: docs' >> crawl.yaml
    for iteration in 1 2 3; do dragline crawl crawl.yaml --quiet; done
    echo 'content: full' >> crawl.yaml
    dragline crawl crawl.yaml --quiet
    dragline get https://example.org/product/chair > page.html
    echo https://example.org/news/7 > urls.txt
    echo 'User-agent: *' > robots.txt
    mkdir -p archives old/raw old-site
    dragline archive -o crawl.wacz
    dragline archive --warc -o archives/2024
    cp archives/2024/*.warc.gz site.warc.gz
    cp -R dragline-data example-data
    cp -R dragline-data/raw/docs old/raw/shop
    dragline import crawl.wacz --data old-site
    dragline token add ben
    dragline identity new
    dragline report --all -o baseline.json
    echo 'broken https://example.org/*' > known.txt
";

/// An example of a command's help.
#[derive(Debug)]
struct Example {
    /// The command whose help it stands in; empty for that of all.
    of: String,
    line: String,
}

impl Example {
    /// The exit code that it should have: the site has a broken link and news, and forbids
    /// `/private/`.
    fn code(&self) -> i32 {
        let line = alone(&self.line);
        let is_any = |parts: &[&str]| parts.iter().any(|part| line.contains(part));
        match () {
            () if is_any(&["broken --exit-code", "diff --exit-code", "--fail-on broken"]) => 5,
            () if is_any(&["explain https://example.org/private/"]) => 1,
            () => 0,
        }
    }

    fn is_only_parsed(&self) -> bool {
        // A database is one of a server that is not there.
        PARSED.contains(&self.of.as_str()) || self.line.contains(" --to ")
    }

    /// Runs it in a copy of a directory.
    fn run(&self, shell: &Shell, files: &Path) -> Result<(), String> {
        let directory = tempfile::tempdir().unwrap();
        let before = match self.line.split(' ').nth(1) {
            // It does not write over a definition.
            Some("init") => "rm crawl.yaml",
            // Without a schedule there is nothing to pause.
            Some("schedule") if self.line.contains(" pause ") => "dragline schedule add crawl.yaml --cron '0 3 * * *'",
            _ => "",
        };
        let script = format!("cp -R {}/. .\n{before}\n{}", files.display(), alone(&self.line));
        let ran = ran(shell.script(directory.path(), "example", &script).stdin(Stdio::null()));
        if ran.code == Some(self.code()) {
            return Ok(());
        }
        Err(format!("{} --help: {}\nexit code {:?}\n{}{}", self.of, self.line, ran.code, ran.stdout, ran.stderr))
    }
}

/// Returns the commands that the help lists.
fn commands() -> Vec<String> {
    let help = dragline_alone(&["--help"]).stdout;
    let listed = help.split("Options:").next().unwrap().lines();
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

/// Returns the examples in the help of a command.
fn examples(command: &str) -> Vec<Example> {
    let help = dragline_alone(&[command, "--help"].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>());
    assert_eq!(help.code, Some(0), "{command} --help\n{}", help.stderr);
    let lines =
        help.stdout.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| line.starts_with("dragline "));
    lines.map(|line| Example { of: command.to_owned(), line: line.to_owned() }).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_of_each_command_work() {
    let commands = commands();
    assert!(commands.len() >= 30, "{commands:?}");
    let without: Vec<_> = commands.iter().filter(|command| examples(command).is_empty()).collect();
    assert!(without.is_empty(), "without examples: {without:?}");

    let site = site::start().await;
    let shell = Shell::new(&site);
    let files = tempfile::tempdir().unwrap();
    let wrong: Vec<String> = tokio::task::block_in_place(|| {
        let ran = ran(&mut shell.script(files.path(), "files", FILES));
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        for folder in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"] {
            fs::create_dir_all(shell.home.path().join(folder)).unwrap();
        }
        // Each may stand in several helps.
        let mut seen = BTreeSet::new();
        let all: Vec<_> = commands.iter().map(String::as_str).chain([""]).flat_map(examples).collect();
        let all: Vec<_> = all.into_iter().filter(|example| seen.insert(alone(&example.line).to_owned())).collect();
        assert!(all.len() >= 90, "only {} examples", all.len());
        let check = |example: &Example| {
            if example.is_only_parsed() { parse(&example.line) } else { example.run(&shell, files.path()) }
        };
        let check_part = &|part: &[Example]| part.iter().filter_map(|example| check(example).err()).collect::<Vec<_>>();
        thread::scope(|scope| {
            let parts = all.chunks(all.len().div_ceil(4));
            let running: Vec<_> = parts.map(|part| scope.spawn(move || check_part(part))).collect();
            running.into_iter().flat_map(|part| part.join().unwrap()).collect()
        })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
