//! The searcher's process.

use dragline_functions::searcher;
use dragline_lambda::RunError;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), RunError> {
    searcher::serve().await
}
