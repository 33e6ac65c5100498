//! Stored forms: conditions for leaving a field out, digests, and types that are stored as their
//! text.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

/// Whether a number is zero, and so left out.
pub(crate) fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

/// Computes a digest that is stored: it is the same on every machine, and never changes between
/// versions.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Implements what `#[serde(try_from = "String", into = "String")]` needs, of types that are parsed
/// from their text and written as it.
macro_rules! stored_as_text {
    ($($type:ty),+ $(,)?) => {$(
        impl TryFrom<String> for $type {
            type Error = <Self as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    )+};
}

pub(crate) use stored_as_text;
