//! The crawler's process.

use dragline_functions::crawler;
use dragline_lambda::RunError;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), RunError> {
    crawler::serve().await
}
