//! What values of several rows have in common when they are stored.

/// Whether a count is left out: stored rows are short.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) const fn is_zero(number: &u8) -> bool {
    *number == 0
}
