//! A double of everything else that a function may connect to: it refuses and counts all requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::loopback::{json, serve};

/// An error that no client retries.
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

    /// Returns how many requests it got.
    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}
