//! How the time of a page passes: in parts, after each of which a frame is shown.
//!
//! Frames come when we say so, at fixed moments of the page's own time. Otherwise they would come
//! by the real clock, while hours of the page's may pass between two of them: whatever waits for
//! being in view, or counts up by frames, would do so at another moment each time.

use std::time::Duration;

use dragline_ports::renderer::RenderEnd;
use serde_json::json;
use tokio::time::sleep;

use super::world::{Frames, World};
use super::{Page, Step};

/// How much of its time a page gets at once, between frames at our command.
const COMMANDED_PART: Duration = Duration::from_millis(100);

/// The same where frames come by the real clock, for which each takes long.
const REAL_PART: Duration = Duration::from_millis(500);

/// How much time passes at once while frames by the real clock are waited for: they come only while
/// the page's time goes.
const REAL_FRAME_PART: Duration = Duration::from_millis(20);

/// How much time passes after the last frame, so that what it had the page request is known.
const SETTLING_PART: Duration = Duration::from_millis(20);

/// How much more time a page gets if that was something.
const MORE_TIME: Duration = Duration::from_millis(500);

/// How often it gets that.
const ROUNDS_MAX: u32 = 5;

/// Where a page is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its document has not begun, and its clock stands still.
    Loading,
    /// Its document is there, and nothing of it has run.
    Beginning,
    /// A part of its time passes, and this much is left after it.
    Living { left: Duration },
    /// That part is over, and a frame is shown.
    Showing { left: Duration },
    /// All of its time is over, and the last frame was shown.
    Settling,
    /// What the last frame had it request is known.
    Over,
}

/// The clock of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub(super) phase: Phase,
    /// How much time the page has got so far.
    pub(super) given: Duration,
    /// How often it got more than its page time.
    rounds: u32,
    /// How many requests there were before the last frame.
    asked_before: u32,
    /// What was seen in a frame by the real clock, until its part of the time is over.
    seen: Option<Option<bool>>,
    /// Whether the element that is waited for was missing in the last frame.
    lacks_element: bool,
}

impl Clock {
    /// Returns the clock of a page that has not begun.
    pub(super) const fn new() -> Self {
        Self {
            phase: Phase::Loading,
            given: Duration::ZERO,
            rounds: 0,
            asked_before: 0,
            seen: None,
            lacks_element: false,
        }
    }
}

impl Page<'_> {
    /// Lets this much time pass for the page, in parts, or comes to its end if that is nothing.
    pub(super) fn go_on(&mut self, left: Duration) {
        if left.is_zero() {
            self.clock.phase = Phase::Settling;
            return self.give_time(SETTLING_PART);
        }
        let part = match self.frames {
            Frames::Commanded => COMMANDED_PART,
            Frames::Real => REAL_PART,
        };
        let part = left.min(part);
        self.asked_frame = self.world.as_ref().filter(|_| self.frames == Frames::Commanded).map(World::ask_for_frame);
        self.clock.phase = Phase::Living { left: left - part };
        self.give_time(part);
    }

    /// The page has used the time that it got.
    pub(super) fn pass_time(&mut self) {
        match self.clock.phase {
            Phase::Living { left } => {
                self.clock.phase = Phase::Showing { left };
                self.clock.asked_before = self.requests.asked();
                self.show();
            }
            Phase::Showing { .. } => {
                self.steps.spawn(async {
                    sleep(REAL_FRAME_PART / 2).await;
                    Step::FramePartOver
                });
            }
            Phase::Settling => self.clock.phase = Phase::Over,
            Phase::Loading | Phase::Beginning | Phase::Over => {}
        }
    }

    /// Shows a frame, and then looks for the element that is waited for.
    fn show(&mut self) {
        let Some(world) = self.world.clone() else { return };
        let (given, asked, selector) = (self.clock.given, self.asked_frame.take(), self.request.wait_for.clone());
        if self.frames == Frames::Real {
            self.give_time(REAL_FRAME_PART);
        }
        self.steps.spawn(async move {
            match asked {
                Some(asked) => world.show(asked, given).await,
                None => world.await_frames().await,
            }
            let is_there = match selector {
                Some(selector) => Some(world.has_match(&selector).await),
                None => None,
            };
            Step::Shown { is_there }
        });
    }

    /// The part in which frames by the real clock are waited for is over. It goes on only here, as
    /// the end of that part would otherwise be taken for that of the next.
    pub(super) fn await_frame(&mut self) {
        match self.clock.seen.take() {
            Some(is_there) => self.take_frame(is_there),
            None => self.give_time(REAL_FRAME_PART),
        }
    }

    /// A frame was shown, and the element that is waited for was there, or was not; `None`: none is
    /// waited for.
    pub(super) fn see_frame(&mut self, is_there: Option<bool>) {
        match self.frames {
            Frames::Commanded => self.take_frame(is_there),
            Frames::Real => self.clock.seen = Some(is_there),
        }
    }

    fn take_frame(&mut self, is_there: Option<bool>) {
        let Phase::Showing { left } = self.clock.phase else { return };
        self.clock.lacks_element = is_there == Some(false);
        self.go_on(if is_there == Some(true) { Duration::ZERO } else { left });
    }

    /// Returns how the page ended; `None` if it goes on. It gets a little more time if its last
    /// frame had it request more, as what came into view does.
    pub(super) fn end_or_go_on(&mut self) -> Option<RenderEnd> {
        if self.clock.phase != Phase::Over || self.requests.has_open() {
            return None;
        }
        if self.requests.asked() == self.clock.asked_before {
            return Some(if self.clock.lacks_element { RenderEnd::PageTime } else { RenderEnd::Quiet });
        }
        if self.clock.rounds == ROUNDS_MAX {
            return Some(RenderEnd::PageTime);
        }
        self.clock.rounds += 1;
        self.go_on(MORE_TIME);
        None
    }

    /// Lets time pass for the page. It stands still while a request waits for its answer.
    fn give_time(&mut self, time: Duration) {
        let Some(session) = &self.session else { return };
        self.clock.given += time;
        let policy = json!({
            "policy": "pauseIfNetworkFetchesPending",
            "budget": time.as_secs_f64() * 1000.0,
            "maxVirtualTimeTaskStarvationCount": 10_000,
        });
        self.link.tell(session, "Emulation.setVirtualTimePolicy", policy);
    }
}
