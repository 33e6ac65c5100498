//! The Renderer port over headless Chromium, which has no network of its own.
//!
//! With the headless shell, the same answers make the same bytes. Chromium with windows shows
//! frames by the real clock, so that pages which wait for them may differ.
//!
//! Start at [`BrowserRenderer`]. A page goes through `browser` (a tab of its own), `page` (what is
//! set up, how its time passes, how it is read) and `requests` (what it requests, and what becomes
//! of that), over `link` (the pipes). `process` starts browsers, confines them and ends them.

mod browser;
mod link;
mod page;
mod process;
mod renderer;
mod requests;
mod settings;

pub use process::hide_this_process;
pub use renderer::BrowserRenderer;
pub use settings::{BrowserSettings, Namespace, Processes};
