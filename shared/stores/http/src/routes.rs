//! The ways by which requests leave: directly, or through a proxy, and with a certificate of the
//! client's own. Each has clients of its own, so that nothing of one is used for another.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use data_encoding::BASE64;
use dragline_domain::address::{AddressPolicy, check, check_name};
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_ports::secrets::Secret;
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;

use crate::access::{NamedBy, Proxy, Route};
use crate::clients::Clients;
use crate::config::{HttpConfig, HttpConfigError};
use crate::guard::NameLookup;
use crate::stand_in::StandInLookup;
use crate::tls::{self, TlsConfigs};

/// The proxies of a process, by the scheme and the host of a URL: those of the variables
/// `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, or one for all.
#[derive(Clone)]
pub struct Proxies(Arc<Matcher>);

impl Proxies {
    /// Returns those of the environment.
    #[must_use]
    pub fn from_environment() -> Self {
        Self(Arc::new(Matcher::from_env()))
    }

    /// Returns this one for all URLs, whose text may have a name and a password.
    ///
    /// # Errors
    /// It is no such URL: without a proxy, requests would leave directly.
    pub fn all(url: &str) -> Result<Self, HttpConfigError> {
        let proxies = Self(Arc::new(Matcher::builder().all(url.to_owned()).build()));
        let any = CrawlUrl::parse("https://a.example/", &UrlRules::default()).ok();
        match any.and_then(|any| proxies.find(&any)).map(|proxy| ReadyProxy::new(&proxy, AddressPolicy::PublicOnly)) {
            Some(ready) => ready.map(|_| proxies),
            None => Err(HttpConfigError::NoProxy),
        }
    }

    /// Returns the proxy for a URL, without its log-in; `None` if there is none.
    #[must_use]
    pub fn shown_for(&self, url: &CrawlUrl) -> Option<String> {
        self.find(url).map(|proxy| proxy.url)
    }

    fn find(&self, url: &CrawlUrl) -> Option<Proxy> {
        let intercepted = self.0.intercept(&url.as_str().parse().ok()?)?;
        let uri = intercepted.uri();
        let (scheme, authority) = (uri.scheme_str()?, uri.authority()?.as_str());
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let encoded = intercepted.basic_auth().and_then(|field| field.as_bytes().strip_prefix(b"Basic "));
        let decoded = encoded.and_then(|encoded| BASE64.decode(encoded).ok());
        let login = match (intercepted.raw_auth(), decoded) {
            (Some((name, password)), _) => Some(format!("{name}:{password}")),
            (None, Some(decoded)) => String::from_utf8(decoded).ok(),
            (None, None) => None,
        };
        let url = format!("{scheme}://{authority}");
        Some(Proxy { url, login: login.map(|login| Secret::new(&login)), named_by: NamedBy::Process })
    }
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proxies([redacted])")
    }
}

/// The clients of one way.
pub(crate) struct RouteClients {
    pub(crate) hosts: Clients,
    /// For hosts with a stand-in name.
    pub(crate) stand_ins: Clients,
    pub(crate) is_proxied: bool,
}

/// All ways that were used.
pub(crate) struct Routes {
    config: HttpConfig,
    lookup: Arc<dyn NameLookup>,
    direct: Arc<RouteClients>,
    others: Mutex<HashMap<Route, Arc<RouteClients>>>,
}

impl Routes {
    pub(crate) fn new(config: &HttpConfig, lookup: Arc<dyn NameLookup>) -> Result<Self, HttpConfigError> {
        let direct = Arc::new(RouteClients::new(config, &Route::default(), &lookup)?);
        Ok(Self { config: config.clone(), lookup, direct, others: Mutex::default() })
    }

