//! Nothing of a browser is left, however it ends.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use dragline_browser::{BrowserRenderer, BrowserSettings, Processes};
use dragline_ports::renderer::RenderFailure;
use tokio::process::Command;
use tokio::time::{sleep, timeout};

use crate::site::{Site, page, render};

const LOOP: &str = "<!doctype html><script>for (;;);</script>";
const HEAP: &str = "<!doctype html><script>const all = []; for (;;) all.push(new Array(1000000).fill(1.5))</script>";
const GOOD: &str = "<!doctype html><p>Good</p>";

/// How soon all has to be over.
const GONE_TIME: Duration = Duration::from_secs(2);

/// The variable by which a browser's first process is found.
const MARK: &str = "DRAGLINE_MARK";

/// Set where this test runs itself, in a process that is killed: the mark of its browser.
const CHILD: &str = "TEST_CHILD";

/// Makes a mark that no other run of these tests has.
fn own(mark: &str) -> String {
    format!("{mark}-{}", std::process::id())
}

fn renderer(mark: &str, processes: Processes) -> BrowserRenderer {
    let environment = vec![(OsString::from(MARK), OsString::from(mark))];
    BrowserRenderer::new(BrowserSettings { environment, processes, ..BrowserSettings::default() })
}

/// A browser's processes, which are one group, and its directory.
#[derive(Debug)]
struct Running {
    group: String,
    profile: PathBuf,
}

/// Finds the browser with this mark, as soon as all of its processes run.
async fn find(mark: String) -> Running {
    let mark = format!("{MARK}={mark}");
    let found = timeout(Duration::from_secs(20), async {
        loop {
            for process in fs::read_dir("/proc").unwrap().flatten() {
                let id = process.file_name().into_string().unwrap();
                let variables = fs::read(process.path().join("environ")).unwrap_or_default();
                let variables: Vec<_> = variables.split(|&byte| byte == 0).map(String::from_utf8_lossy).collect();
                let home = variables.iter().find_map(|variable| variable.strip_prefix("HOME="));
                if let (true, Some(home)) = (variables.iter().any(|variable| **variable == mark), home)
                    && group_of(&id).as_ref() == Some(&id)
                {
                    return Running { group: id, profile: home.into() };
                }
            }
            sleep(Duration::from_millis(20)).await;
        }
    });
    found.await.unwrap()
}

/// The group of a process that lives, from `/proc/PID/stat`: after the name in brackets come state,
/// parent and group.
fn group_of(id: &str) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    (fields[0] != "Z").then(|| fields[2].to_owned())
}

impl Running {
    /// How many of its processes live.
    fn count(&self) -> usize {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let ids = processes.filter_map(|process| process.file_name().into_string().ok());
        ids.filter(|id| group_of(id).as_ref() == Some(&self.group)).count()
    }

    async fn await_end(&self, why: &str) {
        let gone = timeout(GONE_TIME, async {
            while self.count() > 0 {
                sleep(Duration::from_millis(10)).await;
            }
        });
        assert!(gone.await.is_ok(), "{why}: {} processes are left", self.count());
    }

    async fn await_removal(&self, why: &str) {
        let removed = timeout(GONE_TIME, async {
            while self.profile.exists() {
                sleep(Duration::from_millis(10)).await;
            }
        });
        assert!(removed.await.is_ok(), "{why}: {} is left", self.profile.display());
    }
}

#[tokio::test]
async fn nothing_is_left_of_a_browser_that_is_dropped() {
    let renderer = renderer(&own("idle"), Processes::Several);
    renderer.check().await.unwrap();
    let running = find(own("idle")).await;
    assert!(running.count() > 1 && running.profile.is_dir(), "{running:?}");
    drop(renderer);
    running.await_end("idle").await;
    running.await_removal("idle").await;
}

#[tokio::test]
async fn a_browser_has_none_of_our_variables_and_a_network_namespace_where_it_may() {
    let renderer = renderer(&own("alone"), Processes::Several);
    renderer.check().await.unwrap();
    let running = find(own("alone")).await;
    let process = PathBuf::from("/proc").join(&running.group);
    let variables = fs::read_to_string(process.join("environ")).unwrap();
    let names: BTreeSet<_> =
        variables.split_terminator('\0').filter_map(|variable| variable.split('=').next()).collect();
    // `PWD` is the shell's.
    let expected: BTreeSet<_> = [MARK, "HOME", "PATH", "PWD", "TMPDIR"].into();
    assert!(names.is_subset(&expected), "{names:?}");
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let users = if is_root { &[][..] } else { &["--user", "--map-current-user"] };
    let may = Command::new("unshare").args(users).args(["--net", "true"]).status().await.unwrap().success();
    let ours = fs::read_link("/proc/self/ns/net").unwrap();
    assert_eq!(fs::read_link(process.join("ns/net")).unwrap() != ours, may, "if this system allows it: {may}");
}

