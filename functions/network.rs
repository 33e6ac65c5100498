//! Which addresses a stack may connect to.

use dragline_domain::address::AddressPolicy;
use dragline_lambda::SettingError;

/// The variable that permits private addresses: `yes` or `no`.
const ALLOW_PRIVATE: &str = "DRAGLINE_ALLOW_PRIVATE";

/// Reads the variable through a function that returns one by name. A missing one grants nothing.
pub(crate) fn address_policy(variable: impl Fn(&str) -> Option<String>) -> Result<AddressPolicy, SettingError> {
    match variable(ALLOW_PRIVATE).as_deref() {
        None | Some("no") => Ok(AddressPolicy::PublicOnly),
        Some("yes") => Ok(AddressPolicy::AllowPrivate),
        Some(other) => {
            let why = format!("`{}` is neither `yes` nor `no`", other.escape_debug());
            Err(SettingError::Wrong { name: ALLOW_PRIVATE, why })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_need_an_explicit_yes() {
        for (text, expected, why) in [
            (None, Some(AddressPolicy::PublicOnly), "nothing is no permission"),
            (Some("no"), Some(AddressPolicy::PublicOnly), "the default"),
            (Some("yes"), Some(AddressPolicy::AllowPrivate), "on purpose"),
            (Some("true"), None, "not what the template sets"),
            (Some(""), None, "nor is that"),
        ] {
            assert_eq!(address_policy(|_| text.map(str::to_owned)).ok(), expected, "{why}");
        }
    }
}
