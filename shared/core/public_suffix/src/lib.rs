//! The registrable part of a host's name, by the [Public Suffix List](https://publicsuffix.org/).
//!
//! A package of its own, since the list is compiled into each crate that uses it: here it is
//! compiled once, without costly optimisation.

/// Returns the registrable domain of a host: `example.co.uk` for `www.example.co.uk`.
///
/// `host` is a name in lower case, in Punycode if it is international. `None` if it is a public
/// suffix itself, or a single label such as `localhost`. An IP address is not a name: its result
/// has no meaning.
#[must_use]
#[inline(never)]
pub fn registrable_domain(host: &str) -> Option<&str> {
    psl::domain_str(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registrable_domains_follow_the_list() {
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