#[tokio::test]
async fn nothing_is_left_of_a_page_that_nobody_waits_for() {
    let renderer = renderer(&own("loop"), Processes::Several);
    let site = Arc::new(Site::default());
    let rendering = timeout(Duration::from_millis(1500), render(&renderer, page("https://a.test/", LOOP), &site));
    let (running, rendered) = tokio::join!(find(own("loop")), rendering);
    assert!(rendered.is_err(), "it computes for ever");
    running.await_end("in an endless loop").await;
    running.await_removal("in an endless loop").await;
}

#[tokio::test]
async fn a_page_leaves_nothing_to_the_next() {
    const KEEPS: &str = "<!doctype html><body><script>
        document.body.append(`Kept ${localStorage.length}, ${document.cookie}.`);
        [localStorage.a, document.cookie] = ['b', 'a=b'];
        document.body.append(` Now ${localStorage.length}, ${document.cookie}.`);
        setInterval(() => fetch('/again'), 100);
        addEventListener('pagehide', () => navigator.sendBeacon('/end'));</script>";
    let (renderer, site) = (renderer(&own("keeps"), Processes::Several), Arc::new(Site::default()));
    let mut processes = Vec::new();
    for _ in 0..6 {
        let rendered = render(&renderer, page("https://a.test/", KEEPS), &site).await.unwrap();
        assert!(rendered.html.contains("Kept 0, . Now 1, a=b."), "{}", rendered.html);
        sleep(Duration::from_millis(200)).await;
        processes.push(find(own("keeps")).await.count());
    }
    assert!(processes[5] <= processes[0] + 1, "their processes end: {processes:?}");
}

#[tokio::test]
async fn a_crash_costs_its_page_alone() {
    let (renderer, site) = (renderer(&own("crash"), Processes::Several), Arc::new(Site::default()));
    let crashed = render(&renderer, page("https://a.test/", HEAP), &site).await;
    assert_eq!(crashed, Err(RenderFailure::Crashed));
    let running = find(own("crash")).await;
    render(&renderer, page("https://a.test/", GOOD), &site).await.unwrap();
    assert!(running.count() > 1, "the same browser goes on");
    drop(renderer);
    running.await_end("after a crash").await;
}

#[tokio::test]
async fn a_crash_in_one_process_ends_it() {
    let (renderer, site) = (renderer(&own("one"), Processes::One), Arc::new(Site::default()));
    let heap = render(&renderer, page("https://a.test/", HEAP), &site);
    let (running, crashed) = tokio::join!(find(own("one")), heap);
    assert_eq!(crashed, Err(RenderFailure::Crashed));
    running.await_end("crashed").await;
    running.await_removal("crashed").await;
    render(&renderer, page("https://a.test/", GOOD), &site).await.unwrap();
}

#[tokio::test]
async fn a_browser_ends_with_its_parent_however_that_ends() {
    if let Ok(mark) = std::env::var(CHILD) {
        let renderer = renderer(&mark, Processes::Several);
        let _ = render(&renderer, page("https://a.test/", LOOP), &Arc::new(Site::default())).await;
        return;
    }
    let mark = own("child");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::a_browser_ends_with_its_parent_however_that_ends"])
        .env(CHILD, &mark)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let running = find(mark).await;
    // Until it has begun with the page.
    while running.count() < 5 {
        sleep(Duration::from_millis(10)).await;
    }
    sleep(Duration::from_millis(300)).await;
    child.kill().await.unwrap();
    running.await_end("in an endless loop, its parent killed").await;
    let next = renderer(&own("next"), Processes::Several);
    next.check().await.unwrap();
    running.await_removal("by the next renderer").await;
}

#[tokio::test]
async fn a_missing_browser_is_said_with_a_hint() {
    for (program, expected) in [("/nonexistent/browser", "there is no program"), ("/bin/true", "ended at once")] {
        let settings = BrowserSettings { program: Some(program.into()), ..BrowserSettings::default() };
        let failure = BrowserRenderer::new(settings).check().await.unwrap_err();
        let RenderFailure::NoBrowser { detail, hint } = &failure else { panic!("{failure}") };
        assert!(detail.contains(expected) && hint.contains("chromium-headless-shell"), "{failure}");
    }
}