    /// Returns the clients for a URL that a rule reaches by this route.
    ///
    /// # Errors
    /// The certificate or the proxy cannot be used.
    pub(crate) fn clients(&self, mut route: Route, url: &CrawlUrl) -> Result<Arc<RouteClients>, HttpConfigError> {
        if route.proxy.is_none() {
            route.proxy = self.config.proxies.as_ref().and_then(|proxies| proxies.find(url));
        }
        if route == Route::default() {
            return Ok(Arc::clone(&self.direct));
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(clients) = others.get(&route) {
            return Ok(Arc::clone(clients));
        }
        let clients = Arc::new(RouteClients::new(&self.config, &route, &self.lookup)?);
        others.insert(route, Arc::clone(&clients));
        Ok(clients)
    }

    /// Closes idle connections of all ways.
    pub(crate) fn close_idle(&self) {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        for clients in others.values().chain([&self.direct]) {
            clients.hosts.close_idle();
            clients.stand_ins.close_idle();
        }
    }
}

impl RouteClients {
    fn new(config: &HttpConfig, route: &Route, lookup: &Arc<dyn NameLookup>) -> Result<Self, HttpConfigError> {
        let certificate = route.certificate.as_ref().map(Secret::reveal);
        let TlsConfigs { hosts, stand_ins } =
            tls::client_configs(config.certificates, &config.extra_roots, certificate)?;
        let proxy = route.proxy.as_ref().map(|proxy| ReadyProxy::new(proxy, config.rule_proxies)).transpose()?;
        let lookup = Arc::clone(lookup);
        Ok(Self {
            hosts: Clients::new(config, hosts, Arc::clone(&lookup), proxy.as_ref())?,
            stand_ins: Clients::new(config, stand_ins, Arc::new(StandInLookup(lookup)), proxy.as_ref())?,
            is_proxied: proxy.is_some(),
        })
    }
}

/// A proxy as the client takes it.
#[derive(Clone, Debug)]
pub(crate) struct ReadyProxy {
    pub(crate) proxy: reqwest::Proxy,
    pub(crate) host: String,
    /// Which addresses it may have.
    pub(crate) addresses: AddressPolicy,
}

impl ReadyProxy {
    /// Returns a proxy that connects. One of a rule may have these addresses.
    fn new(proxy: &Proxy, of_rules: AddressPolicy) -> Result<Self, HttpConfigError> {
        let refused = || HttpConfigError::Proxy(proxy.url.clone());
        let mut url = Url::parse(&proxy.url).map_err(|_| refused())?;
        if !["http", "https", "socks5", "socks5h"].contains(&url.scheme()) {
            return Err(refused());
        }
        let host = url.host_str().ok_or_else(refused)?.trim_matches(['[', ']']).to_owned();
        // Later would be too late: a proxy is asked to connect before its connection is looked at.
        let addresses = match proxy.named_by {
            NamedBy::Rule => of_rules,
            NamedBy::Process => AddressPolicy::AllowPrivate,
        };
        let is_public = match host.parse() {
            Ok(address) => check(addresses, address).is_ok(),
            Err(_) => check_name(addresses, &host).is_ok(),
        };
        if !is_public {
            return Err(HttpConfigError::PrivateProxy(proxy.url.clone()));
        }
        let login = proxy.login.as_ref().and_then(|login| login.reveal().split_once(':'));
        let is_socks = url.scheme().starts_with("socks");
        if let (true, Some((name, password))) = (is_socks, login) {
            url.set_username(name).and_then(|()| url.set_password(Some(password))).map_err(|()| refused())?;
        }
        let made = reqwest::Proxy::all(url).map_err(|_| refused())?;
        let made = match login {
            Some((name, password)) if !is_socks => made.basic_auth(name, password),
            _ => made,
        };
        Ok(Self { proxy: made, host, addresses })
    }
}

/// Returns which addresses a client may connect to: through a proxy it only ever connects to that.
pub(crate) fn peer_policy(config: &HttpConfig, proxy: Option<&ReadyProxy>) -> AddressPolicy {
    proxy.map_or(config.address_policy, |ready| ready.addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_found_by_url_and_their_log_in_is_not_shown() {
        let matcher = Matcher::builder()
            .http("http://ada:p%40ss@proxy.example:3128")
            .https("socks5h://eve:secret@127.0.0.1:1080")
            .no("b.example")
            .build();
        let proxies = Proxies(Arc::new(matcher));
        assert!(!format!("{proxies:?}").contains("secret"));
        let find = |url: &str| {
            let proxy = proxies.find(&CrawlUrl::parse(url, &UrlRules::default()).unwrap())?;
            assert!(!format!("{proxy:?}").contains("ss\""), "{proxy:?}");
            Some((proxy.url, proxy.login.map(|login| login.reveal().to_owned())))
        };
        let of = |url: &str, login: &str| Some((url.to_owned(), Some(login.to_owned())));
        assert_eq!(find("http://a.example/"), of("http://proxy.example:3128", "ada:p@ss"));
        assert_eq!(find("https://a.example/"), of("socks5h://127.0.0.1:1080", "eve:secret"));
        assert_eq!(find("https://x.b.example/"), None);
    }

    #[test]
    fn what_is_no_proxy_is_refused_and_not_left_out() {
        for (url, is_proxy, why) in [
            ("http://ada:secret@proxy.example:3128", true, "with a log-in"),
            ("proxy.example:3128", true, "HTTP, as in the usual variables"),
            ("socks5h://127.0.0.1:1080", true, "wherever it is"),
            ("ftp://ada:secret@proxy.example", false, "no proxy speaks it"),
            ("socks4://proxy.example", false, "nor do we speak that"),
            ("http://ada:se cret@proxy.example", false, "a password that is not escaped"),
            ("", false, "nothing"),
        ] {
            let proxies = Proxies::all(url);
            assert_eq!(proxies.is_ok(), is_proxy, "{url}: {why}");
            assert!(proxies.is_ok() || !proxies.unwrap_err().to_string().contains("cret"), "{url}: it is not shown");
        }
    }

    #[test]
    fn a_proxy_has_an_address_that_it_may_have() {
        use AddressPolicy::{AllowPrivate, PublicOnly};
        for (url, addresses, is_used, why) in [
            ("http://proxy.example:3128", PublicOnly, true, "its name may be public"),
            ("http://127.0.0.1:9001", PublicOnly, false, "Lambda's own API"),
            ("socks5h://[::1]:1080", PublicOnly, false, "IPv6"),
            ("http://localhost:3128", PublicOnly, false, "a private name"),
            ("http://127.0.0.1:9001", AllowPrivate, true, "whoever named it meant it"),
        ] {
            let proxy = Proxy { url: url.to_owned(), login: None, named_by: NamedBy::Rule };
            assert_eq!(ReadyProxy::new(&proxy, addresses).is_ok(), is_used, "{url}: {why}");
        }
    }
}
