//! The browsers of a function that renders pages.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use dragline_browser::{BrowserRenderer, BrowserSettings, Processes};
use dragline_lambda::SettingError;

/// The variable with the browser's program, which a layer brings; empty in a function that renders
/// nothing.
const BROWSER: &str = "DRAGLINE_BROWSER";

/// Lambda's variable with the function's memory in MiB.
const MEMORY: &str = "AWS_LAMBDA_FUNCTION_MEMORY_SIZE";

/// What a browser takes of that: 150 MiB with a usual page, and a large page's own.
const BROWSER_MIB: usize = 350;

/// What the function takes itself.
const OWN_MIB: usize = 256;

/// Returns the browsers of a function; `None` if it renders nothing. Each variable is read through
/// a function that returns one by name.
pub(super) fn browsers(variable: impl Fn(&str) -> Option<String>) -> Result<Option<BrowserRenderer>, SettingError> {
    let Some(program) = variable(BROWSER).filter(|path| !path.is_empty()).map(PathBuf::from) else { return Ok(None) };
    let memory = variable(MEMORY).ok_or(SettingError::Missing(MEMORY))?;
    let memory_mib =
        memory.parse().map_err(|_| SettingError::Wrong { name: MEMORY, why: "not a number".to_owned() })?;
    // Its code is a stranger's, and it has no sandbox: it must not read our credentials.
    if let Err(error) = dragline_browser::hide_this_process() {
        tracing::warn!(%error, "the browser could read the variables of this process");
    }
    Ok(Some(BrowserRenderer::new(settings(program, memory_mib))))
}

fn settings(program: PathBuf, memory_mib: usize) -> BrowserSettings {
    let browsers = memory_mib.saturating_sub(OWN_MIB) / BROWSER_MIB;
    let directory = program.parent().unwrap_or(Path::new("/")).to_owned();
    let environment = vec![
        (OsString::from("LD_LIBRARY_PATH"), directory.join("lib").into_os_string()),
        (OsString::from("FONTCONFIG_PATH"), directory.into_os_string()),
    ];
    BrowserSettings {
        program: Some(program),
        processes: Processes::One,
        browsers_max: NonZeroUsize::new(browsers).unwrap_or(NonZeroUsize::MIN),
        environment,
        ..BrowserSettings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_says_how_many_browsers_there_are() {
        for (memory_mib, browsers) in [(128, 1), (605, 1), (956, 2), (2_048, 5), (10_240, 28)] {
            let settings = settings("/opt/chromium/chromium".into(), memory_mib);
            assert_eq!(settings.browsers_max.get(), browsers, "{memory_mib} MiB");
        }
    }

    #[test]
    fn a_function_without_the_variable_renders_nothing() {
        for value in [None, Some(String::new())] {
            assert!(browsers(|_| value.clone()).unwrap().is_none(), "{value:?}");
        }
        let no_memory = browsers(|name| (name == BROWSER).then(|| "/opt/chromium/chromium".to_owned()));
        assert_eq!(no_memory.err(), Some(SettingError::Missing(MEMORY)));
    }
}
