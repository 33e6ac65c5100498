//! How a page is pictured, once it was read.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64;
use dragline_domain::definition::Screenshot;
use serde_json::{Value, json};
use tokio::select;
use tokio::time::sleep;

use super::world::{Frames, World};
use super::{Clock, Page};
use crate::link::{Link, NoReply, text};

/// The size of the first screen.
const VIEW: (u32, u32) = (1280, 800);

/// The limit on the height of a whole page.
const HEIGHT_MAX: u32 = 10_000;

/// The limit on a picture, in bytes.
const PICTURE_BYTES_MAX: usize = 8 << 20;

/// How long it may take.
const PICTURE_TIME: Duration = Duration::from_secs(5);

/// How far apart the frames are in which the page takes the size of the picture, and is pictured.
const FRAME_MS: f64 = 16.0;

impl Page<'_> {
    /// Pictures the page, if that is wanted; `None` if it cannot be done in time, or is too large.
    pub(super) async fn picture(&mut self) -> Option<Bytes> {
        let (session, world) = (self.session.clone()?, self.world.clone()?);
        let (what, frames, link, clock) = (self.request.screenshot, self.frames, self.link.clone(), self.clock);
        if what == Screenshot::None {
            return None;
        }
        let (mut shot, mut limit) =
            (pin!(take(link, session, world, (what, frames, clock))), pin!(sleep(PICTURE_TIME)));
        let png = loop {
            select! {
                biased;
                () = &mut limit => return None,
                shot = &mut shot => break shot.ok()?,
                // Whatever it requests now is refused.
                event = self.events.next() => drop(self.handle(&event?).ok()?),
            }
        };
        (!png.is_empty() && png.len() <= PICTURE_BYTES_MAX).then(|| png.into())
    }
}

async fn take(
    link: Link,
    session: String,
    world: World,
    (what, frames, clock): (Screenshot, Frames, Clock),
) -> Result<Vec<u8>, NoReply> {
    let (width, first_screen) = VIEW;
    let resize = async |height: u32| {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        link.call(&session, "Emulation.setDeviceMetricsOverride", size).await
    };
    let mut moment_ms = world.moment_ms(clock.given);
    // The page takes its size in a frame.
    let mut show = async |mut frame: Value| {
        moment_ms += FRAME_MS;
        frame["frameTimeTicks"] = moment_ms.into();
        match frames {
            Frames::Commanded => link.call(&session, "HeadlessExperimental.beginFrame", frame).await,
            Frames::Real => Ok(Value::Null),
        }
    };
    resize(first_screen).await?;
    show(json!({})).await?;
    if what == Screenshot::Page {
        resize(world.height().await?.clamp(first_screen, HEIGHT_MAX)).await?;
        show(json!({})).await?;
    }
    let png = match frames {
        Frames::Commanded => show(json!({"screenshot": {"format": "png"}})).await?["screenshotData"].take(),
        Frames::Real => link.call(&session, "Page.captureScreenshot", json!({"format": "png"})).await?["data"].take(),
    };
    Ok(BASE64.decode(text(&png).as_bytes()).unwrap_or_default())
}
