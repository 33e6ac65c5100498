//! The parser's process.

use dragline_functions::parser;
use dragline_lambda::RunError;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), RunError> {
    parser::serve().await
}
