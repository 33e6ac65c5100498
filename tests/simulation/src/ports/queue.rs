//! The queue and the notifier behind the conductor.

use std::time::Duration;

use dragline_ports::error::PortResult;
use dragline_ports::notifier::{Notice, Notifier};
use dragline_ports::queue::{DELAY_MAX, Message, Queue};

use super::Gate;
use crate::mutations::Mutation;
use crate::worker::Worker;

pub(crate) struct GatedQueue(pub(crate) Gate);

impl Queue for GatedQueue {
    /// Sends messages through the conductor's mail; a fault may lose one silently, unless nobody
    /// would send it again.
    async fn send(&self, message: Message, delay: Duration) -> PortResult<()> {
        let gate = &self.0;
        if !matches!((gate.worker, &message), (Worker::Ticker(_), Message::Start(_))) {
            let subject = format!("{message:?}");
            return gate.pass_or("queue.send", subject, (), post(gate, message, delay)).await;
        }
        if gate.put_off.holds("queue.send") {
            let later = gate.without_delay();
            gate.put_off.put_off(async move { send_surely(&later, message, delay).await });
            return Ok(());
        }
        send_surely(gate, message, delay).await
    }
}

async fn send_surely(gate: &Gate, message: Message, delay: Duration) -> PortResult<()> {
    let subject = format!("{message:?}");
    gate.pass("queue.send", subject, post(gate, message, delay)).await
}

async fn post(gate: &Gate, message: Message, delay: Duration) -> PortResult<()> {
    gate.conductor.with_mail(|mail, now| mail.send(message, now + delay.min(DELAY_MAX)));
    Ok(())
}

pub(crate) struct GatedNotifier(pub(crate) Gate);

impl Notifier for GatedNotifier {
    async fn notify(&self, notice: Notice, since: jiff::Timestamp) -> PortResult<()> {
        let subject = format!("{notice:?}");
        let since = match self.0.mutation {
            Some(Mutation::NoticeRedated) => self.0.conductor.worker_clock(self.0.worker),
            _ => since,
        };
        let work = async {
            if let Some(watch) = &self.0.watch {
                watch.told(notice.clone(), since);
            }
            self.0.conductor.people_are_told(notice);
            Ok(())
        };
        self.0.pass("notifier.notify", subject, work).await
    }
}
