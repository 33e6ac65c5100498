//! How a page is read at its end.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use dragline_ports::renderer::{RenderEnd, RenderFailure};
use serde_json::json;
use tokio::select;
use tokio::time::sleep;

use super::Page;
use super::time::Phase;
use super::world::Dom;
use crate::link::NoReply;

/// How long reading a page may take, and again once its scripts are stopped.
const READ_TIME: Duration = Duration::from_secs(3);

impl Page<'_> {
    /// Reads the page as it is.
    pub(super) async fn read(&mut self, ended: RenderEnd) -> Result<(Dom, RenderEnd), RenderFailure> {
        self.steps.shutdown().await;
        let (Some(session), Some(world)) = (self.session.clone(), self.world.clone()) else {
            return Err(RenderFailure::Hung);
        };
        if self.clock.phase == Phase::Loading {
            return Err(RenderFailure::Hung);
        }
        // Its clock stands still before open requests fail, so that nothing makes much of that.
        self.link.tell(&session, "Emulation.setVirtualTimePolicy", json!({"policy": "pause"}));
        self.requests.close();
        if let Some(dom) = self.attend(world.read(self.request.dom_bytes_max)).await? {
            return Ok((dom, ended));
        }
        // An endless loop, perhaps: once it is over, the page can be read.
        self.link.tell(&session, "Runtime.terminateExecution", json!({}));
        let dom = self.attend(world.read(self.request.dom_bytes_max)).await?;
        dom.map(|dom| (dom, RenderEnd::Stopped)).ok_or(RenderFailure::Hung)
    }

    /// Waits for a reading, and handles what happens meanwhile; `None` if it takes too long.
    async fn attend(
        &mut self,
        reading: impl Future<Output = Result<Option<Dom>, NoReply>>,
    ) -> Result<Option<Dom>, RenderFailure> {
        let (mut reading, mut limit) = (pin!(reading), pin!(sleep(READ_TIME)));
        loop {
            select! {
                biased;
                () = &mut limit => return Ok(None),
                read = &mut reading => return match read {
                    Ok(dom) => Ok(dom),
                    Err(NoReply::Gone) => Err(RenderFailure::Crashed),
                    Err(NoReply::Refused(_)) => Ok(None),
                },
                event = self.events.next() => {
                    // Whatever it requests now is refused.
                    self.handle(&event.ok_or(RenderFailure::Crashed)?)?;
                }
            }
        }
    }
}
