//! A double of everything else that a function may talk to: it refuses what it is asked, and counts.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::loopback::{json, serve};

/// An error that no client tries again.
const REFUSED: &str =
    r#"{"__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException", "message": "there is no stack"}"#;

/// The double.
pub(super) struct Stack {
    pub(super) address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

impl Stack {
    pub(super) async fn start() -> Self {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let address = serve(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            std::future::ready(json(400, REFUSED))
        })
        .await;
        Self { address, asked }
    }

    /// How often it was asked for something.
    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}
