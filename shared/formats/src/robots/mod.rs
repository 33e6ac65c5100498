//! robots.txt (RFC 9309).
/// stub
#[derive(Clone, Debug, PartialEq)]
pub struct RobotsRecord;
