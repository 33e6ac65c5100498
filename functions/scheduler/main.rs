//! The scheduler's process.

use dragline_functions::scheduler;
use dragline_lambda::RunError;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), RunError> {
    scheduler::serve().await
}
