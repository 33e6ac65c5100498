//! Which program is the browser.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use dragline_ports::renderer::RenderFailure;

/// Where packages put the browser itself. What they put into `PATH` is mostly a script that stays
/// its parent, and would hide it from us.
const USUAL: [&str; 9] = [
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib64/chromium-browser/headless_shell",
    "/opt/google/chrome-headless-shell/chrome-headless-shell",
    "/usr/bin/chrome-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// The first version of Chromium that reads shadow roots as HTML (`Element.getHTML`).
pub(crate) const VERSION_MIN: u32 = 125;

const HINT: &str = "install chromium-headless-shell (Debian), chromium-headless (Fedora) or \
                    Chrome, or name its program in DRAGLINE_BROWSER";

/// Returns the failure of having no browser, for this reason.
pub(crate) fn no_browser(detail: impl Into<String>) -> RenderFailure {
    RenderFailure::NoBrowser { detail: detail.into(), hint: HINT.to_owned() }
}

/// Finds the browser: the one named, or the first of the usual ones.
pub(crate) fn find(named: Option<&Path>) -> Result<PathBuf, RenderFailure> {
    choose(named, &USUAL.map(Path::new))
}

fn choose(named: Option<&Path>, usual: &[&Path]) -> Result<PathBuf, RenderFailure> {
    let usable = |path: &&Path| matches!(look_at(path), Look::Program);
    match named {
        None => {
            let program = usual.iter().copied().find(usable).map(Path::to_owned);
            program.ok_or_else(|| no_browser("none of the usual ones is installed"))
        }
        Some(path) => match look_at(path) {
            Look::Program => Ok(path.to_owned()),
            Look::Script => Err(no_browser(format!("`{}` is a script that starts a browser", path.display()))),
            Look::Nothing => Err(no_browser(format!("there is no program `{}`", path.display()))),
        },
    }
}

enum Look {
    Program,
    Script,
    Nothing,
}

fn look_at(path: &Path) -> Look {
    let mut begin = [0; 2];
    match File::open(path).and_then(|mut file| file.read_exact(&mut begin)) {
        Ok(()) if begin == *b"#!" => Look::Script,
        Ok(()) => Look::Program,
        Err(_) => Look::Nothing,
    }
}

/// Checks that a browser of this name and version can be used.
pub(crate) fn check_version(product: &str) -> Result<(), RenderFailure> {
    let version = product.split_once('/').and_then(|(_, version)| version.split('.').next()?.parse::<u32>().ok());
    match version {
        Some(VERSION_MIN..) => Ok(()),
        Some(_) => Err(no_browser(format!("`{product}` is older than version {VERSION_MIN}"))),
        None => Err(no_browser(format!("`{product}` is not a version of Chromium"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(result: Result<PathBuf, RenderFailure>) -> String {
        match result {
            Err(RenderFailure::NoBrowser { detail, .. }) => detail,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_script_that_starts_a_browser_is_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        let (script, program, none) =
            (directory.path().join("script"), directory.path().join("program"), directory.path().join("none"));
        std::fs::write(&script, "#!/bin/sh\nchromium \"$@\"\n").unwrap();
        std::fs::write(&program, "\x7fELF").unwrap();
        assert_eq!(choose(None, &[&none, &script, &program]), Ok(program.clone()));
        assert_eq!(choose(Some(&program), &[]), Ok(program.clone()));
        assert_eq!(detail(choose(None, &[&none, &script])), "none of the usual ones is installed");
        assert!(detail(choose(Some(&script), &[&program])).ends_with("is a script that starts a browser"));
        assert!(detail(choose(Some(&none), &[&program])).starts_with("there is no program"), "no other instead");
    }

    #[test]
    fn old_versions_and_other_programs_are_refused() {
        for (product, expected, why) in [
            ("HeadlessChrome/156.0.8078.108", true, "the headless shell"),
            ("Chrome/125.0.1.2", true, "the oldest"),
            ("Chrome/124.9.1.2", false, "too old"),
            ("Firefox/200.0", true, "whatever speaks the protocol in such a version"),
            ("Chrome", false, "without a version"),
            ("", false, "nothing"),
        ] {
            assert_eq!(check_version(product).is_ok(), expected, "{why}");
        }
    }
}
