//! How a stack reaches sites.

use std::error::Error;

use dragline_domain::address::AddressPolicy;
use dragline_domain::definition::SecretReference;
use dragline_http::{HttpConfig, HttpFetchers, Proxies, SecretSettings};
use dragline_lambda::SettingError;

/// The variable that permits private addresses: `yes` or `no`.
const ALLOW_PRIVATE: &str = "DRAGLINE_ALLOW_PRIVATE";

/// The variable with the proxy of all requests to sites: its URL, or the secret that has it; empty
/// for none. The SDK reads neither this one nor `HTTP_PROXY`, so AWS is reached directly.
const PROXY: &str = "DRAGLINE_PROXY";

/// The variable with the secret that has certificates to trust in addition; empty for none.
const CA_CERTIFICATES: &str = "DRAGLINE_CA_CERTIFICATES";

/// Returns clients with these settings, which reach sites as the variables say. Each is read
/// through a function that returns one by name.
pub(crate) fn fetchers(
    mut config: HttpConfig,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<HttpFetchers, SettingError> {
    config.address_policy = address_policy(&variable)?;
    config.rule_proxies = config.address_policy;
    let value = |name| variable(name).filter(|text| !text.is_empty());
    let mut settings = SecretSettings::default();
    if let Some(text) = value(PROXY) {
        match text.parse::<SecretReference>() {
            Ok(reference) => settings.proxy = Some(reference),
            Err(_) => config.proxies = Some(Proxies::all(&text).map_err(|error| wrong(PROXY, &error))?),
        }
    }
    if let Some(text) = value(CA_CERTIFICATES) {
        settings.extra_roots = Some(text.parse().map_err(|_| {
            let why = format!("`{}` does not name a secret, as `secret:NAME` does", text.escape_debug());
            SettingError::Wrong { name: CA_CERTIFICATES, why }
        })?);
    }
    Ok(HttpFetchers::new(config).with_settings(settings))
}

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

fn wrong(name: &'static str, error: &dyn Error) -> SettingError {
    SettingError::Wrong { name, why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use dragline_domain::definition::Draft;
    use dragline_ports::fetcher::Fetchers as _;

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

    #[tokio::test]
    async fn without_its_proxy_and_its_authority_nothing_is_requested() {
        for (name, text, expected, why) in [
            (PROXY, "", None, "none"),
            (PROXY, "http://proxy.example:3128", None, "by its URL"),
            (PROXY, "http://10.0.0.7:3128", None, "wherever it is, as the stack names it"),
            (PROXY, "ftp://proxy.example", Some("DRAGLINE_PROXY is wrong: the proxy"), "no proxy speaks it"),
            (PROXY, "secret:members/proxy", Some("`secret:members/proxy` cannot be read here"), "it is not there"),
            (CA_CERTIFICATES, "", None, "none"),
            (CA_CERTIFICATES, "secret:members/ca", Some("`secret:members/ca` cannot be read here"), "it is not there"),
            (CA_CERTIFICATES, "/etc/ca.pem", Some("`/etc/ca.pem` does not name a secret"), "a file"),
        ] {
            let made = fetchers(HttpConfig::new("not sent"), |asked| (asked == name).then(|| text.to_owned()));
            let draft = Draft::for_seeds(vec!["https://a.example/".to_owned().try_into().unwrap()]);
            let told = match made {
                Ok(fetchers) => fetchers.fetcher_for(&draft).await.err().map(|error| error.to_string()),
                Err(error) => Some(error.to_string()),
            };
            assert_eq!(told.is_some(), expected.is_some(), "{name}={text}: {why}: {told:?}");
            assert!(expected.is_none_or(|expected| told.unwrap().contains(expected)), "{name}={text}: {why}");
        }
    }
}
