//! Name lookup, and the client's resolver, which returns only checked addresses.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use dragline_domain::address::{AddressPolicy, check, check_name};
use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::NoConnection;

/// Finds the addresses of a name. It is a trait so that tests can define names.
pub trait NameLookup: Send + Sync + 'static {
    /// Returns all addresses of `host`, in the order in which to try them; empty if it has none.
    ///
    /// # Errors
    /// Fails if the name does not exist or the lookup did not work.
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The operating system's resolver, with its cache, hosts file and search order.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLookup;

impl NameLookup for SystemLookup {
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// The most addresses tried for one name. A name can have thousands; they share the connect
/// time-out.
const ADDRESSES_MAX: usize = 16;

/// Looks a name up once per connection and checks every address before the client sees it. The
/// client connects only to these addresses and never looks the name up again, so changing it after
/// the check (DNS rebinding) gains nothing.
#[derive(Clone)]
pub(crate) struct GuardedResolver {
    policy: AddressPolicy,
    lookup: Arc<dyn NameLookup>,
    /// The host of a proxy, and which addresses it may have.
    proxy: Option<(Arc<str>, AddressPolicy)>,
}

impl GuardedResolver {
    pub(crate) fn new(
        policy: AddressPolicy,
        lookup: Arc<dyn NameLookup>,
        proxy: Option<(String, AddressPolicy)>,
    ) -> Self {
        Self { policy, lookup, proxy: proxy.map(|(host, addresses)| (host.into(), addresses)) }
    }

    async fn addresses(self, host: String) -> Result<Vec<IpAddr>, NoConnection> {
        let proxy = self.proxy.as_ref().filter(|(proxy, _)| **proxy == *host);
        let policy = proxy.map_or(self.policy, |(_, addresses)| *addresses);
        check_name(policy, &host)?;
        match self.lookup.lookup(&host).await {
            Ok(found) => allowed(policy, host, found),
            Err(error) => Err(NoConnection::Lookup { host, error }),
        }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let found = self.clone().addresses(name.as_str().to_owned());
        Box::pin(async move {
            let addresses = found.await?;
            // Port 0: the client fills in the URL's port.
            let addresses: Addrs = Box::new(addresses.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
        })
    }
}

/// Returns the allowed addresses.
///
/// Private ones are left out, and the others still used: a public site with one stray private
/// record stays readable. As only the others are ever connected to, this is just as safe. A name
/// with only private ones is refused.
fn allowed(policy: AddressPolicy, host: String, found: Vec<IpAddr>) -> Result<Vec<IpAddr>, NoConnection> {
    let mut refused = None;
    let mut allowed = Vec::new();
    for ip in found {
        match check(policy, ip) {
            Ok(()) if allowed.len() == ADDRESSES_MAX => break,
            Ok(()) => allowed.push(ip),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    match refused {
        _ if !allowed.is_empty() => Ok(allowed),
        Some(first) => Err(NoConnection::PrivateAddresses { host, first }),
        None => Err(NoConnection::NoAddress(host)),
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::str::FromStr;
    use std::sync::Mutex;

    use dragline_ports::fetcher::FetchFailureKind::{self, NameNotResolved, PrivateAddress};
    use futures_util::future::BoxFuture;

    use super::*;

    fn ips(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn only_public_addresses_remain() {
        use AddressPolicy::{AllowPrivate, PublicOnly};
        type Case =
            (AddressPolicy, &'static [&'static str], Result<&'static [&'static str], FetchFailureKind>, &'static str);
        let cases: [Case; 7] = [
            (PublicOnly, &["1.1.1.1", "2606:4700::1111"], Ok(&["1.1.1.1", "2606:4700::1111"]), "order is kept"),
            (PublicOnly, &["10.0.0.1", "1.1.1.1", "::1"], Ok(&["1.1.1.1"]), "a public site with stray private records"),
            (PublicOnly, &["10.0.0.1", "::1"], Err(PrivateAddress), "none is left"),
            (PublicOnly, &["::ffff:127.0.0.1"], Err(PrivateAddress), "IPv4 inside IPv6"),
            (PublicOnly, &["169.254.169.254"], Err(PrivateAddress), "the metadata service of clouds"),
            (PublicOnly, &[], Err(NameNotResolved), "a name without an address"),
            (AllowPrivate, &["10.0.0.1", "::1"], Ok(&["10.0.0.1", "::1"]), "allowed on the command line"),
        ];
        for (policy, found, expected, why) in cases {
            let got = allowed(policy, "host.example".into(), ips(found)).map_err(|error| error.kind());
            assert_eq!(got, expected.map(ips), "{why}");
        }
    }

    #[test]
    fn a_name_with_very_many_addresses_costs_no_more_than_the_first() {
        let many = (0..100_000).map(|n: u32| IpAddr::from((0x0101_0101 + n).to_be_bytes())).collect();
        let kept = allowed(AddressPolicy::PublicOnly, "many.example".into(), many).unwrap();
        assert_eq!(kept.len(), ADDRESSES_MAX);
    }

    /// Answers each lookup with the next answer, and fails when there are no more.
    struct Answers(Mutex<Vec<Vec<IpAddr>>>);

    impl NameLookup for Answers {
        fn lookup(&self, _host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
            let mut answers = self.0.lock().unwrap();
            let answer =
                if answers.is_empty() { Err(io::Error::other("asked too often")) } else { Ok(answers.remove(0)) };
            Box::pin(async { answer })
        }
    }

    async fn resolve(resolver: &GuardedResolver, host: &str) -> Result<Vec<IpAddr>, FetchFailureKind> {
        match resolver.resolve(Name::from_str(host).unwrap()).await {
            Ok(addresses) => Ok(addresses.map(|address| address.ip()).collect()),
            Err(error) => Err(error.downcast_ref::<NoConnection>().unwrap().kind()),
        }
    }

    #[tokio::test]
    async fn a_name_that_changes_after_the_check_is_checked_again_with_the_next_connection() {
        let answers = Answers(Mutex::new(vec![ips(&["1.1.1.1"]), ips(&["127.0.0.1"])]));
        let resolver = GuardedResolver::new(AddressPolicy::PublicOnly, Arc::new(answers), None);
        assert_eq!(resolve(&resolver, "rebind.example").await, Ok(ips(&["1.1.1.1"])), "checked and connected in one");
        assert_eq!(resolve(&resolver, "rebind.example").await, Err(PrivateAddress), "the second answer");
        assert_eq!(resolve(&resolver, "rebind.example").await, Err(NameNotResolved), "one lookup each, no more");
    }

    #[tokio::test]
    async fn a_private_name_is_not_even_looked_up() {
        let resolver = GuardedResolver::new(AddressPolicy::PublicOnly, Arc::new(Answers(Mutex::default())), None);
        assert_eq!(resolve(&resolver, "localhost").await, Err(PrivateAddress));
    }
}
