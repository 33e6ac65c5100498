//! Helpers for the stored form of rows.

/// Whether a count is zero, and left out to keep stored rows short.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) const fn is_zero(number: &u8) -> bool {
    *number == 0
}
