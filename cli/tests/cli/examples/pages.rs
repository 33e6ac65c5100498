//! The commands of the README and of the guide.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::thread;

use super::{Shell, parse, ran, site};

/// Fewer commands than were in all pages when this was written.
const COMMANDS_MIN: usize = 80;

/// A page with commands.
struct Page {
    name: String,
    text: String,
}

impl Page {
    /// Returns the lines of its blocks of this kind, each with its number, counted from 1.
    fn lines(&self, kind: &str) -> Vec<(usize, &str)> {
        let mut block = None;
        let mut found = Vec::new();
        for (number, line) in (1..).zip(self.text.lines()) {
            match (line.strip_prefix("```"), block) {
                (Some(info), None) => block = Some(info),
                (Some(_), Some(_)) => block = None,
                (None, block) if block == Some(kind) => found.push((number, line)),
                (None, _) => {}
            }
        }
        found
    }

    /// Returns the commands of its blocks of this kind, each with its number.
    fn commands(&self, kind: &str) -> Vec<(usize, &str)> {
        self.lines(kind).into_iter().filter(|(_, line)| line.starts_with("dragline ")).collect()
    }

    /// Returns the blocks with output, each of which stands directly below commands.
    fn outputs(&self) -> Vec<&str> {
        let below = self.text.split("\n```\n\n```text\n").skip(1);
        below.filter_map(|text| text.split("\n```").next()).collect()
    }

    /// Returns all blocks that are to be run as one script, in which each line has the number that
    /// it has in the page.
    fn script(&self) -> String {
        let mut script = "trap 'echo \"$0:$LINENO: exit code $? of: $BASH_COMMAND\" >&2' ERR".to_owned();
        let mut last = 1;
        for (number, line) in self.lines("sh") {
            script += &"\n".repeat(number - last);
            script += line;
            last = number;
        }
        script
    }
}

/// Returns the README and the pages of the guide.
fn pages() -> Vec<Page> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let guide = fs::read_dir(root.join("docs/guide")).unwrap().map(|entry| entry.unwrap().path());
    let paths = guide.filter(|path| path.extension() == Some(OsStr::new("md"))).chain([root.join("README.md")]);
    let page = |path: std::path::PathBuf| Page {
        name: path.strip_prefix(root).unwrap().display().to_string(),
        text: fs::read_to_string(path).unwrap(),
    };
    paths.map(page).collect()
}

/// Runs the blocks of a page in an empty directory. Returns how many commands it ran, or what went
/// wrong.
fn run(page: &Page, shell: &Shell) -> Result<usize, String> {
    let directory = tempfile::tempdir().unwrap();
    let ran = ran(shell.script(directory.path(), &page.name, &page.script()).stdin(std::process::Stdio::null()));
    let commands = fs::read_to_string(shell.log()).unwrap_or_default().lines().count();
    let expected = page.commands("sh").len();
    let missing = page.outputs().into_iter().find(|output| !ran.stdout.contains(&shell.local(output)));
    match ran.code {
        Some(0) if missing.is_some() => {
            Err(format!("{}: no command printed this:\n{}\n\n{}", page.name, missing.unwrap_or_default(), ran.stdout))
        }
        Some(0) if commands >= expected => Ok(commands),
        Some(0) => Err(format!("{}: {commands} commands were run, not {expected}", page.name)),
        _ => Err(format!("{}\n{}{}", page.name, ran.stdout, ran.stderr)),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_each_page_work() {
    let pages = pages();
    let mut sites = Vec::new();
    for _ in &pages {
        sites.push(site::start().await);
    }
    let results: Vec<_> = tokio::task::block_in_place(|| {
        thread::scope(|scope| {
            let start = |(page, site)| scope.spawn(move || run(page, &Shell::new(site)));
            let running: Vec<_> = pages.iter().zip(&sites).map(start).collect();
            running.into_iter().map(|page| page.join().unwrap()).collect()
        })
    });
    let wrong: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).cloned().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let commands: usize = results.iter().flatten().sum();
    assert!(commands >= COMMANDS_MIN, "only {commands} commands were found");
}

#[test]
fn commands_that_are_not_run_exist_at_least() {
    let mut checked = 0;
    for page in pages() {
        for (number, line) in page.commands("sh,norun") {
            if let Err(error) = parse(line) {
                panic!("{}:{number}: {error}", page.name);
            }
            checked += 1;
        }
        for kind in ["console", "shell", "bash"] {
            assert!(page.lines(kind).is_empty(), "{}: blocks of commands are `sh` or `sh,norun`", page.name);
        }
    }
    assert!(checked >= 15, "only {checked} commands were found");
    assert!(parse("dragline status --such-an-option").is_err(), "an unknown option");
}
