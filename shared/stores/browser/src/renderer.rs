//! The port, over a few browsers that wait for pages.

use std::sync::{Arc, Mutex, PoisonError};

use dragline_ports::renderer::{PageNetwork, RenderFailure, RenderRequest, Rendered, Renderer};
use tokio::sync::{OnceCell, Semaphore};

use crate::browser::{Afterwards, Browser};
use crate::process::Starter;
use crate::settings::BrowserSettings;

/// Renders pages in headless Chromium. Browsers are started when pages need them, kept for the next
/// page, and end with this value, or with this process.
pub struct BrowserRenderer {
    settings: BrowserSettings,
    starter: OnceCell<Starter>,
    idle: Mutex<Vec<Browser>>,
    room: Semaphore,
}

impl BrowserRenderer {
    /// Prepares browsers of these settings, and starts none.
    #[must_use]
    pub fn new(settings: BrowserSettings) -> Self {
        let room = Semaphore::new(settings.browsers_max.get().min(Semaphore::MAX_PERMITS));
        Self { settings, starter: OnceCell::new(), idle: Mutex::default(), room }
    }

    /// Returns how many pages are rendered at the same time at most.
    #[must_use]
    pub const fn browsers_max(&self) -> usize {
        self.settings.browsers_max.get()
    }

    /// Starts a browser now, which waits for its first page. Returns its name and version.
    ///
    /// # Errors
    /// [`RenderFailure::NoBrowser`] or [`RenderFailure::NoRoom`].
    pub async fn check(&self) -> Result<String, RenderFailure> {
        let browser = self.browser().await?;
        let version = browser.version().to_owned();
        self.keep(browser);
        Ok(version)
    }

    /// Ends the browsers that wait for pages, and waits until nothing of them is left. Others end
    /// with their pages.
    pub async fn close(&self) {
        drop(std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner)));
        if let Some(starter) = self.starter.get() {
            starter.await_removals().await;
        }
    }

    /// Takes a browser that waits, or starts one.
    async fn browser(&self) -> Result<Browser, RenderFailure> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(browser) => Ok(browser),
            None => {
                let starter = self.starter.get_or_try_init(|| Starter::find(&self.settings)).await?;
                Browser::start(starter, &self.settings).await
            }
        }
    }

    fn keep(&self, browser: Browser) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(browser);
    }
}

impl Renderer for BrowserRenderer {
    async fn render<N: PageNetwork>(&self, page: RenderRequest, network: Arc<N>) -> Result<Rendered, RenderFailure> {
        // It is never closed.
        let _room = self.room.acquire().await.map_err(|_| RenderFailure::NoRoom)?;
        let mut browser = self.browser().await?;
        let (rendered, afterwards) = browser.render(page, &network).await;
        if afterwards == Afterwards::Reusable {
            self.keep(browser);
        }
        rendered
    }
}
