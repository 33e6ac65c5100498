//! Waiting for reads that may lag behind writes: of an index, or eventually consistent ones.

use std::fmt::Debug;
use std::time::Duration;

/// How often to ask again, and the pause before each time: 20 seconds in all.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(100);

/// Asks until the answer is right or the time is over, and returns the last answer. What does not
/// lag is asked once.
pub(super) async fn until<T>(mut ask: impl AsyncFnMut() -> T, is_right: impl Fn(&T) -> bool) -> T {
    for _ in 0..TRIES {
        let answer = ask().await;
        if is_right(&answer) {
            return answer;
        }
        tokio::time::sleep(PAUSE).await;
    }
    ask().await
}

/// Checks that the answer becomes this one.
pub(super) async fn assert_comes_to<T: Debug + PartialEq>(ask: impl AsyncFnMut() -> T, expected: T, why: &str) {
    assert_eq!(until(ask, |answer| *answer == expected).await, expected, "{why}");
}
