//! Output is coloured only on terminals, and only where colours are wanted.

use dragline_testkit::hostile::{HostileSite, html, reply};

use super::terminal::on_a_terminal_with;
use super::{command, ran};

/// Returns whether the text contains a colour or bold sequence; sequences that move the cursor do
/// not count.
fn is_coloured(text: &str) -> bool {
    text.split("\u{1b}[")
        .skip(1)
        .any(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m'))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_stream_is_coloured_on_terminals_that_want_it_and_nowhere_else() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        _ => html("a page"),
    })
    .await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room for a directory"));
    let crawl = ["crawl", &*seed, "--allow-private", "--delay", "0s"];
    let verbose = [&crawl[..], &["--verbose"]].concat();
    let mistaken = ["crawl", "example.org"];
    let help = ["crawl", "--help"];
    let commands: [(&[&str], &str); 6] = [
        (&crawl, "the summary"),
        (&verbose, "the log"),
        (&["status"], "the summary on standard output"),
        (&mistaken, "a mistake"),
        (&["crawl", "--nonsense"], "a mistake of usage"),
        (&help, "the help"),
    ];
    tokio::task::block_in_place(|| {
        for (arguments, what) in commands {
            let (_, coloured) = on_a_terminal_with(directory.path(), arguments, &[]);
            assert!(is_coloured(&coloured), "{what}, on a terminal: {}", coloured.escape_debug());
            for unwanted in [("NO_COLOR", "1"), ("TERM", "dumb")] {
                // CI services set `CI`, which makes some libraries use colours on any terminal.
                for variables in [&[unwanted][..], &[unwanted, ("CI", "true")]] {
                    let (_, plain) = on_a_terminal_with(directory.path(), arguments, variables);
                    assert!(!is_coloured(&plain), "{what}, with {variables:?}: {}", plain.escape_debug());
                }
            }
            let piped = ran(command(directory.path(), arguments).env("TERM", "xterm-256color"));
            assert!(!is_coloured(&piped.stdout), "{what}, in a pipe: {}", piped.stdout.escape_debug());
            assert!(!is_coloured(&piped.stderr), "{what}, in a pipe: {}", piped.stderr.escape_debug());
        }
    });
}
