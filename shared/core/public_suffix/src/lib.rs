//! The registrable part of a host's name, by the [Public Suffix List](https://publicsuffix.org/).
//!
//! A package of its own, since the list is compiled into each crate that uses it: here that happens once, without costly optimisation.

/// Returns the domain that somebody can register: `example.co.uk` for `www.example.co.uk`.
///
/// `host` is a name in lower case, Punycode where it is international. `None` if it is a public suffix itself, or a single name such as `localhost`.
/// An IP address is not a name: the result for one has no meaning.
#[must_use]
#[inline(never)]
pub fn registrable_domain(host: &str) -> Option<&str> {
    psl::domain_str(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_says_what_can_be_registered() {
        for (host, domain, why) in [
            ("www.example.org", Some("example.org"), "one label below a top-level domain"),
            ("example.org", Some("example.org"), "the domain itself"),
            ("a.b.example.co.uk", Some("example.co.uk"), "a suffix of two labels"),
            ("co.uk", None, "a suffix"),
            ("someone.github.io", Some("someone.github.io"), "a suffix of the list's private part"),
            ("localhost", None, "a single name"),
        ] {
            assert_eq!(registrable_domain(host), domain, "{host}: {why}");
        }
    }
}
