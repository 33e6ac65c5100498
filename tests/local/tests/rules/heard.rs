//! Crawls whose notices are kept.

use std::path::Path;
use std::sync::{Arc, Mutex};

use dragline_domain::command::Command;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::Selection;
use dragline_engine::local_world;
use dragline_local::{LocalStore, SystemClock};
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Progress;
use dragline_ports::notifier::{Notice, Notifier};
use dragline_testkit::whole_crawls::{Network, command_in, crawl_in, store};

/// Keeps what it is told.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<Notice>>>);

impl Notifier for Heard {
    async fn notify(&self, notice: Notice, _since: jiff::Timestamp) -> PortResult<()> {
        self.0.lock().unwrap().push(notice);
        Ok(())
    }
}

impl Heard {
    /// Crawls once.
    pub(crate) async fn crawl(&self, data: &Path, definition: &Definition) -> Progress {
        let world = local_world(&LocalStore::open(data, SystemClock::new().now()).unwrap(), self.clone());
        let messages = world.queue.clone();
        crawl_in(world, messages, Network::default().fetcher(), definition).await
    }

    /// Makes all documents again.
    pub(crate) async fn reparse(&self, data: &Path, definition: &Definition) -> Progress {
        store(data, definition).await;
        let world = local_world(&LocalStore::open(data, SystemClock::new().now()).unwrap(), self.clone());
        let messages = world.queue.clone();
        let command = Command::Reparse { crawl: definition.name.clone(), selection: Selection::All };
        command_in(world, messages, Network::default().fetcher(), &command).await
    }

    /// The notices of a kind since the last call, in words.
    pub(crate) fn take(&self, kind: &str) -> Vec<String> {
        let heard = std::mem::take(&mut *self.0.lock().unwrap());
        heard.iter().filter(|notice| notice.kind() == kind).map(Notice::words).collect()
    }
}
