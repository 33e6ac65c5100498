//! Resuming crawls of private addresses.

use std::process::Stdio;
use std::time::Duration;

use dragline_testkit::hostile::{HostileSite, html, reply};

use super::{Ran, command, dragline};

/// Longer than the start of a crawl takes on any machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn assert_refused(ran: &Ran) {
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let lines: Vec<_> = ran.stderr.lines().filter(|line| line.contains("private")).collect();
    let [what, hint] = lines[..] else { panic!("two lines: {}", ran.stderr) };
    assert!(what.contains("was allowed to connect to private addresses before, but is not now"), "{what}");
    assert!(hint.contains("`dragline crawl --data data --allow-private`"), "{hint}");
}

/// Resumes without the flag, then with it, then begins the next iteration without it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_of_private_addresses_does_not_resume_without_the_flag() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(404, &[], ""),
        _ => html("<a href=/next>next</a>"),
    })
    .await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room for a directory"));
    let arguments = ["crawl", &seed, "--allow-private", "--delay", "1s", "--data", "data"];
    let mut crawl = command(directory.path(), &arguments);
    let mut killed = crawl.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command was built");
    let began = async {
        while site.targets().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, began).await.expect("it begins");
    killed.kill().expect("it works");
    killed.wait().expect("it is ours");
    let asked = site.targets().len();
    tokio::task::block_in_place(|| {
        assert_refused(&dragline(directory.path(), &["crawl", "--data", "data"]));
        assert_eq!(site.targets().len(), asked, "nothing was requested");
        let ended = dragline(directory.path(), &["crawl", "--data", "data", "--allow-private"]);
        assert_eq!(ended.code, Some(0), "nothing was blocked: {}", ended.stderr);
        assert!(site.targets().contains(&"/next".to_owned()), "{:?}", site.targets());
        assert_refused(&dragline(directory.path(), &["crawl", "--data", "data"]));
    });
}
