//! The sweeper's process.

use dragline_functions::sweeper;
use dragline_lambda::RunError;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), RunError> {
    sweeper::serve().await
}
