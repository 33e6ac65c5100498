//! The browsers in which a crawl renders pages.

use std::env;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::available_parallelism;

use dragline_browser::{BrowserRenderer, BrowserSettings};
use dragline_domain::definition::{Draft, RenderWhen};
use dragline_ports::renderer::RenderFailure;

use crate::error::Failure;
use crate::terminal::Console;

/// The limit on browsers at a time. Each takes up to a core and some hundred megabytes.
const BROWSERS_MAX: usize = 4;

/// The variable that names the browser's program.
const PROGRAM_VARIABLE: &str = "DRAGLINE_BROWSER";

/// Returns browsers, none of which is started before a page needs it: those of the program that the
/// environment names, or else of the first usual one.
pub(crate) fn browsers() -> Arc<BrowserRenderer> {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get).min(BROWSERS_MAX);
    let browsers_max = NonZeroUsize::new(cores).unwrap_or(NonZeroUsize::MIN);
    let program = env::var_os(PROGRAM_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    Arc::new(BrowserRenderer::new(BrowserSettings { program, browsers_max, ..BrowserSettings::default() }))
}

/// Checks that there is a browser if a definition needs one. Without one, a crawl that only renders
/// what needs it tells so and goes on.
///
/// # Errors
/// There is none, and the definition says to render all pages.
pub(crate) async fn check(browsers: &BrowserRenderer, definition: &Draft, console: &Console) -> Result<(), Failure> {
    let when = definition.render.when;
    if !definition.render.is_on() {
        return Ok(());
    }
    match (browsers.check().await, when) {
        (Ok(_), _) => Ok(()),
        (Err(failure), RenderWhen::Always) => Err(to_failure(failure)),
        (Err(RenderFailure::NoBrowser { detail, hint }), _) => {
            console.warn(&format!("pages that need JavaScript are not shown as a browser would: {detail}"));
            console.hint(&hint);
            Ok(())
        }
        (Err(failure), _) => Err(to_failure(failure)),
    }
}

/// Returns the error for a page that cannot be rendered.
pub(crate) fn to_failure(failure: RenderFailure) -> Failure {
    match failure {
        RenderFailure::NoBrowser { detail, hint } => {
            Failure::new(format!("no browser to render pages: {detail}")).with_hint(hint)
        }
        failure => Failure::new(format!("the page cannot be rendered: {failure}")),
    }
}
