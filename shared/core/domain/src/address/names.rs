//! Names that always belong to private networks, whatever a resolver says.

use super::{AddressClass, AddressPolicy};

/// Private names, each including all names below it.
const PRIVATE_DOMAINS: &[(&str, AddressClass)] = &[
    // Must come before `internal`, as it is below that.
    ("metadata.google.internal", AddressClass::Metadata),
    ("metadata.goog", AddressClass::Metadata),
    // RFC 6761, 6.3.
    ("localhost", AddressClass::Loopback),
    // RFC 6762, 3: answered by the machines on the link.
    ("local", AddressClass::LinkLocal),
    // Reserved by ICANN in 2024.
    ("internal", AddressClass::Private),
    // RFC 8375, 3.
    ("home.arpa", AddressClass::Private),
    // RFC 6762, appendix G: in use in private networks, and never delegated.
    ("intranet", AddressClass::Private),
    ("private", AddressClass::Private),
    ("corp", AddressClass::Private),
    ("home", AddressClass::Private),
    ("lan", AddressClass::Private),
];

/// A name whose lookup the policy forbids.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no connection to {host}: {class} name")]
pub struct NameRefused {
    /// The host.
    pub host: String,
    /// The class of its addresses.
    pub class: AddressClass,
}

/// Checks that the policy allows the lookup of this host. The resulting addresses must still be
/// checked.
///
/// # Errors
/// [`NameRefused`] if it does not.
pub fn check_name(policy: AddressPolicy, host: &str) -> Result<(), NameRefused> {
    match private_name(host) {
        Some(class) if !policy.allows(class) => Err(NameRefused { host: host.to_owned(), class }),
        _ => Ok(()),
    }
}

/// Returns the class of a name's addresses, if the name alone shows that they are not public;
/// `None` for all other names.
///
/// These are `localhost`, `.local`, `.internal` and similar names, with all names below them, in
/// any letter case, with or without the trailing dot.
#[must_use]
pub fn private_name(host: &str) -> Option<AddressClass> {
    let host = host.strip_suffix('.').unwrap_or(host);
    PRIVATE_DOMAINS.iter().find(|(domain, _)| is_at_or_below(host, domain)).map(|(_, class)| *class)
}

fn is_at_or_below(host: &str, domain: &str) -> bool {
    let Some(start) = host.len().checked_sub(domain.len()) else { return false };
    let ends_so = host.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(domain));
    ends_so && (start == 0 || host.as_bytes()[start - 1] == b'.')
}
