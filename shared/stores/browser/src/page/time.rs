//! How the time of a page passes.

use std::time::Duration;

use dragline_ports::renderer::RenderEnd;
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::{Page, Step};

/// How much of its time a page gets at once while an element is waited for.
const WAIT_SLICE: Duration = Duration::from_millis(250);

/// How much time a page gets at once while two frames are waited for. They come by the real clock,
/// and only while the page's own goes.
pub(super) const FRAME_SLICE: Duration = Duration::from_millis(20);

/// How long frames are waited for.
const FRAMES_TIME: Duration = Duration::from_millis(500);

/// How much more time a page gets if what came into view requested more.
const MORE_TIME: Duration = Duration::from_millis(500);

/// How often it gets that.
const ROUNDS_MAX: u32 = 5;

/// Where a page is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its document has not begun, and its clock stands still.
    Loading,
    /// Its time passes, of which it has got this much.
    Living { spent: Duration },
    /// Its time is over. Frames are waited for.
    Looking,
    /// They are seen.
    Seen,
}

impl Page<'_> {
    /// Returns how the page ended; `None` if it goes on. It gets a little more time if it requested
    /// more since its time was over, as what came into view does, or a worker.
    pub(super) fn end_or_go_on(&mut self) -> Option<RenderEnd> {
        if self.phase != Phase::Seen || self.requests.has_open() {
            return None;
        }
        if self.requests.asked() == self.asked_before {
            return Some(if self.lacks_element { RenderEnd::PageTime } else { RenderEnd::Quiet });
        }
        if self.rounds == ROUNDS_MAX {
            return Some(RenderEnd::PageTime);
        }
        self.rounds += 1;
        self.phase = Phase::Living { spent: self.request.page_time };
        self.give_time(MORE_TIME);
        None
    }

    /// Gives the page the next part of its time, or all of it.
    pub(super) fn live_on(&mut self, spent: Duration) {
        let left = self.request.page_time.saturating_sub(spent);
        let part = if self.request.wait_for.is_some() { left.min(WAIT_SLICE) } else { left };
        self.phase = Phase::Living { spent: spent + part };
        self.give_time(part);
    }

    /// The page has used the time that it got.
    pub(super) fn pass_time(&mut self) {
        match self.phase {
            Phase::Living { .. } => match (&self.request.wait_for, &self.world) {
                (Some(selector), Some(world)) if self.rounds == 0 => {
                    let (selector, world) = (selector.clone(), world.clone());
                    self.steps.spawn(async move { Step::Matched { is_there: world.has_match(&selector).await } });
                }
                _ => self.look(),
            },
            Phase::Looking => {
                self.steps.spawn(async {
                    sleep(FRAME_SLICE / 2).await;
                    Step::FrameSlice
                });
            }
            Phase::Loading | Phase::Seen => {}
        }
    }

    /// Waits for two frames: then whatever is in view has been loaded, or is requested.
    pub(super) fn look(&mut self) {
        let Some(world) = self.world.clone() else { return };
        self.phase = Phase::Looking;
        self.asked_before = self.requests.asked();
        self.steps.spawn(async move {
            // A page that computes shows none.
            let _ = timeout(FRAMES_TIME, world.see()).await;
            Step::FramesSeen
        });
        self.give_time(FRAME_SLICE);
    }

    /// Lets time pass for the page. It stands still while a request waits for its answer.
    pub(super) fn give_time(&self, time: Duration) {
        let Some(session) = &self.session else { return };
        let budget = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
        let policy = json!({
            "policy": "pauseIfNetworkFetchesPending", "budget": budget, "maxVirtualTimeTaskStarvationCount": 10_000,
        });
        self.link.tell(session, "Emulation.setVirtualTimePolicy", policy);
    }
}
