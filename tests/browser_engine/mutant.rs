//! A browser that is told something else than what we say, by a defect that `MUTANT` names. It
//! stands between us and the real one, as its program.
//!
//! - `not_cut_off`: it is told neither of the proxy that is not there, nor that no host is found.
//! - `page_session`: requests are intercepted at the page's session, as usual, and not at the
//!   browser's.
//! - `setup_unawaited`: it says that the page is set up before it is.
#![expect(clippy::unwrap_used, reason = "a defect that is none shows in the tests")]

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

const BROWSER: &str = "/usr/lib/chromium/chromium-headless-shell";

/// As the browser's own start: descriptors 3 and 4 are our pipes.
const START: &str = r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null"#;

/// The numbers of commands that are not ours begin here.
const OWN_COMMANDS: u64 = 1_000_000_000;

/// What is not done before it is said to be.
const SET_UP: [&str; 3] =
    ["Network.setUserAgentOverride", "Emulation.setTimezoneOverride", "Page.addScriptToEvaluateOnNewDocument"];

const LATE: Duration = Duration::from_millis(1500);

type Pipe = Arc<Mutex<Box<dyn Write + Send>>>;

fn main() {
    let defect = std::env::var("MUTANT").unwrap();
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if defect == "not_cut_off" {
        let cuts_off =
            |argument: &&String| argument.starts_with("--proxy-") || argument.starts_with("--host-resolver-");
        let told = arguments.iter().filter(|argument| !cuts_off(argument));
        panic!("{}", Command::new(BROWSER).args(told).exec());
    }
    let mut browser = Command::new("/bin/sh")
        .args(["-c", START, BROWSER])
        .args(&arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let to_browser: Pipe = Arc::new(Mutex::new(Box::new(browser.stdin.take().unwrap())));
    let to_us: Pipe = Arc::new(Mutex::new(Box::new(OpenOptions::new().write(true).open("/proc/self/fd/4").unwrap())));
    let between = Arc::new(Between { defect, to_browser, to_us, seen: Mutex::default() });
    let (back, output) = (Arc::clone(&between), browser.stdout.take().unwrap());
    thread::spawn(move || each(output, |message| back.event(message)));
    each(File::open("/proc/self/fd/3").unwrap(), |message| between.command(message));
    browser.kill().unwrap();
    browser.wait().unwrap();
}

/// Handles what comes over a pipe, message by message.
fn each(pipe: impl Read, mut handle: impl FnMut(Value)) {
    for message in BufReader::new(pipe).split(0).map_while(Result::ok) {
        handle(serde_json::from_slice(&message).unwrap());
    }
}

fn send(pipe: &Pipe, message: &Value) {
    // It fails once the other side is gone, and then so are we.
    let _ = pipe.lock().unwrap().write_all(&[serde_json::to_vec(message).unwrap(), vec![0]].concat());
}

/// What is passed on in each direction, and what is not.
struct Between {
    defect: String,
    to_browser: Pipe,
    to_us: Pipe,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// The interception that was asked for the browser's session.
    interception: Value,
    sessions: HashSet<String>,
    /// The session of each request that waits.
    paused: HashMap<String, Value>,
    own: u64,
}

impl Seen {
    fn own_number(&mut self) -> u64 {
        self.own += 1;
        OWN_COMMANDS + self.own
    }
}

impl Between {
    /// From us to the browser.
    fn command(&self, mut message: Value) {
        let method = message["method"].as_str().unwrap().to_owned();
        let mut seen = self.seen.lock().unwrap();
        match self.defect.as_str() {
            "setup_unawaited" if SET_UP.contains(&method.as_str()) => {
                send(&self.to_us, &json!({"id": message["id"], "result": {}, "sessionId": message["sessionId"]}));
                message["id"] = seen.own_number().into();
                let pipe = Arc::clone(&self.to_browser);
                thread::spawn(move || {
                    thread::sleep(LATE);
                    send(&pipe, &message);
                });
                return;
            }
            "page_session" => {
                let session = message["sessionId"].as_str().map(str::to_owned);
                if method == "Fetch.enable" && session.is_none() {
                    seen.interception = message["params"].take();
                    send(&self.to_us, &json!({"id": message["id"], "result": {}}));
                    return;
                }
                if let Some(session) = session.filter(|_| method.starts_with("Page."))
                    && seen.sessions.insert(session.clone())
                {
                    let own = seen.own_number();
                    let params = seen.interception.clone();
                    let enable = json!({"id": own, "method": "Fetch.enable", "params": params, "sessionId": session});
                    send(&self.to_browser, &enable);
                }
                let request = message["params"]["requestId"].as_str();
                if let Some(session) =
                    request.filter(|_| method.starts_with("Fetch.")).and_then(|id| seen.paused.get(id))
                {
                    message["sessionId"] = session.clone();
                }
            }
            _ => {}
        }
        send(&self.to_browser, &message);
    }

    /// From the browser to us.
    fn event(&self, mut message: Value) {
        if message["id"].as_u64().is_some_and(|id| id > OWN_COMMANDS) {
            return;
        }
        if self.defect == "page_session" && message["method"] == "Fetch.requestPaused" {
            let id = message["params"]["requestId"].as_str().unwrap().to_owned();
            self.seen.lock().unwrap().paused.insert(id, message["sessionId"].clone());
            message.as_object_mut().unwrap().remove("sessionId");
        }
        send(&self.to_us, &message);
    }
}
