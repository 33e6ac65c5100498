//! The publisher's process.

use dragline_functions::publisher;
use dragline_lambda::RunError;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), RunError> {
    publisher::serve().await
}
