//! Conditions for leaving a field out of a stored form.

/// Whether a number is zero, and so left out.
pub(crate) fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}
