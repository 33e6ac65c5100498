//! What stored forms leave out.

/// Whether a number is zero, and so left out.
pub(crate) fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}
