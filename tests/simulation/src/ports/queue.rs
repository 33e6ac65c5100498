//! The queue and the notifier behind the conductor.

use std::time::Duration;

use dragline_ports::error::PortResult;
use dragline_ports::notifier::{Notice, Notifier};
use dragline_ports::queue::{DELAY_MAX, Message, Queue};

use super::Gate;

pub(crate) struct GatedQueue(pub(crate) Gate);

impl Queue for GatedQueue {
    /// Sends messages through the conductor's mail; a fault may lose one silently.
    async fn send(&self, message: Message, delay: Duration) -> PortResult<()> {
        let subject = format!("{message:?}");
        let work = async {
            self.0.conductor.with_mail(|mail, now| mail.send(message, now + delay.min(DELAY_MAX)));
            Ok(())
        };
        self.0.pass_or("queue.send", subject, (), work).await
    }
}

pub(crate) struct GatedNotifier(pub(crate) Gate);

impl Notifier for GatedNotifier {
    async fn notify(&self, notice: Notice, _since: jiff::Timestamp) -> PortResult<()> {
        let subject = format!("{notice:?}");
        let work = async {
            self.0.conductor.people_are_told(notice);
            Ok(())
        };
        self.0.pass("notifier.notify", subject, work).await
    }
}
