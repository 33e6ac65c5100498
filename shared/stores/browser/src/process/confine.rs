//! What a browser is started by, so that it can do little else than render.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use rustix::process::geteuid;
use tokio::process::Command;

use crate::settings::{BrowserSettings, Namespace, Processes};

/// The descriptors 3 and 4, over which a browser obeys, are those of our pipes: `sh` makes them, as
/// that takes no unsafe code. It replaces itself, so the browser is our child.
const START: &str =
    r#"ulimit -d "$DATA_KIB" 2>/dev/null; unset DATA_KIB; exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null"#;

/// What every browser is told.
const FLAGS: [&str; 27] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--mute-audio",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-software-rasterizer",
    "--disable-dev-shm-usage",
    "--disable-breakpad",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--no-pings",
    // A popup that is held before it begins stops the clock of its page for ever.
    "--block-new-web-contents",
    // The first of them requests pages past the interception.
    "--disable-features=ServiceWorkerAutoPreload,Translate,MediaRouter,OptimizationHints",
    // Frames come at our command, where a tab is opened so, and are whole then.
    "--enable-begin-frame-control",
    "--run-all-compositor-stages-before-draw",
    "--disable-new-content-rendering-timeout",
    "--js-flags=--max-old-space-size=256",
    // What is not intercepted (WebSockets, WebTransport, preconnects, speculation rules, the
    // browser's own services) finds no address, and a proxy that is not there.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
];

/// The namespace that this system lets us make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confinement {
    /// One of the network, as root.
    Network,
    /// One of the network in one of users.
    UserNetwork,
    /// None.
    Flags,
}

impl Confinement {
    /// Finds out what is allowed here.
    pub(crate) async fn find(namespace: Namespace) -> Self {
        if namespace == Namespace::Unused {
            return Self::Flags;
        }
        let best = if geteuid().is_root() { Self::Network } else { Self::UserNetwork };
        let mut command = Command::new("unshare");
        command.args(best.unshare()).arg("true").kill_on_drop(true);
        command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null());
        if command.status().await.is_ok_and(|status| status.success()) { best } else { Self::Flags }
    }

    const fn unshare(self) -> &'static [&'static str] {
        match self {
            Self::Network => &["--net", "--"],
            Self::UserNetwork => &["--user", "--map-current-user", "--net", "--"],
            Self::Flags => &[],
        }
    }
}

/// Returns the command that starts a browser.
pub(crate) fn command(
    program: &Path,
    confinement: Confinement,
    profile: &Path,
    settings: &BrowserSettings,
) -> std::process::Command {
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", START]);
    if confinement != Confinement::Flags {
        command.arg("unshare").args(confinement.unshare());
    }
    command.arg(program).args(FLAGS).arg(option("--user-data-dir=", profile.as_os_str()));
    if settings.processes == Processes::One {
        command.args(["--single-process", "--no-zygote"]);
    }
    // Chromium makes no sandbox as root, or in one process.
    if settings.processes == Processes::One || geteuid().is_root() {
        command.arg("--no-sandbox");
    }
    // It gets none of our variables, above all no credentials, and leaves its files in its profile.
    command.env_clear().env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").env("HOME", profile).env("TMPDIR", profile);
    command.envs(settings.environment.iter().map(|(name, value)| (name, value)));
    command.env("DATA_KIB", (settings.process_bytes_max >> 10).to_string());
    command
}

fn option(name: &str, value: &OsStr) -> OsString {
    let mut option = OsString::from(name);
    option.push(value);
    option
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(settings: &BrowserSettings, confinement: Confinement) -> Vec<String> {
        let command = command(Path::new("/b/browser"), confinement, Path::new("/p"), settings);
        command.get_args().map(|word| word.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_browser_starts_in_its_namespace_and_in_nothing_of_ours() {
        let settings = BrowserSettings::default();
        let started = words(&settings, Confinement::UserNetwork);
        assert_eq!(started[2..7], ["unshare", "--user", "--map-current-user", "--net", "--"]);
        assert_eq!(started[7], "/b/browser");
        assert!(started.contains(&"--user-data-dir=/p".to_owned()));
        assert_eq!(words(&settings, Confinement::Flags)[2], "/b/browser");
        let command = command(Path::new("/b"), Confinement::Flags, Path::new("/p"), &settings);
        let names: Vec<_> = command.get_envs().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names, ["DATA_KIB", "HOME", "PATH", "TMPDIR"]);
    }

    #[test]
    fn one_process_has_no_sandbox() {
        let settings = BrowserSettings { processes: Processes::One, ..BrowserSettings::default() };
        let started = words(&settings, Confinement::Flags);
        assert!(["--single-process", "--no-sandbox"].iter().all(|flag| started.contains(&(*flag).to_owned())));
    }
}
